//! The commands of sysbench that articles and manuals ask their readers to type, as published, with less data, fewer files and fewer events.

use std::os::unix::fs::symlink;

use ferrio_sql::{Driver, Keep};

use crate::sql::servers::Database;
use crate::support::{FERRIO, Run, TestDir};
use crate::sysbench::figures::figure;

/// The commands of "Testing I/O Performance with Sysbench" (ADMIN magazine) and of the articles beside it.
const PUBLISHED: [&str; 7] = [
    "sysbench fileio --file-total-size=15G --file-test-mode=rndrw --time=300 --max-requests=0 prepare",
    "sysbench fileio --file-total-size=15G --file-test-mode=rndrw --time=300 --max-requests=0 run",
    "sysbench fileio --file-total-size=15G --file-test-mode=rndrw --time=300 --max-requests=0 cleanup",
    "sysbench fileio --file-total-size=15G --file-test-mode=rndrw --time=300 --max-requests=0 --file-io-mode=async \
     --file-extra-flags=direct --file-num=1 --file-rw-ratio=1 --file-fsync-freq=0 run",
    "sysbench --test=fileio --file-num=16 --file-total-size=2G --file-test-mode=rndrd --file-extra-flags=direct \
     --file-fsync-freq=0 --file-block-size=16384 run",
    "sysbench --test=fileio --num-threads=16 --file-total-size=3G --file-test-mode=rndrw run",
    "sysbench --test=cpu --cpu-max-prime=20000 run",
];

/// Commands in the spellings of versions before 1.0, which manuals still show.
const OLD_SPELLINGS: [&str; 5] = [
    "sysbench --test=fileio --file-total-size=8G --file-test-mode=rndrw --init-rng=on --max-time=300 --max-requests=0 run",
    "sysbench --num-threads=16 --test=fileio --file-total-size=3G --file-test-mode=rndrw --max-requests=160 run",
    "sysbench --test=cpu --num-threads=2 --max-time=60 --cpu-max-prime=20000 run",
    "sysbench --test=threads --num-threads=4 --thread-yields=100 --thread-locks=2 run",
    "sysbench --test=memory --memory-block-size=1M --memory-total-size=10G run",
];

/// Events of each run.
const EVENTS: u32 = 160;

/// The two ways to call the front end.
enum Called {
    /// Through a link named `sysbench`.
    Link,
    /// `ferrio sysbench`
    SubCommand,
}

impl Called {
    /// Runs a published command with less data, 8 files unless it says how many, and [`EVENTS`] events.
    #[track_caller]
    fn run(&self, dir: &TestDir, command: &str) -> Run {
        let mut words: Vec<String> = command.split_whitespace().map(reduced).collect();
        words.push(format!("--events={EVENTS}"));
        if command.contains("fileio") && given(command, "--file-num=").is_none() {
            words.push("--file-num=8".to_owned());
        }
        assert_eq!(words[0], "sysbench");
        match self {
            Called::Link => dir.program(dir.beside("sysbench"), &words[1..]).run().succeeded(),
            Called::SubCommand => dir.ferrio(&words).run().succeeded(),
        }
    }
}

/// A word with 1 MiB in place of 1 GiB.
fn reduced(word: &str) -> String {
    let size = word.strip_suffix('G').and_then(|word| word.split_once("-total-size="));
    match size {
        Some((option, gib)) => format!("{option}-total-size={gib}M"),
        None => word.to_owned(),
    }
}

/// Runs the commands in both ways. Those on files have files before, and remove them after.
#[track_caller]
fn run_all(commands: &[&str]) {
    let dir = TestDir::new();
    symlink(FERRIO, dir.beside("sysbench")).unwrap();
    for called in [Called::Link, Called::SubCommand] {
        for command in commands {
            match command.rsplit_once(' ') {
                Some((rest, "run")) if command.contains("fileio") => {
                    called.run(&dir, &format!("{rest} prepare"));
                    report_can_be_read(&called.run(&dir, command), command);
                    called.run(&dir, &format!("{rest} cleanup"));
                }
                Some((_, "run")) => report_can_be_read(&called.run(&dir, command), command),
                Some((_, "prepare")) => {
                    let run = called.run(&dir, command);
                    assert!(run.stdout.contains("\n15728640 bytes written in "), "{}", run.stdout);
                    assert_eq!(dir.files().len(), 8);
                }
                _ => {
                    called.run(&dir, command);
                    assert_eq!(dir.files(), []);
                }
            }
        }
        assert_eq!(dir.files(), []);
    }
}

/// The expressions of scripts find the figures of a run, and these belong together.
#[track_caller]
fn report_can_be_read(run: &Run, command: &str) {
    let of = |expression: &str| figure(&run.stdout, expression);
    let threads = of(r"Number of threads: (\d+)");
    assert_eq!(threads, given(command, "--num-threads=").unwrap_or(1.0), "{command}");
    let events = of(r"total number of events:\s+(\d+)");
    // The test `memory` ends with its last block.
    let expected = if command.contains("--test=memory") { 10.0 } else { f64::from(EVENTS) };
    assert_eq!(events, expected, "{command}");
    assert_eq!(of(r"events \(avg/stddev\):\s+([\d.]+)/"), events / threads, "{command}");
    let time = of(r"total time:\s+([\d.]+)s");
    assert!(time > 0.0, "{command}: {}", run.stdout);
    let (least, mean, most) = (of(r"min:\s+([\d.]+)"), of(r"avg:\s+([\d.]+)"), of(r"max:\s+([\d.]+)"));
    assert!(least <= mean && mean <= most, "{command}: {}", run.stdout);
    // The value of a cell, which is up to 1 % above the latencies in it.
    let percentile = of(r"95th percentile:\s+([\d.]+)");
    assert!(
        least * 0.98 - 0.01 <= percentile && percentile <= most * 1.02 + 0.01,
        "{command}: {}",
        run.stdout
    );
    assert!(of(r"sum:\s+([\d.]+)") >= most, "{command}: {}", run.stdout);
    if command.contains("fileio") {
        let (reads, writes) = (of(r"reads/s:\s+([\d.]+)"), of(r"writes/s:\s+([\d.]+)"));
        assert!(reads > 0.0 && (writes > 0.0) == command.contains("rndrw"), "{command}: {}", run.stdout);
        for (mib, requests) in [(r"read, MiB/s:\s+([\d.]+)", reads), (r"written, MiB/s:\s+([\d.]+)", writes)]
        {
            assert!((of(mib) - requests / 64.0).abs() < 0.006, "{command}: {}", run.stdout);
        }
        let has_syncs = !command.contains("--file-fsync-freq=0") || command.contains("rndrw");
        assert_eq!(of(r"fsyncs/s:\s+([\d.]+)") > 0.0, has_syncs, "{command}: {}", run.stdout);
    } else if command.contains("cpu") {
        let rate = of(r"events per second:\s+([\d.]+)");
        // The time has four decimals.
        assert!((rate * time / events - 1.0).abs() < 0.01 + 0.0001 / time, "{command}: {}", run.stdout);
    }
}

/// The value of an option in a command.
fn given(command: &str, option: &str) -> Option<f64> {
    command.split(' ').find_map(|word| word.strip_prefix(option)?.parse().ok())
}

#[test]
fn the_commands_of_articles_run_as_published() {
    run_all(&PUBLISHED);
}

/// The commands of an article that measures disks by sysbench on InnoDB.
const ON_INNODB: [&str; 3] = [
    "sysbench oltp_read_write --tables=100 --table-size=10000000 --threads=32 --db-driver=mysql --mysql-user=sbtest prepare",
    "sysbench oltp_read_write --tables=100 --table-size=10000000 --threads=32 --db-driver=mysql --mysql-user=sbtest --time=300 \
     --report-interval=10 --percentile=99 run",
    "sysbench oltp_read_write --tables=100 --table-size=10000000 --threads=32 --db-driver=mysql --mysql-user=sbtest cleanup",
];

#[test]
fn the_commands_on_innodb_run_as_published() {
    needs_databases!();
    let dir = TestDir::new();
    let database = Database::new(Driver::Mysql);
    symlink(FERRIO, dir.beside("sysbench")).unwrap();
    let tables =
        || database.rows("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()");
    for called in [Called::Link, Called::SubCommand] {
        let smaller = |command: &str| {
            let options = database.options().join(" ");
            format!("{} {options}", command.replace("10000000", "20"))
        };
        let run = |command: &str| called.run(&dir, &smaller(command));
        run(ON_INNODB[0]);
        let limit = "SET GLOBAL max_prepared_stmt_count = ";
        database.connect().query(&format!("{limit}28863"), Keep::Count).unwrap();
        let refused =
            dir.ferrio(&smaller(ON_INNODB[1]).split(' ').collect::<Vec<_>>()).run().ended_with(1).stdout;
        let advice = "WARNING: 32 connections prepare 902 statements each: set the server's max_prepared_stmt_count to 28864 or more";
        assert!(refused.contains(advice), "{refused}");
        database.connect().query(&format!("{limit}1000000"), Keep::Count).unwrap();
        assert_eq!(tables(), ["100"]);
        assert_eq!(database.rows("SELECT COUNT(*), MAX(id) FROM sbtest100"), ["20|20"]);
        let report = run(ON_INNODB[1]).stdout;
        let of = |expression: &str| figure(&report, expression);
        assert_eq!(of(r"Number of threads: (\d+)"), 32.0);
        assert_eq!(of(r"transactions:\s+(\d+)\s+\([\d.]+ per sec\.\)"), f64::from(EVENTS));
        let errors = of(r"ignored errors:\s+(\d+)\s+\(");
        let queries = of(r"queries:\s+(\d+)\s+\(");
        let all = 20.0 * f64::from(EVENTS);
        // Each error begins a transaction again, after some of its statements.
        assert!(all <= queries && queries <= all + 20.0 * errors, "{report}");
        assert!(of(r"99th percentile:\s+([\d.]+)") > 0.0, "{report}");
        run(ON_INNODB[2]);
        assert_eq!(tables(), ["0"]);
    }
}

#[test]
fn the_commands_of_old_manuals_run_as_published() {
    run_all(&OLD_SPELLINGS);
}

#[test]
fn each_old_spelling_is_answered_with_the_new_one() {
    let dir = TestDir::new();
    let line =
        "sysbench --test=cpu --num-threads=2 --max-time=60 --max-requests=4 --tx-rate=1000 --init-rng=on run";
    let run = dir.ferrio(&line.split(' ').collect::<Vec<_>>()).run().succeeded();
    assert_eq!(
        run.stderr,
        "WARNING: the --test option is deprecated. You can pass a script name or path on the command line without any options.\n"
    );
    for (old, new) in
        [("num-threads", "threads"), ("max-time", "time"), ("max-requests", "events"), ("tx-rate", "rate")]
    {
        let warning = format!("WARNING: --{old} is deprecated, use --{new} instead\n");
        assert!(run.stdout.contains(&warning), "{}", run.stdout);
    }
    assert!(run.stdout.contains("WARNING: --init-rng is deprecated: "), "{}", run.stdout);
    assert!(run.stdout.contains("\nTarget transaction rate: 1000/sec\n"), "{}", run.stdout);
    assert_eq!(figure(&run.stdout, r"total number of events:\s+(\d+)"), 4.0);
}
