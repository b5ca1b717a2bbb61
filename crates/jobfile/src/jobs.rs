//! Jobs as written, before anything is resolved.

use std::sync::Arc;

use crate::options::{Given, Options};
use ferrio_job::Diagnostic;
use ferrio_job::Origin;

use crate::sources::Sources;

/// All jobs of a command line and its job files.
#[derive(Debug, Clone)]
pub struct JobSet {
    /// The jobs in the order they were written; those of the command line first.
    pub jobs: Vec<Job>,
    /// Global assignments of the last file, the only ones a report shows; those of the command line belong to the first.
    pub globals: Vec<Given>,
    /// Notices that do not stop a run.
    pub warnings: Vec<Diagnostic>,
    /// The texts that origins point into.
    pub sources: Sources,
    /// The sections of each job file.
    pub(crate) files: Vec<Vec<Shown>>,
}

/// One job: a section of a job file or a `--name` of the command line.
#[derive(Debug, Clone)]
pub struct Job {
    /// Name of the section, or value of `--name`.
    pub name: String,
    /// What the section itself says, in evaluation order.
    pub own: Arc<[Given]>,
    /// Everything in force: inherited and own.
    pub options: Options,
    /// Whether the job came from the command line.
    pub from_command_line: bool,
    /// 0 for the command line and the first file, then 1, 2...
    pub file_number: usize,
    /// Whether it is the first job of its job file.
    pub first_of_file: bool,
    /// Where the job begins.
    pub origin: Origin,
}

/// A section of a job file as `--showcmd` needs it.
#[derive(Debug, Clone)]
pub(crate) enum Shown {
    /// The globals accumulated so far.
    Globals(Arc<[Given]>, usize),
    /// A job, by its place in [`JobSet::jobs`].
    Job(usize),
}
