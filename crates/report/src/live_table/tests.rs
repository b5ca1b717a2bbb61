use std::time::UNIX_EPOCH;

use ferrio_job::{JobSpec, ReadWrite};
use ferrio_plan::testing::{self, default_job};
use ferrio_results::{JobProgress, JobResult};
use ferrio_stats::{DirectionRecorder, JobStats};

use super::figures::{BANDS, band};
use super::*;
use crate::database::testing::{Session, cleaner, database_plan, innodb};

/// ms since 1970 when the runs of the tests begin.
const RUN_MS: u64 = 1_795_227_007_944;

/// A job that reads or writes; its figures grow.
struct Worker {
    direction: usize,
    recorder: DirectionRecorder,
    start_ms: u64,
    ms: u64,
    errors: u64,
}

impl Worker {
    /// It begins `ms` after the run.
    fn beginning(ms: u64, direction: Direction) -> Self {
        let recorder = DirectionRecorder::new(true, true, true, true);
        Worker { direction: direction as usize, recorder, start_ms: RUN_MS + ms, ms: 0, errors: 0 }
    }

    /// It runs for another `ms`, with one I/O of 4 KiB for each of these latencies in us.
    fn does(&mut self, ms: u64, us: &[u64]) -> JobResult {
        for &us in us {
            (self.recorder.ios, self.recorder.bytes) = (self.recorder.ios + 1, self.recorder.bytes + 4096);
            self.recorder.record_synchronous(us * 1000);
        }
        self.ms += ms;
        let mut stats = JobStats { total_errors: self.errors, ..JobStats::default() };
        stats.directions[self.direction] = self.recorder.finish(self.ms);
        let measured = Duration::from_millis(self.ms);
        JobResult { start_ms: self.start_ms, stats, measured, ..JobResult::default() }
    }
}

fn plan(jobs: u32, grouped: bool) -> Plan {
    testing::plan((1..=jobs).map(|number| JobSpec {
        number,
        rw: ReadWrite::Read,
        group_reporting: grouped,
        ..default_job("a")
    }))
}

fn at(ms: u64, jobs: Vec<JobResult>) -> RunResult {
    let started = UNIX_EPOCH + Duration::from_millis(RUN_MS);
    RunResult { jobs, elapsed: Duration::from_millis(ms), started, ..RunResult::default() }
}

fn progress(ms: u64, states: &[JobState]) -> Progress {
    let elapsed = Duration::from_millis(ms);
    let job = |&state: &JobState| JobProgress {
        state,
        elapsed,
        measured: elapsed,
        bytes: [0; 3],
        ios: [0; 3],
        transactions: 0,
        open_files: 0,
    };
    Progress { elapsed, jobs: states.iter().map(job).collect() }
}

#[test]
fn bands_are_1_2_5_and_every_latency_is_in_one() {
    assert_eq!(BAND_STARTS_NS[..6], [0, 100, 200, 500, 1000, 2000]);
    assert_eq!(BAND_STARTS_NS[BANDS - 2..], [50_000_000_000, 100_000_000_000]);
    assert!(BAND_STARTS_NS.is_sorted());
    assert_eq!([0, 99, 100, 199, 200, 1000, u64::MAX].map(band), [0, 0, 1, 1, 2, 4, BANDS - 1]);
}

#[test]
fn a_second_has_what_was_done_since_the_look_before() {
    let (plan, mut job) = (plan(1, false), Worker::beginning(500, Direction::Read));
    let mut recorder = LiveRecorder::new(&plan);
    let mut table = LiveTable::new(&plan);
    table.set_progress(&plan, &progress(100, &[JobState::Running]));
    table.add(recorder.sample(&at(1000, vec![job.does(500, &[100; 50])])));
    job.errors = 2;
    table.add(recorder.sample(&at(2000, vec![job.does(1000, &[vec![100; 97], vec![900; 3]].concat())])));
    let [first, second] = [0, 1].map(|at| &table.entries[0].history[at]);
    // The job ran for half of the first second: its own rate is twice that of all.
    assert_eq!((first.iops, first.bandwidth), ([100.0, 0.0, 0.0], [409_600.0, 0.0, 0.0]));
    assert_eq!((table.all.history[0].total_iops(), second.total_iops()), (50.0, 100.0));
    let latency = second.latency.unwrap();
    assert!(latency.p50.abs_diff(100_000) <= 4500 && latency.p99.abs_diff(900_000) <= 40_500, "{latency:?}");
    assert!(latency.max >= 900_000 && latency.max <= 907_200, "{latency:?}");
    // 97 times 100 us and 3 times 900 us in 1 s.
    assert!((second.depth.unwrap() - 0.0124).abs() < 1e-6, "{second:?}");
    assert_eq!((second.errors, table.entries[0].errors, table.all.errors), (2, 2, 2));
    let bands: Vec<(u64, u32)> =
        BAND_STARTS_NS.into_iter().zip(second.bands).filter(|&(_, count)| count > 0).collect();
    assert_eq!(bands.iter().map(|&(_, count)| count).collect::<Vec<_>>(), [97, 3]);
    assert_eq!(table.entries[0].now(), Some(second));
}

#[test]
fn directions_have_their_own_rates_and_share_their_latencies() {
    let plan = plan(2, true);
    let (mut reader, mut writer) =
        (Worker::beginning(0, Direction::Read), Worker::beginning(0, Direction::Write));
    let (mut recorder, mut table) = (LiveRecorder::new(&plan), LiveTable::new(&plan));
    table.add(recorder.sample(&at(1000, vec![reader.does(1000, &[10; 30]), writer.does(1000, &[5000; 10])])));
    assert_eq!((table.entries.len(), table.entries[0].jobs()), (1, 2));
    let second = &table.entries[0].history[0];
    assert_eq!(second.iops, [30.0, 10.0, 0.0]);
    let latency = second.latency.unwrap();
    assert!(latency.p50 < 11_000 && latency.p99 > 4_700_000, "{latency:?}");
}

#[test]
fn sessions_have_transactions_and_other_jobs_have_none() {
    let session = Session::default().does(50, [100, 20, 300, 0]);
    let (first, second) = (session.clone(), session.does(100, [900, 20, 9000, 0]));
    let plan = database_plan("bank", &innodb());
    let (mut recorder, mut table) = (LiveRecorder::new(&plan), LiveTable::new(&plan));
    for (ms, session) in [(1000, first), (2000, second)] {
        let jobs = vec![session.result(ms), session.result(ms), cleaner(ms / 10, 1, ms)];
        table.add(recorder.sample(&at(ms, jobs)));
    }
    let transactions = |entry: &LiveEntry, at: usize| entry.history[at].transactions;
    assert_eq!(table.entries.len(), 2, "the sessions are one entry");
    for entry in [&table.entries[0], &table.all] {
        let [first, second] = [0, 1].map(|at| transactions(entry, at).unwrap());
        assert_eq!((first.rate, second.rate), (100.0, 200.0));
        // The first hundred took 430 us and up to 3 us per transaction more, the others 9930 us and more.
        assert!(first.latency.unwrap().max < 700_000, "{first:?}");
        let latency = second.latency.unwrap();
        assert!(latency.p50 > 9_500_000 && latency.p50 <= latency.p99 && latency.p99 <= latency.max);
    }
    assert_eq!(transactions(&table.entries[1], 1), None);
    assert!(table.has_transactions && !LiveTable::new(&self::plan(1, false)).has_transactions);
}

#[test]
fn many_jobs_are_looked_at_less_often() {
    for (jobs, seconds) in [(1, 1), (250, 1), (251, 2), (1000, 4), (3000, 10)] {
        let table = LiveTable::new(&plan(jobs, true));
        assert_eq!(table.sample_interval, Duration::from_secs(seconds), "{jobs}");
    }
}

#[test]
fn progress_counts_once_a_second_and_when_a_state_changes() {
    use JobState::{Ramp, Running};
    let plan = plan(2, false);
    let mut table = LiveTable::new(&plan);
    for (ms, states, counts) in [
        (200, [Ramp, Ramp], true),
        (400, [Ramp, Ramp], false),
        (600, [Running, Ramp], true),
        (800, [Running, Ramp], false),
        (1040, [Running, Ramp], true),
    ] {
        assert_eq!(table.set_progress(&plan, &progress(ms, &states)), counts, "{ms}");
    }
    assert_eq!(table.elapsed, Duration::from_millis(1040));
}

#[test]
fn the_end_of_a_ramp_begins_new_figures() {
    let (plan, mut ramp) = (plan(1, false), Worker::beginning(0, Direction::Read));
    let (mut recorder, mut table) = (LiveRecorder::new(&plan), LiveTable::new(&plan));
    let in_ramp = JobResult { in_ramp: true, ..ramp.does(1000, &[10; 10]) };
    table.add(recorder.sample(&at(1000, vec![in_ramp])));
    let mut measured = Worker::beginning(1500, Direction::Read);
    table.add(recorder.sample(&at(2000, vec![measured.does(500, &[10; 10])])));
    let iops: Vec<f64> = table.entries[0].history.iter().map(LiveFigures::total_iops).collect();
    assert_eq!(iops, [10.0, 20.0]);
}

#[test]
fn jobs_that_have_not_begun_or_have_ended_do_nothing() {
    let (plan, mut job) = (plan(2, false), Worker::beginning(0, Direction::Read));
    let (mut recorder, mut table) = (LiveRecorder::new(&plan), LiveTable::new(&plan));
    let waiting = JobResult::default;
    table.add(recorder.sample(&at(1000, vec![job.does(900, &[10; 9]), waiting()])));
    table.set_progress(&plan, &progress(2000, &[JobState::Reaped, JobState::NotCreated]));
    table.add(recorder.sample(&at(2000, vec![job.does(0, &[]), waiting()])));
    let ended: Vec<f64> = table.entries[0].history.iter().map(LiveFigures::total_iops).collect();
    assert_eq!(ended, [10.0, 0.0]);
    assert_eq!(table.entries[1].history, [LiveFigures::default(), LiveFigures::default()]);
    assert_eq!((table.entries[0].now(), table.entries[1].now()), (None, None));
}

#[test]
fn an_entry_has_the_state_of_those_that_work() {
    use JobState::{Failed, NotCreated, Ramp, Reaped, Running};
    let plan = plan(4, true);
    let mut table = LiveTable::new(&plan);
    assert_eq!((table.entries[0].state, table.entries[0].in_state), (NotCreated, 4));
    for (states, state, jobs) in [
        ([Running, Ramp, Running, Reaped], Running, 2),
        ([Ramp, NotCreated, Ramp, Ramp], Ramp, 3),
        ([Reaped, Reaped, Failed, Reaped], Failed, 1),
        ([Reaped; 4], Reaped, 4),
    ] {
        table.set_progress(&plan, &progress(1000, &states));
        assert_eq!((table.entries[0].state, table.entries[0].in_state), (state, jobs), "{states:?}");
    }
    table.set_progress(&plan, &progress(1000, &[Running, Ramp, Running, Reaped]));
    assert_eq!(table.states, [(Running, 2), (Ramp, 1), (Reaped, 1)]);
}

#[test]
fn the_time_left_is_that_of_the_longest_job() {
    let mut plan = plan(2, false);
    for (job, seconds) in plan.jobs.iter_mut().zip([10, 60]) {
        job.spec.limits.runtime = Duration::from_secs(seconds);
        job.spec.limits.time_based = true;
    }
    let mut table = LiveTable::new(&plan);
    assert_eq!(table.all.left, None);
    table.set_progress(&plan, &progress(4000, &[JobState::Running; 2]));
    assert_eq!(
        [&table.entries[0], &table.entries[1], &table.all].map(|entry| entry.left),
        [Some(6), Some(56), Some(56)]
    );
    table.set_progress(&plan, &progress(20_000, &[JobState::Reaped, JobState::Running]));
    assert_eq!([table.entries[0].left, table.entries[1].left], [None, Some(40)]);
}

#[test]
fn what_is_remembered_has_a_bound() {
    for (jobs, most) in [(1, MAX_SECONDS), (1000, GUARANTEED_SECONDS)] {
        let plan = plan(jobs, false);
        let (mut recorder, mut table) = (LiveRecorder::new(&plan), LiveTable::new(&plan));
        let waiting: Vec<JobResult> = plan.jobs.iter().map(|_| JobResult::default()).collect();
        let sample = recorder.sample(&at(1000, waiting));
        (0..=MAX_SECONDS).for_each(|_| table.add(sample.clone()));
        assert_eq!((table.entries[0].history.len(), table.all.history.len()), (most, MAX_SECONDS));
    }
}
