//! Block sizes that were asked for and that no I/O has: without `bs_unaligned`, sizes are rounded to multiples of the smallest.

use std::fmt;

use crate::{Direction, JobSpec};

/// Directions whose I/Os have other sizes than the ones asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundedSizes {
    /// Directions with the same sizes, in the order of [`Direction::ALL`].
    pub directions: Vec<Direction>,
    /// Bytes of the smallest size: all others are rounded down to a multiple of it.
    pub smallest: u64,
    /// The sizes that no I/O has.
    pub missing: MissingSizes,
}

/// The sizes that no I/O of a direction has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingSizes {
    /// Sizes of a `bssplit` in bytes, ascending.
    Split(Vec<u64>),
    /// All of a `bsrange` but the multiples of the smallest size and the largest size, whose bytes these are.
    Range(u64),
}

impl JobSpec {
    /// The sizes asked for that no I/O has because they are no multiples of the smallest one.
    #[must_use]
    pub fn rounded_sizes(&self) -> Vec<RoundedSizes> {
        let draws_sizes = self.replay.is_none() && self.events.is_none() && self.engine.does_io();
        if self.bs_unaligned || !draws_sizes {
            return Vec::new();
        }
        let mut all: Vec<RoundedSizes> = Vec::new();
        for direction in Direction::ALL.into_iter().filter(|&d| self.draws_sizes_of(d)) {
            let smallest = self.block[direction].min;
            let Some(missing) = self.missing_sizes(direction) else { continue };
            match all.iter_mut().find(|other| other.smallest == smallest && other.missing == missing) {
                Some(same) => same.directions.push(direction),
                None => all.push(RoundedSizes { directions: vec![direction], smallest, missing }),
            }
        }
        all
    }

    /// True when some I/O has a size of this direction. With `bs_is_seq_rand`, sizes of reads are those of sequential reads and writes, and
    /// sizes of writes those of random ones.
    fn draws_sizes_of(&self, direction: Direction) -> bool {
        let does = |d: Direction| self.rw.does(d);
        // The writes of trimwrite kinds repeat their trims.
        if direction == Direction::Write && self.rw.is_trimwrite() {
            return false;
        }
        if !self.bs_is_seq_rand || direction == Direction::Trim {
            return does(direction);
        }
        let moves = || [Direction::Read, Direction::Write].into_iter().filter(|&d| does(d));
        match direction {
            Direction::Write => self.rw.is_random() && moves().any(|d| self.percentage_random[d] > 0),
            _ => moves().any(|d| !self.rw.is_random() || self.percentage_random[d] < 100),
        }
    }

    fn missing_sizes(&self, direction: Direction) -> Option<MissingSizes> {
        let block = &self.block[direction];
        let is_rounded = |bytes: u64| block.min > 0 && !bytes.is_multiple_of(block.min);
        if block.min == block.max {
            return None;
        }
        if self.split[direction].is_empty() {
            return is_rounded(block.max).then_some(MissingSizes::Range(block.max));
        }
        let shares = self.split[direction].iter().map(|share| share.bytes);
        let mut missing: Vec<u64> = shares.filter(|&bytes| is_rounded(bytes)).collect();
        missing.sort_unstable();
        missing.dedup();
        (!missing.is_empty()).then_some(MissingSizes::Split(missing))
    }
}

impl fmt::Display for RoundedSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.directions.iter().map(|d| format!("{}s", d.name())).collect();
        let names = names.join(" and ");
        let smallest = self.smallest;
        match &self.missing {
            MissingSizes::Split(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
                write!(f, "no {names} have {} bytes: ", sizes.join(" or "))?;
                write!(f, "sizes are rounded down to multiples of the smallest, {smallest} bytes")
            }
            MissingSizes::Range(largest) => {
                write!(
                    f,
                    "{names} have a multiple of {smallest} bytes, the smallest size, or {largest} bytes, "
                )?;
                write!(f, "and no other size between the two")
            }
        }
    }
}

impl RoundedSizes {
    /// The remedy.
    pub const ADVICE: &'static str =
        "set bs_unaligned=1 to issue exactly these sizes, or use multiples of the smallest";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockShare, BlockSizes, ReadWrite};

    fn job(rw: ReadWrite, min: u64, max: u64, shares: &[u64]) -> JobSpec {
        let mut spec = JobSpec { rw, ..JobSpec::default() };
        for at in 0..3 {
            spec.block.0[at] = BlockSizes { min, max, align: min };
            spec.split.0[at] = shares.iter().map(|&bytes| BlockShare { bytes, percent: 50 }).collect();
        }
        spec
    }

    fn texts(spec: &JobSpec) -> Vec<String> {
        spec.rounded_sizes().iter().map(RoundedSizes::to_string).collect()
    }

    #[test]
    fn sizes_of_a_split_that_are_no_multiples_are_named_by_direction() {
        for rw in [ReadWrite::Read, ReadWrite::RandRead] {
            let spec = job(rw, 4096, 9216, &[9216, 4096, 6144, 8192]);
            let want = "no reads have 6144 or 9216 bytes: sizes are rounded down to multiples of the smallest, 4096 bytes";
            assert_eq!(texts(&spec), [want]);
        }
        let mut spec = job(ReadWrite::RandMixed, 6144, 10240, &[6144, 10240]);
        let want = "no reads and writes have 10240 bytes: sizes are rounded down to multiples of the smallest, 6144 bytes";
        assert_eq!(texts(&spec), [want]);
        spec.split.0[0] = Vec::new();
        spec.block.0[0] = BlockSizes { min: 4096, max: 4096, align: 4096 };
        assert_eq!(spec.rounded_sizes()[0].directions, [Direction::Write]);
    }

    #[test]
    fn a_range_that_ends_between_two_multiples_is_named() {
        let want = "reads have a multiple of 6144 bytes, the smallest size, or 10240 bytes, and no other size between the two";
        assert_eq!(texts(&job(ReadWrite::Read, 6144, 10240, &[])), [want]);
    }

    #[test]
    fn nothing_is_named_that_occurs_or_that_nobody_draws() {
        assert!(texts(&job(ReadWrite::Read, 4096, 8192, &[])).is_empty());
        assert!(texts(&job(ReadWrite::Read, 4096, 65536, &[4096, 65536])).is_empty());
        assert!(texts(&job(ReadWrite::Read, 6144, 6144, &[6144])).is_empty());
        let unaligned = JobSpec { bs_unaligned: true, ..job(ReadWrite::Read, 6144, 10240, &[]) };
        assert!(texts(&unaligned).is_empty());
        let mut reader = job(ReadWrite::Read, 4096, 4096, &[]);
        reader.block.0[1] = BlockSizes { min: 6144, max: 10240, align: 6144 };
        assert!(texts(&reader).is_empty());
        let by_order = JobSpec { bs_is_seq_rand: true, rw: ReadWrite::RandRead, ..reader };
        assert!(!texts(&JobSpec { percentage_random: crate::PerDirection([100; 3]), ..by_order }).is_empty());
    }
}
