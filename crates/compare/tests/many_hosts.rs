//! Documents of runs on many hosts are read and judged as those of one host.

use std::fs;

use ferrio_compare::{Figure, compare, read_side, text};
use ferrio_plan::testing::{default_job, plan};
use ferrio_report::{Formats, HostReport, HostsReport, ReportOptions, ReportedHost, RunReport, TerseVersion};
use ferrio_results::{JobResult, RunResult};
use ferrio_stats::{DirectionRecorder, JobStats};
use ferrio_thresholds::{Threshold, judge};

/// The report of a host with `ios` reads of 4 KiB in a second, each of which took `ns`.
fn host_report(ios: u64, ns: u64, options: &ReportOptions) -> HostReport {
    let mut recorder = DirectionRecorder::new(true, true, true, true);
    (recorder.ios, recorder.bytes) = (ios, ios * 4096);
    (0..ios).for_each(|_| recorder.record_synchronous(ns));
    let mut stats = JobStats { job_runtime_ms: 1000, ..JobStats::default() };
    stats.directions[0] = recorder.finish(1000);
    let plan = plan([default_job("a")]);
    let jobs = vec![JobResult { start_ms: 1, stats, ..JobResult::default() }];
    let result = RunResult { jobs, ..RunResult::default() };
    let report = RunReport::new(&plan, &result, options);
    HostReport::new(&plan, &result, options, &report)
}

/// A run on `n1`, `n2`, …
fn run_on(hosts: &[(u64, u64)]) -> RunReport {
    let options = ReportOptions::new(Formats::default(), TerseVersion::default(), "fio-3.42");
    let names = (1..=hosts.len()).map(|number| ReportedHost::new(format!("n{number}"), None)).collect();
    let mut run = HostsReport::new(names, options.clone(), true);
    for (at, &(ios, ns)) in hosts.iter().enumerate() {
        run.take_last(at, host_report(ios, ns, &options));
    }
    run.together()
}

#[test]
fn runs_on_many_hosts_are_compared_by_the_figures_of_all_hosts() {
    let directory = tempfile::tempdir().unwrap();
    let side = |name: &str, hosts: &[(u64, u64)]| {
        let path = directory.path().join(name);
        fs::write(&path, run_on(hosts).to_json()).unwrap();
        read_side(&path).unwrap()
    };
    let sides = [
        side("a.json", &[(3000, 1000), (1000, 1000)]),
        side("b.json", &[(1000, 1000), (1000, 9000), (0, 1000)]),
    ];
    let comparison = compare(&sides, 95.0);
    assert_eq!((comparison.jobs.len(), comparison.missing.len()), (1, 0), "{}", text(&comparison));
    let rows = &comparison.jobs[0];
    assert_eq!((rows.jobname.as_str(), rows.direction), ("a", "read"));
    let iops = rows.figures.iter().find(|row| row.figure == Figure::Iops).unwrap();
    assert_eq!(iops.values, [4000.0, 2000.0]);
    let hosts = comparison.differences.iter().find(|difference| difference.what == "hosts").unwrap();
    assert_eq!(hosts.values, ["n1, n2", "n1, n2, n3"]);
}

#[test]
fn thresholds_limit_the_figures_of_all_hosts() {
    let run = run_on(&[(900, 1000), (100, 8000)]);
    let exceeded = |text: &str| judge(&[Threshold::parse(text).unwrap()], &run)[0].is_exceeded();
    assert!(!exceeded("read.iops < 1000") && exceeded("read.iops < 1001"));
    // A tenth of all I/Os took 8 µs.
    assert!(!exceeded("read.clat.p90 > 2us") && exceeded("read.clat.p99 > 2us"));
}
