//! Jobs and plans for the tests of all crates (feature `testing`).
//!
//! Jobs come from the text of a job file or from [`default_job`], and in both cases from the planner: tests repeat no defaults.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::LazyLock;

use ferrio_job::{
    ArgOrigin, Compat, Diagnostic, EngineKind, FileKind, FileSpec, JobSpec, Origin, Plan, PlannedJob,
    PlannedSection, ReadWrite, RunHost, Verify,
};
use ferrio_jobfile::{Builder, Environment, JobSet, Problems};

use crate::findings::Findings;
use crate::group_rules::GroupRules;
use crate::resolve::{check, resolve};
use crate::{Machine, PlanOptions};

/// The machine that the jobs of tests are planned for.
pub const MACHINE: Machine = Machine { page_size: 4096, memory_mib: 1024, cpus: 4 };

/// A job without options, size and files, the first of its run.
#[must_use]
pub fn default_job(name: &str) -> JobSpec {
    static DEFAULT: LazyLock<JobSpec> = LazyLock::new(|| resolved(&jobs_of("[a]\n")));
    JobSpec { name: name.to_owned(), number: 1, clones: 1, ..DEFAULT.clone() }
}

/// A default job that moves all of one file.
#[must_use]
pub fn job_on(file: FileSpec, name: &str, rw: ReadWrite) -> JobSpec {
    let mut spec = JobSpec { rw, ..default_job(name) };
    spec.limits.size = file.size;
    spec.files = vec![file];
    spec
}

/// A job of the engine null on a file of this size that does not exist.
#[must_use]
pub fn null_job(name: &str, size: u64) -> JobSpec {
    JobSpec { engine: EngineKind::Null, ..job_on(file(name, FileKind::Pretend, size), name, ReadWrite::Read) }
}

/// A file that was not found and is used as a whole. Only regular files may be extended.
#[must_use]
pub fn file(path: impl Into<PathBuf>, kind: FileKind, size: u64) -> FileSpec {
    let extend = kind == FileKind::Regular;
    FileSpec {
        path: path.into(),
        kind,
        offset: 0,
        size,
        real_size: size,
        found: None,
        extend,
        missing_device: false,
        run: None,
    }
}

/// A plan of these jobs, all of which can run. A job begins a section unless it is a clone.
#[must_use]
pub fn plan(specs: impl IntoIterator<Item = JobSpec>) -> Plan {
    let mut plan = Plan::default();
    for (index, spec) in specs.into_iter().enumerate() {
        plan.phases += usize::from(spec.stonewall || index == 0);
        match plan.sections.last_mut() {
            Some(section) if spec.clone > 0 => section.jobs.end = index + 1,
            _ => plan.sections.push(PlannedSection {
                name: spec.name.clone(),
                origin: Origin::Builtin,
                jobs: index..index + 1,
                group: spec.group,
                phase: plan.phases,
            }),
        }
        plan.jobs.push(PlannedJob { spec, setup_error: None });
    }
    plan
}

/// How a job that writes verifies with these options, one a line.
#[must_use]
pub fn verify_of(options: &str) -> Verify {
    spec_of(&null(&format!("rw=write\n{options}")))
        .verify
        .unwrap_or_else(|| panic!("verifies nothing: {options}"))
}

/// A reader of job files for that machine, which finds no other file.
#[must_use]
pub fn builder() -> Builder {
    Builder::new(Environment { ncpus: MACHINE.cpus.into(), ..Environment::default() })
}

fn finish(builder: Builder) -> JobSet {
    builder.finish().unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

/// The jobs of one job file.
#[must_use]
pub fn jobs_of(text: &str) -> JobSet {
    jobs_named("t.fio", text)
}

/// The jobs of a job file of this name.
#[must_use]
pub fn jobs_named(name: &str, text: &str) -> JobSet {
    let mut builder = builder();
    builder.file(name, text.as_bytes());
    finish(builder)
}

/// The jobs of a job file on a host of a run.
#[must_use]
pub fn host_jobs_of(text: &str, host: RunHost) -> JobSet {
    let ncpus = MACHINE.cpus.into();
    let mut builder = Builder::new(Environment { ncpus, host: Some(host), ..Environment::default() });
    builder.file("t.fio", text.as_bytes());
    finish(builder)
}

/// The jobs of several job files.
#[must_use]
pub fn jobs_of_files(texts: &[&str]) -> JobSet {
    let mut builder = builder();
    for (at, text) in texts.iter().enumerate() {
        builder.file(&format!("{at}.fio"), text.as_bytes());
    }
    finish(builder)
}

/// The jobs of a command line; `name` begins one.
#[must_use]
pub fn command_line_of(options: &[(&str, &str)]) -> JobSet {
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

/// The plan of these jobs on that machine.
///
/// # Errors
/// What is refused in any job.
pub fn plan_of_jobs(set: &JobSet) -> Result<Plan, Problems> {
    crate::plan_for(&MACHINE, set, &PlanOptions::default())
}

/// The plan of jobs that nothing is wrong with, as a program called `fio` makes it: it protects no files.
#[must_use]
pub fn good_plan_as_fio(set: &JobSet) -> Plan {
    let options = PlanOptions { compat: Compat::Fio, ..PlanOptions::default() };
    crate::plan_for(&MACHINE, set, &options).unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

/// The plan of one job file.
///
/// # Errors
/// What is refused in any job.
pub fn plan_of(text: &str) -> Result<Plan, Problems> {
    plan_of_jobs(&jobs_of(text))
}

/// The plan of jobs that nothing is wrong with.
#[must_use]
pub fn good_plan(set: &JobSet) -> Plan {
    plan_of_jobs(set).unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

/// The first job of a job file that nothing is wrong with.
#[must_use]
pub fn spec_of(text: &str) -> JobSpec {
    good_plan(&jobs_of(text)).jobs.into_iter().next().unwrap().spec
}

/// Why a job file is refused.
#[must_use]
pub fn problems_of(text: &str) -> Vec<Diagnostic> {
    plan_of(text).unwrap_err().diagnostics
}

/// The messages of that.
#[must_use]
pub fn refusals(text: &str) -> Vec<String> {
    problems_of(text).into_iter().map(|problem| problem.message).collect()
}

/// The messages of notes.
#[must_use]
pub fn texts(notes: &[Diagnostic]) -> Vec<&str> {
    notes.iter().map(|note| note.message.as_str()).collect()
}

/// The messages of all notes on a job file that nothing is wrong with.
#[must_use]
pub fn notes(text: &str) -> Vec<String> {
    good_plan(&jobs_of(text)).diagnostics.into_iter().map(|note| note.message).collect()
}

/// A job file with one job of the engine null.
#[must_use]
pub fn null(options: &str) -> String {
    format!("[a]\nioengine=null\nsize=64k\n{options}")
}

/// The first refusal of such a job; violations of rules precede what is missing.
#[must_use]
pub fn first_refusal(options: &str) -> String {
    refusals(&null(options)).into_iter().next().unwrap_or_default()
}

/// What the rules find in jobs, even if options of them are not implemented.
fn findings(set: &JobSet) -> Findings {
    let mut findings = Findings::default();
    let mut group_rules = GroupRules::default();
    for job in &set.jobs {
        check(job, &mut findings);
        let draft = resolve(job, &MACHINE, &PlanOptions::default(), None, &mut findings);
        group_rules.check(job, draft.as_ref().map(|draft| &draft.spec), &mut findings);
    }
    findings
}

fn messages(findings: Findings) -> Vec<String> {
    let mut problems: Vec<_> = findings.into_problems().into_iter().map(|problem| problem.message).collect();
    problems.retain(|message| !message.ends_with("not implemented yet"));
    problems
}

/// All refusals of rules about one job of the engine null.
#[must_use]
pub fn wrong(options: &str) -> Vec<String> {
    messages(findings(&jobs_of(&null(options))))
}

/// All refusals of rules about several such jobs, which share the text before the first.
#[must_use]
pub fn wrong_in(jobs: &str) -> Vec<String> {
    messages(findings(&jobs_of(&format!("[global]\nioengine=null\nsize=64k\n{jobs}"))))
}

/// Notes of rules about one such job.
#[must_use]
pub fn notes_of(options: &str) -> Vec<String> {
    findings(&jobs_of(&null(options))).into_notes().into_iter().map(|note| note.message).collect()
}

/// Such a job as resolved, even if options of it are not implemented.
#[must_use]
pub fn fixed(options: &str) -> JobSpec {
    resolved(&jobs_of(&null(options)))
}

/// The first job, without files.
fn resolved(set: &JobSet) -> JobSpec {
    resolve(&set.jobs[0], &MACHINE, &PlanOptions::default(), None, &mut Findings::default()).unwrap().spec
}
