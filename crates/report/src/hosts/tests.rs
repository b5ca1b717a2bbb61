use std::time::{Duration, UNIX_EPOCH};

use ferrio_job::{Compat, JobSpec, Plan, UnifiedReporting};
use ferrio_plan::testing::{default_job, plan};
use ferrio_results::{DiskUsage, JobError, JobProgress, JobResult, JobState, Progress, RunResult};
use ferrio_stats::{DirectionRecorder, JobStats, SampleStats};
use proptest::prelude::*;
use serde_json::Value;

use super::{HostsReport, ReportedHost};
use crate::model::{DirectionSeries, PhaseReport, RunReport, Series};
use crate::text::tests::options;
use crate::{
    Format, Formats, HostReport, HostsIntervalReport, ReportOptions, RunSeries, TerseLayout, TerseVersion,
};

/// Reads of 1 KiB in `runtime_ms` with these latencies.
fn reads(latencies: &[u64], runtime_ms: u64) -> JobStats {
    let mut stats = JobStats { job_runtime_ms: runtime_ms, ..JobStats::default() };
    let mut recorder = DirectionRecorder::new(true, true, true, false);
    (recorder.ios, recorder.bytes) = (latencies.len() as u64, 1024 * latencies.len() as u64);
    for &ns in latencies {
        recorder.record_submissions(&[ns / 3]);
        recorder.record_completions(&[ns - ns / 3], &[ns]);
        stats.latency_buckets.record(ns - ns / 3);
    }
    stats.directions[0] = recorder.finish(runtime_ms);
    stats.depth.record(1, latencies.len() as u64);
    stats
}

fn done(stats: JobStats) -> JobResult {
    JobResult { start_ms: 1_000, pid: 9, stats, ..JobResult::default() }
}

/// The report of a host on these jobs.
fn host_report(jobs: Vec<(JobSpec, JobResult)>, options: &ReportOptions) -> HostReport {
    let (specs, results): (Vec<_>, Vec<_>) = jobs.into_iter().unzip();
    let plan = Plan { globals: [("bs".into(), "1k".into())].into(), ..plan(specs) };
    let disks = vec![DiskUsage { name: "vda".into(), util: 1.0, ..DiskUsage::default() }];
    let result = RunResult { jobs: results, disks, ..RunResult::default() };
    let report = RunReport::new(&plan, &result, options);
    let sent = HostReport::new(&plan, &result, options, &report);
    HostReport::of_text(&sent.to_text().unwrap()).unwrap()
}

fn named(name: &str) -> JobSpec {
    JobSpec { options: [("rw".into(), name.into())].into(), ..default_job(name) }
}

/// A run on hosts `h0`, `h1`… that have ended with these jobs.
fn run_on(hosts: Vec<Vec<(JobSpec, JobResult)>>, options: &ReportOptions) -> HostsReport {
    let known = (0..hosts.len()).map(|at| ReportedHost::new(format!("h{at}"), Some(8765 + at as u16)));
    let mut run = HostsReport::new(known.collect(), options.clone(), false);
    for (at, jobs) in hosts.into_iter().enumerate() {
        run.take_last(at, host_report(jobs, options));
    }
    run
}

fn fio() -> ReportOptions {
    ReportOptions { compat: Compat::Fio, formats: Formats::only(Format::Json), ..options(false) }
}

fn clients_document(run: &HostsReport) -> Value {
    serde_json::from_str(&run.to_clients_json()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However the I/Os of a run are dealt out to hosts, their report is that of one host with all I/Os.
    #[test]
    fn percentiles_of_all_hosts_are_those_of_all_ios(
        hosts in prop::collection::vec(prop::collection::vec(1_u64..1 << 40, 1..80), 2..7),
        is_plus in any::<bool>(),
    ) {
        let options = options(is_plus);
        let of_host = |latencies: &Vec<u64>| vec![(named("a"), done(reads(latencies, 100)))];
        let run = run_on(hosts.iter().map(of_host).collect(), &options);
        let together = run.together();
        let alone = host_report(of_host(&hosts.concat()), &options).report();
        let [all, one] = [&together, &alone].map(|report| &report.jobs[0]);
        prop_assert_eq!(&all.read, &one.read);
        prop_assert_eq!(&all.latency_ms, &one.latency_ms);
        prop_assert_eq!(&all.iodepth_level, &one.iodepth_level);
        prop_assert!(!all.read.as_ref().unwrap().clat_ns.percentile.is_empty());
        prop_assert_eq!(&run.all_clients().unwrap().jobs[0].read, &one.read);
    }
}

#[test]
fn all_clients_have_all_bytes_over_the_longest_time() {
    let samples = |mean| {
        let mut samples = SampleStats::default();
        samples.record(mean);
        samples
    };
    let job = |name, bytes, ms, bw| {
        let mut stats = reads(&[1000, 2000], ms);
        stats.directions[0].bytes = bytes;
        stats.directions[0].bw = samples(bw);
        (named(name), done(stats))
    };
    let hosts = vec![vec![job("a", 1_048_576, 1001, 1024)], vec![job("b", 9_232_384, 2200, 4101)]];
    let run = run_on(hosts, &fio());
    let document = clients_document(&run);
    let entries = document["client_stats"].as_array().unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry["jobname"].as_str().unwrap()).collect();
    assert_eq!(names, ["a", "b", "All clients"]);
    let (read, all) = (&entries[2]["read"], &entries[2]);
    let figures = ["io_bytes", "runtime", "bw_bytes", "total_ios"].map(|key| read[key].as_u64().unwrap());
    assert_eq!(figures, [10_280_960, 2200, 4_673_163, 4]);
    assert_eq!((read["bw_mean"].as_f64(), read["bw_samples"].as_u64()), (Some(5125.0), Some(2)));
    assert_eq!((all["job_runtime"].as_u64(), all["error"].as_u64()), (Some(3201), Some(0)));
    assert_eq!((all["hostname"].as_str(), all["port"].as_u64()), (Some("h1"), Some(8766)));
    let absent = ["job options", "desc", "steadystate", "latency_depth", "latency_window_us", "eta"];
    assert!(absent.iter().all(|&key| all.get(key).is_none()), "{all}");
}

#[test]
fn a_document_of_clients_has_the_entries_of_hosts_with_their_names_at_the_end() {
    let job = |name| (named(name), done(reads(&[1000], 10)));
    let run = run_on(vec![vec![job("a"), job("b")], vec![job("a")]], &fio());
    let document = clients_document(&run);
    let keys: Vec<_> = document.as_object().unwrap().keys().map(String::as_str).collect();
    let fio_keys = ["fio version", "timestamp", "time", "global options", "client_stats", "disk_util"];
    assert_eq!(keys[..6], fio_keys);
    let alone = host_report(vec![job("a")], &fio()).report().to_json();
    let alone: Value = serde_json::from_str(&alone).unwrap();
    let mut expected: Vec<_> = alone["jobs"][0].as_object().unwrap().keys().map(String::as_str).collect();
    expected.retain(|key| !["eta", "elapsed"].contains(key));
    expected.extend(["hostname", "port"]);
    let entry = document["client_stats"][0].as_object().unwrap();
    assert_eq!(entry.keys().map(String::as_str).collect::<Vec<_>>(), expected);
    let options = &document["global options"];
    assert_eq!(options[1].to_string(), r#"{"hostname":"h1","port":8766,"bs":"1k"}"#);
    let disks = document["disk_util"].as_array().unwrap();
    let disk = disks[1].as_object().unwrap();
    assert_eq!((disks.len(), disk.keys().next_back().unwrap().as_str()), (2, "port"));
    assert_eq!((&disk["name"], &disk["hostname"]), (&Value::from("vda"), &Value::from("h1")));
}

#[test]
fn one_entry_has_no_entry_of_all_clients_and_one_host_has_its_options_in_an_object() {
    let job = || (named("a"), done(reads(&[1000], 10)));
    let run = run_on(vec![vec![job()]], &fio());
    assert_eq!(run.all_clients(), None);
    let document = clients_document(&run);
    assert_eq!(document["global options"].to_string(), r#"{"bs":"1k"}"#);
    assert_eq!(document["client_stats"].as_array().unwrap().len(), 1);
    let several = run_on(vec![vec![job(), job()]], &fio());
    assert_eq!(several.all_clients().unwrap().jobs[0].text.jobs, 2);
    let none = HostsReport::new(vec![ReportedHost::new("h", None)], fio(), false);
    let document = clients_document(&none);
    assert_eq!(
        (document["global options"].to_string(), document["disk_util"].to_string()),
        ("{}".into(), "[]".into())
    );
}

#[test]
fn interim_entries_precede_the_last_ones_and_count_in_no_sum() {
    let jobs = |ios: usize| vec![(named("a"), done(reads(&vec![1000; ios], 10)))];
    let mut run =
        HostsReport::new(vec![ReportedHost::new("h", None), ReportedHost::new("i", None)], fio(), false);
    for (host, ios) in [(0, 1), (1, 2)] {
        run.take_interim(host, host_report(jobs(ios), &fio()));
    }
    assert_eq!(run.all_clients(), None, "no host has ended");
    for (host, ios) in [(1, 20), (0, 10)] {
        run.take_last(host, host_report(jobs(ios), &fio()));
    }
    let document = clients_document(&run);
    let ios: Vec<_> = document["client_stats"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["read"]["total_ios"].as_u64().unwrap())
        .collect();
    assert_eq!(ios, [1, 2, 20, 10, 30]);
}

#[test]
fn the_first_error_is_that_of_all_clients() {
    let failed = |errno| {
        let error = JobError { errno, func: "f".into(), file: "f.rs".into(), line: 1, event: None };
        vec![(named("a"), JobResult { error: Some(error), ..done(reads(&[1000], 10)) })]
    };
    let fine = vec![(named("a"), done(reads(&[1000], 10)))];
    let run = run_on(vec![fine, failed(28), failed(5)], &fio());
    let all = &run.all_clients().unwrap().jobs[0];
    let message = all.text.error_message.as_ref().unwrap();
    assert!(all.error == 28 && message.starts_with("h1: "), "{message}");
}

#[test]
fn directions_are_apart_unless_all_hosts_report_them_as_one() {
    let job = |unified| {
        let mut spec = named("a");
        spec.measure.unified = unified;
        vec![(spec, done(reads(&[1000], 10)))]
    };
    use UnifiedReporting::{Both, Mixed, None};
    for (hosts, has) in [
        ([None, None], (true, false)),
        ([Mixed, Mixed], (false, true)),
        ([Mixed, None], (true, true)),
        ([Both, Both], (true, true)),
    ] {
        let run = run_on(hosts.map(job).into(), &fio());
        let all = &run.all_clients().unwrap().jobs[0];
        assert_eq!((all.read.is_some(), all.mixed.is_some()), has, "{hosts:?}");
    }
}

#[test]
fn terse_lines_have_no_disks_which_are_on_a_line_of_their_own() {
    let run = run_on(vec![vec![(named("a"), done(reads(&[1000], 10)))]], &fio());
    for (version, fields) in [(TerseVersion::V3, 121), (TerseVersion::V5, 180)] {
        let lines = run.terse_of_host(0, TerseLayout::from(version));
        let counts: Vec<_> = lines.lines().map(|line| line.split(';').count()).collect();
        assert_eq!(counts, [fields, 10]);
        assert_eq!(lines.lines().nth(1), Some(";vda;0;0;0;0;0;0;0;1.00%"));
    }
    assert_eq!(run.terse_of_host(0, TerseLayout::from(TerseVersion::V2)).lines().count(), 1);
}

#[test]
fn entries_of_one_name_are_one_entry_over_all_hosts() {
    let job = |name, ios: usize, ms| (named(name), done(reads(&vec![1000; ios], ms)));
    let mut run = run_on(
        vec![
            vec![job("r", 10, 1000), job("r", 1, 1000)],
            vec![job("w", 40, 1000), job("r", 20, 2000)],
            vec![job("r", 30, 1000), job("r", 2, 1000)],
        ],
        &options(false),
    );
    run.hosts[1].phases = vec![PhaseReport { planned_us: 0, reached_us: 7000, bound_us: 10 }];
    let report = run.together();
    let entries: Vec<_> = report
        .jobs
        .iter()
        .map(|job| (job.jobname.as_str(), job.read.as_ref().unwrap().total_ios, job.text.jobs))
        .collect();
    assert_eq!(entries, [("r", 60, 3), ("r", 3, 2), ("w", 40, 1)]);
    let ferrio = report.ferrio.as_ref().unwrap();
    let all = ferrio.all_hosts.as_ref().unwrap();
    assert_eq!((all.jobname.as_str(), all.read.unwrap().total_ios), ("All hosts", 103));
    let of_host = &ferrio.hosts[1];
    assert_eq!((of_host.name.as_str(), of_host.rank, of_host.jobs[1].read.unwrap().total_ios), ("h1", 1, 20));
    // The slowest of the group is one host: 20 KiB in 2 s.
    let group = report.groups[0].directions[0].unwrap();
    assert_eq!((group.bw_min, group.bytes, group.runtime_max), (1024, 103 * 1024, 2000));
    let back = crate::read(&report.to_json()).unwrap();
    assert_eq!(back.to_json(), report.to_json());
}

#[test]
fn hosts_that_are_lost_are_named_and_the_others_count() {
    let mut run = run_on(vec![vec![(named("a"), done(reads(&[1000], 10)))]], &options(false));
    run.hosts
        .push(ReportedHost { lost: Some("the connection ended".into()), ..ReportedHost::new("gone", None) });
    let report = run.together();
    let ferrio = report.ferrio.unwrap();
    assert_eq!(ferrio.hosts[1].lost.as_deref(), Some("the connection ended"));
    assert_eq!((ferrio.run.end, ferrio.run.jobs), (crate::model::RunEnd::Errors, 1));
    assert_eq!(report.jobs[0].read.as_ref().unwrap().total_ios, 1);
}

#[test]
fn a_straggler_is_far_below_the_median_and_named() {
    let rates = |rates: &[usize]| {
        let host = |&ios: &usize| vec![(named("a"), done(reads(&vec![1000; ios], 1000)))];
        run_on(rates.iter().map(host).collect(), &options(false)).together().ferrio.unwrap()
    };
    let slow = rates(&[100, 101, 99, 102, 60]);
    let warning = slow.warnings.iter().find(|warning| warning.code == "straggler").unwrap();
    assert_eq!((&warning.hosts, &warning.jobs), (&vec!["h4".to_owned()], &vec!["a".to_owned()]));
    assert_eq!(
        warning.message,
        "a straggler among 5 hosts: read of a had 60.00 KiB/s, half of the hosts 100.0 KiB/s or more"
    );
    let marked: Vec<bool> = slow.hosts.iter().map(|host| host.jobs[0].read.unwrap().straggler).collect();
    assert_eq!(marked, [false, false, false, false, true]);
    for none in [&[100, 101, 99, 102, 97][..], &[100, 50], &[100, 100, 96, 100], &[10, 200, 400, 600]] {
        assert!(rates(none).warnings.iter().all(|warning| warning.code != "straggler"), "{none:?}");
    }
}

#[test]
fn a_host_that_starts_late_is_named_unless_its_clock_may_be_wrong() {
    let phase = |reached_us, bound_us| vec![PhaseReport { planned_us: 100, reached_us, bound_us }];
    let mut run = run_on(vec![vec![(named("a"), done(reads(&[1000], 10)))]; 3], &options(false));
    for (host, phases) in run.hosts.iter_mut().zip([phase(100, 5), phase(3_200, 100), phase(1_200, 500)]) {
        host.phases = phases;
    }
    let ferrio = run.together().ferrio.unwrap();
    let warning = ferrio.warnings.iter().find(|warning| warning.code == "late-start").unwrap();
    assert_eq!(warning.hosts, ["h1"]);
    assert_eq!(
        warning.message,
        "1 of 3 hosts began a phase more than 1 ms after the planned time: h1 by 3.0 ms at least"
    );
    assert_eq!(ferrio.run.start_spread_us, Some(3100));
}

#[test]
fn the_common_interval_has_the_rates_of_all_hosts_at_once() {
    let host = |start_ms, ios: usize, ms| {
        vec![(named("a"), JobResult { start_ms, ..done(reads(&vec![1000; ios], ms)) })]
    };
    // `started` of the run is 1970.
    let run = run_on(vec![host(500, 1000, 1000), host(1000, 1000, 2000)], &options(false));
    let ferrio = run.together().ferrio.unwrap();
    let common = &ferrio.common_intervals[0];
    assert_eq!((common.hosts, common.from_ms, common.to_ms), (2, 1000, 1500));
    let read = common.read.unwrap();
    assert_eq!((read.bw_bytes, read.iops), (1500 * 1024, 1500.0));
    let apart = run_on(vec![host(500, 10, 100), host(1000, 10, 100)], &options(false));
    let ferrio = apart.together().ferrio.unwrap();
    assert_eq!((ferrio.common_intervals[0].to_ms, ferrio.common_intervals[0].read), (600, None));
}

#[test]
fn transactions_of_all_hosts_add_up_and_their_latencies_merge() {
    let (plan, result) = crate::database::testing::database_run();
    let options = options(false);
    let report = RunReport::new(&plan, &result, &options);
    let mut run = HostsReport::new(
        vec![ReportedHost::new("a", None), ReportedHost::new("b", None)],
        options.clone(),
        false,
    );
    run.take_last(0, HostReport::new(&plan, &result, &options, &report));
    run.take_last(1, HostReport::new(&plan, &result, &options, &report));
    let together = run.together().ferrio.unwrap();
    let ([both], [one]) = (&together.databases[..], &report.ferrio.unwrap().databases[..]) else {
        panic!("one model")
    };
    assert_eq!((both.sessions, both.runtime, both.figures.transactions), (4, one.runtime, 800));
    assert_eq!(both.figures.tps, 2.0 * one.figures.tps);
    assert_eq!(
        (both.figures.lat_ns.samples, &both.figures.lat_ns.percentile),
        (800, &one.figures.lat_ns.percentile)
    );
    assert_eq!(both.figures.io.log_writes.iops, 2.0 * one.figures.io.log_writes.iops);
}

#[test]
fn the_text_of_all_hosts_has_a_row_for_each() {
    let host = |start_ms, ios: usize| {
        vec![(named("a"), JobResult { start_ms, ..done(reads(&vec![1_500_000; ios], 1000)) })]
    };
    let mut run = run_on(vec![host(1, 1000), host(2, 1010), host(501, 500)], &options(false));
    run.hosts
        .push(ReportedHost { lost: Some("the connection ended".into()), ..ReportedHost::new("h3", None) });
    let text = run.together().to_text();
    let block = &text[text.find("Hosts (4)").unwrap()..];
    let want = "\
Hosts (4):
  job              host                             BW       IOPS    lat avg    lat p99
  a                h0               read    1000 KiB/s     1.000k   1.000 ms   1.000 ms
  a                h1               read    1010 KiB/s     1.010k   1.000 ms   1.000 ms
  a                h2               read   500.0 KiB/s        500   1.000 ms   1.000 ms  straggler
  a: all 3 hosts from 501 to 1001msec: read BW=2.451 MiB/s, IOPS=2.510k
  h3 is lost: the connection ended

Disk stats (read/write):
  h0 vda: ios=0/0, sectors=0/0, merge=0/0, ticks=0/0, in_queue=0, util=1.00%
";
    assert!(block.starts_with(want), "{block}");
}

#[test]
fn metrics_of_hosts_have_their_names_as_a_label_and_every_series_once() {
    let host = || vec![(named("a"), done(reads(&[1_500_000; 10], 1000)))];
    let mut run = run_on(vec![host(), host()], &options(false));
    // The same host twice.
    run.hosts[1].name = "h0".into();
    run.hosts[1].phases = vec![PhaseReport { planned_us: 0, reached_us: 250, bound_us: 40 }];
    let text = crate::openmetrics::to_openmetrics(&run.together());
    let labels = r#"{host="h0",rank="1",entry="0",jobname="a",group="0",direction="read"}"#;
    for line in [
        format!("ferrio_host_io_bytes_total{labels} 10240\n"),
        format!("ferrio_host_lat_p99_seconds{labels} 0.001\n"),
        "ferrio_host_start_delay_seconds{host=\"h0\",rank=\"1\",phase=\"0\"} 0.00025\n".to_owned(),
        "ferrio_common_iops{interval=\"0\",jobname=\"a\",group=\"0\",direction=\"read\"} 20\n".to_owned(),
        "ferrio_disk_utilization_ratio{disk=\"vda\",host=\"h0\"} 0.01\n".to_owned(),
    ] {
        assert!(text.contains(&line), "{line}{text}");
    }
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let series: std::collections::BTreeSet<&str> =
        lines.iter().map(|line| line.rsplit_once(' ').unwrap().0).collect();
    assert_eq!(series.len(), lines.len());
}

#[test]
fn a_page_has_a_row_for_each_host() {
    let host = |ios: usize| vec![(named("a"), done(reads(&vec![1_500_000; ios], 1000)))];
    let mut run = run_on(vec![host(100), host(101), host(20)], &options(false));
    run.hosts.push(ReportedHost { lost: Some("<cut>".into()), ..ReportedHost::new("h3", None) });
    let page = run.together().to_html();
    assert!(page.contains("<h2 id=\"hosts-title\">Hosts</h2>"));
    let row = |host: &str| {
        page.lines().find(|line| line.starts_with(&format!("<tr><th scope=\"row\">{host}</th>"))).unwrap()
    };
    assert!(row("h0").contains("<td>a</td><td>read</td><td class=\"n\">100</td>"), "{}", row("h0"));
    assert!(row("h2").ends_with("<td>straggler</td></tr>"));
    assert!(row("h3").ends_with("<td>lost: &lt;cut&gt;</td></tr>"));
    let alone = host_report(host(1), &options(false)).report().to_html();
    assert!(!alone.contains("hosts-title"));
}

fn run_of_reads(latencies: &[&[u64]], runtime_ms: u64) -> HostsReport {
    let host = |latencies: &&[u64]| vec![(named("a"), done(reads(latencies, runtime_ms)))];
    run_on(latencies.iter().map(host).collect(), &options(false))
}

#[test]
fn each_interval_has_a_line_per_host_and_one_of_all() {
    let mut report = HostsIntervalReport::new();
    let mut lines = |run: &HostsReport, ms: u64| -> Vec<Value> {
        let text = report.lines(run, Duration::from_millis(ms), UNIX_EPOCH + Duration::from_secs(9));
        text.split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    };
    let first = lines(&run_of_reads(&[&[1_000, 2_000], &[3_000]], 1_000), 1000);
    let figures = |line: &Value| {
        let name = line["host"].as_str().unwrap_or("all").to_owned();
        (name, line["hosts"].as_u64().unwrap(), line["read"]["total_ios"].as_u64().unwrap())
    };
    let of = |name: &str, hosts, ios| (name.to_owned(), hosts, ios);
    assert_eq!(
        first.iter().map(figures).collect::<Vec<_>>(),
        [of("h0", 1, 2), of("h1", 1, 1), of("all", 2, 3)]
    );
    assert_eq!((first[2]["time_ms"].as_u64(), first[2]["timestamp_ms"].as_u64()), (Some(1000), Some(9000)));
    let second = lines(&run_of_reads(&[&[1_000, 2_000, 2_000, 2_000], &[3_000]], 2_000), 3000);
    assert_eq!(
        second.iter().map(figures).collect::<Vec<_>>(),
        [of("h0", 1, 2), of("h1", 1, 0), of("all", 2, 2)]
    );
    assert_eq!((second[2]["interval"].as_u64(), second[2]["length_ms"].as_f64()), (Some(2), Some(2000.0)));
    assert_eq!(second[2]["read"]["iops"].as_f64(), Some(1.0));
    let third = lines(&run_of_reads(&[&[1_000, 2_000, 2_000, 2_000], &[3_000]], 2_000), 4000);
    assert!(third.is_empty(), "the jobs have ended: {third:?}");
    // The completion latencies of 2000 ns, a third of which is submission, without those of the first interval.
    assert_eq!(second[2]["read"]["clat_ns"]["mean"].as_f64(), Some(1334.0));
}

#[test]
fn the_common_interval_is_what_hosts_recorded_in_it() {
    let host = |ios: &[u64]| {
        let total = usize::try_from(ios.iter().sum::<u64>()).unwrap();
        let jobs = vec![(
            named("a"),
            JobResult { start_ms: 1, ..done(reads(&vec![1000; total], 500 * ios.len() as u64)) },
        )];
        let column = DirectionSeries {
            ios: ios.to_vec(),
            bytes: ios.iter().map(|ios| ios * 1024).collect(),
            ..DirectionSeries::default()
        };
        let series = Series {
            jobname: "a".into(),
            job_number: 1,
            interval_ms: 500,
            start_ms: 1,
            time_ms: (1..=ios.len() as u64).map(|row| 1 + 500 * row).collect(),
            read: Some(column),
            ..Series::default()
        };
        let options = options(true);
        let options =
            ReportOptions { series: RunSeries { jobs: vec![series], ..RunSeries::default() }, ..options };
        host_report(jobs, &options)
    };
    let mut run = HostsReport::new(
        vec![ReportedHost::new("a", None), ReportedHost::new("b", None)],
        options(true),
        false,
    );
    run.take_last(0, host(&[100, 100, 500]));
    run.take_last(1, host(&[50, 150]));
    let ferrio = run.together().ferrio.unwrap();
    let common = &ferrio.common_intervals[0];
    assert_eq!((common.from_ms, common.to_ms, common.sampled), (1, 1001, true));
    assert_eq!(common.read.unwrap().iops, 400.0);
    assert_eq!(ferrio.series[0].read.as_ref().unwrap().ios, [150, 250, 500]);
}

#[test]
fn a_warning_that_many_hosts_have_is_one_warning() {
    let host = |ms| vec![(named("a"), done(reads(&[1000], ms)))];
    let run = run_on(vec![host(10), host(20), host(5000)], &options(false));
    let warnings = run.together().ferrio.unwrap().warnings;
    let short: Vec<_> = warnings.iter().filter(|warning| warning.code == "short-run").collect();
    let [short] = short[..] else { panic!("{warnings:?}") };
    assert_eq!((&short.hosts[..], short.count), (&["h0".to_owned(), "h1".to_owned()][..], 2));
    assert!(short.message.ends_with(" (on h0, the others differ)"), "{}", short.message);
    assert!(short.message_with_hosts().starts_with("h0, h1: "));
}

#[test]
fn only_entries_that_every_host_has_measured_for_long_enough_are_judged() {
    let options = options(false);
    let snapshot = |seconds: [u64; 2]| {
        let specs = [named("a"), named("b")];
        let plan = plan(specs);
        let job = |seconds| JobResult { measured: Duration::from_secs(seconds), ..done(reads(&[1000], 100)) };
        let state = JobProgress {
            state: JobState::Running,
            elapsed: Duration::ZERO,
            measured: Duration::ZERO,
            bytes: [0; 3],
            ios: [0; 3],
            transactions: 0,
            open_files: 0,
        };
        let progress = Progress { elapsed: Duration::ZERO, jobs: vec![state; 2] };
        let result =
            RunResult { jobs: seconds.map(job).into(), progress: Some(progress), ..RunResult::default() };
        HostReport::new(&plan, &result, &options, &RunReport::new(&plan, &result, &options))
    };
    let hosts = (0..2).map(|at| ReportedHost::new(format!("h{at}"), None)).collect();
    let mut run = HostsReport::new(hosts, options.clone(), false);
    let judged = |run: &HostsReport| {
        let report = run.together_to_judge();
        report.map(|report| report.jobs.into_iter().map(|job| job.jobname).collect::<Vec<_>>())
    };
    run.take_snapshot(0, snapshot([2, 9]));
    run.take_snapshot(1, snapshot([4, 2]));
    assert_eq!(judged(&run), None);
    run.take_snapshot(0, snapshot([3, 10]));
    assert_eq!(judged(&run), Some(vec!["a".to_owned()]));
    // What a lost host has measured counts as it is.
    run.hosts[1].lost = Some("gone".to_owned());
    assert_eq!(judged(&run), Some(vec!["a".to_owned(), "b".to_owned()]));
}
