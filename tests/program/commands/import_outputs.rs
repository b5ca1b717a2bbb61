//! The files that `ferrio import` writes: what becomes of them when it fails, and outputs that are open already.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::symlink;

use nix::sys::signal::Signal;

use crate::support::{FERRIO, Running, TestDir, installed, skipped};

const MSR: &str = "\
128166372003061629,hm,0,Read,8192,4096,413
128166372003061729,hm,1,Write,4096,512,5
oops
128166372003061829,hm,1,Write,8192,512,5
";

/// An open file is written to like a pipe: what it contains stays, and the replay has no files beside its path.
#[test]
fn open_files_keep_their_contents() {
    let dir = TestDir::new();
    fs::write(dir.work().join("t"), MSR).unwrap();
    symlink("/dev/stdout", dir.work().join("link")).unwrap();
    for (output, redirection) in
        [("/dev/stdout", ">>"), ("/dev/fd/1", ">>"), ("link", ">>"), ("/dev/fd/3", "3>>")]
    {
        fs::write(dir.work().join("all"), "before\n").unwrap();
        let command =
            format!("{FERRIO} import t --bad-lines=30 -o {output} {redirection} all && echo after >> all");
        let run = dir.program("sh", &["-c", &command]).run().succeeded();
        let all = dir.read("all");
        assert!(
            all.starts_with("before\nfio version 3 iolog\n") && all.ends_with("\nafter\n"),
            "{output}: {all}"
        );
        assert!(all.contains(" import.files/hm_1 write 8192 512\n"), "{output}: {all}");
        assert!(run.stderr.contains("ferrio --name=replay --read_iolog=LOG"), "{}", run.stderr);
    }
    let words = ["import", "t", "--bad-lines=30", "-o", "/dev/stdout", "--job", "job"];
    let refused = dir.ferrio(&words).run().ended_with(1);
    assert!(refused.stderr.starts_with("error: --job needs a log with a name\n"), "{}", refused.stderr);
    let words = ["import", "t", "-q", "--bad-lines=30", "-o", "log", "--job", "/dev/stdout"];
    let run = dir.ferrio(&words).run().succeeded();
    assert!(run.stdout.contains("read_iolog=log\n"), "{}", run.stdout);
}

#[test]
fn a_failed_or_interrupted_import_leaves_everything_as_it_was() {
    let dir = TestDir::new();
    fs::write(dir.work().join("log"), "old log").unwrap();
    fs::write(dir.work().join("t"), MSR).unwrap();
    dir.program("mkfifo", &["fifo"]).run().succeeded();
    let shown = |dir: &TestDir| {
        let mut all = contents_but_pipes(dir);
        all.sort();
        all
    };
    let before = shown(&dir);
    dir.ferrio(&["import", "t", "-o", "log", "--job", "new"]).run().ended_with(1);
    assert_eq!(shown(&dir), before, "too many bad lines");
    dir.ferrio(&["import", "t", "-o", "log", "--job", "no/job", "--bad-lines=30"]).run().ended_with(1);
    assert_eq!(shown(&dir), before, "the job file cannot be created");
    fs::write(dir.work().join("log.files"), "no directory").unwrap();
    dir.ferrio(&["import", "t", "-o", "log", "--job", "new", "--bad-lines=30"]).run().ended_with(1);
    fs::remove_file(dir.work().join("log.files")).unwrap();
    assert_eq!(shown(&dir), before, "the directory cannot be created");
    let mut running = dir
        .ferrio(&["import", "fifo", "-o", "log", "--job", "new", "--bad-lines=30", "--format=msr"])
        .start();
    let mut fifo = OpenOptions::new().write(true).open(dir.work().join("fifo")).unwrap();
    fifo.write_all(MSR.repeat(10_000).as_bytes()).unwrap();
    until_begun(&mut running, &dir);
    // A shell that runs the tests in the background has SIGINT ignored.
    running.signal(Signal::SIGTERM);
    drop(fifo);
    running.wait();
    assert_eq!(shown(&dir), before, "interrupted");
    dir.ferrio(&["import", "t", "-q", "-o", "log", "--bad-lines=30"]).run().succeeded();
    assert!(dir.read("log").starts_with("fio version 3 iolog\n"));
}

/// Neither log nor job file is there, nor what they would have replaced gone, if the other one cannot be written in the end.
#[test]
fn log_and_job_file_appear_together() {
    for (log, job) in [("gone/log", "job"), ("log", "gone/job")] {
        let dir = TestDir::new();
        fs::write(dir.work().join("log"), "old log").unwrap();
        fs::create_dir(dir.work().join("gone")).unwrap();
        dir.program("mkfifo", &["fifo"]).run().succeeded();
        let mut words = vec!["import", "fifo", "-o", log, "--job", job, "--directory", "files"];
        words.extend(["--bad-lines=30", "--format=msr"]);
        let mut running = dir.ferrio(&words).start();
        let mut fifo = OpenOptions::new().write(true).open(dir.work().join("fifo")).unwrap();
        fifo.write_all(MSR.repeat(10_000).as_bytes()).unwrap();
        until_begun(&mut running, &dir);
        fs::remove_dir(dir.work().join("gone")).unwrap();
        drop(fifo);
        let run = running.wait().ended_with(1);
        assert!(run.stderr.contains("No such file or directory"), "{}", run.stderr);
        let left: Vec<_> = dir.files().into_iter().map(|(name, _)| name).collect();
        assert_eq!((left, dir.read("log").as_str()), (vec!["fifo".to_owned(), "log".to_owned()], "old log"));
        assert!(!dir.work().join("files").exists());
    }
}

/// A file that is a mount cannot be replaced, but it can be written.
#[test]
fn mounted_files_are_overwritten() {
    needs!("unshare");
    let dir = TestDir::new();
    if dir.program(installed("unshare"), &["-rm", "true"]).run().status != Some(0) {
        return skipped("mounted_files_are_overwritten", "user namespaces are not allowed");
    }
    fs::write(dir.work().join("t"), MSR).unwrap();
    for name in ["log", "job", "job.mounted"] {
        fs::write(dir.work().join(name), "old, and longer than what replaces it\n".repeat(100)).unwrap();
    }
    let command = format!(
        "mount --bind job.mounted job && {FERRIO} import t -q --bad-lines=30 -o log --job job && cmp job job.mounted"
    );
    dir.program(installed("unshare"), &["-rm", "sh", "-c", &command]).run().succeeded();
    assert!(dir.read("job.mounted").contains("read_iolog=log\n") && !dir.read("job.mounted").contains("old"));
    assert!(dir.read("log").starts_with("fio version 3 iolog\n"));
}

/// Waits until log and job file are begun: they have no names, but descriptors in the directory.
fn until_begun(running: &mut Running, dir: &TestDir) {
    let descriptors = format!("/proc/{}/fd", running.pid());
    let work = dir.work();
    running.until("files without names", || {
        let links =
            fs::read_dir(&descriptors).unwrap().filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        links.filter(|link| link.starts_with(&work) && link.to_string_lossy().ends_with("(deleted)")).count()
            >= 2
    });
}

/// Names and contents of the files in the work directory, which has a pipe.
fn contents_but_pipes(dir: &TestDir) -> Vec<(String, Option<String>)> {
    let entries = fs::read_dir(dir.work()).unwrap().map(Result::unwrap);
    let text = |entry: &fs::DirEntry| {
        entry.file_type().unwrap().is_file().then(|| fs::read_to_string(entry.path()).unwrap())
    };
    entries.map(|entry| (entry.file_name().into_string().unwrap(), text(&entry))).collect()
}
