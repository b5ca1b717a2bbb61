//! One job: from its options to the resolved spec, except its files, job number and group.
//!
//! Each subject has up to three functions: `check` has the rules about the job as written, `resolve` turns options into parts of
//! the spec, and `apply_rules` adjusts the parts to each other. The order of the calls decides which mistake is reported first.

use std::sync::Arc;

use ferrio_job::{CompatRules, JobSpec, OpenOptions, Replay, ReportedOptions, SetupError};
use ferrio_jobfile::{GivenOption, Job, MASK, Opt, option_texts};

use crate::as_written::name;
use crate::findings::Findings;
use crate::sizes::SizeOptions;
use crate::{
    Machine, PlanOptions, block_sizes, buffers, cpus, direction, durability, engine, files, http, life_cycle,
    limits, logs, measure, memory, nbd, network, priorities, process, queue_depth, random, rates, replay,
    sizes, sprandom, steadystate, summed_logs, tuning, verify, work, zbd, zones,
};

/// A job before its clones are made.
#[derive(Clone, Debug)]
pub(crate) struct SpecDraft {
    pub(crate) spec: JobSpec,
    pub(crate) size_options: SizeOptions,
    /// The reason why the log to replay cannot be read.
    pub(crate) unreadable_log: Option<SetupError>,
}

/// Checks that need only the options as written. They run even if the engine or an option is not implemented.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    zones::check(job, findings);
    zbd::check(job, findings);
    sprandom::check(job, findings);
    block_sizes::check(job, findings);
    rates::check(job, findings);
    limits::check(job, findings);
    measure::check(job, findings);
    buffers::check(job, findings);
    direction::check(job, findings);
    engine::check(job, findings);
    zones::check_placement(job, findings);
    memory::check(job, findings);
    logs::check(job, findings);
    summed_logs::check(job, findings);
    replay::check(job, findings);
    files::check(job, findings);
    steadystate::check(job, findings);
    durability::check(job, findings);
}

/// Resolves a job: once, or once for each log that its clones replay. Empty if ferrio does not have its engine.
pub(crate) fn resolve_all(
    job: &Job,
    machine: &Machine,
    plan: &PlanOptions,
    findings: &mut Findings,
) -> Vec<SpecDraft> {
    // Nothing is read for a run that is refused.
    let logs = if findings.is_fine() { replay::read(job, plan, findings) } else { None };
    let Some(logs) = logs else {
        return resolve(job, machine, plan, None, findings).into_iter().collect();
    };
    let drafts = logs.into_iter().filter_map(|log| {
        let draft = resolve(job, machine, plan, log.as_ref().ok(), findings)?;
        Some(SpecDraft { unreadable_log: log.err(), ..draft })
    });
    drafts.collect()
}

/// Resolves a job, which may replay a log; `None` if ferrio does not have its engine.
pub(crate) fn resolve(
    job: &Job,
    machine: &Machine,
    plan: &PlanOptions,
    log: Option<&Arc<Replay>>,
    findings: &mut Findings,
) -> Option<SpecDraft> {
    let engine = engine::kind(job, findings)?;
    let compat = CompatRules::of(plan.compat);
    let mut spec = JobSpec {
        name: name(job).to_owned(),
        engine,
        compat,
        opening: OpenOptions { readonly: plan.readonly, ..OpenOptions::default() },
        options: reported(&job.own, compat),
        ..JobSpec::default()
    };
    resolve_subjects(job, &mut spec, log, findings);
    let size_options = SizeOptions::of(job, &spec, None, findings);
    apply_rules(job, &mut spec, &size_options, machine, findings);
    Some(SpecDraft { spec, size_options, unreadable_log: None })
}

fn resolve_subjects(job: &Job, spec: &mut JobSpec, log: Option<&Arc<Replay>>, findings: &mut Findings) {
    let options = &job.options;
    spec.description = options.text(Opt::Description).map(|text| cut(text, 255));
    spec.group_reporting = options.value(Opt::GroupReporting);
    spec.thread = options.value(Opt::Thread);
    measure::resolve(job, spec, findings);
    life_cycle::resolve(job, spec);
    direction::resolve(job, spec);
    block_sizes::resolve(job, spec, findings);
    if let Some(log) = log {
        replay::apply(log, spec);
    }
    zones::resolve(job, spec, findings);
    zbd::resolve(job, spec);
    random::resolve(job, spec);
    sprandom::resolve(job, spec);
    buffers::resolve(job, spec);
    memory::resolve(job, spec);
    engine::resolve(job, spec);
    tuning::resolve(job, spec);
    queue_depth::resolve(job, spec, findings);
    durability::resolve(job, spec);
    files::resolve(job, spec);
    verify::resolve(job, spec);
    http::resolve(job, spec);
    limits::resolve(job, spec);
    rates::resolve(job, spec, findings);
    process::resolve(job, spec);
    cpus::resolve(job, spec);
    priorities::resolve(job, spec);
    steadystate::resolve(job, spec, findings);
    logs::resolve(job, spec, findings);
    if !spec.engine.does_io() {
        work::leave_out_io(spec);
    }
}

fn apply_rules(
    job: &Job,
    spec: &mut JobSpec,
    size_options: &SizeOptions,
    machine: &Machine,
    findings: &mut Findings,
) {
    direction::apply_rules(job, spec, findings);
    cpus::apply_rules(job, spec, machine, findings);
    process::apply_rules(job, spec, machine, findings);
    engine::apply_rules(job, spec, findings);
    nbd::apply_rules(job, spec, findings);
    network::apply_rules(job, spec, findings);
    http::apply_rules(job, spec, findings);
    queue_depth::apply_rules(job, spec, findings);
    sizes::apply_rules(job, size_options, findings);
    block_sizes::apply_rules(job, spec, findings);
    memory::apply_rules(job, spec, machine, findings);
    files::apply_rules(job, spec, findings);
    limits::apply_rules(job, spec, findings);
    sprandom::apply_rules(job, spec, findings);
    random::apply_rules(job, spec, findings);
    limits::check_full_device(job, spec, findings);
    verify::apply_rules(job, spec, findings);
    zbd::apply_rules(job, spec, findings);
    measure::apply_rules(job, spec, findings);
    logs::apply_rules(job, spec, findings);
    cpus::place_on_nodes(job, spec, machine, findings);
}

/// The given options as reports list them.
pub(crate) fn reported(given: &[GivenOption], compat: CompatRules) -> ReportedOptions {
    let shown = |opt: Opt, text| match compat.masks_secrets && opt.is_secret() {
        true => MASK.to_owned(),
        false => text,
    };
    option_texts(given, compat.merges_repeated_options)
        .into_iter()
        .map(|(opt, text)| (opt.row().name.to_owned(), shown(opt, text)))
        .collect()
}

/// At most `bytes` bytes of a text, cut between characters.
fn cut(text: &str, bytes: usize) -> String {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests;
