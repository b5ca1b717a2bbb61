//! `read_iolog` of block traces.

use std::fs;
use std::process::Command;

use super::records::{
    BACK_MERGE, COMPLETE, DISCARD, FLUSH, Form, ISSUE, NOTIFY, READ, Record, USUAL, WRITE, in_form, queued,
    trace,
};
use crate::logs::replay::{ios, totals};
use crate::support::{Run, TestDir, number, same};

/// The words of a replay of the trace `trace` on the file `data`.
const REPLAY: [&str; 5] =
    ["--name=r", "--ioengine=psync", "--read_iolog=trace", "--replay_redirect=data", "--output-format=json"];

/// Further words that write a log of each I/O.
const LOGGED: [&str; 2] = ["--write_lat_log=done", "--log_offset=1"];

fn put(dir: &TestDir, bytes: &[u8]) {
    fs::write(dir.work().join("trace"), bytes).unwrap();
}

fn replay(dir: &TestDir, words: &[&str]) -> Run {
    dir.ferrio(&[&REPLAY[..], words].concat()).run()
}

/// Requests of all kinds, with what surrounds them in a trace: notes, issues, completions, merges and payloads.
fn busy() -> Vec<Record<'static>> {
    let mut records = vec![
        Record { action: 0, payload: b"fio\0", ..queued(1, 0, 0, NOTIFY) },
        Record { action: 1, payload: b"01234567", ..queued(1, 0, 0, NOTIFY) },
    ];
    for at in 0..200 {
        let kind = [WRITE, READ, WRITE | 1 << 3, READ | 1 << 11, WRITE | 1 << 12][at as usize % 5];
        let len = [4096, 512, 12288][at as usize % 3];
        let request = queued(10 + at, 8 * (at * 7919 % 500), len, kind);
        records.push(request);
        let action = if at % 7 == 0 { BACK_MERGE } else { ISSUE };
        records.push(Record { action, ..request });
        if at % 11 == 0 {
            records.push(queued(10 + at, 0, 0, WRITE | FLUSH));
        }
        records.push(Record { action: COMPLETE, payload: b"abc", ..request });
    }
    records
}

#[test]
fn both_programs_replay_the_same_requests_in_either_byte_order() {
    needs!("fio");
    let forms = [USUAL, Form { big_endian: true, ..USUAL }];
    for (form, words) in forms.into_iter().flat_map(|form| {
        let changes: [&[&str]; 4] =
            [&[], &["--replay_align=4096"], &["--replay_scale=3"], &["--replay_skip=read,sync"]];
        changes.map(|words| (form, words))
    }) {
        let [fio, ferrio] = [true, false].map(|by_fio| {
            let dir = TestDir::new();
            put(&dir, &in_form(form, &busy()));
            fs::write(dir.work().join("data"), vec![0; 1 << 22]).unwrap();
            let words = [&REPLAY[..], &LOGGED, &["--iodepth=1"], words].concat();
            let run = if by_fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
            (ios(&dir), totals(&run))
        });
        assert!(ferrio.0.len() > 100, "{words:?}");
        same!("fio": fio, "ferrio": ferrio, "the replay with {words:?}");
    }
}

#[test]
fn records_of_newer_kernels_are_read() {
    let version_8 = Form { version: 8, ..USUAL };
    let append = 1 << 16 | WRITE;
    let reset = 1 << 17 | WRITE;
    let records = [
        queued(1, 0, 4096, WRITE),
        // Of a control group, whose number is the payload.
        Record { action: 0x101, payload: b"01234567", ..queued(2, 8, 4096, WRITE) },
        queued(3, 16, 4096, append),
        queued(4, 0, 0, reset),
        queued(5, 24, 4096, READ),
    ];
    for form in [version_8, Form { big_endian: true, ..version_8 }] {
        let dir = TestDir::new();
        fs::write(dir.work().join("data"), vec![0; 1 << 16]).unwrap();
        put(&dir, &in_form(form, &records));
        let run = replay(&dir, &[]).succeeded();
        assert_eq!(totals(&run), [1, 3, 0, 0]);
        assert!(
            run.stderr.contains("left out: 1 zone management request (reset, finish, open, close)"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn a_write_that_flushes_first_is_both_for_ferrio_and_the_flush_for_fio() {
    needs!("fio");
    for (called, want) in [("ferrio", [0, 2, 0, 1]), ("fio", [0, 1, 0, 1])] {
        let dir = TestDir::new();
        put(&dir, &trace(&[queued(1, 0, 4096, WRITE), queued(2, 8, 4096, WRITE | FLUSH)]));
        assert_eq!(totals(&replay(&dir, &[&format!("--as={called}")]).succeeded()), want, "{called}");
    }
    let dir = TestDir::new();
    put(&dir, &trace(&[queued(1, 0, 4096, WRITE), queued(2, 8, 4096, WRITE | FLUSH)]));
    assert_eq!(totals(&dir.fio(&REPLAY).run().succeeded()), [0, 1, 0, 1]);
}

#[test]
fn waits_are_between_requests_and_begin_with_the_first_that_has_a_time() {
    // Also one that is left out begins the time.
    let late = [queued(1, 0, 0, READ), queued(150_000, 0, 4096, WRITE), queued(250_000, 8, 4096, WRITE)];
    let dir = TestDir::new();
    put(&dir, &trace(&late));
    let runtime = |run: &Run| number(&run.json(), "/jobs/0/job_runtime");
    let run = replay(&dir, &[]).succeeded();
    assert!(runtime(&run) >= 249, "{}", runtime(&run));
    assert!(
        run.stderr.contains("blktrace: ignoring zero byte trace: action=10001 (trace, record 1)"),
        "{}",
        run.stderr
    );
    assert!(runtime(&replay(&dir, &["--replay_time_scale=1000"]).succeeded()) < 249);
    // Traces of blkparse begin at 0, which is no time.
    put(
        &dir,
        &trace(&[
            queued(0, 0, 4096, WRITE),
            queued(10_000_000, 8, 4096, WRITE),
            queued(10_050_000, 16, 4096, WRITE),
        ]),
    );
    let run = replay(&dir, &["--replay_no_stall=0", "--runtime=5"]).succeeded();
    assert_eq!(totals(&run), [0, 3, 0, 0]);
}

#[test]
fn the_depth_is_that_of_the_trace_unless_the_job_has_one() {
    let mut records: Vec<_> = (0..12).map(|at| queued(1, 8 * at, 4096, WRITE)).collect();
    records.extend((0..4).map(|_| Record { action: BACK_MERGE, ..queued(2, 0, 4096, WRITE) }));
    records.push(Record { action: COMPLETE, ..queued(3, 0, 4096, WRITE) });
    records.extend((0..20).map(|at| queued(4, 8 * at, 4096, WRITE)));
    for (words, want) in [(&[][..], 8), (&["--iodepth=3"], 3)] {
        let dir = TestDir::new();
        put(&dir, &trace(&records));
        let run = replay(&dir, &[words, &["--ioengine=libaio"]].concat());
        let run = run.succeeded();
        assert_eq!(run.json()["jobs"][0]["iodepth_level"]["16"].as_f64(), Some(0.0));
        let deep = run.json()["jobs"][0]["iodepth_level"]["8"].as_f64().unwrap();
        assert_eq!(deep > 0.0, want == 8, "{words:?}: {deep}");
    }
}

#[test]
fn readonly_leaves_out_what_changes_data_and_says_how_much() {
    let dir = TestDir::new();
    fs::write(dir.work().join("data"), [b'x'; 8192]).unwrap();
    let mut records = vec![queued(1, 0, 4096, WRITE); 6];
    records.extend([queued(2, 8, 4096, READ), queued(2, 8, 4096, WRITE | DISCARD)]);
    put(&dir, &trace(&records));
    let run = replay(&dir, &["--readonly"]).succeeded();
    assert_eq!(totals(&run), [1, 0, 0, 0]);
    assert!(run.stderr.contains("r skips replay of 7 writes due to read-only"), "{}", run.stderr);
    assert_eq!(fs::read(dir.work().join("data")).unwrap(), [b'x'; 8192]);
}

#[test]
fn devices_that_are_not_here_are_all_named() {
    let dir = TestDir::new();
    let on = |device| Record { device, ..queued(1, 0, 4096, READ) };
    put(&dir, &trace(&[on((4000, 1)), on((4000, 2)), on((4000, 1))]));
    let words = ["--name=r", "--ioengine=psync", "--read_iolog=trace"];
    let run = dir.ferrio(&words).run().ended_with(1);
    let said = "did not find replay device(s): 4000:1, 4000:2; name a device or file with `replay_redirect`";
    assert!(run.stderr.contains(said), "{}", run.stderr);
}

#[test]
fn what_follows_no_rule_is_named_with_its_place() {
    let good = trace(&[queued(1, 0, 4096, WRITE), queued(2, 8, 4096, WRITE)]);
    let old = in_form(Form { version: 6, ..USUAL }, &[queued(3, 16, 4096, WRITE)]);
    for (bytes, why) in [
        ([&good[..], &[0x55; 48]].concat(), "bad magic in blktrace data: 55555555 (record 3, at byte 96)"),
        (
            [&good[..], &old].concat(),
            "bad blktrace version 6 (record 3, at byte 96): versions 7 and 8 can be read",
        ),
        (trace(&[queued(1, 0, 0, WRITE | FLUSH)]), "found no ios in blktrace data"),
    ] {
        let dir = TestDir::new();
        put(&dir, &bytes);
        let run = replay(&dir, &[]).ended_with(1);
        assert!(
            run.stderr.contains(why) && run.stderr.contains("failed initializing iolog"),
            "{why}: {}",
            run.stderr
        );
        assert_eq!(dir.size("data"), None);
    }
}

#[test]
fn the_file_of_one_cpu_and_a_trace_out_of_order_are_noted() {
    let dir = TestDir::new();
    let records = [queued(5000, 0, 4096, WRITE), queued(1000, 8, 4096, WRITE), queued(2000, 16, 4096, WRITE)];
    fs::write(dir.work().join("sda.blktrace.1"), trace(&records)).unwrap();
    let run = replay(&dir, &["--read_iolog=sda.blktrace.1"]).succeeded();
    assert_eq!(totals(&run), [0, 3, 0, 0]);
    for said in [
        "out of order: 1 request with an earlier time than the one before",
        "has the requests of one CPU only: `blkparse -i sda -d FILE` makes a trace of those of all CPUs",
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
}

#[test]
fn traces_are_read_piece_by_piece_and_from_standard_input() {
    let dir = TestDir::new();
    put(&dir, &trace(&busy()));
    fs::write(dir.work().join("data"), vec![0; 1 << 22]).unwrap();
    let whole = totals(&replay(&dir, &LOGGED).succeeded());
    let done = ios(&dir);
    fs::remove_file(dir.work().join("done_lat.1.log")).unwrap();
    let words = [&LOGGED[..], &["--read_iolog_chunked=1"]].concat();
    assert_eq!((totals(&replay(&dir, &words).succeeded()), ios(&dir)), (whole, done));
    let shell = format!(
        "{} --name=r --ioengine=psync --read_iolog=- --replay_redirect=data --output-format=json < trace",
        crate::support::FERRIO
    );
    let output = Command::new("sh").args(["-c", &shell]).current_dir(dir.work()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(number(&report, "/jobs/0/write/total_ios"), whole[1]);
}
