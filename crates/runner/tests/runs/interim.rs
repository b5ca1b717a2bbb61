//! Reports of a run that goes on.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use ferrio_job::JobSpec;
use ferrio_results::{JobState, RunEvent, RunResult};
use ferrio_runner::{RunOptions, Trigger, run};

use crate::support::{bytes, endless, null, plan, timed};

/// Runs the jobs with a report every few ms, each of which is shown to `look`, until it has found `wanted` of them good. Then the run
/// is ended.
///
/// On a busy machine a report may come before a job had a CPU to answer.
fn watched(specs: Vec<JobSpec>, wanted: usize, look: &mut dyn FnMut(&RunResult) -> bool) -> RunResult {
    let dir = tempfile::tempdir().unwrap();
    let end = dir.path().join("end");
    let options = RunOptions {
        status_interval: Some(Duration::from_millis(5)),
        trigger: Some(Trigger { file: Some(end.clone()), ..Trigger::default() }),
        ..RunOptions::default()
    };
    let (mut good, mut failed) = (0, None);
    let result = run(Box::leak(Box::new(plan(specs))), &options, &mut |event| {
        if let RunEvent::Interim(result) = event {
            match catch_unwind(AssertUnwindSafe(|| look(result))) {
                Ok(looked) => good += usize::from(looked),
                Err(panic) => failed = failed.take().or(Some(panic)),
            }
            if good == wanted || failed.is_some() {
                std::fs::write(&end, "").unwrap();
            }
        }
    });
    // Not before the jobs have ended.
    failed.map_or(result, |panic| resume_unwind(panic))
}

fn counts(result: &RunResult, job: usize) -> (u64, u64) {
    let read = &result.jobs[job].stats.directions[0];
    (read.ios, read.clat.as_ref().map_or(0, |clat| clat.count()))
}

#[test]
fn each_report_has_a_latency_for_every_io_and_none_takes_anything_back() {
    let mut before = [(0, 0); 2];
    let mut good = [0; 2];
    let result = watched(vec![endless("a"), endless("b")], 5, &mut |result| {
        for (job, before) in before.iter_mut().enumerate() {
            let now = counts(result, job);
            assert!(now.0 >= before.0 && now.1 >= before.1);
            *before = now;
        }
        let answered = before.iter().all(|(ios, latencies)| ios == latencies && *ios > 0);
        let grew = answered && before.iter().zip(good).all(|(now, good)| now.0 > good);
        if grew {
            good = before.map(|(ios, _)| ios);
        }
        grew
    });
    for (job, before) in before.into_iter().enumerate() {
        assert!(counts(&result, job) >= before);
        assert!(bytes(&result.jobs[job]) > 0);
    }
    assert!(result.progress.is_none());
}

#[test]
fn ended_jobs_show_their_last_figures_and_waiting_ones_none() {
    let mut first = null("first");
    first.limits.size = 1 << 16;
    first.files[0].size = 1 << 16;
    let mut behind = null("behind");
    behind.stonewall = true;
    let mut last = 0;
    let result = watched(vec![first, endless("a"), behind], 10, &mut |result| {
        let progress = result.progress.as_ref().unwrap();
        assert!(matches!(progress.jobs[2].state, JobState::NotCreated | JobState::Reaped));
        assert_eq!((result.jobs[2].start_ms, bytes(&result.jobs[2])), (0, 0));
        last = bytes(&result.jobs[0]);
        last > 0
    });
    assert_eq!((last, bytes(&result.jobs[0])), (1 << 16, 1 << 16));
}

#[test]
fn a_job_that_waits_answers_meanwhile() {
    // One I/O, then a pause of an hour.
    let mut thinking = endless("thinking");
    (thinking.think.time, thinking.think.blocks) = (Duration::from_secs(3600), Some(1));
    let mut limited = endless("limited");
    limited.rates.iops.0[0] = 1;
    watched(vec![thinking, limited, timed("short", 1)], 2, &mut |result| {
        let (thinks, waits) = (counts(result, 0), counts(result, 1));
        thinks == (1, 1) && waits.0 >= 1 && waits.0 == waits.1
    });
}
