//! When phases start and how long they last. Stonewalls, `wait_for`, start delays, run times, rates and pauses decide, and whatever
//! else ends jobs: other jobs (`exitall`) and the trigger.

use std::collections::HashMap;
use std::time::Duration;

use ferrio_job::{ExitWhat, PlannedJob};

use crate::model::{Barrier, Phase, TimeSpan};
use crate::section::{CheckedSection, JobWork};
use crate::units::bytes;
use crate::volume;

/// The times of a run, as far as the plan determines them.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) phases: Vec<Phase>,
    /// The whole run.
    pub(crate) whole: TimeSpan,
    /// For each section, whether something else ends it before it can start.
    pub(crate) never_starts: Vec<bool>,
    /// For each section, whether something else may end it early.
    pub(crate) cut: Vec<bool>,
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

/// How long one clone runs from its start, if nothing else ends it.
pub(crate) fn of(job: &PlannedJob) -> TimeSpan {
    let spec = &job.spec;
    let limits = &spec.limits;
    if job.setup_error.is_some() || !spec.works() {
        return now();
    }
    let planned = limits.runtime.saturating_add(limits.ramp_time).as_secs_f64();
    // A device may be full at once.
    let full = if spec.fill_device { 0.0 } else { f64::INFINITY };
    let settled = settled(job).min(found(job)).min(full);
    let least = volume::least_seconds(spec).min(settled);
    // Run time counts from the end of the ramp.
    let ramp = (limits.ramp_size > 0).then(|| {
        format!("job {} ends some time after {} of ramp_size are done", spec.name, bytes(limits.ramp_size))
    });
    let most_seconds = if ramp.is_some() { None } else { Some(planned) };
    if limits.time_based {
        return TimeSpan { least_seconds: planned.min(settled), most_seconds, unbounded_because: ramp };
    }
    if !limits.runtime.is_zero() {
        return TimeSpan { least_seconds: least.min(planned), most_seconds, unbounded_because: ramp };
    }
    let whole = limits.io_size.unwrap_or(limits.size).saturating_mul(u64::from(limits.loops.max(1)));
    let because = match limits.number_ios {
        0 if limits.is_unlimited() => format!("job {} ends when its device is full: no runtime", spec.name),
        0 => format!("job {} ends when its {} are done: no runtime", spec.name, bytes(whole)),
        ios => format!("job {} ends when its {ios} I/Os are done: no runtime", spec.name),
    };
    TimeSpan { least_seconds: least, most_seconds: None, unbounded_because: Some(because) }
}

/// Earliest end of a job by its steady state, in seconds from its start; infinite without one.
pub(crate) fn settled(job: &PlannedJob) -> f64 {
    let ramp = job.spec.limits.ramp_time;
    let steady = job.spec.steadystate;
    steady.map_or(f64::INFINITY, |steady| (ramp + steady.ramp + steady.duration).as_secs_f64())
}

/// Earliest end of the search for a depth (`latency_target`), in seconds: one window finds the depth, one measures it.
fn found(job: &PlannedJob) -> f64 {
    let target = job.spec.latency_target;
    if !target.is_sought() || target.goes_on {
        return f64::INFINITY;
    }
    (job.spec.limits.ramp_time + target.window.saturating_mul(2)).as_secs_f64()
}

/// All phases, and the whole run; `timeout` is that of the trigger, in seconds.
pub(crate) fn timeline(sections: &[CheckedSection<'_>], timeout: Option<f64>) -> Timeline {
    let exits = Exits::of(sections);
    let mut over = now();
    let mut phases: Vec<Phase> = Vec::new();
    let mut never_starts = Vec::new();
    let mut rest_is_cancelled = false;
    for group in sections.chunk_by(|one, next| one.phase == next.phase) {
        let begin = over.clone();
        let cancelled = rest_is_cancelled || timeout.is_some_and(|timeout| begin.least_seconds >= timeout);
        let all_times = if cancelled { Vec::new() } else { exits.lay(group, &begin, true) };
        for times in &all_times {
            over = later(over, &times.last);
        }
        over = limited(over, timeout);
        let ended = exits.end_before_start(group, &all_times);
        never_starts.extend((0..group.len()).map(|at| {
            cancelled
                || timeout.is_some_and(|timeout| all_times[at].start.least_seconds >= timeout)
                || ended[at]
        }));
        rest_is_cancelled |= !cancelled && exits.on && group.iter().any(ends_all);
        let mut time = TimeSpan {
            least_seconds: (over.least_seconds - begin.least_seconds).max(0.0),
            most_seconds: over
                .most_seconds
                .zip(begin.most_seconds)
                .map(|(end, begin)| (end - begin).max(0.0)),
            unbounded_because: over.unbounded_because.clone(),
        };
        // A phase of known length after one of unknown length has its own length still. Start delays count from the start of the
        // run and are over by then or not, which nobody knows.
        if begin.most_seconds.is_none() && !cancelled {
            let own = exits.lay(group, &now(), false).iter().fold(now(), |end, one| later(end, &one.last));
            time = limited(own, timeout);
        } else if cancelled {
            time = now();
        }
        phases.push(Phase {
            number: phases.len() + 1,
            waits_because: (!phases.is_empty()).then(|| barrier(&group[0])),
            jobs: group.iter().map(|section| section.index).collect(),
            time,
        });
    }
    let cut = sections.iter().map(|section| exits.may_cut(section)).collect();
    Timeline { phases, whole: over, never_starts, cut }
}

/// Which jobs end which others when they end, counted in instances.
struct Exits {
    on: bool,
    /// For each report group, the jobs that end it.
    of_group: HashMap<u32, usize>,
    /// Jobs that also end jobs of other groups.
    beyond: usize,
}

impl Exits {
    fn of(sections: &[CheckedSection<'_>]) -> Exits {
        let mut exits = Exits { on: false, of_group: HashMap::new(), beyond: 0 };
        for section in sections {
            let (spec, instances) = (section.spec(), section.instances.len());
            exits.on |= spec.life.exitall;
            match spec.life.exit_what {
                ExitWhat::Group => *exits.of_group.entry(spec.group).or_default() += instances,
                ExitWhat::Stonewall | ExitWhat::All => exits.beyond += instances,
            }
        }
        exits
    }

    /// True when another job may end an instance of the section.
    fn may_cut(&self, section: &CheckedSection<'_>) -> bool {
        let of_group = self.of_group.get(&section.spec().group).copied().unwrap_or(0);
        // Every instance is counted for itself.
        self.on && of_group + self.beyond > 1
    }

    /// The sections of a phase that begins at `begin`.
    fn lay(&self, group: &[CheckedSection<'_>], begin: &TimeSpan, delays: bool) -> Vec<SectionTimes> {
        let natural = lay(group, begin, delays, &HashMap::new());
        if !self.on {
            return natural;
        }
        // Once more for those that wait for a job which is ended before its own end.
        let cut = cut(group, natural);
        cut_again(group, lay(group, begin, delays, &ends(group, &cut)))
    }

    /// For each section of a phase, whether a job that ends it does so before it can start (`wait_for`, `startdelay`).
    fn end_before_start(&self, group: &[CheckedSection<'_>], all_times: &[SectionTimes]) -> Vec<bool> {
        let mut named: HashMap<&str, Vec<&CheckedSection<'_>>> = HashMap::new();
        // Seconds after which somebody has surely ended who takes along: a report group, or all.
        let mut of_group: HashMap<u32, f64> = HashMap::new();
        let mut of_all = f64::INFINITY;
        for (section, times) in group.iter().zip(all_times) {
            let spec = section.spec();
            named.entry(spec.name.as_str()).or_default().push(section);
            let end = times.first.most_seconds.unwrap_or(f64::INFINITY);
            match spec.life.exit_what {
                ExitWhat::Group => {
                    let known = of_group.entry(spec.group).or_insert(f64::INFINITY);
                    *known = known.min(end);
                }
                ExitWhat::Stonewall => {}
                ExitWhat::All => of_all = of_all.min(end),
            }
        }
        let never = |(section, times): (&CheckedSection<'_>, &SectionTimes)| {
            let spec = section.spec();
            let takes_along = |other: &&CheckedSection<'_>| match other.spec().life.exit_what {
                ExitWhat::Group => other.spec().group == spec.group,
                ExitWhat::Stonewall => false,
                ExitWhat::All => true,
            };
            let awaited = section.wait_for().and_then(|name| named.get(name));
            let end = of_all.min(of_group.get(&spec.group).copied().unwrap_or(f64::INFINITY));
            self.on
                && (awaited.is_some_and(|others| others.iter().any(takes_along))
                    || (spec.limits.startdelay.0 > Duration::ZERO && end < times.start.least_seconds))
        };
        group.iter().zip(all_times).map(never).collect()
    }
}

fn ends_all(section: &CheckedSection<'_>) -> bool {
    section.spec().life.exit_what == ExitWhat::All
}

/// Times of sections that nothing else ends. A section with `wait_for` starts at the `known` end of the other, else at its own.
fn lay(
    group: &[CheckedSection<'_>],
    begin: &TimeSpan,
    delays: bool,
    known: &HashMap<&str, TimeSpan>,
) -> Vec<SectionTimes> {
    let mut ended: HashMap<&str, TimeSpan> = HashMap::new();
    let mut all_times = Vec::with_capacity(group.len());
    for section in group {
        let awaited = section.wait_for().and_then(|name| known.get(name).or_else(|| ended.get(name)));
        let start = awaited.map_or_else(|| begin.clone(), |end| later(begin.clone(), end));
        let mut times: Option<SectionTimes> = None;
        for job in section.instances {
            let (low, high) = job.spec.limits.startdelay;
            let start = if delays { later(start.clone(), &delay_span(low, high)) } else { start.clone() };
            let end = after(&start, &of(job));
            times = Some(match times {
                None => SectionTimes { start, first: end.clone(), last: end },
                Some(one) => SectionTimes {
                    start: sooner(one.start, &start),
                    first: sooner(one.first, &end),
                    last: later(one.last, &end),
                },
            });
        }
        let times =
            times.unwrap_or(SectionTimes { start: begin.clone(), first: begin.clone(), last: begin.clone() });
        let name = section.spec().name.as_str();
        let end = ended.remove(name).unwrap_or_else(now);
        ended.insert(name, later(end, &times.last));
        all_times.push(times);
    }
    all_times
}

fn ends<'a>(group: &[CheckedSection<'a>], all_times: &[SectionTimes]) -> HashMap<&'a str, TimeSpan> {
    let mut ends: HashMap<&str, TimeSpan> = HashMap::new();
    for (section, times) in group.iter().zip(all_times) {
        let end = ends.remove(section.spec().name.as_str()).unwrap_or_else(now);
        ends.insert(&section.spec().name, later(end, &times.last));
    }
    ends
}

/// The first job to end may end others, which may end others in turn.
fn cut(group: &[CheckedSection<'_>], all_times: Vec<SectionTimes>) -> Vec<SectionTimes> {
    cut_again(group, cut_again(group, all_times))
}

fn cut_again(group: &[CheckedSection<'_>], mut all_times: Vec<SectionTimes>) -> Vec<SectionTimes> {
    let mut of_group: HashMap<u32, TimeSpan> = HashMap::new();
    let (mut of_all, mut of_running): (Option<TimeSpan>, Option<TimeSpan>) = (None, None);
    let sooner_of = |known: Option<TimeSpan>, end: &TimeSpan| match known {
        Some(known) => sooner(known, end),
        None => end.clone(),
    };
    for (section, times) in group.iter().zip(&all_times) {
        let spec = section.spec();
        match spec.life.exit_what {
            ExitWhat::Group => {
                let known = of_group.remove(&spec.group);
                of_group.insert(spec.group, sooner_of(known, &times.first));
            }
            ExitWhat::Stonewall => of_running = Some(sooner_of(of_running, &times.first)),
            ExitWhat::All => of_all = Some(sooner_of(of_all, &times.first)),
        }
    }
    for (section, times) in group.iter().zip(&mut all_times) {
        let starts_late = section.wait_for().is_some() || section.spec().limits.startdelay.1 > Duration::ZERO;
        let of_running = of_running.clone().map(|end| match starts_late {
            // It may not run yet, and then it goes its whole length.
            true => TimeSpan { most_seconds: None, ..end },
            false => end,
        });
        for end in of_group.get(&section.spec().group).into_iter().chain(&of_all).chain(&of_running) {
            times.first = sooner(times.first.clone(), end);
            times.last = sooner(times.last.clone(), end);
        }
    }
    all_times
}

fn limited(span: TimeSpan, timeout: Option<f64>) -> TimeSpan {
    let Some(timeout) = timeout else { return span };
    let limit = TimeSpan { least_seconds: timeout, most_seconds: Some(timeout), unbounded_because: None };
    sooner(span, &limit)
}

fn barrier(section: &CheckedSection<'_>) -> Barrier {
    let by_file = section.job.file_number > 0 && section.job.first_of_file;
    if by_file && !section.switch(ferrio_jobfile::Opt::Stonewall) {
        Barrier::NextFile
    } else {
        Barrier::Stonewall
    }
}

fn now() -> TimeSpan {
    TimeSpan { least_seconds: 0.0, most_seconds: Some(0.0), unbounded_because: None }
}

fn delay_span(low: Duration, high: Duration) -> TimeSpan {
    TimeSpan {
        least_seconds: low.as_secs_f64(),
        most_seconds: Some(high.as_secs_f64()),
        unbounded_because: None,
    }
}

/// The later of two ends.
fn later(one: TimeSpan, other: &TimeSpan) -> TimeSpan {
    TimeSpan {
        least_seconds: one.least_seconds.max(other.least_seconds),
        most_seconds: one.most_seconds.zip(other.most_seconds).map(|(one, other)| one.max(other)),
        unbounded_because: one.unbounded_because.or_else(|| other.unbounded_because.clone()),
    }
}

/// The earlier of two ends.
fn sooner(one: TimeSpan, other: &TimeSpan) -> TimeSpan {
    let most_seconds = match (one.most_seconds, other.most_seconds) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    TimeSpan {
        least_seconds: one.least_seconds.min(other.least_seconds),
        most_seconds,
        unbounded_because: one.unbounded_because.filter(|_| most_seconds.is_none()),
    }
}

/// Two spans in sequence.
fn after(start: &TimeSpan, length: &TimeSpan) -> TimeSpan {
    TimeSpan {
        least_seconds: start.least_seconds + length.least_seconds,
        most_seconds: start.most_seconds.zip(length.most_seconds).map(|(start, length)| start + length),
        unbounded_because: start.unbounded_because.clone().or_else(|| length.unbounded_because.clone()),
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
        assert_eq!(why, [None, Some(Barrier::NextFile), Some(Barrier::Stonewall)]);
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
