use super::*;
use crate::{Formats, TerseVersion};
use ferrio_plan::PlannedJob;
use ferrio_runner::JobError;
use ferrio_stats::DirectionRecorder;
use jiff::{Timestamp, tz::TimeZone};
use std::time::SystemTime;

fn options() -> ReportOptions {
    let time = Timestamp::from_millisecond(1_795_227_009_073).unwrap().to_zoned(TimeZone::UTC);
    ReportOptions {
        formats: Formats::default(),
        terse_version: TerseVersion::default(),
        version: "fio-3.42".into(),
        time,
        setting: crate::Setting::default(),
        cpu: ferrio_machine::CpuUse::default(),
    }
}

/// `ios` reads of 4 KiB in `runtime_ms` with latencies of 1, 2, 3... µs.
fn reading(ios: u64, runtime_ms: u64) -> JobStats {
    let mut stats = JobStats::default();
    let mut read = DirectionRecorder::new(true, true, true, true);
    (read.ios, read.bytes) = (ios, ios * 4096);
    for i in 1..=ios {
        read.record_synchronous(i * 1000);
        stats.latency_buckets.record(i * 1000);
    }
    stats.directions[0] = read.finish(runtime_ms);
    stats.depth.record(1, ios);
    stats.job_runtime_ms = runtime_ms;
    stats
}

fn done(stats: JobStats) -> JobResult {
    JobResult { start_ms: 1_795_227_007_944, pid: 100, stats, ..JobResult::default() }
}

fn report_of(jobs: Vec<(JobSpec, JobResult)>, elapsed_ms: u64) -> RunReport {
    let (specs, results): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
    let jobs = specs.into_iter().map(|spec| PlannedJob { spec, setup_error: None }).collect();
    let result = RunResult {
        jobs: results,
        disks: Vec::new(),
        started: SystemTime::UNIX_EPOCH,
        elapsed: Duration::from_millis(elapsed_ms),
        signal: None,
        clock: ferrio_stats::ClockSource::Tsc,
    };
    RunReport::new(&Plan { jobs, ..Plan::default() }, &result, &options())
}

fn grouped(name: &str, group: u32) -> JobSpec {
    let mut spec = JobSpec::bare(name);
    spec.group = group;
    spec.group_reporting = true;
    spec.options = vec![("size".into(), name.into())];
    spec
}

#[test]
fn rates_are_rounded_down() {
    let report = report_of(vec![(JobSpec::bare("a"), done(reading(100, 7)))], 7);
    let read = &report.jobs[0].directions.read;
    assert_eq!((read.io_bytes, read.io_kbytes, read.bw_bytes, read.bw), (409_600, 400, 58_514_285, 57_142));
    assert!((read.iops - 100_000.0 / 7.0).abs() < 1e-9);
}

#[test]
fn consecutive_jobs_of_a_reporting_group_are_one_entry() {
    let mut failed = done(reading(50, 30));
    failed.error = Some(JobError { errno: 5, func: "io_u error".into(), file: "worker.rs", line: 7 });
    let alone = JobSpec::bare("alone");
    let report = report_of(
        vec![
            (grouped("first", 0), done(reading(100, 20))),
            (grouped("second", 0), failed),
            (grouped("other", 1), done(reading(1, 1))),
            (alone, done(reading(1, 1))),
        ],
        4000,
    );
    let names: Vec<(&str, u32, usize)> =
        report.jobs.iter().map(|job| (job.jobname.as_str(), job.groupid, job.text.jobs)).collect();
    assert_eq!(names, [("first", 0, 2), ("other", 1, 1), ("alone", 0, 1)]);
    let merged = &report.jobs[0];
    assert_eq!((merged.error, merged.job_runtime, merged.directions.read.total_ios), (5, 50, 150));
    assert_eq!(merged.directions.read.runtime, 30);
    assert_eq!(merged.job_options.0, [("size".to_owned(), "second".to_owned())]);
    assert!(
        merged.text.error_message.as_ref().unwrap().ends_with("func=io_u error, error=Input/output error")
    );
}

#[test]
fn a_group_is_as_fast_as_all_bytes_over_the_longest_time() {
    let report = report_of(
        vec![(JobSpec::bare("a"), done(reading(100, 10))), (JobSpec::bare("b"), done(reading(100, 40)))],
        40,
    );
    assert_eq!(
        report.groups[0].directions[0],
        Some(GroupDirection {
            bytes: 819_200,
            bw: 20_480_000,
            bw_min: 10_240_000,
            bw_max: 40_960_000,
            runtime_min: 10,
            runtime_max: 40,
        })
    );
    assert_eq!(report.groups[0].directions[1], None);
}

#[test]
fn the_share_of_the_group_uses_whole_kibibytes_and_stops_at_100() {
    assert!((share_of_group(2062.9, 2064 * 1024) - 99.903_100).abs() < 1e-6);
    assert_eq!(share_of_group(9000.0, 2064 * 1024), 100.0);
    assert_eq!(share_of_group(0.0, 1024), 100.0);
}

#[test]
fn a_job_that_never_started_is_all_zeros() {
    let report = report_of(vec![(JobSpec::bare("a"), JobResult::default())], 0);
    let job = &report.jobs[0];
    assert_eq!((job.job_start, job.eta, job.elapsed, job.usr_cpu), (0, ETA_UNKNOWN, 0, 0.0));
    assert_eq!(job.target, None);
    let levels: f64 = job.iodepth_level.0.iter().map(|(_, share)| share).sum();
    assert_eq!((job.directions.read.iops, levels), (0.0, 0.0));
}

#[test]
fn seconds_count_up_and_the_estimate_is_unknown_in_short_runs() {
    let job = |ms| report_of(vec![(JobSpec::bare("a"), done(reading(1, 1)))], ms).jobs.remove(0);
    let figures = [1000, 1001, 2000, 2001].map(|ms| (job(ms).elapsed, job(ms).eta));
    assert_eq!(figures, [(1, ETA_UNKNOWN), (2, ETA_UNKNOWN), (2, ETA_UNKNOWN), (3, 0)]);
}

#[test]
fn percentiles_are_bucket_values_of_the_first_bucket_that_reaches_them() {
    let report = report_of(vec![(JobSpec::bare("a"), done(reading(1000, 5)))], 5);
    let clat = &report.jobs[0].directions.read.clat_ns;
    // 500 µs lies in the bucket 499712..503807, 990 µs in 983040..991231.
    let at = |percent| clat.percentile.0.iter().find(|p| p.0 == percent).unwrap().1;
    assert_eq!((at(1.0), at(50.0), at(99.0)), (10_048, 501_760, 987_136));
    assert!(clat.bins.is_empty(), "buckets belong to the extended form");
    let lat = &report.jobs[0].directions.read.lat_ns;
    assert_eq!((lat.samples, lat.percentile.is_empty()), (1000, true));
}

#[test]
fn percentiles_do_not_clip_at_fios_last_bucket() {
    let mut latency = Latency::new();
    latency.record(600_000_000_000);
    assert_eq!(percentiles(&latency.fio_bins(), &latency, &[50.0]).0, [(50.0, 600_000_000_000)]);
}

#[test]
fn small_shares_are_never_shown_as_nothing() {
    assert_eq!(
        shares(&["1", "2", "4"], &[999_999, 1, 0], 1_000_000, 0.1).0,
        [("1", 99.9999), ("2", 0.1), ("4", 0.0)]
    );
    assert_eq!(shares(&["1"], &[0], 0, 0.1).0, [("1", 0.0)]);
}

#[test]
fn syncs_push_the_depth_percentages_above_100() {
    let mut stats = reading(16, 5);
    stats.depth.record(1, 15);
    stats.sync.ios = 15;
    let report = report_of(vec![(JobSpec::bare("a"), done(stats))], 5);
    assert_eq!(report.jobs[0].iodepth_level.0[0], ("1", 193.75));
}

#[test]
fn means_over_slaves_are_integers() {
    let disk = |name: &str, ios, in_queue, util, slaves| DiskUsage {
        name: name.into(),
        ios: [ios, ios * 2],
        in_queue,
        util,
        slaves,
        ..DiskUsage::default()
    };
    let disks = disks(&[
        disk("md0", 10, 50, 25.0, 2),
        disk("sda", 100, 100, 18.0, 0),
        disk("sdb", 121, 420, 33.0, 0),
    ]);
    let means = disks[0].slaves.as_ref().unwrap();
    assert_eq!(
        (means.aggr_read_ios, means.aggr_write_ios, means.aggr_in_queue, means.aggr_util),
        (110, 221, 260, 33.0)
    );
    assert_eq!((disks[1].slaves.as_ref(), disks[2].slaves.as_ref()), (None, None));
}

#[test]
fn long_names_are_cut_between_characters() {
    assert_eq!(cut("abc", 127), "abc");
    assert_eq!(cut(&"n".repeat(200), 127).len(), 127);
    assert_eq!(cut("aéé", 4), "aé");
}

#[test]
fn directions_are_reported_alone_as_one_or_both_ways() {
    let report = |unified| {
        let mut stats = reading(100, 20);
        stats.directions[1] = reading(300, 40).directions[0].clone();
        let mut spec = JobSpec::bare("a");
        spec.measure.unified = unified;
        let report = report_of(vec![(spec, done(stats))], 40);
        let keys = serde_json::to_value(&report.jobs[0]).unwrap();
        let keys: Vec<String> = keys.as_object().unwrap().keys().skip(6).take(5).cloned().collect();
        let [shown, groups] = [
            report.jobs[0]
                .shown_directions()
                .into_iter()
                .map(|(name, d)| format!("{name} {}", d.total_ios))
                .collect(),
            report
                .groups
                .iter()
                .flat_map(|group| group.directions.iter().chain([&group.mixed]))
                .map(|direction| {
                    direction
                        .map_or("-".into(), |d| format!("{} in {}-{}", d.bytes, d.runtime_min, d.runtime_max))
                })
                .collect::<Vec<_>>(),
        ];
        (keys, shown, groups)
    };
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let (read, write) = ("409600 in 20-20", "1228800 in 40-40");

    let (keys, shown, groups) = report(UnifiedReporting::None);
    assert_eq!(keys, owned(&["read", "write", "trim", "sync", "job_runtime"]));
    assert_eq!(shown, owned(&["read 100", "write 300", "trim 0"]));
    assert_eq!(groups, owned(&[read, write, "-", "-"]));

    let (keys, shown, groups) = report(UnifiedReporting::Mixed);
    assert_eq!(keys[..2], owned(&["mixed", "job_runtime"]));
    assert_eq!(shown, owned(&["mixed 400"]));
    assert_eq!(groups, owned(&["-", "-", "-", "1638400 in 40-40"]));

    let (keys, shown, groups) = report(UnifiedReporting::Both);
    assert_eq!(keys, owned(&["read", "write", "trim", "sync", "mixed"]));
    assert_eq!(shown, owned(&["read 100", "write 300", "trim 0", "mixed 400"]));
    assert_eq!(groups, owned(&[read, write, "-", "1638400 in 20-40"]));
}
