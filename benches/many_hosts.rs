//! What a run on many hosts costs its coordinator: the time beyond the jobs, memory, CPU time and bytes on the wire.
//!
//! All agents are processes on this machine, each with one job of the engine `null` at a low rate, so that the CPUs are left to what is
//! measured. They have to share them with the coordinator, though: on real hosts, the time until the jobs begin is shorter.
//!
//!     cargo bench --bench many_hosts                          # 1000 agents for one second
//!     cargo bench --bench many_hosts -- --hosts 100 --seconds 5
//!     cargo bench --bench many_hosts -- --phases 4 --formats json+
//!
//! The bytes are those of the first host, whose conversation passes through `tee`.
#![deny(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the table is what this program is for")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use serde_json::Value;
use tempfile::TempDir;

/// Whatever goes wrong ends the bench with its message.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// Measures the coordinator of a run on many hosts.
#[derive(Debug, Parser)]
struct Args {
    /// Agents
    #[arg(long, default_value_t = 1000)]
    hosts: usize,
    /// Seconds of each phase
    #[arg(long, default_value_t = 1)]
    seconds: u64,
    /// Phases, with a stonewall between them
    #[arg(long, default_value_t = 1)]
    phases: u64,
    /// I/Os per second of each job
    #[arg(long, default_value_t = 10)]
    rate: u64,
    /// Output formats
    #[arg(long, default_value = "json")]
    formats: String,
    /// The program, instead of the one that cargo has built
    #[arg(long)]
    program: Option<PathBuf>,
    /// Given by `cargo bench`, absent under `cargo test`
    #[arg(long, hide = true)]
    bench: bool,
}

/// What a process has used, as the kernel shows it.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Most memory at any time, in KiB.
    memory_kib: u64,
    /// Seconds of CPU time.
    cpu: f64,
    /// Seconds of CPU time of children that have ended.
    cpu_of_agents: f64,
    /// Threads at the most.
    threads: u64,
}

/// Time between two looks at the coordinator; its last moments are not seen.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Clock ticks in the times of `/proc`.
const TICKS_PER_SECOND: f64 = 100.0;

impl Usage {
    /// Adds what the process has used until now; nothing once it has ended.
    fn look(&mut self, pid: u32) {
        let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let status = file("status");
        let number = |key: &str| {
            let line = status.lines().find(|line| line.starts_with(key));
            line.and_then(|line| line.split_whitespace().nth(1))
                .and_then(|word| word.parse().ok())
                .unwrap_or(0)
        };
        self.memory_kib = self.memory_kib.max(number("VmHWM:"));
        self.threads = self.threads.max(number("Threads:"));
        // Fields after the name, which may have spaces: state is the first.
        let stat = file("stat");
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        let seconds = |at: usize| {
            fields.get(at).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0) / TICKS_PER_SECOND
        };
        self.cpu = self.cpu.max(seconds(11) + seconds(12));
        self.cpu_of_agents = self.cpu_of_agents.max(seconds(13) + seconds(14));
    }

    /// Watches a process to its end.
    fn of(child: &mut Child) -> Outcome<Usage> {
        let mut usage = Usage::default();
        while child.try_wait()?.is_none() {
            usage.look(child.id());
            thread::sleep(POLL_INTERVAL);
        }
        Ok(usage)
    }
}

/// The command that starts agents: that of the first host is overheard.
const VIA: &str = "#!/bin/sh
host=$1 directory=$2 program=$3
shift 3
case $host in
    node1) tee $directory/to_agent | \"$program\" agent | tee $directory/to_coordinator ;;
    *) exec \"$program\" agent ;;
esac
";

/// The number and the bytes of each kind of message in one direction.
fn messages(file: &Path) -> Outcome<BTreeMap<String, (u64, usize)>> {
    let mut kinds: BTreeMap<String, (u64, usize)> = BTreeMap::new();
    for line in BufReader::new(File::open(file)?).lines() {
        let line = line?;
        let message: Value = serde_json::from_str(&line)?;
        let kind = message["message"].as_str().ok_or("a message without its kind")?.to_owned();
        let (count, bytes) = kinds.entry(kind).or_default();
        *count += 1;
        *bytes += line.len() + 1;
    }
    Ok(kinds)
}

fn measure(args: &Args) -> Outcome<()> {
    if !args.bench {
        println!("many_hosts starts a thousand processes: start it with `cargo bench --bench many_hosts`");
        return Ok(());
    }
    let directory = TempDir::with_prefix_in("many_hosts", env!("CARGO_TARGET_TMPDIR"))?;
    let path = |name: &str| directory.path().join(name);
    let via = path("via");
    fs::write(&via, VIA)?;
    let section = |phase| format!("[{phase}]\nstonewall\n");
    let globals = format!(
        "[global]\nioengine=null\nsize=1g\ntime_based\nruntime={}\nrate_iops={}\n",
        args.seconds, args.rate
    );
    fs::write(path("jobs.fio"), globals + &(0..args.phases).map(section).collect::<String>())?;
    let program = args.program.clone().unwrap_or_else(|| env!("CARGO_BIN_EXE_ferrio").into());
    let shown = |path: &Path| path.display().to_string();
    let began = Instant::now();
    let mut coordinator = Command::new(&program)
        .arg(format!("--hosts=node[1-{}]", args.hosts))
        .arg(format!("--via=sh {} {{host}} {} {}", shown(&via), shown(directory.path()), shown(&program)))
        .arg(format!("--output-format={}", args.formats))
        .arg("jobs.fio")
        .current_dir(&directory)
        .stdin(Stdio::null())
        .stdout(File::create(path("stdout"))?)
        .stderr(File::create(path("stderr"))?)
        .spawn()?;
    let usage = Usage::of(&mut coordinator)?;
    let time = began.elapsed().as_secs_f64();
    let status = coordinator.wait()?;
    let mut stderr = String::new();
    File::open(path("stderr"))?.read_to_string(&mut stderr)?;
    if !status.success() {
        let start: Vec<&str> = stderr.lines().take(10).collect();
        return Err(format!("ferrio: {status}\n{}", start.join("\n")).into());
    }
    let jobs = (args.seconds * args.phases) as f64;
    println!("hosts                              {:9}", args.hosts);
    println!("time beyond the jobs               {:9.2} s", time - jobs);
    println!("memory of the coordinator          {:9.1} MiB", usage.memory_kib as f64 / 1024.0);
    println!("threads of the coordinator         {:9}", usage.threads);
    println!("CPU time of the coordinator        {:9.2} s", usage.cpu);
    println!(
        "CPU time of an agent               {:9.2} ms",
        1000.0 * usage.cpu_of_agents / args.hosts as f64
    );
    println!("report                             {:9} bytes", fs::metadata(path("stdout"))?.len());
    println!("\none host, message                     count     bytes   bytes/s");
    for (direction, file) in [("to", "to_agent"), ("from", "to_coordinator")] {
        let mut total = 0;
        for (kind, (count, bytes)) in messages(&path(file))? {
            println!("{direction:4} {kind:30} {count:8} {bytes:9} {:9.0}", bytes as f64 / time);
            total += bytes;
        }
        println!("{direction:4} {:30} {:8} {total:9} {:9.0}", "all", "", total as f64 / time);
    }
    Ok(())
}

fn main() -> ExitCode {
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("many_hosts: {error}");
            ExitCode::FAILURE
        }
    }
}
