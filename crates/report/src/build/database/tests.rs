use ferrio_job::Plan;
use ferrio_results::RunResult;

use crate::RunReport;
use crate::database::testing::{Session, change_load, cleaner, database_plan, database_run, innodb};
use crate::model::DatabaseReport;
use crate::text::tests::options;

fn databases(plan: &Plan, result: &RunResult) -> Vec<DatabaseReport> {
    RunReport::new(plan, result, &options(false)).ferrio.unwrap().databases
}

#[test]
fn figures_are_those_of_all_jobs_of_the_model() {
    let (plan, result) = database_run();
    let [bank] = &databases(&plan, &result)[..] else { panic!("one model") };
    assert_eq!((bank.jobname.as_str(), bank.groupid, bank.model.as_str()), ("bank", 0, "innodb"));
    assert_eq!((bank.sessions, bank.runtime, bank.transaction_rate), (2, 2000, None));
    let figures = &bank.figures;
    assert_eq!((figures.transactions, figures.tps, figures.lat_ns.samples), (400, 200.0, 400));
    assert_eq!((figures.written_back, figures.checkpoints, figures.full_pages), (400, 2, 0));
    assert_eq!((figures.pool_hit_share, figures.commits_per_sync), (None, Some(1.0)));
    // 3600 reads of 16 KiB; 402 writes to the log, 400 pages in two places.
    assert_eq!(figures.read_ios_share, Some(100.0 * 3600.0 / (3600.0 + 402.0 + 800.0)));
    let written = 402.0 * 4.0 + 800.0 * 16.0;
    assert_eq!(figures.read_bytes_share, Some(100.0 * 3600.0 * 16.0 / (3600.0 * 16.0 + written)));
    assert_eq!(figures.io.data_reads.per_transaction, 9.0);
    assert_eq!((figures.io.data_reads.iops, figures.io.data_reads.bw_bytes), (1800.0, 1800 << 14));
}

#[test]
fn steps_and_the_rest_add_up_to_transactions() {
    let (plan, result) = database_run();
    let figures = &databases(&plan, &result)[0].figures;
    let steps: Vec<_> = figures.steps.all().collect();
    let means: f64 = steps.iter().map(|(_, step)| step.lat_ns.mean).sum();
    // What follows the steps takes 10 µs.
    assert!((means + 10_000.0 - figures.lat_ns.mean).abs() < 1e-6, "{means} of {}", figures.lat_ns.mean);
    let shares: f64 = steps.iter().map(|(_, step)| step.share).sum();
    assert!((shares - 100.0 * means / figures.lat_ns.mean).abs() < 1e-9, "{shares}");
    let samples: Vec<u64> = steps.iter().map(|(_, step)| step.lat_ns.samples).collect();
    assert_eq!(samples, [400; 4], "no transaction computes");
}

#[test]
fn each_part_counts_over_its_own_time() {
    let (plan, result) = database_run();
    let io = &databases(&plan, &result)[0].figures.io;
    // 400 blocks of commits in 2 s, and two of checkpoints in 2.5 s.
    assert_eq!((io.log_writes.total_ios, io.log_writes.iops), (402, 200.8));
    assert_eq!((io.data_writes.iops, io.double_write_syncs.iops), (160.0, 160.0));
    assert_eq!((io.log_syncs.io_bytes, io.data_syncs.total_ios), (0, 402));
    assert_eq!(io.merge_reads, crate::model::DatabaseIoReport::default());
}

#[test]
fn what_a_job_did_in_its_ramp_does_not_count() {
    let (plan, mut result) = database_run();
    result.jobs[1].in_ramp = true;
    assert_eq!(databases(&plan, &result)[0].figures.transactions, 300);
    result.jobs.iter_mut().for_each(|job| job.in_ramp = true);
    let figures = &databases(&plan, &result)[0].figures;
    assert_eq!((figures.transactions, figures.tps, figures.read_ios_share), (0, 0.0, None));
    assert!(figures.lat_ns.percentile.is_empty());
}

#[test]
fn several_models_are_told_apart_and_those_without_a_report_are_left_out() {
    let (mut plan, mut result) = database_run();
    let mut other = database_plan("shop", &innodb());
    change_load(&mut other, |load| load.id = 2);
    plan.jobs.extend(other.jobs);
    result.jobs.extend([Session::default().does(5, [1; 4]).result(10), Session::default().result(10)]);
    result.jobs.push(cleaner(5, 0, 10));
    let names = |all: &[DatabaseReport]| -> Vec<(String, u64)> {
        all.iter().map(|one| (one.jobname.clone(), one.figures.transactions)).collect()
    };
    assert_eq!(names(&databases(&plan, &result)), [("bank".to_owned(), 400), ("shop".to_owned(), 5)]);
    plan.jobs[..3].iter_mut().for_each(|job| job.spec.measure.reported = false);
    assert_eq!(names(&databases(&plan, &result)), [("shop".to_owned(), 5)]);
}
