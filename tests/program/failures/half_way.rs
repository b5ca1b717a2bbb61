//! Runs that break half-way: the report is there, complete and true, and the status counts the failed jobs.

use nix::errno::Errno;

use crate::support::{FERRIO, Run, TestDir, number};

/// ferrio where no file may grow beyond 128 KiB. With `ignored` the write call fails; otherwise the kernel also sends SIGXFSZ.
fn with_small_files(dir: &TestDir, ignored: bool, words: &[&str]) -> Run {
    let trap = if ignored { "trap '' XFSZ; " } else { "" };
    with_limit(dir, &format!("{trap}ulimit -f 128; exec \"$0\" \"$@\""), words)
}

/// ferrio in a script of bash that runs `"$0" "$@"`.
fn with_limit(dir: &TestDir, script: &str, words: &[&str]) -> Run {
    let words: Vec<&str> = ["-c", script, FERRIO].iter().chain(words).copied().collect();
    dir.program("bash", &words).run()
}

const TOO_BIG: [&str; 7] = [
    "--output-format=json",
    "--name=grower",
    "--rw=write",
    "--size=1m",
    "--filename=f",
    "--fallocate=none",
    "--ioengine=psync",
];

#[track_caller]
fn stopped_half_way(run: Run) {
    let run = run.ended_with(1);
    let job = &run.json()["jobs"][0];
    assert_eq!(job["error"], Errno::EFBIG as i32, "{job:#}");
    assert_eq!(number(job, "/write/io_bytes"), 128 << 10);
    assert!(run.stderr.contains("File too large"), "{}", run.stderr);
}

#[test]
fn a_limit_on_file_sizes_met_half_way_is_reported() {
    let dir = TestDir::new();
    stopped_half_way(with_small_files(&dir, true, &TOO_BIG));
    assert_eq!(dir.files(), [("f".to_owned(), 128 << 10)]);
}

#[test]
fn the_signal_that_comes_with_the_limit_does_not_cost_the_report() {
    let dir = TestDir::new();
    stopped_half_way(with_small_files(&dir, false, &TOO_BIG));
}

#[test]
fn a_full_device_fails_its_job_and_no_other() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nrw=write\nsize=64k\n[full]\nfilename=/dev/full\n[fine]\nioengine=null\n[fine-too]\nstonewall\n\
         filename=f\n",
    );
    let run = dir.ferrio(&["--output-format=json", &job]).run().ended_with(1);
    let report = run.json();
    let errors: Vec<_> = report["jobs"].as_array().unwrap().iter().map(|job| number(job, "/error")).collect();
    assert_eq!(errors, [Errno::ENOSPC as u64, 0, 0]);
    assert_eq!(number(&report, "/jobs/0/write/io_bytes"), 0);
    assert_eq!(number(&report, "/jobs/1/write/io_bytes"), 65536);
    assert_eq!(number(&report, "/jobs/2/write/io_bytes"), 65536);
    assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
}

#[test]
fn a_job_slower_than_its_minimum_rate_fails_and_says_so() {
    let dir = TestDir::new();
    let words = [
        "--output-format=json",
        "--name=a",
        "--ioengine=null",
        "--size=1g",
        "--rate_iops=100",
        "--rate_iops_min=90",
    ];
    let run =
        dir.ferrio(&[&words[..], &["--thinktime=20ms", "--rate_cycle=200"]].concat()).run().ended_with(1);
    let report = run.json();
    assert_eq!(report["jobs"][0]["error"], Errno::EIO as i32);
    assert!(number(&report, "/jobs/0/job_runtime") >= 2200, "{report:#}");
    assert!(run.stderr.contains("a: rate_iops_min=90 not met, got "), "{}", run.stderr);
}

#[test]
fn the_status_is_the_number_of_failed_jobs() {
    needs!("fio");
    let dir = TestDir::new();
    let words = ["--name=a", "--numjobs=3", "--filename=/dev/full", "--rw=write", "--size=64k"];
    for run in [dir.ferrio(&words).run(), dir.fio(&words).run()] {
        let run = run.ended_with(3);
        assert_eq!(run.stdout.matches("a: (groupid=0, jobs=1): err=28 ").count(), 3, "{}", run.stdout);
    }
}

/// `create_on_open` leaves the layout out: the file is there and empty.
#[test]
fn a_read_beyond_the_end_of_its_file_is_an_error_of_the_job() {
    let dir = TestDir::new();
    let words = ["--output-format=json", "--name=a", "--rw=read", "--size=64k", "--create_on_open=1"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert_eq!(run.json()["jobs"][0]["error"], Errno::EIO as i32);
}

#[test]
fn a_report_that_cannot_be_written_is_a_failure() {
    let dir = TestDir::new();
    let words = ["--output=/dev/full", "--name=a", "--ioengine=null", "--size=64k"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(run.stderr.contains("No space left on device"), "{}", run.stderr);
}

const NULL: [&str; 4] = ["--output-format=json", "--name=a", "--ioengine=null", "--size=4k"];

#[track_caller]
fn rescued(run: Run, file: &str, reason: &str) {
    let run = run.ended_with(1);
    assert_eq!(number(&run.json(), "/jobs/0/read/total_ios"), 1);
    let line = format!("error: cannot write to {file}: {reason}; the report is on standard output instead\n");
    assert!(run.stderr.contains(&line), "{}", run.stderr);
}

#[test]
fn a_report_whose_directory_is_gone_is_on_standard_output() {
    let dir = TestDir::new();
    std::fs::create_dir(dir.work().join("d")).unwrap();
    let words = ["--output=d/r", "--exec_postrun=mv d e"];
    rescued(dir.ferrio(&[&NULL[..], &words].concat()).run(), "d/r", "No such file or directory");
    assert!(dir.work().join("e").read_dir().unwrap().next().is_none());
}

/// What collects standard output is not limited.
const ONE_KIB: &str = "set -o pipefail; (ulimit -f 1; exec \"$0\" \"$@\") | cat";

#[test]
fn a_report_that_a_file_has_no_room_for_is_on_standard_output() {
    let dir = TestDir::new();
    std::fs::write(dir.work().join("r"), "old").unwrap();
    let run = with_limit(&dir, ONE_KIB, &[&NULL[..], &["--output=r"]].concat());
    rescued(run, "r", "File too large");
    assert_eq!(dir.read("r"), "old");
}

#[test]
fn called_fio_a_report_that_a_file_has_no_room_for_goes_nowhere_else() {
    let dir = TestDir::new();
    let script = format!("export FERRIO_AS=fio; {ONE_KIB}");
    let run = with_limit(&dir, &script, &[&NULL[..], &["--output=r"]].concat()).ended_with(1);
    assert_eq!((run.stdout.as_str(), dir.read("r").len()), ("", 1024));
    assert!(run.stderr.contains("fio: cannot write to r: File too large\n"), "{}", run.stderr);
}

#[test]
fn reports_that_do_not_fit_behind_others_are_on_standard_output() {
    let dir = TestDir::new();
    let long = ["--time_based", "--runtime=2s", "--thinktime=1ms", "--status-interval=250ms", "--output=r"];
    let words = [&["--output-format=terse"][..], &NULL[1..], &long].concat();
    let run = with_limit(&dir, ONE_KIB, &words).ended_with(1);
    assert!(run.stderr.contains("cannot write to r: File too large"), "{}", run.stderr);
    let first = dir.read("r");
    let lines: Vec<&str> = first.lines().chain(run.stdout.lines()).collect();
    assert!(first.ends_with('\n') && !run.stdout.is_empty() && lines.len() >= 3, "{lines:?}");
    let columns: Vec<usize> = lines.iter().map(|line| line.split(';').count()).collect();
    assert!(columns.iter().all(|&count| count == columns[0] && count > 100), "{columns:?}");
}

#[test]
fn the_table_of_a_sweep_whose_directory_is_gone_is_on_standard_output() {
    let dir = TestDir::new();
    std::fs::create_dir(dir.work().join("d")).unwrap();
    let file = dir.job("[a]\nioengine=null\nsize=4k\nexec_postrun=mv d e || true\n");
    let sweep = ["--sweep=bs=4k,2k", "--output-format=csv", "--output=d/table", &file];
    let run = dir.ferrio(&sweep).run().ended_with(1);
    assert_eq!(run.stdout.lines().count(), 3, "{}\n{}", run.stdout, run.stderr);
    assert!(run.stderr.contains("cannot write to d/table: No such file or directory; the report is on"));
}

#[test]
fn the_document_of_a_check_that_a_file_has_no_room_for_is_on_standard_output() {
    let dir = TestDir::new();
    let words = ["check", "--output-format=json", "--output=r"];
    let wrong = format!("--size={}", "x".repeat(1100));
    for (size, status) in [("--size=4k", "clean"), (&wrong, "errors")] {
        let job = ["--name=a", "--ioengine=null", size];
        let run = with_limit(&dir, ONE_KIB, &[&words[..], &job].concat()).ended_with(1);
        assert_eq!(run.json()["status"], status);
        assert!(run.stderr.contains("File too large; the report is on standard output"), "{}", run.stderr);
    }
}

#[test]
fn a_trigger_file_that_cannot_be_looked_for_is_told() {
    let dir = TestDir::new();
    std::fs::write(dir.work().join("file"), "").unwrap();
    let words = [&NULL[..], &["--trigger-file=file/now"]].concat();
    let message = "cannot look for the trigger file file/now: Not a directory; it cannot end the run while";
    let run = dir.ferrio(&words).run().succeeded();
    assert!(run.stderr.contains(message), "{}", run.stderr);
    let as_fio = dir.ferrio(&words).env("FERRIO_AS", "fio").run().succeeded();
    assert!(!as_fio.messages().contains("trigger"), "{}", as_fio.messages());
}

/// The first line of the report does not fit, long before signals are waited for.
#[test]
fn a_signal_ends_a_run_whose_report_has_gone_to_standard_output_from_the_beginning() {
    let dir = TestDir::new();
    let endless = ["--time_based", "--runtime=1h", "--thinktime=1ms", "--exec_prerun=kill -INT $PPID"];
    let words = [&["--output=r"][..], &NULL[1..], &endless].concat();
    let no_room = "set -o pipefail; (ulimit -f 0; exec \"$0\" \"$@\" 2>&1) | cat";
    let run = with_limit(&dir, no_room, &words).ended_with(1);
    let told = ["Starting 1 process", "terminating on signal 2", "the report is on standard output instead"];
    for text in told {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
}
