//! Private work directories, the two programs (`ferrio` and real `fio`) and comparisons that show both sides.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;

pub use crate::requirements::{installed, skipped};

/// Longest run of a program of these tests, on a busy machine too.
const RUN_TIMEOUT: Duration = Duration::from_secs(120);

/// fio 3.33 sometimes hangs at its start: then it is started again, a few times.
const FIO_START_TIMEOUT: Duration = Duration::from_secs(20);
const MAX_FIO_STARTS: u32 = 3;

/// Longest time that killed processes take to be gone when the program that started them has ended.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);

/// The environment variable that marks the processes of one run.
const RUN_MARK: &str = "RUN_OF_A_TEST";

/// The program under test.
pub const FERRIO: &str = env!("CARGO_BIN_EXE_ferrio");

/// Fails with both sides one under the other unless they are equal.
macro_rules! same {
    ($left_name:literal: $left:expr, $right_name:literal: $right:expr, $($what:tt)+) => {{
        let (left, right) = (&$left, &$right);
        if left != right {
            panic!(
                "{}\n--- {}\n{left:#?}\n--- {}\n{right:#?}",
                format_args!($($what)+), $left_name, $right_name
            );
        }
    }};
}
pub(crate) use same;

/// The directory of one test: programs run in `work`; job files and outputs are beside it.
///
/// It is below cargo's target directory, because the file system of /tmp might not support O_DIRECT.
pub struct TestDir {
    base: TempDir,
}

impl TestDir {
    pub fn new() -> Self {
        let base = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("the target directory is writable");
        fs::create_dir(base.path().join("work")).unwrap();
        TestDir { base }
    }

    /// The directory that programs run in.
    pub fn work(&self) -> PathBuf {
        self.base.path().join("work")
    }

    /// A path beside the work directory.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.base.path().join(name)
    }

    /// Writes a job file with this text beside the work directory.
    pub fn job(&self, text: &str) -> String {
        let path = self.beside("test.fio");
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The text of a file in the work directory.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The rows of a log in the work directory, column by column.
    #[track_caller]
    pub fn rows(&self, name: &str) -> Vec<Vec<String>> {
        self.read(name).lines().map(|row| row.split(", ").map(str::to_owned).collect()).collect()
    }

    /// True once a file in the work directory has content.
    pub fn is_written(&self, name: &str) -> bool {
        fs::metadata(self.work().join(name)).is_ok_and(|metadata| metadata.len() > 0)
    }

    /// The size of a file in the work directory, if it is there.
    pub fn size(&self, name: &str) -> Option<u64> {
        fs::metadata(self.work().join(name)).ok().map(|metadata| metadata.len())
    }

    /// Names and sizes of the files in the work directory.
    pub fn files(&self) -> Vec<(String, u64)> {
        let mut files: Vec<_> = fs::read_dir(self.work())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len()))
            .collect();
        files.sort();
        files
    }

    /// ferrio with these arguments.
    pub fn ferrio<S: AsRef<str>>(&self, arguments: &[S]) -> Invocation<'_> {
        self.program(FERRIO, arguments)
    }

    /// ferrio with no signal ignored, as a terminal starts it. The tests may have been started in the background, where shells ignore some.
    pub fn ferrio_in_foreground<S: AsRef<str>>(&self, arguments: &[S]) -> Invocation<'_> {
        let words = ["--default-signal", FERRIO].into_iter().chain(arguments.iter().map(AsRef::as_ref));
        self.program("env", &words.collect::<Vec<_>>())
    }

    /// Real fio with these arguments.
    pub fn fio<S: AsRef<str>>(&self, arguments: &[S]) -> Invocation<'_> {
        self.program(installed("fio"), arguments).may_hang()
    }

    /// Any program with these arguments.
    pub fn program<S: AsRef<str>>(&self, program: impl Into<OsString>, arguments: &[S]) -> Invocation<'_> {
        let mut command = Command::new(program.into());
        command.args(arguments.iter().map(AsRef::as_ref)).current_dir(self.work()).stdin(Stdio::null());
        // A process group of its own, so that processes left behind can be found.
        command.process_group(0);
        set_colours_aside(&mut command);
        Invocation { dir: self, command, may_hang: false }
    }
}

/// Colours then depend on the stream alone, not on the terminal or the CI that runs the tests.
pub fn set_colours_aside(command: &mut Command) {
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI"] {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm");
}

/// The numbers of all System V segments, each with the process that made it.
fn segments_and_creators() -> Vec<(String, String)> {
    let list = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let fields = list.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    fields.map(|fields| (fields[1].to_owned(), fields[4].to_owned())).collect()
}

/// The numbers of all System V segments.
pub fn segments() -> Vec<String> {
    segments_and_creators().into_iter().map(|(id, _)| id).collect()
}

/// The numbers of the segments that a process has made. A process before it may have had the same number, so segments that were there
/// `before` do not count.
pub fn segments_of(pid: Pid, before: &[String]) -> Vec<String> {
    let created = segments_and_creators().into_iter().filter(|(_, creator)| *creator == pid.to_string());
    created.map(|(id, _)| id).filter(|id| !before.contains(id)).collect()
}

/// Polls until `condition` holds; fails after the deadline.
pub fn until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < RUN_TIMEOUT, "no {what} within {RUN_TIMEOUT:?}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A program about to be run.
pub struct Invocation<'a> {
    dir: &'a TestDir,
    command: Command,
    may_hang: bool,
}

impl Invocation<'_> {
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// The program is a fio that may hang at its start.
    pub fn may_hang(mut self) -> Self {
        self.may_hang = true;
        self
    }

    /// Gives the program this text as standard input.
    pub fn input(self, text: &str) -> Self {
        let path = self.dir.beside("stdin");
        fs::write(&path, text).unwrap();
        self.input_file(&path)
    }

    /// Gives the program this file as standard input.
    pub fn input_file(mut self, path: &Path) -> Self {
        self.command.stdin(File::open(path).unwrap());
        // A second start would find the input consumed.
        self.may_hang = false;
        self
    }

    /// Gives the program this as standard input.
    pub fn stdin(mut self, stdin: impl Into<Stdio>) -> Self {
        self.command.stdin(stdin);
        self.may_hang = false;
        self
    }

    pub fn start(mut self) -> Running {
        self.spawn()
    }

    fn spawn(&mut self) -> Running {
        let shown = format!("{:?}", self.command);
        let output = TempDir::new_in(self.dir.base.path()).unwrap();
        let file = |name| File::create(output.path().join(name)).unwrap();
        self.command.stdout(file("stdout")).stderr(file("stderr")).env(RUN_MARK, output.path());
        let child = self.command.spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
        Running { child, output, shown, began: Instant::now() }
    }

    /// Runs the program to its end.
    pub fn run(mut self) -> Run {
        let trials = if self.may_hang { MAX_FIO_STARTS } else { 1 };
        for _ in 1..trials {
            let mut running = self.spawn();
            if running.ends_within(FIO_START_TIMEOUT) {
                return running.wait();
            }
            running.kill();
        }
        self.start().wait()
    }
}

/// A program that has been started.
pub struct Running {
    child: Child,
    output: TempDir,
    shown: String,
    began: Instant,
}

impl Running {
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id().try_into().unwrap())
    }

    pub fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).unwrap();
    }

    /// The file that its standard output goes to.
    pub fn stdout_path(&self) -> PathBuf {
        self.output.path().join("stdout")
    }

    /// The file that its standard error goes to.
    pub fn stderr_path(&self) -> PathBuf {
        self.output.path().join("stderr")
    }

    /// Polls until `condition` holds; the program must be running until then.
    pub fn until(&mut self, what: &str, condition: impl Fn() -> bool) {
        while !condition() {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{} ended before {what}: {}", self.shown, self.output_so_far());
            self.wait_between_polls(what);
        }
    }

    pub fn wait(mut self) -> Run {
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => self.wait_between_polls("its end"),
            }
        };
        // Those that were killed may take a moment to be gone.
        let left_in_time = Instant::now() + EXIT_TIMEOUT;
        let mut group = killpg(self.pid(), None);
        while group.is_ok() && Instant::now() < left_in_time {
            thread::sleep(Duration::from_millis(2));
            group = killpg(self.pid(), None);
        }
        assert_eq!(group, Err(Errno::ESRCH), "{} left processes behind", self.shown);
        let mut left = self.descendants();
        while !left.is_empty() && Instant::now() < left_in_time {
            thread::sleep(Duration::from_millis(2));
            left = self.descendants();
        }
        for &process in &left {
            let _ = kill(process, Signal::SIGKILL);
        }
        assert_eq!(left, [], "{} left processes in other groups behind", self.shown);
        Run {
            status: status.code(),
            signal: status.signal(),
            stdout: self.read("stdout"),
            stderr: self.read("stderr"),
            shown: self.shown,
        }
    }

    /// Processes that the program started, also those in groups and sessions of their own: they inherit its environment.
    fn descendants(&self) -> Vec<Pid> {
        let mark = format!("{RUN_MARK}={}", self.output.path().display());
        let is_marked = |process: &i32| {
            let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let names =
            fs::read_dir("/proc").unwrap().filter_map(|entry| entry.unwrap().file_name().into_string().ok());
        names.filter_map(|name| name.parse().ok()).filter(is_marked).map(Pid::from_raw).collect()
    }

    /// False if the program still runs that long after its start.
    pub fn ends_within(&mut self, time: Duration) -> bool {
        while self.child.try_wait().unwrap().is_none() {
            if self.began.elapsed() > time {
                return false;
            }
            thread::sleep(Duration::from_millis(2));
        }
        true
    }

    /// Kills the program and what it started: fio's jobs are sessions of their own and would wait forever.
    pub fn kill(&mut self) {
        let descendants = self.descendants();
        let _ = killpg(self.pid(), Signal::SIGKILL);
        for process in descendants {
            let _ = kill(process, Signal::SIGKILL);
        }
        let _ = self.child.wait();
    }

    /// Waits a moment between two polls; fails after the deadline.
    pub fn wait_between_polls(&mut self, what: &str) {
        if self.began.elapsed() > RUN_TIMEOUT {
            self.kill();
            panic!("{} did not reach {what} within {RUN_TIMEOUT:?}: {}", self.shown, self.output_so_far());
        }
        thread::sleep(Duration::from_millis(2));
    }

    fn read(&self, name: &str) -> String {
        String::from_utf8_lossy(&fs::read(self.output.path().join(name)).unwrap()).into_owned()
    }

    fn output_so_far(&self) -> String {
        format!("\n{}{}", self.read("stdout"), self.read("stderr"))
    }
}

/// A program that has ended.
#[derive(Debug)]
pub struct Run {
    pub status: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    shown: String,
}

impl Run {
    /// Fails unless the program ended with this status.
    #[track_caller]
    pub fn ended_with(self, status: i32) -> Self {
        assert_eq!(
            (self.status, self.signal),
            (Some(status), None),
            "(status, signal) of {}\n--- stdout\n{}\n--- stderr\n{}",
            self.shown,
            self.stdout,
            self.stderr
        );
        self
    }

    /// Fails unless the program succeeded.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        self.ended_with(0)
    }

    /// Stderr without the warnings about figures, which all short runs have.
    pub fn messages(&self) -> String {
        let mut lines = self.stderr.split_inclusive('\n').peekable();
        let mut messages = String::new();
        while let Some(line) = lines.next() {
            let is_about_figures = line.starts_with("warning: ") && line.ends_with("]\n");
            if is_about_figures && lines.next_if(|help| help.starts_with("  = ")).is_some() {
                continue;
            }
            messages.push_str(line);
        }
        messages
    }

    /// Stdout, which must be one JSON document.
    #[track_caller]
    pub fn json(&self) -> Value {
        document(&self.stdout, &self.shown)
    }
}

/// The first JSON document in an output with other lines before or after it, and the text that follows.
#[track_caller]
pub fn document_within(output: &str) -> (Value, &str) {
    let start = output.find("{\n").unwrap_or_else(|| panic!("no JSON in\n{output}"));
    let end = output[start..].find("\n}\n").unwrap_or_else(|| panic!("no whole JSON in\n{output}"));
    let (json, rest) = output[start..].split_at(end + 3);
    (document(json, "the document in an output"), rest)
}

/// The JSON document in a file.
#[track_caller]
pub fn json_file(path: &Path) -> Value {
    document(&fs::read_to_string(path).unwrap(), &path.display().to_string())
}

#[track_caller]
fn document(text: &str, whose: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{whose}: no JSON: {error}\n{text}"))
}

/// Calls `work` for each of several things, all at the same time: waiting for programs takes little CPU time.
pub fn at_once<T: Sync>(things: &[T], work: impl Fn(&T) + Sync) {
    let ends = thread::scope(|scope| {
        let threads: Vec<_> = things.iter().map(|thing| scope.spawn(|| work(thing))).collect();
        threads.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
    });
    ends.into_iter().for_each(|end| end.unwrap_or_else(|panic| resume_unwind(panic)));
}

/// The results of real fio (true) and of ferrio (false), run at the same time.
#[track_caller]
pub fn both<R: Send>(work: impl Fn(bool) -> R + Sync) -> [R; 2] {
    thread::scope(|scope| {
        let fio = scope.spawn(|| work(true));
        let ferrio = work(false);
        [fio.join().unwrap_or_else(|panic| resume_unwind(panic)), ferrio]
    })
}

/// Several job files in one, to save starts of programs: all jobs run at the same time, and those of each file are groups of their own.
#[track_caller]
pub fn side_by_side<S: AsRef<str>>(files: &[S]) -> String {
    let mut joined = String::new();
    for file in files.iter().map(AsRef::as_ref) {
        assert!(!file.contains("[global]"), "globals would be those of all files:\n{file}");
        let (section, options) = file.split_once('\n').unwrap();
        assert!(!joined.contains(section), "{section} twice");
        joined += &format!("{section}\nnew_group\n{options}");
    }
    joined
}

/// A number of a report, by its path.
#[track_caller]
pub fn number(report: &Value, path: &str) -> u64 {
    let value = report.pointer(path).unwrap_or_else(|| panic!("{path} is missing in {report:#}"));
    value.as_u64().unwrap_or_else(|| panic!("{path} is {value}"))
}

/// A text of a report, by its path.
#[track_caller]
pub fn text<'a>(report: &'a Value, path: &str) -> &'a str {
    let value = report.pointer(path).unwrap_or_else(|| panic!("{path} is missing in {report:#}"));
    value.as_str().unwrap_or_else(|| panic!("{path} is {value}"))
}
