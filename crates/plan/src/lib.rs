//! From job files as written to a plan of resolved jobs.
//!
//! Only the planner asks the machine what a job needs to know before it runs: file sizes, devices, CPUs. The plan is plain data and
//! does not change during the run: workers, engines and reports read [`JobSpec`](ferrio_job::JobSpec), never the options.
//!
//! - `resolve` calls the subjects in order and makes a draft of each job; `groups` makes its clones with their files, `group_rules`
//!   compares jobs with each other, and `status` refuses unsupported options and notes those without effect (tables `INERT`).
//! - A subject is a file with everything about its options except their rows in the catalogue and the types in `ferrio-job`. It
//!   turns options into its part of the spec, refuses options that exclude each other, and adjusts the parts of the spec to each
//!   other.
//!   - What is done: `direction`, `block_sizes`, `random`, `sprandom`, `zones`, `zbd`, `verify`, `buffers`.
//!   - How fast, how much and how long: `queue_depth`, `rates`, `limits`, `steadystate`, `life_cycle`.
//!   - With what: `engine`, `work` (engines that do no I/O), `network`, `nbd`, `memory`, `process`, `cpus`, `priorities`, `durability`.
//!   - On which files: `files`, `file_names`, `file_runs`, `sizes`, `protection`.
//!   - What is reported: `measure`, `logs`.
//!   - On which hosts of a run: `run_hosts`.
//!   - `replay` puts a recorded log in place of much of this, and `database` makes several jobs that model a database.
//! - `as_written` answers what all subjects ask about a job as written; `findings` collects refusals and notes.
//! - `probe`, `cpus` (NUMA nodes), `process` (control groups), `groups` (mounted devices) and `measure` (clocks) ask `ferrio-machine`.
#![forbid(unsafe_code)]

mod as_written;
mod backlog;
mod block_sizes;
mod buffers;
mod cpus;
mod database;
mod direction;
mod durability;
mod engine;
mod file_names;
mod file_runs;
mod files;
mod findings;
mod group_rules;
mod groups;
mod http;
mod life_cycle;
mod limits;
mod logs;
mod measure;
mod memory;
mod nbd;
mod network;
mod own_names;
mod priorities;
mod probe;
mod process;
mod protection;
mod queue_depth;
mod random;
mod rates;
mod replay;
mod resolve;
mod run_hosts;
mod sizes;
mod sprandom;
mod status;
mod steadystate;
mod summed_logs;
pub mod sysbench;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod tuning;
mod verify;
mod work;
mod zbd;
mod zones;

use std::time::Duration;

use ferrio_job::{Compat, CompatRules, Plan};
use ferrio_jobfile::{JobSet, Problems};
use ferrio_machine::Machine;

pub use logs::LOG_OPTIONS;
pub use run_hosts::check_hosts;
pub use status::without_effect;

use findings::Findings;
use group_rules::GroupRules;
use groups::Groups;
use status::InertOptions;

/// Settings of all jobs of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanOptions {
    /// `--readonly`: jobs that write or trim are refused.
    pub readonly: bool,
    /// `--warnings-fatal`: warnings are refusals.
    pub warnings_fatal: bool,
    /// Whether jobs behave as with fio or as with ferrio.
    pub compat: Compat,
    /// The plan is described, not run: it lacks the steps of the logs that jobs replay.
    pub describes_only: bool,
    /// `--merge-blktrace-only`: traces are merged, and merged traces are not replayed.
    pub merges_only: bool,
    /// How long the servers of exports may take to answer, which are asked all at once; `None` for as long as they may in a run.
    pub server_patience: Option<Duration>,
}

/// Resolves all jobs. Files are examined but not changed, except that traces are merged into their `merge_blktrace_file`.
///
/// A job that cannot be set up (no size known, a directory as file) is in the plan with its `setup_error`; the others run.
///
/// # Errors
/// All that is refused in any job. Nothing runs then.
pub fn plan(set: &JobSet, options: &PlanOptions) -> Result<Plan, Problems> {
    plan_for(&Machine::ask(), set, options)
}

/// Refuses engines that ferrio does not have, and nothing else. With `only_command_line`, jobs of job files are not checked: fio loads
/// their engines when they run.
///
/// # Errors
/// One error for each job that is checked and has an unknown engine.
pub fn check_engines(set: &JobSet, only_command_line: bool) -> Result<(), Problems> {
    let mut findings = Findings::default();
    for job in set.jobs.iter().filter(|job| job.from_command_line || !only_command_line) {
        engine::kind(job, &mut findings);
    }
    if findings.is_fine() {
        return Ok(());
    }
    Err(Problems { diagnostics: findings.into_problems(), sources: set.sources.clone() })
}

fn plan_for(machine: &Machine, set: &JobSet, options: &PlanOptions) -> Result<Plan, Problems> {
    let mut findings = Findings::new(options.warnings_fatal);
    let mut groups = Groups::new(options);
    let mut group_rules = GroupRules::default();
    // Options without effect are found among those of the jobs as written and as planned.
    let mut inert = InertOptions::default();
    let mut clones = Vec::new();
    let planned = database::with_presets(set, &mut inert, &mut findings);
    let is_here: Vec<bool> =
        set.jobs.iter().map(|job| run_hosts::is_here(job, set.host.as_ref(), &mut findings)).collect();
    set.jobs
        .iter()
        .zip(&is_here)
        .filter(|(_, here)| **here)
        .for_each(|(job, _)| inert.add_not_inherited(job));
    logs::stdin_has_one_user(set, &mut findings);
    buffers::global_duplicates_need_known_seeds(set, &mut findings);
    if let Some(limit) = options.server_patience {
        groups.exports.ask(planned.iter().map(AsRef::as_ref), limit);
    }
    for (job, is_here) in planned.iter().map(AsRef::as_ref).zip(is_here) {
        if !is_here {
            groups.pass_over(job);
            group_rules.pass_over(job);
            continue;
        }
        resolve::check(job, &mut findings);
        file_names::check_directories(job, &mut findings);
        let mut drafts = resolve::resolve_all(job, machine, options, &mut findings);
        let rank = set.host.as_ref().map_or(0, |host| host.rank);
        drafts.iter_mut().for_each(|draft| draft.spec.rank = rank);
        group_rules.check(job, drafts.first().map(|draft| &draft.spec), &mut findings);
        status::check(job, &mut inert, &mut findings);
        if !drafts.is_empty()
            // A wrong option may make sizes and file lists meaningless, so files are examined only once all options are right.
            && findings.is_fine()
        {
            let first = groups.jobs.len();
            match database::model_of(job) {
                Some(model) => groups.add_database(job, model, &drafts[0], machine, &mut findings),
                None => groups.add(job, &drafts, &mut findings),
            }
            if let Some(added) = groups.jobs.get(first) {
                buffers::working_set_fits_the_memory(job, &added.spec, machine, &mut findings);
            }
            life_cycle::resolve_wait(&mut groups.jobs, &groups.sections, first, job);
            clones.push((job, first..groups.jobs.len()));
        }
    }
    process::check_cgroups(&groups.jobs, &groups.sections, &mut findings);
    sprandom::clones_are_apart(&groups.jobs, &groups.sections, &mut findings);
    work::check_end(&groups.jobs, &mut findings);
    if findings.is_fine() {
        summed_logs::separate_groups(&mut groups.jobs, &clones);
        summed_logs::agree(&groups.jobs, &groups.sections, &mut findings);
    }
    if !findings.is_fine() {
        return Err(Problems { diagnostics: findings.into_problems(), sources: set.sources.clone() });
    }
    // Files that a job removes may be laid out again.
    if !groups.jobs.iter().any(|job| job.spec.layout.unlink || job.spec.layout.unlink_each_loop) {
        for (job, range) in clones {
            if groups.jobs.get(range).is_some_and(buffers::writes_nothing) {
                status::add_found(job, buffers::LAYOUT_CONTENTS, buffers::NOTHING_TO_LAY_OUT, &mut inert);
            }
        }
    }
    let inert = inert.of_all_jobs();
    status::note(&inert, &mut findings);
    buffers::share_seeds(&mut groups.jobs);
    Ok(Plan {
        jobs: groups.jobs,
        sections: groups.sections,
        phases: groups.phase,
        clock: measure::clock_source(set),
        globals: resolve::reported(&set.globals, CompatRules::of(options.compat)),
        diagnostics: findings.into_notes(),
        inert,
    })
}

#[cfg(test)]
mod tests {
    use crate::testing::{command_line_of, jobs_of, plan_of};

    #[test]
    fn a_plan_echoes_globals_and_own_options() {
        let plan = plan_of("[global]\nioengine=null\nsize=4k\n[a]\nblocksize=1k\nthread\n").unwrap();
        let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(*plan.globals, [pair("ioengine", "null"), pair("size", "4k")]);
        assert_eq!(*plan.jobs[0].spec.options, [pair("bs", "1k"), pair("thread", "")]);
    }

    #[test]
    fn engines_are_checked_without_planning() {
        for only_command_line in [false, true] {
            let check = |options| crate::check_engines(&command_line_of(options), only_command_line);
            assert!(check(&[("name", "a"), ("ioengine", "foo")]).is_err());
            assert!(check(&[("name", "a"), ("ioengine", "null")]).is_ok());
            assert_eq!(
                crate::check_engines(&jobs_of("[a]\nioengine=foo\n"), only_command_line).is_ok(),
                only_command_line
            );
        }
    }
}
