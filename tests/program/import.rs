//! `ferrio import`: traces of real programs become logs, and what a replay does is what the program did.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::{FERRIO, Place, both, installed, same};

const MSR: &str = "\
128166372003061629,hm,0,Read,8192,4096,413
128166372003061729,hm,1,Write,4096,512,5
oops
128166372003061829,hm,1,Write,8192,512,5
";

/// The I/Os of a log: lines without their times.
fn ios(log: &str) -> Vec<String> {
    let is_io = |line: &&str| line.split(' ').count() == 5;
    let without_time = |line: &str| line.split_once(' ').map(|(_, rest)| rest.to_owned());
    log.lines().filter(is_io).filter_map(without_time).collect()
}

/// strace of a command line in the work directory, into `trace`.
fn traced(place: &Place, trace: &str, words: &[&str]) {
    let strace = ["-f", "-tt", "-T", "-o", trace];
    place.program(installed("strace"), &[&strace, words].concat()).run().succeeded();
}

/// What an application does, ferrio and fio do in their replays: strace shows the same I/Os, in the same order.
#[test]
fn a_replay_does_what_the_application_did() {
    let app = "dd if=/dev/zero of=new bs=4096 count=3 conv=fsync; dd if=old of='a b' bs=1000 skip=1 count=2; \
               exec 5<>new; dd bs=512 count=1 <&5 >/dev/null; dd if=/dev/zero bs=100 count=2 conv=notrunc,fdatasync >&5";
    let place = Place::new();
    fs::write(place.work().join("old"), vec![7; 10_000]).unwrap();
    traced(&place, "app.trace", &["sh", "-c", app]);
    let only = ["--file", "new", "--file", "old", "--file", "a b"];
    let words = [&["import", "app.trace", "-o", "app.log", "--job", "app.fio"], &only[..]].concat();
    let run = place.ferrio(&words).run().succeeded();
    assert!(run.stderr.contains("format strace (found from its first lines)"), "{}", run.stderr);
    assert!(run.stderr.contains("1 of them are renamed, because their names"), "{}", run.stderr);
    let want = [
        "new write 0 4096",
        "new write 4096 4096",
        "new write 8192 4096",
        "new sync 0 0",
        "old read 1000 1000",
        "a_b write 0 1000",
        "old read 2000 1000",
        "a_b write 1000 1000",
        "new read 0 512",
        "new write 512 100",
        "new write 612 100",
        "new datasync 0 0",
    ];
    let log = place.read("app.log");
    assert_eq!(ios(&log), want);
    assert!(log.starts_with("fio version 3 iolog\n1 new add\n1 new open\n1 new write 0 4096\n"), "{log}");

    let [fio, ferrio] = both(|fio| {
        let replay = Place::new();
        for name in ["app.log", "app.fio"] {
            fs::copy(place.work().join(name), replay.work().join(name)).unwrap();
        }
        let program = if fio { installed("fio") } else { FERRIO.into() };
        traced(&replay, "replay.trace", &[&program.display().to_string(), "app.fio"]);
        let words = ["import", "replay.trace", "-q", "--file", "new", "--file", "old", "--file", "a_b"];
        // The layout of `old` comes first.
        let run = replay.ferrio(&words).run().succeeded();
        let all = ios(&run.stdout);
        let start = all.iter().position(|line| line.starts_with("new ")).unwrap();
        all[start..].to_vec()
    });
    same!("application": want.map(str::to_owned).to_vec(), "ferrio": ferrio, "the I/Os of the replay by ferrio");
    same!("application": want.map(str::to_owned).to_vec(), "fio": fio, "the I/Os of the replay by fio");
}

#[test]
fn a_trace_from_standard_input_becomes_a_log_on_standard_output() {
    let place = Place::new();
    let run = place.ferrio(&["import", "--bad-lines", "30"]).input(MSR).run().succeeded();
    let want = "\
fio version 3 iolog
1 hm_0 add
1 hm_0 open
1 hm_0 read 8192 4096
11 hm_1 add
11 hm_1 open
11 hm_1 write 4096 512
21 hm_1 write 8192 512
21 hm_0 close
21 hm_1 close
";
    assert_eq!(run.stdout, want);
    let said = "\
standard input: CSV of Microsoft Research, Cambridge, format msr (found from its first lines)
  lines:   4
  I/Os:    1 read (4.0 KiB), 2 write (1.0 KiB)
  time:    20 us, at most 1 in flight
  files:   hm_0, 12.0 KiB
           hm_1, 8.5 KiB
  notes:   files that are read must exist before the replay: --job writes a job file that lays them out
  line 3 does not fit: `oops` is no time: oops
  replay:  ferrio --name=replay --read_iolog=LOG --ioengine=psync --direct=1
";
    // The read of 41.3 us lasts until after the last write.
    assert_eq!(
        run.stderr,
        said.replace("at most 1", "at most 2").replace("ioengine=psync", "ioengine=io_uring --iodepth=2")
    );
}

#[test]
fn a_packed_trace_is_unpacked_and_its_devices_are_chosen_and_renamed() {
    let place = Place::new();
    fs::write(place.work().join("t.csv"), MSR).unwrap();
    place.program(installed("gzip"), &["t.csv"]).run().succeeded();
    let words = [
        "import",
        "t.csv.gz",
        "-q",
        "--bad-lines=30",
        "--device",
        "*_1",
        "--rename",
        "hm_1=/dev/shm/x",
        "--limit",
        "1",
    ];
    let run = place.ferrio(&words).run().succeeded();
    assert_eq!((ios(&run.stdout), run.stderr), (vec!["/dev/shm/x write 4096 512".to_owned()], String::new()));
}

#[test]
fn what_is_no_trace_is_refused_and_leaves_no_log() {
    let place = Place::new();
    let refused = |words: &[&str], text: &str| {
        let run = place.ferrio(&[&["import"], words].concat()).input(text).run().ended_with(1);
        assert!(!place.is_written("log"), "{words:?}");
        run.stderr.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(refused(&[], ""), "error: standard input is empty");
    assert_eq!(
        refused(&[], "hello\n"),
        "error: cannot recognise the format of standard input from its first lines"
    );
    assert_eq!(refused(&["missing"], ""), "error: cannot read missing: No such file or directory");
    assert_eq!(refused(&[], "fio version 3 iolog\n"), "error: standard input is an I/O log already");
    assert_eq!(
        refused(&["-o", "log", "--format=spc"], MSR),
        "error: standard input: 4 of 4 lines do not fit the format spc; the first is line 1: `hm` is no offset"
    );
    let table = "TIME(ms)     DISK    COMM             PID    LAT(ms)\n611 nvme0n1 bash 4179 10\n";
    assert_eq!(
        refused(&[], table),
        "error: no log can be made of standard input: no column has the kind of I/O (T, TYPE, RWBS)"
    );
    assert_eq!(
        refused(&["--bad-lines=30", "--only=trim", "-o", "log"], MSR),
        "error: standard input contains no I/O that can be replayed (3 left out by options)"
    );
    assert_eq!(refused(&["--target", "a b"], MSR), "error: `a b` cannot be the name of a file in an I/O log");
    assert_eq!(refused(&["--formt=msr"], MSR), "error: unexpected argument '--formt' found");
    fs::write(place.work().join("t"), MSR).unwrap();
    symlink("t", place.work().join("also")).unwrap();
    assert_eq!(refused(&["t", "-o", "also", "--bad-lines=30"], ""), "error: also is the trace itself");
    assert_eq!(place.read("t"), MSR);
}
