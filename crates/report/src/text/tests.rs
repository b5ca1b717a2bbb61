mod captured;

use super::*;
use crate::{Format, Formats, ReportOptions, TerseVersion};
use ferrio_job::{Compat, CompatRules, Plan, ReadWrite, SteadyFigure, SteadyState};
use ferrio_plan::testing::{default_job, plan};
use ferrio_results::{DiskUsage, JobError, JobResult, RunResult, SteadyCheck, SteadyResult};
use ferrio_stats::{DirectionRecorder, JobStats, SampleStats, ThreadUsage};
use jiff::{Timestamp, tz::TimeZone};
use std::time::Duration;

pub(crate) fn options(json_plus: bool) -> ReportOptions {
    let time = Timestamp::from_millisecond(1_795_227_009_073).unwrap().to_zoned(TimeZone::UTC);
    let formats = if json_plus { Formats::only(Format::JsonPlus) } else { Formats::default() };
    ReportOptions { time, ..ReportOptions::new(formats, TerseVersion::default(), "fio-3.42") }
}

fn samples(values: &[u64]) -> SampleStats {
    let mut stats = SampleStats::default();
    values.iter().for_each(|&value| stats.record(value));
    stats
}

/// An asynchronous mix with syncs: every line of an entry but the errors.
fn mixed() -> JobStats {
    let mut stats = JobStats::default();
    for (index, (ios, step)) in [(400u64, 700u64), (200, 90_000)].into_iter().enumerate() {
        let mut recorder = DirectionRecorder::new(true, true, true, false);
        (recorder.ios, recorder.bytes) = (ios, ios * 4096);
        for i in 1..=ios {
            recorder.record_submissions(&[500 + i]);
            recorder.record_completions(&[step * i], &[step * i + 500 + i]);
            stats.latency_buckets.record(step * i);
        }
        let mut figures = recorder.finish(1001);
        figures.bw = samples(&[790 * (index as u64 + 1), 810]);
        figures.iops = samples(&[197, 203]);
        stats.directions[index] = figures;
    }
    stats.directions[0].short = 3;
    stats.sync.ios = 25;
    (1..=25).for_each(|i| stats.sync.record(300_000 * i));
    stats.depth.record(32, 599);
    stats.depth.record(1, 26);
    (0..150).for_each(|_| stats.submit.record(4));
    (0..300).for_each(|i| stats.complete.record(i % 3));
    stats.job_runtime_ms = 1000;
    stats.usage = ThreadUsage {
        user_us: 84_999,
        system_us: 12_000,
        context_switches: 3822,
        major_faults: 0,
        minor_faults: 9,
    };
    stats
}

pub(crate) fn run() -> (Plan, RunResult) {
    let mut mix = default_job("mix");
    mix.rw = ReadWrite::RandMixed;
    mix.description = Some("hello \"there\"".into());
    mix.depth.iodepth = 32;
    mix.measure.lat_percentiles = true;
    mix.options = [("rw".into(), "randrw".into()), ("bs".into(), "8k".into())].into();
    let mut bad = default_job("bad");
    bad.rw = ReadWrite::Write;
    bad.group = 1;
    let mut waiting = default_job("waiting");
    waiting.group = 2;
    let globals = [("ioengine".into(), "io_uring".into())].into();
    let plan = Plan { globals, ..plan([mix, bad, waiting]) };

    let mut failed = JobResult { start_ms: 1_795_227_008_000, pid: 102, ..JobResult::default() };
    failed.stats.directions[1].ios = 1;
    failed.stats.depth.record(1, 1);
    failed.stats.submit.add_small(1);
    failed.error = Some(JobError {
        errno: 28,
        func: "io_u error".into(),
        file: "worker.rs".into(),
        line: 88,
        event: None,
    });
    let disk = |name: &str, slaves| DiskUsage {
        name: name.into(),
        ios: [100, 200],
        sectors: [800, 1600],
        merges: [10, 11],
        ticks: [50, 60],
        in_queue: 100,
        busy_ms: 0,
        util: 18.864,
        slaves,
    };
    let result = RunResult {
        jobs: vec![
            JobResult { start_ms: 1_795_227_007_944, pid: 101, stats: mixed(), ..JobResult::default() },
            failed,
            JobResult::default(),
        ],
        disks: vec![disk("md0", vec![1]), disk("sda", Vec::new())],
        elapsed: Duration::from_millis(1020),
        ..RunResult::default()
    };
    (plan, result)
}

#[test]
fn the_text_of_a_whole_run() {
    let (plan, result) = run();
    insta::assert_snapshot!(RunReport::new(&plan, &result, &options(false)).to_text());
}

#[test]
fn the_json_document_of_a_whole_run() {
    let (plan, result) = run();
    let json = RunReport::new(&plan, &result, &options(false)).to_json();
    serde_json::from_str::<serde_json::Value>(&json).expect("valid JSON");
    insta::assert_snapshot!(json);
}

#[test]
fn the_extended_document_adds_buckets_where_percentiles_are_on() {
    let (plan, result) = run();
    let json = RunReport::new(&plan, &result, &options(true)).to_json();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let read = &document["jobs"][0]["read"];
    for kind in ["clat_ns", "lat_ns"] {
        let counted: u64 =
            read[kind]["bins"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(counted, 400, "{kind}");
    }
    assert!(read["slat_ns"].get("bins").is_none());
}

#[test]
fn chosen_formats_follow_each_other_document_first() {
    let (plan, result) = run();
    let mut both = options(false);
    both.formats = both.formats.with(Format::Json);
    let out = RunReport::new(&plan, &result, &both).in_formats(both.formats, both.terse_version);
    assert!(out.starts_with("{\n  \"fio version\" : \"fio-3.42\",\n"));
    assert!(out.contains("\n}\n\nmix: (groupid=0, jobs=1): err= 0: pid=101: Sat Nov 21 02:10:09 2026\n"));
}

#[test]
fn hostile_names_leave_the_document_valid() {
    let (mut plan, result) = run();
    let name = "a\"b\\c\nd\u{1}\u{7f}\té";
    plan.jobs[0].spec.name = name.into();
    plan.globals = plan.globals.iter().cloned().chain([(name.into(), name.into())]).collect();
    let json = RunReport::new(&plan, &result, &options(false)).to_json();
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["jobs"][0]["jobname"], name);
    assert_eq!(document["global options"][name], name);
}

/// A run of one job with a rate for its reads: a hundred were due while one of them stalled.
fn rated() -> (Plan, RunResult) {
    let mut spec = default_job("rated");
    spec.measure.percentiles = vec![50.0, 99.0];
    let mut recorder = DirectionRecorder::new(true, true, true, true).with_response();
    (recorder.ios, recorder.bytes) = (1000, 1000 * 4096);
    for i in 0..1000 {
        let ns = if i == 300 { 101_000_000 } else { 20_000 };
        recorder.record_synchronous(ns);
        recorder.record_response(if (300..400).contains(&i) { 1_000_000 * (401 - i) } else { ns });
    }
    let mut job = JobResult { start_ms: 1_795_227_007_944, pid: 101, ..JobResult::default() };
    job.stats.directions[0] = recorder.finish(1000);
    let plan = plan([spec]);
    let elapsed = Duration::from_secs(1);
    (plan, RunResult { jobs: vec![job], elapsed, ..RunResult::default() })
}

#[test]
fn response_times_follow_the_latencies() {
    let (plan, result) = rated();
    let text = RunReport::new(&plan, &result, &options(false)).to_text();
    let lines: Vec<&str> = text.lines().skip(3).take(4).collect();
    assert_eq!(
        lines,
        [
            "    clat (usec): min=20, max=101000, avg=120.98, stdev=3193.27",
            "     lat (usec): min=20, max=101000, avg=120.98, stdev=3193.27",
            "    response (usec): min=20, max=101000, avg=5168.00, stdev=17948.94",
            "    clat percentiles (nsec):",
        ]
    );
    let mut of_fio = plan.clone();
    of_fio.jobs[0].spec.compat = CompatRules::of(Compat::Fio);
    let text_of_fio = RunReport::new(&of_fio, &result, &options(false)).to_text();
    assert_eq!(text_of_fio, text.replace(&format!("{}\n", lines[2]), ""));
    let json = RunReport::new(&plan, &result, &options(false)).to_json();
    let behind_lat = json.split_once("\"lat_ns\"").and_then(|(_, rest)| rest.split_once("},")).unwrap().1;
    insta::assert_snapshot!(behind_lat.split("\"bw_min\"").next().unwrap(), @r#"

    "response_ns" : {
      "min" : 20000,
      "max" : 101000000,
      "mean" : 5168000.000000,
      "stddev" : 17948935.909973,
      "N" : 1000,
      "percentile" : {
        "50.000000" : 20032,
        "99.000000" : 90963968
      }
    },
    "#);
    let (jobs, own) = json.split_once("\"ferrio\"").unwrap();
    assert_eq!(jobs.matches("response_ns").count(), 1, "the other directions have no rate");
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let figures = words(behind_lat.split_once('{').unwrap().1.split("},").next().unwrap());
    let repeated = own.split_once("\"read\" : {").unwrap().1;
    assert_eq!(words(repeated)[..figures.len()], figures, "the ferrio object repeats them");
}

#[test]
fn large_bandwidth_samples_are_shown_in_mebibytes() {
    let direction = |values| DirectionReport {
        bw_min: 1_048_000,
        bw_max: 3_000_000,
        bw_mean: values,
        bw_dev: 2048.0,
        bw_agg: 100.0,
        bw_samples: 2,
        ..DirectionReport::default()
    };
    let line = |mean, kb_base| {
        let mut out = String::new();
        let units = Units { kb_base, unit_base: 8, significant_figures: 4 };
        write_samples(&mut out, &direction(mean), &units).unwrap();
        out
    };
    assert_eq!(
        line(1_048_577.0, 1024),
        "   bw (  MiB/s): min= 1023, max= 2929, per=100.00%, avg=1024.00, stdev= 2.00, samples=2\n"
    );
    assert!(line(1_048_576.0, 1024).starts_with("   bw (  KiB/s): min=1048000, max=3000000,"));
    assert!(line(1_000_000.0, 1000).starts_with("   bw (   kB/s): "));
}

#[test]
fn buckets_come_five_to_a_line() {
    let mut out = String::new();
    let buckets = ["2", "4", "10", "20", "50", "100", "250"].map(|label| (label.to_owned(), 12.5)).to_vec();
    write_latency_shares(&mut out, "usec", &crate::model::Pairs(buckets)).unwrap();
    assert_eq!(
        out,
        "  lat (usec)   : 2=12.50%, 4=12.50%, 10=12.50%, 20=12.50%, 50=12.50%\n  \
         lat (usec)   : 100=12.50%, 250=12.50%\n"
    );
}

#[test]
fn bits_and_decimal_prefixes_swap_what_comes_first() {
    let units = |kb_base, unit_base| Units { kb_base, unit_base, significant_figures: 4 };
    assert_eq!(bandwidths(8_192_000, &units(1024, 8)), ("8000KiB/s".into(), "8192kB/s".into()));
    assert_eq!(bandwidths(8_192_000, &units(1000, 0)), ("8192kB/s".into(), "8000KiB/s".into()));
    assert_eq!(bandwidths(4_194_304, &units(1024, 1)), ("32.0Mibit/s".into(), "33.6Mbit/s".into()));
}

/// The line of a steady state of 4 KiB I/Os at these rates.
fn steady_line(figure: SteadyFigure, iops: u64, lat_ns: u64, kb_base: u32) -> String {
    let mut spec = default_job("a");
    spec.units.kb_base = kb_base;
    let (duration, interval) = (Duration::from_secs(2), Duration::from_secs(1));
    let (slope, limit, percent) = (figure == SteadyFigure::Bandwidth, 20.0, figure != SteadyFigure::Latency);
    spec.steadystate =
        Some(SteadyState { figure, slope, limit, percent, duration, interval, ramp: Duration::ZERO });
    let checks = vec![SteadyCheck { iops, bw: iops * 4096, lat_ns }; 2];
    let steady = SteadyResult { attained: !slope, criterion: 0.125_188, checks, ..SteadyResult::default() };
    let result = JobResult { stats: mixed(), steadystate: Some(steady), ..JobResult::default() };
    let plan = plan([spec]);
    let result = RunResult { jobs: vec![result], elapsed: Duration::from_secs(2), ..RunResult::default() };
    let text = RunReport::new(&plan, &result, &options(false)).to_text();
    text.lines().find(|line| line.contains("steadystate")).unwrap().to_owned()
}

#[test]
fn a_steady_state_has_a_line_of_its_own() {
    assert_eq!(
        steady_line(SteadyFigure::Iops, 3994, 107, 1024),
        "  steadystate  : attained=yes, bw=15.6MiB/s (16.4MB/s), iops=3994, iops mean dev=0.125%"
    );
    assert_eq!(
        steady_line(SteadyFigure::Bandwidth, 498, 107, 1000),
        "  steadystate  : attained=no, bw=2039kB/s (1992KiB/s), iops=498, bw slope=0.125%"
    );
    assert_eq!(
        steady_line(SteadyFigure::Latency, 20_000, 107, 1024),
        "  steadystate  : attained=yes, bw=78.1MiB/s (81.9MB/s), iops=20.0k, lat=107nsec, lat mean dev=0.125"
    );
    assert!(steady_line(SteadyFigure::Latency, 20_000, 32_100, 1024).contains(", lat=32usec, "));
}
