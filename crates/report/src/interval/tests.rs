use ferrio_job::ReadWrite;
use ferrio_plan::testing::{self, default_job};
use ferrio_results::{JobError, JobProgress, Progress};
use ferrio_stats::DirectionRecorder;
use serde_json::Value;

use super::*;

const START_MS: u64 = 1_795_227_007_944;

/// Figures of a job that reads, as they grow.
struct Reader {
    recorder: DirectionRecorder,
    start_ms: u64,
    ms: u64,
    errors: u64,
}

impl Reader {
    fn new(synchronous: bool) -> Self {
        let recorder = DirectionRecorder::new(true, true, true, synchronous);
        Reader { recorder, start_ms: START_MS, ms: 0, errors: 0 }
    }

    /// It runs for another `ms`, with asynchronous reads of 4 KiB that take these times in µs, 1 µs of it to submit.
    fn reads(&mut self, ms: u64, us: &[u64]) -> JobResult {
        for &us in us {
            (self.recorder.ios, self.recorder.bytes) = (self.recorder.ios + 1, self.recorder.bytes + 4096);
            self.recorder.record_submissions(&[1000]);
            self.recorder.record_completions(&[(us - 1) * 1000], &[us * 1000]);
        }
        self.ms += ms;
        self.result()
    }

    fn result(&self) -> JobResult {
        let mut stats =
            JobStats { total_errors: self.errors, job_runtime_ms: self.ms, ..JobStats::default() };
        stats.directions[0] = self.recorder.finish(self.ms);
        stats.usage.user_us = self.ms * 100;
        let measured = Duration::from_millis(self.ms);
        JobResult {
            start_ms: self.start_ms,
            pid: 7,
            stats,
            measured,
            in_flight: Some(3),
            ..JobResult::default()
        }
    }
}

fn plan(names: &[&str]) -> Plan {
    let job = |(number, name): (u32, &&str)| {
        let mut spec = JobSpec { number, rw: ReadWrite::Read, ..default_job(name) };
        spec.measure.percentiles = vec![50.0, 99.9];
        spec
    };
    testing::plan((1..).zip(names).map(job))
}

/// The run after `ms`.
fn look(ms: u64, jobs: Vec<(JobState, JobResult)>) -> RunResult {
    let elapsed = Duration::from_millis(ms);
    let (states, jobs): (Vec<_>, _) = jobs.into_iter().unzip();
    let progress = |state| {
        let (bytes, ios, open_files) = ([0; 3], [0; 3], 0);
        JobProgress { state, elapsed, measured: elapsed, bytes, ios, transactions: 0, open_files }
    };
    let progress = Progress { elapsed, jobs: states.into_iter().map(progress).collect() };
    RunResult { jobs, elapsed, progress: Some(progress), ..RunResult::default() }
}

/// The lines of one interval as text.
fn text(report: &mut IntervalReport, plan: &Plan, result: &RunResult) -> String {
    let now = UNIX_EPOCH + Duration::from_millis(START_MS) + result.elapsed;
    String::from_utf8(report.lines(plan, result, now)).unwrap()
}

fn lines(report: &mut IntervalReport, plan: &Plan, result: &RunResult) -> Vec<Value> {
    let text = text(report, plan, result);
    text.split_inclusive('\n')
        .map(|line| serde_json::from_str(line.strip_suffix('\n').unwrap()).unwrap())
        .collect()
}

#[test]
fn a_line_reads_like_this() {
    let (plan, mut job, mut report) = (plan(&["a"]), Reader::new(false), IntervalReport::new());
    text(&mut report, &plan, &look(1000, vec![(JobState::Running, job.reads(1000, &[500, 500]))]));
    let second = look(2001, vec![(JobState::Running, job.reads(1001, &[11, 13, 15]))]);
    insta::assert_snapshot!(text(&mut report, &plan, &second));
}

#[test]
fn each_line_has_the_figures_of_its_interval_alone_and_their_sum_is_the_whole() {
    let (plan, mut job, mut report) = (plan(&["a"]), Reader::new(false), IntervalReport::new());
    let parts: [(u64, &[u64]); 4] = [(100, &[100, 100]), (100, &[20, 30, 40, 50]), (100, &[]), (37, &[9])];
    let (mut ios, mut bytes, mut samples) = (0, 0, 0);
    for (at, (ms, us)) in parts.into_iter().enumerate() {
        let state = if at == 3 { JobState::Reaped } else { JobState::Running };
        let lines = lines(&mut report, &plan, &look(100 * (at as u64 + 1), vec![(state, job.reads(ms, us))]));
        let line = &lines[0];
        assert_eq!(
            (line["interval"].as_u64(), line["length_ms"].as_f64()),
            (Some(at as u64 + 1), Some(ms as f64))
        );
        let read = &line["read"];
        assert_eq!(read["total_ios"], us.len());
        let iops = us.len() as f64 * 1000.0 / ms as f64;
        assert!((read["iops"].as_f64().unwrap() - iops).abs() < 1e-6, "{line}");
        assert_eq!(read["lat_ns"]["N"], us.len());
        let mean = us.iter().sum::<u64>() as f64 * 1000.0 / us.len().max(1) as f64;
        assert_eq!(read["lat_ns"]["mean"].as_f64(), Some(mean));
        let depth = us.iter().sum::<u64>() as f64 / 1000.0 / ms as f64;
        assert!((line["iodepth_mean"].as_f64().unwrap() - depth).abs() < 1e-6);
        ios += read["total_ios"].as_u64().unwrap();
        bytes += read["io_bytes"].as_u64().unwrap();
        samples += read["clat_ns"]["N"].as_u64().unwrap();
    }
    let all = job.result().stats;
    let read = &all.directions[0];
    assert_eq!((ios, bytes, samples), (read.ios, read.bytes, read.clat.as_ref().unwrap().count()));
}

#[test]
fn a_job_has_lines_from_its_first_io_to_its_end_once() {
    let (plan, mut a, mut b) = (plan(&["a", "b"]), Reader::new(false), Reader::new(false));
    let mut report = IntervalReport::new();
    let mut shown =
        |ms, first: (JobState, JobResult), second: (JobState, JobResult)| -> Vec<(String, String)> {
            let word = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
            let lines = lines(&mut report, &plan, &look(ms, vec![first, second]));
            lines.iter().map(|line| (word(line, "jobname"), word(line, "state"))).collect()
        };
    let is = |name: &str, state: &str| (name.to_owned(), state.to_owned());
    let waiting = || (JobState::NotCreated, JobResult::default());
    assert_eq!(shown(1, (JobState::SettingUp, JobResult::default()), waiting()), []);
    assert_eq!(shown(2, (JobState::Running, a.reads(1, &[5])), waiting()), [is("a", "running")]);
    let ended = shown(3, (JobState::Reaped, a.reads(1, &[5])), (JobState::Verifying, b.reads(1, &[5])));
    assert_eq!(ended, [is("a", "ended"), is("b", "verifying")]);
    let error = Some(JobError::new(5, "io_u error"));
    let failed = JobResult { error, ..b.reads(1, &[]) };
    assert_eq!(shown(4, (JobState::Reaped, a.result()), (JobState::Failed, failed)), [is("b", "failed")]);
    assert_eq!(shown(5, (JobState::Reaped, a.result()), (JobState::Failed, b.result())), []);
}

#[test]
fn the_end_of_the_run_gives_the_last_lines_of_those_who_had_none() {
    let (plan, mut a, mut report) = (plan(&["a", "b", "c"]), Reader::new(false), IntervalReport::new());
    let waiting = || (JobState::NotCreated, JobResult::default());
    let running = (JobState::Running, a.reads(10, &[5]));
    lines(&mut report, &plan, &look(10, vec![running, waiting(), waiting()]));
    let failed = JobResult { error: Some(JobError::new(2, "open(f)")), ..JobResult::default() };
    let ended =
        look(15, vec![(JobState::Reaped, a.reads(5, &[7, 7])), (JobState::Failed, failed), waiting()]);
    let over = RunResult { progress: None, ..ended };
    let lines = lines(&mut report, &plan, &over);
    assert_eq!(lines.len(), 2, "a job that never began has no line");
    assert_eq!((&lines[0]["state"], &lines[0]["read"]["total_ios"]), (&"ended".into(), &2.into()));
    assert_eq!((&lines[1]["state"], &lines[1]["error"]), (&"failed".into(), &2.into()));
    assert_eq!(lines[1]["read"]["total_ios"], 0);
    assert_eq!(text(&mut report, &plan, &over), "");
}

#[test]
fn after_a_ramp_the_figures_begin_anew_and_nothing_is_negative() {
    let (plan, mut ramp, mut report) = (plan(&["a"]), Reader::new(false), IntervalReport::new());
    ramp.errors = 2;
    let in_ramp = JobResult { in_ramp: true, ..ramp.reads(100, &[10, 20, 30]) };
    let first = lines(&mut report, &plan, &look(100, vec![(JobState::Running, in_ramp)]));
    assert_eq!((&first[0]["state"], &first[0]["restarted"]), (&"ramp".into(), &false.into()));
    assert_eq!(first[0]["total_err"], 2);
    // More I/Os than in the ramp, in the same buckets: only the time of the start tells them apart.
    let mut measured = Reader { start_ms: START_MS + 150, ..Reader::new(false) };
    measured.errors = 3;
    let after = measured.reads(50, &[10, 20, 30, 40]);
    let second = lines(&mut report, &plan, &look(200, vec![(JobState::Ramp, after)]));
    let line = &second[0];
    assert_eq!((&line["state"], &line["restarted"]), (&"running".into(), &true.into()));
    assert_eq!((&line["length_ms"], &line["read"]["total_ios"]), (&50.0.into(), &4.into()));
    assert_eq!(line["total_err"], 1, "errors are counted from the start of the job");
    let third = lines(&mut report, &plan, &look(300, vec![(JobState::Reaped, measured.reads(7, &[10]))]));
    assert_eq!((&third[0]["restarted"], &third[0]["read"]["lat_ns"]["N"]), (&false.into(), &1.into()));
}

#[test]
fn a_job_that_ends_in_its_ramp_has_ended() {
    let (plan, mut ramp, mut report) = (plan(&["a"]), Reader::new(false), IntervalReport::new());
    let in_ramp = JobResult { in_ramp: true, ..ramp.reads(100, &[10, 20, 30]) };
    let lines = lines(&mut report, &plan, &look(100, vec![(JobState::Reaped, in_ramp)]));
    assert_eq!((&lines[0]["state"], &lines[0]["read"]["total_ios"]), (&"ended".into(), &3.into()));
}

#[test]
fn figures_that_lost_samples_have_restarted_even_if_nothing_else_shows_it() {
    let (plan, mut report) = (plan(&["a"]), IntervalReport::new());
    let before = Reader::new(false).reads(100, &[10, 20, 30]);
    lines(&mut report, &plan, &look(100, vec![(JobState::Running, before)]));
    let after = Reader::new(false).reads(150, &[40, 50]);
    let lines = lines(&mut report, &plan, &look(200, vec![(JobState::Running, after)]));
    assert_eq!((&lines[0]["restarted"], &lines[0]["read"]["total_ios"]), (&true.into(), &2.into()));
    assert_eq!(lines[0]["length_ms"], 150.0);
}

#[test]
fn a_job_that_did_not_answer_is_marked_and_its_latencies_come_with_its_next_answer() {
    let (plan, mut job, mut report) = (plan(&["a"]), Reader::new(false), IntervalReport::new());
    let ran = job.reads(100, &[10]);
    let usage = ran.stats.usage;
    lines(&mut report, &plan, &look(100, vec![(JobState::Running, ran)]));
    let mut stale = JobResult { stale: true, ..job.reads(100, &[]) };
    stale.stats.usage = usage;
    (stale.stats.directions[0].ios, stale.stats.directions[0].bytes) = (3, 3 * 4096);
    let second = lines(&mut report, &plan, &look(200, vec![(JobState::Running, stale)]));
    let line = &second[0];
    assert_eq!((&line["fresh"], &line["read"]["total_ios"]), (&false.into(), &2.into()));
    assert_eq!((&line["read"]["lat_ns"]["N"], line["read"]["lat_ns"].get("percentile")), (&0.into(), None));
    assert!(["iodepth_mean", "in_flight", "usr_cpu"].iter().all(|&key| line.get(key).is_none()), "{line}");
    let third =
        lines(&mut report, &plan, &look(300, vec![(JobState::Running, job.reads(100, &[100, 100, 200]))]));
    let line = &third[0];
    assert_eq!(
        (&line["fresh"], &line["read"]["total_ios"], &line["restarted"]),
        (&true.into(), &1.into(), &false.into())
    );
    assert_eq!((&line["length_ms"], &line["read"]["lat_ns"]["N"]), (&100.0.into(), &3.into()));
    assert_eq!((&line["iodepth_mean"], &line["usr_cpu"]), (&0.002.into(), &10.0.into()));
}

#[test]
fn what_is_not_measured_is_not_there() {
    let (mut plan, mut report) = (plan(&["a"]), IntervalReport::new());
    plan.jobs[0].spec.measure.clat_percentiles = false;
    let mut stats = JobStats::default();
    let mut recorder = DirectionRecorder::new(false, true, false, true);
    (recorder.ios, recorder.bytes) = (1, 512);
    recorder.record_synchronous(10);
    stats.directions[1] = recorder.finish(1);
    let mut unmeasured = DirectionRecorder::new(false, false, false, true);
    unmeasured.ios = 1;
    stats.directions[0] = unmeasured.finish(1);
    let job = JobResult { start_ms: 1, stats, ..JobResult::default() };
    let lines = lines(&mut report, &plan, &look(1, vec![(JobState::Running, job)]));
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&lines[0]["read"]), ["io_bytes", "bw_bytes", "iops", "total_ios", "short_ios"]);
    assert_eq!(keys(&lines[0]["write"]["clat_ns"]), ["min", "max", "mean", "stddev", "N"]);
    assert!(lines[0].get("trim").is_none() && lines[0].get("sync").is_none());
    assert!(lines[0].get("in_flight").is_none(), "each I/O is one call");
    assert_eq!(lines[0]["read"]["iops"], 0.0, "no time is covered");
}

#[test]
fn hostile_names_stay_on_their_line() {
    let (plan, mut report) = (plan(&["a\n\"}\u{7}", &"é".repeat(100)]), IntervalReport::new());
    let mut job = Reader::new(false);
    let jobs = vec![(JobState::Running, job.reads(1, &[5])), (JobState::Running, job.result())];
    let lines = lines(&mut report, &plan, &look(1, jobs));
    assert_eq!(lines[0]["jobname"], "a\n\"}\u{7}");
    assert_eq!(lines[1]["jobname"], "é".repeat(63));
}
