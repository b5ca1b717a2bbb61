//! `ferrio btrace2fio`, and the program `fio-btrace2fio` that ferrio is when it is called so.

use std::fs;
use std::os::unix::fs::symlink;

use super::records::{BACK_MERGE, COMPLETE, DISCARD, FLUSH, ISSUE, READ, Record, WRITE, queued, trace};
use crate::support::{FERRIO, Run, TestDir, installed, number, same};

/// The words that keep every thread of a trace.
const ALL: [&str; 4] = ["-t", "0", "-d", "/dev/null"];

/// A request that is queued, issued and completed.
fn request(
    time_us: u64,
    sector: u64,
    len: u32,
    category: u64,
    pid: u32,
    takes_us: u64,
) -> [Record<'static>; 3] {
    let queued = Record { pid, ..queued(time_us, sector, len, category) };
    let issued = Record { time_us: time_us + 1, action: ISSUE, ..queued };
    [queued, issued, Record { time_us: time_us + takes_us, action: COMPLETE, ..queued }]
}

fn sorted(requests: impl IntoIterator<Item = [Record<'static>; 3]>) -> Vec<Record<'static>> {
    let mut records: Vec<_> = requests.into_iter().flatten().collect();
    records.sort_by_key(|record| record.time_us);
    records
}

/// Sequential writes, one at a time.
fn writes() -> Vec<Record<'static>> {
    sorted((0..200).map(|at| request(1000 * at, 8 * at, 4096, WRITE, 77, 2)))
}

/// Called by the name of fio's program.
fn helper(dir: &TestDir, records: &[Record<'_>], words: &[&str]) -> Run {
    fs::write(dir.work().join("trace"), trace(records)).unwrap();
    let link = dir.beside("fio-btrace2fio");
    if !link.exists() {
        symlink(FERRIO, &link).unwrap();
    }
    dir.program(link, &[words, &["trace"]].concat()).run()
}

/// The same as a sub-command.
fn command(dir: &TestDir, records: &[Record<'_>], words: &[&str]) -> Run {
    fs::write(dir.work().join("trace"), trace(records)).unwrap();
    dir.ferrio(&[&["btrace2fio"], words, &["trace"]].concat()).run()
}

fn with<'a>(words: &[&'a str]) -> Vec<&'a str> {
    [&ALL, words].concat()
}

#[test]
fn called_by_its_name_the_program_prints_what_that_of_fio_prints() {
    needs!("fio-btrace2fio");
    let deep = sorted((0..500).map(|at| request(10 * at, 8 * at, 4096, WRITE, 77, 75)));
    let sizes = sorted((0..1000).map(|at| {
        let len = [4096, 8192, 16384][usize::from(at >= 700) + usize::from(at >= 950)];
        request(1000 * at, 400 * at, len, READ, 77, 2)
    }));
    let two = sorted((0..200).flat_map(|at| {
        [request(1000 * at, 8 * at, 4096, WRITE, 77, 2), request(1000 * at + 300, 8 * at, 4096, WRITE, 88, 2)]
    }));
    let late = sorted((0..20).flat_map(|at| {
        [
            request(1000 * at, 8 * at, 4096, READ, 7, 2),
            request(3_000_300 + 1000 * at, 8 * at, 4096, READ, 8, 2),
        ]
    }));
    let jobs: [(&str, Vec<Record<'_>>, &[&str]); 9] = [
        ("one at a time", writes(), &[]),
        ("many at once", deep, &[]),
        (
            "a capped depth",
            sorted((0..500).map(|at| request(10 * at, 8 * at, 4096, WRITE, 77, 75))),
            &["-D", "4"],
        ),
        ("several sizes", sizes, &[]),
        ("two threads", two.clone(), &[]),
        ("two threads that are alike", two, &["-c", "1"]),
        ("a late thread", late, &[]),
        ("few requests", writes().into_iter().take(27).collect(), &[]),
        ("further lines", writes(), &["-a", "group_reporting", "-a", "thinktime=3"]),
    ];
    for (what, records, words) in jobs {
        let dir = TestDir::new();
        for form in [&[][..], &["-f"]] {
            let ours = helper(&dir, &records, &with(&[words, form].concat())).succeeded();
            let fios = dir.program(installed("fio-btrace2fio"), &[&ALL, words, form, &["trace"]].concat());
            let fios = fios.run().succeeded();
            same!("fio": fios.stdout, "ferrio": ours.stdout, "{what} {form:?}");
            same!("fio": fios.stderr, "ferrio": ours.stderr, "{what} {form:?}");
        }
    }
}

#[test]
fn each_program_runs_the_jobs_of_the_job_file() {
    needs!("fio");
    let mixed = sorted((0..300).flat_map(|at| {
        let (kind, len) = ([READ, WRITE, WRITE | DISCARD][at as usize % 3], [4096, 8192][at as usize % 2]);
        [
            request(1000 * at, 8 * (at * 7919 % 1000), len, kind, 77, 2),
            request(1000 * at + 9, 16 * at, 512, WRITE, 9, 3000),
        ]
    }));
    for words in [&["-f"][..], &["-f", "-R"], &["-f", "-c", "1", "-x", "100", "-u", "9"]] {
        let dir = TestDir::new();
        let words = [&["-t", "0", "-d", "data"], words].concat();
        let file = command(&dir, &mixed, &words).succeeded().stdout;
        assert!(
            file.contains("[pid77]\n") && file.contains("[pid77_trim]\n") && file.contains("[pid9]\n"),
            "{file}"
        );
        assert!(file.contains("rw=randrw\nrwmixread=50\n"), "{file}");
        // Of a file that cannot be trimmed; without I/O, the size and the engine of the jobs do not matter.
        let job = dir
            .job(&file.replace("ioengine=sync", "ioengine=null").replace("ioengine=libaio", "ioengine=null"));
        let run = ["--output-format=json", "--size=1m", "--io_size=64k", &job];
        for run in [dir.ferrio(&run).run().succeeded(), dir.fio(&run).run().succeeded()] {
            let ios = |job: usize, kind: &str| number(&run.json(), &format!("/jobs/{job}/{kind}/total_ios"));
            assert!(ios(0, "write") > 0 && ios(1, "read") > 0 && ios(1, "write") > 0 && ios(2, "trim") > 0);
        }
    }
}

#[test]
fn as_a_sub_command_it_says_what_is_left_out() {
    let dir = TestDir::new();
    let run = command(&dir, &writes(), &["-f", "-d", "/dev/null"]).succeeded();
    assert_eq!(run.stdout, "");
    let said = "left out 1 threads with fewer than 10 I/Os, less than 1000000 us or less than 0 KiB/s: see -n, -t and -r";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let mut cut = trace(&writes());
    cut.extend([7, b't', b'a', b'e', 0]);
    fs::write(dir.work().join("cut"), cut).unwrap();
    let run = dir.ferrio(&["btrace2fio", "-t", "0", "-d", "/dev/null", "cut"]).run().succeeded();
    assert!(run.stderr.contains("cut ends in the middle of a record"), "{}", run.stderr);
    assert!(run.stdout.contains("ios:    200 (perc=100.00%)"), "{}", run.stdout);
}

#[test]
fn merged_requests_are_in_flight_once_and_flushes_are_no_writes() {
    let mut records = Vec::new();
    for at in 0..40 {
        let [first, issued, done] = request(1000 * at, 16 * at, 4096, WRITE, 77, 500);
        let second = queued(1000 * at + 10, 16 * at + 8, 4096, WRITE);
        let merged = Record { action: BACK_MERGE, time_us: 1000 * at + 11, ..second };
        records.extend([first, second, merged, issued, done, queued(1000 * at + 600, 0, 0, WRITE | FLUSH)]);
    }
    let dir = TestDir::new();
    let table = command(&dir, &records, &ALL).succeeded().stdout;
    for line in
        ["ios:    80 (perc=100.00%)", "merges: 40 (perc=50.00%)", "depth:\t2\n", "flushes\n\tios:    40\n"]
    {
        assert!(table.contains(line), "{line}: {table}");
    }
    assert!(!table.contains("bs=0"), "{table}");
}

#[test]
fn devices_are_found_by_their_numbers_or_asked_for() {
    let dir = TestDir::new();
    let elsewhere: Vec<Record<'_>> =
        writes().into_iter().map(|record| Record { device: (4000, 77), ..record }).collect();
    for run in [command(&dir, &elsewhere, &["-t", "0"]), helper(&dir, &elsewhere, &["-f", "-t", "0"])] {
        let run = run.ended_with(1);
        assert!(run.stderr.contains("failed to find device 4000/77"), "{}", run.stderr);
        assert!(run.stderr.contains("use -d to specify device"), "{}", run.stderr);
    }
}

#[test]
fn wrong_arguments_and_files_are_refused_with_advice() {
    let dir = TestDir::new();
    let run = helper(&dir, &writes(), &["-z"]).ended_with(1);
    assert!(run.stderr.contains("unexpected argument '-z' found"), "{}", run.stderr);
    assert!(run.stderr.contains("`fio-btrace2fio --help` lists its options"), "{}", run.stderr);
    let run = command(&dir, &writes(), &["-c", "2"]).ended_with(1);
    assert!(run.stderr.contains("invalid value '2' for '--collapse <0|1>'"), "{}", run.stderr);
    let run = dir.ferrio(&["btrace2fio", "missing"]).run().ended_with(1);
    assert!(run.stderr.contains("No such file or directory: missing"), "{}", run.stderr);
    fs::write(dir.work().join("text"), "fio version 3 iolog\n").unwrap();
    let run = dir.ferrio(&["btrace2fio", "text"]).run().ended_with(1);
    assert!(run.stderr.contains("file is not a blktrace: text"), "{}", run.stderr);
    let help = dir.ferrio(&["btrace2fio", "--help"]).run().succeeded().stdout;
    assert!(help.contains("Usage: ferrio btrace2fio [OPTIONS] <TRACE>"), "{help}");
    assert_eq!(dir.ferrio(&["help", "btrace2fio"]).run().succeeded().stdout, help);
}
