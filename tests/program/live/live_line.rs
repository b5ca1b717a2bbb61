//! The live line on a terminal, as the terminal shows it.

use std::fs::{self, File};
use std::io::Read;
use std::os::fd::AsFd;
use std::process::{Command, Stdio};

use nix::pty::{OpenptyResult, Winsize, openpty};

use crate::support::{FERRIO, Run, TestDir, set_colours_aside};

/// Runs ferrio with a terminal of that many columns as its standard output and standard error. Returns everything written to it.
pub fn written(dir: &TestDir, columns: u16, words: &[&str]) -> String {
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
    let stream = || Stdio::from(slave.as_fd().try_clone_to_owned().unwrap());
    let mut command = Command::new(FERRIO);
    command.args(words).current_dir(dir.work()).stdin(Stdio::null()).stdout(stream()).stderr(stream());
    set_colours_aside(&mut command);
    let mut child = command.spawn().unwrap();
    drop((command, slave));
    // The read fails with EIO when the last writer has closed the terminal.
    let mut bytes = Vec::new();
    let _ = File::from(master).read_to_end(&mut bytes);
    child.wait().unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The contents of a terminal of this many columns after this text, without colours and blanks at the ends of rows.
fn screen(text: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![Vec::new()];
    let mut column = 0;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            // A colour: `ESC [ … m`.
            '\u{1b}' => {
                assert!(characters.any(|end| end == 'm'), "an escape sequence without an end: {text:?}")
            }
            '\r' => column = 0,
            '\n' => rows.push(Vec::new()),
            character => {
                if column == columns {
                    rows.push(Vec::new());
                    column = 0;
                }
                let row = rows.last_mut().unwrap();
                row.resize(row.len().max(column + 1), ' ');
                row[column] = character;
                column += 1;
            }
        }
    }
    rows.iter().map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
}

/// The live lines, in order, without the blanks that overwrite longer ones.
fn live_lines(text: &str) -> Vec<&str> {
    text.split(['\r', '\n']).filter(|line| line.starts_with("Jobs: ")).map(str::trim_end).collect()
}

/// Jobs with phases of this many seconds.
fn phases(seconds: u32) -> String {
    PHASES.replace("=T\n", &format!("={seconds}\n"))
}

/// The first text with live lines that are enough. On a busy machine some come too late: then the run is repeated with more time.
fn written_in_time(run: impl Fn(u32) -> String, enough: impl Fn(&[&str]) -> bool) -> String {
    let mut last = String::new();
    for seconds in [1, 4, 16] {
        last = run(seconds);
        if enough(&live_lines(&last)) {
            return last;
        }
    }
    panic!("{:#?}", live_lines(&last));
}

const PHASES: &str = "[global]
ioengine=null
size=1g
rate=100m
time_based
[first]
rw=randread
ramp_time=T
runtime=T
[refused]
stonewall
rw=read
exec_prerun=false
[second]
rw=write
runtime=T
startdelay=T
";

#[test]
fn every_phase_has_states_and_rates_from_its_first_line_on() {
    let dir = TestDir::new();
    let run = |seconds| written(&dir, 200, &["--eta-interval=250ms", &dir.job(&phases(seconds))]);
    let parts = ["[/(1),P(2)]", "[r(1),P(2)]", "W(1)]", "%][w="];
    let text =
        written_in_time(run, |lines| parts.iter().all(|part| lines.iter().any(|line| line.contains(part))));
    let lines = live_lines(&text);
    assert!(lines.iter().all(|line| line.contains(": [") && line.contains("[eta ")), "{lines:#?}");
    let of = |state: &str| {
        let found: Vec<_> = lines.iter().filter(|line| line.contains(state)).collect();
        assert!(!found.is_empty(), "{state}: {lines:#?}");
        found
    };
    let ramps = of("[/(1),P(2)]");
    assert!(ramps.iter().all(|line| line.contains("[ramp][r=") && line.contains(" IOPS]")), "{ramps:#?}");
    assert!(of("[r(1),P(2)]").iter().all(|line| line.contains("%][r=") && line.contains(" IOPS]")));
    assert!(of("W(1)]").iter().any(|line| line.contains("%][w=")));
}

#[test]
fn a_narrow_terminal_has_no_broken_rows_and_messages_stand_alone() {
    let dir = TestDir::new();
    let run = |seconds| {
        let job = dir.job(&phases(seconds));
        written(&dir, 60, &["--eta-interval=250ms", "--output=report", &job])
    };
    let text = written_in_time(run, |lines| lines.iter().any(|line| line.contains("[r=")));
    let lines = live_lines(&text);
    assert!(lines.iter().all(|line| line.len() < 60), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("[r=") && line.contains("[eta ")), "{lines:#?}");
    let rows = screen(&text, 60);
    let failed = rows.iter().position(|row| row.starts_with("fio: ") || row.starts_with("ferrio: "));
    assert!(failed.is_some(), "{rows:#?}");
    // Live lines are overwritten or removed: what stays are messages.
    assert!(!rows.iter().any(|row| row.contains("Jobs: ") || row.contains("eta ")), "{rows:#?}");
    assert!(fs::read_to_string(dir.work().join("report")).unwrap().contains("second: (groupid="));
}

#[test]
fn called_fio_the_line_has_the_form_of_fio() {
    let dir = TestDir::new();
    let words =
        ["--as=fio", "--eta-interval=250ms", "--name=a", "--ioengine=null", "--size=1g", "--rate=100m"];
    let run = |seconds| {
        let runtime = format!("--runtime={seconds}");
        written(&dir, 60, &[&words[..], &["--time_based", &runtime]].concat())
    };
    let text = written_in_time(run, |lines| !lines.is_empty());
    let lines = live_lines(&text);
    let (running, ending) = ("Jobs: 1 (f=1), 0B/s-100MiB/s", "Jobs: 1 (f=0), 0B/s-100MiB/s");
    assert!(lines.contains(&running), "{lines:#?}");
    // A job that is about to end has closed its file.
    assert!(lines.iter().all(|line| [running, ending].contains(line)), "{lines:#?}");
}

/// True if there is an escape sequence.
fn coloured(text: &str) -> bool {
    text.contains('\u{1b}')
}

#[test]
fn what_ferrio_prints_on_a_terminal_is_coloured_and_nothing_else_is() {
    let dir = TestDir::new();
    // A job with warnings, and one with a mistake.
    let job = dir.job("[a]\nfilename=f\nsize=64k\nverifysort=1\niodepth=4\n");
    let wrong = dir.beside("wrong.fio");
    fs::write(&wrong, "[a]\nioengine=null\nsize=4k\nfoo=1\n").unwrap();
    let wrong = wrong.to_str().unwrap();
    for words in
        [&[job.as_str()][..], &["check", &job], &[wrong], &["check", wrong], &["--foo=1"], &["--help"]]
    {
        // A sub-command is the first argument, and nothing is read after --help.
        let at = usize::from(words[0] == "check");
        let with = |own: &[&str]| {
            let words = [&words[..at], own, &words[at..]].concat();
            (coloured(&written(&dir, 80, &words)), dir.ferrio(&words).run())
        };
        let piped = |run: &Run| coloured(&run.stdout) || coloured(&run.stderr);
        for (own, on_terminal, in_pipe) in [
            (&[][..], true, false),
            (&["--color=never"], false, false),
            (&["--color=always"], true, true),
            (&["--as=fio"], false, false),
            (&["--output=report"], words[0] != "check" || words[1] == wrong, false),
        ] {
            let (terminal, run) = with(own);
            assert_eq!((terminal, piped(&run)), (on_terminal, in_pipe), "{words:?} {own:?}\n{run:?}");
        }
    }
    // Documents and files have no colours, even if they are asked for.
    for words in [&[job.as_str()][..], &["check", &job]] {
        let (format, file) = ("--output-format=json", "--output=report");
        let run = dir.ferrio(&[words, &["--color=always", format]].concat()).run().succeeded();
        assert!(run.json().is_object() && !coloured(&run.stdout));
        dir.ferrio(&[words, &["--color=always", file]].concat()).run().succeeded();
        assert!(!coloured(&dir.read("report")));
    }
}

#[test]
fn debug_messages_have_the_terminal_for_themselves() {
    let dir = TestDir::new();
    let words =
        ["--debug=io", "--eta-interval=250ms", "--name=a", "--ioengine=null", "--size=1g", "--rate_iops=50"];
    let text = written(&dir, 80, &[&words[..], &["--time_based", "--runtime=1"]].concat());
    assert_eq!(live_lines(&text), [""; 0]);
    let asked = |seconds| {
        let runtime = format!("--runtime={seconds}");
        written(&dir, 80, &[&words[..], &["--time_based", &runtime, "--eta=always"]].concat())
    };
    written_in_time(asked, |lines| !lines.is_empty());
}
