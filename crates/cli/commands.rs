//! Commands: what the program does when its first argument is one of a few words instead of an option or a job file.

use std::ffi::OsString;

use clap_complete::Shell;

use crate::exit::Stop;
use crate::messages::Messages;
use crate::{answers, check, completions, manual};

/// A command with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// `check` with the arguments of a run.
    Check(Vec<OsString>),
    /// `completions SHELL`
    Completions(Shell),
    /// `man`
    Manual,
}

/// Why a command cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No shell, or one that is not known.
    #[error(
        "completions are for bash, zsh or fish: write `ferrio completions bash`{}",
        or_file(word, "completions")
    )]
    Shell {
        /// What was given instead.
        word: Option<String>,
    },
    /// More arguments than the command takes.
    #[error(
        "`ferrio {command}` takes no argument `{word}`; a job file named {command} is given as ./{command}"
    )]
    TooMany {
        /// The command.
        command: &'static str,
        /// The first argument too many.
        word: String,
    },
}

/// Perhaps a job file was meant.
fn or_file(unwanted: &Option<String>, command: &str) -> String {
    let hint = |_| format!("; a job file named {command} is given as ./{command}");
    unwanted.as_ref().map(hint).unwrap_or_default()
}

/// The command that `arguments` begin with, `None` if it is no command.
pub fn read(arguments: &[OsString]) -> Option<Result<Command, CommandError>> {
    let (word, rest) = arguments.split_first()?;
    let words = || rest.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>();
    Some(match word.to_str()? {
        "check" => Ok(Command::Check(rest.to_vec())),
        "completions" => shell(&words()).map(Command::Completions),
        "man" => nothing("man", &words()).map(|()| Command::Manual),
        _ => return None,
    })
}

/// Does what the command says; returns the exit status. `messages` learns how to speak if the command has options for it.
///
/// # Errors
/// Standard output cannot be written to, or the jobs to check are refused.
pub fn run(command: Command, messages: &mut Messages) -> Result<u8, Stop> {
    match command {
        Command::Check(words) => check::run(words.into_iter(), messages),
        Command::Completions(shell) => {
            answers::printed(|out| out.write_all(completions::script(shell).as_bytes()).map(|()| true))
        }
        Command::Manual => answers::printed(|out| manual::write(out).map(|()| true)),
    }
}

fn shell(rest: &[String]) -> Result<Shell, CommandError> {
    let (word, rest) = rest.split_first().ok_or(CommandError::Shell { word: None })?;
    let shell = match word.as_str() {
        "bash" => Shell::Bash,
        "zsh" => Shell::Zsh,
        "fish" => Shell::Fish,
        other => return Err(CommandError::Shell { word: Some(other.to_owned()) }),
    };
    nothing("completions", rest).map(|()| shell)
}

fn nothing(command: &'static str, rest: &[String]) -> Result<(), CommandError> {
    match rest.first() {
        Some(word) => Err(CommandError::TooMany { command, word: word.clone() }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_words(words: &[&str]) -> Option<Result<Command, CommandError>> {
        read(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_is_the_first_word_or_none() {
        assert_eq!(read_words(&["man"]), Some(Ok(Command::Manual)));
        assert_eq!(read_words(&["check", "a.fio"]), Some(Ok(Command::Check(vec!["a.fio".into()]))));
        assert_eq!(read_words(&["completions", "zsh"]), Some(Ok(Command::Completions(Shell::Zsh))));
        for words in [&[][..], &["./man"], &["--bs=4k", "man"], &["man.fio"], &["--", "man"]] {
            assert_eq!(read_words(words), None, "{words:?}");
        }
    }

    #[test]
    fn mistakes_are_told_with_what_to_write() {
        let told = |words: &[&str]| read_words(words).unwrap().unwrap_err().to_string();
        assert_eq!(
            told(&["completions"]),
            "completions are for bash, zsh or fish: write `ferrio completions bash`"
        );
        assert!(told(&["completions", "tcsh"]).contains("given as ./completions"));
        assert_eq!(
            told(&["man", "--bs=4k"]),
            "`ferrio man` takes no argument `--bs=4k`; a job file named man is given as ./man"
        );
    }
}
