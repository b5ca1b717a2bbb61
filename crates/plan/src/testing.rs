//! Short ways from a job file's text to what tests look at.

use std::io;

use ferrio_job::{ArgOrigin, Diagnostic};
use ferrio_jobfile::{Builder, Environment, JobSet, Problems};

use crate::findings::Findings;
use crate::group_rules::GroupRules;
use crate::resolve::{check, resolve};
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

/// A job of the engine that does nothing.
pub(crate) fn null(options: &str) -> String {
    format!("[a]\nioengine=null\nsize=64k\n{options}")
}

/// The first refusal of such a job: rules come before what is missing.
pub(crate) fn first_refusal(options: &str) -> String {
    refusals(&null(options)).into_iter().next().unwrap_or_default()
}

/// What the rules say about jobs, whatever this program has of their options.
fn findings(set: &JobSet) -> Findings {
    let mut findings = Findings::default();
    let mut group_rules = GroupRules::default();
    for job in &set.jobs {
        check(job, &mut findings);
        let draft = resolve(job, &MACHINE, false, &mut findings);
        group_rules.check(job, draft.as_ref().map(|draft| &draft.spec), &mut findings);
    }
    findings
}

fn messages(findings: Findings) -> Vec<String> {
    let mut problems: Vec<_> = findings.into_problems().into_iter().map(|problem| problem.message).collect();
    problems.retain(|message| !message.ends_with("not implemented yet"));
    problems
}

/// All refusals of rules of one job.
pub(crate) fn wrong(options: &str) -> Vec<String> {
    messages(findings(&jobs_of(&null(options))))
}

/// All refusals of rules of several jobs, which share the text before the first.
pub(crate) fn wrong_in(jobs: &str) -> Vec<String> {
    messages(findings(&jobs_of(&format!("[global]\nioengine=null\nsize=64k\n{jobs}"))))
}

/// Notes of rules about one job.
pub(crate) fn notes_of(options: &str) -> Vec<String> {
    findings(&jobs_of(&null(options))).into_notes().into_iter().map(|note| note.message).collect()
}

/// A job as fixed up, even if this program lacks some of its options.
pub(crate) fn fixed(options: &str) -> JobSpec {
    let set = jobs_of(&null(options));
    resolve(&set.jobs[0], &MACHINE, false, &mut Findings::default()).unwrap().spec
}
