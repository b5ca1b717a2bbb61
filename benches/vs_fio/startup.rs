//! Whole processes from start to exit: how soon one I/O is done, and what a thousand jobs cost. Jobs are threads (`thread=1`) in
//! both tools, so that all memory is one process's.
//!
//! The kernel tells a parent the peak memory of its children together, so each run gets a parent of its own: this program starts
//! itself in the role ([`crate::role`]) of a stopwatch, which starts the tool, waits for it and prints what it saw. It is small: a
//! process begins with the memory peak of the one that started it.

use std::env;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};

use crate::Outcome;
use crate::table::{StartRow, Unit};
use crate::tools::{self, Tool};
use crate::work::{BLOCK, Settings};

pub(crate) const STOPWATCH: &str = "--role=stopwatch";
pub(crate) const ONE_READ: &str = "--role=one-read";

/// Names of the rows made here.
pub(crate) const ONE_SHOT: &str = "start-one-io";
pub(crate) const MANY_SECONDS: &str = "start-1000-jobs-time";
pub(crate) const MANY_MEMORY: &str = "start-1000-jobs-memory";
pub(crate) const NAMES: [&str; 3] = [ONE_SHOT, MANY_SECONDS, MANY_MEMORY];

/// One run of a few ms says little.
const ONE_SHOTS_PER_ROUND: usize = 5;

/// Prints ms and peak KiB of a command.
pub(crate) fn time(command: &[String]) -> Outcome<()> {
    let (program, arguments) = command.split_first().ok_or("nothing to time")?;
    let began = Instant::now();
    let output = Command::new(program).args(arguments).stdout(Stdio::null()).output()?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}\n{stderr}", command.join(" "), output.status).into());
    }
    println!("{ms} {}", getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss());
    Ok(())
}

/// Has a stopwatch time a command: ms and peak MiB.
fn timed(program: &str, arguments: &[String]) -> Outcome<(f64, f64)> {
    let output = Command::new(env::current_exe()?).arg(STOPWATCH).arg(program).args(arguments).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let (ms, kib) = text.trim().split_once(' ').ok_or("the stopwatch said nothing")?;
    Ok((ms.parse()?, kib.parse::<f64>()? / 1024.0))
}

/// A job of one 4 KiB read, from the start of the process to its end.
pub(crate) fn one_shot(path: &str, settings: Settings) -> Outcome<StartRow> {
    let options =
        [format!("filename={path}"), "ioengine=psync".into(), "rw=read".into(), format!("bs={BLOCK}")];
    let mut job = tools::arguments(&options);
    job.extend([format!("--size={BLOCK}"), "--invalidate=0".into(), "--thread=1".into()]);
    let bare = [ONE_READ.to_owned(), path.to_owned()];
    let this = env::current_exe()?.to_string_lossy().into_owned();
    let mut row = StartRow::new(ONE_SHOT, Unit::Milliseconds);
    for _ in 0..settings.rounds * ONE_SHOTS_PER_ROUND {
        row.fio.push(timed(Tool::Fio.program(settings), &job)?.0);
        row.ferrio.push(timed(Tool::Ferrio.program(settings), &job)?.0);
        row.limit.push(timed(&this, &bare)?.0);
    }
    Ok(row)
}

/// A thousand jobs of 256 I/Os that go nowhere: time and memory.
pub(crate) fn many_jobs(settings: Settings) -> Outcome<[StartRow; 2]> {
    let options = ["ioengine=null", "rw=read", "size=1m", "numjobs=1000", "thread=1"].map(str::to_owned);
    let job = tools::arguments(&options);
    let mut time = StartRow::new(MANY_SECONDS, Unit::Milliseconds);
    let mut memory = StartRow::new(MANY_MEMORY, Unit::Mebibytes);
    for _ in 0..settings.rounds {
        let (ms, mib) = timed(Tool::Fio.program(settings), &job)?;
        time.fio.push(ms);
        memory.fio.push(mib);
        let (ms, mib) = timed(Tool::Ferrio.program(settings), &job)?;
        time.ferrio.push(ms);
        memory.ferrio.push(mib);
    }
    Ok([time, memory])
}
