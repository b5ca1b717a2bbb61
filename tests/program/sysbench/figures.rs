//! Tests of sysbench: the figures that scripts read, what is refused, and what ferrio adds.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use nix::sys::signal::Signal;
use regex::Regex;

use crate::schemas::Schema;
use crate::support::{FERRIO, Run, TestDir};

/// A small set of files.
const FILES: [&str; 2] = ["--file-num=4", "--file-total-size=1M"];

fn sysbench(dir: &TestDir, words: &[&str]) -> Run {
    dir.ferrio(&[&["sysbench"], words].concat()).run()
}

fn fileio(dir: &TestDir, words: &[&str]) -> Run {
    sysbench(dir, &[&["fileio"], &FILES[..], words].concat()).succeeded()
}

/// What a script would take out of a report with this expression.
#[track_caller]
pub fn figure(text: &str, expression: &str) -> f64 {
    let found = Regex::new(expression).unwrap().captures(text);
    let found = found.unwrap_or_else(|| panic!("{expression}: {text}"));
    found[1].parse().unwrap()
}

#[test]
fn the_expressions_of_scripts_find_figures_that_agree() {
    let dir = TestDir::new();
    fileio(&dir, &["prepare"]);
    let run = fileio(
        &dir,
        &["--file-test-mode=rndrw", "--threads=2", "--events=2500", "--file-fsync-freq=50", "run"],
    );
    let of = |expression: &str| figure(&run.stdout, expression);
    let (reads, writes) = (of(r"reads/s:\s+([\d.]+)"), of(r"writes/s:\s+([\d.]+)"));
    let events = of(r"total number of events:\s+(\d+)");
    let time = of(r"total time:\s+([\d.]+)s");
    assert_eq!(events, 2500.0);
    // 46 rounds of 50 requests and 4 syncs, and 16 more requests; two threads sync 4 files at their end.
    let (requests, syncs) = (2316.0, 184.0 + 8.0);
    let per_request = |figure: f64, count: f64| figure * time / count;
    // The time is rounded to 0.1 ms.
    let near = |ratio: f64| (ratio - 1.0).abs() < 0.0001 / time + 0.001;
    assert!(near(per_request(reads + writes, requests)), "{}", run.stdout);
    assert!(near(per_request(of(r"fsyncs/s:\s+([\d.]+)"), syncs)), "{}", run.stdout);
    let mib = of(r"read, MiB/s:\s+([\d.]+)");
    assert!((mib - reads / 64.0).abs() < 0.006, "{}", run.stdout);
    let (least, mean, most) = (of(r"min:\s+([\d.]+)"), of(r"avg:\s+([\d.]+)"), of(r"max:\s+([\d.]+)"));
    assert!(least <= mean && mean <= most, "{}", run.stdout);
    assert!(of(r"95th percentile:\s+([\d.]+)") <= most * 1.02 + 0.01, "{}", run.stdout);
    assert_eq!(of(r"events \(avg/stddev\):\s+([\d.]+)/"), 1250.0);
}

#[test]
fn a_link_of_that_name_is_sysbench() {
    let dir = TestDir::new();
    let link = dir.beside("sysbench");
    symlink(FERRIO, &link).unwrap();
    let run = dir.program(&link, &["--version"]).run().succeeded();
    assert_eq!(run.stdout, "sysbench 1.0.20\n");
    dir.program(&link, &["fileio", "--file-num=1", "--file-total-size=16K", "prepare"]).run().succeeded();
    assert_eq!(dir.files(), [("test_file.0".to_owned(), 16384)]);
    let mode = fs::metadata(dir.work().join("test_file.0")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn tests_that_are_not_there_are_refused_with_what_to_use() {
    let dir = TestDir::new();
    // As in articles and manuals, of all versions.
    for line in ["--test=/usr/share/doc/sysbench/tests/db/oltp.lua --threads=1 run", "my.lua cleanup"] {
        let words: Vec<&str> = line.split(' ').collect();
        let run = sysbench(&dir, &words).ended_with(1);
        let test = words.iter().map(|word| word.trim_start_matches("--test=")).next().unwrap();
        let expected = if cfg!(feature = "lua") {
            format!(
                "FATAL: Cannot find benchmark '{test}': no such built-in test, file or module\nThe tests are fileio, "
            )
        } else {
            format!(
                "FATAL: Cannot run '{test}': scripts in Lua need a build with the feature lua, for example `cargo install ferrio --features \
                 lua`."
            )
        };
        assert!(run.stdout.contains(&expected), "{}", run.stdout);
    }
    // The scripts of sysbench itself are built in, wherever it would have them.
    for path in ["/usr/share/sysbench/oltp_read_only.lua", "/nowhere/sysbench/oltp_read_only.lua"] {
        let help = sysbench(&dir, &[path, "help"]).succeeded().stdout;
        assert!(help.contains("\noltp_read_only options:\n"), "{help}");
    }
    // Both are there.
    let help = dir.ferrio(&["help", "workload"]).run().succeeded().stdout;
    assert!(help.contains("workload") && help.contains("innodb"), "{help}");
    let job = ["--name=db", "--workload=innodb", "--size=10g", "--runtime=60"];
    dir.ferrio(&[&["check"], &job[..]].concat()).run().succeeded();
    let run = sysbench(&dir, &["bogus", "run"]).ended_with(1);
    assert!(
        run.stdout.contains("The tests are fileio, cpu, memory, threads, mutex, oltp_read_write, "),
        "{}",
        run.stdout
    );
    let run = dir.ferrio(&["--num-threads=4", "--name=a"]).run().ended_with(1);
    assert!(run.stderr.contains("`ferrio sysbench --num-threads=4 --name=a`"), "{}", run.stderr);
    let run = dir.ferrio(&["oltp_read_write", "--threads=32", "run"]).run().ended_with(1);
    assert!(run.stderr.contains("`ferrio sysbench oltp_read_write --threads=32 run`"), "{}", run.stderr);
    for word in ["run", "fileio"] {
        let run = dir.ferrio(&[word]).run().ended_with(1);
        assert!(run.stderr.contains(&format!("`{word}` is a word of sysbench")), "{}", run.stderr);
    }
}

#[test]
fn a_run_that_is_asked_or_interrupted_has_a_report() {
    let dir = TestDir::new();
    fileio(&dir, &["prepare"]);
    let words =
        [&["sysbench", "fileio"], &FILES[..], &["--file-test-mode=rndrd", "--time=0", "run"]].concat();
    for (signal, status) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143)] {
        let mut running = dir.ferrio(&words).start();
        let started = running.stdout_path();
        running.until("its start", || {
            fs::read_to_string(&started).is_ok_and(|text| text.contains("Threads started!"))
        });
        running.signal(Signal::SIGUSR1);
        running.until("its report", || {
            fs::read_to_string(&started).is_ok_and(|text| text.contains("Threads fairness:"))
        });
        running.signal(signal);
        let run = running.wait().ended_with(status);
        assert_eq!(run.stdout.matches("\nFile operations:\n").count(), 2, "{}", run.stdout);
        assert!(run.stdout.contains("WARNING: Both event and time limits are disabled"), "{}", run.stdout);
        assert!(run.stdout.contains("\nGeneral statistics:\n"), "{}", run.stdout);
    }
}

#[test]
fn a_run_that_does_not_end_is_stopped_with_a_report() {
    let dir = TestDir::new();
    let words = ["cpu", "--cpu-max-prime=50000000", "--time=1", "--forced-shutdown=1"];
    let run = sysbench(&dir, &[&words[..], &["run"]].concat()).ended_with(2);
    assert!(
        run.stdout.contains("\nFATAL: The --max-time limit has expired, forcing shutdown...\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout
            .contains("\n\nNumber of unfinished transactions on forced shutdown: 1\n\nGeneral statistics:\n"),
        "{}",
        run.stdout
    );
    assert_eq!(figure(&run.stdout, r"total number of events: +(\d+)"), 0.0);
    assert_eq!(figure(&run.stdout, r"events \(avg/stddev\): +([\d.]+)/"), 1.0);
    let run = sysbench(&dir, &[&words[..], &["--output-format=json", "run"]].concat()).ended_with(2);
    assert_eq!(run.json()["unfinished"], 1);
}

#[test]
fn threads_of_memory_and_mutex_have_equal_shares() {
    let dir = TestDir::new();
    let run = sysbench(&dir, &["memory", "--memory-total-size=1M", "--threads=2", "--time=0", "run"]);
    let text = run.succeeded().stdout;
    assert_eq!(figure(&text, r"Total operations: (\d+) "), 1024.0);
    let shares = r"events \(avg/stddev\): +[\d.]+/([\d.]+)";
    assert_eq!(figure(&text, shares), 0.0, "each thread transfers the same");
    assert_eq!(figure(&text, r"([\d.]+) MiB transferred"), 1.0);
    let words = ["mutex", "--mutex-locks=50", "--mutex-loops=5", "--threads=3", "--time=0", "run"];
    let text = sysbench(&dir, &words).succeeded().stdout;
    assert_eq!(figure(&text, r"total number of events: +(\d+)"), 3.0);
    assert_eq!(figure(&text, shares), 0.0, "each thread takes its locks once");
    let run = sysbench(&dir, &["memory", "--memory-total-size=2K", "--events=1", "run"]).succeeded();
    assert!(run.stdout.contains("\nWARNING: --events has no effect on the test 'memory'"), "{}", run.stdout);
    assert_eq!(figure(&run.stdout, r"Total operations: (\d+) "), 2.0);
}

#[test]
fn memory_that_cannot_be_had_is_an_error_in_the_words_of_sysbench() {
    let dir = TestDir::new();
    // More than processors can address.
    let block = "--memory-block-size=65536T";
    let without = sysbench(&dir, &["memory", block, "run"]).ended_with(1).stdout;
    assert!(without.ends_with("\nFATAL: Failed to allocate buffer!\n"), "{without}");
    let without = sysbench(&dir, &["memory", block, "--memory-hugetlb", "--memory-scope=local", "run"]);
    let without = without.ended_with(1).stdout;
    let huge = "FATAL: Failed to allocate 72057594037927936 bytes from HugeTLB memory. errno = 12 (";
    assert!(without.contains(huge), "{without}");
    assert!(without.ends_with("\nFATAL: Failed to allocate buffer!\n"), "{without}");
}

#[test]
fn the_document_has_the_figures_of_the_text() {
    let dir = TestDir::new();
    fileio(&dir, &["prepare"]);
    let words = [
        "--file-test-mode=rndrw",
        "--events=250",
        "--output-format=json",
        "--percentile=97",
        "--rand-seed=3",
        "run",
    ];
    let document = fileio(&dir, &words).json();
    assert_eq!(Schema::of("sysbench.schema.json").mistakes(&document), Vec::<String>::new());
    let report = &document["report"];
    assert_eq!((&document["test"], &document["settings"]["seed"]), (&"fileio".into(), &3.into()));
    assert_eq!(document["settings"]["options"]["file-test-mode"], "rndrw");
    let files = &report["files"];
    let counts = ["reads", "writes", "fsyncs", "read_bytes"].map(|key| files[key].as_u64().unwrap());
    assert_eq!(counts, [145, 97, 12, 145 << 14]);
    assert_eq!(report["events"], 250);
    // Without a rate, an event is its request.
    let latencies = ["read", "write", "fsync"].map(|kind| &files[format!("{kind}_latency_ms")]);
    for latency in latencies {
        let figure = |key: &str| latency[key].as_f64().unwrap();
        assert!(
            figure("min") > 0.0 && figure("min") <= figure("avg") && figure("avg") <= figure("max"),
            "{files:#}"
        );
    }
    let sums = [0, 1].map(|at| latencies[at]["sum"].as_f64().unwrap());
    assert!(sums[0] + sums[1] <= report["latency_ms"]["sum"].as_f64().unwrap(), "{report:#}");
    let ms = |percent: &str| report["latency_ms"]["percentiles"][percent].as_f64().unwrap();
    assert!(ms("50") <= ms("97") && ms("97") <= ms("99.9"));
    assert!(ms("99.99") <= report["latency_ms"]["max"].as_f64().unwrap());
    // Mistakes are not in the document.
    let words =
        ["sysbench", "fileio", "--output-format=json", "--file-num=9", "--file-test-mode=rndrd", "run"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("FATAL: "), "{}", run.stderr);
}

#[test]
fn parts_of_a_run_are_in_the_document() {
    let dir = TestDir::new();
    fileio(&dir, &["prepare"]);
    let words =
        ["--file-test-mode=rndrd", "--rate=200", "--time=2", "--report-interval=1", "--report-checkpoints=1"];
    let document = fileio(&dir, &[&words[..], &["--output-format=json", "run"]].concat()).json();
    assert_eq!(Schema::of("sysbench.schema.json").mistakes(&document), Vec::<String>::new());
    let events = |part: &serde_json::Value| part["events"].as_u64().unwrap();
    let (checkpoints, intervals) = (&document["checkpoints"], &document["intervals"]);
    assert_eq!(checkpoints.as_array().unwrap().len(), 1);
    // What an interval has counted is what the checkpoint at the same moment has.
    assert_eq!(events(&intervals[0]), events(&checkpoints[0]));
    assert!(events(&document["report"]) > 0);
    for part in [&intervals[0], &checkpoints[0], &document["report"]] {
        assert!(part["files"]["read_latency_ms"]["max"].as_f64() > Some(0.0), "{part:#}");
        assert_eq!(part["files"].get("write_latency_ms"), None, "nothing was written");
    }
}

#[test]
fn the_job_with_the_same_load_can_be_run() {
    let dir = TestDir::new();
    fileio(&dir, &["prepare"]);
    let job =
        fileio(&dir, &["--file-test-mode=rndrd", "--events=18", "--threads=2", "--show-job", "run"]).stdout;
    let report = dir.ferrio(&["--output-format=json", &dir.job(&job)]).run().succeeded().json();
    assert_eq!(report["jobs"][0]["read"]["total_ios"], 18);
    assert_eq!(dir.files().len(), 4);
}
