//! A model of a database against the job file that comes nearest to it in fio.
//!
//! A job of fio cannot read one file and write another, so its job file has four jobs, tied to each other by `flow` tokens: page reads, the
//! log, the double-write area, and page writes. ferrio does the same numbers of I/Os per transaction with `workload=innodb`. Both run in
//! turns, in the opposite order in each second round; the table shows medians of the transactions per second, and per transaction the I/Os
//! that were really done.
//!
//!     cargo bench --bench database                                # in cargo's directory for such things
//!     cargo bench --bench database -- /mnt/disk --rounds 9 --seconds 10
//!
//! Tokens cost fio time: a job that is ahead of the others sleeps (`flow_sleep`). A long sleep keeps a job from working when it could, a
//! short one keeps the CPUs busy with looking. fio runs with each of [`FLOW_SLEEPS`], and the one with the most transactions counts: it is
//! the one that throttles itself least.
#![deny(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is what this program is for")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;
use serde_json::Value;
use tempfile::TempDir;

/// Whatever goes wrong ends the bench with its message.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// Compares the transactions of ferrio's model with those of fio's job file.
#[derive(Debug, Parser)]
struct Args {
    /// Directory of the files
    directory: Option<PathBuf>,
    /// Times each program runs
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Given by `cargo bench`, absent under `cargo test`
    #[arg(long, hide = true)]
    bench: bool,
}

/// What both do per transaction. One sync of the log is one commit.
#[derive(Clone, Copy, Debug)]
struct Model {
    sessions: u64,
    page_reads: u64,
    pages_changed: u64,
    batch: u64,
}

const MODELS: [Model; 5] = [
    Model { sessions: 8, page_reads: 6, pages_changed: 1, batch: 64 },
    Model { sessions: 32, page_reads: 6, pages_changed: 1, batch: 64 },
    Model { sessions: 64, page_reads: 6, pages_changed: 1, batch: 64 },
    Model { sessions: 32, page_reads: 12, pages_changed: 2, batch: 64 },
    Model { sessions: 32, page_reads: 24, pages_changed: 4, batch: 64 },
];

/// Microseconds that a job of fio sleeps when it is ahead.
const FLOW_SLEEPS: [u64; 4] = [50, 200, 500, 1000];

/// What a run did.
#[derive(Clone, Copy, Debug)]
struct Figures {
    /// Transactions per second.
    tps: f64,
    /// Page reads per transaction.
    reads: f64,
    /// Writes to the data files per transaction.
    page_writes: f64,
}

impl Model {
    /// The job file of fio for rounds of as many transactions as a batch has pages.
    fn of_fio(self, flow_sleep: u64, seconds: u64) -> String {
        let Model { sessions, page_reads, pages_changed, batch } = self;
        let (reads, double_writes) = (page_reads * batch / sessions, 2 * pages_changed);
        let (commits, page_writes) = (2 * batch, pages_changed * (batch + 1));
        format!(
            "[global]\nthread=1\nioengine=psync\nruntime={seconds}\ntime_based=1\nnorandommap=1\nrandrepeat=0\ninvalidate=0\n\
             fallocate=none\nrefill_buffers=1\nflow_id=1\nflow_sleep={flow_sleep}\nfilename=data\nsize=64m\nbs=16k\ndirect=1\n\
             [read]\nrw=randread\nnumjobs={sessions}\ngroup_reporting=1\nflow={reads}\n\
             [log]\nnew_group\nfilename=log\nrw=write\nbs=4k\nsize=8m\nio_size=1t\ndirect=0\noverwrite=1\nfdatasync=1\nflow={commits}\n\
             [double_write]\nnew_group\nfilename=double_write\nrw=write\nbs={double_write}k\nsize=2m\nio_size=1t\noverwrite=1\nfsync=1\nflow={double_writes}\n\
             [pages]\nnew_group\nrw=randwrite\nfsync={batch}\nflow={page_writes}\n",
            double_write = 16 * batch,
        )
    }

    /// The same for ferrio.
    fn of_ferrio(self, seconds: u64) -> String {
        let Model { sessions, page_reads, pages_changed, batch } = self;
        format!(
            "[model]\nworkload=innodb\nnumjobs={sessions}\nsize=64m\nruntime={seconds}\ninvalidate=0\nrefill_buffers=1\nrandrepeat=0\n\
             page_reads={page_reads}\nlog_size=8m\ncommit_sync=fdatasync\ngroup_commit=1\npages_changed={pages_changed}\n\
             write_back_batch={batch}\n"
        )
    }
}

impl Figures {
    /// From the entries of fio's four jobs.
    fn of_fio(document: &Value) -> Outcome<Self> {
        let job = |name: &str| {
            let jobs = document["jobs"].as_array().into_iter().flatten();
            jobs.into_iter()
                .find(|job| job["jobname"] == name)
                .ok_or_else(|| format!("fio has no job {name}"))
        };
        let tps = number(&job("log")?["write"]["iops"])?;
        Ok(Figures {
            tps,
            reads: number(&job("read")?["read"]["iops"])? / tps,
            page_writes: number(&job("pages")?["write"]["iops"])? / tps,
        })
    }

    /// From what ferrio says of its model.
    fn of_ferrio(document: &Value) -> Outcome<Self> {
        let database = &document["ferrio"]["databases"][0];
        let per_transaction = |io: &str| number(&database["io"][io]["per_transaction"]);
        Ok(Figures {
            tps: number(&database["tps"])?,
            reads: per_transaction("data_reads")?,
            page_writes: per_transaction("data_writes")?,
        })
    }
}

fn number(value: &Value) -> Outcome<f64> {
    value.as_f64().filter(|&number| number > 0.0).ok_or_else(|| format!("{value} is no figure").into())
}

/// Runs a job file and returns the JSON document.
fn run(program: &str, directory: &Path, job_file: &str) -> Outcome<Value> {
    let path = directory.join("bench.fio");
    fs::write(&path, job_file)?;
    let arguments = ["--output-format=json", "bench.fio"];
    let output = Command::new(program).args(arguments).current_dir(directory).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{program}: {}\n{stderr}\n{job_file}", output.status).into());
    }
    // fio may put notes before its report.
    let start = text.find('{').ok_or_else(|| format!("{program}: no JSON in its output"))?;
    Ok(serde_json::from_str(&text[start..])?)
}

/// The median of a figure over all rounds.
fn median(rounds: &[Figures], figure: impl Fn(&Figures) -> f64) -> f64 {
    let mut sorted: Vec<f64> = rounds.iter().map(figure).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// One row: all rounds of both programs.
fn compare(model: Model, directory: &Path, args: &Args) -> Outcome<String> {
    let mut ferrio = Vec::new();
    let mut fio: Vec<(u64, Vec<Figures>)> = FLOW_SLEEPS.map(|flow_sleep| (flow_sleep, Vec::new())).into();
    for round in 0..args.rounds.max(1) {
        let run_ferrio = || {
            Figures::of_ferrio(&run(env!("CARGO_BIN_EXE_ferrio"), directory, &model.of_ferrio(args.seconds))?)
        };
        if round % 2 == 0 {
            ferrio.push(run_ferrio()?);
        }
        for (flow_sleep, rounds) in &mut fio {
            rounds.push(Figures::of_fio(&run("fio", directory, &model.of_fio(*flow_sleep, args.seconds))?)?);
        }
        if round % 2 == 1 {
            ferrio.push(run_ferrio()?);
        }
    }
    let tps = |rounds: &[Figures]| median(rounds, |figures| figures.tps);
    let best = fio.iter().max_by(|(_, one), (_, other)| tps(one).total_cmp(&tps(other)));
    let (flow_sleep, fio) = best.ok_or("fio did not run")?;
    let Model { sessions, page_reads, pages_changed, batch } = model;
    let mut row = format!("{sessions:8} {page_reads:5} {pages_changed:7} {batch:5}");
    write!(row, "  {:8.0} {flow_sleep:10} {:8.0} {:6.2}", tps(fio), tps(&ferrio), tps(&ferrio) / tps(fio))?;
    for figure in [|figures: &Figures| figures.reads, |figures: &Figures| figures.page_writes] {
        write!(row, "  {:8.2} {:8.2}", median(fio, figure), median(&ferrio, figure))?;
    }
    Ok(row)
}

fn compare_all(args: &Args) -> Outcome<()> {
    if !args.bench {
        println!("database measures for minutes: start it with `cargo bench --bench database`");
        return Ok(());
    }
    let place = args.directory.clone().unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
    let directory = TempDir::with_prefix_in("database", place)?;
    println!(
        "                                          transactions per second       page reads       page writes"
    );
    println!(
        "sessions reads changed batch flow_sleep       fio   ferrio  ratio       fio   ferrio       fio   ferrio"
    );
    for model in MODELS {
        println!("{}", compare(model, directory.path(), args)?);
    }
    Ok(())
}

fn main() -> ExitCode {
    match compare_all(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("database: {error}");
            ExitCode::FAILURE
        }
    }
}
