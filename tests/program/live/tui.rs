//! The live view (`--tui`): on a pseudo terminal, as the bytes that are written to it, and in tmux, as people see it.

use std::env;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use nix::fcntl::OFlag;
use nix::pty::{OpenptyResult, Winsize, grantpt, openpty, posix_openpt, ptsname_r, unlockpt};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;
use rustix::termios;

use crate::requirements::all_installed;
use crate::support::{FERRIO, TestDir, installed, json_file, set_colours_aside, until};

/// Jobs that need next to no CPU time and run until they are told to end.
const JOBS: &str = "[global]
ioengine=null
size=1g
time_based
runtime=3600
rate_iops=50
[reader]
rw=randread
[writer]
rw=randrw
numjobs=3
group_reporting
[later]
rw=write
stonewall
";

/// The text after everything that a program writes.
const END: &[u8] = b"\0end";

/// Begins and ends the second screen of a terminal.
const ENTER: &str = "\u{1b}[?1049h";
const LEAVE: &str = "\u{1b}[?1049l";

/// The size of the terminals of these tests.
const ROWS: NonZero<u16> = NonZero::new(40).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(120).unwrap();

/// ferrio on a terminal of its own, which controls it.
pub(super) struct OnTerminal {
    child: Child,
    master: File,
    slave: File,
    /// All that was written to the terminal so far.
    written: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl OnTerminal {
    /// Runs ferrio with the live view and the terminal as its standard streams, apart from what `change` changes.
    pub(super) fn run(dir: &TestDir, words: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        Self::start(dir, &[&[FERRIO, "--tui"], words].concat(), change)
    }

    /// Runs a program so.
    pub(super) fn start(dir: &TestDir, words: &[&str], change: impl FnOnce(&mut Command)) -> Self {
        let size = Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
        let stream = || Stdio::from(slave.try_clone().unwrap());
        let mut command = Command::new(installed("setsid"));
        // Whoever runs the tests may ignore signals, as nohup does.
        command.args(["--ctty", "env", "--default-signal"]).args(words).current_dir(dir.work());
        command.stdin(stream()).stdout(stream()).stderr(stream());
        set_colours_aside(&mut command);
        command.env("LC_ALL", "C.UTF-8");
        change(&mut command);
        let child = command.spawn().unwrap();
        let written = Arc::new(Mutex::new(Vec::new()));
        let (mut from, to) = (File::from(master.try_clone().unwrap()), Arc::clone(&written));
        let reader = thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                let mut written = to.lock().unwrap();
                written.extend_from_slice(&bytes[..count]);
                if written.ends_with(END) {
                    let length = written.len() - END.len();
                    written.truncate(length);
                    return;
                }
            }
        });
        OnTerminal {
            child,
            master: File::from(master),
            slave: File::from(slave),
            written,
            reader: Some(reader),
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// The visible text.
    pub(super) fn screen(&self) -> String {
        seen(&self.written.lock().unwrap())
    }

    /// Waits until a person sees a text.
    pub(super) fn shows(&self, text: &str) {
        until(text, || self.screen().contains(text));
    }

    pub(super) fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn signal(&self, signal: Signal) {
        send(&self.child, signal);
    }

    /// Waits until the view has taken the terminal that many times.
    fn is_taken(&self, times: usize) {
        until("the view", || self.text().matches(ENTER).count() == times);
    }

    /// Waits for the end. Returns the status and all that was written; the terminal must be as it was before.
    pub(super) fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        let flags = tcgetattr(&self.slave).unwrap().local_flags;
        assert!(flags.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG), "{flags:?}");
        self.stop_reading();
        (status, self.text())
    }

    /// Waits until all is read. The terminal stays open, as programs that other tests start meanwhile inherit it.
    fn stop_reading(&mut self) {
        if let Some(reader) = self.reader.take() {
            self.slave.write_all(END).unwrap();
            reader.join().unwrap();
        }
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.stop_reading();
    }
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

/// The text before the second screen, the last contents of that screen, and the text after it. It is entered and left once.
#[track_caller]
pub(super) fn screens(text: &str) -> [String; 3] {
    assert_eq!([ENTER, LEAVE].map(|code| text.matches(code).count()), [1, 1], "{text:?}");
    let (before, rest) = text.split_once(ENTER).unwrap();
    let (view, after) = rest.split_once(LEAVE).unwrap();
    [before.to_owned(), seen(view.as_bytes()), after.to_owned()]
}

/// The visible text of a terminal after these bytes.
fn seen(bytes: &[u8]) -> String {
    let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
    terminal.process(bytes);
    terminal.screen().contents()
}

#[test]
fn q_and_signals_end_the_run_and_the_report_follows_on_the_terminal_as_it_was() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = dir.job(JOBS);
    type End = fn(&mut OnTerminal);
    let ends: [(End, i32); 4] = [
        (|run| run.press("q"), 2),
        (|run| run.press("\u{3}"), 2),
        (|run| run.signal(Signal::SIGTERM), 15),
        (|run| run.signal(Signal::SIGINT), 2),
    ];
    for (end, signal) in ends {
        let mut run = OnTerminal::run(&dir, &[&job], |_| {});
        // A rate stands there once a second is over.
        run.shows("4 running");
        run.shows("p50 ");
        end(&mut run);
        let (status, text) = run.end();
        assert_eq!(status.code(), Some(128), "{text:?}");
        let [before, view, after] = screens(&text);
        assert!(before.starts_with("reader: (g=0)") && before.ends_with("fio-3.42\r\n"), "{before}");
        assert!(view.contains("reader") && view.contains("writer x3"), "{view:?}");
        let terminating = format!("terminating on signal {signal}");
        assert!(!view.contains("Starting") && after.contains(&terminating), "{text:?}");
        for line in ["Starting 5 processes\r\n", "reader: (groupid=0, jobs=1)"] {
            assert_eq!(after.matches(line).count(), 1, "{line}: {after}");
        }
    }
}

#[test]
fn a_hangup_or_a_quit_ends_the_run_as_without_the_view_and_gives_the_terminal_back() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = dir.job(JOBS);
    for signal in [Signal::SIGHUP, Signal::SIGQUIT] {
        let line = format!("exec {FERRIO} --tui {job}");
        let run = OnTerminal::start(&dir, &["sh", "-c", &line], |_| {});
        run.shows("4 running");
        run.signal(signal);
        let (status, text) = run.end();
        assert_eq!((status.code(), status.signal()), (Some(128), None), "{text:?}");
        let [_, view, after] = screens(&text);
        assert!(view.contains("reader") && after.contains("reader: (groupid=0"), "{text:?}");
    }
}

#[test]
fn a_program_that_others_stop_and_continue_takes_the_terminal_again() {
    needs!("setsid");
    let dir = TestDir::new();
    let run = OnTerminal::run(&dir, &[&dir.job(JOBS), "--output=report"], |_| {});
    run.shows("latency of all jobs: p50 ");
    // The program is not told of this one.
    run.signal(Signal::SIGSTOP);
    run.signal(Signal::SIGCONT);
    run.is_taken(2);
    run.shows("latency of all jobs: p50 ");
    // The kernel stops no process without a shell in its session: this one goes on.
    run.signal(Signal::SIGTSTP);
    run.is_taken(3);
    run.shows("latency of all jobs: p50 ");
    run.signal(Signal::SIGTERM);
    let (status, text) = run.end();
    assert_eq!(status.code(), Some(128), "{text:?}");
    assert_eq!([ENTER, LEAVE].map(|code| text.matches(code).count()), [3, 3], "{text:?}");
}

/// A program that does not outlive its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a command of the shell on a terminal, which vanishes as soon as the command has written a text.
fn on_vanishing_terminal(dir: &TestDir, line: &str, text: &str) -> Killed {
    // No other program that is started meanwhile may inherit it: then it would not vanish.
    let mut master = posix_openpt(OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = termios::Winsize { ws_row: ROWS.get(), ws_col: COLUMNS.get(), ws_xpixel: 0, ws_ypixel: 0 };
    termios::tcsetwinsize(&master, size).unwrap();
    let mut options = File::options();
    options.read(true).write(true).custom_flags(OFlag::O_NOCTTY.bits());
    let slave = options.open(ptsname_r(&master).unwrap()).unwrap();
    let stream = || Stdio::from(slave.try_clone().unwrap());
    let mut command = Command::new(installed("setsid"));
    command.args(["--ctty", "env", "--default-signal", "sh", "-c", line]).current_dir(dir.work());
    command.stdin(stream()).stdout(stream()).stderr(stream());
    set_colours_aside(&mut command);
    let child = Killed(command.spawn().unwrap());
    drop((command, slave));
    let (mut written, mut bytes) = (Vec::new(), [0; 4096]);
    while !String::from_utf8_lossy(&written).contains(text) {
        let count = master.read(&mut bytes).unwrap();
        written.extend_from_slice(&bytes[..count]);
    }
    child
}

/// True if a running program has a thread of that name.
fn has_thread(child: &Child, name: &str) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
    // Threads may end meanwhile.
    threads.flatten().any(|thread| {
        fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    })
}

#[test]
fn without_its_terminal_a_run_ends_or_goes_on_as_without_the_view() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = dir.job(JOBS);
    for (option, text) in [("--tui", "sort:"), ("--eta=always", "Jobs: 4")] {
        let line = format!("exec {FERRIO} {option} {job}");
        let status = on_vanishing_terminal(&dir, &line, text).0.wait().unwrap();
        // Nobody gets the report.
        assert_eq!((status.code(), status.signal()), (Some(1), None), "{option}");

        // As nohup does it.
        let line =
            format!("trap '' HUP; exec {FERRIO} {option} --output=report --status-interval=100ms {job}");
        let mut program = on_vanishing_terminal(&dir, &line, text);
        // The file appears with the first report.
        let text = || fs::read_to_string(dir.work().join("report")).unwrap_or_default();
        let reports = || text().matches("reader: (groupid=0, jobs=1)").count();
        let before = reports();
        until("more reports", || reports() > before + 2);
        if option == "--tui" {
            // The thread of the view waits for the end, without a panic, so that signals act as they do without it.
            assert!(has_thread(&program.0, "ferrio-view"), "{line}");
        }
        send(&program.0, Signal::SIGTERM);
        assert_eq!(program.0.wait().unwrap().code(), Some(128), "{option}");
    }
}

#[test]
fn a_run_that_ends_by_itself_gives_the_terminal_back() {
    needs!("setsid");
    let dir = TestDir::new();
    let words = ["--name=a", "--ioengine=null", "--size=1m", "--output-format=json"];
    let (status, text) = OnTerminal::run(&dir, &words, |_| {}).end();
    assert!(status.success(), "{text:?}");
    let [_, _, after] = screens(&text);
    assert!(after.contains("\"jobname\" : \"a\""), "{after}");
}

#[test]
fn documents_and_messages_in_files_are_those_of_any_run() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = dir.job(JOBS);
    let line = format!("exec {FERRIO} --tui --output-format=json {job} < /dev/null > out.json 2> err");
    let mut run = OnTerminal::start(&dir, &["sh", "-c", &line], |_| {});
    run.shows("4 running");
    // Keys come from the terminal although standard input does not.
    run.press("q");
    let (status, text) = run.end();
    assert_eq!(status.code(), Some(128), "{text:?}");
    let [before, _, after] = screens(&text);
    assert_eq!(before, "");
    assert!(!after.contains("fio"), "{after:?}");
    assert_eq!(json_file(&dir.work().join("out.json"))["jobs"][0]["jobname"], "reader");
    let messages = dir.read("err");
    assert!(messages.contains("terminating on signal 2") && !messages.contains('\u{1b}'), "{messages:?}");
}

#[test]
fn a_message_is_in_the_view_and_follows_it_on_standard_error() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = dir.job(&JOBS.replace("[writer]", "[refused]\nrw=read\nexec_prerun=false\n[writer]"));
    let mut run = OnTerminal::run(&dir, &[&job], |_| {});
    run.shows(": refused: pid=");
    run.press("q");
    let (_, text) = run.end();
    let [before, _, after] = screens(&text);
    assert!(!before.contains("exec_prerun"), "{before}");
    let (at, report) = (after.find("exec_prerun"), after.find("reader: (groupid="));
    assert!(at.is_some() && at < report, "{after}");
}

#[test]
fn without_a_terminal_for_itself_there_is_no_view_and_no_run() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = dir.job(JOBS);
    let before = dir.files();
    let refused = |words: &[&str], status: Option<i32>, why: &str| {
        let words = [&[FERRIO][..], words, &[&job]].concat();
        let run = dir.program(installed("setsid"), &[&["--wait"], &words[..]].concat()).run();
        let run = run.ended_with(status.unwrap_or(1));
        assert!(run.stderr.contains(why) && run.stdout.is_empty(), "{why}: {run:?}");
    };
    refused(&["--tui"], None, "error: --tui: there is no terminal to draw on: /dev/tty cannot be opened");
    refused(&["--tui", "--eta=always"], None, "--tui takes the place of the progress line");
    refused(&["--tui", "--parse-only"], None, "which run nothing");
    refused(&["--as=fio", "--tui"], None, "unrecognized option '--tui'");
    assert_eq!(dir.files(), before);

    for (words, term, why) in [
        (&[][..], "dumb", "--tui: this terminal can only show lines of text: TERM is `dumb`"),
        (&["--interval-report=1s"], "xterm", "--tui: --interval-report would write to the terminal as well"),
        (&["--status-interval=1s"], "xterm", "--tui: --status-interval would write to the terminal as well"),
        (&["--debug=io"], "xterm", "--tui: --debug would write to the terminal as well"),
    ] {
        let words = [words, &["--color=never", &job]].concat();
        let run = OnTerminal::run(&dir, &words, |command| {
            command.env("TERM", term);
        });
        let (status, text) = run.end();
        assert_eq!((status.code(), status.signal()), (Some(1), None), "{text}");
        assert!(text.contains(why) && !text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn the_example_of_the_documentation_runs() {
    needs!("setsid");
    let dir = TestDir::new();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/live.md");
    let page = fs::read_to_string(page).unwrap();
    let job: String = page
        .lines()
        .skip_while(|line| *line != "    [global]")
        .take_while(|line| line.starts_with("    "))
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    let mut run = OnTerminal::run(&dir, &[&dir.job(&job)], |_| {});
    run.shows("2 running");
    run.shows("latency of all jobs: p50 ");
    run.press("q");
    let (status, text) = run.end();
    assert_eq!(status.code(), Some(128), "{text:?}");
}

/// A server of tmux with one window.
struct Tmux {
    socket: PathBuf,
}

impl Tmux {
    /// A window with a shell in the work directory; `None` without tmux.
    fn start(dir: &TestDir) -> Option<Self> {
        if !all_installed(&["tmux"]) {
            return None;
        }
        let tmux = Tmux { socket: dir.beside("tmux") };
        let mut command = tmux.command(&["-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "40"]);
        set_colours_aside(&mut command);
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8").env("PS1", "$ ").env_remove("TMUX");
        command.current_dir(dir.work()).args(["bash", "--norc", "--noprofile"]);
        // The server must not be in the group of the tests.
        assert!(command.process_group(0).status().unwrap().success());
        Some(tmux)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).args(words).stdin(Stdio::null());
        command
    }

    /// Types keys by their names, and texts.
    fn press(&self, keys: &[&str]) {
        assert!(self.command(&[&["send-keys"], keys].concat()).status().unwrap().success());
    }

    fn screen(&self) -> String {
        let output = self.command(&["capture-pane", "-p"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits for a screen.
    fn until(&self, what: &str, condition: impl Fn(&str) -> bool) {
        let last = Mutex::new(String::new());
        let seen = || {
            let screen = self.screen();
            let holds = condition(&screen);
            *last.lock().unwrap() = screen;
            holds
        };
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| until(what, seen)));
        assert!(found.is_ok(), "no {what}:\n{}", last.lock().unwrap());
    }

    fn shows(&self, text: &str) {
        self.until(text, |screen| screen.contains(text));
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command(&["kill-server"]).status();
    }
}

/// The first line of a screen that begins so.
fn line<'a>(screen: &'a str, start: &str) -> Option<&'a str> {
    screen.lines().find(|line| line.starts_with(start))
}

#[test]
fn people_see_figures_and_keys_work() {
    let dir = TestDir::new();
    let Some(tmux) = Tmux::start(&dir) else { return };
    let job = dir.job(JOBS);
    tmux.press(&[&format!("clear; {FERRIO} --tui --output=report {job}; echo status=$?"), "Enter"]);
    // A figure in each column of an entry that runs.
    tmux.until("figures of writer", |screen| {
        line(screen, "writer x3 ")
            .is_some_and(|line| line.contains(" running ") && line.contains("B/s ") && !line.contains(" -"))
    });
    let screen = tmux.screen();
    assert!(line(&screen, "job ").unwrap().split_whitespace().eq([
        "job", "state", "left", "read", "IOPS", "read", "bw", "write", "IOPS", "write", "bw", "p50", "p99",
        "max", "depth", "errors"
    ]));
    assert!(line(&screen, "all x5 ").unwrap().contains(" running 4/5 "), "{screen}");
    assert!(line(&screen, "later ").unwrap().contains(" not started "), "{screen}");
    assert!(
        screen.contains("IOPS of all jobs: ") && screen.contains("latency of all jobs: p50 "),
        "{screen}"
    );
    assert!(screen.contains('█') && screen.contains(" now\n"), "{screen}");

    tmux.press(&["j"]);
    tmux.shows("IOPS of reader: ");
    tmux.press(&["Down"]);
    tmux.shows("IOPS of writer x3: ");
    tmux.press(&["s"]);
    tmux.shows(" sort: IOPS");
    // The writers do six times as many I/Os.
    tmux.until("the writers first", |screen| {
        let places = ["\nwriter x3 ", "\nreader "].map(|row| screen.find(row));
        places.iter().all(Option::is_some) && places.is_sorted()
    });
    tmux.press(&["p"]);
    tmux.shows(" PAUSED");
    let screen = tmux.screen();
    let paused = screen.lines().next().unwrap();
    tmux.press(&["?"]);
    tmux.shows("end the run and print its report");
    tmux.press(&["?"]);
    tmux.until("the paused screen again", |screen| {
        screen.lines().next() == Some(paused) && screen.contains("IOPS of")
    });
    tmux.press(&["Space"]);
    let later = |screen: &str| {
        screen
            .lines()
            .next()
            .is_some_and(|title| title.ends_with(" sort: IOPS") && title[..14] != paused[..14])
    };
    tmux.until("a later second", later);
    tmux.press(&["q"]);
    tmux.shows("status=128");
    let screen = tmux.screen();
    assert!(!screen.contains("IOPS of"), "{screen}");
    let report = dir.read("report");
    assert!(report.contains("writer: (groupid=0, jobs=3)"), "{report}");
    // What is typed is seen again.
    tmux.press(&["echo typed", "Enter"]);
    tmux.shows("$ echo typed\ntyped\n");
}

#[test]
fn sessions_of_a_database_show_their_transactions() {
    needs!("setsid");
    let dir = TestDir::new();
    let job = "[bank]\nworkload=innodb\nsize=4m\nlog_size=1m\ncommit_sync=none\nnumjobs=2\ntime_based\nruntime=3600\nunlink=1\n";
    let mut run = OnTerminal::run(&dir, &["--output=report", &dir.job(job)], |_| {});
    let row = |start: &str| {
        let screen = run.screen();
        let row = screen.lines().find(|row| row.starts_with(start)).unwrap_or_default();
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    // A slow disk may do none in a second.
    until("transactions", || {
        let row = row("bank x2 ");
        row.get(2).is_some_and(|state| state == "running")
            && row.get(4).is_some_and(|tps| tps != "-" && tps != "0")
            && row.get(5).is_some_and(|p50| p50 != "-")
    });
    assert_eq!(row("job ")[..6], ["job", "state", "left", "tps", "tx", "p99"]);
    run.press("q");
    let (status, text) = run.end();
    assert_eq!(status.code(), Some(128), "{text:?}");
}

#[test]
fn the_size_of_the_terminal_may_change() {
    let dir = TestDir::new();
    let Some(tmux) = Tmux::start(&dir) else { return };
    let job = dir.job(JOBS);
    tmux.press(&[&format!("clear; {FERRIO} --tui --minimal --output=report {job}; echo status=$?"), "Enter"]);
    tmux.shows("latency of all jobs: p50 ");
    let resize = |columns: &str, rows: &str| {
        assert!(tmux.command(&["resize-window", "-x", columns, "-y", rows]).status().unwrap().success());
    };
    resize("40", "10");
    tmux.until("a small screen", |screen| {
        let last = screen.lines().rfind(|line| !line.is_empty());
        screen.lines().next().is_some_and(|title| title.ends_with(" sort: job"))
            && last == Some("q end  ? help  p pause  s sort")
            && !screen.contains("IOPS of")
    });
    resize("3", "2");
    tmux.until("a tiny screen", |screen| {
        screen.starts_with("job\n") || screen.lines().all(|line| line.len() <= 3)
    });
    resize("150", "50");
    tmux.until("a large screen", |screen| {
        line(screen, "job ").is_some_and(|line| line.len() > 120)
            && screen.contains("latency of all jobs: p50 ")
    });
    tmux.press(&["q"]);
    tmux.shows("status=128");
}

#[test]
fn control_z_stops_the_program_and_fg_continues() {
    let dir = TestDir::new();
    let Some(tmux) = Tmux::start(&dir) else { return };
    let job = dir.job(JOBS);
    tmux.press(&[&format!("clear; {FERRIO} --tui --minimal --output=report {job}"), "Enter"]);
    tmux.shows("latency of all jobs: p50 ");
    tmux.press(&["C-z"]);
    tmux.until("a stopped job", |screen| screen.contains("Stopped") && !screen.contains("latency of"));
    tmux.press(&["clear; fg", "Enter"]);
    tmux.shows("latency of all jobs: p50 ");
    tmux.press(&["q"]);
    tmux.until("the prompt", |screen| screen.trim_end().ends_with('$') && !screen.contains("latency of"));
    assert!(dir.read("report").contains(";reader;"), "the run has ended with its report");
}

#[test]
fn a_stop_from_outside_gives_the_terminal_to_the_shell() {
    let dir = TestDir::new();
    let Some(tmux) = Tmux::start(&dir) else {
        return;
    };
    let job = dir.job(JOBS);
    let line = format!("echo $$ > pid; exec {FERRIO} --tui --minimal --output=report {job}");
    tmux.press(&[&format!("clear; sh -c '{line}'"), "Enter"]);
    tmux.shows("latency of all jobs: p50 ");
    let pid = Pid::from_raw(dir.read("pid").trim().parse().unwrap());
    kill(pid, Signal::SIGTSTP).unwrap();
    tmux.until("a stopped job", |screen| screen.contains("Stopped") && !screen.contains("latency of"));
    tmux.press(&["echo typed", "Enter"]);
    tmux.shows("$ echo typed\ntyped\n");
    tmux.press(&["clear; fg", "Enter"]);
    tmux.shows("latency of all jobs: p50 ");
    kill(pid, Signal::SIGSTOP).unwrap();
    // The view stays on the screen: no program is told of this signal.
    tmux.shows("Stopped");
    tmux.press(&["clear; fg", "Enter"]);
    tmux.until("the whole view", |screen| {
        let rows = ["\nreader ", "latency of all jobs: p50 "];
        rows.iter().all(|row| screen.contains(row)) && !screen.contains("Stopped")
    });
    tmux.press(&["q"]);
    tmux.until("the prompt", |screen| screen.trim_end().ends_with('$') && !screen.contains("latency of"));
    assert!(dir.read("report").contains(";reader;"), "the run has ended with its report");
}
