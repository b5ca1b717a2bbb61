//! `--tui`: whether the terminal is free for the live view, and the view's start, for a run here or on many hosts.

use std::time::Duration;

use ferrio_job::{HttpOptions, Plan};
use ferrio_tui::{HostsView, LiveView, NoTerminal, Terminal};

use crate::error::Error;
use crate::escaped_stream::{stderr, stdout};
use crate::messages::Messages;
use crate::option_values::IntervalsTo;
use crate::options::ProgramOption;
use crate::settings::{ProgramSettings, ReportDestination};

/// Which of the standard streams are terminals.
#[derive(Clone, Copy, Debug)]
struct Terminals {
    stdout: bool,
    stderr: bool,
}

/// The terminal of the live view, if one is wanted. Nothing is written so far. `plan` is what runs here.
///
/// # Errors
/// There is no terminal, or something else would write to it.
pub fn terminal(plan: &Plan, settings: &ProgramSettings) -> Result<Option<Terminal>, Error> {
    if !settings.has(ProgramOption::Tui) {
        return Ok(None);
    }
    let terminals = Terminals { stdout: stdout().is_terminal(), stderr: stderr().is_terminal() };
    if let Some((other, help)) = other_writer(plan, settings, terminals) {
        return Err(refusal(&format!("{other} would write to the terminal as well"), help));
    }
    Terminal::open().map(Some).map_err(no_terminal)
}

/// Begins the live view.
///
/// # Errors
/// The terminal cannot be set up.
pub fn start(terminal: Terminal, plan: &Plan, messages: Messages) -> Result<LiveView, Error> {
    let has_colors = messages.colors(terminal.stream());
    LiveView::start(terminal, plan, has_colors).map_err(no_terminal)
}

/// Begins the live view of a run on hosts of these names, whose figures come every `interval`.
///
/// # Errors
/// The terminal cannot be set up.
pub fn start_on_hosts(
    terminal: Terminal,
    names: &[String],
    interval: Duration,
    messages: Messages,
) -> Result<HostsView, Error> {
    let has_colors = messages.colors(terminal.stream());
    HostsView::start(terminal, names, interval, has_colors).map_err(no_terminal)
}

fn no_terminal(error: NoTerminal) -> Error {
    let help = match error {
        NoTerminal::Dumb(_) => "set TERM to the kind of this terminal, or leave out --tui",
        NoTerminal::Closed(_) | NoTerminal::SetUp(_) => "run ferrio on a terminal, or leave out --tui",
    };
    refusal(&error.to_string(), help)
}

fn refusal(why: &str, help: &str) -> Error {
    Error::refusal("invalid-program-option", format!("--tui: {why}"), Some(help))
}

/// Something else that would write to the terminal while the view has it, and the remedy.
fn other_writer(
    plan: &Plan,
    settings: &ProgramSettings,
    terminals: Terminals,
) -> Option<(&'static str, &'static str)> {
    const STDERR: &str = "send standard error to a file: 2>FILE";
    let intervals = settings.interval_report.as_ref().is_some_and(|intervals| match intervals.to {
        IntervalsTo::StandardError => terminals.stderr,
        IntervalsTo::StandardOutput => terminals.stdout,
        IntervalsTo::File(_) => false,
    });
    let is_verbose = |http: &HttpOptions| http.verbose > 0;
    let has_traffic = plan.jobs.iter().any(|job| job.spec.http.as_deref().is_some_and(is_verbose));
    let has_command = settings.trigger.as_ref().is_some_and(|trigger| trigger.command.is_some());
    // Reports would have to wait for the end of the run, however many there are.
    let reports = settings.status_interval.is_some()
        && settings.output == ReportDestination::Stdout
        && terminals.stdout;
    let to_stderr = [
        (settings.debug.any(), "--debug"),
        (has_traffic, "http_verbose"),
        (has_command, "the command of --trigger"),
    ];
    let to_stderr = to_stderr.map(|(writes, other)| (writes && terminals.stderr, other, STDERR));
    let others = [
        (intervals, "--interval-report", "send the intervals to a file: --interval-report=TIME:FILE"),
        (reports, "--status-interval", "send the reports to a file: --output=FILE"),
    ];
    let mut writers = others.into_iter().chain(to_stderr).filter(|(writes, ..)| *writes);
    writers.next().map(|(_, other, help)| (other, help))
}

#[cfg(test)]
mod tests {
    use ferrio_job::Compat;

    use super::*;
    use crate::options::OPTIONS;

    fn writer(words: &[&str], stdout: bool, stderr: bool) -> Option<&'static str> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let items = crate::arguments::scan(&words, 1, OPTIONS, Compat::Ferrio).items;
        let settings = ProgramSettings::read(&items, Compat::Ferrio).unwrap();
        other_writer(&Plan::default(), &settings, Terminals { stdout, stderr }).map(|(other, _)| other)
    }

    #[test]
    fn nothing_else_writes_to_the_terminal() {
        for (words, other, stdout, stderr) in [
            (&["--interval-report=1s"][..], "--interval-report", false, true),
            (&["--interval-report=1s:-", "--output=f"], "--interval-report", true, false),
            (&["--status-interval=1s"], "--status-interval", true, false),
            (&["--debug=io"], "--debug", false, true),
            (&["--trigger=true", "--trigger-timeout=1s"], "the command of --trigger", false, true),
        ] {
            let words = [&["--tui"], words].concat();
            assert_eq!(writer(&words, true, true), Some(other), "{words:?}");
            assert_eq!(writer(&words, stdout, stderr), Some(other), "{words:?}");
            assert_eq!(writer(&words, !stdout, !stderr), None, "{words:?}");
        }
        for words in [&["--interval-report=1s:f"][..], &["--status-interval=1s", "--output=f"], &[]] {
            assert_eq!(writer(&[&["--tui"], words].concat(), true, true), None, "{words:?}");
        }
    }
}
