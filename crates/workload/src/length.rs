//! How long an I/O is: a fixed size, or drawn from a range.

use ferrio_plan::BlockSizes;

use crate::random::{Scale, Stream};

/// Lengths of one direction. `min` and `max` are in bytes.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    pub(crate) min: u32,
    max: u32,
    /// Clears what exceeds a multiple of `min`, if that is a power of two.
    mask: Option<u64>,
    /// The stream to draw from; none for a fixed size, which draws nothing.
    stream: Option<(Stream, Scale)>,
}

impl Lengths {
    /// Lengths within `block`, whose bounds are known to fit 32 bits.
    pub(crate) fn new(block: &BlockSizes, stream: Stream) -> Self {
        let scale = stream.scale(block.max);
        let stream = (block.min != block.max).then_some((stream, scale));
        let mask = block.min.is_power_of_two().then(|| !(block.min - 1));
        Lengths { min: block.min as u32, max: block.max as u32, mask, stream }
    }

    /// Starts the stream again.
    pub(crate) fn reseed(&mut self, seed: u64) {
        if let Some((stream, _)) = &mut self.stream {
            stream.reseed(seed);
        }
    }

    /// The next length when `room` bytes are left to the end of the region, `None` when not even the smallest fits.
    ///
    /// A fixed size is not held to the region: only the end of the file bounds it, as with fio.
    #[inline]
    pub(crate) fn next(&mut self, room: u64) -> Option<u32> {
        let Some((stream, scale)) = &mut self.stream else {
            return Some(self.min);
        };
        if room < u64::from(self.min) {
            return None;
        }
        let min = u64::from(self.min);
        loop {
            let drawn = min + stream.below(*scale);
            let whole = if let Some(mask) = self.mask { drawn & mask } else { drawn - drawn % min };
            let len = whole.min(u64::from(self.max));
            if len <= room {
                return Some(len as u32);
            }
        }
    }
}
