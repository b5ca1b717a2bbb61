use std::time::Duration;

use ferrio_job::{CommitSync, Database, DatabaseModel, EngineKind, JobSpec, ReadWrite};
use ferrio_stats::Latency;

use crate::database::testing::{Session, change_load, cleaner, database_plan, innodb};
use crate::warnings::testing::{TestRun, disk, moving};

/// Ten seconds of a model on the disk, whose sessions did this.
fn run(database: &Database, sessions: [Session; 2]) -> TestRun {
    let mut run = TestRun::new();
    run.plan = database_plan("bank", database);
    run.result.jobs = sessions.into_iter().map(|session| session.result(10_000)).collect();
    run.result.jobs.push(cleaner(20, 0, 10_000));
    run.environment.places_of = vec![vec![0]; 3];
    run.plan.jobs.iter_mut().for_each(|job| {
        job.spec.engine = EngineKind::Psync;
        job.spec.measure.percentiles = vec![50.0, 99.0];
    });
    run
}

fn session(transactions: u64, us: [u64; 4]) -> Session {
    Session::default().does(transactions, us)
}

fn messages(run: &TestRun, code: &str) -> Vec<String> {
    run.warnings(code).into_iter().map(|warning| warning.message).collect()
}

#[test]
fn transactions_that_mostly_wait_for_write_back_have_a_warning() {
    let waiting = run(&innodb(), [session(10, [900, 20, 400, 5000]), session(10, [900, 20, 400, 5000])]);
    let want = "transactions of 2 jobs (bank) waited for write-back for 79 % of their time";
    assert_eq!(messages(&waiting, "write-back-limits"), [want]);
    let reading = run(&innodb(), [session(10, [900, 20, 400, 1000]), session(10, [900, 20, 400, 1000])]);
    assert!(messages(&reading, "write-back-limits").is_empty());
    let mut short = waiting;
    short.result.elapsed = Duration::from_millis(900);
    assert!(messages(&short, "write-back-limits").is_empty());
}

#[test]
fn what_is_written_back_after_the_last_transaction_has_a_warning_if_it_takes_long() {
    let after = |ms: u64, transactions| {
        let mut run = run(&innodb(), [session(transactions, [900, 20, 400, 0]), session(0, [0; 4])]);
        run.result.jobs[2].measured = Duration::from_millis(10_000 + ms);
        messages(&run, "write-back-afterwards")
    };
    let want = "transactions of 2 jobs (bank) took 10.0 s, and writing back what they changed 2.5 s more: with that, 80.0 transactions per second";
    assert_eq!(after(2500, 1000), [want]);
    assert!(after(999, 1000).is_empty() && after(0, 1000).is_empty() && after(2500, 0).is_empty());
}

#[test]
fn a_database_without_a_transaction_has_a_warning() {
    let done = |transactions, ramp: u64| {
        let mut run = run(&innodb(), [session(transactions, [900, 20, 400, 0]), session(0, [0; 4])]);
        run.result.jobs.iter_mut().for_each(|job| job.start_ms = 1);
        run.plan.jobs.iter_mut().for_each(|job| job.spec.limits.ramp_time = Duration::from_secs(ramp));
        run.warnings("no-transactions")
    };
    let found = done(0, 3);
    assert_eq!(found[0].message, "no transaction of 2 jobs (bank) ended in the time that counts");
    assert!(found[0].help.contains("shorten `ramp_time`"), "{}", found[0].help);
    assert_eq!(done(0, 0)[0].help, "let it run longer");
    assert!(done(1, 3).is_empty());
}

#[test]
fn fewer_transactions_than_arrive_have_a_warning() {
    let at = |rate: f64, done: u64| {
        let mut run = run(&innodb(), [session(done / 2, [1; 4]), session(done / 2, [1; 4])]);
        change_load(&mut run.plan, |load| load.rate = Some(rate));
        messages(&run, "rate-not-held")
    };
    let want = "2 jobs (bank) did not hold the rate: 80 of 100 transactions per second (80.0 %)";
    assert_eq!(at(100.0, 800), [want]);
    assert!(at(100.0, 1000).is_empty() && at(100.0, 880).is_empty(), "120 missing of 1000 may be chance");
    assert!(at(1.0, 6).is_empty(), "two sessions and chance");
}

#[test]
fn a_high_percentile_of_few_transactions_has_a_warning() {
    let few = |transactions| {
        let run = run(&innodb(), [session(transactions, [900, 20, 400, 0]), session(0, [0; 4])]);
        messages(&run, "few-ios")
    };
    let want = "2 jobs (bank): the 99.9th percentile of transaction latencies is based on 999 samples and needs 1000";
    // The table has it whatever the list is.
    assert_eq!(few(999).as_slice(), [want]);
    assert!(few(1000).is_empty() && few(0).is_empty());
}

#[test]
fn syncs_that_no_device_can_do_have_a_warning() {
    let with = |ns: u64, syncs: u64, database: &Database| {
        let mut run = run(database, [session(200, [900, 20, 400, 0]), session(200, [900, 20, 400, 0])]);
        let mut calls = Latency::new();
        (0..syncs).for_each(|_| calls.record(ns));
        run.result.jobs[0].stats.sync.latency = Some(Box::new(calls));
        run
    };
    let want = "half of the 200 syncs of bank took 300 ns or less: they wrote nothing to a device";
    assert_eq!(messages(&with(300, 200, &innodb()), "cheap-syncs"), [want]);
    assert!(messages(&with(20_000, 200, &innodb()), "cheap-syncs").is_empty());
    assert!(messages(&with(300, 99, &innodb()), "cheap-syncs").is_empty());
    // Direct writes are on the device without a sync, if it has no cache of its own.
    let mut direct = innodb();
    direct.log.direct = true;
    assert!(messages(&with(300, 200, &direct), "cheap-syncs").is_empty());
    let mut in_memory = with(300, 200, &innodb());
    in_memory.environment.places[0].file_system = Some("tmpfs".to_owned());
    assert!(messages(&in_memory, "cheap-syncs").is_empty());
    let mut nowhere = with(300, 200, &innodb());
    nowhere.environment.places_of = vec![Vec::new(); 3];
    assert!(messages(&nowhere, "cheap-syncs").is_empty());
}

#[test]
fn cheap_syncs_are_found_in_any_job() {
    let found = |change: fn(&mut JobSpec)| {
        let mut stats = moving(0, 4 << 20);
        stats.sync.ios = 200;
        (0..200).for_each(|_| stats.sync.record(500));
        let synced = |spec: &mut JobSpec| {
            (spec.engine, spec.rw, spec.durability.fsync) = (EngineKind::Psync, ReadWrite::Write, 1);
            change(spec);
        };
        TestRun::new().disk(disk(0, 4 << 20)).on_disk("a", stats, synced).warnings("cheap-syncs").len()
    };
    assert_eq!(found(|_| {}), 1);
    assert_eq!(found(|spec| spec.opening.direct = true), 0);
    assert_eq!(found(|spec| spec.durability.sync_file_range.every = 1), 0);
}

#[test]
fn pages_that_no_checkpoint_has_synced_are_in_memory() {
    let mut postgres = innodb();
    (postgres.model, postgres.direct) = (DatabaseModel::Postgres, false);
    let after = |syncs, written| {
        let mut run = run(&postgres, [session(100, [900, 20, 400, 0]), session(100, [900, 20, 400, 0])]);
        run.result.jobs[2] = cleaner(1000, 0, 10_000);
        run.result.jobs[2].stats.sync.ios = syncs;
        run.disk(disk(64 << 20, written)).warnings("buffered-writes")
    };
    let found = after(0, 1 << 20);
    // The log is synced by commits.
    let message = "bank.cleaner wrote 31.2MiB, but only 224KiB of it had reached vda at the end";
    assert_eq!(found.iter().map(|one| one.message.as_str()).collect::<Vec<_>>(), [message]);
    assert!(found[0].help.contains("checkpoint_interval"), "{}", found[0].help);
    assert!(after(1, 1 << 20).is_empty() && after(0, 64 << 20).is_empty());
}

#[test]
fn logs_that_commits_do_not_sync_have_a_warning() {
    let with = |sync: CommitSync, model: DatabaseModel| {
        let mut postgres = innodb();
        (postgres.model, postgres.direct, postgres.commit.sync) = (model, false, sync);
        let mut run = run(&postgres, [session(100, [900, 20, 400, 0]), session(100, [900, 20, 400, 0])]);
        run.result.jobs[2].stats.sync.ios = 1;
        run.disk(disk(64 << 20, 0)).warnings("buffered-writes")
    };
    let found = with(CommitSync::None, DatabaseModel::Postgres);
    assert_eq!(found.len(), 1);
    let message = "commits of 2 jobs (bank) do not sync the log: 800KiB of log writes may still be in memory";
    assert_eq!(found[0].message, message);
    assert_eq!(found[0].help, "to make commits durable, use commit_sync=fdatasync");
    assert!(with(CommitSync::Dsync, DatabaseModel::Postgres).is_empty());
    assert!(with(CommitSync::Fdatasync, DatabaseModel::Postgres).is_empty());
}

#[test]
fn what_a_database_writes_beside_its_data_is_not_the_load_of_others() {
    let run = run(&innodb(), [session(100, [900, 20, 400, 0]), session(100, [900, 20, 400, 0])]);
    let run = run.disk(disk(64 << 20, 256 << 20));
    assert!(run.warnings("other-disk-load").is_empty());
}

#[test]
fn a_good_run_of_a_database_has_no_warning() {
    let mut run = run(&innodb(), [session(600, [900, 20, 400, 0]), session(600, [900, 20, 400, 0])]);
    run.plan.jobs.iter_mut().for_each(|job| job.spec.opening.direct = true);
    let run = run.disk(disk((1200 * 9) << 14, 8 << 20));
    assert_eq!(run.all_warnings(), []);
}
