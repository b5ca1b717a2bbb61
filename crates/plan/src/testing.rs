//! Short ways from a job file's text to what tests look at.

use std::io;

use ferrio_job::{ArgOrigin, Diagnostic};
use ferrio_jobfile::{Builder, Environment, JobSet, Problems};

use crate::{Machine, PlanOptions};
use ferrio_job::{JobSpec, Plan};

pub(crate) const MACHINE: Machine = Machine { page_size: 4096, memory_mib: 1024, cpus: 4 };

fn builder() -> Builder {
    Builder::new(Environment {
        var: Box::new(|_| None),
        read_file: Box::new(|_| Err(io::Error::from(io::ErrorKind::NotFound))),
        pagesize: 4096,
        mb_memory: 1024,
        ncpus: u64::from(MACHINE.cpus),
    })
}

fn finish(builder: Builder) -> JobSet {
    builder.finish().unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

/// The jobs of one job file.
pub(crate) fn jobs_of(text: &str) -> JobSet {
    jobs_named("t.fio", text)
}

/// The jobs of a job file of this name.
pub(crate) fn jobs_named(name: &str, text: &str) -> JobSet {
    let mut builder = builder();
    builder.file(name, text.as_bytes());
    finish(builder)
}

/// The jobs of several job files.
pub(crate) fn jobs_of_files(texts: &[&str]) -> JobSet {
    let mut builder = builder();
    for (at, text) in texts.iter().enumerate() {
        builder.file(&format!("{at}.fio"), text.as_bytes());
    }
    finish(builder)
}

/// The jobs of a command line; `name` begins one.
pub(crate) fn command_line_of(options: &[(&str, &str)]) -> JobSet {
    let mut builder = builder();
    for (at, (name, value)) in options.iter().enumerate() {
        let argument = ArgOrigin { index: at as u32 + 1, text: format!("--{name}={value}") };
        if *name == "name" {
            builder.begin_job(value, argument);
        } else {
            builder.command_option(name, Some(value), argument);
        }
    }
    finish(builder)
}

/// The plan of one job file.
pub(crate) fn plan_of(text: &str) -> Result<Plan, Problems> {
    crate::plan_for(&MACHINE, &jobs_of(text), &PlanOptions::default())
}

/// The first job of a job file that is fine.
pub(crate) fn spec_of(text: &str) -> JobSpec {
    let plan = plan_of(text).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    plan.jobs.into_iter().next().unwrap().spec
}

/// Why a job file is refused.
pub(crate) fn problems_of(text: &str) -> Vec<Diagnostic> {
    plan_of(text).unwrap_err().diagnostics
}

/// The messages of that.
pub(crate) fn refusals(text: &str) -> Vec<String> {
    problems_of(text).into_iter().map(|problem| problem.message).collect()
}

/// The messages of notes.
pub(crate) fn texts(notes: &[Diagnostic]) -> Vec<&str> {
    notes.iter().map(|note| note.message.as_str()).collect()
}

/// The messages of all notes on a job file that is fine.
pub(crate) fn notes(text: &str) -> Vec<String> {
    let plan = plan_of(text).unwrap_or_else(|problems| panic!("{}", problems.render(false)));
    plan.diagnostics.into_iter().map(|note| note.message).collect()
}
