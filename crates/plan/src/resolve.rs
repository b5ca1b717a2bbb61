//! One job: from its options to the resolved spec, everything but files, numbers and groups.
//!
//! Each subject has up to three functions, and here is the order in which they are called: `check` has rules about the job as
//! written, `resolve` turns options into parts of the spec, and `apply_rules` makes the parts fit each other. The order decides
//! which mistake is reported first.

use ferrio_job::{Diagnostic, JobSpec, Limits, Measure};
use ferrio_jobfile::{Amount, Given, Job, Opt};

use crate::findings::Findings;
use crate::sizes::{Extent, Sizing};
use crate::written::{name, place};
use crate::{
    Machine, block_sizes, buffers, data_placement, direction, durability, engine, files, fill_device, flow,
    iolog, latency_limits, life_cycle, limits, logs, measure, memory, priorities, process, queue_depth,
    random, rates, steadystate, thinktime, tolerance, verify, zones,
};

/// A job before its clones are made.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) spec: JobSpec,
    pub(crate) sizing: Sizing,
}

/// Checks what needs nothing but the job's options, whatever the engine and whether or not all options are implemented.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    zones::check(job, findings);
    random::check(job, findings);
    block_sizes::check(job, findings);
    rates::check(job, findings);
    latency_limits::check(job, findings);
    limits::check(job, findings);
    measure::block_errors_are_of_one_file(job, findings);
    buffers::check(job, findings);
    direction::check(job, findings);
    engine::check(job, findings);
    data_placement::check(job, findings);
    memory::check(job, findings);
    iolog::check(job, findings);
    logs::check(job, findings);
    files::note_idle_argument(job, findings);
    steadystate::check(job, findings);
    durability::check(job, findings);
}

/// Resolves a job; `None` if its engine is not there.
pub(crate) fn resolve(
    job: &Job,
    machine: &Machine,
    readonly: bool,
    findings: &mut Findings,
) -> Option<Draft> {
    let engine = engine::kind(job, findings)?;
    let mut spec = JobSpec { engine, readonly, options: echo(&job.own), ..JobSpec::bare(name(job)) };
    resolve_subjects(job, &mut spec, findings);
    let sizing = sizing(job, &spec, findings);
    apply_rules(job, &mut spec, &sizing, machine, findings);
    Some(Draft { spec, sizing })
}

fn resolve_subjects(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let options = &job.options;
    let switch = |opt| options.switch(opt).unwrap_or(false);
    spec.description = options.text(Opt::Description).map(|text| cut(text, 255));
    spec.group_reporting = switch(Opt::GroupReporting);
    spec.thread = switch(Opt::Thread);
    let start_clock = measure::clock(options, Opt::JobStartClockId, findings);
    spec.measure = Measure { start_clock, ..measure::measure(job, spec.measure.clone()) };
    spec.units = measure::units(options, spec.units);
    life_cycle::resolve(job, spec);
    tolerance::resolve(job, spec);
    direction::resolve(job, spec);
    block_sizes::resolve(job, spec, findings);
    zones::resolve(job, spec, findings);
    random::resolve(job, spec);
    buffers::resolve(job, spec);
    memory::resolve(job, spec);
    engine::resolve(job, spec);
    queue_depth::resolve(job, spec, findings);
    durability::resolve(job, spec);
    spec.file_append = switch(Opt::FileAppend);
    spec.file_service = options.value(Opt::FileServiceType);
    spec.openfiles = files::most_open(options);
    spec.overwrite = switch(Opt::Overwrite);
    spec.fallocate = job.options.choice(Opt::Fallocate);
    spec.create_fsync = options.switch(Opt::CreateFsync).unwrap_or(true);
    spec.create_serialize = options.switch(Opt::CreateSerialize).unwrap_or(true);
    spec.create_on_open = switch(Opt::CreateOnOpen);
    spec.create_only = switch(Opt::CreateOnly);
    spec.unlink = switch(Opt::Unlink);
    fill_device::resolve(job, spec);
    verify::resolve(job, spec);
    limits::resolve(job, spec);
    rates::resolve(job, spec, findings);
    thinktime::resolve(job, spec);
    latency_limits::resolve(job, spec);
    flow::resolve(job, spec);
    process::resolve(job, spec);
    priorities::resolve(job, spec);
    steadystate::resolve(job, spec, findings);
    spec.logs = logs::logs(job, &spec.name, findings);
    iolog::resolve(job, spec);
}

fn apply_rules(job: &Job, spec: &mut JobSpec, sizing: &Sizing, machine: &Machine, findings: &mut Findings) {
    direction::apply_rules(job, spec, findings);
    process::apply_rules(job, spec, machine, findings);
    engine::apply_rules(spec);
    queue_depth::apply_rules(job, spec, findings);
    block_sizes::apply_rules(job, spec, sizing, findings);
    memory::apply_rules(job, spec, machine, findings);
    files::apply_rules(job, spec, findings);
    limits::apply_rules(job, spec, findings);
    random::apply_rules(job, spec, findings);
    fill_device::apply_rules(job, spec, findings);
    verify::apply_rules(job, spec, findings);
    measure::drop_unmeasured_percentiles(&mut spec.measure);
    measure::tell_cut_percentiles(job, findings);
    logs::join_intervals(job, &mut spec.measure, &mut spec.logs);
    logs::empty_disabled_bandwidth_log(job, &mut spec.logs, findings);
    logs::tell_limits_of_histograms(job, spec, findings);
    process::place_on_nodes(job, spec, machine, findings);
}

/// Options as the report repeats them.
pub(crate) fn echo(given: &[Given]) -> Vec<(String, String)> {
    given.iter().map(|given| (given.opt.row().name.to_owned(), given.text.clone())).collect()
}

fn sizing(job: &Job, spec: &JobSpec, findings: &mut Findings) -> Sizing {
    let options = &job.options;
    let mut extent = |opt: Opt| match options.amount(opt)? {
        Amount::Bytes(bytes) => Some(Extent::Bytes(bytes)),
        Amount::Percent(percent) => Some(Extent::Percent(percent)),
        Amount::Zones(_) => {
            let name = opt.row().name;
            let message =
                format!("option `{name}` in zones needs zonemode=zbd, which is not implemented yet");
            let problem = Diagnostic::error(message, place(job, &[opt])).code("unimplemented-value");
            findings.lack(problem.help("give bytes or percent"));
            None
        }
    };
    let size = match extent(Opt::Size) {
        _ if fill_device::is_unlimited(spec, job) => Some(Extent::Bytes(Limits::UNLIMITED)),
        size => size,
    };
    let io_size = extent(Opt::IoSize);
    let offset = extent(Opt::Offset).unwrap_or(Extent::Bytes(0));
    let offset_increment = extent(Opt::OffsetIncrement).unwrap_or(Extent::Bytes(0));
    Sizing {
        size,
        io_size,
        filesize: options.range(Opt::Filesize),
        offset,
        offset_increment,
        offset_align: options.int(Opt::OffsetAlign).and_then(|n| u64::try_from(n).ok()).unwrap_or(0),
        min_block: spec.min_block(),
        file_append: spec.file_append,
        lays_out: !spec.create_on_open && !spec.engine.is_diskless(),
    }
}

/// At most `bytes` bytes of a text, never half a character.
fn cut(text: &str, bytes: usize) -> String {
    let end = (0..=bytes.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text[..end].to_owned()
}

#[cfg(test)]
mod tests;
