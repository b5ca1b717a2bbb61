//! The life of jobs among each other: who waits for whom, who ends whom, what runs around them, which errors they live with; and
//! the exit status that comes of it, side by side with real fio.

use std::fs;
use std::time::Instant;

use serde_json::Value;

use crate::beside_fio::work::compare;
use crate::support::{FERRIO, Run, TestDir, number, same, text};

/// Name, group, error, bytes read and written of a job.
type Facts = (String, u64, u64, u64, u64);

/// The exit status, and how each job ended.
fn outcome(run: &Run) -> (Option<i32>, Vec<Facts>) {
    let report = run.json();
    let jobs = report["jobs"].as_array().unwrap();
    let facts = |job: &Value| {
        let figure = |path| number(job, path);
        let (read, written) = (figure("/read/io_bytes"), figure("/write/io_bytes"));
        (text(job, "/jobname").to_owned(), figure("/groupid"), figure("/error"), read, written)
    };
    (run.status, jobs.iter().map(facts).collect())
}

/// The same job file under both programs: the same status, groups, errors and bytes.
#[track_caller]
fn agree(job: &str) -> Run {
    let dir = TestDir::new();
    let path = dir.job(job);
    // fio prints messages about jobs where the report goes.
    let mut fio = dir.fio(&["--output-format=json", "--output=o.json", &path]).run();
    let printed = dir.read("o.json");
    let document = printed.find('{').unwrap_or_else(|| panic!("no report of fio:\n{printed}"));
    fio.stdout = printed[document..].to_owned();
    let ferrio = dir.ferrio(&["--output-format=json", &path]).run();
    same!("fio": outcome(&fio), "ferrio": outcome(&ferrio), "outcome of\n{job}");
    ferrio
}

const NULL: &str = "[global]\nioengine=null\nsize=4k\n";
const FULL: &str = "[global]\nrw=write\nfilename=/dev/full\nsize=40k\n";

#[test]
fn waiting_for_a_job_opens_no_group() {
    needs!("fio");
    agree(&format!("{NULL}[a]\nnumjobs=2\n[b]\nwait_for=a\n[c]\nstonewall\n[d]\nwait_for=c\n"));
}

#[test]
fn the_status_counts_failed_jobs_but_not_those_that_live_with_their_errors() {
    needs!("fio");
    agree(&format!("{FULL}[failing]\nnumjobs=2\n[tolerant]\nignore_error=,ENOSPC\n"));
    agree(&format!("{FULL}[a]\ncontinue_on_error=all\n"));
    agree(&format!("{FULL}[a]\ncontinue_on_error=all\nignore_error=ENOSPC,28\n"));
    agree(&format!("{FULL}[a]\nignore_error=ENOSPC\n"));
}

#[test]
fn a_job_waits_even_for_one_that_fails() {
    needs!("fio");
    agree("[global]\nsize=4k\n[a]\nrw=write\nfilename=/dev/full\n[b]\nioengine=null\nwait_for=a\n");
}

#[test]
fn tolerated_errors_leave_the_same_report() {
    needs!("fio");
    compare("[global]\nrw=write\nfilename=/dev/full\nsize=40k\n[a]\nignore_error=,ENOSPC\n");
    compare(&format!("{NULL}[a]\ncontinue_on_error=io\n"));
}

#[test]
fn tolerated_errors_are_summed_up_in_the_text_report() {
    let dir = TestDir::new();
    let words = ["--name=a", "--filename=/dev/full", "--rw=write", "--size=40k", "--ignore_error=,ENOSPC"];
    let run = dir.ferrio(&words).run().succeeded();
    let line = "     errors    : total=10, first_error=28/<No space left on device>\n";
    assert!(run.stdout.contains(line) && run.stdout.contains(": err=28 ("), "{}", run.stdout);
    assert_eq!(run.messages(), "");
}

#[test]
fn tolerated_errors_are_told_one_by_one_when_asked_for() {
    needs!("fio");
    let dir = TestDir::new();
    let words = [
        "--name=a",
        "--filename=/dev/full",
        "--rw=write",
        "--size=8k",
        "--ignore_error=,28",
        "--error_dump=1",
    ];
    let lines = |run: Run| {
        let run = run.succeeded();
        run.stderr.lines().filter(|line| line.contains("io_u error")).map(str::to_owned).collect::<Vec<_>>()
    };
    let as_fio: Vec<&str> = ["--as=fio"].iter().chain(&words).copied().collect();
    let (fio, ferrio) = (lines(dir.fio(&words).run()), lines(dir.ferrio(&as_fio).run()));
    same!("fio": fio, "ferrio": ferrio, "lines about errors");
    assert_eq!(ferrio.len(), 2);
}

#[test]
fn all_blocks_are_read_in_spite_of_mismatches_and_the_status_tells_of_them() {
    let dir = TestDir::new();
    fs::write(dir.work().join("f"), [0; 40960]).unwrap();
    let words = ["--output-format=json", "--name=a", "--filename=f", "--rw=read", "--verify=crc32c"];
    let with = |more: &[&'static str]| dir.ferrio(&[&words[..], more].concat()).run();
    let strict = outcome(&with(&[]));
    assert_eq!((strict.0, strict.1[0].2, strict.1[0].3), (Some(1), 84, 4096));
    for more in [&["--continue_on_error=verify"][..], &["--ignore_error=,,EILSEQ", "--ioengine=io_uring"]] {
        let run = with(more);
        let tolerant = outcome(&run);
        assert_eq!((tolerant.0, tolerant.1[0].2, tolerant.1[0].3), (Some(1), 84, 40960), "{more:?}");
        assert_eq!(number(&run.json(), "/jobs/0/total_err"), 10);
        assert_eq!(run.stderr.matches("verify: bad").count(), 10, "{}", run.stderr);
    }
    let fatal = with(&["--continue_on_error=verify", "--verify_fatal=1"]);
    assert_eq!((fatal.status, number(&fatal.json(), "/jobs/0/total_err")), (Some(1), 1));
    assert_eq!(outcome(&with(&["--continue_on_error=verify", "--as=fio"])).0, Some(0), "called fio");
}

#[test]
fn a_job_that_ends_takes_its_group_with_it() {
    needs!("fio");
    let endless = "ioengine=null\nsize=1m\ntime_based\nruntime=1h\n";
    let run = {
        let dir = TestDir::new();
        let job = dir.job(&format!(
            "[quick]\nioengine=null\nsize=4k\nexitall\n[endless]\n{endless}[late]\n{endless}startdelay=1h\n\
             [behind]\nstonewall\nioengine=null\nsize=4k\n"
        ));
        dir.ferrio(&["--output-format=json", &job]).run().succeeded()
    };
    let (_, jobs) = outcome(&run);
    assert_eq!((jobs[0].3, jobs[2].3, jobs[3].3), (4096, 0, 4096));
    agree(
        "[quick]\nioengine=null\nsize=4k\nexitall\nexit_what=all\n[behind]\nstonewall\nioengine=null\nsize=4k\n",
    );
}

#[test]
fn commands_run_around_a_job() {
    let dir = TestDir::new();
    let job =
        dir.job(&format!("{NULL}[a b]\nexec_prerun=echo one && echo two >&2\nexec_postrun=echo three\n"));
    let run = dir.ferrio(&["--output-format=json", &job]).run().succeeded();
    assert_eq!(number(&run.json(), "/jobs/0/read/io_bytes"), 4096);
    assert_eq!(
        run.messages(),
        "a b : Saving output of prerun in a b.prerun.txt\na b : Saving output of postrun in a b.postrun.txt\n"
    );
    assert_eq!(dir.read("a b.prerun.txt"), "one\ntwo\n");
    assert_eq!(dir.read("a b.postrun.txt"), "three\n");
}

/// fio ends with status 0 here, as if the job had done its work.
#[test]
fn called_fio_a_job_that_cannot_begin_does_nothing_and_succeeds() {
    needs!("fio");
    let starts: [(&str, &str, &[&str]); 2] = [
        ("-n 100", "", &["--exec_prerun=false", "--exec_postrun=touch after"]),
        ("-l 64", "mlock: Cannot allocate memory", &["--lockmem=1m", "--exec_postrun=touch after"]),
    ];
    for (limit, message, options) in starts {
        for program in ["fio", FERRIO] {
            let dir = crate::failures::process_limits::dir_for_all();
            let job = ["--output-format=json", "--output=o.json", "--name=a", "--ioengine=null", "--size=4k"];
            let words = [&job[..], options].concat();
            let run = crate::failures::process_limits::under(&dir, limit, true, program, &words)
                .env("FERRIO_AS", "fio")
                .run();
            assert_eq!(run.status, Some(0), "{program} {options:?}: {}", run.stderr);
            assert!([&run.stdout[..], &run.stderr].concat().contains(message), "{program}: {}", run.stderr);
            let text = dir.read("o.json");
            let (report, _) = crate::support::document_within(&text);
            let jobs = report["jobs"].as_array().unwrap();
            assert!(jobs.iter().all(|job| job["error"] == 0 && job["read"]["io_bytes"] == 0), "{text}");
            assert!(!dir.work().join("after").exists(), "{program}");
        }
    }
}

#[test]
fn a_failing_prerun_fails_the_run() {
    let dir = TestDir::new();
    let words =
        ["--output-format=json", "--name=a", "--ioengine=null", "--size=4k", "--exec_prerun=echo no; exit 2"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert_eq!(number(&run.json(), "/jobs/0/read/io_bytes"), 0);
    for part in ["a: exec_prerun ended with status 2, the job does no I/O", "func=exec_prerun"] {
        assert!(run.stderr.contains(part), "{part:?} is expected in\n{}", run.stderr);
    }
}

#[test]
fn a_job_runs_on_named_numa_nodes_or_is_refused() {
    let dir = TestDir::new();
    let job = dir.job(&format!("{NULL}[a]\nnuma_cpu_nodes=all\nnuma_mem_policy=local\n"));
    assert_eq!(outcome(&dir.ferrio(&["--output-format=json", &job]).run()).1[0].3, 4096);
    let words = ["--name=a", "--ioengine=null", "--size=4k", "--numa_mem_policy=bind:1000"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(run.stderr.contains("there is no NUMA node 1000"), "{}", run.stderr);
}

#[test]
fn a_run_may_have_more_jobs_than_fio_can_start_unless_it_is_called_fio() {
    let dir = TestDir::new();
    let job = ["--name=a", "--ioengine=null", "--size=4k", "--numjobs=4100", "--group_reporting"];
    let report = dir.ferrio(&[&job[..], &["--output-format=json"]].concat()).run().succeeded().json();
    assert_eq!(number(&report, "/jobs/0/read/total_ios"), 4100);
    assert_eq!(number(&report, "/ferrio/run/jobs"), 4100);
    let run = dir.ferrio(&[&job[..], &["--as=fio"]].concat()).run().ended_with(1);
    assert!(run.stderr.contains("error: maximum number of jobs reached"), "{}", run.stderr);
}

#[test]
fn a_report_says_how_far_apart_jobs_began_that_start_together() {
    let dir = TestDir::new();
    let spread_and_run_time = |text: &str| {
        let job = dir.job(&format!("[global]\nioengine=null\nsize=4k\n{text}"));
        let began = Instant::now();
        let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
        (report["ferrio"]["run"]["start_spread_us"].as_u64(), began.elapsed().as_micros())
    };
    let spread = |text: &str| spread_and_run_time(text).0;
    // Some of so many jobs must wait for a processor, for no longer than the program runs.
    let (together, run_time) = spread_and_run_time("[a]\nnumjobs=500\n");
    let together = u128::from(together.unwrap());
    assert!(together > 0 && together < run_time, "{together} us of {run_time}");
    assert_eq!(spread("[a]\n"), None);
    assert_eq!(spread("[a]\n[b]\nstonewall\n"), None);
    // What a command takes before the I/O of its job is no spread.
    assert_eq!(spread("[a]\n[b]\nexec_prerun=true\n"), None);
    // The wall lasts as long as the pause of the first job; it is no spread.
    let walled = spread("[a]\nnumjobs=2\nstartdelay=300ms\n[b]\nstonewall\nnumjobs=2\n").unwrap();
    assert!(walled < 300_000, "{walled} us");
    let delayed = spread("[a]\nnumjobs=2\n[b]\nstartdelay=300ms\nnumjobs=2\n").unwrap();
    assert!(delayed < 300_000, "{delayed} us");
}
