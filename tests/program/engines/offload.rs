//! `io_submit_mode=offload` and `serialize_overlap`: threads do the I/O, and everything else is as it was.

use std::fs;

use nix::sys::signal::Signal;

use crate::engines::moving;
use crate::support::{TestDir, number};

/// Words of a job on file `f` whose I/O four threads do.
fn offloaded<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let words =
        ["--output-format=json", "--name=a", "--filename=f", "--iodepth=4", "--io_submit_mode=offload"];
    words.into_iter().chain(more.iter().copied()).collect()
}

#[test]
fn blocks_written_by_threads_are_read_back_as_they_were() {
    for engine in moving().filter(|engine| !engine.needs_one_thread()) {
        let dir = TestDir::new();
        let engine = format!("--ioengine={engine}");
        let words = offloaded(&[&engine, "--rw=randwrite", "--size=256k", "--verify=crc32c", "--loops=2"]);
        let report = dir.ferrio(&words).run().succeeded().json();
        let job = &report["jobs"][0];
        assert_eq!((number(job, "/write/total_ios"), number(job, "/read/total_ios")), (128, 128), "{engine}");
        assert_eq!(job["iodepth_level"]["1"].as_f64(), Some(100.0), "{engine}");
        for latency in ["slat_ns", "clat_ns", "lat_ns"] {
            assert_eq!(job["write"][latency]["N"], 128, "{engine} {latency}");
        }
    }
}

#[test]
fn latency_is_made_of_the_way_to_the_thread_and_the_call() {
    let dir = TestDir::new();
    let report = dir.ferrio(&offloaded(&["--rw=write", "--size=1m"])).run().succeeded().json();
    let mean = |kind: &str| report["jobs"][0]["write"][kind]["mean"].as_f64().unwrap();
    let (parts, whole) = (mean("slat_ns") + mean("clat_ns"), mean("lat_ns"));
    assert!(mean("slat_ns") > 0.0 && (parts - whole).abs() < whole / 50.0, "{parts} {whole}");
}

#[test]
fn periodic_syncs_are_issued() {
    let dir = TestDir::new();
    let report = dir.ferrio(&offloaded(&["--rw=write", "--size=64k", "--fsync=4"])).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/sync/total_ios"), 3);
}

#[test]
fn waiting_for_a_rate_leaves_threads_at_work_and_logs_have_every_io() {
    let dir = TestDir::new();
    let more = ["--rw=randread", "--size=80k", "--rate_iops=200", "--write_lat_log=l", "--thinktime=1"];
    let report = dir.ferrio(&offloaded(&more)).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/read/total_ios"), 20);
    assert!(number(&report, "/jobs/0/read/runtime") >= 90);
    for log in ["l_lat.1.log", "l_clat.1.log", "l_slat.1.log"] {
        assert_eq!(dir.read(log).lines().count(), 20, "{log}");
    }
}

#[test]
fn an_error_of_one_io_ends_the_job() {
    let dir = TestDir::new();
    fs::write(dir.work().join("f"), [0; 4096]).unwrap();
    // Trims of regular files fail.
    let run = dir.ferrio(&offloaded(&["--rw=trim", "--size=4k", "--ioengine=psync"])).run().ended_with(1);
    assert_eq!(number(&run.json(), "/jobs/0/error"), libc::ENOTTY as u64);
}

#[test]
fn a_signal_ends_the_job_after_what_is_in_work() {
    let dir = TestDir::new();
    let more = ["--rw=write", "--size=1m", "--fallocate=none", "--time_based", "--runtime=1h"];
    let mut running = dir.ferrio(&offloaded(&more)).start();
    running.until("its first write", || dir.is_written("f"));
    running.signal(Signal::SIGINT);
    let report = running.wait().ended_with(128).json();
    let job = &report["jobs"][0];
    assert!(number(job, "/write/total_ios") > 0);
    assert_eq!(job["write"]["clat_ns"]["N"], job["write"]["total_ios"]);
}

/// How often an I/O had to wait, by the lines of `--debug=io`; none may be submitted to where another one is in flight.
fn held_back(lines: &str) -> usize {
    let word = |line: &str, start: &str| {
        let word = line.split([' ', ',']).find_map(|word| word.strip_prefix(start));
        word.unwrap_or_else(|| panic!("no {start} in {line}")).to_owned()
    };
    let mut in_flight: Vec<(String, String)> = Vec::new();
    let mut lines = lines.lines().peekable();
    let mut waited = 0;
    while let Some(line) = lines.next() {
        if line.contains(" complete: ") {
            let unit = word(line, "unit=");
            in_flight.retain(|(other, _)| *other != unit);
        } else if line.contains(" queue: ") && lines.peek().is_some_and(|next| next.contains(" full: ")) {
            waited += 1;
        } else if line.contains(" queue: ") {
            let offset = word(line, "off=");
            assert!(in_flight.iter().all(|(_, other)| *other != offset), "{line} among {in_flight:?}");
            in_flight.push((word(line, "unit="), offset));
        }
    }
    waited
}

#[test]
fn overlapping_writes_are_held_back_until_the_first_is_done() {
    for mode in ["--io_submit_mode=offload", "--io_submit_mode=inline"] {
        let dir = TestDir::new();
        let words = [
            "--output-format=json",
            "--debug=io",
            "--name=a",
            "--filename=f",
            "--ioengine=libaio",
            "--iodepth=8",
            "--rw=randwrite",
            "--norandommap",
            "--size=16k",
            "--io_size=1m",
            "--serialize_overlap=1",
            mode,
        ];
        let run = dir.ferrio(&words).run().succeeded();
        assert_eq!(number(&run.json(), "/jobs/0/write/total_ios"), 256, "{mode}");
        // Eight in flight have no room in four blocks.
        assert!(held_back(&run.stderr) > 0, "{mode}");
    }
}
