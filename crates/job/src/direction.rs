//! Directions of I/O, and the kinds of workload that are made of them.

use serde::{Deserialize, Serialize};

use crate::choice::choices;

/// Data direction of one I/O. The discriminants are fio's (0, 1, 2) and index [`PerDirection`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Direction {
    /// Data moves from the device into a buffer.
    Read = 0,
    /// Data moves from a buffer to the device.
    Write = 1,
    /// A range is discarded.
    Trim = 2,
}

impl Direction {
    /// All directions in fio's order.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// Lower-case name as reports and error messages print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
        }
    }
}

/// One value for each [`Direction`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerDirection<T>(pub [T; 3]);

impl<T> std::ops::Index<Direction> for PerDirection<T> {
    type Output = T;
    #[inline]
    fn index(&self, direction: Direction) -> &T {
        &self.0[direction as usize]
    }
}

impl<T> std::ops::IndexMut<Direction> for PerDirection<T> {
    #[inline]
    fn index_mut(&mut self, direction: Direction) -> &mut T {
        &mut self.0[direction as usize]
    }
}

choices! {
    /// The `rw=` kind of a job, without its postfix.
    pub enum ReadWrite default Read {
        Read: "read", "Sequential read";
        Write: "write", "Sequential write";
        Trim: "trim", "Sequential trim";
        RandRead: "randread", "Random read";
        RandWrite: "randwrite", "Random write";
        RandTrim: "randtrim", "Random trim";
        Mixed: "rw", "Sequential read and write, mixed";
        = Mixed: "readwrite";
        RandMixed: "randrw", "Random read and write, mixed";
        TrimWrite: "trimwrite", "Sequential: each block trimmed, then written";
        RandTrimWrite: "randtrimwrite", "Random: each block trimmed, then written";
        ~ Every: "rw", "Reads, writes and trims, as a replayed log has them";
    }
}

impl ReadWrite {
    /// True for the `rand...` kinds.
    #[must_use]
    pub const fn is_random(self) -> bool {
        use ReadWrite::{RandMixed, RandRead, RandTrim, RandTrimWrite, RandWrite};
        matches!(self, RandRead | RandWrite | RandTrim | RandMixed | RandTrimWrite)
    }

    /// True when the kind issues I/O of this direction.
    #[must_use]
    pub const fn does(self, direction: Direction) -> bool {
        let [reads, writes, trims] = match self {
            ReadWrite::Read | ReadWrite::RandRead => [true, false, false],
            ReadWrite::Write | ReadWrite::RandWrite => [false, true, false],
            ReadWrite::Trim | ReadWrite::RandTrim => [false, false, true],
            ReadWrite::Mixed | ReadWrite::RandMixed => [true, true, false],
            ReadWrite::TrimWrite | ReadWrite::RandTrimWrite => [false, true, true],
            ReadWrite::Every => [true; 3],
        };
        match direction {
            Direction::Read => reads,
            Direction::Write => writes,
            Direction::Trim => trims,
        }
    }

    /// True for `rw` and `randrw`.
    #[must_use]
    pub const fn is_mixed(self) -> bool {
        matches!(self, ReadWrite::Mixed | ReadWrite::RandMixed)
    }

    /// True for `trimwrite` and `randtrimwrite`.
    #[must_use]
    pub const fn is_trimwrite(self) -> bool {
        matches!(self, ReadWrite::TrimWrite | ReadWrite::RandTrimWrite)
    }
}

/// The number in `rw=kind:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RwPostfix {
    /// No postfix.
    #[default]
    None,
    /// Sequential kinds: signed bytes added between two I/Os.
    Hole(i64),
    /// Random kinds: a new random offset every N I/Os, the others follow the [`Sequencer`].
    Every(u32),
}

choices! {
    /// `rw_sequencer`: what the I/Os between two random ones of `rw=rand...:N` do.
    pub enum Sequencer default Sequential {
        Sequential: "sequential", "Next offset in order";
        Identical: "identical", "The same offset again";
    }
}
