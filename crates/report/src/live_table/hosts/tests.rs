use ferrio_job::{JobSpec, ReadWrite};
use ferrio_plan::testing::{default_job, plan};
use ferrio_results::{JobResult, RunResult};
use ferrio_stats::DirectionRecorder;

use super::*;
use crate::model::RunReport;
use crate::text::tests::options;
use crate::{HostReport, ReportedHost};

/// A host whose job reads.
struct Host {
    recorder: DirectionRecorder,
    ms: u64,
}

impl Host {
    fn new() -> Self {
        Host { recorder: DirectionRecorder::new(true, true, true, true), ms: 0 }
    }

    /// It runs for another `ms`, with one read of 4 KiB for each of these latencies in us.
    fn does(&mut self, ms: u64, us: &[u64]) -> HostReport {
        for &us in us {
            (self.recorder.ios, self.recorder.bytes) = (self.recorder.ios + 1, self.recorder.bytes + 4096);
            self.recorder.record_synchronous(us * 1000);
        }
        self.ms += ms;
        let mut stats = JobStats { total_errors: self.ms / 1000, ..JobStats::default() };
        stats.directions[0] = self.recorder.finish(self.ms);
        let spec = JobSpec { rw: ReadWrite::Read, ..default_job("a") };
        let plan = plan([spec]);
        let jobs = vec![JobResult { start_ms: 5, stats, ..JobResult::default() }];
        let result = RunResult { jobs, ..RunResult::default() };
        let options = options(false);
        HostReport::new(&plan, &result, &options, &RunReport::new(&plan, &result, &options))
    }
}

fn two() -> (HostsReport, HostsRecorder, LiveTable) {
    let names = ["n1".to_owned(), "n2".to_owned()];
    let hosts = names.iter().map(|name| ReportedHost::new(name, None)).collect();
    let table = LiveTable::of_hosts(&names, Duration::from_secs(1));
    (HostsReport::new(hosts, options(false), false), HostsRecorder::new(2), table)
}

fn ms(at: [u64; 2]) -> [Duration; 2] {
    at.map(Duration::from_millis)
}

fn status(counts: &[(JobState, usize)], remaining: u64) -> LiveStatus {
    let mut status = serde_json::to_value(LiveStatus::default()).unwrap();
    status["counts"] = serde_json::to_value(counts).unwrap();
    status["remaining"] = remaining.into();
    serde_json::from_value(status).unwrap()
}

/// The rates of reads and the 99th percentiles in us of both hosts and of all.
fn last(table: &LiveTable) -> [(f64, Option<u64>); 3] {
    [&table.entries[0], &table.entries[1], &table.all].map(|entry| {
        let last = entry.history.back().unwrap();
        (last.iops[0], last.latency.map(|latency| latency.p99 / 1000))
    })
}

#[test]
fn each_host_has_the_rates_of_its_own_time_and_all_have_their_sum_and_all_latencies() {
    let (mut run, mut recorder, mut table) = two();
    let (mut fast, mut slow) = (Host::new(), Host::new());
    run.take_snapshot(0, fast.does(1000, &[100; 99]));
    run.take_snapshot(1, slow.does(500, &[4000; 1]));
    table.add_hosts(recorder.sample(&run, &ms([1000, 500])));
    // The 99th percentile of 99 reads of 100 us and one of 4 ms is that of all 100 together.
    assert_eq!(last(&table).map(|(rate, _)| rate), [99.0, 2.0, 101.0]);
    let [(_, fast_p99), (_, slow_p99), (_, all_p99)] = last(&table);
    // Percentiles are within 4.5 %.
    assert_eq!([fast_p99, all_p99], [Some(96); 2]);
    assert_eq!(slow_p99, Some(4000));
    run.take_snapshot(0, fast.does(1000, &[100; 10]));
    run.take_snapshot(1, slow.does(1000, &[4000; 10]));
    table.add_hosts(recorder.sample(&run, &ms([2000, 1500])));
    assert_eq!(last(&table).map(|(rate, _)| rate), [10.0, 10.0, 20.0]);
    assert_eq!(last(&table)[2].1, Some(4000));
    assert_eq!((table.directions, table.has_transactions), ([true, false, false], false));
    assert_eq!((table.entries[0].errors, table.entries[1].errors, table.all.errors), (2, 1, 3));
}

#[test]
fn a_host_whose_next_snapshot_is_not_there_keeps_its_rates_and_one_that_is_over_has_none() {
    let (mut run, mut recorder, mut table) = two();
    let (mut early, mut other) = (Host::new(), Host::new());
    run.take_snapshot(0, early.does(2000, &[100; 20]));
    run.take_snapshot(1, other.does(1000, &[100; 5]));
    table.add_hosts(recorder.sample(&run, &ms([2000, 1000])));
    run.take_snapshot(1, other.does(1000, &[100; 5]));
    table.add_hosts(recorder.sample(&run, &ms([2000, 2000])));
    assert_eq!(last(&table).map(|(rate, _)| rate), [10.0, 5.0, 15.0]);
    // Its errors are not counted twice.
    assert_eq!(table.entries[0].errors, 2);
    run.hosts[0].lost = Some("its network is gone".into());
    run.take_snapshot(1, other.does(1000, &[100; 5]));
    table.add_hosts(recorder.sample(&run, &ms([2000, 3000])));
    assert_eq!(last(&table).map(|(rate, _)| rate), [0.0, 5.0, 5.0]);
}

#[test]
fn states_and_times_of_hosts_add_up() {
    let (.., mut table) = two();
    assert_eq!((table.entries[1].host, table.entries[1].number), (Some(HostState::Connecting), 1));
    let at = Duration::from_secs(3);
    let running = status(&[(JobState::Running, 3), (JobState::Reaped, 1)], 9);
    table.set_host(0, HostState::Running, Some(&running), at);
    table.set_host(1, HostState::Running, Some(&status(&[(JobState::Ramp, 2)], 20)), at);
    assert_eq!(table.states, [(JobState::Running, 3), (JobState::Ramp, 2), (JobState::Reaped, 1)]);
    assert_eq!((table.all.state, table.all.in_state, table.all.jobs()), (JobState::Running, 3, 6));
    assert_eq!((table.all.left, table.elapsed), (Some(20), at));
    table.set_host(1, HostState::Lost, None, at);
    table.set_host(0, HostState::Ended, None, at);
    assert_eq!((table.states, table.all.left), (vec![(JobState::Reaped, 4)], None));
    assert_eq!((table.entries[1].host, table.all.state), (Some(HostState::Lost), JobState::Reaped));
}

#[test]
fn samples_are_whole_snapshots_and_rarer_with_many_hosts() {
    let ms = Duration::from_millis;
    assert_eq!(HostsRecorder::sample_interval(2, None), ms(1000));
    assert_eq!(HostsRecorder::sample_interval(1000, None), ms(4000));
    assert_eq!(HostsRecorder::sample_interval(2, Some(ms(300))), ms(1200));
    assert_eq!(HostsRecorder::sample_interval(2, Some(ms(5000))), ms(5000));
}
