//! Whatever ends a run early, what is printed is whole: complete documents, complete lines, or a message and a status that is not 0.

use nix::errno::Errno;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{FERRIO, Run, TestDir, document_within, number};

const FORMATS: [&str; 5] = ["normal", "json", "json+", "terse", "normal,json+,terse"];

/// Three jobs that continue and one that fails with EIO immediately, because no kernel reads address 0 of a process.
const ONE_OF_FOUR: &str = "[global]\nioengine=psync\nsize=64k\n[one]\nfilename=f\nrw=write\n[broken]\nrw=read\n\
                           filename=/proc/self/mem\ncreate_on_open=1\n[three]\nioengine=null\n[four]\nstonewall\nfilename=f\n";

/// Fails unless stdout is complete in this format and reports `jobs` jobs. Returns the document if there is one.
#[track_caller]
fn whole(run: &Run, format: &str, jobs: usize) -> Option<Value> {
    let out = &run.stdout;
    let formats: Vec<&str> = format.split(',').collect();
    let has = |wanted: &str| formats.iter().any(|format| format.trim_end_matches('+') == wanted);
    if has("terse") {
        let lines: Vec<&str> = out.lines().filter(|line| line.starts_with("3;fio-3.42;")).collect();
        assert_eq!(lines.len(), jobs, "{out}");
        assert!(lines.iter().all(|line| line.split(';').count() >= 121), "{out}");
    }
    if has("normal") {
        assert_eq!(out.matches("(groupid=").count(), jobs, "{out}");
        let last =
            if out.contains("\nDisk stats") { "\nDisk stats (read/write):\n" } else { "\nRun status group " };
        assert!(out.contains(last) && out.ends_with('\n'), "{out}");
    }
    has("json").then(|| {
        let document = if formats.len() == 1 { run.json() } else { document_within(out).0 };
        assert_eq!(document["jobs"].as_array().unwrap().len(), jobs);
        document
    })
}

/// Ends a job of endless writes in the middle.
fn killed(signal: Signal, format: &str) -> Run {
    let dir = TestDir::new();
    let format = format!("--output-format={format}");
    // Without `fallocate` the file has a length only when something was written.
    let job = "--name=a --filename=f --rw=write --size=1m --fallocate=none --time_based --runtime=1h";
    let words: Vec<&str> = [format.as_str()].into_iter().chain(job.split(' ')).collect();
    let mut running = dir.ferrio(&words).start();
    running.until("its first write", || dir.is_written("f"));
    running.signal(signal);
    running.signal(signal);
    running.wait().ended_with(128)
}

#[test]
fn a_run_that_is_killed_has_a_whole_report_in_every_format() {
    for format in FORMATS {
        for signal in [Signal::SIGINT, Signal::SIGTERM] {
            let run = killed(signal, format);
            if let Some(document) = whole(&run, format, 1) {
                let write = &document["jobs"][0]["write"];
                assert_eq!(number(write, "/io_bytes"), number(write, "/total_ios") * 4096);
            }
            assert!(run.stderr.contains("terminating on signal"), "{}", run.stderr);
        }
    }
}

#[test]
fn one_of_four_jobs_that_breaks_takes_nothing_of_the_others_away() {
    for format in FORMATS {
        let dir = TestDir::new();
        let job = dir.job(ONE_OF_FOUR);
        let run = dir.ferrio(&[&format!("--output-format={format}"), &job]).run().ended_with(1);
        assert!(run.stderr.contains("Input/output error"), "{}", run.stderr);
        // The text has nothing of figures for a job that moved nothing, but its head.
        let Some(document) = whole(&run, format, 4) else { continue };
        let errors: Vec<u64> = (0..4).map(|job| number(&document["jobs"][job], "/error")).collect();
        assert_eq!(errors, [0, Errno::EIO as u64, 0, 0]);
        assert_eq!(number(&document, "/jobs/0/write/io_bytes"), 65536);
        assert_eq!(number(&document, "/jobs/2/read/io_bytes"), 65536);
        assert_eq!(number(&document, "/jobs/3/read/io_bytes"), 65536);
    }
}

#[test]
fn a_reader_that_goes_away_or_a_full_disk_is_a_message_and_a_failure() {
    let dir = TestDir::new();
    let shell = |script: &str| dir.program("bash", &["-c", script, FERRIO]).run();
    for format in FORMATS {
        // Many jobs, so that the report is larger than what a pipe holds.
        let words = format!("--output-format={format} --name=a --ioengine=null --size=4k --numjobs=200");
        let cut =
            shell(&format!("\"$0\" {words} | head -c 100 >/dev/null; exit ${{PIPESTATUS[0]}}")).ended_with(1);
        assert!(cut.stderr.contains("cannot write to standard output: Broken pipe"), "{}", cut.stderr);
        let full = shell(&format!("\"$0\" {words} >/dev/full")).ended_with(1);
        assert!(full.stderr.contains("cannot write to standard output: No space left"), "{}", full.stderr);
        let file = shell(&format!("\"$0\" {words} --output=/dev/full")).ended_with(1);
        assert!(file.stderr.contains("cannot write to /dev/full: No space left"), "{}", file.stderr);
    }
}
