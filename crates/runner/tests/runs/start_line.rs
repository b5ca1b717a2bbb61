//! Phases that somebody else starts.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ferrio_job::{JobSpec, Plan};
use ferrio_results::RunResult;
use ferrio_runner::{RunOptions, StartLine, Trigger, phases, run};

use crate::support::{bytes, end_ms, null, plan, timed};

/// Lets each phase begin some time after it is ready, and remembers.
#[derive(Debug, Default)]
struct Starter {
    starts: Mutex<Vec<(u32, Instant)>>,
    began: Mutex<Vec<(u32, Instant)>>,
    /// The phase for which no start is ever told.
    held: Option<u32>,
}

const DELAY: Duration = Duration::from_millis(60);

impl StartLine for Starter {
    fn ready(&self, phase: u32) {
        self.starts.lock().unwrap().push((phase, Instant::now() + DELAY));
    }

    fn start_of(&self, phase: u32, wait: Duration) -> Option<Instant> {
        let (last, start) = *self.starts.lock().unwrap().last()?;
        assert_eq!(last, phase);
        if self.held == Some(phase) {
            thread::sleep(wait);
            return None;
        }
        Some(start)
    }

    fn began(&self, phase: u32, at: Instant) {
        self.began.lock().unwrap().push((phase, at));
    }
}

fn started_by(starter: &Arc<Starter>, specs: Vec<JobSpec>, trigger: Option<Trigger>) -> RunResult {
    let options = RunOptions { start_line: Some(Arc::clone(starter) as _), trigger, ..RunOptions::default() };
    run(Box::leak(Box::new(plan(specs))), &options, &mut |_| {})
}

fn walled(spec: JobSpec) -> JobSpec {
    JobSpec { stonewall: true, ..spec }
}

#[test]
fn each_phase_waits_for_its_start_and_no_job_begins_before() {
    let specs = vec![walled(timed("a", 20)), null("beside a"), walled(timed("b", 20)), walled(null("c"))];
    assert_eq!(phases(&plan(specs.clone())), 3);
    let starter = Arc::new(Starter::default());
    let (clock, wall_clock) = (Instant::now(), SystemTime::now());
    let result = started_by(&starter, specs, None);
    let ms = |at: Instant| (wall_clock + (at - clock)).duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let (starts, began) = (starter.starts.lock().unwrap(), starter.began.lock().unwrap());
    let numbers: Vec<u32> = began.iter().map(|(phase, _)| *phase).collect();
    assert_eq!(numbers, [0, 1, 2]);
    for ((_, planned), (_, reached)) in starts.iter().zip(&*began) {
        assert!(reached >= planned);
    }
    for (job, phase) in [(0, 0), (1, 0), (2, 1), (3, 2)] {
        // Start times are whole ms.
        assert!(result.jobs[job].start_ms + 1 >= ms(starts[phase].1), "job {job}");
        assert!(bytes(&result.jobs[job]) > 0);
    }
    // Ready for a phase only when the one before has ended.
    assert!(ms(starts[1].1 - DELAY) + 1 >= end_ms(&result.jobs[0]));
}

#[test]
fn a_start_that_never_comes_keeps_nobody_from_ending_the_run() {
    let starter = Arc::new(Starter { held: Some(1), ..Starter::default() });
    let trigger = Trigger { timeout: Some(Duration::from_millis(200)), ..Trigger::default() };
    let result = started_by(&starter, vec![null("a"), walled(null("b"))], Some(trigger));
    assert!(bytes(&result.jobs[0]) > 0 && result.elapsed >= Duration::from_millis(200));
    assert_eq!(bytes(&result.jobs[1]), 0);
}

/// A plan of the jobs of a host of which others have the sections between.
fn part_of_run(specs: Vec<JobSpec>, phases_of_sections: &[usize]) -> Plan {
    let mut plan = plan(specs);
    for (section, &phase) in plan.sections.iter_mut().zip(phases_of_sections) {
        section.phase = phase;
    }
    plan
}

#[test]
fn a_host_counts_the_phases_in_which_it_has_no_jobs() {
    let starter = Arc::new(Starter::default());
    let plan = part_of_run(vec![walled(null("a")), walled(null("b"))], &[3, 4]);
    let options = RunOptions { start_line: Some(Arc::clone(&starter) as _), ..RunOptions::default() };
    let result = run(Box::leak(Box::new(plan)), &options, &mut |_| {});
    let numbers = |list: &Mutex<Vec<(u32, Instant)>>| {
        list.lock().unwrap().iter().map(|(phase, _)| *phase).collect::<Vec<u32>>()
    };
    assert_eq!(numbers(&starter.starts), [0, 1, 2, 3]);
    assert_eq!(numbers(&starter.began), [2, 3], "nothing begins where there is no job");
    assert!(result.jobs.iter().all(|job| bytes(job) > 0));
}

#[test]
fn start_delays_count_from_the_common_start() {
    let starter = Arc::new(Starter::default());
    let delay = Duration::from_millis(30);
    let mut delayed = null("a");
    delayed.limits.startdelay = (delay, delay);
    let clock = Instant::now();
    let result = started_by(&starter, vec![delayed], None);
    let start = starter.starts.lock().unwrap()[0].1;
    assert!(start - clock < DELAY + delay, "it is ready before its delay");
    let began = SystemTime::now() - clock.elapsed() + (start - clock) + delay;
    let began = began.duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    assert!(result.jobs[0].start_ms + 1 >= began);
    assert!(result.elapsed >= delay && bytes(&result.jobs[0]) > 0);
}
