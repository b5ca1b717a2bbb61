//! The same I/O with no tool around it.
//!
//! Each loop makes the calls that a job comes down to, over the same offsets in the same order, and nothing else: it keeps no
//! figures, and reads the clock only where nothing but memory is read. The offsets of one pass come from ferrio's generator before the loop
//! begins; at the end of the list the loop begins again, as a job of several passes does. Jobs of mixed sizes or directions have the loop
//! of their plain neighbour.

mod aio;
mod mapped;
mod uring;

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use ferrio_jobfile::{Builder, Environment};
use ferrio_plan::PlanOptions;
use ferrio_stats::Clock;
use ferrio_workload::{Region, SEEDS, Step, Workload};

use crate::Outcome;
use crate::work::{BLOCK, Calls, PASS, Place, SIZE, Work};

/// I/Os that a loop is given at once; a multiple of every batch size.
const CHUNK: usize = 1024;

/// Memory for one I/O, aligned as O_DIRECT wants it.
#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Block([u8; BLOCK]);

impl Block {
    const ZERO: Block = Block([0; BLOCK]);
}

/// Runs the loop of a row.
pub(crate) fn run(work: &Work, path: Option<&str>, ios: u64) -> Outcome<()> {
    let writes = matches!(work.calls, Calls::Pwrite { .. });
    let flags = if work.direct { libc::O_DIRECT } else { 0 };
    let open = |path: &str| File::options().read(true).write(writes).custom_flags(flags).open(path);
    let (file, size) = match path {
        // Which file costs the bare loop nothing: it reads the first.
        Some(path) if work.place == Place::MemoryDirectory => {
            let first = format!("{path}/bench.0.0");
            (Some(open(&first)?), std::fs::metadata(first)?.len())
        }
        Some(path) => (Some(open(path)?), SIZE),
        None => (None, SIZE),
    };
    let walk = Walk { offsets: &offsets(work, size)?, ios };
    let file = file.as_ref().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
    Ok(match work.calls {
        Calls::Clock => clock(&walk),
        Calls::Pread => pread(file?, &walk),
        Calls::Pwrite { synced } => pwrite(file?, synced, &walk),
        Calls::MappedCopy { random } => mapped::run(file?, random, &walk),
        Calls::Uring { depth, batch, registered } => uring::run(file?, depth, batch, registered, &walk),
        Calls::Aio { depth, batch } => aio::run(file?, depth, batch, &walk),
    }?)
}

/// Offsets to go through, again and again, until so many I/Os are done.
struct Walk<'a> {
    offsets: &'a [u64],
    ios: u64,
}

impl Walk<'_> {
    /// Hands chunk after chunk to `io`.
    fn each(&self, mut io: impl FnMut(&[u64]) -> io::Result<()>) -> io::Result<()> {
        let chunks = self.ios / CHUNK as u64;
        self.offsets.chunks_exact(CHUNK).cycle().take(chunks as usize).try_for_each(&mut io)
    }
}

/// The clock is read as a tool must that knows when an I/O began and ended.
fn clock(walk: &Walk<'_>) -> io::Result<()> {
    let clock = Clock::calibrate();
    walk.each(|chunk| {
        for &offset in chunk {
            black_box(clock.now());
            black_box(offset);
            black_box(clock.now());
        }
        Ok(())
    })
}

fn pread(file: &File, walk: &Walk<'_>) -> io::Result<()> {
    let mut block = Box::new(Block::ZERO);
    walk.each(|chunk| chunk.iter().try_for_each(|&offset| file.read_exact_at(&mut block.0, offset)))
}

fn pwrite(file: &File, synced: bool, walk: &Walk<'_>) -> io::Result<()> {
    let block = Box::new(Block([0x5a; BLOCK]));
    walk.each(|chunk| {
        chunk.iter().try_for_each(|&offset| {
            file.write_all_at(&block.0, offset)?;
            if synced { file.sync_all() } else { Ok(()) }
        })
    })
}

/// What the kernel says about a whole block read, as a result.
fn whole(answer: i64) -> io::Result<()> {
    match answer {
        n if n == BLOCK as i64 => Ok(()),
        n if n < 0 => Err(io::Error::from_raw_os_error(i32::try_from(-n).unwrap_or(libc::EIO))),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The offsets of one pass over `size` bytes in the order of the row, as often as they fit into [`PASS`].
fn offsets(work: &Work, size: u64) -> Outcome<Vec<u64>> {
    let order = work.own.iter().find(|option| option.starts_with("rw=")).ok_or("the row has no rw")?;
    let order = if order.contains("rand") { "rw=randread" } else { "rw=read" };
    let mut builder = Builder::new(Environment::default());
    let text = format!("[bench]\nioengine=null\nsize={size}\nbs={BLOCK}\n{order}\n");
    builder.file("bench.fio", text.as_bytes());
    let problems = |problems: ferrio_jobfile::Problems| problems.render(false);
    let set = builder.finish().map_err(problems)?;
    let mut plan = ferrio_plan::plan(&set, &PlanOptions::default()).map_err(problems)?;
    let spec = plan.jobs.swap_remove(0).spec;
    let region = |file: &ferrio_job::FileSpec| Region {
        offset: file.offset,
        size: file.size,
        real_size: file.real_size,
    };
    let regions: Vec<Region> = spec.files.iter().map(region).collect();
    let mut workload = Workload::new(&spec, &regions, [0; SEEDS])?;
    let next = |_| match workload.next() {
        Step::Io(io) => Ok(io.offset),
        step => Err(format!("no I/O but {step:?} in a pass over {size} bytes").into()),
    };
    let pass = (0..size / BLOCK as u64).map(next).collect::<Outcome<Vec<u64>>>()?;
    Ok(pass.repeat(PASS as usize / pass.len()))
}
