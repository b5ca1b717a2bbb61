//! `ferrio dedupe`, and fio's `fio-dedupe`: reports how much of a file or device is duplicate, block by block.

mod count;
mod read;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use clap::{ArgMatches, Command, ValueHint, value_parser};
use ferrio_job::{Diagnostic, Origin};

use super::subcommand::{Invocation, operand, option};
use crate::error::Error;
use crate::messages::print_text;
use crate::option_values;
use count::Counts;

/// Help text after the options.
pub const LONG_HELP: &str = "\
Reads aligned blocks and compares their MD5 sums; a rest shorter than a block is
left out. \"Fio setting\" is the dedupe_percentage of a job whose data is alike.
\"Duplicated extents\" are the different blocks that occur more than once, and
the working set is their share of all blocks.

The bloom filter needs 2 bytes of memory for each block, at most 1 GiB, and
counts slightly too few unique blocks; with -B 0, -c 1 or -d 1 the count is
exact and needs about 50 bytes for each unique block, with -d 1 also 8 for each
block. The data itself is never kept: each thread has a buffer of 1 MiB or of a
block.";

/// The parsed options.
struct DedupeOptions {
    block_bytes: usize,
    threads: usize,
    /// True if blocks with the same sum are compared byte by byte.
    compares: bool,
    /// True if duplicates are counted exactly.
    is_exact: bool,
    compresses: bool,
    shows_progress: bool,
    is_direct: bool,
    /// True if every unique block is listed with its offsets.
    lists: bool,
}

/// The options, which are those of fio's program.
pub fn command() -> Command {
    let number = |letter: char, name, value, default: &'static str, help| {
        option(name, value, help).short(letter).default_value(default)
    };
    let choice = |letter, name, default, help| {
        number(letter, name, "0|1", default, help).value_parser(value_parser!(u64).range(..=1))
    };
    Command::new("dedupe").args([
        number('b', "block-size", "BYTES", "4096", "Size of a block, such as 512 or 4k")
            .value_parser(block_size),
        number('t', "threads", "NUMBER", "2", "Threads that read and hash")
            .value_parser(value_parser!(u64).range(1..=1024)),
        choice('c', "compare", "0", "Compare blocks with the same sum byte by byte; implies -B 0"),
        choice('B', "bloom", "1", "Count by a bloom filter, with less memory"),
        choice('C', "compressible", "0", "Compress each unique block and print their size"),
        choice('p', "progress", "1", "Show the progress if stderr is a terminal"),
        choice('o', "direct", "0", "Read with O_DIRECT"),
        choice('d', "dump", "0", "List each unique block and its offsets; implies -B 0"),
        operand("file", "FILE", "A file or block device")
            .required(true)
            .value_parser(value_parser!(OsString))
            .value_hint(ValueHint::FilePath),
    ])
}

/// Parses a size with or without a suffix, as in job options.
fn block_size(text: &str) -> Result<u64, String> {
    let size = option_values::size(text).ok();
    size.filter(|size| (1..=1 << 28).contains(size))
        .ok_or_else(|| "a size from 1 to 256m is expected".to_owned())
}

/// Prints the counts.
///
/// # Errors
/// The arguments are invalid, or standard output cannot be written to.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    let Some(arguments) = invocation.parsed_arguments()? else { return Ok(0) };
    let request = DedupeOptions::of(&arguments);
    let messages = *invocation.messages;
    let name = arguments.get_one::<OsString>("file").cloned().unwrap_or_default();
    let shown = name.to_string_lossy();
    let failed = |problem: read::DedupeError| {
        let error = Diagnostic::error(format!("{shown}: {problem}"), Origin::Builtin);
        messages.note(&error.code("dedupe-failed"));
        Ok(1)
    };
    let source = match read::BlockReader::open(Path::new(&name), &request) {
        Ok(source) => source,
        Err(problem) => return failed(problem),
    };
    let threads = request.threads;
    let begin = format!("Will check <{shown}>, size <{}>, using {threads} threads\n", source.bytes());
    print_text(&begin)?;
    let counts = match count::count(&source, &request) {
        Ok(counts) => counts,
        Err(problem) => return failed(problem),
    };
    let text = request.text(&counts);
    print_text(&text)
}

impl DedupeOptions {
    fn of(arguments: &ArgMatches) -> Self {
        let number = |name: &str| arguments.get_one::<u64>(name).copied().unwrap_or_default();
        let is_on = |name: &str| number(name) == 1;
        let (compares, lists) = (is_on("compare"), is_on("dump"));
        DedupeOptions {
            block_bytes: number("block-size") as usize,
            threads: number("threads") as usize,
            compares,
            is_exact: compares || lists || !is_on("bloom"),
            compresses: is_on("compressible"),
            shows_progress: is_on("progress"),
            is_direct: is_on("direct"),
            lists,
        }
    }

    fn text(&self, counts: &Counts) -> String {
        let Counts { blocks, unique, duplicated, capacity, .. } = *counts;
        let mut text = format!("Threads({}): {blocks} items processed\n", self.threads);
        for listed in &counts.listed {
            let words: Vec<String> = listed.sum.chunks(4).map(hex).collect();
            let _ = writeln!(text, "c hash {}, count {}", words.join(" "), listed.offsets.len());
            for offset in &listed.offsets {
                let _ = writeln!(text, "\toffset {offset}");
            }
        }
        let _ = write!(text, "Extents={blocks}, Unique extents={unique}");
        if let Some(duplicated) = duplicated {
            let _ = write!(text, " Duplicated extents={duplicated}");
        }
        let _ = writeln!(text, "\nDe-dupe ratio: 1:{:.2}", blocks as f64 / unique as f64 - 1.0);
        if let Some(duplicated) = duplicated.filter(|&duplicated| duplicated > 0) {
            let share = 100.0 * duplicated as f64 / blocks as f64;
            let _ = writeln!(text, "De-dupe working set at least: {share:.2}%");
        }
        let percent = (100.0 * (1.0 - unique as f64 / blocks as f64)).round();
        let _ = writeln!(text, "Fio setting: dedupe_percentage={percent}");
        if self.compresses {
            let _ = writeln!(text, "Unique capacity {}", size(capacity));
        }
        text
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Formats a size in the largest unit that makes it at least one, rounded down.
fn size(bytes: u64) -> String {
    let units = ["b", "KB", "MB", "GB", "TB", "PB", "EB"];
    let at = (bytes.max(1).ilog2() / 10) as usize;
    format!("{}{}", bytes >> (10 * at), units[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_size_may_have_a_suffix() {
        assert_eq!(
            ["512", "4k", "4K", "1m", "4Ki", "256m"].map(|text| block_size(text).unwrap()),
            [512, 4096, 4096, 1 << 20, 4096, 1 << 28]
        );
        for text in ["", "0", "k", "4x", "-4k", "257m", "1e3", "99999999999999999999k"] {
            assert!(block_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_whole_units() {
        let sizes = [0, 329, 1023, 1024, 163_720, u64::MAX].map(size);
        assert_eq!(sizes, ["0b", "329b", "1023b", "1KB", "159KB", "15EB"]);
    }
}
