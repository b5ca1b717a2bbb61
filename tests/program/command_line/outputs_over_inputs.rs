//! Called `ferrio`, no output replaces a file that the run reads.

use std::fs;
use std::os::unix::fs::symlink;

use crate::support::TestDir;

const JOB: &str = "[a]\ninclude more\nfilename=data\nsize=64k\n";
const MORE: &str = "bs=16k\n";

/// A directory with a job file, a file that it includes, a link to it, a log and a file of data.
fn dir_with_inputs() -> TestDir {
    let dir = TestDir::new();
    let write = |name: &str, text: &str| fs::write(dir.work().join(name), text).unwrap();
    write("in.fio", JOB);
    write("more", MORE);
    write("io.log", LOG);
    write("data", &"x".repeat(65536));
    symlink("in.fio", dir.work().join("link")).unwrap();
    dir
}

const LOG: &str = "fio version 2 iolog\ndata add\ndata open\ndata read 0 4096\ndata close\n";

#[track_caller]
fn refused(arguments: &[&str], input: &str) {
    let dir = dir_with_inputs();
    let before = dir.files();
    let run = dir.ferrio(arguments).run().ended_with(1);
    assert!(run.stderr.contains(input), "{input:?} is expected in\n{}", run.stderr);
    assert!(!run.stdout.contains('{'), "{}", run.stdout);
    assert_eq!(dir.files(), before);
    assert_eq!([dir.read("in.fio"), dir.read("more"), dir.read("io.log")], [JOB, MORE, LOG]);
}

#[test]
fn a_report_does_not_replace_a_job_file() {
    let job_file = "the report would replace in.fio, which is a job file; choose another file";
    refused(&["--output=in.fio", "in.fio"], job_file);
    refused(&["check", "--output=in.fio", "in.fio"], job_file);
    refused(&["--output=in.fio", "--showcmd", "in.fio"], job_file);
    refused(&["--output=in.fio", "--repeat=2", "--results=results", "in.fio"], job_file);
    refused(&["--output=link", "in.fio"], "the report would replace link, which is a job file");
    refused(&["--output=more", "in.fio"], "the report would replace more, which is a job file");
    let intervals = "the interval report would replace more, which is a job file";
    refused(&["--interval-report=1s:more", "in.fio"], intervals);
}

#[test]
fn a_document_about_a_refused_job_does_not_replace_a_job_file() {
    let arguments = ["check", "--output-format=json", "--output=in.fio", "--no-such-option", "in.fio"];
    refused(&arguments, "the report would replace in.fio, which is a job file");
    let arguments = ["check", "--output-format=json", "--output=more", "in.fio", "--size=0.x"];
    refused(&arguments, "the report would replace more, which is a job file");
}

#[test]
fn a_report_does_not_replace_what_jobs_read() {
    refused(&["--output=./data", "in.fio"], "the report would replace ./data, which is a file of job a");
    let arguments = ["--output=io.log", "--name=b", "--read_iolog=io.log"];
    refused(&arguments, "the report would replace io.log, which is the I/O log that job b replays");
}

#[test]
fn outputs_of_one_run_do_not_replace_each_other_or_the_job_file() {
    let logs = ["--name=b", "--ioengine=null", "--size=4k", "--write_lat_log=x", "--write_iolog=ios"];
    let with = |option: &'static str| [&logs[..], &[option]].concat();
    refused(&with("--output=x_slat.1.log"), "the report would replace x_slat.1.log, which is a log of job b");
    refused(&with("--output=./ios"), "the report would replace ./ios, which is the log of I/Os of job b");
    let intervals = "the interval report would replace x_lat.1.log, which is a log of job b";
    refused(&with("--interval-report=1s:x_lat.1.log"), intervals);
    let dir = TestDir::new();
    fs::write(dir.work().join("j_lat.1.log"), JOB.replace("include more", "write_lat_log=j")).unwrap();
    let before = dir.read("j_lat.1.log");
    let run = dir.ferrio(&["j_lat.1.log"]).run().ended_with(1);
    let message =
        "a log would replace j_lat.1.log, which is a job file: choose another name for a log of job a";
    assert!(run.stderr.contains(message), "{}", run.stderr);
    assert_eq!(dir.read("j_lat.1.log"), before);
}

#[test]
fn logs_do_not_replace_what_jobs_read_or_each_other() {
    let ios = |log: &str, input: &str| {
        format!(
            "a log would replace {log}, which is {input}: choose another name for the log of I/Os of job "
        )
    };
    refused(&["in.fio", "--write_iolog=more"], &ios("more", "a job file"));
    refused(&["in.fio", "--write_iolog=./data"], &ios("./data", "a file of job a"));
    let clash =
        ["--name=b", "--ioengine=null", "--size=4k", "--write_lat_log=x", "--write_iolog=x_lat.1.log"];
    refused(&clash, &ios("x_lat.1.log", "a log, too"));
    let dir = dir_with_inputs();
    fs::rename(dir.work().join("io.log"), dir.work().join("l_lat.1.log")).unwrap();
    let words = ["--name=b", "--read_iolog=l_lat.1.log", "--write_lat_log=l"];
    let run = dir.ferrio(&words).run().ended_with(1);
    let message =
        "a log would replace l_lat.1.log, which is the I/O log that job b replays: choose another name";
    assert!(run.stderr.contains(message), "{}", run.stderr);
    assert_eq!(dir.read("l_lat.1.log"), LOG);
}

#[test]
fn called_fio_the_program_does_as_fio() {
    needs!("fio");
    let dir = dir_with_inputs();
    let fio = dir.program(crate::support::installed("fio"), &["--output=in.fio", "in.fio"]).run();
    let other = dir_with_inputs();
    let ours = other.ferrio(&["--as=fio", "--output=in.fio", "in.fio"]).run();
    assert_eq!(ours.status, fio.status, "{}\n{}", ours.stderr, fio.stderr);
    for replaced in [dir, other] {
        assert_ne!(replaced.read("in.fio"), JOB);
    }
}
