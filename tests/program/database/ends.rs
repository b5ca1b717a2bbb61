//! How runs of databases end while their jobs wait: for each other, for an arrival, or for a time.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{TestDir, number};

/// Interrupts a database once one of its intervals has shown so many transactions.
fn interrupted(options: &str, transactions: u64) -> Value {
    let dir = TestDir::new();
    let job = dir.job(&format!("[bank]\nnumjobs=4\nsize=1m\nlog_size=1m\nruntime=1h\n{options}"));
    let lines = dir.beside("lines");
    let option = format!("--interval-report=10ms:{}", lines.display());
    let mut running = dir.ferrio(&["--output-format=json", &option, &job]).start();
    let has_enough = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_default();
        let done = line.pointer("/database/transactions").and_then(Value::as_u64);
        done.is_some_and(|done| done >= transactions)
    };
    running
        .until("its transactions", || fs::read_to_string(&lines).unwrap_or_default().lines().any(has_enough));
    running.signal(Signal::SIGINT);
    let report = running.wait().ended_with(128).json();
    for job in report["jobs"].as_array().unwrap() {
        assert_eq!(number(job, "/error"), 0, "{options}");
    }
    report["ferrio"]["databases"][0].clone()
}

#[test]
fn an_interrupted_database_has_a_full_report() {
    for model in ["innodb", "postgres", "etcd", "rocksdb\ntable_size=64k\nwrite_back_batch=16"] {
        let database = interrupted(&format!("workload={model}\n"), 1);
        assert!(number(&database, "/transactions") > 0, "{model}");
        assert_eq!(number(&database, "/lat_ns/N"), number(&database, "/transactions"), "{model}");
    }
}

#[test]
fn a_signal_ends_sessions_that_wait_for_write_back() {
    // The cleaner has a hundred pages to write, one by one, for each transaction of a session.
    let options = "workload=innodb\ndirty_pages=0\npages_changed=100\nlog_size=64k\n";
    let wait = interrupted(options, 1)["steps"]["write_back_wait"].clone();
    assert!(wait["share"].as_f64().unwrap() > 20.0, "{wait:#}");
}

#[test]
fn a_signal_ends_the_wait_for_an_arrival() {
    // An arrival in an hour, on average.
    interrupted("workload=innodb\ntransaction_rate=0.0003\n", 0);
}

#[test]
fn the_end_of_the_time_ends_the_wait_for_an_arrival() {
    let dir = TestDir::new();
    let job = dir.job(
        "[bank]\nworkload=innodb\nnumjobs=4\nsize=1m\nlog_size=1m\nruntime=200ms\ntransaction_rate=0.0003\n",
    );
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    let codes: Vec<&Value> =
        report["ferrio"]["warnings"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert!(codes.iter().any(|code| *code == "no-transactions"), "{codes:?}");
}

#[test]
fn sessions_that_may_leave_nothing_dirty_all_wait_and_all_go_on() {
    let dir = TestDir::new();
    let job = dir.job(
        "[bank]\nworkload=innodb\nnumjobs=8\nsize=1m\nlog_size=1m\ntransactions=400\ndirty_pages=0\n\
         commit_sync=none\nwrite_back_sync=none\ndirect=0\ncheckpoint_log=0\n",
    );
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    let database = &report["ferrio"]["databases"][0];
    assert_eq!((number(database, "/transactions"), number(database, "/written_back")), (400, 400));
    // Each waits at least for the write of its own page, which takes more than a microsecond.
    let wait = &database["steps"]["write_back_wait"]["lat_ns"];
    assert_eq!(number(wait, "/N"), 400);
    assert!(number(wait, "/min") > 1000, "{wait:#}");
}
