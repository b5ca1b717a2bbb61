//! `ferrio import`: traces of real programs become logs, and what a replay does is what the program did.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use crate::support::{FERRIO, TestDir, both, installed, same};

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
fn traced(dir: &TestDir, trace: &str, words: &[&str]) {
    let strace = ["-f", "-tt", "-T", "-o", trace];
    dir.program(installed("strace"), &[&strace, words].concat()).run().succeeded();
}

/// What an application does, ferrio and fio do in their replays: strace shows the same I/Os, in the same order.
#[test]
fn a_replay_does_what_the_application_did() {
    needs!("strace");
    let app = "dd if=/dev/zero of=new bs=4096 count=3 conv=fsync; dd if=old of='a b' bs=1000 skip=1 count=2; \
               exec 5<>new; dd bs=512 count=1 <&5 >/dev/null; dd if=/dev/zero bs=100 count=2 conv=notrunc,fdatasync >&5";
    let dir = TestDir::new();
    fs::write(dir.work().join("old"), vec![7; 10_000]).unwrap();
    traced(&dir, "app.trace", &["sh", "-c", app]);
    let only = ["--file", "new", "--file", "old", "--file", "a b"];
    let words = [&["import", "app.trace", "-o", "app.log", "--job", "app.fio"], &only[..]].concat();
    let run = dir.ferrio(&words).run().succeeded();
    assert!(run.stderr.contains("format strace (found from its first lines)"), "{}", run.stderr);
    assert!(run.stderr.contains("renamed: 1 file, because the name has blanks"), "{}", run.stderr);
    let want = [
        "app.log.files/new write 0 4096",
        "app.log.files/new write 4096 4096",
        "app.log.files/new write 8192 4096",
        "app.log.files/new sync 0 0",
        "app.log.files/old read 1000 1000",
        "app.log.files/a_b write 0 1000",
        "app.log.files/old read 2000 1000",
        "app.log.files/a_b write 1000 1000",
        "app.log.files/new read 0 512",
        "app.log.files/new write 512 100",
        "app.log.files/new write 612 100",
        "app.log.files/new datasync 0 0",
    ];
    let log = dir.read("app.log");
    assert_eq!(ios(&log), want);
    let new = "app.log.files/new";
    let start = format!("fio version 3 iolog\n1 {new} add\n1 {new} open\n1 {new} write 0 4096\n");
    assert!(log.starts_with(&start), "{log}");

    let [fio, ferrio] = both(|fio| {
        let replay = TestDir::new();
        for name in ["app.log", "app.fio"] {
            fs::copy(dir.work().join(name), replay.work().join(name)).unwrap();
        }
        let program = if fio { installed("fio") } else { FERRIO.into() };
        traced(&replay, "replay.trace", &[&program.display().to_string(), "app.fio"]);
        let words = ["import", "replay.trace", "-q", "--keep-paths", "--file", "app.log.files/*"];
        // The layout of `old` comes first.
        let run = replay.ferrio(&words).run().succeeded();
        let all = ios(&run.stdout);
        let start = all.iter().position(|line| line.starts_with(new)).unwrap();
        all[start..].to_vec()
    });
    same!("application": want.map(str::to_owned).to_vec(), "ferrio": ferrio, "the I/Os of the replay by ferrio");
    same!("application": want.map(str::to_owned).to_vec(), "fio": fio, "the I/Os of the replay by fio");
}

#[test]
fn a_trace_from_standard_input_becomes_a_log_on_standard_output() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["import", "--bad-lines", "30"]).input(MSR).run().succeeded();
    let want = "\
fio version 3 iolog
1 import.files/hm_0 add
1 import.files/hm_0 open
1 import.files/hm_0 read 8192 4096
11 import.files/hm_1 add
11 import.files/hm_1 open
11 import.files/hm_1 write 4096 512
21 import.files/hm_1 write 8192 512
21 import.files/hm_0 close
21 import.files/hm_1 close
";
    assert_eq!(run.stdout, want);
    let said = "\
standard input: CSV of Microsoft Research, Cambridge, format msr (found from its first lines)
  lines:   4
  I/Os:    1 read (4.0 KiB), 2 write (1.0 KiB)
  time:    20 us, at most 1 in flight
  files:   import.files/hm_0, 12.0 KiB (in the trace: hm_0)
           import.files/hm_1, 8.5 KiB (in the trace: hm_1)
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
    needs!("gzip");
    let dir = TestDir::new();
    fs::write(dir.work().join("t.csv"), MSR).unwrap();
    dir.program(installed("gzip"), &["t.csv"]).run().succeeded();
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
    let run = dir.ferrio(&words).run().succeeded();
    assert_eq!((ios(&run.stdout), run.stderr), (vec!["/dev/shm/x write 4096 512".to_owned()], String::new()));
}

#[test]
fn what_is_no_trace_is_refused_and_leaves_no_log() {
    let dir = TestDir::new();
    let refused = |words: &[&str], text: &str| {
        let run = dir.ferrio(&[&["import"], words].concat()).input(text).run().ended_with(1);
        assert!(!dir.is_written("log"), "{words:?}");
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
        "error: cannot make an I/O log of standard input: no column has the kind of I/O (T, TYPE, RWBS)"
    );
    assert_eq!(
        refused(&["--bad-lines=30", "--only=trim", "-o", "log"], MSR),
        "error: standard input contains no I/O that can be replayed (3 I/Os left out by options)"
    );
    assert_eq!(refused(&["--target", "a b"], MSR), "error: `a b` cannot be the name of a file in an I/O log");
    assert_eq!(refused(&["--formt=msr"], MSR), "error: unexpected argument '--formt' found");
}

/// What the import had to guess is in its summary.
#[test]
fn guesses_are_in_the_summary() {
    let dir = TestDir::new();
    let notes = |trace: &str, words: &[&str]| {
        dir.ferrio(&[&["import"], words].concat()).input(trace).run().succeeded().stderr
    };
    let issued = "8,16 0 1 0.0 7 D R 8 + 8 [a]\n8,16 0 2 0.1 7 D R 16 + 8 [a]\n";
    let note = "each event D (issued) counts as an I/O, because the first lines have such events";
    assert!(notes(issued, &[]).contains(note));
    assert!(!notes(issued, &["--event=D"]).contains(note));
    let note = "the rest of the trace was not read: line 2 is beyond --until or --limit";
    let text = notes(issued, &["--limit=1", "--window=0"]);
    assert!(text.contains(note), "{text}");
    let table = "time,rwbs,device,sector,bytes\n1700000000123,R,sda,8,512\n";
    assert!(notes(table, &[]).contains("times have no unit and are read as milliseconds"));
    let before = "1 1.0 read(0</d/in>, \"..\", 10) = 10\n";
    let note =
        "1 I/O at the position of a file that was opened before the trace began: the offset counts from 0";
    assert!(notes(before, &[]).contains(note));
    let twice = before.repeat(2);
    assert!(notes(&twice, &[]).contains("  2 I/Os at the position of a file"));
    let failed =
        format!("{before}{}1 1.0 fsync(3) = -1 EIO (Input/output error)\n", "1 1.0 getpid() = 1\n".repeat(2));
    let skipped = "\n  skipped: 2 system calls without I/O\n           1 system call that failed\n";
    let text = notes(&failed, &[]);
    assert!(text.contains(skipped), "{text}");
}

/// All that is below the work directory, with its contents.
fn contents(dir: &TestDir) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![dir.work()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let path = entry.path();
            found.insert(path.clone(), fs::read(&path).ok());
            directories.extend(entry.file_type().unwrap().is_dir().then_some(path));
        }
    }
    found
}

/// The files of the application stay as they are, even if it is replayed where it ran: by either program, with layout.
#[test]
fn a_replay_leaves_the_files_of_the_application_alone() {
    needs!("strace");
    let app =
        "dd if=old of=main.db bs=1000 count=3 conv=fsync; dd if=/dev/zero of=old bs=100 count=1 conv=notrunc";
    let _ = both(|fio| {
        let dir = TestDir::new();
        fs::write(dir.work().join("old"), vec![7; 10_000]).unwrap();
        traced(&dir, "app.trace", &["sh", "-c", app]);
        let before = contents(&dir);
        let words = [
            "import",
            "app.trace",
            "-o",
            "app.log",
            "--job",
            "app.fio",
            "--file",
            "old",
            "--file",
            "main.db",
        ];
        dir.ferrio(&words).run().succeeded();
        let mut all = contents(&dir);
        let new: Vec<_> = all.keys().filter(|path| !before.contains_key(*path)).cloned().collect();
        assert_eq!(new, ["app.fio", "app.log", "app.log.files"].map(|name| dir.work().join(name)));
        let replay = if fio { dir.fio(&["app.fio"]) } else { dir.ferrio(&["app.fio"]) };
        replay.run().succeeded();
        all = contents(&dir);
        assert_eq!(all[&dir.work().join("app.log.files/main.db")].as_ref().unwrap().len(), 3000);
        all.retain(|path, _| before.contains_key(path));
        assert!(all == before, "files of the application changed");
    });
}

/// A log of writes alone has no job that lays out files: the directory is there nevertheless, as fio makes none.
#[test]
fn a_log_without_layout_can_be_replayed_by_fio() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["import", "-q", "-o", "w.log", "--job", "w.fio", "--bad-lines=30", "--only=write"];
    dir.ferrio(&words).input(MSR).run().succeeded();
    assert!(!dir.read("w.fio").contains("[file-1]"));
    dir.fio(&["w.fio"]).run().succeeded();
    assert_eq!(fs::metadata(dir.work().join("w.log.files/hm_1")).unwrap().len(), 8704);
}

#[test]
fn a_directory_with_files_of_the_trace_is_refused_unless_they_are_asked_for() {
    let dir = TestDir::new();
    fs::write(dir.work().join("main.db"), "precious").unwrap();
    fs::write(dir.work().join("t"), "openat(AT_FDCWD, \"main.db\", O_RDWR) = 3\nwrite(3, \"x\", 1) = 1\n")
        .unwrap();
    let run = dir.ferrio(&["import", "t", "-o", "log", "--directory", "."]).run().ended_with(1);
    let want =
        "error: t: the log would name `./main.db`, a file of the trace, which a replay may overwrite\n";
    assert!(run.stderr.starts_with(want), "{}", run.stderr);
    assert!(!dir.work().join("log").exists());
    // The file of the application has no I/O in the log.
    fs::write(dir.work().join("a_b"), "precious").unwrap();
    let trace = "openat(AT_FDCWD, \"a/b\", O_RDWR) = 3\nwrite(3, \"x\", 1) = 1\nopenat(AT_FDCWD, \"a_b\", O_RDWR) = 4\n";
    let run = dir.ferrio(&["import", "--directory", "."]).input(trace).run().ended_with(1);
    assert!(run.stderr.contains("the log would name `./a_b`, a file of the trace"), "{}", run.stderr);
    let log = |words: &[&str]| dir.ferrio(&[&["import", "t", "-q"], words].concat()).run().succeeded().stdout;
    assert_eq!(ios(&log(&["--keep-paths"])), ["main.db write 0 1"]);
    assert_eq!(ios(&log(&["--rename", "main.db=main.db"])), ["main.db write 0 1"]);
    assert_eq!(ios(&log(&[])), ["import.files/main.db write 0 1"]);
    let run = dir.ferrio(&["import", "t", "-o", "a b"]).run().ended_with(1);
    let want = "error: the directory `a b.files`, the default for the files of the replay, cannot be in an I/O log\n";
    assert!(run.stderr.starts_with(want), "{}", run.stderr);
}

/// With --keep-paths the files of the application are those of the replay: the job file must not lay out what is there.
#[test]
fn files_that_are_asked_for_are_laid_out_only_where_they_are_too_short() {
    let dir = TestDir::new();
    fs::write(dir.work().join("hm_0"), vec![7; 12_288]).unwrap();
    let job = || {
        let words = ["import", "-q", "-o", "log", "--job", "job", "--bad-lines=30", "--keep-paths"];
        dir.ferrio(&words).input(MSR).run().succeeded();
        dir.read("job")
    };
    assert!(!job().contains("filename=hm_0"), "{}", job());
    fs::write(dir.work().join("hm_0"), vec![7; 12_287]).unwrap();
    assert!(job().contains("filename=hm_0\nsize=12288\n"), "{}", job());
}

#[test]
fn no_output_replaces_the_trace_or_another_output() {
    let dir = TestDir::new();
    fs::write(dir.work().join("t"), MSR).unwrap();
    symlink("t", dir.work().join("also")).unwrap();
    fs::hard_link(dir.beside("work/t"), dir.beside("work/hard")).unwrap();
    let before = contents(&dir);
    let refused = |words: &[&str], from_stdin: bool| {
        let words = [&["import", "--bad-lines=30"], words].concat();
        let mut program = dir.ferrio(&words);
        if from_stdin {
            program = program.input(MSR);
        }
        let run = program.run().ended_with(1);
        assert!(contents(&dir) == before, "{words:?}");
        run.stderr.lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(refused(&["t", "-o", "also"], false), "error: also is the trace itself (t)");
    assert_eq!(refused(&["t", "-o", "log", "--job", "hard"], false), "error: hard is the trace itself (t)");
    assert_eq!(
        refused(&["t", "-o", "log", "--job", "./log"], false),
        "error: ./log cannot be both the log and the job file"
    );
    symlink("new", dir.work().join("dangling")).unwrap();
    let words = ["import", "--bad-lines=30", "t", "-o", "dangling", "--job", "new"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(run.stderr.starts_with("error: new cannot be both the log and the job file"), "{}", run.stderr);
    assert!(!dir.work().join("new").exists(), "neither is written");
    fs::remove_file(dir.work().join("dangling")).unwrap();
    // The test gives standard input the file beside the work directory.
    let stdin = "error: ../stdin is the trace itself (standard input)";
    assert_eq!(refused(&["-o", "../stdin"], true), stdin);
    assert_eq!(refused(&["-o", "log", "--job", "../stdin"], true), stdin);
    assert_eq!(fs::read_to_string(dir.beside("stdin")).unwrap(), MSR);
    assert_eq!(refused(&["t", "-o", "-", "--job", "job"], false), "error: --job needs a log with a name");
}
