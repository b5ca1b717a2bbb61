//! Logs when something breaks: what was measured is in them to the last row, what cannot be written is told, and memory stays small
//! however slow their disk is.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::mpsc::channel;

use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};

use crate::support::{TestDir, number};

/// A job that goes on until it is stopped.
const ENDLESS: [&str; 7] = [
    "--output-format=json",
    "--name=a",
    "--ioengine=null",
    "--size=1g",
    "--rw=rw",
    "--time_based",
    "--runtime=1h",
];

fn rows(dir: &TestDir, name: &str) -> u64 {
    dir.rows(name).len() as u64
}

/// What all jobs of a report have completed.
fn ios(report: &serde_json::Value, job: usize) -> u64 {
    let of = |direction: &str| number(report, &format!("/jobs/{job}/{direction}/clat_ns/N"));
    of("read") + of("write")
}

#[test]
fn a_run_that_is_stopped_has_a_row_for_each_io_in_every_log() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let dir = TestDir::new();
        let logs = ["--write_lat_log=x", "--write_bw_log=x", "--write_iops_log=x", "--rate_iops=20000,10000"];
        let mut running = dir.ferrio(&[&ENDLESS[..], &logs].concat()).start();
        running.until("a batch of rows", || dir.is_written("x_iops.1.log"));
        running.signal(signal);
        let report = running.wait().ended_with(128).json();
        let ios = ios(&report, 0);
        assert!(ios > 4096, "{ios}");
        for kind in ["bw", "clat", "iops", "lat"] {
            assert_eq!(rows(&dir, &format!("x_{kind}.1.log")), ios, "{kind} after {signal}");
        }
    }
}

#[test]
fn a_run_that_is_stopped_counts_each_io_in_its_histograms_and_compressed_logs() {
    let dir = TestDir::new();
    let logs = [
        "--write_hist_log=x",
        "--log_hist_msec=10",
        "--log_hist_coarseness=6",
        "--write_lat_log=x",
        "--log_store_compressed=1",
        "--rate_iops=20000,10000",
    ];
    let mut running = dir.ferrio(&[&ENDLESS[..], &logs].concat()).start();
    running.until("a histogram", || dir.is_written("x_clat_hist.1.log"));
    running.signal(Signal::SIGINT);
    let report = running.wait().ended_with(128).json();
    let rows = dir.rows("x_clat_hist.1.log");
    for (direction, word) in [("0", "read"), ("1", "write")] {
        let counts = rows.iter().filter(|row| row[1] == direction).flat_map(|row| &row[3..]);
        let counted: u64 = counts.map(|count| count.parse::<u64>().unwrap()).sum();
        assert_eq!(counted, number(&report, &format!("/jobs/0/{word}/total_ios")), "{word}");
    }
    let inflated = dir.ferrio(&["--inflate-log=x_clat.1.log.fz"]).run().succeeded();
    assert_eq!(inflated.stdout.lines().count() as u64, ios(&report, 0));
}

#[test]
fn a_job_that_fails_has_logged_what_it_completed() {
    for engine in ["psync", "libaio", "io_uring"] {
        let dir = TestDir::new();
        let job = dir.job(&format!(
            "[global]\nioengine={engine}\niodepth=8\nrw=write\nsize=1m\nwrite_lat_log=x\nfallocate=none\n\
             [breaks]\nfilename=f\n[fine]\nsize=64k\n[empty]\nfilename=/dev/full\n[also-fine]\nsize=64k\n"
        ));
        let script = "trap '' XFSZ; ulimit -f 128; exec \"$0\" \"$@\"";
        let words = ["-c", script, crate::support::FERRIO, "--output-format=json", &job];
        let report = dir.program("bash", &words).run().ended_with(2).json();
        for at in 0..4 {
            let logged = rows(&dir, &format!("x_clat.{}.log", at + 1));
            assert_eq!(logged, ios(&report, at), "job {at} of {engine}");
        }
        assert_eq!(rows(&dir, "x_clat.2.log"), 16);
        let written = number(&report, "/jobs/0/write/io_bytes");
        assert_eq!((written, rows(&dir, "x_clat.1.log")), (128 << 10, 32), "{engine}");
    }
}

#[test]
fn a_full_disk_under_a_log_is_told_once_and_the_run_goes_on() {
    for (suffix, more) in [("log", "--log_offset=1"), ("log.fz", "--log_store_compressed=1")] {
        let dir = TestDir::new();
        let full = format!("x_lat.1.{suffix}");
        symlink("/dev/full", dir.work().join(&full)).unwrap();
        let words =
            ["--output-format=json", "--name=a", "--ioengine=null", "--size=256m", "--write_lat_log=x"];
        for (character, status) in [("--as=ferrio", 1), ("--as=fio", 0)] {
            let run = dir.ferrio(&[&[character], &words[..], &[more]].concat()).run().ended_with(status);
            assert_eq!(ios(&run.json(), 0), 65536);
            let told = run.stderr.lines().filter(|line| line.contains(&full)).collect::<Vec<_>>();
            assert_eq!(told.len(), 1, "{}", run.stderr);
            assert!(told[0].contains("No space left on device; the log ends there"), "{}", told[0]);
        }
    }
}

#[test]
fn a_log_in_a_directory_that_is_not_there_is_told_and_the_run_goes_on() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["--output-format=json", "--name=a", "--ioengine=null", "--size=64k", "--write_lat_log=no/x"];
    let as_fio = [&["--as=fio"], &words[..]].concat();
    let runs = [
        dir.ferrio(&words).run().ended_with(1),
        dir.ferrio(&as_fio).run().succeeded(),
        dir.fio(&words).run().succeeded(),
    ];
    for run in runs {
        assert_eq!(ios(&run.json(), 0), 16);
        assert_eq!(run.stderr.matches("fopen log: No such file or directory").count(), 3, "{}", run.stderr);
    }
    assert_eq!(dir.files(), []);
}

/// True when all threads of a process are asleep.
fn sleeps(pid: Pid) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let states = tasks.map(|task| fs::read_to_string(task.unwrap().path().join("stat")).unwrap_or_default());
    states.into_iter().all(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('S')))
}

/// Most memory that a process has had, KiB.
fn peak_kib(pid: Pid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Opens a pipe for reading, which waits for a writer, and counts its lines on request.
fn late_reader(path: &Path) -> (std::sync::mpsc::Sender<()>, std::thread::JoinHandle<u64>) {
    let (go, wait) = channel::<()>();
    let path = path.to_owned();
    let reader = std::thread::spawn(move || {
        let pipe = BufReader::new(File::open(path).unwrap());
        wait.recv().unwrap();
        pipe.split(b'\n').map(Result::unwrap).count() as u64
    });
    (go, reader)
}

#[test]
fn a_log_that_nobody_reads_holds_the_job_back_and_costs_little_memory() {
    let dir = TestDir::new();
    let pipe = dir.work().join("x_lat.1.log");
    mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    let (go, reader) = late_reader(&pipe);
    let logs = [
        "--write_lat_log=x",
        "--write_bw_log=x",
        "--write_iops_log=x",
        "--write_hist_log=x",
        "--log_hist_msec=100",
        "--log_offset=1",
    ];
    let mut running = dir.ferrio(&[&ENDLESS[..], &logs].concat()).start();
    let pid = running.pid();
    // Only a thread that waits for room sleeps that long: the job never does by itself.
    let asleep = std::cell::Cell::new(0);
    running.until("all threads are held back", || {
        asleep.set(if sleeps(pid) && ios_began(&dir) { asleep.get() + 1 } else { 0 });
        asleep.get() >= 25
    });
    let peak = peak_kib(pid);
    assert!(peak < 64 << 10, "{peak} KiB");
    running.signal(Signal::SIGINT);
    go.send(()).unwrap();
    let logged = reader.join().unwrap();
    let report = running.wait().ended_with(128).json();
    assert_eq!(logged, ios(&report, 0));
    assert_eq!(rows(&dir, "x_clat.1.log"), logged);
    assert!(logged > 50 * 4096, "the queue was full: {logged}");
}

#[test]
fn main_goes_on_while_a_log_is_stuck() {
    let dir = TestDir::new();
    let out = dir.beside("out");
    let pipe = dir.work().join("x_lat.1.log");
    mkfifo(&pipe, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
    let (go, reader) = late_reader(&pipe);
    let words = ["--status-interval=20ms", "--output=../out"];
    let sampled =
        ["--name=b", "--rate_iops=5000,5000", "--bwavgtime=10", "--write_bw_log=y", "--log_avg_msec=10"];
    let stuck = [&ENDLESS[..], &["--write_lat_log=x"]].concat();
    let words = [&words[..], &stuck, &sampled, &ENDLESS[2..]].concat();
    let mut running = dir.ferrio(&words).start();
    let done = |report: &serde_json::Value, job| {
        number(report, &format!("/jobs/{job}/read/total_ios"))
            + number(report, &format!("/jobs/{job}/write/total_ios"))
    };
    // Samples of the second job have no room either, and still reports come.
    running.until("reports while the first job is held back", || {
        let text = fs::read_to_string(&out).unwrap_or_default();
        let all: Vec<serde_json::Value> =
            serde_json::Deserializer::from_str(&text).into_iter().map_while(Result::ok).collect();
        let held = all.last().map_or(0, |last| done(last, 0));
        held > 4096 && all.iter().filter(|&report| done(report, 0) == held).count() > 10
    });
    running.signal(Signal::SIGINT);
    go.send(()).unwrap();
    let logged = reader.join().unwrap();
    running.wait().ended_with(128);
    let text = fs::read_to_string(&out).unwrap();
    let last = serde_json::Deserializer::from_str(&text).into_iter().last().unwrap().unwrap();
    assert_eq!((logged, rows(&dir, "x_clat.1.log")), (ios(&last, 0), ios(&last, 0)));
    assert!(rows(&dir, "y_bw.2.log") > 10, "what waited for the disk is written");
}

/// True once the writer is at the logs: the log of submissions, which is empty, is created before them.
fn ios_began(dir: &TestDir) -> bool {
    dir.work().join("x_clat_hist.1.log").exists()
}

#[test]
fn programs_are_told_of_lost_logs_by_a_warning_with_a_code() {
    let dir = TestDir::new();
    let words = [
        "--message-format=json",
        "--quiet",
        "--name=a",
        "--ioengine=null",
        "--size=4k",
        "--write_bw_log=away/x",
    ];
    let run = dir.ferrio(&words).run().ended_with(1);
    let told: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((&told["severity"], &told["code"]), (&"warning".into(), &"log-error".into()));
    assert!(told["message"].as_str().unwrap().starts_with("fopen log: No such file or directory: away/x_bw"));
}
