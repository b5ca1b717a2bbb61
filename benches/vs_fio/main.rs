//! ferrio against fio against the bare system calls: the same I/O, one after the other, on the machine it is run on.
//!
//! Per row of [`work::LIST`] three contenders do the same work:
//!
//! * **fio**, the one in `PATH`, and **ferrio**, built by cargo with the release profile, with the same command line, letter for
//!   letter. All statistics are on, as is the default. Both run the job as a thread of one process (`thread=1`): ferrio always
//!   does, and fio is spared a fork. Its threads share one table of descriptors, which can cost it some per cent of a short system
//!   call; `--processes` gives both `thread=0` instead. Time per I/O is the run time in their own JSON over their own count of
//!   I/Os, so that start-up and report are left out.
//! * **the limit**: a loop of the system calls alone, in this process, over the offsets that ferrio's generator gives for the same
//!   options, made before the clock starts (see [`limit`]). Nothing is measured, chosen or checked but the result of the call. No
//!   tool that makes the same calls can be faster; one that finds cheaper calls can.
//!
//! Contenders take turns, and who begins changes from round to round, so that a machine that slows down or is disturbed meets all
//! three. The table shows medians over the rounds. Rows of [`startup`] compare whole processes, from start to exit.
//!
//!     cargo bench --bench vs_fio                              # everything, 5 rounds of 1 s per contender
//!     cargo bench --bench vs_fio -- psync mmap --rounds 9     # rows whose name contains one of the words
//!
//! `FERRIO_BENCH_ROUNDS`, `FERRIO_BENCH_SECONDS` and `FERRIO_BENCH_JSON` stand for the options of these names.
#![deny(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is what this program is for")]

mod limit;
mod machine;
mod places;
mod startup;
mod table;
mod tools;
mod work;

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use limit::Limit;
use machine::Machine;
use places::Places;
use table::{Row, Table, Unit};
use tools::Tool;
use work::{Course, Work};

/// Whatever goes wrong ends the bench with its message.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// Compares ferrio with fio and with the bare system calls.
#[derive(Debug, Parser)]
struct Args {
    /// Only rows whose name contains one of these words
    words: Vec<String>,
    /// Times each contender runs (default 5)
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of I/O of each run (default 1)
    #[arg(long)]
    seconds: Option<u64>,
    /// Jobs are processes in fio: thread=0 in place of thread=1
    #[arg(long)]
    processes: bool,
    /// Write all samples to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Name the rows and stop
    #[arg(long)]
    list: bool,
    /// Given by `cargo bench`, absent under `cargo test`
    #[arg(long, hide = true)]
    bench: bool,
}

impl Args {
    fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.words.iter().any(|word| name.contains(word.as_str()))
    }

    fn course(&self) -> Outcome<Course> {
        Ok(Course {
            rounds: given(self.rounds, "FERRIO_BENCH_ROUNDS")?.unwrap_or(5).max(1),
            seconds: given(self.seconds, "FERRIO_BENCH_SECONDS")?.unwrap_or(1).max(1),
            processes: self.processes,
        })
    }

    fn json(&self) -> Outcome<Option<PathBuf>> {
        given(self.json.clone(), "FERRIO_BENCH_JSON")
    }
}

/// The option, else the variable.
fn given<T: std::str::FromStr<Err: Error + 'static>>(
    option: Option<T>,
    variable: &str,
) -> Outcome<Option<T>> {
    match (option, env::var(variable)) {
        (Some(value), _) => Ok(Some(value)),
        (None, Ok(text)) => Ok(Some(text.parse().map_err(|error| format!("{variable}={text}: {error}"))?)),
        (None, Err(_)) => Ok(None),
    }
}

fn main() -> ExitCode {
    let outcome = match startup::Role::of_this_process() {
        Some(role) => role.play(),
        None => compare(&Args::parse()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("vs_fio: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(args: &Args) -> Outcome<()> {
    if !args.bench {
        println!("vs_fio measures for minutes: start it with `cargo bench --bench vs_fio`");
        return Ok(());
    }
    if args.list {
        work::LIST.iter().map(|work| work.name).chain(startup::NAMES).for_each(|name| println!("{name}"));
        return Ok(());
    }
    let (course, json) = (args.course()?, args.json()?);
    let mut table = Table::new(Machine::ask()?, course);
    println!("{}", table.header());
    let mut places = Places::default();
    for work in work::LIST.iter().filter(|work| args.wants(work.name)) {
        match places.find(work.place) {
            Ok(path) => table.add(throughput(work, path, course)?),
            Err(reason) => table.skip(work.name, reason.to_string()),
        }
    }
    if args.wants(startup::ONE_SHOT) {
        let path = places.find(work::Place::CachedFile)?.ok_or("one I/O needs a file")?;
        table.add(startup::one_shot(path, course.rounds)?);
    }
    if args.wants(startup::MANY_SECONDS) || args.wants(startup::MANY_MEMORY) {
        startup::many_jobs(course.rounds)?.into_iter().for_each(|row| table.add(row));
    }
    println!("{}", table.footer());
    match json {
        Some(path) => Ok(fs::write(path, table.json()?)?),
        None => Ok(()),
    }
}

/// One row of the list: all rounds of all contenders.
fn throughput(work: &Work, path: Option<&str>, course: Course) -> Outcome<Row> {
    let options = work.options(path, course);
    let mut limit = Limit::new(work, path, course)?;
    let mut row = Row::new(work.name, Unit::NsPerIo);
    for round in 0..course.rounds {
        for turn in 0..3 {
            match (round + turn) % 3 {
                0 => row.fio.push(tools::ns_per_io(Tool::Fio, &options)?),
                1 => row.ferrio.push(tools::ns_per_io(Tool::Ferrio, &options)?),
                _ => row.limit.push(limit.ns_per_io()?),
            }
        }
    }
    Ok(row)
}
