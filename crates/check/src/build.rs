//! Builds the report without its risks: jobs, files, places, sums.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use ferrio_job::{Direction, FileKind, FileSpec, JobSpec, Plan, layout_of};
use ferrio_jobfile::{JobSet, Sources};

use crate::facts::{Facts, FileFacts};
use crate::model::{
    BlockRanges, Certainty, CheckError, CheckStatus, CheckTotals, CheckedFile, CheckedFileKind, CheckedJob,
    EndTrigger, LayoutAction, Report, Spot, TimeSpan, VERSION, ZoneSizes,
};
use crate::section::{CheckedSection, JobWork};
use crate::{surroundings, timeline, volume};

/// An empty report.
pub(crate) fn empty() -> Report {
    Report {
        version: VERSION,
        program: format!("ferrio {}", env!("CARGO_PKG_VERSION")),
        status: CheckStatus::Clean,
        totals: CheckTotals::default(),
        trigger: None,
        phases: Vec::new(),
        jobs: Vec::new(),
        places: Vec::new(),
        machine: None,
        notes: Vec::new(),
        risks: Vec::new(),
        errors: Vec::new(),
    }
}

/// Everything but notes and risks.
pub(crate) fn report(
    set: &JobSet,
    plan: &Plan,
    facts: &Facts,
    sections: &[CheckedSection<'_>],
    trigger: Option<EndTrigger>,
) -> Report {
    let timeout = trigger.as_ref().and_then(|trigger| trigger.timeout_seconds);
    let timeline = timeline::timeline(sections, timeout);
    let company = surroundings::EndableJobs::of(plan);
    let mut laid_out = HashMap::new();
    let mut jobs: Vec<CheckedJob> =
        sections.iter().map(|section| job(section, facts, &set.sources, &mut laid_out)).collect();
    for (section, job) in sections.iter().zip(&mut jobs) {
        job.ends_others = company.ends_others(section.spec());
        job.never_starts = timeline.never_starts[section.index];
        if job.never_starts {
            job.volume = volume::nothing();
            job.time = TimeSpan { most_seconds: Some(0.0), ..TimeSpan::default() };
        } else if trigger.is_some() || timeline.cut[section.index] {
            job.volume.certainty = job.volume.certainty.max(Certainty::AtMost);
        }
    }
    let totals = CheckTotals {
        jobs: jobs.len(),
        instances: plan.jobs.len(),
        volume: jobs.iter().map(|job| job.volume).fold(volume::nothing(), volume::plus),
        create_bytes: jobs.iter().map(|job| job.create_bytes).fold(0, u64::saturating_add),
        time: timeline.whole,
    };
    let mut places = facts.places.clone();
    for (place, bytes) in needed(sections, facts) {
        places[place].needed_bytes = bytes;
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
    laid_out: &mut HashMap<&'a Path, u64>,
) -> CheckedJob {
    let spec = section.spec();
    let seconds = |duration: std::time::Duration| duration.as_secs_f64();
    let (low, high) = spec.limits.startdelay;
    let mut create_bytes = 0_u64;
    let mut files: Vec<CheckedFile> = Vec::new();
    // Clones may share a file: it is shown once.
    let mut shown = HashSet::new();
    // Of clones the original is the first and the others come from the last to the second.
    let first = section.instances.iter().take(1);
    for spec in first.chain(section.instances.iter().skip(1).rev()).map(|job| &job.spec) {
        for planned in &spec.files {
            let known = facts.files.get(&planned.path).copied().unwrap_or_default();
            let file = file(spec, planned, known, laid_out.contains_key(planned.path.as_path()));
            if planned.extend && !spec.fill_device {
                let stays = if file.action == LayoutAction::Grow { planned.found.unwrap_or(0) } else { 0 };
                let before = laid_out.entry(&planned.path).or_insert(stays);
                create_bytes = create_bytes.saturating_add(planned.end().saturating_sub(*before));
                *before = planned.end().max(*before);
            }
            if shown.insert((planned.path.as_path(), planned.offset, planned.size)) {
                files.push(file);
            }
        }
    }
    let sum = section.instances.iter().map(volume::of).fold(volume::nothing(), volume::plus);
    let rates = Direction::ALL.into_iter().filter(|&direction| spec.does(direction));
    let rates: Option<Vec<u64>> = rates.map(|direction| volume::rate(spec, direction)).collect();
    let rate = rates.filter(|rates| !rates.is_empty()).map(|rates| rates.iter().sum::<u64>());
    CheckedJob {
        name: spec.name.clone(),
        origin: Spot::of(&section.job.origin, sources),
        group: spec.group,
        phase: section.phase,
        wait_for: section.wait_for().map(str::to_owned),
        never_starts: false,
        ends_others: None,
        commands: surroundings::commands(spec),
        startdelay_seconds: [seconds(low), seconds(high)],
        instances: spec.clones,
        thread: spec.thread,
        rw: spec.rw.word().to_owned(),
        rwmixread: spec.rw.is_mixed().then_some(spec.rwmixread),
        block_sizes: block_sizes(spec),
        engine: spec.engine.word().to_owned(),
        iodepth: spec.depth.iodepth,
        direct: spec.direct,
        files,
        volume: sum,
        create_bytes,
        rate_bytes_per_second: rate.map(|rate| rate.saturating_mul(u64::from(spec.clones))),
        pauses: surroundings::pauses(spec),
        zones: spec.zones.map(|zones| ZoneSizes { size: zones.size, range: zones.range, skip: zones.skip }),
        steady_state: surroundings::steady_state(&section.instances[0]),
        logs: surroundings::logs(section, facts),
        time: section.instances.iter().map(timeline::of).reduce(longest).unwrap_or_default(),
        setup_error: setup_error(section),
    }
}

fn longest(one: TimeSpan, other: TimeSpan) -> TimeSpan {
    let key = |span: &TimeSpan| (span.most_seconds.unwrap_or(f64::INFINITY), span.least_seconds);
    if key(&other) > key(&one) { other } else { one }
}

fn block_sizes(spec: &JobSpec) -> BlockRanges {
    let of = |direction| {
        let block = &spec.block[direction];
        spec.rw.does(direction).then_some([block.min, block.max])
    };
    BlockRanges { read: of(Direction::Read), write: of(Direction::Write), trim: of(Direction::Trim) }
}

fn file(spec: &JobSpec, planned: &FileSpec, known: FileFacts, made_before: bool) -> CheckedFile {
    CheckedFile {
        path: planned.path.clone(),
        kind: match planned.kind {
            _ if spec.engine.is_diskless() => CheckedFileKind::None,
            FileKind::Regular => CheckedFileKind::Regular,
            FileKind::Block => CheckedFileKind::Block,
            FileKind::Char => CheckedFileKind::Char,
            FileKind::Pretend => CheckedFileKind::None,
        },
        action: action(spec, planned, made_before),
        offset: planned.offset,
        size: planned.size,
        existing_bytes: planned.found,
        allocated_bytes: known.allocated,
        place: known.place,
        unlink: spec.unlink && planned.kind == FileKind::Regular,
    }
}

/// What a run does to a file. `made_before` means that an earlier job lays it out.
pub(crate) fn action(spec: &JobSpec, file: &FileSpec, made_before: bool) -> LayoutAction {
    if spec.engine.is_diskless() || file.kind == FileKind::Pretend {
        return LayoutAction::None;
    }
    if file.kind != FileKind::Regular || spec.readonly {
        return LayoutAction::Use;
    }
    if made_before {
        return LayoutAction::UseEarlier;
    }
    if !file.extend {
        return match file.found {
            None if spec.create_on_open => LayoutAction::CreateOnOpen,
            // Large enough only because a job before makes it so.
            found if found.is_none_or(|bytes| bytes < file.end()) && !spec.create_on_open => {
                LayoutAction::UseEarlier
            }
            _ => LayoutAction::Use,
        };
    }
    let layout = layout_of(spec);
    match (file.found, layout.fills) {
        (Some(_), _) if !layout.replaces => LayoutAction::Grow,
        (None, true) => LayoutAction::CreateFilled,
        (None, false) => LayoutAction::CreateEmpty,
        (Some(_), true) => LayoutAction::ReplaceFilled,
        (Some(_), false) => LayoutAction::ReplaceEmpty,
    }
}

/// Bytes that each place needs in addition to what it holds now: every file once, at its largest. Layout precedes all jobs, so a
/// file that is removed at the end of its job still takes space at the same time as all others.
fn needed(sections: &[CheckedSection<'_>], facts: &Facts) -> HashMap<usize, u64> {
    let mut sizes: HashMap<&Path, u64> = HashMap::new();
    for (spec, file) in sections.iter().flat_map(CheckedSection::files) {
        // What fills a device takes what is there.
        let fills = !spec.fill_device && (spec.does(Direction::Write) || file.extend);
        if fills && file.kind == FileKind::Regular && !spec.readonly {
            let size = sizes.entry(&file.path).or_default();
            *size = file.end().max(*size);
        }
    }
    let mut needed: HashMap<usize, u64> = HashMap::new();
    let mut seen = HashSet::new();
    for (path, size) in sizes {
        let known = facts.files.get(path).copied().unwrap_or_default();
        let again = known.identity.is_some_and(|identity| !seen.insert(identity));
        if let Some(place) = known.place.filter(|_| !again) {
            let sum = needed.entry(place).or_default();
            *sum = sum.saturating_add(size.saturating_sub(known.allocated.unwrap_or(0)));
        }
    }
    needed
}

/// Why a clone cannot run.
fn setup_error(section: &CheckedSection<'_>) -> Option<String> {
    Some(section.instances.iter().find_map(|job| job.setup_error.as_ref())?.message.clone())
}

/// Jobs that would fail at once; clones fail for the same reason.
fn errors(set: &JobSet, sections: &[CheckedSection<'_>]) -> Vec<CheckError> {
    let failing = sections.iter().filter_map(|section| {
        Some(CheckError {
            message: setup_error(section)?,
            job: Some(section.spec().name.clone()),
            origin: Spot::of(&section.job.origin, &set.sources),
            help: None,
        })
    });
    failing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{report, report_with};

    fn actions(text: &str) -> Vec<LayoutAction> {
        report(text).jobs.iter().flat_map(|job| &job.files).map(|file| file.action).collect()
    }

    #[test]
    fn readers_find_filled_files_and_writers_empty_ones() {
        assert_eq!(actions("[a]\nsize=1m\n"), [LayoutAction::CreateFilled]);
        assert_eq!(actions("[a]\nsize=1m\nrw=write\n"), [LayoutAction::CreateEmpty]);
        assert_eq!(actions("[a]\nsize=1m\nrw=write\noverwrite=1\n"), [LayoutAction::CreateFilled]);
        assert_eq!(actions("[a]\nsize=1m\nrw=write\ncreate_on_open=1\n"), [LayoutAction::CreateOnOpen]);
        assert_eq!(actions("[a]\nsize=1m\nioengine=null\n"), [LayoutAction::None]);
        assert_eq!(
            actions("[a]\nsize=1m\nfilename=f\n[b]\nsize=1m\nfilename=f\n"),
            [LayoutAction::CreateFilled, LayoutAction::UseEarlier]
        );
    }

    #[test]
    fn what_is_there_is_used_replaced_or_grown() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, [0; 8192]).unwrap();
        let on = |options: &str| actions(&format!("[a]\nfilename={}\n{options}", file.display()));
        assert_eq!(on("size=8k\n"), [LayoutAction::Use]);
        assert_eq!(on("size=16k\n"), [LayoutAction::ReplaceFilled]);
        assert_eq!(on("size=16k\nrw=write\n"), [LayoutAction::ReplaceEmpty]);
        assert_eq!(on("size=16k\nrw=trim\n"), [LayoutAction::Grow]);
    }

    #[test]
    fn space_counts_every_file_once_at_its_largest_less_what_it_takes_now() {
        let text = "[a]\nfilename=f\nrw=write\nsize=1m\nnumjobs=2\n[b]\nfilename=f\nrw=write\nsize=3m\n[c]\nfilename=r\nsize=1m\n";
        let report = report_with(text, |facts| {
            facts.files.get_mut(Path::new("f")).unwrap().allocated = Some(1 << 20);
        });
        assert_eq!(report.places[0].needed_bytes, 3 << 20);
        assert_eq!(report.totals.create_bytes, 4 << 20);
    }

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
}
