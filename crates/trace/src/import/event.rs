//! The common form of the lines of all formats.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::IoAction;

/// An event of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceEvent {
    /// Start time, in nanoseconds since an origin that all events of the trace share.
    pub time_ns: u64,
    /// Duration, if the trace contains it.
    pub took_ns: Option<u64>,
    /// The process, if the trace contains it.
    pub pid: Option<u32>,
    /// The file or device, as a number of [`Targets`].
    pub target: u32,
    /// The kind of event.
    pub what: TraceEventKind,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceEventKind {
    /// An I/O.
    Io {
        /// Read, write, trim or sync.
        action: IoAction,
        /// Start in bytes; 0 for syncs.
        offset: u64,
        /// Length in bytes; 0 for syncs only.
        len: u64,
    },
    /// The last descriptor of the file was closed.
    Close,
}

/// A reason why a part of a trace is not in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// Another event than the one that represents the I/O: blkparse shows each request several times.
    OtherEvent,
    /// A system call that does not read, write or sync.
    OtherCall,
    /// A system call that failed.
    FailedCall,
    /// The offset is beyond the size of any file.
    BeyondFiles,
    /// Nothing was transferred.
    Empty,
    /// A read at the end of a file.
    AtEnd,
    /// A descriptor whose opening is not in the trace.
    UnknownDescriptor,
    /// A pipe, socket, terminal, directory or pseudo file.
    NotAFile,
    /// A sync of a directory.
    SyncOfDirectory,
    /// A change of a file that I/O logs cannot express.
    NotInLogs,
    /// A reset, opening, closing or finishing of a zone.
    ZoneManagement,
    /// Memory-mapped I/O, which is invisible in system calls.
    Mapped,
    /// I/O through rings, which is invisible in system calls.
    Ring,
    /// It began before the trace or ended after it.
    Cut,
    /// The options of the import leave it out.
    LeftOut,
}

impl SkipReason {
    /// All reasons, each with the counted noun in a summary and the text after it.
    pub const ALL: [(SkipReason, &'static str, &'static str); 15] = [
        (SkipReason::OtherEvent, "other event", "of the same I/Os"),
        (SkipReason::OtherCall, "system call", "without I/O"),
        (SkipReason::FailedCall, "system call", "that failed"),
        (SkipReason::BeyondFiles, "I/O", "beyond the largest offset that a file can have"),
        (SkipReason::Empty, "I/O", "of 0 bytes"),
        (SkipReason::AtEnd, "read", "at the end of a file"),
        (
            SkipReason::UnknownDescriptor,
            "system call",
            "on a descriptor that the trace does not show being opened",
        ),
        (SkipReason::NotAFile, "system call", "on a pipe, socket, terminal, directory or pseudo file"),
        (SkipReason::SyncOfDirectory, "sync", "of a directory"),
        (SkipReason::NotInLogs, "request", "to truncate or allocate, which I/O logs cannot express"),
        (
            SkipReason::ZoneManagement,
            "request",
            "to reset, open, close or finish a zone, which I/O logs cannot express",
        ),
        (SkipReason::Mapped, "mapping", "of a file: I/O through memory is not in a trace of system calls"),
        (SkipReason::Ring, "call", "of io_uring: its I/Os are not in a trace of system calls"),
        (SkipReason::Cut, "I/O", "without a beginning or an end in the trace"),
        (SkipReason::LeftOut, "I/O", "left out by options"),
    ];
}

/// A reason why a line does not have its format.
pub type LineError = Cow<'static, str>;

/// The contents of the lines of a trace that have not yet been taken.
#[derive(Debug, Default)]
pub struct TraceContents {
    /// Events in the order of the lines.
    pub events: Vec<TraceEvent>,
    /// Files and devices.
    pub targets: Targets,
    /// Number of skipped parts for each reason, in the order of [`SkipReason::ALL`].
    pub skipped: [u64; SkipReason::ALL.len()],
    /// Remarks on the I/Os for the user.
    pub remarks: Remarks,
}

/// Numbers of I/Os that the log can express only in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Remarks {
    /// Appends to files of unknown size: their offsets count from 0.
    pub unknown_appends: u64,
    /// I/Os at the offset of a descriptor from before the trace: offsets count from 0.
    pub unknown_offsets: u64,
    /// I/Os that strace abbreviated: they are not in the log.
    pub abbreviated: u64,
    /// I/Os whose vectors strace abbreviated: they are too short.
    pub shortened: u64,
    /// Calls of `sync_file_range`, which become `datasync`.
    pub range_syncs: u64,
    /// I/Os through descriptors with O_SYNC or O_DSYNC.
    pub synchronous: u64,
    /// I/Os through descriptors with O_DIRECT.
    pub direct: u64,
    /// Lines without a time.
    pub untimed: u64,
    /// Most requests in flight, if the trace has separate lines for their ends.
    pub deepest: u32,
    /// The assumed unit of times in a table that does not name it.
    pub assumed_unit: Option<&'static str>,
    /// Whether times are whole seconds.
    pub whole_seconds: bool,
}

/// Longest I/O in bytes, 128 TiB. The log has a row for every 2 GiB: a damaged length would fill the disk with them.
const MAX_IO_BYTES: u64 = 1 << 47;

impl TraceContents {
    /// Removes I/Os of an impossible length.
    ///
    /// # Errors
    /// There were some.
    pub fn refuse_too_long(&mut self) -> Result<(), LineError> {
        let before = self.events.len();
        self.events
            .retain(|event| !matches!(event.what, TraceEventKind::Io { len, .. } if len > MAX_IO_BYTES));
        if self.events.len() < before { Err("the I/O is longer than 128 TiB".into()) } else { Ok(()) }
    }

    /// Counts a part that is not in the log.
    pub fn skip(&mut self, why: SkipReason) {
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
    /// The number of this name, which is assigned at its first use.
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

    /// Assigns one more number to this name.
    pub fn add(&mut self, name: &[u8]) -> u32 {
        let number = self.names.len() as u32;
        self.names.push(name.into());
        number
    }

    /// All names, by number.
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
        for (at, (reason, ..)) in SkipReason::ALL.iter().enumerate() {
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
