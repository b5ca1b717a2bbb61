//! When phases start and how long they last, by stonewalls, `wait_for`, start delays, run times and rates.

use std::collections::HashMap;
use std::time::Duration;

use ferrio_plan::PlannedJob;

use crate::model::{Barrier, Phase, Span};
use crate::section::{Asks, Section};
use crate::units::bytes;
use crate::volume;

/// How long one clone runs from its start.
pub(crate) fn of(job: &PlannedJob) -> Span {
    let spec = &job.spec;
    let limits = &spec.limits;
    if job.setup_error.is_some() || !spec.works() {
        return Span { most_seconds: Some(0.0), ..Span::default() };
    }
    let planned = limits.runtime.saturating_add(limits.ramp_time).as_secs_f64();
    let least = volume::least_seconds(spec);
    if limits.time_based {
        return Span { least_seconds: planned, most_seconds: Some(planned), unbounded_because: None };
    }
    if !limits.runtime.is_zero() {
        return Span {
            least_seconds: least.min(planned),
            most_seconds: Some(planned),
            unbounded_because: None,
        };
    }
    let whole = limits.io_size.unwrap_or(limits.size).saturating_mul(u64::from(limits.loops.max(1)));
    let because = match limits.number_ios {
        0 => format!("job {} ends when its {} are done: no runtime", spec.name, bytes(whole)),
        ios => format!("job {} ends when its {ios} I/Os are done: no runtime", spec.name),
    };
    Span { least_seconds: least, most_seconds: None, unbounded_because: Some(because) }
}

/// All phases, and the whole run.
pub(crate) fn phases(sections: &[Section<'_>]) -> (Vec<Phase>, Span) {
    let mut ends: HashMap<&str, Span> = HashMap::new();
    let mut over = now();
    let mut phases: Vec<Phase> = Vec::new();
    for group in sections.chunk_by(|one, next| one.phase == next.phase) {
        let begin = over.clone();
        for section in group {
            let mut start = begin.clone();
            if let Some(end) = section.wait_for().and_then(|name| ends.get(name)) {
                start = later(start, end);
            }
            for job in section.instances {
                let (low, high) = job.spec.limits.startdelay;
                let start = later(start.clone(), &between(low, high));
                let end = after(&start, &of(job));
                let of_name = ends.entry(section.spec().name.as_str()).or_insert_with(now);
                *of_name = later(of_name.clone(), &end);
                over = later(over, &end);
            }
        }
        phases.push(Phase {
            number: phases.len() + 1,
            waits_because: (!phases.is_empty()).then(|| barrier(&group[0])),
            jobs: group.iter().map(|section| section.index).collect(),
            time: Span {
                least_seconds: (over.least_seconds - begin.least_seconds).max(0.0),
                most_seconds: over.most_seconds.zip(begin.most_seconds).map(|(end, begin)| end - begin),
                unbounded_because: over.unbounded_because.clone(),
            },
        });
        let last = phases.len() - 1;
        // A phase of known length after one of unknown length has its own length still.
        if over.most_seconds.is_none() && begin.most_seconds.is_none() {
            phases[last].time = phases_own(group);
        }
    }
    (phases, over)
}

/// A phase by itself, its start delays taken from its own start: they count from the start of the run and are over by then or
/// not, which nobody knows.
fn phases_own(group: &[Section<'_>]) -> Span {
    let jobs = group.iter().flat_map(|section| section.instances);
    jobs.map(of).fold(now(), |end, span| later(end, &span))
}

fn barrier(section: &Section<'_>) -> Barrier {
    let by_file = section.job.file_number > 0 && section.job.first_of_file;
    if by_file && !section.switch(ferrio_jobfile::Opt::Stonewall) {
        Barrier::NextFile
    } else {
        Barrier::Stonewall
    }
}

fn now() -> Span {
    Span { least_seconds: 0.0, most_seconds: Some(0.0), unbounded_because: None }
}

fn between(low: Duration, high: Duration) -> Span {
    Span { least_seconds: low.as_secs_f64(), most_seconds: Some(high.as_secs_f64()), unbounded_because: None }
}

/// When both are over.
fn later(one: Span, other: &Span) -> Span {
    Span {
        least_seconds: one.least_seconds.max(other.least_seconds),
        most_seconds: one.most_seconds.zip(other.most_seconds).map(|(one, other)| one.max(other)),
        unbounded_because: one.unbounded_because.or_else(|| other.unbounded_because.clone()),
    }
}

/// One after the other.
fn after(start: &Span, length: &Span) -> Span {
    Span {
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

    fn times(text: &str) -> (Vec<(f64, Option<f64>)>, Span) {
        let (set, plan) = plan_of(&format!("[global]\nioengine=null\nsize=1m\n{text}"));
        let (phases, whole) = phases(&sections(&set, &plan));
        (phases.iter().map(|phase| (phase.time.least_seconds, phase.time.most_seconds)).collect(), whole)
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
        let (phases, _) = phases(&sections(&set, &plan));
        let why: Vec<_> = phases.iter().map(|phase| phase.waits_because).collect();
        assert_eq!(why, [None, Some(Barrier::NextFile), Some(Barrier::Stonewall)]);
    }
}
