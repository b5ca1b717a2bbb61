//! Programs that jobs start while a terminal controls the run: they can ask for a password, and Ctrl-C ends them with all that they have
//! started.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::thread;

use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::Signal;

use crate::support::{FERRIO, Run, Running, TestDir, installed};

/// Asks on the terminal, as sudo does, and then on standard input. Its argument is the name of its files.
const ASK: &str = "touch $1.asks; read a < /dev/tty; read b; echo $a $b > $1.answers\n";

/// A run that a terminal controls. Its standard input is the terminal; its output goes to files.
struct OnTerminal {
    running: Running,
    keyboard: File,
}

impl OnTerminal {
    fn start(dir: &TestDir, words: &[&str]) -> Self {
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
        // Whoever runs the tests may ignore signals, as nohup does.
        let words = [&["--wait", "--ctty", "env", "--default-signal"], words].concat();
        let running = dir.program(installed("setsid"), &words).stdin(slave).env("TERM", "xterm").start();
        let keyboard = File::from(master);
        let mut shown = keyboard.try_clone().unwrap();
        // Takes what the terminal echoes. The read fails once the terminal has no user left.
        thread::spawn(move || shown.read_to_end(&mut Vec::new()));
        OnTerminal { running, keyboard }
    }

    /// Waits for a file that the run makes.
    fn has_made(&mut self, dir: &TestDir, file: &str) {
        self.running.until(file, || dir.work().join(file).exists());
    }

    fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    fn wait(self) -> Run {
        self.running.wait()
    }
}

#[test]
fn commands_and_programs_of_jobs_can_read_the_terminal() {
    needs!("setsid");
    for called in ["fio", "ferrio"] {
        let dir = TestDir::new();
        std::fs::write(dir.work().join("ask"), ASK).unwrap();
        let job = dir.job(
            "[a]\nioengine=null\nsize=4k\nexec_prerun=sh ask first\nexec_postrun=sh ask second\n\
             [b]\nstonewall\nioengine=exec\nprogram=/bin/sh\narguments=ask third\ntime_based\nruntime=1h\n",
        );
        let mut run = OnTerminal::start(&dir, &[FERRIO, &format!("--as={called}"), &job]);
        for asked in ["first", "second", "third"] {
            run.has_made(&dir, &format!("{asked}.asks"));
            run.press("secret\nmore\n");
        }
        run.wait().succeeded();
        for asked in ["first", "second", "third"] {
            assert_eq!(dir.read(&format!("{asked}.answers")), "secret more\n", "{called}");
        }
    }
}

/// The signal comes to the command as well, which fails by it or ignores it.
#[test]
fn control_c_ends_a_command_that_reads_the_terminal_with_all_that_it_has_started() {
    needs!("setsid");
    for option in [
        "--exec_prerun=touch begun; read a",
        "--exec_postrun=touch begun; read a",
        "--exec_prerun=trap 'exit 3' INT; touch begun; read a",
        "--exec_prerun=trap '' INT TERM; (touch begun; sleep 3600; :) & wait; sleep 3600; :",
    ] {
        let dir = TestDir::new();
        let words = [FERRIO, "--name=a", "--ioengine=null", "--size=4k", option];
        let mut run = OnTerminal::start(&dir, &words);
        run.has_made(&dir, "begun");
        run.press("\u{3}");
        // Nothing is left behind, as this checks.
        let run = run.wait().ended_with(128);
        assert!(run.stderr.contains("terminating on signal 2"), "{option}: {}", run.stderr);
        assert!(!run.stderr.contains("ended with status"), "{option}: {}", run.stderr);
    }
}

#[test]
fn a_signal_to_the_run_alone_ends_what_a_command_has_started() {
    needs!("setsid");
    let dir = TestDir::new();
    let stubborn = "--exec_prerun=(trap '' TERM INT; touch begun; sleep 3600; :) & wait; :";
    let job = ["--name=a", "--ioengine=null", "--size=4k"];
    // The shell tells the number of the run.
    let words = [&["sh", "-c", "echo $$ > pid; exec \"$@\"", "sh", FERRIO], &job[..], &[stubborn]].concat();
    let mut run = OnTerminal::start(&dir, &words);
    run.has_made(&dir, "begun");
    let pid = dir.read("pid").trim().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGTERM).unwrap();
    run.wait().ended_with(128);
}

/// It fails, instead of being stopped for ever: the view has the terminal, or there is none.
#[test]
fn a_command_that_cannot_have_the_terminal_is_told_so() {
    needs!("setsid");
    let job = ["--name=a", "--ioengine=null", "--size=4k", "--exec_prerun=read a < /dev/tty"];
    let dir = TestDir::new();
    let viewed = OnTerminal::start(&dir, &[&[FERRIO, "--tui"], &job[..]].concat()).wait().ended_with(1);
    let alone = [&["--wait", FERRIO], &job[..]].concat();
    let alone = dir.program(installed("setsid"), &alone).run().ended_with(1);
    for run in [viewed, alone] {
        assert!(run.stderr.contains("a: exec_prerun ended with status "), "{}", run.stderr);
    }
}

/// The kernel would stop it, and the run with it.
#[test]
fn a_run_in_the_background_gives_its_commands_no_standard_input() {
    needs!("setsid");
    let dir = TestDir::new();
    let line = "set -m; \"$@\" & wait $!";
    let job = ["--name=a", "--ioengine=null", "--size=4k", "--exec_prerun=cat; echo done"];
    let run = OnTerminal::start(&dir, &[&["sh", "-c", line, "sh", FERRIO], &job[..]].concat());
    run.wait().succeeded();
    assert_eq!(dir.read("a.prerun.txt"), "done\n");
}
