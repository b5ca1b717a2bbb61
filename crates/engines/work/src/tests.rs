use std::cell::{Cell, RefCell};
use std::path::Path;
use std::time::{Duration, Instant};

use ferrio_engine::{Engine as _, FileSet, Op, Request, Submit};
use ferrio_job::{Diagnostic, JobSpec};
use ferrio_kernel::programs::ProgramGroup;
use ferrio_plan::testing::spec_of;

use super::{JobHandle, Work};

/// Over after a number of questions.
struct Short<'a> {
    questions: &'a Cell<u32>,
    signals: u32,
    done: &'a Cell<bool>,
    notes: &'a RefCell<Vec<String>>,
}

#[derive(Default)]
struct Seen {
    questions: Cell<u32>,
    done: Cell<bool>,
    notes: RefCell<Vec<String>>,
}

impl Seen {
    fn after(questions: u32) -> Self {
        Seen { questions: Cell::new(questions), ..Seen::default() }
    }

    fn job(&self, signals: u32) -> Box<dyn JobHandle + '_> {
        let Seen { questions, done, notes } = self;
        Box::new(Short { questions, signals, done, notes })
    }
}

impl JobHandle for Short<'_> {
    fn is_over(&self) -> bool {
        let left = self.questions.get();
        self.questions.set(left.saturating_sub(1));
        left == 0
    }

    fn signals(&self) -> u32 {
        self.signals
    }

    fn program_group(&self) -> ProgramGroup {
        ProgramGroup::Own
    }

    fn end_job(&self) {
        self.done.set(true);
    }

    fn note(&self, diagnostic: Diagnostic) {
        self.notes.borrow_mut().push(diagnostic.message);
    }
}

fn work(engine: &mut Work<'_>) -> Submit {
    let buffer = std::ptr::null_mut();
    engine.submit(&Request { op: Op::Read, unit: 0, file: 0, len: 0, priority: 0, offset: 0, buffer })
}

fn exec(program: &str, arguments: &str, more: &str) -> JobSpec {
    spec_of(&format!("[x]\nioengine=exec\nprogram={program}\narguments={arguments}\nstd_redirect=0\n{more}"))
}

/// True until the process is gone or only waits to be reaped by somebody else.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|state| !state.is_empty() && !state.starts_with(['Z', 'X']))
}

fn wait_for(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(20), "it never happened");
        std::thread::yield_now();
    }
}

#[test]
fn a_busy_stretch_ends_with_its_job() {
    let spec = spec_of("[c]\nioengine=cpuio\ncpuload=50\ncpuchunks=3600000000\n");
    let seen = Seen::after(3);
    let mut engine = Work::new(&spec, seen.job(0));
    assert_eq!(work(&mut engine), Submit::Done(0));
    assert_eq!(seen.questions.get(), 0, "an hour would take longer than this test");
}

#[test]
fn sorting_ends_with_its_job() {
    let spec = spec_of("[c]\nioengine=cpuio\ncpuload=50\ncpumode=qsort\n");
    let seen = Seen::after(0);
    let mut engine = Work::new(&spec, seen.job(0));
    assert_eq!(work(&mut engine), Submit::Done(0));
    assert!(engine.think_time().is_some_and(|pause| pause < Duration::from_secs(5)));
}

#[test]
fn a_job_ends_with_its_program() {
    let seen = Seen::after(u32::MAX);
    let mut engine = Work::new(&exec("true", "-", ""), seen.job(0));
    engine.attach(&FileSet::default()).unwrap();
    while !seen.done.get() {
        assert_eq!(work(&mut engine), Submit::Done(0));
    }
    drop(engine);
    assert_eq!(*seen.notes.borrow(), [""; 0]);
}

#[test]
fn a_program_that_fails_is_reported() {
    let seen = Seen::after(u32::MAX);
    let mut engine = Work::new(&exec("false", "-", ""), seen.job(0));
    engine.attach(&FileSet::default()).unwrap();
    while !seen.done.get() {
        work(&mut engine);
    }
    assert_eq!(*seen.notes.borrow(), ["the program false ended with status 1"]);
}

#[test]
fn a_program_that_cannot_be_run_is_named() {
    let seen = Seen::after(u32::MAX);
    let mut engine = Work::new(&exec("/there/is/no/such", "-", ""), seen.job(0));
    let error = engine.attach(&FileSet::default()).unwrap_err();
    assert_eq!((error.errno(), error.func.as_str()), (2, "exec(/there/is/no/such)"));
}

/// A shell that writes its process id, and then runs `script`.
fn shell(directory: &Path, script: &str, more: &str) -> JobSpec {
    let [program, pid] = ["program", "pid"].map(|name| directory.join(name).display().to_string());
    std::fs::write(&program, format!("echo $$ > {pid}.new; mv {pid}.new {pid}\n{script}\n")).unwrap();
    exec("/bin/sh", &program, more)
}

/// Ends the job once its program has begun, and returns what was said.
fn ended(script: &str, signals: u32, more: &str) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let spec = shell(directory.path(), script, more);
    let seen = Seen::after(0);
    let mut engine = Work::new(&spec, seen.job(signals));
    engine.attach(&FileSet::default()).unwrap();
    wait_for(|| directory.path().join("pid").exists());
    assert_eq!(work(&mut engine), Submit::Done(0), "the job is over");
    drop(engine);
    let pid = std::fs::read_to_string(directory.path().join("pid")).unwrap();
    assert!(!Path::new("/proc").join(pid.trim()).exists(), "ended and reaped");
    // Without a number in it, the script was ended before it could write one.
    let child = std::fs::read_to_string(directory.path().join("child")).unwrap_or_default();
    if !child.trim().is_empty() {
        wait_for(|| !runs(child.trim()));
    }
    seen.notes.take()
}

#[test]
fn a_program_that_still_runs_gets_sigterm() {
    assert_eq!(ended("trap 'exit 0' TERM\nwhile :; do sleep 0.01; done", 0, "grace_time=60\n"), [""; 0]);
}

#[test]
fn a_program_that_ignores_sigterm_is_killed_after_the_grace_time_or_at_a_second_signal() {
    let said = ["the program /bin/sh did not end after SIGTERM and was killed"];
    let script = "trap '' TERM\nwhile :; do sleep 0.01; done";
    assert_eq!(ended(script, 2, "grace_time=3600\n"), said);
    assert_eq!(ended(script, 0, "grace_time=0\n"), [""; 0], "it had no time to end");
}

#[test]
fn children_of_the_program_end_with_it() {
    let script = "cd $(dirname $0)\nsleep 3600 &\necho $! > child\nwait";
    assert_eq!(ended(script, 0, "grace_time=60\n"), [""; 0]);
}
