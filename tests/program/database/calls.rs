//! What models of databases ask of the kernel: calls and bytes per transaction and file, as strace sees them, against the formulas of
//! docs/database.md.

use std::collections::BTreeMap;
use std::fs;

use crate::support::{FERRIO, TestDir, installed};

/// The calls of a run by name and file.
#[derive(Debug, Default)]
struct Calls {
    /// Number, and bytes that were moved.
    counts: BTreeMap<(String, String), (u64, u64)>,
    /// Flags by file.
    opened: BTreeMap<String, String>,
}

impl Calls {
    /// Those of a job file whose files are there already, so that nothing is laid out.
    fn of(job: &str) -> Self {
        let dir = TestDir::new();
        let job = dir.job(job);
        dir.ferrio(&["--create_only=1", &job]).run().succeeded();
        let traces = dir.beside("traces");
        fs::create_dir(&traces).unwrap();
        // A file for each thread: no line is torn by those of another one.
        let (trace, calls) = (traces.join("t"), "--trace=pread64,pwrite64,fsync,fdatasync,openat");
        let own = ["-ff", "-y", "-s0", "-o", trace.to_str().unwrap(), calls];
        let words = [&own[..], &[FERRIO, &job]].concat();
        dir.program(installed("strace"), &words).run().succeeded();
        let mut calls = Calls::default();
        for trace in fs::read_dir(&traces).unwrap() {
            let text = fs::read_to_string(trace.unwrap().path()).unwrap();
            text.lines().for_each(|line| calls.add(line));
        }
        calls
    }

    /// Adds a line such as `pread64(7</tmp/bank.data>, ""..., 16384, 0) = 16384`.
    fn add(&mut self, line: &str) {
        let Some((call, result)) = line.rsplit_once(" = ") else { return };
        let (name, arguments) = call.split_once('(').unwrap();
        if name == "openat" {
            let mut parts = arguments.split('"').skip(1);
            let (path, flags) = (parts.next().unwrap(), parts.next().unwrap());
            self.opened.insert(file_name(path), flags.to_owned());
            return;
        }
        let path = arguments.split(['<', '>']).nth(1).unwrap();
        let moved: u64 = result.trim().parse().unwrap_or_else(|_| panic!("{line}"));
        let count = self.counts.entry((name.to_owned(), file_name(path))).or_default();
        count.0 += 1;
        count.1 += moved;
    }

    /// Number and bytes of a call to a file.
    fn of_file(&self, name: &str, file: &str) -> (u64, u64) {
        self.counts.get(&(name.to_owned(), file.to_owned())).copied().unwrap_or_default()
    }

    /// Whether a file was opened with this flag.
    fn has_flag(&self, file: &str, flag: &str) -> bool {
        self.opened[file].contains(flag)
    }
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

/// 64 transactions of 4 sessions.
fn bank(model: &str, options: &str) -> Calls {
    Calls::of(&format!("[bank]\nworkload={model}\nnumjobs=4\ntransactions=64\n{options}"))
}

#[test]
fn innodb_reads_appends_syncs_and_writes_twice_as_its_parameters_say() {
    needs!("strace");
    let calls = bank(
        "innodb",
        "size=4m\nlog_size=1m\npage_reads=3\nlog_appends=2\npages_changed=2\nwrite_back_batch=8\ncheckpoint_log=0\n",
    );
    assert_eq!(calls.of_file("pread64", "bank.data"), (3 * 64, 3 * 64 * 16384));
    assert_eq!(calls.of_file("pwrite64", "bank.log"), (2 * 64, 2 * 64 * 4096));
    assert_eq!(calls.of_file("fsync", "bank.log").0, 64, "each commit has its own");
    assert_eq!(calls.of_file("pwrite64", "bank.doublewrite"), (2 * 64 / 8, 2 * 64 * 16384));
    assert_eq!(calls.of_file("fsync", "bank.doublewrite").0, 2 * 64 / 8);
    assert_eq!(calls.of_file("pwrite64", "bank.data"), (2 * 64, 2 * 64 * 16384));
    assert_eq!(calls.of_file("fsync", "bank.data").0, 2 * 64 / 8);
    assert!(calls.has_flag("bank.data", "O_DIRECT") && calls.has_flag("bank.doublewrite", "O_DIRECT"));
    assert!(!calls.has_flag("bank.log", "O_DIRECT") && !calls.has_flag("bank.log", "O_DSYNC"));
}

#[test]
fn postgres_puts_each_page_into_the_log_once_and_syncs_data_at_checkpoints_only() {
    needs!("strace");
    // There is one page: its first change is in the log as a whole.
    let calls = bank(
        "postgres",
        "size=8k\nlog_size=2m\npage_reads=1\ncheckpoint_log=0\ncheckpoint_interval=0\nwrite_back_interval=0\nwrite_back_batch=16\n",
    );
    assert_eq!(calls.of_file("pread64", "bank.data"), (64, 64 * 8192));
    assert_eq!(calls.of_file("pwrite64", "bank.log"), (64 + 1, (64 + 1) * 8192));
    let syncs = calls.of_file("fdatasync", "bank.log").0;
    assert!((64 / 4..=64).contains(&syncs), "one sync serves all four sessions at most: {syncs}");
    assert_eq!(calls.of_file("pwrite64", "bank.data"), (64, 64 * 8192));
    assert_eq!((calls.of_file("fsync", "bank.data").0, calls.of_file("fdatasync", "bank.data").0), (0, 0));
    assert!(!calls.has_flag("bank.data", "O_DIRECT"));
    assert!(!calls.opened.contains_key("bank.doublewrite"));
}

#[test]
fn etcd_makes_small_records_durable() {
    needs!("strace");
    let calls = bank("etcd", "size=1m\nlog_size=1m\n");
    assert_eq!(calls.of_file("pwrite64", "bank.log"), (64, 64 * 2300));
    let syncs = calls.of_file("fdatasync", "bank.log").0;
    assert!((64 / 4..=64).contains(&syncs), "one sync serves all four sessions at most: {syncs}");
    assert_eq!(calls.of_file("pread64", "bank.data").0, 0);
    assert_eq!(calls.of_file("pwrite64", "bank.data"), (64, 64 * 4096));
}

#[test]
fn rocksdb_writes_a_table_for_so_many_bytes_of_the_log_and_merges_others() {
    needs!("strace");
    // 64 records of 1 KiB are one table of 64 KiB; three more are written with an amplification of 4.
    let calls = bank(
        "rocksdb",
        "size=512k\ntable_size=64k\nwrite_back_batch=4\nlog_size=1m\nwrite_amplification=4\npage_reads=0\n",
    );
    assert_eq!(calls.of_file("pwrite64", "bank.log"), (64, 64 << 10));
    assert_eq!((calls.of_file("fsync", "bank.log").0, calls.of_file("fdatasync", "bank.log").0), (0, 0));
    let all = |name| {
        let tables = (0..8).map(|table| calls.of_file(name, &format!("bank.data.{table}")));
        tables.fold((0, 0), |sum, table| (sum.0 + table.0, sum.1 + table.1))
    };
    assert_eq!(all("pwrite64"), (4 * 4, 4 * (64 << 10)));
    assert_eq!(all("pread64"), (3 * 4, 3 * (64 << 10)));
    assert_eq!(all("fdatasync").0, 4);
}

#[test]
fn a_log_that_is_open_for_synchronous_writes_needs_no_sync() {
    needs!("strace");
    let calls = bank("innodb", "size=1m\nlog_size=1m\ncommit_sync=dsync\ncheckpoint_log=0\n");
    assert!(calls.has_flag("bank.log", "O_DSYNC"));
    assert_eq!((calls.of_file("fsync", "bank.log").0, calls.of_file("fdatasync", "bank.log").0), (0, 0));
}

#[test]
fn a_sync_serves_a_group_and_each_file_of_the_data_has_its_own() {
    needs!("strace");
    let calls = bank(
        "innodb",
        "size=4m\nnrfiles=2\nlog_size=1m\ngroup_commit=2\nwrite_back_batch=64\ncheckpoint_log=0\n",
    );
    let syncs = calls.of_file("fsync", "bank.log").0;
    assert!((64 / 2..=64).contains(&syncs), "one sync serves two sessions at most: {syncs}");
    let of_data = |name| ["bank.data.0", "bank.data.1"].map(|file| calls.of_file(name, file).0);
    assert_eq!(of_data("pread64").iter().sum::<u64>(), 9 * 64);
    assert_eq!(of_data("pwrite64").iter().sum::<u64>(), 64);
    assert!(of_data("pread64").iter().all(|&reads| reads > 200), "{:?}", of_data("pread64"));
    assert_eq!((of_data("fsync"), calls.of_file("pwrite64", "bank.doublewrite").0), ([1, 1], 1));
}

#[test]
fn a_checkpoint_writes_back_what_is_dirty_and_a_block_of_the_log() {
    needs!("strace");
    // Each transaction appends 4 KiB; a checkpoint follows 64 KiB.
    let calls = bank("innodb", "size=4m\nlog_size=1m\nwrite_back_batch=64\ncheckpoint_log=64k\n");
    let checkpoints = calls.of_file("pwrite64", "bank.log").0 - 64;
    // A cleaner that has no CPU for a while leaves some out.
    assert!((1..=4).contains(&checkpoints), "{checkpoints}");
    assert_eq!(calls.of_file("fsync", "bank.log").0, 64 + checkpoints);
    assert_eq!(calls.of_file("pwrite64", "bank.data"), (64, 64 * 16384));
}
