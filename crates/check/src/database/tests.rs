use crate::model::{Certainty, CheckedDatabase, CheckedJob, Report};
use ferrio_plan::testing::{jobs_of, plan_of_jobs};

use crate::testing::facts;

fn report(model: &str, options: &str) -> Report {
    let text = format!("[bank]\nworkload={model}\nsize=64m\nlog_size=4m\nruntime=10\n{options}");
    let set = jobs_of(&text);
    let plan = plan_of_jobs(&set).unwrap();
    crate::check(&set, &plan, &facts(&plan), None)
}

fn jobs(model: &str, options: &str) -> Vec<CheckedJob> {
    report(model, options).jobs
}

fn database(model: &str, options: &str) -> CheckedDatabase {
    jobs(model, options)[0].database.clone().unwrap()
}

/// The I/Os of a transaction as `(what, number, bytes)`.
fn ios(database: &CheckedDatabase) -> Vec<(&'static str, f64, f64)> {
    database.per_transaction.iter().map(|io| (io.what, io.ios, io.bytes)).collect()
}

#[test]
fn the_defaults_of_innodb_read_three_of_four_times() {
    let innodb = database("innodb", "");
    let page = 16384.0;
    let want = [
        ("page reads", 9.0, 9.0 * page),
        ("log writes", 1.0, 4096.0),
        ("log syncs", 1.0, 0.0),
        ("double writes", 1.0, page),
        ("double-write syncs", 1.0, 0.0),
        ("page writes", 1.0, page),
        ("data syncs", 1.0, 0.0),
    ];
    assert_eq!(ios(&innodb), want);
    assert_eq!((innodb.read_share.ios, innodb.read_share.bytes), (0.75, 0.8));
    assert_eq!(innodb.transactions_per_log_lap, Some(1024.0));
    let checkpoints = innodb.checkpoints.unwrap();
    assert_eq!((checkpoints.log_bytes, checkpoints.transactions), (Some(2 << 20), Some(512.0)));
    let pressure = innodb.back_pressure.unwrap();
    assert_eq!((pressure.dirty_pages, pressure.bytes), (Some(256), 4 << 20));
    let files: Vec<_> = innodb.files.iter().map(|files| (files.kind, files.bytes, files.direct)).collect();
    assert_eq!(files, [("data", 64 << 20, true), ("log", 4 << 20, false), ("double-write", 2 << 20, true)]);
}

#[test]
fn batches_divide_the_double_writes() {
    let innodb = database("innodb", "page_reads=6\nwrite_back_batch=64\ngroup_commit=8\n");
    let all = ios(&innodb);
    assert_eq!(all[2], ("log syncs", 1.0 / 8.0, 0.0));
    assert_eq!(innodb.per_transaction[2].bound, Certainty::AtLeast);
    assert_eq!(all[3], ("double writes", 1.0 / 64.0, 16384.0));
    assert_eq!(all[6], ("data syncs", 1.0 / 64.0, 0.0));
    assert!((innodb.read_share.ios - 0.748).abs() < 0.001, "{}", innodb.read_share.ios);
}

#[test]
fn no_more_transactions_share_a_sync_than_there_are_sessions() {
    let syncs = |options: &str| {
        let all = database("innodb", options).per_transaction;
        all.iter().find(|io| io.what == "log syncs").map(|io| (io.ios, io.bound, io.formula))
    };
    let want = |syncs, formula| Some((syncs, Certainty::AtLeast, formula));
    assert_eq!(syncs("numjobs=8\ngroup_commit=64\n"), want(0.125, "1/min(g, T)"));
    assert_eq!(syncs("numjobs=8\ngroup_commit=4\n"), want(0.25, "1/g"));
    assert_eq!(syncs("numjobs=8\ngroup_commit=0\n"), want(0.125, "1/T, all that wait share a sync"));
    assert_eq!(syncs("numjobs=1\ngroup_commit=64\n"), Some((1.0, Certainty::Exact, "1/min(g, T)")));
    assert_eq!(syncs("commit_sync=dsync\n"), None);
    assert_eq!(syncs("commit_sync=none\n"), None);
}

#[test]
fn whole_pages_in_the_log_make_the_shares_bounds() {
    let postgres = database("postgres", "");
    assert_eq!(postgres.read_share.bound, Certainty::AtMost);
    let bounds = (postgres.volume.read_bound, postgres.volume.write_bound);
    assert_eq!(bounds, (Certainty::Exact, Certainty::AtLeast));
    // At most, each changed page is in the log.
    let sessions = jobs("postgres", "transactions=100\n").remove(0).volume;
    assert_eq!((sessions.write, sessions.certainty), (Some(100 * 2 * 8192), Certainty::AtMost));
    assert_eq!(database("postgres", "full_page_writes=0\n").read_share.bound, Certainty::Exact);
}

#[test]
fn a_database_without_reads_has_no_share_of_them() {
    let report = report("etcd", "transactions=1\n");
    let etcd = report.jobs[0].database.clone().unwrap();
    assert!(etcd.per_transaction.iter().all(|io| io.what != "page reads"));
    assert!(etcd.read_share.ios.is_sign_positive() && etcd.read_share.bytes.is_sign_positive());
    let text = crate::text(&report, false);
    assert!(text.contains("  no reads\n") && !text.contains("-0"), "{text}");
    assert!(text.contains("1  log write  ") && text.contains("  1 transaction writes "), "{text}");
}

#[test]
fn what_is_found_in_a_database_fits_a_database() {
    let found = |model: &str, options: &str| {
        let found = report(model, options).risks.into_iter();
        found.map(|risk| (risk.code, risk.jobs.join(","), risk.advice)).collect::<Vec<_>>()
    };
    let of = |code: &'static str, model: &str, options: &str| {
        found(model, options).into_iter().filter(|(found, ..)| *found == code).collect::<Vec<_>>()
    };
    let none = of("buffered-writes", "postgres", "commit_sync=none\nfull_page_writes=0\n");
    assert_eq!(
        none,
        [(
            "buffered-writes",
            "bank".to_owned(),
            "to make commits durable, use commit_sync=fdatasync".to_owned()
        )]
    );
    assert_eq!(of("buffered-writes", "postgres", "commit_sync=dsync\n"), []);
    let few = of("few-ios", "innodb", "transactions=100\n");
    assert_eq!(few.len(), 1);
    assert_eq!(few[0].1, "bank");
    assert!(few[0].2.ends_with("run longer or raise `transactions`"), "{few:?}");
    assert_eq!(of("few-ios", "innodb", "transactions=1000\n"), []);
    let short = of("short-run", "innodb", "runtime=100ms\n");
    assert_eq!(short.iter().map(|(_, jobs, _)| jobs.as_str()).collect::<Vec<_>>(), ["bank"]);
    let crowded = of("more-jobs-than-cpus", "postgres", "numjobs=600\n");
    assert!(crowded[0].2.ends_with("use fewer sessions (`numjobs`)"), "{crowded:?}");
}

#[test]
fn files_are_listed_by_what_they_are_for() {
    let text = crate::text(&report("innodb", "nrfiles=2\nsize=8m\n"), false);
    assert!(text.contains("  bank.data.0 .. bank.data.1 (2 files), 4MiB"), "{text}");
    assert!(text.contains("  bank.log, 4MiB") && text.contains("  bank.doublewrite, 2MiB"), "{text}");
}

#[test]
fn a_pool_leaves_the_share_of_pages_that_it_lacks() {
    let reads = |options: &str| {
        let innodb = database("innodb", options);
        (innodb.per_transaction[0].ios, innodb.per_transaction[0].bound)
    };
    assert_eq!(reads("buffer_pool=16m\npages_used=20\n"), (15.0, Certainty::About));
    assert_eq!(
        reads("buffer_pool=16m\npages_used=20\nrandom_distribution=zipf\n"),
        (15.0, Certainty::AtMost)
    );
    // The pool merges changes.
    let writes = |options: &str| {
        let all = database("innodb", options).per_transaction;
        let of = |what| all.iter().find(|io| io.what == what).map(|io| (io.ios, io.bound));
        (of("page writes"), of("double writes"))
    };
    let (at_most, about) = (Some((1.0, Certainty::AtMost)), Some((1.0, Certainty::About)));
    assert_eq!(writes("buffer_pool=16m\n"), (at_most, at_most));
    assert_eq!(writes("buffer_pool=16m\nwrite_back_interval=1s\n"), (at_most, about));
    let exact = Some((1.0, Certainty::Exact));
    assert_eq!(writes(""), (exact, exact));
    // A checkpoint ends a batch, which changes the number of writes and no byte.
    let half = |bound| Some((0.5, bound));
    assert_eq!(writes("write_back_batch=2\n"), (exact, half(Certainty::AtLeast)));
    assert_eq!(writes("write_back_batch=2\ncheckpoint_log=0\n"), (exact, half(Certainty::Exact)));
    let volume = database("innodb", "write_back_batch=2\ntransactions=10\n").volume;
    assert_eq!(volume.write_bound, Certainty::Exact);
}

#[test]
fn tables_are_written_as_often_as_the_amplification_says() {
    let rocksdb =
        database("rocksdb", "log_size=12m\ntable_size=4m\nwrite_back_batch=16\nwrite_amplification=5\n");
    let all = ios(&rocksdb);
    assert_eq!(all[2], ("table writes", 1024.0 / 65536.0, 1024.0));
    assert_eq!(all[3], ("merge reads", 4096.0 / 65536.0, 4096.0));
    assert_eq!(all[4], ("merge writes", 4096.0 / 65536.0, 4096.0));
    assert_eq!(all[5], ("table syncs", 5.0 * 1024.0 / (4 << 20) as f64, 0.0));
    assert_eq!(rocksdb.back_pressure.unwrap().waiting_tables, Some(2));
    assert_eq!(rocksdb.checkpoints, None);
}

#[test]
fn the_volume_is_that_of_the_transactions() {
    let jobs = jobs("innodb", "transactions=100\nruntime=0\nnumjobs=3\n");
    let [sessions, cleaner] = &jobs[..] else { panic!("two jobs") };
    let volume = sessions.volume;
    assert_eq!(
        (volume.read, volume.write, volume.certainty),
        (Some(100 * 9 * 16384), Some(100 * 4096), Certainty::Exact)
    );
    assert_eq!((cleaner.volume.read, cleaner.volume.write), (Some(0), Some(100 * 2 * 16384)));
    assert_eq!(cleaner.background_of.as_deref(), Some("bank"));
    let why = sessions.time.unbounded_because.as_deref();
    assert_eq!(why, Some("job bank ends when 100 transactions are done: no runtime"));
    let timed = database("innodb", "").volume;
    assert_eq!((timed.transactions, timed.is_expected, timed.read), (1000, false, 1000 * 9 * 16384));
    let arriving = database("innodb", "transaction_rate=20\n").volume;
    assert_eq!((arriving.transactions, arriving.is_expected), (200, true));
}

#[test]
fn the_depth_of_the_cleaner_is_what_its_buffers_have_room_for() {
    let options = "ioengine=libaio\nwrite_back_batch=512\ndouble_write_size=8m\ndirty_pages=1000\n";
    let depths: Vec<_> = jobs("innodb", options).iter().map(|job| job.iodepth).collect();
    assert_eq!(depths, [1, 8]);
}

#[test]
fn sessions_that_share_files_on_purpose_are_no_risk() {
    let report = report("etcd", "numjobs=4\n");
    let codes: Vec<_> = report.risks.iter().map(|risk| risk.code).collect();
    assert!(!codes.contains(&"shared-writers") && !codes.contains(&"buffered-writes"), "{codes:?}");
}

#[test]
fn the_text_explains_a_transaction() {
    let text = crate::text(&report("postgres", "numjobs=8\ntransactions=5000\n"), false);
    let of_jobs = text.split("\nplaces\n").next().unwrap();
    insta::assert_snapshot!(of_jobs);
}
