//! The files of each database must be its own: its data, its log and its double-write area are different files, and no other database that
//! runs at the same time uses one of them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ferrio_job::Database;
use ferrio_jobfile::{Job, Opt};
use ferrio_machine::FileIdentity;

use super::files::DatabaseFiles;
use crate::as_written::{name, refuse};
use crate::findings::Findings;

const DIAGNOSTIC_CODE: &str = "database-files";

/// The files of the databases so far, by identity: several paths may lead to one file.
#[derive(Debug, Default)]
pub(crate) struct DatabaseFileUses {
    used: HashMap<FileLocation, FileUse>,
}

/// Where a file is or will be: the identity of the file or its nearest existing ancestor, and the path from there. Missing directories
/// are created with the files.
type FileLocation = (FileIdentity, PathBuf);

#[derive(Debug)]
struct FileUse {
    job: String,
    phase: usize,
    load: u32,
    opt: Opt,
    path: PathBuf,
}

impl DatabaseFileUses {
    /// Records the files of the database with the load number `load`, which begins in phase `phase` of the plan. Refuses a file that the
    /// database uses twice, or that is used by a database which may still run.
    pub(crate) fn add(
        &mut self,
        job: &Job,
        load: u32,
        phase: usize,
        database: &Database,
        files: &DatabaseFiles,
        findings: &mut Findings,
    ) {
        for (opt, path) in files.by_option(database) {
            let Some(location) = location_of(path) else { continue };
            let new = FileUse { job: name(job).to_owned(), phase, load, opt, path: path.to_owned() };
            let Some(known) = self.used.insert(location, new) else { continue };
            let is_of_another = known.load != load;
            if is_of_another && (known.phase != phase || waits_for(job, &known.job)) {
                continue;
            }
            let (option, other) = (opt.row().name, known.opt.row().name);
            let message = format!(
                "{option} ({}) is the same file as {other} ({})",
                path.display(),
                known.path.display()
            );
            let (message, help) = if is_of_another {
                let message = format!("{message} of job {}, which runs at the same time", known.job);
                (
                    message,
                    "give each database files of its own, or run it later with `stonewall` or `wait_for`",
                )
            } else {
                (message, "give the data, the log and the double-write area files of their own")
            };
            refuse(findings, job, &[opt, known.opt], DIAGNOSTIC_CODE, message, help);
            return;
        }
    }
}

fn location_of(path: &Path) -> Option<FileLocation> {
    path.ancestors().find_map(|above| {
        let identity = FileIdentity::of_path(above)?;
        Some((identity, path.strip_prefix(above).ok()?.to_owned()))
    })
}

fn waits_for(job: &Job, other: &str) -> bool {
    job.options.text(Opt::WaitFor) == Some(other)
}
