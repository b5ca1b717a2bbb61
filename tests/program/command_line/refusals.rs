//! What is wrong is refused before anything happens, with one diagnostic that points at it; a job that fails still gets its report.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use crate::support::{Run, TestDir, number};

/// Fails unless the job file is refused with one error at `line`:`column` of it and nothing else happened. Returns the error.
#[track_caller]
fn refused(job: &str, line: u32, column: u32) -> String {
    let dir = TestDir::new();
    let path = dir.job(job);
    let run = dir.ferrio(&["--output-format=json", &path]).run().ended_with(1);
    let errors = run.stderr.lines().filter(|line| line.starts_with("error")).count();
    assert_eq!(errors, 1, "one error is expected:\n{}", run.stderr);
    let at = format!("--> {path}:{line}:{column}\n");
    assert!(run.stderr.contains(&at), "{at:?} is expected in\n{}", run.stderr);
    nothing_happened(&dir, &run);
    run.stderr
}

#[track_caller]
fn nothing_happened(dir: &TestDir, run: &Run) {
    assert_eq!(run.stdout, "");
    assert_eq!(dir.files(), []);
}

#[track_caller]
fn contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is expected in\n{text}");
    }
}

#[test]
fn an_unknown_option_gets_a_suggestion() {
    let error = refused("[a]\nsize=64k\niodpeth=4\n", 3, 1);
    contains(&error, &["unknown option `iodpeth`", "3 | iodpeth=4", "did you mean `iodepth`?"]);
}

#[test]
fn a_value_that_is_no_number_is_pointed_at() {
    let error = refused("[a]\nsize=64k\niodepth=many\n", 3, 9);
    contains(&error, &["invalid value `many` for option `iodepth`", "a number is expected"]);
}

#[test]
fn a_value_out_of_range_names_the_limit() {
    let error = refused("[a]\nsize=64k\niodepth=0\n", 3, 9);
    contains(&error, &["invalid value `0` for option `iodepth`", "the minimum is 1"]);
    let error = refused("[a]\nsize=64k\nrw=randrw\nrwmixread=101\n", 4, 11);
    contains(&error, &["`101`", "the maximum is 100"]);
}

#[test]
fn a_value_that_is_no_choice_lists_the_choices() {
    let error = refused("[a]\nsize=64k\nrw=foo\n", 3, 4);
    contains(&error, &["invalid value `foo` for option `rw`", "randread, randwrite"]);
}

#[test]
fn a_section_without_its_closing_bracket_is_an_error() {
    let error = refused("[global]\nsize=64k\n[a\nrw=read\n", 3, 1);
    contains(&error, &["section header without `]`"]);
}

#[test]
fn an_option_before_any_section_is_an_error() {
    refused("size=64k\n[a]\n", 1, 1);
}

#[test]
fn a_directory_must_be_there() {
    let error = refused("[a]\nsize=64k\ndirectory=nowhere\n", 3, 11);
    contains(&error, &["nowhere is not a directory"]);
}

#[test]
fn a_size_below_one_block_is_refused() {
    let error = refused("[a]\nrw=write\nsize=2k\n", 3, 6);
    contains(&error, &["must not be less than minimum block size: 2048 < 4096"]);
}

#[test]
fn an_engine_that_does_not_exist_is_refused_with_the_list() {
    let error = refused("[a]\nsize=64k\nioengine=warp\n", 3, 10);
    contains(&error, &["engine warp", "io_uring"]);
}

#[test]
fn one_wrong_job_keeps_all_jobs_from_running() {
    refused("[good]\nrw=write\nsize=64k\n[bad]\nrw=write\nsize=64k\nbs=zero\n", 7, 4);
}

#[test]
fn a_job_file_that_cannot_be_read_is_named() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["missing.fio"]).run().ended_with(1);
    contains(&run.stderr, &["unable to open 'missing.fio' job file: No such file or directory"]);
    nothing_happened(&dir, &run);
    let run = dir.ferrio(&["."]).run().ended_with(1);
    contains(&run.stderr, &["unable to open '.' job file: Is a directory"]);
    nothing_happened(&dir, &run);
}

#[test]
fn a_wrong_command_line_is_refused() {
    let dir = TestDir::new();
    let wrong: [(&[&str], &str); 4] = [
        (&["--name=a", "--iodpeth=4"], "iodepth"),
        (&["--name=a", "--iodepth=0"], "--iodepth=0"),
        (&["--output-format=poem", "--name=a"], "poem"),
        (&[], "No job(s) defined"),
    ];
    for (words, part) in wrong {
        let run = dir.ferrio(words).run().ended_with(1);
        contains(&run.stderr, &[part]);
        nothing_happened(&dir, &run);
    }
}

#[test]
fn readonly_keeps_jobs_from_writing() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--readonly", "--name=a", "--rw=write", "--size=64k"]).run().ended_with(1);
    nothing_happened(&dir, &run);
}

#[test]
fn an_output_file_that_cannot_be_created_is_named() {
    let dir = TestDir::new();
    let words = ["--output=nowhere/report", "--name=a", "--rw=write", "--size=64k"];
    let run = dir.ferrio(&words).run().ended_with(1);
    contains(&run.stderr, &["nowhere/report", "No such file or directory"]);
    nothing_happened(&dir, &run);
}

#[test]
fn a_directory_as_file_fails_the_job_and_the_report_says_so() {
    let dir = TestDir::new();
    let words = ["--output-format=json", "--name=a", "--filename=.", "--rw=read", "--size=64k"];
    let run = dir.ferrio(&words).run().ended_with(1);
    let job = &run.json()["jobs"][0];
    assert_eq!(job["error"], nix::errno::Errno::EISDIR as i32);
    assert_eq!(number(job, "/read/total_ios"), 0);
    contains(&run.stderr, &["Is a directory"]);
}

#[test]
fn a_job_without_a_size_fails_and_the_report_says_so() {
    let dir = TestDir::new();
    let words =
        ["--output-format=json", "--name=a", "--rw=read", "--name=b", "--ioengine=null", "--size=64k"];
    let run = dir.ferrio(&words).run().ended_with(1);
    contains(&run.stderr, &["you need to specify size="]);
    let report = run.json();
    assert_eq!(report["jobs"][0]["error"], nix::errno::Errno::EINVAL as i32);
    assert_eq!(report["jobs"][1]["error"], 0);
    assert_eq!(report["jobs"][1]["read"]["total_ios"], 16);
}

/// Files of sysfs cannot be opened with O_DIRECT, not even by root.
#[test]
fn a_file_system_without_direct_io_is_named_as_the_reason() {
    let candidates = [
        "/sys/kernel/mm/transparent_hugepage/enabled",
        "/sys/devices/system/cpu/online",
        "/sys/kernel/notes",
    ];
    let refuses = |path: &&&str| {
        let buffered = OpenOptions::new().read(true).open(path);
        let direct =
            OpenOptions::new().read(true).custom_flags(nix::fcntl::OFlag::O_DIRECT.bits()).open(path);
        let long_enough = fs::metadata(path).is_ok_and(|metadata| metadata.len() >= 512);
        long_enough
            && buffered.is_ok()
            && direct.is_err_and(|error| error.raw_os_error() == Some(nix::errno::Errno::EINVAL as i32))
    };
    let Some(path) = candidates.iter().find(refuses) else {
        eprintln!("NOT TESTED: none of {candidates:?} refuses O_DIRECT on this machine");
        return;
    };
    let dir = TestDir::new();
    let file = format!("--filename={path}");
    let words =
        ["--output-format=json", "--name=a", &file, "--rw=read", "--size=512", "--bs=512", "--direct=1"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert_eq!(run.json()["jobs"][0]["error"], nix::errno::Errno::EINVAL as i32);
    contains(&run.stderr, &["does not support O_DIRECT", "direct=0", path]);
}
