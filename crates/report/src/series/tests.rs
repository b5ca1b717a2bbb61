use std::time::UNIX_EPOCH;

use ferrio_job::{JobSpec, ReadWrite};
use ferrio_plan::testing::{self, default_job};
use ferrio_results::JobResult;
use ferrio_stats::{DirectionRecorder, JobStats};

use super::*;

/// ms since 1970 when the runs of the tests begin.
const RUN_MS: u64 = 1_795_227_007_944;

/// A job that reads; its figures grow.
struct Reader {
    recorder: DirectionRecorder,
    start_ms: u64,
    ms: u64,
    errors: u64,
}

impl Reader {
    /// It begins `ms` after the run.
    fn beginning(ms: u64) -> Self {
        let recorder = DirectionRecorder::new(true, true, true, true);
        Reader { recorder, start_ms: RUN_MS + ms, ms: 0, errors: 0 }
    }

    /// It runs for another `ms`, with one 4 KiB read for each of these latencies in us.
    fn reads(&mut self, ms: u64, us: &[u64]) -> JobResult {
        for &us in us {
            (self.recorder.ios, self.recorder.bytes) = (self.recorder.ios + 1, self.recorder.bytes + 4096);
            self.recorder.record_synchronous(us * 1000);
        }
        self.ms += ms;
        let mut stats = JobStats { total_errors: self.errors, ..JobStats::default() };
        stats.directions[0] = self.recorder.finish(self.ms);
        let measured = Duration::from_millis(self.ms);
        JobResult { start_ms: self.start_ms, stats, measured, ..JobResult::default() }
    }
}

fn plan(jobs: u32) -> Plan {
    testing::plan((1..=jobs).map(|number| JobSpec { number, rw: ReadWrite::Read, ..default_job("a") }))
}

fn sample(ms: u64, jobs: Vec<JobResult>) -> RunResult {
    let started = UNIX_EPOCH + Duration::from_millis(RUN_MS);
    RunResult { jobs, elapsed: Duration::from_millis(ms), started, ..RunResult::default() }
}

fn only(recorder: SeriesRecorder) -> Series {
    let mut jobs = recorder.finish().jobs;
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    jobs.remove(0)
}

#[test]
fn a_row_has_what_was_done_since_the_row_before() {
    let (mut job, mut recorder) = (Reader::beginning(20), SeriesRecorder::new(&plan(1)));
    recorder.observe(&sample(10, vec![JobResult::default()]));
    recorder.observe(&sample(500, vec![job.reads(480, &[100, 100, 900])]));
    job.errors = 2;
    recorder.observe(&sample(1000, vec![job.reads(500, &[])]));
    recorder.observe(&sample(1300, vec![job.reads(200, &[100, 40_100])]));
    // The job ended at 1200 ms.
    let last = job.reads(0, &[]);
    recorder.observe(&sample(1500, vec![last]));
    let series = only(recorder);
    let Series { jobname, job_number, interval_ms, start_ms, time_ms, ramp_until_ms, errors, .. } = &series;
    assert_eq!((jobname.as_str(), *job_number), ("a", 1));
    assert_eq!((*interval_ms, *start_ms, *ramp_until_ms), (500, 20, 0));
    assert_eq!((time_ms, errors), (&vec![500, 1000, 1200], &vec![0, 2, 0]));
    // 1.1 ms of latency in 480 ms, and 40.2 in 200.
    assert_eq!(series.iodepth_mean, [Some(0.002), Some(0.0), Some(0.201)]);
    let read = series.read.unwrap();
    assert_eq!((read.ios, read.bytes), (vec![3, 0, 2], vec![12_288, 0, 8192]));
    // Buckets of 2^(b/8) ns: 100 us are between 2^(132/8) and 2^(133/8), 900 us from 158/8, 40 ms from 202/8.
    assert_eq!(read.cells, [vec![132, 2, 158, 1], vec![], vec![132, 1, 202, 1]]);
    assert_eq!(read.max_ns, [900_000, 0, 40_100_000]);
    assert_eq!((series.write, series.trim), (None, None));
}

#[test]
fn a_ramp_is_marked_and_ends_where_the_figures_restart() {
    let mut recorder = SeriesRecorder::new(&plan(1));
    let ramp = JobResult { in_ramp: true, ..Reader::beginning(0).reads(500, &[10; 7]) };
    recorder.observe(&sample(500, vec![ramp]));
    let mut job = Reader::beginning(600);
    recorder.observe(&sample(1000, vec![job.reads(400, &[10; 4])]));
    recorder.observe(&sample(1500, vec![job.reads(500, &[10; 5])]));
    let series = only(recorder);
    assert_eq!((series.ramp_until_ms, series.time_ms), (600, vec![600, 1000, 1500]));
    assert_eq!(series.read.unwrap().ios, [7, 4, 5]);
}

#[test]
fn the_jobs_of_a_group_report_share_their_rows() {
    let mut plan = plan(3);
    plan.jobs[..2].iter_mut().for_each(|job| job.spec.group_reporting = true);
    let (mut first, mut second, mut recorder) =
        (Reader::beginning(0), Reader::beginning(100), SeriesRecorder::new(&plan));
    let idle = JobResult::default();
    recorder.observe(&sample(500, vec![first.reads(500, &[1]), second.reads(400, &[1, 1]), idle.clone()]));
    let series = only(recorder);
    assert_eq!((series.time_ms, series.read.unwrap().ios), (vec![500], vec![3]));
}

#[test]
fn long_runs_have_longer_rows_and_lose_nothing() {
    let (mut job, mut recorder) = (Reader::beginning(0), SeriesRecorder::new(&plan(1)));
    let samples = 1205;
    for at in 1..=samples {
        recorder.observe(&sample(at * 500, vec![job.reads(500, &[100])]));
    }
    let series = only(recorder);
    assert_eq!(series.interval_ms, 2000, "{samples} looks, 480 rows");
    let read = series.read.unwrap();
    assert_eq!(read.ios.iter().sum::<u64>(), samples);
    assert_eq!(read.cells.iter().flatten().skip(1).step_by(2).sum::<u64>(), samples);
    assert_eq!((read.ios.len(), read.ios[0], read.ios[300]), (302, 4, 4));
    assert_eq!((series.time_ms[0], series.time_ms.last()), (2000, Some(&(samples * 500))));
    assert_eq!(read.cells[300], [132, 4]);
}

#[test]
fn many_entries_have_fewer_rows_each() {
    let mut recorder = SeriesRecorder::new(&plan(100));
    let mut jobs: Vec<Reader> = (0..100).map(|_| Reader::beginning(0)).collect();
    for at in 1..=200 {
        let results = jobs.iter_mut().map(|job| job.reads(500, &[1])).collect();
        recorder.observe(&sample(at * 500, results));
    }
    let series = recorder.finish().jobs;
    assert_eq!(series.len(), 100);
    let rows = |series: &Series| (series.time_ms.len(), series.read.as_ref().unwrap().ios.iter().sum());
    assert!(series.iter().all(|series| rows(series) == (50, 200)), "{:?}", series[0]);
}

#[test]
fn very_short_jobs_have_a_row() {
    let mut recorder = SeriesRecorder::new(&plan(1));
    recorder.observe(&sample(3, vec![Reader::beginning(3).reads(0, &[1, 1])]));
    let series = only(recorder);
    assert_eq!((series.start_ms, series.time_ms, series.read.unwrap().ios), (3, vec![4], vec![2]));
}

#[test]
fn disks_have_rows_of_their_own() {
    let mut recorder = SeriesRecorder::new(&plan(1));
    let disk = |ios, sectors, busy_ms| DiskUsage {
        name: "vda".to_owned(),
        ios: [ios, 2 * ios],
        sectors: [sectors, 0],
        busy_ms,
        ..DiskUsage::default()
    };
    for (ms, disk) in [
        (500, disk(10, 80, 100)),
        (1000, disk(30, 160, 600)),
        (1250, disk(30, 160, 610)),
        (1260, disk(31, 168, 615)),
    ] {
        let result = sample(ms, vec![JobResult::default()]);
        recorder.observe(&RunResult { disks: vec![disk], ..result });
    }
    let RunSeries { jobs, devices, .. } = recorder.finish();
    assert!(jobs.is_empty());
    let DeviceSeries { name, time_ms, read_ios, write_ios, read_bytes, write_bytes, util_percent } =
        &devices[0];
    assert_eq!((devices.len(), name.as_str(), time_ms), (1, "vda", &vec![500, 1000, 1260]));
    assert_eq!((read_ios, write_ios), (&vec![10, 20, 1], &vec![20, 40, 2]));
    assert_eq!((read_bytes, write_bytes), (&vec![40_960, 40_960, 4096], &vec![0, 0, 0]));
    assert_eq!(util_percent, &[20.0, 100.0, 5.769]);
}

#[test]
fn a_very_short_end_is_part_of_the_row_before() {
    let (mut job, mut recorder) = (Reader::beginning(0), SeriesRecorder::new(&plan(1)));
    for (ms, length) in [(500, 500), (1000, 500), (1124, 124)] {
        recorder.observe(&sample(ms, vec![job.reads(length, &[1, 1])]));
    }
    let series = only(recorder);
    assert_eq!((series.time_ms, series.read.unwrap().ios), (vec![500, 1124], vec![2, 4]));
}
