//! The I/Os of a job with `read_iolog`: the steps of a log, ready to be issued, and a summary of the whole log.

use std::collections::HashMap;
use std::fs::File;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{Direction, PerDirection, greatest_common_divisor};

/// A log to replay, with the changes that `replay_*` options ask for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// The log in messages: its path, or `standard input`.
    pub name: String,
    /// The summary of the whole log.
    pub summary: ReplaySummary,
    /// Where its steps are.
    pub steps: ReplaySteps,
}

/// Where the steps of a log are.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplaySteps {
    /// In memory.
    Loaded(Vec<ReplayStep>),
    /// `read_iolog_chunked`: in a file, which is read again piece by piece while the job runs.
    Chunked(ChunkedLog),
}

impl Default for ReplaySteps {
    fn default() -> Self {
        ReplaySteps::Loaded(Vec::new())
    }
}

/// A log that is read while it is replayed.
#[derive(Clone, Debug)]
pub struct ChunkedLog {
    /// The log, open for reading at any place.
    pub file: Arc<File>,
    /// Where in the file the log is; what is appended later does not belong to it.
    pub bytes: Range<u64>,
    /// How its lines become steps.
    pub rules: ReplayRules,
    /// The files of the devices of a block trace, by their major and minor numbers.
    pub devices: HashMap<(u64, u64), PathBuf>,
}

impl PartialEq for ChunkedLog {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file, &other.file)
            && self.bytes == other.bytes
            && self.rules == other.rules
            && self.devices == other.devices
    }
}

/// The changes to a log that the `replay_*` options ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayRules {
    /// `replay_no_stall`: nothing waits.
    pub no_stall: bool,
    /// `replay_time_scale`, percent: twice as much halves the waits.
    pub time_scale: u64,
    /// `replay_scale`: offsets are divided by this.
    pub scale: u64,
    /// `replay_align`: then they are rounded down to a multiple of this power of two.
    pub align: u64,
    /// `replay_redirect`: the file that takes the place of all others.
    pub redirect: Option<PathBuf>,
    /// Data I/Os that `replay_skip` and `--readonly` leave out.
    pub skips: PerDirection<bool>,
    /// `replay_skip=sync`: syncs are left out.
    pub skips_syncs: bool,
    /// `--readonly`: of block traces, only reads are replayed.
    pub readonly: bool,
    /// A write of a block trace that flushes first is only the flush.
    pub flush_replaces_write: bool,
}

impl Default for ReplayRules {
    /// Everything as recorded.
    fn default() -> Self {
        ReplayRules {
            no_stall: false,
            time_scale: 100,
            scale: 1,
            align: 1,
            redirect: None,
            skips: PerDirection([false; 3]),
            skips_syncs: false,
            readonly: false,
            flush_replaces_write: false,
        }
    }
}

/// The summary of a whole log: it decides which files are opened, how large buffers are, and what a job is said to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplaySummary {
    /// The files of the log, in the order they are added.
    pub files: Vec<LoggedFile>,
    /// The data I/Os.
    pub ios: PerDirection<LoggedIos>,
    /// fsync and fdatasync.
    pub syncs: u64,
    /// When the last step is due, µs after the first; 0 if nothing waits.
    pub last_due_us: u64,
    /// The latest time of the program that a step waits for, ms (`wait` of version 2).
    pub waits_until_ms: u64,
    /// Most I/Os at once, if the log tells: block traces do.
    pub depth: Option<u32>,
    /// The log has more than what was read of it, to describe the job.
    pub has_more: bool,
}

impl ReplaySummary {
    /// Adds a step.
    pub fn add(&mut self, step: &ReplayStep) {
        self.last_due_us = step.due_us();
        let direction = match step.action() {
            ReplayAction::Read => Direction::Read,
            ReplayAction::Write => Direction::Write,
            ReplayAction::Trim => Direction::Trim,
            ReplayAction::Sync | ReplayAction::Datasync => return self.syncs += 1,
            ReplayAction::Wait => return self.waits_until_ms = self.waits_until_ms.max(step.offset),
            ReplayAction::Open | ReplayAction::Close => return,
        };
        self.ios[direction].add(step.bytes());
        let end = &mut self.files[step.file() as usize].end;
        *end = (*end).max(step.offset.saturating_add(step.bytes()));
    }

    /// True when a log with this summary needs nothing that one with the summary `other` does not.
    #[must_use]
    pub fn fits_in(&self, other: &ReplaySummary) -> bool {
        self.files.len() <= other.files.len()
            && self.files.iter().zip(&other.files).all(|(own, other)| own.path == other.path)
            && Direction::ALL.into_iter().all(|d| self.ios[d].longest <= other.ios[d].longest)
    }

    /// The number of data I/Os.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.ios.0.iter().map(|ios| ios.count).sum()
    }

    /// Bytes that all data I/Os move.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ios.0.iter().map(|ios| ios.bytes).fold(0, u64::saturating_add)
    }
}

/// A file of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedFile {
    /// The path, as the log has it.
    pub path: PathBuf,
    /// The end of its last data I/O; 0 without any.
    pub end: u64,
}

/// The data I/Os of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoggedIos {
    /// How many.
    pub count: u64,
    /// Bytes of all of them.
    pub bytes: u64,
    /// Bytes of the longest.
    pub longest: u64,
    /// Bytes of the shortest; 0 without any.
    pub shortest: u64,
    /// The largest number that divides all lengths; 0 without any.
    divisor: u64,
}

impl LoggedIos {
    fn add(&mut self, len: u64) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(len);
        if self.divisor == 0 {
            (self.longest, self.shortest, self.divisor) = (len, len, len);
        } else if !len.is_multiple_of(self.divisor) {
            self.divisor = greatest_common_divisor(self.divisor, len);
        }
        self.longest = self.longest.max(len);
        self.shortest = self.shortest.min(len);
    }

    /// The block size that all lengths are multiples of: the shortest if it divides all of them, else the longest.
    #[must_use]
    pub fn block(&self) -> u64 {
        if self.divisor == self.shortest { self.shortest } else { self.longest }
    }
}

/// One action of a log. A log may have many millions, so it takes 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayStep {
    /// When it is due, and above it the high bits of the length.
    due: u64,
    /// Where in the file, bytes; of a wait, milliseconds since the program started.
    pub offset: u64,
    /// The low bits of the length.
    len: u32,
    /// The number of the file, with the action in the highest bits.
    target: u32,
}

const _: () = assert!(size_of::<ReplayStep>() == 24);

impl ReplayStep {
    /// Bits of the number of a file.
    const FILE_BITS: u32 = 28;
    /// Files that a log may have.
    pub const MAX_FILES: u32 = 1 << Self::FILE_BITS;
    /// Bits of the length, in bytes, of an I/O.
    pub const LEN_BITS: u32 = 48;
    /// Bits of the time, µs: nine years.
    const DUE_BITS: u32 = 64 - (Self::LEN_BITS - u32::BITS);
    const LAST_DUE: u64 = (1 << Self::DUE_BITS) - 1;

    /// A step. `file` is less than [`Self::MAX_FILES`], and `len` has at most [`Self::LEN_BITS`] bits. A step that is due after nine years
    /// is due then.
    #[must_use]
    pub fn new(due_us: u64, action: ReplayAction, file: u32, offset: u64, len: u64) -> Self {
        debug_assert!(file < Self::MAX_FILES, "file {file} of a log");
        debug_assert!(len >> Self::LEN_BITS == 0, "{len} bytes of an I/O of a log");
        let due = due_us.min(Self::LAST_DUE) | len >> u32::BITS << Self::DUE_BITS;
        ReplayStep { due, offset, len: len as u32, target: (action as u32) << Self::FILE_BITS | file }
    }

    /// When it is due, µs after the first step of the log; never less than that of the step before.
    #[inline]
    #[must_use]
    pub fn due_us(&self) -> u64 {
        self.due & Self::LAST_DUE
    }

    /// Bytes of an I/O, at least 1; else 0.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.due >> Self::DUE_BITS << u32::BITS | u64::from(self.len)
    }

    /// The action.
    #[inline]
    #[must_use]
    pub fn action(&self) -> ReplayAction {
        ReplayAction::ALL[(self.target >> Self::FILE_BITS) as usize]
    }

    /// Index of the file.
    #[inline]
    #[must_use]
    pub fn file(&self) -> u32 {
        self.target & (Self::MAX_FILES - 1)
    }
}

/// The action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ReplayAction {
    /// Opens the file.
    Open,
    /// Closes the file.
    Close,
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// fsync(2)
    Sync,
    /// fdatasync(2)
    Datasync,
    /// Does nothing until this long after the program started.
    Wait,
}

impl ReplayAction {
    /// All of them, by number.
    pub const ALL: [ReplayAction; 8] = [
        ReplayAction::Open,
        ReplayAction::Close,
        ReplayAction::Read,
        ReplayAction::Write,
        ReplayAction::Trim,
        ReplayAction::Sync,
        ReplayAction::Datasync,
        ReplayAction::Wait,
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_keeps_its_action_and_its_file() {
        for action in ReplayAction::ALL {
            for file in [0, 1, ReplayStep::MAX_FILES - 1] {
                let step = ReplayStep::new(5, action, file, 6, 7);
                assert_eq!((step.action(), step.file()), (action, file));
                assert_eq!((step.due_us(), step.offset, step.bytes()), (5, 6, 7));
            }
        }
    }

    #[test]
    fn a_step_has_room_for_the_longest_io_and_the_last_time() {
        let longest = (1 << ReplayStep::LEN_BITS) - 1;
        for (len, due_us) in [(5 << 30, 0), (longest, 7), (longest, ReplayStep::LAST_DUE), (1, u64::MAX)] {
            let step = ReplayStep::new(due_us, ReplayAction::Trim, 3, 9, len);
            assert_eq!((step.due_us(), step.bytes()), (due_us.min(ReplayStep::LAST_DUE), len));
            assert_eq!((step.action(), step.file(), step.offset), (ReplayAction::Trim, 3, 9));
        }
    }

    #[test]
    fn the_block_of_a_log_divides_all_its_lengths_or_is_the_longest() {
        let block = |lengths: &[u64]| {
            let mut ios = LoggedIos::default();
            lengths.iter().for_each(|&len| ios.add(len));
            (ios.block(), ios.longest, ios.shortest)
        };
        assert_eq!(block(&[]), (0, 0, 0));
        assert_eq!(block(&[8192, 4096, 12288]), (4096, 12288, 4096));
        assert_eq!(block(&[12345, 99]), (12345, 12345, 99));
        assert_eq!(block(&[6, 4]), (6, 6, 4), "the divisor alone is no length of the log");
    }

    #[test]
    fn a_summary_knows_ends_counts_and_the_last_time() {
        let mut summary = ReplaySummary {
            files: vec![LoggedFile::default(), LoggedFile::default()],
            ..ReplaySummary::default()
        };
        let steps = [
            ReplayStep::new(0, ReplayAction::Open, 0, 0, 0),
            ReplayStep::new(1, ReplayAction::Write, 1, 4096, 512),
            ReplayStep::new(2, ReplayAction::Read, 1, 0, 512),
            ReplayStep::new(3, ReplayAction::Sync, 0, 0, 0),
            ReplayStep::new(3, ReplayAction::Wait, 0, 1500, 0),
            ReplayStep::new(9, ReplayAction::Datasync, 0, 0, 0),
        ];
        steps.iter().for_each(|step| summary.add(step));
        assert_eq!(summary.files.iter().map(|file| file.end).collect::<Vec<_>>(), [0, 4608]);
        assert_eq!((summary.bytes(), summary.syncs), (1024, 2));
        assert_eq!((summary.last_due_us, summary.waits_until_ms), (9, 1500));
        let mut longer = summary.clone();
        longer.add(&ReplayStep::new(9, ReplayAction::Write, 0, 0, 513));
        assert!(summary.fits_in(&longer) && !longer.fits_in(&summary));
    }
}
