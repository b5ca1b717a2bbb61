//! `read_iolog`: logs of either program replayed by both, and what replays change, skip and refuse.

use std::fs;
use std::io::Write as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::Signal;

use crate::one_file::{Content, Mounted, UNCACHED, piece};
use crate::support::{Run, TestDir, number, same, skipped};

const V3: &str = "fio version 3 iolog\n";

/// The words of a replay of the log `log`.
const REPLAY: [&str; 4] = ["--name=r", "--ioengine=psync", "--read_iolog=log", "--output-format=json"];

fn log(dir: &TestDir, text: &str) {
    fs::write(dir.work().join("log"), text).unwrap();
}

fn replay(dir: &TestDir, words: &[&str]) -> Run {
    dir.ferrio(&[&REPLAY[..], words].concat()).run()
}

/// I/Os and syncs of the first job: reads, writes, trims, syncs.
pub(super) fn totals(run: &Run) -> [u64; 4] {
    let report = run.json();
    ["read", "write", "trim", "sync"].map(|kind| number(&report, &format!("/jobs/0/{kind}/total_ios")))
}

/// Direction, length and offset of each I/O, by the log of latencies.
pub(super) fn ios(dir: &TestDir) -> Vec<[String; 3]> {
    let row = |row: Vec<String>| [row[2].clone(), row[3].clone(), row[4].clone()];
    dir.rows("done_lat.1.log").into_iter().map(row).collect()
}

#[test]
fn each_program_replays_the_logs_of_both_as_the_other_does() {
    needs!("fio");
    let jobs: [&[&str]; 3] = [
        &["--rw=randrw", "--bsrange=1k-16k", "--fsync=4", "--size=256k"],
        &["--rw=randwrite", "--nrfiles=3", "--bs=4k", "--size=96k", "--fsync=5"],
        &["--rw=write", "--loops=2", "--bs=4k", "--size=32k", "--end_fsync=1"],
    ];
    for job in jobs {
        for recorded_by_fio in [true, false] {
            let recording = TestDir::new();
            let words = [&["--name=w", "--ioengine=psync", "--write_iolog=log"], job].concat();
            if recorded_by_fio { recording.fio(&words) } else { recording.ferrio(&words) }.run().succeeded();
            let recorded = recording.read("log");
            let issued: Vec<[String; 3]> = recorded
                .lines()
                .filter_map(|line| {
                    let words: Vec<&str> = line.split(' ').collect();
                    let direction = ["read", "write"].iter().position(|kind| words.get(2) == Some(kind))?;
                    Some([direction.to_string(), words[4].to_owned(), words[3].to_owned()])
                })
                .collect();
            let [fio, ferrio] = [true, false].map(|by_fio| {
                let dir = TestDir::new();
                log(&dir, &recorded);
                // Replays lay nothing out, and the reads of a mix come before the writes.
                for (name, bytes) in recording.files().into_iter().filter(|(name, _)| name != "log") {
                    fs::File::create(dir.work().join(name)).unwrap().set_len(bytes).unwrap();
                }
                let more = ["--replay_no_stall=1", "--write_lat_log=done", "--log_offset=1"];
                let words = [&REPLAY[..], &more[..]].concat();
                let run = if by_fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
                (ios(&dir), totals(&run))
            });
            same!("recorded": issued, "ferrio": ferrio.0, "the replay of {job:?}");
            same!("fio": fio, "ferrio": ferrio, "the replay of {job:?}, recorded by fio: {recorded_by_fio}");
        }
    }
}

#[test]
fn an_asynchronous_engine_replays_with_the_depth_of_the_job() {
    let dir = TestDir::new();
    let writes: String = (0..64).map(|at| format!("3 d write {} 4096\n", at * 4096)).collect();
    log(&dir, &format!("{V3}1 d add\n2 d open\n{writes}4 d close\n"));
    let run = replay(&dir, &["--ioengine=io_uring", "--iodepth=8"]).succeeded();
    assert_eq!((totals(&run), dir.size("d")), ([0, 64, 0, 0], Some(262_144)));
    assert!(run.json()["jobs"][0]["iodepth_level"]["8"].as_f64().unwrap() > 0.0);
}

#[test]
fn every_direction_is_replayed_also_in_one_log() {
    let dir = TestDir::new();
    log(
        &dir,
        "fio version 2 iolog\nd add\nd open\nd trim 0 65536\nd write 0 512\nd read 0 4096\nd sync 0 0\n",
    );
    let run = replay(&dir, &["--ioengine=null"]).succeeded();
    assert_eq!(totals(&run), [1, 1, 1, 1]);
    assert_eq!(number(&run.json(), "/jobs/0/trim/io_bytes"), 65536);
}

#[test]
fn waits_are_kept_and_cut_by_the_run_time() {
    let dir = TestDir::new();
    log(&dir, &format!("{V3}1 d add\n2 d open\n1000 d write 0 4096\n101000 d write 4096 4096\n"));
    let run = replay(&dir, &[]).succeeded();
    assert!(number(&run.json(), "/jobs/0/job_runtime") >= 100);
    log(&dir, &format!("{V3}1 d add\n2 d open\n1000 d write 0 4096\n100000000 d write 4096 4096\n"));
    assert_eq!(totals(&replay(&dir, &["--runtime=100ms"]).succeeded()), [0, 1, 0, 0]);
    assert_eq!(totals(&replay(&dir, &["--replay_no_stall=1"]).succeeded()), [0, 2, 0, 0]);
    log(&dir, "fio version 2 iolog\nd add\nd open\nd write 0 4096\nd wait 60 0\nd write 4096 4096\n");
    assert_eq!(totals(&replay(&dir, &[]).succeeded()), [0, 2, 0, 0]);
}

#[test]
fn files_are_made_by_writes_and_must_be_there_for_reads() {
    let dir = TestDir::new();
    log(
        &dir,
        &format!(
            "{V3}1 x add\n1 y add\n2 x open\n2 y open\n3 x write 4096 4096\n4 y write 0 10\n5 x close\n"
        ),
    );
    replay(&dir, &[]).succeeded();
    assert_eq!((dir.size("x"), dir.size("y")), (Some(8192), Some(10)));
    log(&dir, &format!("{V3}1 gone add\n2 gone open\n3 gone read 0 4096\n"));
    let run = replay(&dir, &[]).ended_with(1);
    assert!(run.stderr.contains("gone") && dir.size("gone").is_none(), "{}", run.stderr);
}

#[test]
fn a_replay_with_verification_writes_headers_and_reads_them_back() {
    let dir = TestDir::new();
    log(
        &dir,
        &format!(
            "{V3}1 f add\n2 f open\n3 f write 4096 4096\n4 f write 0 4096\n5 f write 4096 4096\n6 f close\n"
        ),
    );
    let run = replay(&dir, &["--verify=crc32c"]).succeeded();
    assert_eq!(totals(&run), [2, 3, 0, 0], "what is written twice is read once");
    let read = ["--name=r", "--filename=f", "--size=8k", "--rw=read", "--verify=crc32c"];
    dir.ferrio(&read).run().succeeded();
}

#[test]
fn readonly_leaves_out_what_changes_data() {
    let dir = TestDir::new();
    fs::write(dir.work().join("d"), [b'x'; 8192]).unwrap();
    log(&dir, &format!("{V3}1 d add\n2 d open\n3 d write 0 4096\n4 d read 4096 4096\n5 d trim 0 4096\n"));
    assert_eq!(totals(&replay(&dir, &["--readonly"]).succeeded()), [1, 0, 0, 0]);
    assert_eq!(fs::read(dir.work().join("d")).unwrap(), [b'x'; 8192]);
}

#[test]
fn logs_come_from_standard_input_and_from_sockets() {
    let dir = TestDir::new();
    let text = format!("{V3}1 d add\n2 d open\n3 d write 0 4096\n4 d write 8192 4096\n5 d close\n");
    let words = ["--name=r", "--ioengine=psync", "--read_iolog=-", "--output-format=json"];
    assert_eq!(totals(&dir.ferrio(&words).input(&text).run().succeeded()), [0, 2, 0, 0]);
    assert_eq!(dir.size("d"), Some(12288));
    let listener = UnixListener::bind(dir.work().join("log")).unwrap();
    let serving =
        std::thread::spawn(move || listener.accept().unwrap().0.write_all(text.as_bytes()).unwrap());
    assert_eq!(totals(&replay(&dir, &[]).succeeded()), [0, 2, 0, 0]);
    // The server must not wait for a replay that has not come.
    drop(UnixStream::connect(dir.work().join("log")));
    serving.join().unwrap();
}

#[test]
fn bad_lines_are_named_and_skipped() {
    let dir = TestDir::new();
    log(&dir, "fio version 2 iolog\nd add\nd open\nd bogus 0 1\none\nd unlink\nd write 0 4096 x\nd close\n");
    let run = replay(&dir, &[]).ended_with(1);
    replay(&dir, &["--as=fio"]).succeeded();
    assert_eq!(totals(&run), [0, 1, 0, 0]);
    for said in [
        "bad iolog file action: bogus (log, line 4)",
        "bad iolog2: one (log, line 5)",
        "unlink (log, line 6)",
    ] {
        assert!(run.stderr.contains(said), "{said}: {}", run.stderr);
    }
}

#[test]
fn logs_that_cannot_be_replayed_fail_their_job_alone() {
    let dir = TestDir::new();
    let trace = "\u{7}tae and the rest of a binary trace of blktrace, which is longer than this";
    let cases = [
        (None, "log: fopen read iolog: No such file or directory"),
        (Some(""), "unable to read iolog"),
        (
            Some("fio version 1 iolog\nd add\nd open\nd write 0 4096\n"),
            "iolog version 1 is no longer supported",
        ),
        (Some("fio version 3 iolog\n1 d add\n2 d open\n3 d sync 0 0\n"), "nothing to replay"),
        (
            Some("fio version 3 iolog\n1 d add\n3 d write 0 4096\n"),
            "line 3: the file d is used before a line opens it",
        ),
        (Some(trace), "blktrace"),
    ];
    for (text, why) in cases {
        if let Some(text) = text {
            log(&dir, text);
        }
        let other = ["--name=other", "--ioengine=null", "--size=8k"];
        let run = replay(&dir, &other).ended_with(1);
        assert!(run.stderr.contains(why), "{why}: {}", run.stderr);
        assert_eq!(number(&run.json(), "/jobs/1/read/total_ios"), 2, "{why}");
        assert_eq!(dir.size("d"), None, "{why}");
    }
}

#[test]
fn what_a_log_decides_is_noted() {
    let dir = TestDir::new();
    log(&dir, &format!("{V3}1 d add\n2 d open\n3 d read 0 4096\n"));
    fs::write(dir.work().join("d"), [0; 4096]).unwrap();
    let words = ["--rw=write", "--size=1m", "--loops=3", "--write_iolog=again"];
    let run = replay(&dir, &words).succeeded();
    assert_eq!((totals(&run), dir.size("again")), ([1, 0, 0, 0], None));
    for option in ["rw", "size", "loops"] {
        let said = format!("option `{option}` has no effect here: the log of `read_iolog` replaces it");
        assert!(run.stderr.contains(&said), "{}", run.stderr);
    }
    assert!(run.stderr.contains("read iolog overrides write_iolog"), "{}", run.stderr);
    replay(&dir, &["--write_iolog=again", "--warnings-fatal"]).ended_with(1);
}

/// A log that is longer than what is kept ready of it.
fn long_log() -> String {
    let ios: String = (0..200_000_u64)
        .map(|at| match at % 5 {
            0 => format!("{at} e trim {} 8192\n", at * 4096),
            1 => format!("{at} e sync 0 0\n"),
            2 => format!("{at} d read {} 512\n", at % 64 * 512),
            _ => format!("{at} d write {} 4096\n", (at * 7919 % 1000) * 4096),
        })
        .collect();
    format!("{V3}1 d add\n1 e add\n2 d open\n2 e open\n{ios}bogus\n200000 d close\n200000 e close\n")
}

#[test]
fn a_log_that_is_read_in_pieces_gives_the_same_replay() {
    let dir = TestDir::new();
    log(&dir, &long_log());
    let [whole, chunked] = ["--read_iolog_chunked=0", "--read_iolog_chunked=1"].map(|chunked| {
        let more =
            ["--replay_no_stall=1", "--write_lat_log=done", "--log_offset=1", "--ioengine=null", chunked];
        let run = replay(&dir, &more).ended_with(1);
        assert_eq!(run.stderr.matches("bad iolog3: bogus").count(), 1, "{}", run.stderr);
        (totals(&run), ios(&dir))
    });
    assert_eq!(whole.0, [40_000, 80_000, 40_000, 40_000]);
    assert!(whole == chunked, "{:?} and {:?}", whole.0, chunked.0);
}

#[test]
fn pieces_come_from_files_standard_input_and_sockets_alike() {
    let text = long_log();
    let words = ["--ioengine=null", "--replay_no_stall=1", "--read_iolog_chunked=1", "--replay_skip=trim"];
    let want = [40_000, 80_000, 0, 40_000];
    let dir = TestDir::new();
    let stdin = ["--name=r", "--read_iolog=-", "--output-format=json"];
    assert_eq!(totals(&dir.ferrio(&[&stdin[..], &words].concat()).input(&text).run().ended_with(1)), want);
    let listener = UnixListener::bind(dir.work().join("log")).unwrap();
    let serving =
        std::thread::spawn(move || listener.accept().unwrap().0.write_all(text.as_bytes()).unwrap());
    assert_eq!(totals(&replay(&dir, &words).ended_with(1)), want);
    drop(UnixStream::connect(dir.work().join("log")));
    serving.join().unwrap();
}

/// A log whose file system does not answer when the beginning is read again.
struct Stalling {
    log: Vec<u8>,
    /// Reads of the beginning so far, and whether further ones get an answer.
    reads: Mutex<(u32, bool)>,
    answers: Condvar,
}

impl Stalling {
    /// A process whose thread waits for FUSE cannot end, so a test that fails must not wait forever either.
    const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

    fn answer(&self) {
        self.reads.lock().unwrap().1 = true;
        self.answers.notify_all();
    }
}

impl Content for Stalling {
    fn size(&self) -> u64 {
        self.log.len() as u64
    }

    fn read(&self, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let mut reads = self.reads.lock().unwrap();
        // The planner tells the kind of log by its first bytes, and then reads on.
        reads.0 += u32::from(offset == 0);
        let waits = |(reads, answers): &mut (u32, bool)| *reads > 1 && !*answers;
        let (mut reads, waited) =
            self.answers.wait_timeout_while(reads, Self::ANSWER_TIMEOUT, waits).unwrap();
        reads.1 |= waited.timed_out();
        Ok(piece(&self.log, offset, size))
    }
}

#[test]
fn a_signal_ends_a_job_whose_log_does_not_arrive() {
    let dir = TestDir::new();
    let log = format!("{V3}1 d add\n2 d open\n3 d write 0 4096\n").into_bytes();
    let content = Arc::new(Stalling { log, reads: Mutex::default(), answers: Condvar::new() });
    let Ok(mounted) = Mounted::new(Arc::clone(&content), &dir.beside(""), "stalling", UNCACHED) else {
        return skipped("a log that does not arrive", "FUSE cannot mount a file system");
    };
    let words = ["--name=r", "--ioengine=null", "--read_iolog_chunked=1", "--output=report"];
    let log = format!("--read_iolog={}", mounted.path());
    let mut running = dir.ferrio(&[&words[..], &[&log]].concat()).start();
    running.until("the log is read again", || content.reads.lock().unwrap().0 > 1);
    running.signal(Signal::SIGINT);
    running.until("the report", || {
        fs::read_to_string(dir.work().join("report"))
            .is_ok_and(|report| report.contains("Run status group 0"))
    });
    assert!(!content.reads.lock().unwrap().1, "the report had to wait for the log");
    content.answer();
    let run = running.wait().ended_with(128);
    assert!(run.stderr.contains("terminating on signal 2"), "{}", run.stderr);
}

#[test]
fn a_check_of_the_first_pieces_does_not_wait_for_the_others() {
    let dir = TestDir::new();
    let writes: String =
        (0..200_000_u64).map(|at| format!("{at} d write {} 4096\n", at % 500 * 4096)).collect();
    log(&dir, &format!("{V3}1 d add\n2 d open\n{writes}200000 d close\n"));
    let words = ["--read_iolog_chunked=1", "--replay_no_stall=1", "--verify=crc32c", "--number_ios=20"];
    replay(&dir, &[&words[..], &["--do_verify=0"]].concat()).succeeded();
    let checked = replay(&dir, &[&words[..], &["--verify_only"]].concat()).succeeded();
    assert_eq!(totals(&checked), [20, 20, 0, 0]);
}

#[test]
fn pieces_are_replayed_by_clones_with_depth_verified_and_up_to_number_ios() {
    let dir = TestDir::new();
    let writes: String =
        (0..20_000_u64).map(|at| format!("{at} d write {} 4096\n", at % 500 * 4096)).collect();
    log(&dir, &format!("{V3}1 d add\n2 d open\n{writes}20000 d close\n"));
    let words = ["--read_iolog_chunked=1", "--replay_no_stall=1"];
    let run = |more: &[&str]| replay(&dir, &[&words[..], more].concat()).succeeded();
    let verified = run(&["--verify=crc32c", "--ioengine=io_uring", "--iodepth=8"]);
    assert_eq!(totals(&verified), [500, 20_000, 0, 0], "what is written often is read once");
    let clones = run(&["--numjobs=3", "--group_reporting", "--ioengine=null"]);
    assert_eq!(totals(&clones), [0, 60_000, 0, 0]);
    assert_eq!(totals(&run(&["--number_ios=9000", "--ioengine=null"])), [0, 9000, 0, 0]);
}

#[test]
fn check_tells_what_a_log_does() {
    let dir = TestDir::new();
    fs::write(dir.work().join("d"), [0; 4096]).unwrap();
    log(
        &dir,
        &format!(
            "{V3}1 d add\n1 e add\n2 d open\n2 e open\n1000 d write 0 4096\n301000 d read 0 512\n301001 d sync 0 0\n\
             301001 e read 0 4096\n"
        ),
    );
    let check = |more: &[&str]| {
        let words = ["check", "--name=r", "--read_iolog=log", "--ioengine=psync"];
        dir.ferrio(&[&words[..], more].concat()).run().succeeded().stdout
    };
    let text = check(&[]);
    for said in [
        "r: rw, bs=512-4k (read) 4k (write), psync",
        "does    reads 4.5KiB, writes 4KiB, at least 301ms",
        "replays log: 2 reads, 1 write, 1 sync, 2 files, over 301ms",
        "job r ends when its log is replayed: no runtime",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let text = check(&["--replay_no_stall=1", "--replay_skip=read"]);
    assert!(text.contains("log: 1 write, 1 sync, 2 files, as fast as possible"), "{text}");
    let missing = check(&["--replay_skip=write", "--filename=x"]);
    assert!(missing.contains("does not exist"), "{missing}");
    assert_eq!(dir.size("e"), None);
    let stdin = ["check", "--name=r", "--read_iolog=-", "--read_iolog_chunked=1", "--ioengine=null"];
    let run = dir.ferrio(&stdin).input(&dir.read("log")).run().succeeded();
    assert!(run.stdout.contains("standard input: 2 reads"), "{}", run.stdout);
}
