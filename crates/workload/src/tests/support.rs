//! Drives a workload the way a worker does, for tests: passes, budget, and sequences printed in a short notation.

use ferrio_job::{Direction, JobSpec};
use ferrio_plan::testing::default_job;

use crate::{Budget, Io, Region, Step, SyncKind, Workload};

/// Steps after which a job that has no end is cut.
pub(crate) const MOST: usize = 100_000;

/// The first job of a run, with defaults.
pub(crate) fn job() -> JobSpec {
    default_job("a")
}

/// Whole-file regions of `spec.limits.size` over `files` files.
pub(crate) fn regions(spec: &JobSpec, files: u64) -> Vec<Region> {
    let size = spec.limits.size / files;
    vec![Region { offset: 0, size, real_size: size }; files as usize]
}

/// All steps of a job but the ends of passes.
pub(crate) fn steps(spec: &JobSpec, workload: &mut Workload) -> Vec<Step> {
    let mut budget = Budget::new(spec);
    let mut done = 0;
    let mut steps = Vec::new();
    loop {
        let mut finished = false;
        while budget.may_issue() && steps.len() < MOST {
            match workload.next() {
                Step::PassEnd => {
                    finished = true;
                    break;
                }
                step => steps.push(step),
            }
            if let Some(Step::Io(io)) = steps.last() {
                budget.issued(io.direction, io.len);
                done += io.len;
            }
        }
        if steps.len() >= MOST || !budget.another_pass(done, finished) {
            return steps;
        }
        workload.begin_pass();
    }
}

/// The I/Os of a job over one file.
pub(crate) fn sequence(spec: &JobSpec) -> Vec<Io> {
    let mut workload = Workload::new(spec, &regions(spec, 1), [0; 24]).unwrap();
    let io = |step| if let Step::Io(io) = step { Some(io) } else { None };
    steps(spec, &mut workload).into_iter().filter_map(io).collect()
}

/// A job over one file in the notation of [`notation`].
pub(crate) fn run(spec: &JobSpec) -> String {
    let mut workload = Workload::new(spec, &regions(spec, 1), [0; 24]).unwrap();
    notation(&steps(spec, &mut workload), 4096)
}

/// `r15 13 w8+2 sync`: a letter where the direction changes, offsets and (if not 1) lengths in blocks, `1:` before a block of
/// file 1.
pub(crate) fn notation(steps: &[Step], block: u64) -> String {
    let mut last = None;
    let word = |step: &Step| match *step {
        Step::Io(io) => {
            let letter =
                if last.replace(io.direction) == Some(io.direction) { "" } else { &io.direction.name()[..1] };
            let file = if io.file == 0 { String::new() } else { format!("{}:", io.file) };
            let len = io.len / block;
            let len = if len == 1 { String::new() } else { format!("+{len}") };
            format!("{letter}{file}{}{len}", io.offset / block)
        }
        Step::Sync { kind, .. } => {
            last = None;
            match kind {
                SyncKind::Fsync => "sync".to_owned(),
                SyncKind::Fdatasync => "datasync".to_owned(),
                SyncKind::FileRange { offset, len, .. } => format!("range{}+{}", offset / block, len / block),
            }
        }
        Step::Open { file } => format!("open{file}"),
        Step::Close { file } => format!("close{file}"),
        Step::AwaitReplayTime { us } => format!("replay {us} us"),
        Step::AwaitProgramTime { ms } => format!("program {ms} ms"),
        Step::AwaitLog => "log".to_owned(),
        Step::EventEnd => "event".to_owned(),
        Step::Compute { ns } => format!("compute {ns} ns"),
        Step::Commit => "commit".to_owned(),
        Step::AwaitWriteBack => "await write-back".to_owned(),
        Step::AwaitWork => "await work".to_owned(),
        Step::WrittenBack { count } => format!("written back {count}"),
        Step::PassEnd => "end".to_owned(),
    };
    steps.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// Sets all three block sizes, aligned to the smallest.
pub(crate) fn set_block(spec: &mut JobSpec, min: u64, max: u64) {
    for direction in Direction::ALL {
        spec.block[direction].min = min;
        spec.block[direction].max = max;
        spec.block[direction].align = min;
    }
}

/// The checksum of cksum(1), without its length.
pub(crate) fn cksum(data: &[u8]) -> u32 {
    let length = (data.len() as u64).to_le_bytes();
    let length = length.iter().take(8 - data.len().leading_zeros() as usize / 8);
    !data.iter().chain(length).fold(0u32, |crc, &byte| {
        (0..8)
            .fold(crc ^ (u32::from(byte) << 24), |c, _| (c << 1) ^ if c >> 31 == 1 { 0x04C1_1DB7 } else { 0 })
    })
}
