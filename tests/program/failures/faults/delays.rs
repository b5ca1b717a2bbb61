//! Latencies and response times on a file system that is late by a known time, and measures it itself.
//!
//! No limit here depends on the speed of the machine. Each latency lies between two figures that the file system measures around the
//! same I/O: how long it kept the call, and the time from the end of the previous call to the beginning of the next one.

use std::thread;
use std::time::{Duration, Instant};

use ferrio_job::EngineKind;
use serde_json::Value;

use super::filesystem::{Call, Fault, Rule, ServedRead, When};
use super::{AT, BLOCK, arguments_for, calling, faulty_file, fuse_is_available, job};
use crate::support::{TestDir, number, skipped};

const DELAY: Duration = Duration::from_millis(5);
/// A value of the histogram is at most this share of it away from the sample: percentiles are accurate to 0.4 %.
const BUCKET: f64 = 0.004;
/// The same for the buckets of fio, which `json+` reports.
const BUCKET_OF_FIO: f64 = 1.0 / 64.0;

/// A finished run of one sequential job that reads `ios` blocks.
struct Finished {
    /// The job in the report.
    job: Value,
    reads: Vec<ServedRead>,
    /// The latency of each I/O, from the log.
    latencies: Vec<f64>,
    /// A time before the program began and one after it ended.
    began: Instant,
    ended: Instant,
}

fn read(ios: u64, rule: Rule, engine: EngineKind, words: &[&str]) -> Finished {
    let dir = TestDir::new();
    let size = ios * BLOCK;
    let file = faulty_file(&dir, size, &[rule]);
    let engine_word = format!("--ioengine={engine}");
    let own = [
        "--rw=read",
        "--lat_percentiles=1",
        "--write_lat_log=l",
        "--percentile_list=50:99.5:99.9:99.95:99.99",
    ];
    let arguments = arguments_for(&file, size);
    let words = [&arguments.each_ref().map(String::as_str)[..], &own, &[&*engine_word], words].concat();
    let began = Instant::now();
    let run = dir.ferrio(&words).run();
    let ended = Instant::now();
    assert_eq!((run.status, run.signal), (Some(0), None), "{engine}: {}", run.stderr);
    let job = job(&run);
    let latencies: Vec<f64> = dir.rows("l_lat.1.log").iter().map(|row| row[1].parse().unwrap()).collect();
    let reads = file.reads();
    assert_eq!(
        [number(&job, "/read/total_ios"), reads.len() as u64, latencies.len() as u64],
        [ios; 3],
        "{engine}"
    );
    Finished { job, reads, latencies, began, ended }
}

impl Finished {
    fn figure(&self, path: &str) -> f64 {
        let path = format!("/read/{path}");
        self.job
            .pointer(&path)
            .and_then(Value::as_f64)
            .unwrap_or_else(|| panic!("no {path} in {:#}", self.job))
    }

    fn percentile(&self, percent: &str) -> f64 {
        self.figure(&format!("lat_ns/percentile/{percent}"))
    }

    /// The end of the read before this one, or of anything before.
    fn end_before(&self, at: usize) -> Instant {
        at.checked_sub(1).map_or(self.began, |before| self.reads[before].ended)
    }

    /// The beginning of the read after this one, or of anything after.
    fn begin_after(&self, at: usize) -> Instant {
        self.reads.get(at + 1).map_or(self.ended, |after| after.began)
    }

    /// From one read to the next: the delay, and what it takes to get to the program and back.
    fn periods(&self) -> Vec<f64> {
        self.reads.windows(2).map(|pair| ns(pair[1].began - pair[0].began)).collect()
    }
}

fn ns(time: Duration) -> f64 {
    time.as_nanos() as f64
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// The value that half of all do not exceed, as percentiles are defined.
fn median(values: Vec<f64>) -> f64 {
    let at = values.len().div_ceil(2) - 1;
    sorted(values)[at]
}

/// Whether a figure is within 1 % of what is expected.
fn is_near(figure: f64, expected: f64) -> bool {
    (figure - expected).abs() <= expected / 100.0
}

#[test]
fn a_delay_is_the_latency_within_one_percent_above_the_floor() {
    const ATTEMPTS: usize = 8;
    /// So many quiet runs do not miss by chance.
    const MISSES: usize = 3;
    for (engine, _) in calling().filter(|&(_, depth)| depth < 8) {
        let mut misses = Vec::new();
        let hit = (0..ATTEMPTS).any(|_| {
            let (figures, is_quiet) = medians_and_means(engine);
            let hits = figures.into_iter().all(|(figure, expected)| is_near(figure, expected));
            if !hits && is_quiet {
                misses.push(figures);
            }
            hits
        });
        assert!(hit || misses.len() < MISSES, "{engine}: median and mean, and what is expected: {misses:?}");
        if !hit {
            skipped("the latency of a delay", &format!("the machine is too busy for {engine}"));
        }
    }
}

/// Median and mean of the latencies of one run, each with what is expected: the delay and the floor. The last value is true if the
/// machine did nothing else meanwhile.
fn medians_and_means(engine: EngineKind) -> ([(f64, f64); 2], bool) {
    let rule = Rule { call: Call::Read, when: When::Always, fault: Fault::Late(DELAY) };
    let run = read(40, rule, engine, &["--iodepth=1"]);
    check_bounds(&run, engine);
    // The file system sees the delay and the way to the program and back, but nothing after the last read.
    let periods = run.periods();
    let latencies = &run.latencies[..periods.len()];
    let medians = (run.percentile("50.000000"), median(periods.clone()));
    ([medians, (mean(latencies), mean(&periods))], is_quiet(periods))
}

/// Nothing else took the processor for long: the floor of the file system is nearly the same for all I/Os.
fn is_quiet(periods: Vec<f64>) -> bool {
    let periods = sorted(periods);
    let at = |part: usize| periods[(periods.len() - 1) * part / 4];
    is_near(at(1), at(3)) && at(4) < at(2) * 1.1
}

/// What holds for the latencies of any run with one I/O in flight, however busy the machine is.
#[track_caller]
fn check_bounds(run: &Finished, engine: EngineKind) {
    let reads = &run.reads;
    let least: Vec<f64> = reads.iter().map(|read| ns(read.took())).collect();
    let most: Vec<f64> = (0..reads.len()).map(|at| ns(run.begin_after(at) - run.end_before(at))).collect();
    for (at, &latency) in run.latencies.iter().enumerate() {
        assert!(
            (least[at]..=most[at]).contains(&latency),
            "{engine}: {latency} ns of read {at} not in {}..{}",
            least[at],
            most[at]
        );
    }
    let (total, whole) = (mean(&run.latencies), ns(run.ended - run.began) / reads.len() as f64);
    assert!(is_equal(run.figure("lat_ns/mean"), total) && total <= whole, "{engine}: {:#}", run.job);
    let ordered = sorted(run.latencies.clone());
    assert!(is_equal(run.figure("lat_ns/min"), ordered[0]), "{engine}: {:#}", run.job);
    assert!(is_equal(run.figure("lat_ns/max"), ordered[ordered.len() - 1]), "{engine}: {:#}", run.job);
    let middle = median(run.latencies.clone());
    assert!(
        (run.percentile("50.000000") - middle).abs() <= middle * BUCKET,
        "{engine}: {middle} in {:#}",
        run.job
    );
}

/// Equal but for the digits that the report rounds to.
fn is_equal(figure: f64, expected: f64) -> bool {
    (figure - expected).abs() < 0.01
}

#[test]
fn latencies_of_a_queue_are_no_shorter_than_the_delays_and_no_longer_than_the_run() {
    const IOS: u64 = 40;
    let rule = Rule { call: Call::Read, when: When::Always, fault: Fault::Late(DELAY) };
    for (engine, depth) in calling().filter(|&(_, depth)| depth > 1) {
        let run = read(IOS, rule, engine, &[&format!("--iodepth={depth}")]);
        let delays: Vec<f64> = run.reads.iter().map(|read| ns(read.took())).collect();
        let ordered = sorted(delays.clone());
        assert!(run.figure("lat_ns/min") >= ordered[0], "{engine}: {:#}", run.job);
        assert!(run.figure("lat_ns/max") >= ordered[ordered.len() - 1], "{engine}: {:#}", run.job);
        assert!(run.figure("lat_ns/mean") >= mean(&delays), "{engine}: {:#}", run.job);
        assert!(run.percentile("50.000000") >= median(delays) * (1.0 - BUCKET), "{engine}: {:#}", run.job);
        let in_flight = run.figure("lat_ns/mean") * IOS as f64 / ns(run.ended - run.began);
        assert!(in_flight <= f64::from(depth), "{engine}: {in_flight} in flight in {:#}", run.job);
    }
}

const STALL: Duration = Duration::from_secs(1);
/// The number of the read that stalls.
const STALLED: usize = (AT / BLOCK) as usize;

/// The run of a job that reads at a rate and meets one stall.
fn stalled(ios: u64, rate: u32, engine: EngineKind, format: &str) -> Finished {
    let rule = Rule { call: Call::Read, when: When::OnceAt(AT), fault: Fault::Late(STALL) };
    read(ios, rule, engine, &[&format!("--rate_iops={rate}"), &format!("--output-format={format}")])
}

#[test]
fn a_stall_is_in_the_maximum_and_in_the_percentiles_that_one_io_belongs_to() {
    if !fuse_is_available() {
        return;
    }
    // One I/O of 150 is above the 99.3rd percentile, one of 1500 above the 99.93rd.
    let few = ["99.500000", "99.900000", "99.950000", "99.990000"];
    for (ios, rate, with, without) in
        [(150, 1000, &few[..], "50.000000"), (1500, 5000, &few[2..], "99.900000")]
    {
        let run = stalled(ios, rate, EngineKind::Psync, "json");
        let read = run.reads[STALLED];
        let longest = run.begin_after(STALLED) - run.end_before(STALLED);
        let max = run.figure("lat_ns/max");
        assert!((ns(read.took())..=ns(longest)).contains(&max), "{:#}", run.job);
        for percent in with {
            assert!(
                (run.percentile(percent) - max).abs() <= max * BUCKET,
                "{percent} of {ios} in {:#}",
                run.job
            );
        }
        assert!(run.percentile(without) < ns(STALL) / 2.0, "{without} of {ios} in {:#}", run.job);
    }
}

#[test]
fn a_stall_is_in_the_response_time_of_each_io_that_was_due_meanwhile() {
    const IOS: u64 = 150;
    const RATE: u32 = 100;
    let check = |engine: EngineKind| {
        let run = stalled(IOS, RATE, engine, "json+");
        check_response_times(&run, Duration::from_secs(1) / RATE, engine);
        assert!(run.figure("lat_ns/max") >= ns(STALL), "{engine}: {:#}", run.job);
        assert!(run.percentile("99.900000") >= ns(STALL) * (1.0 - BUCKET_OF_FIO), "{engine}: {:#}", run.job);
    };
    // They wait most of the time.
    thread::scope(|scope| {
        for (engine, _) in calling().filter(|&(_, depth)| depth < 8) {
            scope.spawn(move || check(engine));
        }
    });
}

/// All response times of a run, against the times at which reads reached and left the file system.
fn check_response_times(run: &Finished, period: Duration, engine: EngineKind) {
    let due = |at: usize| period * u32::try_from(at).unwrap();
    let first = run.reads[0].began;
    // The schedule begins before the first read is served, and after the program was started.
    let least =
        run.reads.iter().enumerate().map(|(at, read)| ns((read.ended - first).saturating_sub(due(at))));
    let most = (0..run.reads.len()).map(|at| ns((run.begin_after(at) - run.began).saturating_sub(due(at))));
    let bins = run.job.pointer("/read/response_ns/bins").and_then(Value::as_object).unwrap();
    let counted = bins.iter().flat_map(|(value, count)| {
        let value: f64 = value.parse().unwrap();
        std::iter::repeat_n(value, usize::try_from(count.as_u64().unwrap()).unwrap())
    });
    let (least, counted, most) = (sorted(least.collect()), sorted(counted.collect()), sorted(most.collect()));
    assert_eq!(counted.len(), run.reads.len(), "{engine}");
    for (rank, value) in counted.iter().enumerate() {
        let bounds = least[rank] * (1.0 - BUCKET_OF_FIO)..=most[rank] * (1.0 + BUCKET_OF_FIO);
        assert!(
            bounds.contains(value),
            "{engine}: {value} at rank {rank} not in {bounds:?} of {:#}",
            run.job
        );
    }
    // The one that stalls waits 1 s, the next one 990 ms, the one after it 980 ms, and so on.
    let late = counted.iter().rev().zip(0..).take_while(|&(_, after)| period * after < STALL);
    for (&value, after) in late {
        let wait = ns(STALL - period * after);
        assert!(value >= wait * (1.0 - BUCKET_OF_FIO), "{engine}: {value} ns, {after} after the stall");
    }
    let mean_response = run.figure("response_ns/mean");
    assert!(mean_response >= mean(&least) && mean_response <= mean(&most), "{engine}: {:#}", run.job);
}
