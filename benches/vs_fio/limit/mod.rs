//! The same I/O with no tool around it.
//!
//! Each loop runs for the same time as a job and makes the calls that the job comes down to, over the same offsets in the same
//! order, with one clock reading in [`CHUNK`] I/Os. Offsets come from ferrio's generator before the clock starts; at the end of the
//! list the loop begins again, as a job with `time_based` does.

mod aio;
mod mapped;
mod uring;

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::{Duration, Instant};

use ferrio_jobfile::{Builder, Environment};
use ferrio_plan::PlanOptions;
use ferrio_stats::Clock;
use ferrio_workload::{Region, SEEDS, Step, Workload};

use crate::Outcome;
use crate::work::{BLOCK, Calls, Course, SIZE, Work};

/// I/Os between two looks at the clock; a multiple of every batch size.
const CHUNK: usize = 1024;

/// Memory for one I/O, aligned as O_DIRECT wants it.
#[derive(Clone, Copy)]
#[repr(C, align(4096))]
struct Block([u8; BLOCK]);

impl Block {
    const ZERO: Block = Block([0; BLOCK]);
}

/// A loop ready to run.
pub(crate) struct Limit {
    calls: Calls,
    file: Option<File>,
    offsets: Vec<u64>,
    runtime: Duration,
}

impl Limit {
    pub(crate) fn new(work: &Work, path: Option<&str>, course: Course) -> Outcome<Limit> {
        let flags = if work.direct { libc::O_DIRECT } else { 0 };
        let open = |path: &str| File::options().read(true).custom_flags(flags).open(path);
        let file = path.map(open).transpose()?;
        let offsets = offsets(&work.options(path, course))?;
        Ok(Limit { calls: work.calls, file, offsets, runtime: Duration::from_secs(course.seconds) })
    }

    /// Runs the loop once.
    pub(crate) fn ns_per_io(&mut self) -> Outcome<f64> {
        let walk = Walk { offsets: &self.offsets, runtime: self.runtime };
        let file = self.file.as_ref().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
        Ok(match self.calls {
            Calls::Clock => clock(&walk)?,
            Calls::Pread => pread(file?, &walk)?,
            Calls::MappedCopy { random } => mapped::run(file?, random, &walk)?,
            Calls::Uring { depth, batch } => uring::run(file?, depth, batch, &walk)?,
            Calls::Aio { depth } => aio::run(file?, depth, &walk)?,
        })
    }
}

/// Offsets to go through until time is up.
struct Walk<'a> {
    offsets: &'a [u64],
    runtime: Duration,
}

impl Walk<'_> {
    /// Hands chunk after chunk to `io` and answers ns per offset.
    fn per_io(&self, mut io: impl FnMut(&[u64]) -> io::Result<()>) -> io::Result<f64> {
        let mut ios = 0;
        let began = Instant::now();
        for chunk in self.offsets.chunks_exact(CHUNK).cycle() {
            io(chunk)?;
            ios += chunk.len();
            if began.elapsed() >= self.runtime {
                break;
            }
        }
        Ok(began.elapsed().as_nanos() as f64 / ios as f64)
    }
}

/// The clock is read as a tool must that knows when an I/O began and ended.
fn clock(walk: &Walk<'_>) -> io::Result<f64> {
    let clock = Clock::calibrate();
    walk.per_io(|chunk| {
        for &offset in chunk {
            black_box(clock.now());
            black_box(offset);
            black_box(clock.now());
        }
        Ok(())
    })
}

fn pread(file: &File, walk: &Walk<'_>) -> io::Result<f64> {
    let mut block = Box::new(Block::ZERO);
    walk.per_io(|chunk| chunk.iter().try_for_each(|&offset| file.read_exact_at(&mut block.0, offset)))
}

/// What the kernel says about a whole block read, as a result.
fn whole(answer: i64) -> io::Result<()> {
    match answer {
        n if n == BLOCK as i64 => Ok(()),
        n if n < 0 => Err(io::Error::from_raw_os_error(i32::try_from(-n).unwrap_or(libc::EIO))),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// The offsets of one pass of a job with these options.
fn offsets(options: &[String]) -> Outcome<Vec<u64>> {
    let mut builder = Builder::new(Environment::default());
    builder.file("bench.fio", format!("[bench]\n{}\n", options.join("\n")).as_bytes());
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
        step => Err(format!("no I/O but {step:?} in a pass over {SIZE} bytes").into()),
    };
    (0..SIZE as usize / BLOCK).map(next).collect()
}
