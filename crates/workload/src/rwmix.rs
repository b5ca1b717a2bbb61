//! Chooses between read and write in a mix.

use ferrio_job::Direction;

use crate::random::{Batches, Prefetch, Scale, Stream};

/// The direction of a mix, and the time of its next draw.
///
/// A direction is kept until its own count reaches a threshold, so draws are rare; the share still comes out within half a percent.
#[derive(Clone, Debug)]
pub(crate) struct ReadWriteMix {
    current: Direction,
    threshold: u64,
    read_percent: u64,
    draws: Box<MixDraws>,
}

/// Draws below a hundred, made ahead.
#[derive(Clone, Debug)]
struct MixDraws {
    prefetch: Prefetch,
    stream: Batches,
    hundred: Scale,
}

impl ReadWriteMix {
    /// A mix of `read_percent` (0..=100) reads, drawn from `stream`.
    pub(crate) fn new(read_percent: u32, stream: Stream) -> Self {
        let hundred = stream.scale(100);
        let draws = MixDraws { prefetch: Prefetch::new(), stream: Batches::new(stream), hundred };
        ReadWriteMix {
            current: Direction::Read,
            threshold: 0,
            read_percent: u64::from(read_percent),
            draws: Box::new(draws),
        }
    }

    /// The direction of the next I/O after `issued` reads, writes and trims; `pace` may override it.
    #[inline]
    pub(crate) fn next(&mut self, issued: &[u64; 3], pace: impl FnOnce(Direction) -> Direction) -> Direction {
        let done = issued[self.current as usize];
        if done >= self.threshold {
            let drawn = 1 + self.draws.next();
            let (next, percent) = if drawn <= self.read_percent {
                (Direction::Read, self.read_percent)
            } else {
                (Direction::Write, 100 - self.read_percent)
            };
            if next != self.current {
                self.threshold = done * percent / 100;
                self.current = next;
            }
        }
        self.current = pace(self.current);
        self.current
    }

    /// Restarts the counts at the end of the ramp or the start of a pass.
    pub(crate) fn restart(&mut self) {
        self.threshold = 0;
    }

    /// Restarts the stream.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.draws.stream.reseed(seed);
        self.draws.prefetch.forget();
    }
}

impl MixDraws {
    #[inline]
    fn next(&mut self) -> u64 {
        self.prefetch.next(|draws| self.stream.fill_below(self.hundred, draws))
    }
}
