//! `ferrio sysbench`: the front end that takes sysbench's command line.

use std::ffi::OsString;
use std::path::Path;

use ferrio_runner::RunOptions;
use ferrio_sysbench::Streams;
use nix::errno::Errno;

use super::subcommand::Invocation;
use crate::error::Error;
use crate::escaped_stream;
use crate::execute::{execute, leak};
pub use ferrio_sysbench::{ABOUT, NAME, command, names, on_database, on_option, on_test, option_lists};

/// True if a command line without the word `sysbench` can only be one of sysbench.
pub fn looks_like_sysbench(words: &[OsString]) -> bool {
    let is_option = |word: &OsString| {
        let word = word.to_string_lossy();
        let name = word.strip_prefix("--").map(|body| body.split_once('=').map_or(body, |(name, _)| name));
        name.is_some_and(|name| ferrio_sysbench::is_option_that_fio_lacks(&name.replace('_', "-")))
    };
    let is_test = |word: &OsString| {
        let test = word
            .to_str()
            .is_some_and(|word| ferrio_sysbench::is_test(word) || ferrio_sysbench::is_of_databases(word));
        test && words.len() > 1 && !Path::new(word).exists()
    };
    words.iter().any(is_option) || words.first().is_some_and(is_test)
}

/// The refusal of such a command line, with the hint to put the word `sysbench` in front of it.
pub fn missing_word(words: &[OsString]) -> Error {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    let help = format!("write the word in front of it: `ferrio sysbench {}`", words.join(" "));
    Error::refusal("sysbench-command", "this is a command line of sysbench", Some(&help))
}

/// Runs the sub-command `ferrio sysbench`.
///
/// # Errors
/// Standard output is closed. The front end reports all other errors itself, as sysbench does.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    if ferrio_runner::stdout::was_closed() {
        return Err(Error::stdout(Errno::EBADF.into()));
    }
    Ok(run_from_arguments(invocation.arguments))
}

/// Runs a command line of sysbench, without the program's name, and returns the exit status.
pub fn run_from_arguments(words: &[OsString]) -> u8 {
    let out = escaped_stream::stdout();
    let is_terminal = out.is_terminal();
    let streams = Streams { out: Box::new(out), mistakes: Box::new(escaped_stream::stderr()), is_terminal };
    ferrio_sysbench::run(words, streams, &|plan, interval, sink| {
        let options = RunOptions { intervals: interval.into_iter().collect(), ..RunOptions::default() };
        execute(leak(plan), options, sink)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(text: &str) -> bool {
        looks_like_sysbench(&text.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines_of_sysbench_are_recognised() {
        for text in [
            "--test=fileio run",
            "fileio --threads=2 run",
            "fileio prepare",
            "--num-threads=4 --name=a",
            "--file_num=4 --name=a",
            "cpu run",
            "oltp_read_write --threads=32 run",
        ] {
            assert!(meant(text), "{text}");
        }
        for text in [
            "fileio",
            "oltp",
            "--name=a --threads=4",
            "run",
            "job.fio --rw=read",
            "--name=fileio",
            "--filename=test",
        ] {
            assert!(!meant(text), "{text}");
        }
    }
}
