//! What a line of a trace is turned into, whatever its format.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::IoAction;

/// Something that a trace recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it began, in nanoseconds since a time that all events of the trace share.
    pub time_ns: u64,
    /// How long it took, if the trace says so.
    pub took_ns: Option<u64>,
    /// The process behind it, if the trace says so.
    pub pid: Option<u32>,
    /// The file or device, as a number of [`Targets`].
    pub target: u32,
    /// What it is.
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An I/O.
    Io {
        /// Its kind.
        action: IoAction,
        /// Where it begins, in bytes; 0 for syncs.
        offset: u64,
        /// Its length in bytes; 0 for syncs, and only for these.
        len: u64,
    },
    /// The last descriptor of the file was closed.
    Close,
}

/// Why something in a trace is no I/O of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// blkparse shows each request several times; one kind of event counts.
    OtherEvent,
    /// A system call that reads, writes or syncs nothing.
    OtherCall,
    /// A system call that failed.
    FailedCall,
    /// It is at an offset that no file can have.
    BeyondFiles,
    /// It transferred nothing.
    Empty,
    /// A read at the end of a file.
    AtEnd,
    /// A descriptor that the trace does not show being opened.
    UnknownDescriptor,
    /// A pipe, socket, terminal, directory or pseudo file.
    NotAFile,
    /// A sync of a directory.
    SyncOfDirectory,
    /// It changes a file in a way that is not in I/O logs.
    NotInLogs,
    /// It resets, opens, closes or finishes a zone.
    ZoneManagement,
    /// Memory-mapped I/O, which system calls do not show.
    Mapped,
    /// I/O through rings, which system calls do not show.
    Ring,
    /// It began before the trace or ended after it.
    Cut,
    /// The options of the import leave it out.
    LeftOut,
}

impl Skip {
    /// All reasons, each with the noun that is counted in a summary and what follows it.
    pub const ALL: [(Skip, &'static str, &'static str); 15] = [
        (Skip::OtherEvent, "other event", "of the same I/Os"),
        (Skip::OtherCall, "system call", "without I/O"),
        (Skip::FailedCall, "system call", "that failed"),
        (Skip::BeyondFiles, "I/O", "beyond the largest offset that a file can have"),
        (Skip::Empty, "I/O", "of 0 bytes"),
        (Skip::AtEnd, "read", "at the end of a file"),
        (Skip::UnknownDescriptor, "system call", "on a descriptor that the trace does not show being opened"),
        (Skip::NotAFile, "system call", "on a pipe, socket, terminal, directory or pseudo file"),
        (Skip::SyncOfDirectory, "sync", "of a directory"),
        (Skip::NotInLogs, "request", "to truncate or allocate, which I/O logs cannot express"),
        (
            Skip::ZoneManagement,
            "request",
            "to reset, open, close or finish a zone, which I/O logs cannot express",
        ),
        (Skip::Mapped, "mapping", "of a file: I/O through memory is not in a trace of system calls"),
        (Skip::Ring, "call", "of io_uring: its I/Os are not in a trace of system calls"),
        (Skip::Cut, "I/O", "without a beginning or an end in the trace"),
        (Skip::LeftOut, "I/O", "left out by options"),
    ];
}

/// Why a line is none of its format.
pub type LineError = Cow<'static, str>;

/// What is found in the lines of a trace, as far as it has not been taken away.
#[derive(Debug, Default)]
pub struct Found {
    /// Events in the order of the lines.
    pub events: Vec<Event>,
    /// Files and devices.
    pub targets: Targets,
    /// How much was skipped, for each reason in the order of [`Skip::ALL`].
    pub skipped: [u64; Skip::ALL.len()],
    /// What a user must know about the I/Os.
    pub remarks: Remarks,
}

/// Numbers of I/Os that the log can show only in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Appends to files whose size was unknown: their offsets count from 0.
    pub unknown_appends: u64,
    /// I/Os at the offset of a descriptor from before the trace: they count from 0.
    pub unknown_offsets: u64,
    /// I/Os that strace abbreviated: they are not in the log.
    pub abbreviated: u64,
    /// I/Os whose vectors strace abbreviated: they are too short.
    pub shortened: u64,
    /// `sync_file_range`, which becomes `datasync`.
    pub range_syncs: u64,
    /// I/Os through descriptors with O_SYNC or O_DSYNC.
    pub synchronous: u64,
    /// I/Os through descriptors with O_DIRECT.
    pub direct: u64,
    /// Lines without a time.
    pub untimed: u64,
    /// Most requests in flight, if the trace shows when they end in lines of their own.
    pub deepest: u32,
    /// The unit of times in a table that does not name it.
    pub assumed_unit: Option<&'static str>,
    /// True if times are whole seconds.
    pub whole_seconds: bool,
}

/// Bytes of the longest I/O, 128 TiB. The log has a row for every 2 GiB: a damaged length would fill the disk with them.
const LONGEST: u64 = 1 << 47;

impl Found {
    /// Takes out I/Os of an impossible length.
    ///
    /// # Errors
    /// There were some.
    pub fn refuse_longest(&mut self) -> Result<(), LineError> {
        let before = self.events.len();
        self.events.retain(|event| !matches!(event.what, What::Io { len, .. } if len > LONGEST));
        if self.events.len() < before { Err("the I/O is longer than 128 TiB".into()) } else { Ok(()) }
    }

    /// Counts something that is not in the log.
    pub fn skip(&mut self, why: Skip) {
        self.skipped[why as usize] += 1;
    }
}

/// The files and devices of a trace, numbered from 0.
#[derive(Debug, Default)]
pub struct Targets {
    names: Vec<Box<[u8]>>,
    numbers: HashMap<Box<[u8]>, u32>,
}

impl Targets {
    /// The number of this name, which is a new one at its first use.
    pub fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(number) = self.known(name) {
            return number;
        }
        let number = self.add(name);
        self.numbers.insert(name.into(), number);
        number
    }

    /// The number of this name, if it has one.
    #[must_use]
    pub fn known(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// All names that have a number of their own.
    pub fn known_names(&self) -> impl Iterator<Item = &[u8]> {
        self.numbers.keys().map(AsRef::as_ref)
    }

    /// The number of one more file of this name.
    pub fn add(&mut self, name: &[u8]) -> u32 {
        let number = self.names.len() as u32;
        self.names.push(name.into());
        number
    }

    /// All names.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(AsRef::as_ref)
    }

    /// The name of this number; empty if there is none.
    #[must_use]
    pub fn name(&self, number: u32) -> &[u8] {
        self.names.get(number as usize).map_or(&[], |name| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_at_its_place_in_the_table() {
        for (at, (reason, ..)) in Skip::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, at, "{reason:?}");
        }
    }

    #[test]
    fn a_name_keeps_its_number() {
        let mut targets = Targets::default();
        assert_eq!((targets.number(b"a"), targets.number(b"b"), targets.number(b"a")), (0, 1, 0));
        assert_eq!((targets.name(1), targets.name(2)), (&b"b"[..], &b""[..]));
    }
}
