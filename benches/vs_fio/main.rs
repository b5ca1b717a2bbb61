//! ferrio against fio against the bare system calls: what a tool adds to each I/O.
//!
//! Most of the time of an I/O is the kernel's, so ratios of run times say little about the tool. The measure is a tool's **own cost**:
//! its user CPU time per I/O without that of a bare loop of the same calls. Per row of [`work::LIST`] three contenders do the same
//! fixed number of I/Os, each in a process of its own:
//!
//! * **fio**, the one in `PATH`, and **ferrio**, built by cargo with the release profile, with the same command line, letter for
//!   letter. All statistics are on, as is the default. Both run the job as a thread of one process (`thread=1`): ferrio always
//!   does, and fio is spared a fork. Its threads share one table of descriptors, which can cost it some per cent of a short system
//!   call; `--processes` gives both `thread=0` instead.
//! * **the bare loop**: the calls alone, over the offsets that ferrio's generator gives for the same options (see [`limit`]).
//!   Nothing is measured, chosen or checked but the result of the call.
//!
//! Contenders take turns, and who begins changes from round to round. The table shows medians over the rounds, with the least sample
//! of the own cost beside. `docs/performance.md` has the method, its errors, and figures. Rows of [`startup`] compare whole processes,
//! from start to exit.
//!
//!     cargo bench --bench vs_fio                                      # everything, 5 rounds
//!     cargo bench --bench vs_fio -- psync mmap --rounds 9 --scale 2   # rows whose name contains one of the words
//!     cargo bench --bench vs_fio -- --instructions                    # with instructions per I/O, counted by callgrind
//!
//! `FERRIO_BENCH_ROUNDS`, `FERRIO_BENCH_SCALE` and `FERRIO_BENCH_JSON` stand for the options of these names.
#![deny(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is what this program is for")]

mod limit;
mod machine;
mod places;
mod role;
mod row;
mod scaling;
mod startup;
mod statistics;
mod table;
mod tools;
mod usage;
mod work;

use std::env;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

use machine::Machine;
use places::Places;
use role::Role;
use row::Row;
use scaling::ScalingRow;
use table::Table;
use tools::{Contender, Job, Tool};
use work::{Settings, Work};

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
    /// Multiplies the number of I/Os of a run, which is about a second of fio (default 1)
    #[arg(long)]
    scale: Option<u64>,
    /// Jobs are processes in fio: thread=0 in place of thread=1
    #[arg(long)]
    processes: bool,
    /// Count instructions per I/O as well, with callgrind
    #[arg(long)]
    instructions: bool,
    /// Measure this ferrio instead of the one that cargo built
    #[arg(long, value_name = "PROGRAM")]
    ferrio: Option<String>,
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

    fn settings(&self) -> Outcome<Settings> {
        let ferrio = self.ferrio.clone().map_or(env!("CARGO_BIN_EXE_ferrio"), |program| program.leak());
        Ok(Settings {
            rounds: given(self.rounds, "FERRIO_BENCH_ROUNDS")?.unwrap_or(5).max(1),
            scale: given(self.scale, "FERRIO_BENCH_SCALE")?.unwrap_or(1).max(1),
            processes: self.processes,
            instructions: self.instructions,
            ferrio,
            has_tuning: tools::has_tuning(ferrio),
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
    let outcome = Role::of_this_process().and_then(|role| match role {
        Some(role) => role.play(),
        None => compare(&Args::parse()),
    });
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
        let scaling = scaling::ROWS.map(|(name, _)| name);
        let names = work::LIST.iter().map(|work| work.name).chain(scaling).chain(startup::NAMES);
        names.for_each(|name| println!("{name}"));
        return Ok(());
    }
    let (settings, json) = (args.settings()?, args.json()?);
    if settings.instructions {
        ferrio_instructions::valgrind_version()?;
    }
    let mut table = Table::new(Machine::ask(settings)?, settings);
    println!("{}", table.header());
    let mut places = Places::default();
    for work in work::LIST.iter().filter(|work| args.wants(work.name)) {
        match places.find(work.place) {
            Ok(path) => table.add(measure(work, path.as_deref(), settings, &places)?),
            Err(reason) => table.skip(work.name, reason.to_string()),
        }
    }
    for (name, row) in scaling::ROWS.into_iter().filter(|(name, _)| args.wants(name)) {
        let work = scaling::work(row)?;
        let path = places.find(work.place)?;
        let logs = places::directory_in_memory()?;
        let logs = logs.path().to_str().ok_or("a path is no UTF-8")?;
        let job = Job { work, path: path.as_deref(), logs, settings, rate: None, workers: 1 };
        places.refresh(work.place)?;
        table.add_scaling(ScalingRow::measure(name, &job)?);
    }
    if args.wants(startup::ONE_SHOT) {
        let path = places.find(work::Place::CachedFile)?.ok_or("one I/O needs a file")?;
        table.add_start(startup::one_shot(&path, settings)?);
    }
    if args.wants(startup::MANY_SECONDS) || args.wants(startup::MANY_MEMORY) {
        startup::many_jobs(settings)?.into_iter().for_each(|row| table.add_start(row));
    }
    println!("{}", table.footer());
    match json {
        Some(path) => Ok(fs::write(path, table.json()?)?),
        None => Ok(()),
    }
}

/// One row of the list.
fn measure(work: &'static Work, path: Option<&str>, settings: Settings, places: &Places) -> Outcome<Row> {
    let logs = places::directory_in_memory()?;
    let logs = logs.path().to_str().ok_or("a path is no UTF-8")?;
    let mut job = Job { work, path, logs, settings, rate: None, workers: 1 };
    let fio = Contender::Tool(Tool::Fio);
    if let Some(writer) = work.written_by.and_then(Work::find) {
        Job { work: writer, ..job.clone() }.run(fio, 1 + work.passes * settings.scale)?;
    }
    // Files that are missing are laid out, and mistakes are found, before anything is measured.
    let (short, few) = job.run(fio, 1)?;
    if work.half_rate {
        let (long, many) = job.run(fio, 1 + work.passes)?;
        job.rate = Some((0.5e9 / long.per_io(short, many.saturating_sub(few) as f64).wall) as u64);
    }
    Row::measure(&job, || Ok(places.refresh(work.place)?))
}
