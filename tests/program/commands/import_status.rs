//! `ferrio import innodb-status` and `postgres-status`: the job of a server's counters is one that `check` explains and that runs.

use std::fs;

use serde_json::Value;

use crate::support::TestDir;

const INNODB: [&str; 2] = [
    include_str!("../../../crates/dbstatus/src/testdata/mariadb_before.txt"),
    include_str!("../../../crates/dbstatus/src/testdata/mariadb_after.txt"),
];
const POSTGRES: [&str; 2] = [
    include_str!("../../../crates/dbstatus/src/testdata/postgres_before.csv"),
    include_str!("../../../crates/dbstatus/src/testdata/postgres_after.csv"),
];

/// Both snapshots in files, with a log and a pool that are small enough for a test.
fn written(dir: &TestDir, snapshots: [&str; 2]) {
    for (name, text) in ["before", "after"].into_iter().zip(snapshots) {
        let text = text.replace("268435456", "16777216").replace("134217728", "16777216");
        let text =
            text.replace("max_wal_size,1024,MB", "max_wal_size,16,MB").replace("16384,8kB", "1024,8kB");
        fs::write(dir.work().join(name), text).unwrap();
    }
}

/// The figures of a run of a job file.
fn figures(dir: &TestDir, job: &str) -> Value {
    let run = dir.ferrio(&["--output-format=json", job]).run().succeeded();
    let mut document: Value = serde_json::from_str(&run.stdout).unwrap();
    document["ferrio"]["databases"][0].take()
}

#[track_caller]
fn assert_near(database: &Value, path: &str, want: f64) {
    let found =
        database.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}: {database:#}"));
    assert!((found / want - 1.0).abs() < 0.1, "{path}: {found} and not {want}");
}

#[test]
fn the_job_of_innodb_does_what_the_counters_say() {
    let dir = TestDir::new();
    written(&dir, INNODB);
    let options = ["--size=32m", "--sessions=2", "--runtime=1", "-o", "bank.fio"];
    let words = [&["import", "innodb-status", "before", "after"], &options[..]].concat();
    let import = dir.ferrio(&words).run().succeeded();
    assert_eq!((import.stdout.as_str(), import.stderr.as_str()), ("", ""));
    let check = dir.ferrio(&["check", "bank.fio"]).run().succeeded();
    assert!(check.stdout.contains("about 23.62  page reads"), "{}", check.stdout);
    let database = figures(&dir, "bank.fio");
    assert_near(&database, "/io/data_reads/per_transaction", 23.62);
    assert_near(&database, "/io/data_writes/per_transaction", 6.19);
    assert!(database["steps"]["compute"]["lat_ns"]["mean"].as_f64().unwrap() > 1e5, "{database:#}");
    let relative = dir.ferrio(&["import", "innodb-status", "before"]).run().succeeded();
    assert!(relative.stdout.contains("\nworkload=innodb\n"), "{}", relative.stdout);
    assert!(relative.stderr.starts_with("note: there is one snapshot"), "{}", relative.stderr);
}

#[test]
fn the_job_of_postgresql_does_what_the_counters_say() {
    let dir = TestDir::new();
    written(&dir, POSTGRES);
    let options = ["--size=32m", "--sessions=2", "--runtime=1", "--transaction-cpu=200us"];
    let words = [&["import", "postgres-status", "before", "after"], &options[..]].concat();
    let import = dir.ferrio(&words).run().succeeded();
    fs::write(dir.work().join("bank.fio"), &import.stdout).unwrap();
    dir.ferrio(&["check", "bank.fio"]).run().succeeded();
    let database = figures(&dir, "bank.fio");
    assert_near(&database, "/io/data_reads/per_transaction", 15.65);
    assert_near(&database, "/io/log_writes/per_transaction", 1.0);
}

#[test]
fn what_cannot_be_imported_is_said_and_leaves_files_as_they_were() {
    let dir = TestDir::new();
    written(&dir, INNODB);
    fs::write(dir.work().join("bank.fio"), "old").unwrap();
    let refused = |words: &[&str]| {
        let words = [&["import", "innodb-status"], words].concat();
        dir.ferrio(&words).run().ended_with(1).stderr
    };
    let swapped = refused(&["after", "before", "-o", "bank.fio"]);
    let want = "error: cannot make a job of after and before: `Uptime` went from 1200 to 1193: the server was restarted";
    assert!(swapped.starts_with(want), "{swapped}");
    assert_eq!(dir.read("bank.fio"), "old");
    let itself = refused(&["before", "after", "-o", "before"]);
    assert!(itself.starts_with("error: before is the snapshot itself (before)\n"), "{itself}");
    assert!(refused(&["before", "before"]).starts_with("error: before is given twice\n"));
    fs::write(dir.work().join("empty"), "").unwrap();
    let empty = refused(&["empty"]);
    assert!(empty.contains("it has none of the variables and counters"), "{empty}");
    assert!(refused(&["missing"]).starts_with("error: cannot read missing: No such file"));
    let help = dir.ferrio(&["import", "postgres-status", "--help"]).run().succeeded();
    assert!(help.stdout.contains("SELECT * FROM pg_stat_wal"), "{}", help.stdout);
}
