//! The length of an I/O: a fixed size, drawn from a range, or drawn from sizes with shares.

use ferrio_job::{BlockShare, BlockSizes};

use crate::random::{BATCH, Batches, Scale, Stream};

/// Lengths of one direction. `min` and `max` are in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// The smallest length that is ever drawn: sizes without a share count for `min` only.
    least: u64,
    /// The drawn lengths; `None` for a fixed size, which draws nothing.
    drawn: Option<Box<DrawnLengths>>,
}

/// A length, and the number of smallest blocks that it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Length {
    pub(crate) bytes: u64,
    pub(crate) blocks: u64,
}

/// Lengths drawn ahead.
#[derive(Clone, Debug)]
struct DrawnLengths {
    at: usize,
    /// The lengths that the draws select while there is room for the largest.
    lengths: [Length; BATCH],
    draws: [u64; BATCH],
    stream: Batches,
    choice: LengthChoice,
    bounds: LengthBounds,
}

/// The conversion of a draw to a length before rounding.
#[derive(Clone, Debug)]
enum LengthChoice {
    Range(Scale),
    Split(Vec<LengthShare>, ShortSplit),
}

/// Up to four entries of a split, for draws with room for all: a draw up to a limit selects the entry at the same index, a larger one the
/// last.
#[derive(Clone, Copy, Debug)]
struct ShortSplit {
    limits: [u64; 3],
    lengths: [Length; 4],
}

/// A size for draws up to `last`, if it fits and no earlier entry was taken.
#[derive(Clone, Copy, Debug)]
struct LengthShare {
    last: u64,
    bytes: u64,
    /// The rounded size.
    length: Length,
}

/// The rounding of drawn lengths.
#[derive(Clone, Copy, Debug)]
struct LengthBounds {
    min: u64,
    max: u64,
    /// Number of bits of a smallest block, if that is a power of two.
    shift: Option<u32>,
    /// Whether lengths are not rounded to a multiple of `min` (`bs_unaligned`).
    unaligned: bool,
}

impl Lengths {
    /// Lengths within `block`; with `shares`, only these.
    pub(crate) fn new(block: &BlockSizes, shares: &[BlockShare], unaligned: bool, stream: Stream) -> Self {
        let (min, max) = (block.min, block.max);
        let bounds = LengthBounds {
            min,
            max,
            shift: min.is_power_of_two().then_some(min.trailing_zeros()),
            unaligned,
        };
        let least = shares.iter().map(|share| share.bytes).min().unwrap_or(block.min);
        let least = bounds.settle(least).bytes;
        let drawn = (min != max).then(|| {
            let choice = match shares {
                [] => LengthChoice::Range(stream.scale(block.max)),
                shares => {
                    let entries = entries(shares, stream.largest(), bounds);
                    let few = ShortSplit::new(&entries);
                    LengthChoice::Split(entries, few)
                }
            };
            let (lengths, draws) = ([Length::default(); BATCH], [0; BATCH]);
            Box::new(DrawnLengths { at: BATCH, lengths, draws, stream: Batches::new(stream), choice, bounds })
        });
        Lengths { min, max, least, drawn }
    }

    /// Restarts the stream.
    pub(crate) fn reseed(&mut self, seed: u64) {
        if let Some(drawn) = &mut self.drawn {
            drawn.stream.reseed(seed);
            drawn.at = BATCH;
        }
    }

    /// The next length if `room` bytes are left to the end of the region; `None` if not even the smallest fits.
    ///
    /// A fixed size may leave the region: only the end of the file limits it, as in fio.
    #[inline]
    pub(crate) fn next(&mut self, room: u64) -> Option<u64> {
        self.next_in(room).map(|length| length.bytes)
    }

    /// Like [`Lengths::next`], with the number of smallest blocks.
    #[inline(always)]
    pub(crate) fn next_in(&mut self, room: u64) -> Option<Length> {
        let Some(drawn) = &mut self.drawn else {
            return Some(Length { bytes: self.min, blocks: 1 });
        };
        if room < self.max {
            return if room < self.least { None } else { Some(drawn.next_below(room)) };
        }
        Some(drawn.next())
    }
}

impl Lengths {
    /// The next length if there is room for any.
    #[inline(always)]
    pub(crate) fn next_fitting(&mut self) -> Length {
        match &mut self.drawn {
            None => Length { bytes: self.min, blocks: 1 },
            Some(drawn) => drawn.next(),
        }
    }
}

impl DrawnLengths {
    /// The next length if any fits.
    #[inline(always)]
    fn next(&mut self) -> Length {
        if self.at >= BATCH {
            self.draw();
            self.at = 0;
        }
        let length = self.lengths[self.at];
        self.at += 1;
        length
    }

    /// Draws until a length fits.
    #[cold]
    #[inline(never)]
    fn next_below(&mut self, room: u64) -> Length {
        loop {
            let mut length = self.next();
            if let LengthChoice::Split(entries, _) = &self.choice {
                length = pick(entries, self.draws[self.at - 1], room);
            }
            if length.bytes <= room {
                return length;
            }
        }
    }

    /// Draws the next batch.
    #[cold]
    #[inline(never)]
    fn draw(&mut self) {
        match &self.choice {
            LengthChoice::Range(scale) => {
                self.stream.fill_below(*scale, &mut self.draws);
                let bounds = self.bounds;
                for (length, &draw) in self.lengths.iter_mut().zip(&self.draws) {
                    *length = bounds.settle(bounds.min + draw);
                }
            }
            // The limits ascend: counting those below a draw needs no branch, which would be mispredicted.
            LengthChoice::Split(entries, few) if entries.len() <= few.lengths.len() => {
                self.stream.fill(&mut self.draws);
                for (length, &draw) in self.lengths.iter_mut().zip(&self.draws) {
                    let [a, b, c] = few.limits.map(|limit| usize::from(limit < draw));
                    *length = few.lengths[a + b + c];
                }
            }
            LengthChoice::Split(entries, _) => {
                self.stream.fill(&mut self.draws);
                for (length, &draw) in self.lengths.iter_mut().zip(&self.draws) {
                    let place: usize = entries.iter().map(|entry| usize::from(entry.last < draw)).sum();
                    *length = entries[place.min(entries.len() - 1)].length;
                }
            }
        }
    }
}

impl ShortSplit {
    fn new(entries: &[LengthShare]) -> Self {
        let last = entries.len().saturating_sub(1);
        let limits = std::array::from_fn(|at| if at < last { entries[at].last } else { u64::MAX });
        let lengths =
            std::array::from_fn(|at| entries.get(at.min(last)).map_or(Length::default(), |e| e.length));
        ShortSplit { limits, lengths }
    }
}

impl LengthBounds {
    /// A drawn length, rounded and within the bounds.
    #[inline]
    fn settle(self, drawn: u64) -> Length {
        let min = self.min;
        let whole = match self.shift {
            _ if self.unaligned => drawn,
            Some(shift) => drawn >> shift << shift,
            None => drawn - drawn % min,
        };
        let bytes = whole.min(self.max);
        let blocks = match self.shift {
            Some(shift) => (bytes + min - 1) >> shift,
            None => bytes.div_ceil(min),
        };
        Length { bytes, blocks }
    }
}

/// The entries of a split: fio computes for each draw `r` of at most `largest`, `r / cumulated share <= largest / 100` in whole numbers,
/// here solved for `r`.
fn entries(shares: &[BlockShare], largest: u64, bounds: LengthBounds) -> Vec<LengthShare> {
    let hundredth = u128::from(largest / 100);
    let mut percent = 0;
    let entry = |share: &BlockShare| {
        percent += u128::from(share.percent);
        let last = ((hundredth + 1) * percent - 1).min(u128::from(largest));
        LengthShare { last: last as u64, bytes: share.bytes, length: bounds.settle(share.bytes) }
    };
    shares.iter().map(entry).collect()
}

/// The size that a draw selects; the last one if no other fits.
#[inline]
fn pick(entries: &[LengthShare], drawn: u64, room: u64) -> Length {
    let taken = entries.iter().find(|entry| drawn <= entry.last && entry.bytes <= room);
    taken.or(entries.last()).map_or(Length::default(), |entry| entry.length)
}

#[cfg(test)]
mod tests {
    use ferrio_job::Generator;

    use super::*;

    const BOUNDS: LengthBounds = LengthBounds { min: 1, max: u64::MAX, shift: Some(0), unaligned: false };

    fn share(bytes: u64, percent: u32) -> BlockShare {
        BlockShare { bytes, percent }
    }

    #[test]
    fn a_draw_belongs_to_the_entry_that_the_quotients_give_it() {
        for largest in [u64::from(u32::MAX), u64::MAX] {
            let shares = [share(1, 20), share(2, 30), share(3, 90)];
            let entries = entries(&shares, largest, BOUNDS);
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
        let entries =
            entries(&[share(65536, 20), share(16384, 30), share(4096, 50)], u64::from(u32::MAX), BOUNDS);
        let pick = |entries: &[LengthShare], drawn, room| pick(entries, drawn, room).bytes;
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
