//! Builds the report without its risks: jobs with their files and logs, places, sums.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ferrio_job::{
    ByFile, Direction, ExitWhat, FileSpec, FileZones, JobSpec, Plan, PlannedJob, PlannedLog, Replay,
    Sprandom, ZoneModel, log_files,
};
use ferrio_jobfile::{JobSet, Sources};

use crate::commands::commands;
use crate::facts::Facts;
use crate::model::{
    BlockRanges, Certainty, CheckError, CheckTotals, CheckedFile, CheckedJob, CheckedLog, CheckedOrigin,
    CheckedReplay, CheckedZonedFile, EndTrigger, EndsOthers, EndsWhen, EndsWhich, LayoutAction, Pauses,
    PreconditioningPass, Report, SteadyEnd, TimeSpan, VERSION, Volume, ZoneSizes, ZonedModel,
};
use crate::section::{CheckedSection, JobWork};
use crate::{database, files, timeline, volume};

/// An empty report.
pub(crate) fn empty() -> Report {
    Report { version: VERSION, program: format!("ferrio {}", env!("CARGO_PKG_VERSION")), ..Report::default() }
}

/// The report without notes and risks.
pub(crate) fn report(
    set: &JobSet,
    plan: &Plan,
    facts: &Facts,
    sections: &[CheckedSection<'_>],
    trigger: Option<EndTrigger>,
) -> Report {
    let timeout = trigger.as_ref().and_then(|trigger| trigger.timeout_seconds);
    let timeline = timeline::timeline(sections, timeout);
    let endable = EndableJobs::of(plan);
    let mut laid_out = ByFile::default();
    let mut jobs: Vec<CheckedJob> =
        sections.iter().map(|section| job(section, facts, &set.sources, &mut laid_out)).collect();
    for (section, job) in sections.iter().zip(&mut jobs) {
        job.wait_for = section.waits_for.map(|at| sections[at].spec().name.clone());
        job.ends_others = endable.ends_others(section.spec());
        job.never_starts = timeline.never_starts[section.index];
        if job.never_starts {
            job.volume = Volume::NOTHING;
            job.time = TimeSpan::exactly(0.0);
        } else if trigger.is_some() || timeline.may_end_early[section.index] {
            job.volume.certainty = job.volume.certainty.plus(Certainty::AtMost);
        }
    }
    let totals = CheckTotals {
        jobs: jobs.len(),
        instances: plan.jobs.len(),
        volume: jobs.iter().map(|job| job.volume).fold(Volume::NOTHING, Volume::plus),
        create_bytes: jobs.iter().map(|job| job.create_bytes).fold(0, u64::saturating_add),
        time: timeline.whole,
    };
    let mut places = facts.places.clone();
    for (place, needed) in files::space_needs(sections, facts) {
        places[place].needed_bytes = needed.bytes;
        places[place].needed_files = needed.files;
    }
    Report {
        totals,
        trigger,
        phases: timeline.phases,
        jobs,
        places,
        machine: Some(facts.machine),
        errors: errors(set, sections),
        ..empty()
    }
}

fn job<'a>(
    section: &CheckedSection<'a>,
    facts: &Facts,
    sources: &Sources,
    laid_out: &mut ByFile<u64>,
) -> CheckedJob {
    let spec = section.spec();
    let seconds = |duration: Duration| duration.as_secs_f64();
    let (low, high) = spec.limits.startdelay;
    let mut create_bytes = 0_u64;
    let mut files: Vec<CheckedFile> = Vec::new();
    // Clones may share a file, which is listed once.
    let mut shown = HashSet::new();
    let is_counted = section.instances.iter().any(|job| job.spec.files.iter().any(|file| file.run.is_some()));
    // Clones are in the order of their creation: the original first, then from the last to the second.
    let first = section.instances.iter().take(1);
    for spec in first.chain(section.instances.iter().skip(1).rev()).map(|job| &job.spec) {
        for planned in &spec.files {
            let known = facts.files.get(&planned.path).copied().unwrap_or_default();
            let file = files::file(spec, planned, known, laid_out.get(planned).is_some());
            if planned.extend && !spec.fill_device {
                let stays = if file.action == LayoutAction::Grow { planned.found.unwrap_or(0) } else { 0 };
                laid_out.update(planned, |before, count| {
                    let before = before.unwrap_or(stays);
                    let grows = planned.end().saturating_sub(before).saturating_mul(count);
                    create_bytes = create_bytes.saturating_add(grows);
                    planned.end().max(before)
                });
            }
            if shown.insert((planned.path.as_path(), planned.count(), planned.offset, planned.size)) {
                match files.last_mut().filter(|last| is_counted && last.differs_only_in_name(&file)) {
                    Some(last) => last.join(file),
                    None => files.push(file),
                }
            }
        }
    }
    let sum = section.instances.iter().map(volume::of).fold(Volume::NOTHING, Volume::plus);
    let rates = Direction::ALL.into_iter().filter(|&direction| spec.does(direction));
    let rates: Option<Vec<u64>> = rates.map(|direction| volume::rate(spec, direction)).collect();
    let rate = rates.filter(|rates| !rates.is_empty()).map(|rates| rates.iter().sum::<u64>());
    CheckedJob {
        name: spec.name.clone(),
        origin: CheckedOrigin::of(&section.job.origin, sources),
        group: spec.group,
        phase: section.phase,
        wait_for: None,
        never_starts: false,
        ends_others: None,
        commands: commands(spec),
        startdelay_seconds: [seconds(low), seconds(high)],
        instances: spec.clones,
        thread: spec.thread,
        rw: spec.rw.word().to_owned(),
        rwmixread: (spec.rw.is_mixed() && spec.replay.is_none() && spec.events.is_none())
            .then_some(spec.rwmixread),
        block_sizes: block_sizes(spec),
        engine: spec.engine.word().to_owned(),
        iodepth: spec.depth.iodepth,
        direct: spec.opening.direct,
        files,
        volume: sum,
        create_bytes,
        rate_bytes_per_second: rate.map(|rate| rate.saturating_mul(u64::from(spec.clones))),
        pauses: pauses(spec),
        zones: spec.zones.map(|zones| ZoneSizes { size: zones.size, range: zones.range, skip: zones.skip }),
        zoned_files: zoned_files(spec),
        replays: replays(section),
        database: database::of(spec),
        background_of: database::background_of(section).map(|job| job.name.clone()),
        preconditioning: spec.sprandom.as_deref().map(preconditioning),
        steady_state: steady_state(&section.instances[0]),
        logs: logs(section, facts),
        time: section.instances.iter().map(timeline::of).reduce(TimeSpan::longest).unwrap_or_default(),
        setup_error: setup_error(section),
    }
}

/// The logs of a job, each once.
fn replays(section: &CheckedSection<'_>) -> Vec<CheckedReplay> {
    let mut logs: Vec<&Arc<Replay>> = Vec::new();
    for log in section.instances.iter().filter_map(|job| job.spec.replay.as_ref()) {
        if !logs.iter().any(|known| Arc::ptr_eq(known, log)) {
            logs.push(log);
        }
    }
    let replay = |log: &Arc<Replay>| CheckedReplay {
        log: log.name.clone(),
        reads: log.summary.ios[Direction::Read].count,
        writes: log.summary.ios[Direction::Write].count,
        trims: log.summary.ios[Direction::Trim].count,
        syncs: log.summary.syncs,
        files: log.summary.files.len(),
        seconds: Duration::from_micros(log.summary.last_due_us).as_secs_f64(),
        has_more: log.summary.has_more,
    };
    logs.into_iter().map(replay).collect()
}

fn preconditioning(pass: &Sprandom) -> PreconditioningPass {
    let share = |share: Option<&u16>| f64::from(*share.unwrap_or(&0)) / f64::from(Sprandom::WHOLE);
    let logical_bytes = pass.logical_blocks.saturating_mul(pass.block_bytes);
    // Two lists: the blocks saved by the last region and by this one.
    let memory_bytes = pass.most_repetitions().saturating_mul(2 * size_of::<u64>() as u64);
    PreconditioningPass {
        logical_bytes,
        physical_bytes: pass.physical_bytes(),
        repeated_bytes: pass.expected_bytes().saturating_sub(logical_bytes),
        write_amplification: pass.write_amplification(),
        regions: pass.invalid_shares.len(),
        region_bytes: pass.region_bytes(),
        invalid_shares: [share(pass.invalid_shares.first()), share(pass.invalid_shares.last())],
        memory_bytes,
    }
}

/// The zoned files of a job, each once.
fn zoned_files(spec: &JobSpec) -> Vec<CheckedZonedFile> {
    let Some(zbd) = spec.zbd.as_deref() else { return Vec::new() };
    let limit = |most: u32| Some(most).filter(|&most| most > 0);
    let zoned = |(file, zones): (&FileSpec, &FileZones)| CheckedZonedFile {
        path: file.path.clone(),
        files: file.distinct(),
        model: match zones.model {
            ZoneModel::Emulated => ZonedModel::Emulated,
            ZoneModel::HostAware => ZonedModel::HostAware,
            ZoneModel::HostManaged => ZonedModel::HostManaged,
        },
        zones: file.real_size.div_ceil(zones.size.max(1)),
        zone_bytes: zones.size,
        capacity_bytes: (zones.model == ZoneModel::Emulated).then_some(zones.capacity),
        max_open_zones: limit(zones.max_open),
        job_max_open_zones: limit(zbd.job_max_open),
    };
    let mut seen = HashSet::new();
    let mut files: Vec<CheckedZonedFile> = spec.files.iter().zip(&zbd.files).map(zoned).collect();
    files.retain(|file| seen.insert(file.path.clone()));
    files
}

fn block_sizes(spec: &JobSpec) -> BlockRanges {
    let of = |direction| {
        let block = &spec.block[direction];
        spec.rw.does(direction).then_some([block.min, block.max])
    };
    BlockRanges { read: of(Direction::Read), write: of(Direction::Write), trim: of(Direction::Trim) }
}

/// The jobs of a run, as far as they may be ended by others.
struct EndableJobs {
    /// `exitall`, which one job switches on for all.
    exitall: bool,
    instances: usize,
    of_group: HashMap<u32, usize>,
}

impl EndableJobs {
    fn of(plan: &Plan) -> EndableJobs {
        let mut of_group: HashMap<u32, usize> = HashMap::new();
        plan.jobs.iter().for_each(|job| *of_group.entry(job.spec.group).or_default() += 1);
        let exitall = plan.jobs.iter().any(|job| job.spec.life.exitall);
        EndableJobs { exitall, instances: plan.jobs.len(), of_group }
    }

    /// The jobs that a job ends; `None` if it ends no other.
    fn ends_others(&self, spec: &JobSpec) -> Option<EndsOthers> {
        let when = match (self.exitall, spec.life.exitall_on_error) {
            (true, _) => EndsWhen::End,
            (false, true) => EndsWhen::Error,
            (false, false) => return None,
        };
        let group = self.of_group.get(&spec.group).copied().unwrap_or(0);
        let (which, reached) = match spec.life.exit_what {
            ExitWhat::Group => (EndsWhich::Group, group),
            ExitWhat::Stonewall => (EndsWhich::Running, self.instances),
            ExitWhat::All => (EndsWhich::All, self.instances),
        };
        (reached > 1).then_some(EndsOthers { when, which })
    }
}

fn pauses(spec: &JobSpec) -> Option<Pauses> {
    let think = &spec.think;
    (!think.time.is_zero() && spec.works()).then(|| Pauses {
        seconds: think.time.as_secs_f64(),
        after_ios: think.blocks,
        after_seconds: Some(think.iotime.as_secs_f64()).filter(|&seconds| seconds > 0.0),
    })
}

fn steady_state(job: &PlannedJob) -> Option<SteadyEnd> {
    let figure = job.spec.steadystate?.figure.word();
    Some(SteadyEnd { figure, least_seconds: timeline::steady_state_end(job) })
}

/// The log files of all clones, each once, in numerical order.
fn logs(section: &CheckedSection<'_>, facts: &Facts) -> Vec<CheckedLog> {
    let mut seen = HashSet::new();
    let all = section.instances.iter().flat_map(|job| log_files(&job.spec));
    all.filter(|log| seen.insert(log.path.clone()))
        .map(|PlannedLog { path, window_ms, shared, .. }| {
            let path = PathBuf::from(path);
            let known = facts.logs.get(&path).copied().unwrap_or_default();
            CheckedLog { path, window_ms, shared, existing_bytes: known.size, place: known.place }
        })
        .collect()
}

/// The reason why a clone cannot run.
fn setup_error(section: &CheckedSection<'_>) -> Option<String> {
    Some(section.instances.iter().find_map(|job| job.setup_error.as_ref())?.message.clone())
}

/// Jobs that would fail at once; clones fail for the same reason.
fn errors(set: &JobSet, sections: &[CheckedSection<'_>]) -> Vec<CheckError> {
    let failing = sections.iter().filter_map(|section| {
        Some(CheckError {
            message: setup_error(section)?,
            job: Some(section.spec().name.clone()),
            origin: CheckedOrigin::of(&section.job.origin, &set.sources),
            help: None,
        })
    });
    failing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CheckStatus;
    use crate::testing::report;

    #[test]
    fn clones_and_their_files_are_in_order() {
        let report = report("[a]\nsize=1m\nnumjobs=3\nrate=1m\n");
        let paths: Vec<_> = report.jobs[0].files.iter().map(|file| file.path.to_str().unwrap()).collect();
        assert_eq!(paths, ["a.0.0", "a.1.0", "a.2.0"]);
        assert_eq!((report.jobs[0].instances, report.totals.instances), (3, 3));
        assert_eq!(report.totals.volume.read, Some(3 << 20));
        assert_eq!(report.jobs[0].rate_bytes_per_second, Some(3 << 20));
    }

    #[test]
    fn a_job_that_cannot_be_set_up_is_an_error_and_moves_nothing() {
        let report = report("[a]\nrw=read\n[b]\nioengine=null\nsize=4k\n");
        assert_eq!(report.status, CheckStatus::Errors);
        assert_eq!(report.errors[0].message, "you need to specify size=");
        assert_eq!(report.errors[0].job.as_deref(), Some("a"));
        assert_eq!(report.totals.volume.read, Some(4096));
    }

    #[test]
    fn a_job_ends_the_jobs_it_can_reach() {
        let ends = |text: &str| {
            let report = report(&format!("[global]\nioengine=null\nsize=4k\n{text}"));
            report.jobs.iter().map(|job| job.ends_others).collect::<Vec<_>>()
        };
        let at_end = |which| Some(EndsOthers { when: EndsWhen::End, which });
        assert_eq!(ends("[a]\n[b]\n"), [None, None]);
        assert_eq!(
            ends("[a]\nexitall\n[b]\nexit_what=all\n"),
            [at_end(EndsWhich::Group), at_end(EndsWhich::All)]
        );
        assert_eq!(
            ends("exitall\n[a]\n[b]\nnew_group\nexit_what=stonewall\n"),
            [None, at_end(EndsWhich::Running)]
        );
        let on_error = Some(EndsOthers { when: EndsWhen::Error, which: EndsWhich::Group });
        assert_eq!(ends("[a]\nexitall_on_error\nnumjobs=2\n"), [on_error]);
    }

    #[test]
    fn commands_and_pauses_are_reported_as_written() {
        let report = report(
            "[a]\nioengine=null\nsize=4k\nexec_prerun=echo hi > /tmp/x\nexec_postrun=false\nthinktime=5ms\nthinktime_iotime=1s\n",
        );
        let job = &report.jobs[0];
        let ends: Vec<_> =
            job.commands.iter().map(|one| (one.option, &*one.command, one.output.to_str())).collect();
        let want = [
            ("exec_prerun", "echo hi > /tmp/x", Some("a.prerun.txt")),
            ("exec_postrun", "false", Some("a.postrun.txt")),
        ];
        assert_eq!(ends, want);
        let pauses = job.pauses.unwrap();
        assert_eq!((pauses.seconds, pauses.after_ios, pauses.after_seconds), (0.005, None, Some(1.0)));
    }
}
