//! The sub-commands, which are selected by the first argument.
//!
//! A sub-command is a file and a row of [`COMMANDS`]. Help, manual page and completions read the table.

mod agent;
mod btrace2fio;
mod chapters;
pub mod check;
mod compare;
mod completions;
mod databases;
mod dedupe;
mod full_command;
mod genzipf;
mod help;
mod import;
mod man;
mod quick;
mod report;
pub mod subcommand;
mod sysbench;
mod verify_state;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::error::Error;
use crate::messages::{Messages, print_text};
use crate::options::OPTIONS_OF_CHECK;
pub use subcommand::Subcommand;
use subcommand::{Invocation, Operand};
pub use sysbench::run_from_arguments as run_sysbench;

/// All sub-commands, in the order of the help text.
pub const COMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "agent",
        operand: Operand::Own(agent::command),
        help: "Run jobs for a coordinator on another host, which starts this by itself",
        details: agent::LONG_HELP,
        run: agent::run,
    },
    Subcommand {
        name: "btrace2fio",
        operand: Operand::Helper { program: "fio-btrace2fio", command: btrace2fio::command },
        help: "Summarise a block trace of blktrace, or make a job file of it",
        details: btrace2fio::LONG_HELP,
        run: btrace2fio::run,
    },
    Subcommand {
        name: "check",
        operand: Operand::Jobs(OPTIONS_OF_CHECK),
        help: "Describe what a run would do and its risks; run nothing",
        details: check::LONG_HELP,
        run: check::run,
    },
    Subcommand {
        name: "compare",
        operand: Operand::Own(compare::command),
        help: "Say whether reports of runs differ by more than noise",
        details: compare::LONG_HELP,
        run: compare::run,
    },
    Subcommand {
        name: "completions",
        operand: Operand::OneOf { name: "SHELL", words: completions::SHELLS },
        help: "Print shell completions: bash, zsh or fish",
        details: completions::LONG_HELP,
        run: completions::run,
    },
    Subcommand {
        name: "dedupe",
        operand: Operand::Helper { program: "fio-dedupe", command: dedupe::command },
        help: "Measure how much of a file or device is duplicate",
        details: dedupe::LONG_HELP,
        run: dedupe::run,
    },
    Subcommand {
        name: "genzipf",
        operand: Operand::Helper { program: "fio-genzipf", command: genzipf::command },
        help: "Show how a skewed random_distribution spreads I/O over blocks",
        details: genzipf::LONG_HELP,
        run: genzipf::run,
    },
    Subcommand {
        name: "help",
        operand: Operand::Optional { name: "TOPIC", words: help::names },
        help: "Explain an option, an engine, a command or a message",
        details: "",
        run: help::run,
    },
    Subcommand {
        name: "import",
        operand: Operand::Own(import::command),
        help: "Convert a trace (blkparse, strace, biosnoop, CSV) into an I/O log to replay, or counters of a database into a job",
        details: import::LONG_HELP,
        run: import::run,
    },
    Subcommand {
        name: "man",
        operand: Operand::None,
        help: "Print the manual page",
        details: man::LONG_HELP,
        run: man::run,
    },
    Subcommand {
        name: "quick",
        operand: Operand::Own(quick::command),
        help: "Measure a disk in about a minute, as one table",
        details: quick::LONG_HELP,
        run: quick::run,
    },
    Subcommand {
        name: "report",
        operand: Operand::Own(report::command),
        help: "Make a page of HTML, a table or benchmarks from the reports of runs",
        details: report::LONG_HELP,
        run: report::run,
    },
    Subcommand {
        name: "sysbench",
        operand: Operand::Foreign(sysbench::command),
        help: "Run a test of sysbench: its command line, its output",
        details: sysbench::ABOUT,
        run: sysbench::run,
    },
    Subcommand {
        name: "verify-state",
        operand: Operand::Helper { program: "fio-verify-state", command: verify_state::command },
        help: "Show what verify state files say",
        details: verify_state::LONG_HELP,
        run: verify_state::run,
    },
];

/// The sub-command for a process called by the name of a helper program of fio.
pub fn helper(process: &OsStr) -> Option<&'static Subcommand> {
    let called = Path::new(process).file_name()?;
    let is_called = |command: &&Subcommand| match command.operand {
        Operand::Helper { program, .. } => called == program,
        _ => false,
    };
    COMMANDS.iter().find(is_called)
}

/// Runs a helper program with these arguments.
pub fn run_helper(
    command: &'static Subcommand,
    words: &[OsString],
    messages: &mut Messages,
) -> Result<u8, Error> {
    (command.run)(Invocation { command, arguments: words, messages, commands: COMMANDS })
}

/// Runs the sub-command that `words` begin with, if any. A command line that looks like one for sysbench gets a hint.
pub fn run(words: &[OsString], messages: &mut Messages) -> Option<Result<u8, Error>> {
    let (name, arguments) = words.split_first()?;
    // `--help=rw` prints the same as `help rw`.
    let topic = name.to_str().and_then(|name| name.strip_prefix("--help=")).map(|topic| [topic.into()]);
    if let Some(topic) = &topic {
        let command = find("help".as_ref())?;
        return Some((command.run)(Invocation { command, arguments: topic, messages, commands: COMMANDS }));
    }
    let command = match find(name) {
        None if sysbench::looks_like_sysbench(words) => {
            return Some(Err(sysbench::missing_word(words)));
        }
        found => found?,
    };
    // A sub-command that runs jobs reads it among its options.
    let mut others = Vec::new();
    let arguments = match command.operand {
        Operand::Jobs(_) | Operand::Foreign(_) => arguments,
        _ => {
            for word in arguments {
                match messages.with_color(word) {
                    Some(colored) => *messages = colored,
                    None => others.push(word.clone()),
                }
            }
            &others
        }
    };
    let has_help = !matches!(command.operand, Operand::Foreign(_));
    if has_help && arguments.first().is_some_and(|word| word == "--help" || word == "-h") {
        return Some(print_text(&command.text()));
    }
    Some((command.run)(Invocation { command, arguments, messages, commands: COMMANDS }))
}

fn find(name: &OsStr) -> Option<&'static Subcommand> {
    COMMANDS.iter().find(|command| name == command.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_word_is_a_sub_command() {
        for command in COMMANDS {
            assert!(find(command.name.as_ref()).is_some_and(|found| found.name == command.name));
        }
        for word in ["./man", "--bs=4k", "man.fio", "--", "Man", ""] {
            assert!(find(word.as_ref()).is_none(), "{word}");
        }
    }

    #[test]
    fn names_and_help_fit_the_list_in_the_help_text() {
        for (at, command) in COMMANDS.iter().enumerate() {
            assert!(!command.help.contains('\n') && !command.help.is_empty(), "{}", command.name);
            assert!(COMMANDS[..at].iter().all(|other| other.name != command.name), "{}", command.name);
        }
    }
}
