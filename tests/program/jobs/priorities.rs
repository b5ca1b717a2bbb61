//! I/O priorities: what the kernel is asked for, which I/Os are chosen, and what reports and logs make of them.
//!
//! The real-time class needs a privilege, so all of this is best effort or idle.

use std::fs;

use serde_json::Value;

use crate::support::{FERRIO, TestDir, installed, number, same};

/// The head of each job: 64 reads of a file of its own.
const JOB: [&str; 6] = ["--name=a", "--filename=f", "--direct=1", "--rw=randread", "--bs=4k", "--size=256k"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&JOB[..], more].concat()
}

/// The report of such a job.
fn report(more: &[&str]) -> Value {
    let dir = TestDir::new();
    dir.ferrio(&[&["--output-format=json+"], &with(more)[..]].concat()).run().succeeded().json()
}

/// Class, level, hint and number of reads of each priority of a report.
fn priorities(direction: &Value, latency: &str) -> Vec<[u64; 4]> {
    let entries = direction["prios"].as_array().cloned().unwrap_or_default();
    let numbers = ["/prioclass", "/prio", "/priohint"];
    let entry = |entry: &Value| {
        let [class, level, hint] = numbers.map(|name| number(entry, name));
        [class, level, hint, number(entry, &format!("/{latency}/N"))]
    };
    entries.iter().map(entry).collect()
}

/// Direction, block size and priority of each I/O, as the log of completion latencies has them.
fn logged(fio: bool, more: &[&str]) -> Vec<Vec<String>> {
    let dir = TestDir::new();
    let words = with(&[&["--write_lat_log=x", "--log_prio=1"], more].concat());
    let program = if fio { dir.fio(&words) } else { dir.ferrio(&words) };
    program.run().succeeded();
    // fio 3.33 writes an offset that was not asked for.
    let columns = |row: Vec<String>| vec![row[2].clone(), row[3].clone(), row[row.len() - 1].clone()];
    dir.rows("x_clat.1.log").into_iter().map(columns).collect()
}

#[test]
fn the_ios_that_fio_chooses_are_chosen() {
    needs!("fio");
    const BEST_EFFORT: [&str; 2] = ["--cmdprio_class=2", "--cmdprio=3"];
    let cases: [(&str, &[&str]); 6] = [
        ("libaio", &["--cmdprio_percentage=40"]),
        ("libaio", &["--rw=randrw", "--cmdprio_percentage=100,40", "--loops=2"]),
        (
            "libaio",
            &["--cmdprio_percentage=30", "--random_generator=tausworthe64", "--randseed=5", "--loops=2"],
        ),
        ("libaio", &["--rw=read", "--bssplit=4k/50:8k/50", "--cmdprio_bssplit=8k/40/2/1:8k/30/3/2:4k/20"]),
        ("libaio", &["--rw=write", "--verify=crc32c", "--cmdprio_percentage=40"]),
        ("io_uring", &["--rw=randrw", "--prio=2", "--cmdprio_percentage=40,0"]),
    ];
    for (engine, more) in cases {
        let engine = format!("--ioengine={engine}");
        let more = [&[engine.as_str()], &BEST_EFFORT[..], more].concat();
        let (fio, ferrio) = (logged(true, &more), logged(false, &more));
        assert!(ferrio.iter().any(|row| row[2] == "0x4003") && ferrio.iter().any(|row| row[2] != "0x4003"));
        same!("fio": fio, "ferrio": ferrio, "I/Os and priorities of {more:?}");
    }
}

#[test]
fn rows_of_all_logs_have_the_jobs_priority() {
    let dir = TestDir::new();
    let logs =
        ["--write_lat_log=x", "--write_bw_log=x", "--write_iops_log=x", "--log_prio=1", "--log_offset=1"];
    let job = ["--ioengine=io_uring", "--prioclass=3", "--prio=1"];
    dir.ferrio(&with(&[&logs[..], &job].concat())).run().succeeded();
    for name in ["lat", "slat", "clat", "bw", "iops"] {
        let text = dir.read(&format!("x_{name}.1.log"));
        assert_eq!(text.lines().filter(|row| row.ends_with(", 0x6001")).count(), 64, "{name}:\n{text}");
    }
    let (averaged, plain) = (["--log_avg_msec=1000"], ["--log_prio=0", "--prio=5", "--prioclass=2"]);
    dir.ferrio(&with(&[&logs[..], &job, &averaged].concat())).run().succeeded();
    let text = dir.read("x_clat.1.log");
    assert!(text.lines().count() == 1 && text.ends_with(", 0, 0, 0, 0x0000\n"), "{text}");
    dir.ferrio(&with(&[&logs[..], &job, &plain].concat())).run().succeeded();
    let text = dir.read("x_clat.1.log");
    assert!(text.lines().all(|row| row.ends_with(", 0")), "{text}");
}

#[test]
fn reports_tell_the_latencies_of_chosen_ios_apart() {
    let job = ["--prio=6", "--prioclass=3", "--cmdprio_percentage=40", "--cmdprio_class=2", "--cmdprio=3"];
    for engine in ["--ioengine=libaio", "--ioengine=io_uring"] {
        let read = &report(&[&[engine, "--iodepth=4"], &job[..]].concat())["jobs"][0]["read"];
        let found = priorities(read, "clat_ns");
        // 26 of the first 64 draws are below 40.
        assert_eq!(found, [[3, 6, 0, 38], [2, 3, 0, 26]], "{engine}");
        let counted: u64 = read["prios"][1]["clat_ns"]["bins"]
            .as_object()
            .unwrap()
            .values()
            .map(|count| count.as_u64().unwrap())
            .sum();
        assert_eq!(counted, 26);
        let keys: Vec<_> = read["prios"][0].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["prioclass", "prio", "priohint", "clat_ns"]);
    }
    let total = report(&[&["--ioengine=libaio", "--lat_percentiles=1"], &job[..]].concat());
    assert_eq!(priorities(&total["jobs"][0]["read"], "lat_ns"), [[3, 6, 0, 38], [2, 3, 0, 26]]);
}

#[test]
fn a_job_with_one_priority_has_no_latencies_by_priority() {
    for more in [
        &["--ioengine=psync", "--prio=3"][..],
        &["--ioengine=libaio", "--cmdprio_percentage=100", "--cmdprio_class=2"],
        &["--ioengine=io_uring", "--prio=3", "--cmdprio_percentage=50", "--cmdprio_class=2", "--cmdprio=3"],
        &["--ioengine=libaio", "--cmdprio_percentage=50", "--cmdprio_class=2", "--disable_clat=1"],
    ] {
        assert_eq!(report(more)["jobs"][0]["read"].get("prios"), None, "{more:?}");
    }
}

#[test]
fn jobs_of_a_group_with_different_priorities_are_told_apart() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=psync\nfilename=f\nsize=64k\ngroup_reporting\n[a]\nprio=3\n[b]\nprioclass=3\n[c]\nprio=3\n",
    );
    let document = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    assert_eq!(priorities(&document["jobs"][0]["read"], "clat_ns"), [[2, 3, 0, 32], [3, 0, 0, 16]]);
    let text = dir.ferrio(&[job]).run().succeeded().stdout;
    assert!(text.contains("\n    clat prio 3/0/0 (33.33% of IOs) percentiles ("), "{text}");
}

#[test]
fn the_text_has_a_line_and_a_block_for_each_priority_where_fio_has_them() {
    needs!("fio");
    let more = ["--ioengine=libaio", "--cmdprio_percentage=40", "--cmdprio_class=2", "--cmdprio=3"];
    let titles = |fio: bool| {
        let dir = TestDir::new();
        let program = if fio { dir.fio(&with(&more)) } else { dir.ferrio(&with(&more)) };
        let text = program.run().succeeded().stdout;
        // Up to the shares of latencies, whose units are a matter of speed.
        let lines = text.lines().map(str::trim).take_while(|line| !line.contains("sec)   :"));
        let about = lines.filter(|line| ["slat", "clat", "lat"].iter().any(|name| line.starts_with(name)));
        // The installed version may be too old to know hints, which follow class and level.
        let title =
            |line: &str| line.split(" (").next().unwrap().split('/').take(2).collect::<Vec<_>>().join("/");
        about.map(|line| (title(line), line.contains("percentiles"))).collect::<Vec<_>>()
    };
    let (fio, ferrio) = (titles(true), titles(false));
    assert_eq!(fio.iter().filter(|(title, _)| title.contains("prio")).count(), 4, "{fio:?}");
    same!("fio": fio, "ferrio": ferrio, "lines about latencies");
}

#[test]
fn the_worker_asks_for_its_priority_and_requests_for_theirs() {
    needs!("strace");
    let traced = |more: &[&str]| {
        let dir = TestDir::new();
        let output = dir.beside("trace");
        let trace = ["-f", "-v", "-o", output.to_str().unwrap(), "-e", "trace=ioprio_set,io_submit", FERRIO];
        dir.program(installed("strace"), &[&trace[..], &with(more)].concat()).run().succeeded();
        fs::read_to_string(output).unwrap()
    };
    let trace = traced(&["--ioengine=psync", "--prio=5"]);
    assert!(trace.contains("IOPRIO_CLASS_BE, 5") || trace.contains("16389"), "{trace}");
    assert!(!traced(&["--ioengine=psync"]).contains("ioprio_set"));
    let trace = traced(&["--ioengine=libaio", "--cmdprio_percentage=40", "--cmdprio_class=2", "--cmdprio=3"]);
    assert_eq!(trace.matches("IOCB_FLAG_IOPRIO").count(), 26, "{trace}");
}

#[test]
fn a_job_with_wrong_shares_fails_alone() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=libaio\nsize=64k\nrw=randread\n[a]\ncmdprio_percentage=50\ncmdprio_bssplit=4k/50\n\
         [b]\ncmdprio_bssplit=4k/50:4k/60\n[c]\ncmdprio_bssplit=4k/50/1\n[d]\n",
    );
    let run = dir.ferrio(&["--output-format=json", &job]).run().ended_with(3);
    for line in [
        "a: cmdprio_percentage and cmdprio_bssplit options are mutually exclusive",
        "b: cmdprio_bssplit total percentage for bs: 4096 exceeds 100",
        "c: invalid cmdprio_bssplit format: `4k/50/1`; write `size/percent` or `size/percent/class/level[/hint]`",
    ] {
        assert!(run.stderr.contains(line), "{line} in\n{}", run.stderr);
    }
    let document = run.json();
    let errors = [0, 1, 2, 3].map(|job| number(&document, &format!("/jobs/{job}/error")));
    assert_eq!(errors, [22, 22, 22, 0]);
    assert_eq!(number(&document, "/jobs/3/read/total_ios"), 16);
}

#[test]
fn wrong_numbers_and_engines_without_priorities_are_refused() {
    for (more, message) in [
        (["--ioengine=psync", "--prioclass=4"], "invalid value `4` for option `prioclass`"),
        (["--ioengine=psync", "--prio=8"], "invalid value `8` for option `prio`"),
        (
            ["--ioengine=libaio", "--cmdprio_percentage=101"],
            "invalid value `101` for option `cmdprio_percentage`",
        ),
        (
            ["--ioengine=libaio", "--cmdprio_bssplit=4k/50/2/8"],
            "invalid value `4k/50/2/8` for option `cmdprio_bssplit`",
        ),
        (["--ioengine=io_uring", "--cmdprio_class=0"], "invalid value `0` for option `cmdprio_class`"),
        (["--ioengine=psync", "--cmdprio_percentage=5"], "unrecognized option '--cmdprio_percentage=5'"),
    ] {
        let run = TestDir::new().ferrio(&with(&more)).run().ended_with(1);
        assert!(run.stderr.contains(message) && run.stdout.is_empty(), "{more:?}: {}", run.stderr);
    }
}
