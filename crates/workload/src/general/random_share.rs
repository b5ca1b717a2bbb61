//! Which I/Os of a random job go to a random offset: `rw=rand...:N` and `percentage_random`.

use ferrio_job::{Direction, Generator, PerDirection, Sequencer};

use crate::random::{Scale, Stream};

/// `rw=rand...:N`: a random offset every N I/Os.
#[derive(Clone, Copy, Debug)]
pub(super) struct Every {
    pub(super) period: u32,
    pub(super) left: u32,
    pub(super) sequencer: Sequencer,
}

impl Every {
    #[inline]
    pub(super) fn fires(&mut self) -> bool {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.period;
            return true;
        }
        false
    }
}

/// `percentage_random`: a share of the I/Os of each direction; the others go on where the last one ended.
#[derive(Clone, Debug)]
pub(super) struct Share {
    percent: PerDirection<u32>,
    /// All three begin alike; the draws of one direction do not depend on the others.
    streams: PerDirection<Stream>,
    hundred: Scale,
}

impl Share {
    /// `None` when all I/Os of all directions are random.
    pub(super) fn new(percent: &PerDirection<u32>, seed: u64) -> Option<Self> {
        if percent.0.iter().all(|&percent| percent >= 100) {
            return None;
        }
        let stream = Stream::new(Generator::Tausworthe32, seed);
        let hundred = stream.scale(100);
        let streams = PerDirection([stream.clone(), stream.clone(), stream]);
        Some(Share { percent: *percent, streams, hundred })
    }

    #[inline]
    pub(super) fn fires(&mut self, direction: Direction) -> bool {
        let percent = self.percent[direction];
        percent >= 100 || self.streams[direction].below(self.hundred) < u64::from(percent)
    }

    /// Starts the streams again.
    pub(super) fn reseed(&mut self, seed: u64) {
        self.streams.0.iter_mut().for_each(|stream| stream.reseed(seed));
    }
}
