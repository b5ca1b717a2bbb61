//! Compares the instructions per I/O of the worker loop, its engines and its generators with `figures.json`, which is checked in.
//!
//! Each row runs twice under callgrind, in a process of its own: one pass over its blocks, and several. The difference of the counts
//! over the difference of the I/Os leaves out what starting and ending a process costs. A row that is more than [`TOLERANCE`] away
//! from its figure, up or down, fails.
//!
//!     cargo run --profile guard -p ferrio-instructions                      # all rows
//!     cargo run --profile guard -p ferrio-instructions -- psync next-zipf   # rows whose name contains one of the words
//!     cargo run --profile guard -p ferrio-instructions -- --bless           # writes the figures anew
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is what this program is for")]

mod figures;
mod rows;

use std::env;
use std::error::Error;
use std::fs;
use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::Parser;
use ferrio_instructions::CountError;
use tempfile::TempDir;

use figures::Figures;
use rows::Row;

/// Whatever goes wrong ends the program, or a row, with its message.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// How far a row may be from its figure, as a part of it.
const TOLERANCE: f64 = 0.03;

/// The figures depend on the profile: other builds are refused.
const PROFILE: &str = "guard";

/// Compares instructions per I/O with checked-in figures.
#[derive(Debug, Parser)]
struct Args {
    /// Only rows whose name contains one of these words
    words: Vec<String>,
    /// Write the counts as the new figures
    #[arg(long)]
    bless: bool,
    /// Name the rows and stop
    #[arg(long)]
    list: bool,
    /// Run this row without counting
    #[arg(long, hide = true, requires_all = ["passes", "directory"])]
    row: Option<String>,
    #[arg(long, hide = true)]
    passes: Option<u64>,
    #[arg(long, hide = true)]
    directory: Option<String>,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = match (&args.row, args.passes, &args.directory) {
        (Some(row), Some(passes), Some(directory)) => run(row, passes, directory).map(|()| true),
        _ => compare(&args),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("instructions: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The program under callgrind: prints the number of its I/Os.
fn run(name: &str, passes: u64, directory: &str) -> Outcome<()> {
    let row = rows::ALL.iter().find(|row| row.name == name).ok_or("no such row")?;
    println!("{}", row.run(passes, directory)?);
    Ok(())
}

/// True when all rows are as they were.
fn compare(args: &Args) -> Outcome<bool> {
    let wanted = |row: &&Row| args.words.is_empty() || args.words.iter().any(|word| row.name.contains(word));
    let rows: Vec<&Row> = rows::ALL.iter().filter(wanted).collect();
    if args.list {
        rows.iter().for_each(|row| println!("{}", row.name));
        return Ok(true);
    }
    if !env::current_exe()?.components().any(|part| part.as_os_str() == PROFILE) {
        return Err(format!("the figures are those of `cargo run --profile {PROFILE}`").into());
    }
    let valgrind = match ferrio_instructions::valgrind_version() {
        Err(error @ CountError::NoValgrind) => {
            println!("SKIPPED: instructions per I/O are not compared: {error}");
            return Ok(true);
        }
        answer => answer?,
    };
    let mut figures = Figures::read()?;
    let counts = count_all(&rows)?;
    if args.bless {
        rows.iter().zip(&counts).for_each(|(row, &count)| figures.set(row.name, count));
        figures.retain(|name| rows::ALL.iter().any(|row| row.name == name));
        return figures.write(valgrind).map(|()| true);
    }
    println!("{:<32}{:>12}{:>12}{:>10}", "instructions per I/O", "checked in", "now", "change");
    let mut all_good = true;
    for (row, &now) in rows.iter().zip(&counts) {
        let old = figures.get(row.name);
        let change = old.map(|old| now / old - 1.0);
        let good = change.is_some_and(|change| change.abs() <= TOLERANCE);
        all_good &= good;
        let old = old.map_or_else(|| "-".to_owned(), |old| format!("{old:.1}"));
        let change = change.map_or_else(|| "-".to_owned(), |change| format!("{:+.1} %", change * 100.0));
        let verdict = if good { "" } else { "  FAILED" };
        println!("{:<32}{old:>12}{now:>12.1}{change:>10}{verdict}", row.name);
    }
    if !all_good {
        eprintln!(
            "\nRows are more than {} % away from benches/instructions/figures.json, which was written with\n  {}\n  {}\n\
             Find the cause. If the change is meant, or comes from another compiler, write new figures and commit them:\n  \
             cargo run --profile {PROFILE} -p ferrio-instructions -- --bless",
            TOLERANCE * 100.0,
            figures.rustc,
            figures.valgrind,
        );
    }
    Ok(all_good)
}

/// Counts all rows, as many at a time as there are CPUs.
fn count_all(rows: &[&Row]) -> Outcome<Vec<f64>> {
    // Beside the program: on the file system of the build, and not on tmpfs, which sends io_uring's reads to other threads.
    let program = env::current_exe()?;
    let place = program.parent().ok_or("the program is in no directory")?;
    let directory = TempDir::with_prefix_in("instructions", place)?;
    if rows.iter().any(|row| row.needs_file()) {
        fs::write(directory.path().join("data"), vec![0x5a; (rows::FILE_MEBIBYTES as usize) << 20])?;
    }
    let program = program.to_str().ok_or("the path of the program is no UTF-8")?;
    let directory = directory.path().to_str().ok_or("the path of the directory is no UTF-8")?;
    let next = AtomicUsize::new(0);
    let work = || -> Outcome<Vec<(usize, f64)>> {
        let mut counts = Vec::new();
        while let Some((index, row)) = rows.iter().enumerate().nth(next.fetch_add(1, Ordering::Relaxed)) {
            let count = per_io(program, row, directory).map_err(|error| format!("{}: {error}", row.name))?;
            counts.push((index, count));
        }
        Ok(counts)
    };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut counts = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let joined =
            workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| Err("a panic".into())));
        joined.collect::<Outcome<Vec<_>>>()
    })?
    .concat();
    counts.sort_by_key(|&(index, _)| index);
    Ok(counts.into_iter().map(|(_, count)| count).collect())
}

/// Instructions per I/O of a row.
fn per_io(program: &str, row: &Row, directory: &str) -> Outcome<f64> {
    let count = |passes: u64| -> Outcome<(u64, u64)> {
        let passes = passes.to_string();
        let arguments = ["--row", row.name, "--passes", &passes, "--directory", directory];
        let (instructions, ios) = ferrio_instructions::count(program, arguments)?;
        Ok((instructions, ios.trim().parse()?))
    };
    let (short, long) = (count(1)?, count(1 + row.passes)?);
    Ok(long.0.saturating_sub(short.0) as f64 / long.1.saturating_sub(short.1) as f64)
}
