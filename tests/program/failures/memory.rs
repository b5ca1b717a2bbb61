//! Little memory: limits of control groups, and logs of millions of rows. tests/program/failures/process_limits.rs has the limits of a process.

use std::fs;
use std::path::PathBuf;

use nix::errno::Errno;

use crate::failures::process_limits::{dir_for_all, under};
use crate::support::{FERRIO, TestDir, number, skipped};

/// A control group with a limit of memory, of either version, which is removed at the end.
struct Group(PathBuf);

impl Group {
    fn with_limit(bytes: u64) -> Option<Self> {
        for (root, file) in [("memory", "memory.limit_in_bytes"), ("", "memory.max")] {
            let name = format!("ferrio-test-{}", std::process::id());
            let group = Group(PathBuf::from("/sys/fs/cgroup").join(root).join(name));
            if fs::create_dir(&group.0).is_ok() && fs::write(group.0.join(file), bytes.to_string()).is_ok() {
                return Some(group);
            }
        }
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_job_that_does_not_fit_into_its_control_group_fails_and_the_others_run() {
    let Some(group) = Group::with_limit(200 << 20) else {
        return skipped("the memory limit of a control group", "this machine does not let the test make one");
    };
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=psync\nrw=write\nfallocate=none\n[big]\nbs=1g\nsize=1g\nfilename=f\n[fits]\nbs=32m\nsize=64m\nfilename=g\n\
         [deep]\nioengine=libaio\niodepth=64\nbs=16m\nsize=1g\nfilename=h\n[small]\nioengine=null\nsize=1m\n",
    );
    let script = format!("echo $$ > {}/cgroup.procs; exec \"$0\" \"$@\"", group.0.display());
    let words = ["-c", &script, FERRIO, "--output-format=json", &job];
    let run = dir.program("bash", &words).run().ended_with(2);
    let report = run.json();
    let errors = [0, 1, 2, 3].map(|job| number(&report, &format!("/jobs/{job}/error")));
    let too_much = Errno::ENOMEM as u64;
    assert_eq!(errors, [too_much, 0, too_much, 0], "{}", run.stderr);
    assert!(run.stderr.contains("the memory limit of the control group leaves"), "{}", run.stderr);
    assert_eq!(number(&report, "/jobs/1/write/io_bytes"), 64 << 20);
    assert_eq!(number(&report, "/jobs/3/write/io_bytes"), 1 << 20);
}

/// The rows in memory would need more than the limit: each has 56 bytes there.
#[test]
fn logs_of_millions_of_rows_need_no_memory_of_their_own() {
    const IOS: u64 = 4_000_000;
    let dir = dir_for_all();
    let count = format!("--number_ios={IOS}");
    let words = [
        "--output-format=json",
        "--name=a",
        "--ioengine=null",
        "--rw=randread",
        "--size=1t",
        "--norandommap",
    ];
    let words = [&words[..], &[&count, "--write_bw_log=l"]].concat();
    let run = under(&dir, "-v 180000", false, FERRIO, &words).run().succeeded();
    assert_eq!(number(&run.json(), "/jobs/0/read/total_ios"), IOS);
    let rows = fs::read(dir.work().join("l_bw.1.log")).unwrap();
    assert_eq!(rows.iter().filter(|&&byte| byte == b'\n').count() as u64, IOS);
}
