//! The engines that do no I/O: `cpuio` keeps a CPU busy, `exec` runs a program.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::beside_fio::work::compare;
use crate::support::{FERRIO, TestDir, both, number, same};

/// Sums of I/Os and bytes of all directions of a job.
fn done(job: &Value) -> (u64, u64) {
    let sum = |figure: &str| {
        ["read", "write", "trim"].iter().map(|at| number(job, &format!("/{at}/{figure}"))).sum::<u64>()
    };
    (sum("total_ios"), sum("io_bytes"))
}

/// A text report with a `9` for every number, and without what other programs decide.
fn shape(report: &str) -> Vec<String> {
    let of_time = |line: &&str| {
        let line = line.trim_start();
        !["fio-", "lat (", "cpu ", "latency "].iter().any(|start| line.starts_with(start))
    };
    let lines = report.lines().filter(of_time).map(|line| {
        let line = line.split(": pid=").next().unwrap_or_default();
        let mut shape = String::new();
        for letter in line.chars().map(|letter| if letter.is_ascii_digit() { '9' } else { letter }) {
            if letter != '9' || !shape.ends_with('9') {
                shape.push(letter);
            }
        }
        shape
    });
    lines.collect()
}

#[test]
fn busy_stretches_are_counted_as_fio_counts_them() {
    needs!("fio");
    compare("[c]\nioengine=cpuio\ncpuload=100\ncpuchunks=1000\nnumber_ios=7\n");
    compare(
        "[global]\nioengine=cpuio\ncpuload=50\ncpuchunks=1000\nnumber_ios=3\nrw=write\nsize=1m\nbs=64k\niodepth=4\n\
         [a]\nnumjobs=2\ngroup_reporting\n[b]\nnew_group\ncpumode=qsort\ncpuload=100\n",
    );
}

#[test]
fn texts_have_the_lines_of_fio() {
    needs!("fio");
    let job = "[c]\nioengine=cpuio\ncpuload=100\ncpuchunks=1000\nnumber_ios=7\n\
               [n]\nioengine=null\nsize=4k\nrw=write\ndisable_clat=1\ndisable_lat=1\ndisable_slat=1\n";
    let texts = |job: &str| {
        both(|fio| {
            let dir = TestDir::new();
            let words = [dir.job(job)];
            let run = if fio { dir.fio(&words) } else { dir.ferrio(&words).env("FERRIO_AS", "fio") }.run();
            run.succeeded().stdout
        })
    };
    let [fio, ferrio] = texts(job);
    assert!(ferrio.contains("\nc (noop): ioengine=cpuio, cpuload=100, cpucycle=1000\n"), "{ferrio}");
    assert!(!ferrio.contains("c: (g=0)") && ferrio.contains("n: (g=0)"), "{ferrio}");
    let of_c = |text: &str| {
        let lines = shape(text);
        let begin = lines.iter().position(|line| line.starts_with("c: (")).unwrap();
        let end = lines.iter().position(|line| line.starts_with("n: (groupid")).unwrap();
        lines[begin..end].to_vec()
    };
    same!("fio": of_c(&fio), "ferrio": of_c(&ferrio), "the report of a job without I/O");

    let job = "[x]\nioengine=exec\nprogram=/bin/echo\narguments=%n  %r 'a b'\nruntime=1\ngrace_time=0\n";
    let [fio, ferrio] = texts(job);
    same!("fio": shape(&fio), "ferrio": shape(&ferrio), "the report of a job that runs a program");
    assert!(
        ferrio.contains("\nx : Saving output of /bin/echo x  1 'a b' : stdout=x.stdout stderr=x.stderr\n")
    );
}

#[test]
fn programs_get_the_arguments_that_fio_gives_them() {
    needs!("fio");
    let job = "[x]\nioengine=exec\nprogram=/usr/bin/printf\narguments=<%s>\\n  %r 'a b' %%n %x\nruntime=1\ngrace_time=0\n";
    let [fio, ferrio] = both(|fio| {
        let dir = TestDir::new();
        let words = [dir.job(job)];
        if fio { dir.fio(&words) } else { dir.ferrio(&words) }.run().succeeded();
        (dir.read("x.stdout"), dir.files())
    });
    same!("fio": fio, "ferrio": ferrio, "what the program wrote");
    assert!(ferrio.0.starts_with("<1>\n<'a>\n<b'>\n<%"), "{}", ferrio.0);
}

#[test]
fn a_load_ends_with_the_last_job_that_does_io() {
    // Without end, the run would never be over.
    let load = "ioengine=cpuio\ncpuload=20\n";
    let io = "ioengine=null\nsize=4k\n";
    for job in [
        format!("[c]\n{load}[i]\n{io}[j]\n{io}startdelay=200ms\n"),
        format!("[c]\n{load}runtime=1h\nthread=1\n[i]\n{io}thread=1\n"),
        format!("[c]\n{load}runtime=1h\nexit_on_io_done=1\n[i]\n{io}"),
        format!("[c]\n{load}cpuchunks=3600000000\n[d]\n{load}[i]\n{io}"),
    ] {
        let dir = TestDir::new();
        let words = ["--output-format=json".to_owned(), dir.job(&job)];
        let report = dir.ferrio(&words).run().succeeded().json();
        for at in report["jobs"].as_array().unwrap() {
            let moved = if at["jobname"].as_str().is_some_and(|name| "cd".contains(name)) { 0 } else { 4096 };
            assert_eq!((&at["error"], done(at).1), (&0.into(), moved), "{job}{at:#}");
        }
    }
}

#[test]
fn a_load_with_a_run_time_outlives_other_processes() {
    let dir = TestDir::new();
    let job =
        "[c]\nioengine=cpuio\ncpuload=100\ncpuchunks=1000\nruntime=300ms\n[i]\nioengine=null\nsize=4k\n";
    let report = dir.ferrio(&["--output-format=json", &dir.job(job)]).run().succeeded().json();
    assert!(number(&report, "/jobs/0/job_runtime") >= 300);
}

#[test]
fn a_failed_job_leaves_no_load_behind() {
    let dir = TestDir::new();
    let job =
        dir.job("[c]\nioengine=cpuio\ncpuload=20\n[i]\nfilename=missing\nallow_file_create=0\nsize=4k\n");
    let report = dir.ferrio(&["--output-format=json", &job]).run().ended_with(1).json();
    assert_eq!(report["jobs"][0]["jobname"], "c", "the load has ended, and has its part of the report");
    assert_eq!(report["jobs"][1]["read"]["total_ios"], 0);
}

#[test]
fn a_load_uses_the_share_of_the_cpu_that_it_is_given() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=cpuio\ncpuchunks=10000\nnumber_ios=20\n[low]\ncpuload=10\n[high]\nstonewall\ncpuload=100\n",
    );
    let report = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    let share = |job: usize| report["jobs"][job]["usr_cpu"].as_f64().unwrap();
    let [low, high] = [share(0), share(1)];
    // A busy machine can only take from both.
    assert!(low <= 25.0 && low < high, "{low} {high}");
    assert_eq!([done(&report["jobs"][0]), done(&report["jobs"][1])], [(20, 0), (20, 0)]);
}

#[test]
fn a_signal_and_the_run_time_end_a_busy_stretch_of_an_hour() {
    let load =
        ["--output-format=json", "--name=c", "--ioengine=cpuio", "--cpuload=50", "--cpuchunks=3600000000"];
    let dir = TestDir::new();
    let report = dir.ferrio(&[&load[..], &["--runtime=100ms"]].concat()).run().succeeded().json();
    assert_eq!(done(&report["jobs"][0]), (1, 0));
    let log: &[&str] =
        &["--name=n", "--ioengine=exec", "--program=touch", "--arguments=begun", "--std_redirect=0"];
    let mut running = dir.ferrio(&[&load[..], &["--runtime=1h"], log].concat()).start();
    running.until("the other job", || dir.work().join("begun").exists());
    running.signal(Signal::SIGINT);
    let report = running.wait().ended_with(128).json();
    assert_eq!(report["jobs"][0]["error"], 0);
}

#[test]
fn a_signal_ends_the_program_and_its_children() {
    let dir = TestDir::new();
    std::fs::write(
        dir.work().join("program"),
        "sleep 3600 &\necho $$ $! > pids.new\nmv pids.new pids\nwait\n",
    )
    .unwrap();
    let words = ["--name=x", "--ioengine=exec", "--program=sh", "--arguments=program", "--grace_time=3600"];
    let mut running = dir.ferrio(&words).start();
    running.until("the program", || dir.work().join("pids").exists());
    running.signal(Signal::SIGTERM);
    running.wait().ended_with(128);
    for pid in dir.read("pids").split_whitespace() {
        let ended = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.is_empty() || stat.contains(") Z ") || stat.contains(") X ")
        };
        crate::support::until("the end of the program and its child", ended);
    }
}

#[test]
fn a_job_ends_with_its_program_and_says_how_that_failed() {
    let dir = TestDir::new();
    std::fs::write(dir.work().join("program"), "echo out; echo error >&2; exit 3\n").unwrap();
    let words = ["--name=x", "--ioengine=exec", "--program=/bin/sh", "--arguments=program", "--runtime=1h"];
    let run = dir.ferrio(&words).run().succeeded();
    assert!(run.stderr.contains("x: the program /bin/sh ended with status 3"), "{}", run.stderr);
    assert_eq!((dir.read("x.stdout").as_str(), dir.read("x.stderr").as_str()), ("out\n", "error\n"));
}

#[test]
fn a_parent_that_ignores_ended_children_hands_that_down_to_nobody() {
    let words = ["--ignore-signal=CHLD", FERRIO, "--name=x", "--ioengine=exec", "--program=/bin/true"];
    let run =
        TestDir::new().program("env", &[&words[..], &["--exec_prerun=true"]].concat()).run().succeeded();
    assert!(!run.stderr.contains("the program") && !run.stderr.contains("exec_prerun"), "{}", run.stderr);
}

#[test]
fn a_program_that_cannot_be_run_fails_the_job_and_is_named() {
    let dir = TestDir::new();
    let words = ["--name=x", "--ioengine=exec", "--program=/there/is/no/such"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(
        run.stderr.contains("err=2/") && run.stderr.contains("exec(/there/is/no/such)"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_a_job_without_io_needs_is_asked_for_and_what_it_cannot_use_is_noted() {
    let dir = TestDir::new();
    let refused = |words: &[&str]| dir.ferrio(words).run().ended_with(1).stderr;
    let message = refused(&["--name=c", "--ioengine=cpuio", "--runtime=1"]);
    assert!(message.contains("cpu thread needs rate (cpuload=)"), "{message}");
    let message = refused(&["--name=x", "--ioengine=exec"]);
    assert!(message.contains("no program is defined, it is mandatory to define one"), "{message}");
    let words =
        ["--name=c", "--ioengine=cpuio", "--cpuload=100", "--cpuchunks=1000", "--number_ios=1", "--size=1m"];
    let run = dir.ferrio(&words).run().succeeded();
    assert!(
        run.stderr.contains("option `size` has no effect here: the engine does no I/O"),
        "{}",
        run.stderr
    );
}
