//! Computes when phases start and how long they last. This depends on stonewalls, `wait_for`, start delays, run times, rates and pauses,
//! and on everything that ends jobs: other jobs (`exitall`) and the trigger.

use std::collections::HashMap;
use std::time::Duration;

use ferrio_job::{ExitWhat, PlannedJob};

use crate::model::{Phase, PhaseBarrier, TimeSpan};
use crate::section::{CheckedSection, JobWork, phases_of};
use crate::units::bytes;
use crate::volume;

/// The times of a run, as far as the plan determines them.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) phases: Vec<Phase>,
    /// The whole run.
    pub(crate) whole: TimeSpan,
    /// For each section, whether it is ended from outside before it can start.
    pub(crate) never_starts: Vec<bool>,
    /// For each section, whether it may be ended early from outside.
    pub(crate) may_end_early: Vec<bool>,
}

/// Times of one section, from its first start to its last end.
#[derive(Clone, Debug)]
struct SectionTimes {
    start: TimeSpan,
    /// End of the instance that ends first.
    first: TimeSpan,
    /// End of the instance that ends last.
    last: TimeSpan,
}

/// Duration of one clone from its start, if nothing else ends it.
pub(crate) fn of(job: &PlannedJob) -> TimeSpan {
    let spec = &job.spec;
    let limits = &spec.limits;
    if job.setup_error.is_some() || !spec.works() {
        return TimeSpan::exactly(0.0);
    }
    let planned = limits.runtime.saturating_add(limits.ramp_time).as_secs_f64();
    // A device may be full at once.
    let full = if spec.fill_device { 0.0 } else { f64::INFINITY };
    let early = steady_state_end(job).min(depth_search_end(job)).min(full);
    let least = volume::least_seconds(spec).max(volume::replay_seconds(spec)).min(early);
    // Run time counts from the end of the ramp.
    let ramp = (limits.ramp_size > 0).then(|| {
        format!(
            "job {} ends some time after {} of ramp_size are transferred",
            spec.name,
            bytes(limits.ramp_size)
        )
    });
    let most = if ramp.is_some() { f64::INFINITY } else { planned };
    if let Some(transactions) = spec.events.as_ref().and_then(|part| part.load.limit) {
        let because = format!("job {} ends when {transactions} transactions are done: no runtime", spec.name);
        return match limits.runtime.is_zero() {
            true => TimeSpan::new(0.0, f64::INFINITY, Some(because)),
            false => TimeSpan::new(0.0, planned, None),
        };
    }
    if limits.time_based {
        return TimeSpan::new(planned.min(early), most, ramp);
    }
    if !limits.runtime.is_zero() {
        return TimeSpan::new(least.min(planned), most, ramp);
    }
    let whole = limits.io_size.unwrap_or(limits.size).saturating_mul(u64::from(limits.loops.max(1)));
    let because = match limits.number_ios {
        0 if spec.replay.is_some() => format!("job {} ends when its log is replayed: no runtime", spec.name),
        0 if limits.is_unlimited() => format!("job {} ends when its device is full: no runtime", spec.name),
        0 => format!("job {} ends when its {} are done: no runtime", spec.name, bytes(whole)),
        ios => format!("job {} ends when its {ios} I/Os are done: no runtime", spec.name),
    };
    TimeSpan::new(least, f64::INFINITY, Some(because))
}

/// Earliest end of a job by its steady state, in seconds from its start; infinite without one.
pub(crate) fn steady_state_end(job: &PlannedJob) -> f64 {
    let ramp = job.spec.limits.ramp_time;
    let steady = job.spec.steadystate;
    steady.map_or(f64::INFINITY, |steady| (ramp + steady.ramp + steady.duration).as_secs_f64())
}

/// Earliest end of the search for a depth (`latency_target`), in seconds: one window finds the depth, one measures it.
fn depth_search_end(job: &PlannedJob) -> f64 {
    let target = job.spec.latency_target;
    if !target.is_sought() || target.goes_on {
        return f64::INFINITY;
    }
    (job.spec.limits.ramp_time + target.window.saturating_mul(2)).as_secs_f64()
}

/// All phases, and the whole run; `timeout` is that of the trigger, in seconds.
pub(crate) fn timeline(sections: &[CheckedSection<'_>], timeout: Option<f64>) -> Timeline {
    let exits = Exits::of(sections);
    let mut over = TimeSpan::exactly(0.0);
    let mut phases: Vec<Phase> = Vec::new();
    let mut never_starts = Vec::new();
    let mut rest_is_cancelled = false;
    for group in phases_of(sections) {
        let begin = over.clone();
        let cancelled = rest_is_cancelled || timeout.is_some_and(|timeout| begin.least_seconds >= timeout);
        let all_times = if cancelled { Vec::new() } else { exits.phase_times(group, &begin, true) };
        for times in &all_times {
            over = over.later(&times.last);
        }
        over = over.limited(timeout);
        let ended = exits.end_before_start(group, &all_times);
        never_starts.extend((0..group.len()).map(|at| {
            cancelled
                || timeout.is_some_and(|timeout| all_times[at].start.least_seconds >= timeout)
                || ended[at]
        }));
        rest_is_cancelled |=
            !cancelled && exits.on && group.iter().any(|section| ExitReach::of(section) == ExitReach::All);
        let time = if cancelled {
            TimeSpan::exactly(0.0)
        } else if begin.most_seconds.is_none() {
            // The phase may have a known length although the previous one has not. Start delays count from the start of the run, so it is
            // unknown whether they are over.
            let now = TimeSpan::exactly(0.0);
            let own =
                exits.phase_times(group, &now, false).iter().fold(now, |end, times| end.later(&times.last));
            own.limited(timeout)
        } else {
            let most_seconds = over.most_seconds.zip(begin.most_seconds);
            TimeSpan {
                least_seconds: (over.least_seconds - begin.least_seconds).max(0.0),
                most_seconds: most_seconds.map(|(end, begin)| (end - begin).max(0.0)),
                unbounded_because: over.unbounded_because.clone(),
            }
        };
        phases.push(Phase {
            number: group[0].phase,
            waits_because: (group[0].phase > 1).then(|| barrier(&group[0])),
            jobs: group.iter().map(|section| section.index).collect(),
            time,
        });
    }
    let may_end_early = sections.iter().map(|section| exits.may_end_early(section)).collect();
    Timeline { phases, whole: over, never_starts, may_end_early }
}

/// The jobs that the end of a job ends (`exit_what`).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ExitReach {
    /// Those of its report group, even before they start.
    Group(u32),
    /// All running ones.
    Running,
    /// All, even before they start.
    All,
}

impl ExitReach {
    fn of(section: &CheckedSection<'_>) -> ExitReach {
        let spec = section.spec();
        match spec.life.exit_what {
            ExitWhat::Group => ExitReach::Group(spec.group),
            ExitWhat::Stonewall => ExitReach::Running,
            ExitWhat::All => ExitReach::All,
        }
    }

    /// Every reach that includes this section.
    fn including(section: &CheckedSection<'_>) -> [ExitReach; 3] {
        [ExitReach::Group(section.spec().group), ExitReach::Running, ExitReach::All]
    }
}

/// The effects of ending jobs on others.
struct Exits {
    on: bool,
    /// Number of instances with each reach.
    instances: HashMap<ExitReach, usize>,
}

impl Exits {
    fn of(sections: &[CheckedSection<'_>]) -> Exits {
        let mut exits = Exits { on: false, instances: HashMap::new() };
        for section in sections {
            exits.on |= section.spec().life.exitall;
            *exits.instances.entry(ExitReach::of(section)).or_default() += section.instances.len();
        }
        exits
    }

    /// Whether another job may end an instance of the section.
    fn may_end_early(&self, section: &CheckedSection<'_>) -> bool {
        let reaching = ExitReach::including(section);
        let reaching = reaching.iter().filter_map(|reach| self.instances.get(reach));
        // Every instance reaches itself.
        self.on && reaching.sum::<usize>() > 1
    }

    /// Times of the sections of a phase that begins at `begin`.
    fn phase_times(&self, group: &[CheckedSection<'_>], begin: &TimeSpan, delays: bool) -> Vec<SectionTimes> {
        let natural = section_times(group, begin, delays, &[]);
        if !self.on {
            return natural;
        }
        // The first job to end may end others, which may end others in turn. Jobs that wait for one of these start earlier than they would
        // otherwise.
        let ended = end_early(group, end_early(group, natural));
        end_early(group, section_times(group, begin, delays, &ended))
    }

    /// For each section of a phase, whether a job that ends it does so before it can start (`wait_for`, `startdelay`).
    fn end_before_start(&self, group: &[CheckedSection<'_>], all_times: &[SectionTimes]) -> Vec<bool> {
        // Seconds after which a job with each reach has certainly ended.
        let mut ends: HashMap<ExitReach, f64> = HashMap::new();
        for (section, times) in group.iter().zip(all_times) {
            let end = ends.entry(ExitReach::of(section)).or_insert(f64::INFINITY);
            *end = end.min(times.first.most_seconds.unwrap_or(f64::INFINITY));
        }
        let never = |(section, times): (&CheckedSection<'_>, &SectionTimes)| {
            let spec = section.spec();
            // The end of running jobs does not affect a job that has not started.
            let reaches = [ExitReach::Group(spec.group), ExitReach::All];
            let awaited = section.awaited_in(group).map(|at| ExitReach::of(&group[at]));
            let end =
                reaches.iter().filter_map(|reach| ends.get(reach)).fold(f64::INFINITY, |a, &b| a.min(b));
            self.on
                && (awaited.is_some_and(|reach| reaches.contains(&reach))
                    || (spec.limits.startdelay.0 > Duration::ZERO && end < times.start.least_seconds))
        };
        group.iter().zip(all_times).map(never).collect()
    }
}

/// Times of sections that nothing else ends. A section with `wait_for` starts at the `known` end of the other, otherwise at its own.
fn section_times(
    group: &[CheckedSection<'_>],
    begin: &TimeSpan,
    delays: bool,
    known: &[SectionTimes],
) -> Vec<SectionTimes> {
    let mut all_times: Vec<SectionTimes> = Vec::with_capacity(group.len());
    for section in group {
        let awaited = section.awaited_in(group).and_then(|at| known.get(at).or_else(|| all_times.get(at)));
        let start = awaited.map_or_else(|| begin.clone(), |times| begin.later(&times.last));
        let times = section.instances.iter().map(|job| {
            let (low, high) = job.spec.limits.startdelay;
            let delay = TimeSpan::new(low.as_secs_f64(), high.as_secs_f64(), None);
            let start = if delays { start.later(&delay) } else { start.clone() };
            let end = start.after(&of(job));
            SectionTimes { start, first: end.clone(), last: end }
        });
        let times = times.reduce(|one, other| SectionTimes {
            start: one.start.sooner(&other.start),
            first: one.first.sooner(&other.first),
            last: one.last.later(&other.last),
        });
        let nothing = || SectionTimes { start: begin.clone(), first: begin.clone(), last: begin.clone() };
        all_times.push(times.unwrap_or_else(nothing));
    }
    all_times
}

/// Ends each section at the first end of a job that ends it.
fn end_early(group: &[CheckedSection<'_>], mut all_times: Vec<SectionTimes>) -> Vec<SectionTimes> {
    let mut first_ends: HashMap<ExitReach, TimeSpan> = HashMap::new();
    for (section, times) in group.iter().zip(&all_times) {
        let end = first_ends.entry(ExitReach::of(section)).or_insert_with(|| times.first.clone());
        *end = end.sooner(&times.first);
    }
    for (section, times) in group.iter().zip(&mut all_times) {
        let starts_late = section.waits_for.is_some() || section.spec().limits.startdelay.1 > Duration::ZERO;
        for reach in ExitReach::including(section) {
            let Some(end) = first_ends.get(&reach) else { continue };
            let mut end = end.clone();
            if reach == ExitReach::Running && starts_late {
                // It may not have started yet, and then lasts its whole length.
                end.most_seconds = None;
            }
            times.first = times.first.sooner(&end);
            times.last = times.last.sooner(&end);
        }
    }
    all_times
}

fn barrier(section: &CheckedSection<'_>) -> PhaseBarrier {
    let by_file = section.job.file_number > 0 && section.job.first_of_file;
    if by_file && !section.switch(ferrio_jobfile::Opt::Stonewall) {
        PhaseBarrier::NextFile
    } else {
        PhaseBarrier::Stonewall
    }
}

impl TimeSpan {
    /// `most` seconds may be infinite, for the reason in `because`.
    fn new(least_seconds: f64, most: f64, because: Option<String>) -> TimeSpan {
        let most_seconds = Some(most).filter(|most| most.is_finite());
        TimeSpan { least_seconds, most_seconds, unbounded_because: because }
    }

    pub(crate) fn exactly(seconds: f64) -> TimeSpan {
        TimeSpan::new(seconds, seconds, None)
    }

    fn most(&self) -> f64 {
        self.most_seconds.unwrap_or(f64::INFINITY)
    }

    /// The reason of either span.
    fn because(&self, other: &TimeSpan) -> Option<String> {
        self.unbounded_because.clone().or_else(|| other.unbounded_because.clone())
    }

    /// The later of two ends.
    fn later(&self, other: &TimeSpan) -> TimeSpan {
        let (least, most) = (self.least_seconds.max(other.least_seconds), self.most().max(other.most()));
        TimeSpan::new(least, most, self.because(other))
    }

    /// The earlier of two ends.
    fn sooner(&self, other: &TimeSpan) -> TimeSpan {
        let (least, most) = (self.least_seconds.min(other.least_seconds), self.most().min(other.most()));
        TimeSpan::new(least, most, self.unbounded_because.clone().filter(|_| most.is_infinite()))
    }

    /// Starts `length` at this span.
    fn after(&self, length: &TimeSpan) -> TimeSpan {
        let (least, most) = (self.least_seconds + length.least_seconds, self.most() + length.most());
        TimeSpan::new(least, most, self.because(length))
    }

    fn limited(self, timeout: Option<f64>) -> TimeSpan {
        timeout.map_or(self.clone(), |timeout| self.sooner(&TimeSpan::exactly(timeout)))
    }

    /// The longer of two lengths.
    pub(crate) fn longest(self, other: TimeSpan) -> TimeSpan {
        let key = |span: &TimeSpan| (span.most(), span.least_seconds);
        if key(&other) > key(&self) { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::sections;
    use crate::testing::{plan_of, plan_of_files};

    fn times(text: &str) -> (Vec<(f64, Option<f64>)>, TimeSpan) {
        let (set, plan) = plan_of(&format!("[global]\nioengine=null\nsize=1m\n{text}"));
        let Timeline { phases, whole, .. } = timeline(&sections(&set, &plan), None);
        (phases.iter().map(|phase| (phase.time.least_seconds, phase.time.most_seconds)).collect(), whole)
    }

    fn never(text: &str, timeout: Option<f64>) -> Vec<bool> {
        let (set, plan) = plan_of(&format!("[global]\nioengine=null\nsize=1m\ntime_based\n{text}"));
        timeline(&sections(&set, &plan), timeout).never_starts
    }

    #[test]
    fn jobs_together_last_as_long_as_the_longest_and_phases_add_up() {
        let (each, whole) = times(
            "time_based\n[a]\nruntime=2\n[b]\nruntime=3\nramp_time=1\n[c]\nstonewall\nruntime=5\nnumjobs=3\n",
        );
        assert_eq!(each, [(4.0, Some(4.0)), (5.0, Some(5.0))]);
        assert_eq!((whole.least_seconds, whole.most_seconds), (9.0, Some(9.0)));
    }

    #[test]
    fn a_start_delay_counts_from_the_start_of_the_run() {
        let (each, _) = times("time_based\nruntime=2\n[a]\nstartdelay=3\n[b]\nstonewall\nstartdelay=4\n");
        assert_eq!(each, [(5.0, Some(5.0)), (2.0, Some(2.0))]);
    }

    #[test]
    fn work_without_runtime_is_unbounded_and_says_why() {
        let (each, whole) = times("[a]\nloops=2\n[b]\nstonewall\nruntime=2\n[c]\nstonewall\nrate=256k\n");
        assert_eq!(each, [(0.0, None), (0.0, Some(2.0)), (4.0, None)]);
        assert_eq!(whole.unbounded_because.as_deref(), Some("job a ends when its 2MiB are done: no runtime"));
    }

    #[test]
    fn a_further_file_is_a_barrier_of_its_own() {
        let job = "[a]\nioengine=null\nsize=4k\n";
        let (set, plan) = plan_of_files(&[job, job, &format!("{job}stonewall\n")]);
        let phases = timeline(&sections(&set, &plan), None).phases;
        let why: Vec<_> = phases.iter().map(|phase| phase.waits_because).collect();
        assert_eq!(why, [None, Some(PhaseBarrier::NextFile), Some(PhaseBarrier::Stonewall)]);
    }

    #[test]
    fn a_steady_state_may_end_a_job_early() {
        let steady = "steadystate=iops:5%\nsteadystate_duration=10\nsteadystate_ramp_time=5\n";
        let (each, _) = times(&format!("time_based\n[a]\nruntime=60\nramp_time=2\n{steady}"));
        assert_eq!(each, [(17.0, Some(62.0))]);
    }

    #[test]
    fn a_depth_that_is_found_may_end_a_job_early() {
        let target = "latency_target=1ms\nlatency_window=3s\n";
        let (each, _) = times(&format!("time_based\n[a]\nruntime=60\nramp_time=2\n{target}"));
        assert_eq!(each, [(8.0, Some(62.0))]);
        let (each, _) = times(&format!("time_based\n[a]\nruntime=60\nlatency_run=1\n{target}"));
        assert_eq!(each, [(60.0, Some(60.0))]);
    }

    #[test]
    fn a_device_that_is_filled_may_be_full_at_once() {
        let filling = "[a]\nrw=write\nrate=1m\nfill_device=1\n";
        assert_eq!(times(&format!("{filling}size=1g\n")).0, [(0.0, None)]);
        assert_eq!(times(&format!("{filling}time_based\nruntime=9\n")).0, [(0.0, Some(9.0))]);
    }

    #[test]
    fn the_end_of_a_ramp_of_bytes_is_not_known() {
        assert_eq!(times("time_based\n[a]\nruntime=60\nramp_size=1g\n").0, [(60.0, None)]);
    }

    #[test]
    fn with_exitall_the_first_end_is_that_of_its_group() {
        let (each, _) =
            times("time_based\nexitall\n[a]\nruntime=2\n[b]\nruntime=9\n[c]\nnew_group\nruntime=4\n");
        assert_eq!(each, [(4.0, Some(4.0))]);
        let (each, _) = times("[a]\nexitall\ntime_based\nruntime=2\n[b]\n");
        assert_eq!(each, [(0.0, Some(2.0))], "b may be done before");
        let (each, _) =
            times("time_based\nexitall\n[a]\nruntime=2\nexit_what=all\n[b]\nnew_group\nruntime=9\n");
        assert_eq!(each, [(2.0, Some(2.0))]);
    }

    #[test]
    fn what_waits_for_a_job_that_ends_all_never_starts() {
        let waits = "[a]\nruntime=2\n[b]\nruntime=2\nwait_for=a\n";
        assert_eq!(never(waits, None), [false, false]);
        assert_eq!(never(&format!("exitall\n{waits}"), None), [false, true]);
        let walled = "exitall\n[a]\nruntime=2\n[b]\nstonewall\nruntime=2\n";
        assert_eq!(never(walled, None), [false, false], "another report group");
        assert_eq!(never(&format!("exit_what=all\n{walled}"), None), [false, true]);
        let delayed = "exitall\nruntime=2\n[a]\n[b]\nstartdelay=3\n[c]\nstartdelay=1\n";
        assert_eq!(never(delayed, None), [false, true, false]);
    }

    #[test]
    fn a_trigger_ends_the_run() {
        let text = "[a]\nruntime=4\n[b]\nstonewall\nruntime=4\n[c]\nstonewall\nruntime=4\n";
        assert_eq!(never(text, Some(6.0)), [false, false, true]);
        let (set, plan) = plan_of(&format!("[global]\nioengine=null\nsize=1m\ntime_based\n{text}"));
        let line = timeline(&sections(&set, &plan), Some(6.0));
        let ends: Vec<_> = line.phases.iter().map(|phase| phase.time.most_seconds).collect();
        assert_eq!((ends, line.whole.most_seconds), (vec![Some(4.0), Some(2.0), Some(0.0)], Some(6.0)));
    }
}
