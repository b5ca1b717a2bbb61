//! `ferrio quick`: the table, what it leaves behind, and what it refuses.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::loop_device::LoopDevice;
use crate::support::{TestDir, json_file};

/// Short tests of a small file.
const SHORT: [&str; 3] = ["quick", "--runtime=100ms", "--size=2m"];

fn quick(dir: &TestDir, words: &[&str]) -> String {
    dir.ferrio(&[&SHORT, words].concat()).run().succeeded().stdout
}

/// The first cells of the lines of a table below its heading.
fn names(table: &str) -> Vec<&str> {
    let lines = table.lines().skip_while(|line| !line.trim_start().starts_with("IOPS")).skip(1);
    lines.map(|line| line.split("  ").next().unwrap()).collect()
}

#[test]
fn a_directory_is_measured_and_left_as_it_was() {
    let dir = TestDir::new();
    let report = dir.beside("report.json");
    let table = quick(&dir, &[".", &format!("--save={}", report.display())]);
    let wanted = [
        "read-1m-qd8",
        "write-1m-qd8",
        "read-1m-qd1",
        "write-1m-qd1",
        "randread-4k-qd32",
        "randwrite-4k-qd32",
        "randread-4k-qd1",
        "randwrite-4k-qd1",
        "write-4k-fsync",
        "write-4k-fsync, the sync alone",
    ];
    assert_eq!(names(&table), wanted, "{table}");
    assert!(table.contains("\na file of 2 MiB, "), "{table}");
    assert_eq!(dir.files(), []);
    let saved = json_file(&report);
    let reads = &saved["jobs"][4];
    assert_eq!(
        (&reads["jobname"], &reads["job options"]["iodepth"]),
        (&"randread-4k-qd32".into(), &"32".into())
    );
    // Compared with itself, nothing differs.
    let words = ["compare", "--format=json", report.to_str().unwrap(), report.to_str().unwrap()];
    let compared = dir.ferrio(&words).run().succeeded().json();
    assert_eq!(compared["jobs"].as_array().unwrap().len(), 9);
}

#[test]
fn each_preset_runs_and_is_printed_as_a_job_file() {
    needs!("fio");
    for preset in ["database", "cloud", "boot", "diskmark"] {
        let dir = TestDir::new();
        let profile = format!("--profile={preset}");
        let printed = quick(&dir, &[".", &profile, "--print"]);
        assert_eq!(dir.files(), [], "{preset}: nothing runs");
        let report: Value = serde_json::from_str(&quick(&dir, &[".", &profile, "--format=json"])).unwrap();
        let jobs = report["jobs"].as_array().unwrap();
        // All but the defaults and the job that fills the file.
        assert_eq!(jobs.len(), printed.matches("\n[").count() - 1, "{printed}");
        assert!(jobs.iter().all(|job| job["error"] == 0), "{preset}");
        assert_eq!(dir.files(), [], "{preset}");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("jobs/quick-{preset}.fio"));
        dir.fio(&["--parse-only", file.to_str().unwrap()]).run().succeeded();
        let again = dir.ferrio(&["--parse-only", &dir.job(&printed)]).run().succeeded();
        assert_eq!(again.stderr, "");
    }
}

#[test]
fn marks_are_the_best_of_five_runs() {
    let dir = TestDir::new();
    let report = dir.beside("report.json");
    let table = quick(&dir, &[".", "--profile=diskmark", &format!("--save={}", report.display())]);
    let jobs = json_file(&report)["jobs"].as_array().unwrap().clone();
    let best = |name: &str, direction: &str| {
        let runs = jobs.iter().filter(|job| job["jobname"] == format!("{name}-{direction}"));
        let rates: Vec<u64> = runs.map(|job| job[direction]["bw_bytes"].as_u64().unwrap()).collect();
        assert_eq!(rates.len(), 5, "{name}-{direction}");
        format!("{:.2}", *rates.iter().max().unwrap() as f64 / 1e6)
    };
    for name in ["SEQ1M-Q8T1", "SEQ1M-Q1T1", "RND4K-Q32T1", "RND4K-Q1T1"] {
        let line = table.lines().find(|line| line.starts_with(&name.replace('-', " "))).unwrap();
        let cells: Vec<&str> = line.split_whitespace().skip(2).collect();
        assert_eq!(cells, ["read", "write"].map(|direction| best(name, direction)), "{table}");
    }
    assert_eq!(dir.files(), []);
}

#[test]
fn markdown_is_a_table_too() {
    let dir = TestDir::new();
    let text = quick(&dir, &[".", "--profile=boot", "--format=markdown"]);
    assert!(text.contains("\n| | IOPS | bandwidth | p50 | p99 | p99.9 |\n|---|---:|"), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("| reads-90-writes-10-qd4, ")).count(), 2);
}

#[test]
fn an_interrupted_run_removes_its_file_and_tells_what_it_has() {
    let dir = TestDir::new();
    let mut running = dir.ferrio(&["quick", ".", "--runtime=1h", "--size=2m"]).start();
    // The file is filled before the first test.
    running.until("the file", || dir.files().iter().any(|(_, bytes)| *bytes == 2 << 20));
    running.signal(Signal::SIGTERM);
    let run = running.wait().ended_with(128);
    assert!(run.stderr.contains("terminating on signal 15"), "{}", run.stderr);
    assert_eq!(dir.files(), []);
}

#[test]
fn what_cannot_be_measured_is_refused_before_anything_runs() {
    let dir = TestDir::new();
    fs::write(dir.work().join("plain"), "kept").unwrap();
    for (words, message) in [
        (&["quick", "missing"][..], "cannot measure missing: No such file or directory"),
        (&["quick", "plain"], "plain is neither a directory nor a block device"),
        (&["quick", ".", "--destroy"], "--destroy has no meaning for the directory ."),
        (&["quick", ".", "--profile=other"], "invalid value 'other' for '--profile <NAME>'"),
        (&["quick", ".", "--runtime=1ms"], "too short: the minimum is 100ms"),
        (&["quick", ".", "--size=1024t"], "MiB free, and the file takes 1073741824 MiB"),
        (
            &["quick", ".", "--save=missing/report.json"],
            "cannot write missing/report.json: No such file or directory",
        ),
        (&["quick"], "required arguments were not provided"),
    ] {
        let run = dir.ferrio(words).run().ended_with(1);
        assert!(run.stderr.contains(message), "{message}\n{}", run.stderr);
        assert_eq!((run.stdout.as_str(), dir.read("plain").as_str()), ("", "kept"));
    }
    assert_eq!(dir.files().len(), 1);
}

#[test]
fn a_device_is_only_read_unless_its_data_may_be_destroyed() {
    let dir = TestDir::new();
    let Some(device) = LoopDevice::of(&dir, 8 << 20) else { return };
    let holds_data = || {
        let data = fs::read(device.medium()).unwrap();
        [&data[..2 << 20], &data[2 << 20..]].map(|part| part.iter().any(|&byte| byte != 0))
    };
    let table = quick(&dir, &[device.node()]);
    assert_eq!(names(&table), ["read-1m-qd8", "read-1m-qd1", "randread-4k-qd32", "randread-4k-qd1"]);
    assert!(table.contains("\nreads only: writes need --destroy"), "{table}");
    assert_eq!(holds_data(), [false, false], "it is as it was");
    let table = quick(&dir, &[device.node(), "--destroy"]);
    assert_eq!(names(&table).len(), 10, "{table}");
    assert_eq!(holds_data(), [true, false], "--size is the limit");
}
