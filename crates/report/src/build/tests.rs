use super::direction::share_of_group;
use super::entry::shares;
use super::*;
use crate::model::{LatencyReport, ToleratedErrors};
use crate::{Format, Formats, TerseVersion};
use ferrio_job::{Compat, EngineKind, JobSpec};
use ferrio_plan::testing::{default_job, plan};
use ferrio_results::{JobError, JobProgress, JobResult, JobState, Progress, tolerated_error};
use ferrio_stats::{DirectionRecorder, JobStats, TickSource};
use jiff::{Timestamp, tz::TimeZone};

fn options() -> ReportOptions {
    let time = Timestamp::from_millisecond(1_795_227_009_073).unwrap().to_zoned(TimeZone::UTC);
    ReportOptions { time, ..ReportOptions::new(Formats::default(), TerseVersion::default(), "fio-3.42") }
}

#[test]
fn a_document_of_fio_has_no_object_of_ours_unless_there_are_warnings_or_lean_jobs() {
    let has_with = |tuning, compat, format, engine| {
        let plan = plan(vec![JobSpec { engine, tuning, ..default_job("a") }]);
        let result =
            run_result(vec![JobResult { start_ms: 1, stats: reading(10, 500), ..JobResult::default() }], 500);
        let result = RunResult { clock: TickSource::Tsc, ..result };
        let options = ReportOptions { compat, formats: Formats::only(format), ..options() };
        RunReport::new(&plan, &result, &options).to_json().contains("\n  \"ferrio\" : {")
    };
    let has = |compat, format, engine| has_with(Tuning::Fio, compat, format, engine);
    let (null, short) = (EngineKind::Null, EngineKind::Psync);
    assert!(!has(Compat::Fio, Format::Json, null) && has(Compat::Fio, Format::Json, short));
    assert!(has(Compat::Fio, Format::JsonPlus, null) && has(Compat::Ferrio, Format::Json, null));
    // Without the object, it would count as one of fio's conditions.
    assert!(has_with(Tuning::Lean, Compat::Fio, Format::Json, null));
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
    RunReport::new(&plan(specs), &run_result(results, elapsed_ms), &options())
}

fn run_result(jobs: Vec<JobResult>, elapsed_ms: u64) -> RunResult {
    RunResult { jobs, elapsed: Duration::from_millis(elapsed_ms), ..RunResult::default() }
}

fn grouped(name: &str, group: u32) -> JobSpec {
    let mut spec = default_job(name);
    spec.group = group;
    spec.group_reporting = true;
    spec.options = [("size".into(), name.into())].into();
    spec
}

#[test]
fn rates_are_rounded_down() {
    let report = report_of(vec![(default_job("a"), done(reading(100, 7)))], 7);
    let read = report.jobs[0].read.as_ref().unwrap();
    assert_eq!((read.io_bytes, read.io_kbytes, read.bw_bytes, read.bw), (409_600, 400, 58_514_285, 57_142));
    assert!((read.iops - 100_000.0 / 7.0).abs() < 1e-9);
}

#[test]
fn consecutive_jobs_of_a_reporting_group_are_one_entry() {
    let mut failed = done(reading(50, 30));
    failed.error = Some(JobError {
        errno: 5,
        func: "io_u error".into(),
        file: "worker.rs".into(),
        line: 7,
        event: None,
    });
    let alone = default_job("alone");
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
    assert_eq!((merged.error, merged.job_runtime, merged.read.as_ref().unwrap().total_ios), (5, 50, 150));
    assert_eq!(merged.read.as_ref().unwrap().runtime, 30);
    assert_eq!(merged.job_options.0, [("size".to_owned(), "second".to_owned())]);
    let members = &report.ferrio.as_ref().unwrap().members;
    let jobs: Vec<_> =
        members[0].jobs.iter().map(|job| (job.name.as_str(), job.options.0[0].1.as_str())).collect();
    assert_eq!(members.len(), 1, "an entry of one job has its options itself");
    assert_eq!(jobs, [("first", "first"), ("second", "second")]);
    let conditions = report.conditions();
    let size = |name: &str| {
        conditions.iter().find(|(condition, _)| condition == name).map(|(_, size)| size.as_str())
    };
    assert_eq!(["job first: size", "job second: size"].map(size), [Some("first"), Some("second")]);
    assert!(
        merged.text.error_message.as_ref().unwrap().ends_with("func=io_u error, error=Input/output error")
    );
}

#[test]
fn nothing_is_sampled_of_a_job_in_its_ramp() {
    let ramping = || JobResult { in_ramp: true, ..done(reading(10, 20)) };
    let report = report_of(vec![(default_job("a"), ramping())], 20);
    let read = report.jobs[0].read.as_ref().unwrap();
    assert_eq!((read.total_ios, read.io_bytes, read.runtime, read.clat_ns.samples), (10, 40960, 20, 0));
    let jobs = vec![(grouped("a", 0), done(reading(5, 20))), (grouped("b", 0), ramping())];
    let report = report_of(jobs, 20);
    let read = report.jobs[0].read.as_ref().unwrap();
    assert_eq!((read.total_ios, read.clat_ns.samples), (15, 5));
}

#[test]
fn a_group_is_as_fast_as_all_bytes_over_the_longest_time() {
    let report = report_of(
        vec![(default_job("a"), done(reading(100, 10))), (default_job("b"), done(reading(100, 40)))],
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
fn beside_the_directions_the_sum_of_all_is_held_against_the_reads_of_the_group() {
    let share = |unified| {
        let mut stats = reading(100, 20);
        stats.directions[1] = reading(300, 20).directions[0].clone();
        stats.directions[1].bw.record(30_000);
        let mut spec = default_job("a");
        spec.measure.unified = unified;
        let report = report_of(vec![(spec, done(stats))], 40);
        report.jobs[0].mixed.as_ref().unwrap().bw_agg
    };
    // 30000 KiB/s of 80000, and of 20000.
    assert_eq!((share(UnifiedReporting::Mixed), share(UnifiedReporting::Both)), (37.5, 100.0));
}

#[test]
fn an_entry_has_the_base_of_units_of_its_group_and_an_ignored_error_its_place() {
    let mut second = default_job("b");
    second.units.kb_base = 1000;
    let mut tolerant = reading(1, 1);
    tolerant.first_error = 28;
    let report = report_of(vec![(default_job("a"), done(tolerant)), (second, done(reading(1, 1)))], 1);
    let bases: Vec<u32> = report.jobs.iter().map(|job| job.text.units.kb_base).collect();
    assert_eq!(bases, [1000, 1000]);
    let message = report.jobs[0].text.error_message.as_ref().unwrap();
    let place = format!("file:{}:", tolerated_error(28).file);
    assert!(message.starts_with(&place), "{message}");
    assert!(message.ends_with(", func=xfer, error=No space left on device"), "{message}");
}

#[test]
fn a_job_that_never_started_is_all_zeros() {
    let report = report_of(vec![(default_job("a"), JobResult::default())], 0);
    let job = &report.jobs[0];
    assert_eq!((job.job_start, job.eta, job.elapsed, job.usr_cpu), (0, Some(ETA_UNKNOWN), Some(0), 0.0));
    assert_eq!(job.target, None);
    let levels: f64 = job.iodepth_level.0.iter().map(|(_, share)| share).sum();
    assert_eq!((job.read.as_ref().unwrap().iops, levels), (0.0, 0.0));
}

#[test]
fn seconds_count_up_and_the_estimate_is_unknown_in_short_runs() {
    let job = |ms| report_of(vec![(default_job("a"), done(reading(1, 1)))], ms).jobs.remove(0);
    let figures = [1000, 1001, 2000, 2001].map(|ms| (job(ms).elapsed.unwrap(), job(ms).eta.unwrap()));
    assert_eq!(figures, [(1, ETA_UNKNOWN), (2, ETA_UNKNOWN), (2, ETA_UNKNOWN), (3, 0)]);
    assert_eq!(seconds_rounded_up(Duration::new(2, 1)), 3);
}

/// The read completion latency of 1 µs to 1 ms in a report, and its percentiles of 1, 50 and 99.
fn clat_by(options: &ReportOptions) -> (LatencyReport, [u64; 3]) {
    let result = run_result(vec![done(reading(1000, 5))], 5);
    let report = RunReport::new(&plan([default_job("a")]), &result, options);
    let read = report.jobs[0].read.as_ref().unwrap();
    assert_eq!((read.lat_ns.samples, read.lat_ns.percentile.is_empty()), (1000, true));
    let clat = read.clat_ns.clone();
    let at = |percent| clat.percentile.0.iter().find(|p| p.0 == percent).unwrap().1;
    let values = [at(1.0), at(50.0), at(99.0)];
    (clat, values)
}

#[test]
fn percentiles_are_middles_of_narrow_buckets() {
    let (clat, values) = clat_by(&options());
    // Buckets of 64 ns around 10 µs, of 2048 ns from 262 µs, of 4096 ns from 524 µs.
    assert_eq!(values, [10_016, 500_736, 989_184]);
    assert!(clat.bins.is_empty(), "buckets belong to the extended form");
}

#[test]
fn fios_buckets_are_used_where_they_are_asked_for_or_listed() {
    // 500 µs lies in the bucket 499712..503807, 990 µs in 983040..991231.
    let fio = [10_048, 501_760, 987_136];
    let (clat, values) = clat_by(&ReportOptions { fio_bins: true, ..options() });
    assert_eq!((values, clat.bins.is_empty()), (fio, true));
    let formats = Formats::only(Format::JsonPlus);
    let (clat, values) = clat_by(&ReportOptions { formats, ..options() });
    assert_eq!(values, fio);
    assert!(values.iter().all(|value| clat.bins.0.iter().any(|(bin, _)| bin == value)));
    assert_eq!(clat.bins.0.iter().map(|(_, count)| count).sum::<u64>(), 1000);
}

#[test]
fn small_shares_are_never_shown_as_nothing() {
    assert_eq!(
        shares(&["1", "2", "4"], &[999_999, 1, 0], 1_000_000, 0.1).0,
        [("1".into(), 99.9999), ("2".into(), 0.1), ("4".into(), 0.0)]
    );
    assert_eq!(shares(&["1"], &[0], 0, 0.1).0, [("1".into(), 0.0)]);
}

#[test]
fn nothing_is_sampled_in_a_ramp_and_everything_counted() {
    let ramping = || JobResult { in_ramp: true, ..done(reading(20, 5)) };
    let report = report_of(vec![(default_job("a"), ramping())], 5);
    let (job, read) = (&report.jobs[0], report.jobs[0].read.as_ref().unwrap());
    assert_eq!((read.total_ios, read.io_bytes, read.runtime), (20, 81_920, 5));
    assert_eq!((read.clat_ns.samples, read.lat_ns.samples), (0, 0));
    assert!(job.latency_us.0.iter().all(|&(_, share)| share == 0.0));
    assert_eq!(job.iodepth_level.0[0], ("1".into(), 100.0));

    let jobs = vec![(grouped("a", 0), done(reading(10, 5))), (grouped("b", 0), ramping())];
    let read = report_of(jobs, 5).jobs[0].read.clone().unwrap();
    assert_eq!((read.total_ios, read.clat_ns.samples, read.lat_ns.samples), (30, 10, 10));
}

#[test]
fn syncs_push_the_depth_percentages_above_100() {
    let mut stats = reading(16, 5);
    stats.depth.record(1, 15);
    stats.sync.ios = 15;
    let report = report_of(vec![(default_job("a"), done(stats))], 5);
    assert_eq!(report.jobs[0].iodepth_level.0[0], ("1".into(), 193.75));
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
    let disks = disk_reports(&[
        disk("md0", 10, 50, 25.0, vec![1, 2]),
        disk("sda", 100, 100, 18.0, Vec::new()),
        disk("sdb", 121, 420, 33.0, Vec::new()),
    ]);
    let means = disks[0].slaves.as_ref().unwrap();
    assert_eq!(
        (means.aggr_read_ios, means.aggr_write_ios, means.aggr_in_queue, means.aggr_util),
        (110, 221, 260, 33.0)
    );
    assert_eq!((disks[1].slaves.as_ref(), disks[2].slaves.as_ref()), (None, None));
}

#[test]
fn directions_are_reported_alone_as_one_or_both_ways() {
    let report = |unified| {
        let mut stats = reading(100, 20);
        stats.directions[1] = reading(300, 40).directions[0].clone();
        let mut spec = default_job("a");
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

/// What a job moved in one direction.
fn moved(bytes: u64, ios: u64, runtime_ms: u64, bw: &[u64]) -> JobStats {
    let mut stats = JobStats::default();
    let write = &mut stats.directions[1];
    (write.bytes, write.ios, write.runtime_ms) = (bytes, ios, runtime_ms);
    bw.iter().for_each(|&value| write.bw.record(value));
    stats
}

#[test]
fn rates_are_those_that_fio_printed_for_the_same_work() {
    // Bytes, ms, I/Os, then what fio 3.42 printed: io_kbytes, bw_bytes, bw, iops.
    let printed = [
        ((353_660_928, 1001, 86_343), (345_372, 353_307_620, 345_026, "86256.743257")),
        ((8_196_096, 1001, 2001), (8004, 8_187_908, 7996, "1999.000999")),
        ((2_048_000, 1001, 500), (2000, 2_045_954, 1998, "499.500500")),
        ((524_288, 408, 128), (512, 1_285_019, 1254, "313.725490")),
        ((20_016_000, 1000, 2224), (19_546, 20_016_000, 19_546, "2224.000000")),
        ((7_979_008, 1005, 992), (7792, 7_939_311, 7753, "987.064677")),
        ((4_194_304, 227, 1024), (4096, 18_477_110, 18_044, "4511.013216")),
        ((1_048_576, 1, 256), (1024, 1_048_576_000, 1_024_000, "256000.000000")),
    ];
    for ((bytes, runtime, ios), (kbytes, bw_bytes, bw, iops)) in printed {
        let report = report_of(vec![(default_job("a"), done(moved(bytes, ios, runtime, &[])))], runtime);
        let write = report.jobs[0].write.as_ref().unwrap();
        assert_eq!((write.io_kbytes, write.bw_bytes, write.bw), (kbytes, bw_bytes, bw));
        assert_eq!(format!("{:.6}", write.iops), iops);
        assert_eq!((write.bw_agg, write.bw_samples), (0.0, 0));
    }
}

#[test]
fn shares_of_the_group_are_those_that_fio_printed() {
    // Four jobs of one group in a run of fio 3.42, each with its samples of bandwidth.
    let jobs = [(501, [2000, 2004]), (500, [1996, 2004]), (501, [2004, 2004]), (500, [2000, 2004])];
    let ran = jobs.map(|(ios, bw)| (default_job("w"), done(moved(ios * 4096, ios, 1001, &bw))));
    let report = report_of(ran.into(), 1001);
    let shares = report.jobs.iter().map(|job| format!("{:.6}", job.write.as_ref().unwrap().bw_agg));
    assert_eq!(shares.collect::<Vec<_>>(), ["25.025000", "25.000000", "25.050000", "25.025000"]);
    let group = report.groups[0].directions[1].unwrap();
    assert_eq!(
        (group.bytes, group.bw, group.bw_min, group.bw_max),
        (8_200_192, 8_192_000, 2_045_954, 2_050_045)
    );
    // Half a KiB/s of the mean does not count: 7986 of 7995.99 KiB/s.
    let report = report_of(vec![(default_job("a"), done(moved(8_196_096, 2001, 1001, &[7986, 7987])))], 1001);
    assert_eq!(format!("{:.6}", report.jobs[0].write.as_ref().unwrap().bw_agg), "99.874889");
}

#[test]
fn samples_of_a_groups_jobs_are_added_as_fio_does() {
    let jobs = ["a", "b"].map(|name| grouped(name, 0));
    let stats = [&[10u64, 20, 30][..], &[5, 7]].map(|bw| done(moved(1 << 20, 256, 1000, bw)));
    let report = report_of(jobs.into_iter().zip(stats).collect(), 1000);
    let write = report.jobs[0].write.as_ref().unwrap();
    assert_eq!((write.bw_min, write.bw_max, write.bw_mean, write.bw_samples), (15, 37, 26.0, 5));
    assert!((write.bw_dev - (202.0f64 / 4.0).sqrt()).abs() < 1e-9, "{}", write.bw_dev);
}

#[test]
fn a_job_without_statistics_has_no_entry_and_its_group_is_empty() {
    let mut silent = default_job("silent");
    (silent.group, silent.measure.reported) = (1, false);
    let mut last = default_job("last");
    last.group = 2;
    let jobs = [default_job("first"), silent, last];
    let report = report_of(jobs.map(|spec| (spec, done(reading(10, 5)))).into(), 5);
    assert_eq!(report.jobs.iter().map(|job| job.jobname.as_str()).collect::<Vec<_>>(), ["first", "last"]);
    let moved: Vec<_> = report.groups.iter().map(|group| (group.id, group.directions[0].is_some())).collect();
    assert_eq!(moved, [(0, true), (1, false), (2, true)]);
    // In the middle of a group that reports as one it is left out of the sums.
    let mut jobs = ["a", "b", "c"].map(|name| grouped(name, 0));
    jobs[1].measure.reported = false;
    let report = report_of(jobs.map(|spec| (spec, done(reading(10, 5)))).into(), 5);
    assert_eq!(
        (report.jobs.len(), report.jobs[0].text.jobs, report.jobs[0].read.as_ref().unwrap().total_ios),
        (1, 2, 20)
    );
}

#[test]
fn the_first_tolerated_error_of_a_group_is_that_of_its_last_job() {
    let ran = [("a", 28, 3), ("b", 5, 2)].map(|(name, errno, count)| {
        let mut spec = grouped(name, 0);
        spec.tolerance.read = vec![28, 5];
        let mut stats = reading(10, 5);
        (stats.first_error, stats.total_errors) = (errno, count);
        (spec, done(stats))
    });
    let report = report_of(ran.into(), 5);
    let job = &report.jobs[0];
    assert_eq!(job.tolerated, Some(ToleratedErrors { total_err: 5, first_error: 5 }));
    assert_eq!(job.error, 28, "the error of an entry is the first of all");
}

#[test]
fn an_interim_report_estimates_what_the_run_still_takes() {
    let eta = |seconds: u64, running: bool| {
        let mut spec = default_job("a");
        spec.limits.runtime = Duration::from_secs(10);
        spec.limits.size = 1 << 40;
        let elapsed = Duration::from_secs(seconds);
        let job = JobProgress {
            state: JobState::Running,
            elapsed,
            measured: elapsed,
            bytes: [4096, 0, 0],
            ios: [1, 0, 0],
            transactions: 0,
            open_files: 1,
        };
        let result = RunResult {
            jobs: vec![done(reading(1, 1))],
            elapsed,
            progress: running.then(|| Progress { elapsed, jobs: vec![job] }),
            ..RunResult::default()
        };
        let report = RunReport::new(&plan([spec]), &result, &options());
        (report.jobs[0].eta.unwrap(), report.jobs[0].elapsed.unwrap())
    };
    assert_eq!([eta(2, true), eta(4, true)], [(ETA_UNKNOWN, 2), (6, 4)]);
    assert_eq!([eta(2, false), eta(4, false)], [(ETA_UNKNOWN, 2), (0, 4)]);
}

#[test]
fn days_are_padded_with_a_blank() {
    let time = |second| Timestamp::from_second(second).unwrap().to_zoned(TimeZone::UTC);
    assert_eq!(ctime(&time(0)), "Thu Jan  1 00:00:00 1970");
    assert_eq!(ctime(&time(1_795_227_009)), "Sat Nov 21 02:10:09 2026");
}

#[test]
fn another_zone_shows_its_own_wall_clock() {
    let east = TimeZone::fixed(jiff::tz::offset(2));
    assert_eq!(ctime(&Timestamp::UNIX_EPOCH.to_zoned(east)), "Thu Jan  1 02:00:00 1970");
}
