//! Log rows on their way out of a run: none is lost when the writer is slow, and a writer that is gone stops nothing.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ferrio_job::Plan;
use ferrio_logs::{LogBatch, log_queue};
use ferrio_plan::testing;
use ferrio_runner::{RunOptions, run};

/// I/Os of the job: several batches and a rest.
const IOS: u64 = 10_000;

fn plan() -> Plan {
    let mut spec = testing::null_job("a", IOS * 4096);
    spec.logs.set_prefix("write_lat_log", Some("a"));
    testing::plan([spec])
}

#[test]
fn every_io_is_logged_in_order_even_through_a_queue_without_room() {
    let (sender, batches) = log_queue(0, Duration::from_secs(3600));
    let options = RunOptions { logs: Some(sender), ..RunOptions::default() };
    let reader = std::thread::spawn(move || batches.collect::<Vec<_>>());
    let result = run(Box::leak(Box::new(plan())), &options, &mut |_| {});
    drop(options);
    let mut batches = reader.join().unwrap();
    let time_ms = result.jobs[0].stats.job_runtime_ms;
    assert_eq!(batches.pop(), Some(LogBatch::Ended { job: 0, time_ms }), "the end comes last");
    let mut offsets = Vec::new();
    for batch in batches {
        let LogBatch::Ios { job: 0, samples } = batch else { panic!("only I/Os are logged") };
        offsets.extend(samples.iter().map(|sample| sample.offset));
    }
    assert_eq!(offsets, (0..IOS).map(|i| i * 4096).collect::<Vec<_>>());
}

#[test]
fn a_writer_that_is_gone_stops_no_job() {
    let (sender, batches) = log_queue(0, Duration::from_secs(3600));
    drop(batches);
    let result = run(
        Box::leak(Box::new(plan())),
        &RunOptions { logs: Some(sender), ..RunOptions::default() },
        &mut |_| {},
    );
    assert_eq!((result.jobs[0].stats.directions[0].ios, result.jobs[0].error.as_ref()), (IOS, None));
}

#[test]
fn the_time_by_another_clock_is_told_before_the_first_io() {
    let mut plan = plan();
    plan.jobs[0].spec.logs.epoch_clock = Some(0);
    let (sender, batches) = log_queue(64, Duration::from_secs(3600));
    let options = RunOptions { logs: Some(sender), ..RunOptions::default() };
    let before = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let reader = std::thread::spawn(move || batches.collect::<Vec<_>>());
    run(Box::leak(Box::new(plan)), &options, &mut |_| {});
    drop(options);
    let Some(&LogBatch::Began { job: 0, epoch_ms }) = reader.join().unwrap().first() else {
        panic!("no epoch")
    };
    let after = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    assert!((before..=after).contains(&epoch_ms));
}

#[test]
fn a_job_whose_logs_are_all_averaged_hands_no_single_io_over() {
    let mut plan = plan();
    let logs = &mut plan.jobs[0].spec.logs;
    logs.set_prefix("write_bw_log", Some("a"));
    logs.set_prefix("write_lat_log", None);
    logs.avg_msec = 100;
    let (sender, batches) = log_queue(64, Duration::from_secs(3600));
    let options = RunOptions { logs: Some(sender), ..RunOptions::default() };
    let reader = std::thread::spawn(move || batches.collect::<Vec<_>>());
    run(Box::leak(Box::new(plan)), &options, &mut |_| {});
    drop(options);
    assert!(reader.join().unwrap().iter().all(|batch| !matches!(batch, LogBatch::Ios { .. })));
}
