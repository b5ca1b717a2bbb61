//! How long an I/O is: a fixed size, drawn from a range, or drawn from sizes with shares.

use ferrio_plan::{BlockShare, BlockSizes};

use crate::random::{Scale, Stream};

/// Lengths of one direction. `min` and `max` are in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    pub(crate) min: u32,
    max: u32,
    /// The smallest length that is ever drawn: sizes without a share count for `min` only.
    least: u64,
    rounding: Rounding,
    /// What to draw from; none for a fixed size, which draws nothing.
    draw: Option<Draw>,
}

/// How a drawn length becomes one that is issued.
#[derive(Clone, Copy, Debug)]
enum Rounding {
    /// Down to a multiple of a power of two.
    Mask(u64),
    /// Down to a multiple of `min`.
    Multiple,
    /// Not at all (`bs_unaligned`).
    None,
}

#[derive(Clone, Debug)]
enum Draw {
    Range { stream: Stream, scale: Scale },
    Split { stream: Stream, entries: Vec<Entry> },
}

/// A size that is taken for draws up to `last`, if it fits and no entry before it was taken.
#[derive(Clone, Copy, Debug)]
struct Entry {
    last: u64,
    bytes: u64,
}

impl Lengths {
    /// Lengths within `block`, whose bounds are known to fit 32 bits; with `shares`, only these.
    pub(crate) fn new(block: &BlockSizes, shares: &[BlockShare], unaligned: bool, stream: Stream) -> Self {
        let rounding = if unaligned {
            Rounding::None
        } else if block.min.is_power_of_two() {
            Rounding::Mask(!(block.min - 1))
        } else {
            Rounding::Multiple
        };
        let draw = (block.min != block.max).then(|| match shares {
            [] => Draw::Range { scale: stream.scale(block.max), stream },
            shares => Draw::Split { entries: entries(shares, stream.largest()), stream },
        });
        let (min, max) = (block.min as u32, block.max as u32);
        let least = shares.iter().map(|share| share.bytes).min().unwrap_or(block.min);
        Lengths { min, max, least: settle(least, rounding, min, max), rounding, draw }
    }

    /// Starts the stream again.
    pub(crate) fn reseed(&mut self, seed: u64) {
        match &mut self.draw {
            Some(Draw::Range { stream, .. } | Draw::Split { stream, .. }) => stream.reseed(seed),
            None => {}
        }
    }

    /// The next length when `room` bytes are left to the end of the region, `None` when not even the smallest fits.
    ///
    /// A fixed size is not held to the region: only the end of the file bounds it, as with fio.
    #[inline]
    pub(crate) fn next(&mut self, room: u64) -> Option<u32> {
        let Some(draw) = &mut self.draw else {
            return Some(self.min);
        };
        if room < self.least {
            return None;
        }
        loop {
            let drawn = match draw {
                Draw::Range { stream, scale } => u64::from(self.min) + stream.below(*scale),
                Draw::Split { stream, entries } => pick(entries, stream.draw(), room),
            };
            let len = settle(drawn, self.rounding, self.min, self.max);
            if len <= room {
                return Some(len as u32);
            }
        }
    }
}

/// A drawn length, rounded and within the bounds.
#[inline]
fn settle(drawn: u64, rounding: Rounding, min: u32, max: u32) -> u64 {
    let whole = match rounding {
        Rounding::Mask(mask) => drawn & mask,
        Rounding::Multiple => drawn - drawn % u64::from(min),
        Rounding::None => drawn,
    };
    whole.min(u64::from(max))
}

/// What fio computes for each draw `r` of at most `largest`, `r / cumulated share <= largest / 100` in whole numbers, solved for `r`.
fn entries(shares: &[BlockShare], largest: u64) -> Vec<Entry> {
    let hundredth = u128::from(largest / 100);
    let mut percent = 0;
    let entry = |share: &BlockShare| {
        percent += u128::from(share.percent);
        let last = ((hundredth + 1) * percent - 1).min(u128::from(largest));
        Entry { last: last as u64, bytes: share.bytes }
    };
    shares.iter().map(entry).collect()
}

/// The size that a draw stands for; the last one when no other is left.
#[inline]
fn pick(entries: &[Entry], drawn: u64, room: u64) -> u64 {
    let taken = entries.iter().find(|entry| drawn <= entry.last && entry.bytes <= room);
    taken.or(entries.last()).map_or(0, |entry| entry.bytes)
}

#[cfg(test)]
mod tests {
    use ferrio_plan::Generator;

    use super::*;

    fn share(bytes: u64, percent: u32) -> BlockShare {
        BlockShare { bytes, percent }
    }

    #[test]
    fn a_draw_belongs_to_the_entry_that_the_quotients_give_it() {
        for largest in [u64::from(u32::MAX), u64::MAX] {
            let shares = [share(1, 20), share(2, 30), share(3, 90)];
            let entries = entries(&shares, largest);
            for (percent, share) in [20, 50, 140].into_iter().zip(&shares) {
                let belongs = |r: u64| r / percent <= largest / 100;
                let last = entries.iter().find(|entry| entry.bytes == share.bytes).unwrap().last;
                assert!(belongs(last), "{percent}");
                assert!(last == largest || !belongs(last + 1), "{percent}");
            }
        }
    }

    #[test]
    fn a_size_without_room_leaves_its_draws_to_the_next_that_fits() {
        let entries = entries(&[share(65536, 20), share(16384, 30), share(4096, 50)], u64::from(u32::MAX));
        assert_eq!([0, 20_000].map(|room| pick(&entries, 0, room)), [4096, 16384]);
        assert_eq!(pick(&entries, 0, 1 << 20), 65536);
        assert_eq!(pick(&entries, u64::from(u32::MAX), 1 << 20), 4096);
    }

    #[test]
    fn lengths_are_redrawn_until_they_fit() {
        let block = BlockSizes { min: 4096, max: 65536, align: 4096 };
        let shares = [share(4096, 1), share(65536, 99)];
        let mut lengths = Lengths::new(&block, &shares, false, Stream::new(Generator::Tausworthe32, 1));
        assert_eq!(lengths.next(4096), Some(4096));
        assert_eq!(lengths.next(4095), None);
    }

    #[test]
    fn a_size_without_a_share_is_never_waited_for() {
        let block = BlockSizes { min: 4096, max: 8192, align: 4096 };
        let mut lengths =
            Lengths::new(&block, &[share(8192, 100)], false, Stream::new(Generator::Tausworthe32, 1));
        assert_eq!((lengths.next(8192), lengths.next(4096)), (Some(8192), None));
    }
}
