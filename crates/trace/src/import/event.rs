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
    /// It failed.
    Failed,
    /// It transferred nothing.
    Empty,
    /// A read at the end of a file.
    AtEnd,
    /// A descriptor that the trace does not show being opened.
    UnknownDescriptor,
    /// A pipe, socket, terminal, directory or pseudo file.
    NotAFile,
    /// It changes a file in a way that I/O logs have no word for.
    NoWord,
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
    /// All reasons, with the words that follow their number in a summary.
    pub const ALL: [(Skip, &'static str); 12] = [
        (Skip::OtherEvent, "other events of the same I/Os"),
        (Skip::OtherCall, "system calls that do no I/O"),
        (Skip::Failed, "that failed"),
        (Skip::Empty, "of 0 bytes"),
        (Skip::AtEnd, "reads at the end of a file"),
        (Skip::UnknownDescriptor, "on descriptors that the trace does not show being opened"),
        (Skip::NotAFile, "on pipes, sockets, terminals, directories and pseudo files"),
        (Skip::NoWord, "that truncate or allocate, which I/O logs cannot express"),
        (Skip::Mapped, "mappings of files: I/O through memory is not in a trace of system calls"),
        (Skip::Ring, "calls of io_uring: its I/Os are not in a trace of system calls"),
        (Skip::Cut, "that began before the trace or ended after it"),
        (Skip::LeftOut, "left out by options"),
    ];
}

/// Why a line is none of its format.
pub type Misfit = Cow<'static, str>;

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
    /// True if times are whole seconds.
    pub whole_seconds: bool,
}

impl Found {
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
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.into());
        self.numbers.insert(name.into(), number);
        number
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
        for (at, (reason, words)) in Skip::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, at, "{words}");
        }
    }

    #[test]
    fn a_name_keeps_its_number() {
        let mut targets = Targets::default();
        assert_eq!((targets.number(b"a"), targets.number(b"b"), targets.number(b"a")), (0, 1, 0));
        assert_eq!((targets.name(1), targets.name(2)), (&b"b"[..], &b""[..]));
    }
}
