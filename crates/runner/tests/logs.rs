//! Log rows on their way out of a run: none is lost when the writer is slow, and a writer that is gone stops nothing.

use std::path::PathBuf;
use std::sync::mpsc::sync_channel;

use ferrio_plan::{EngineKind, FileKind, FileSpec, JobSpec, Plan, PlannedJob};
use ferrio_runner::logs::LogBatch;
use ferrio_runner::{RunOptions, run};

/// I/Os of the job: several batches and a rest.
const IOS: u64 = 10_000;

fn plan() -> Plan {
    let mut spec = JobSpec::bare("a");
    let size = IOS * 4096;
    spec.engine = EngineKind::Null;
    spec.logs.lat = Some("a".into());
    spec.limits.size = size;
    spec.files = vec![FileSpec {
        path: PathBuf::from("a"),
        kind: FileKind::Pretend,
        offset: 0,
        size,
        real_size: size,
        found: None,
        extend: false,
    }];
    Plan { jobs: vec![PlannedJob { spec, setup_error: None }], ..Plan::default() }
}

#[test]
fn every_io_is_logged_in_order_even_through_a_queue_without_room() {
    let (sender, batches) = sync_channel(0);
    let options = RunOptions { progress: false, logs: Some(sender), ..RunOptions::default() };
    let reader = std::thread::spawn(move || batches.iter().collect::<Vec<_>>());
    let result = run(&plan(), &options, &mut |_| {});
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
    let (sender, batches) = sync_channel(0);
    drop(batches);
    let result = run(
        &plan(),
        &RunOptions { progress: false, logs: Some(sender), ..RunOptions::default() },
        &mut |_| {},
    );
    assert_eq!((result.jobs[0].stats.directions[0].ios, result.jobs[0].error.as_ref()), (IOS, None));
}
