//! The direction and lengths of a job: one direction or a mix, each with its own lengths.

use ferrio_job::{Direction, Generator, JobSpec, PerDirection};

use crate::length::Lengths;
use crate::offset_space::only_direction;
use crate::random::Stream;
use crate::rwmix::ReadWriteMix;
use crate::seeds::{self, SEEDS};

/// The choice of direction and length.
#[derive(Clone, Debug)]
pub(crate) struct DirectionAndLength {
    only: Direction,
    mix: Option<ReadWriteMix>,
    /// Number of I/Os issued in each direction.
    pub(crate) issued: [u64; 3],
    pub(crate) lengths: PerDirection<Lengths>,
    /// Seeds from which each pass restarts, if the job repeats.
    pub(crate) restart: Option<[u64; SEEDS]>,
}

impl DirectionAndLength {
    /// The choices of a job. `trimwrite` kinds choose the direction themselves.
    pub(crate) fn new(spec: &JobSpec, seeds: &[u64; SEEDS]) -> Self {
        let length = |d: Direction| {
            let stream = Stream::new(spec.generator, seeds[seeds::LENGTH[d as usize]]);
            Lengths::new(&spec.block[d], &spec.split[d], spec.bs_unaligned, stream)
        };
        let mix =
            || ReadWriteMix::new(spec.rwmixread, Stream::new(Generator::Tausworthe32, seeds[seeds::MIX]));
        DirectionAndLength {
            only: only_direction(spec),
            mix: spec.rw.is_mixed().then(mix),
            issued: [0; 3],
            lengths: PerDirection(Direction::ALL.map(length)),
            restart: seeds::restarts_each_pass(spec).then_some(*seeds),
        }
    }

    /// The direction of the next I/O; in a mix `pace` may override it.
    #[inline(always)]
    pub(crate) fn direction(&mut self, mut pace: impl FnMut(Direction) -> Direction) -> Direction {
        match &mut self.mix {
            None => {
                pace(self.only);
                self.only
            }
            Some(mix) => mix.next(&self.issued, pace),
        }
    }

    /// Counts an issued I/O.
    #[inline(always)]
    pub(crate) fn issued(&mut self, direction: Direction) {
        self.issued[direction as usize] += 1;
    }

    /// Begins a pass: streams restart where the job repeats, counts continue.
    pub(crate) fn begin_pass(&mut self) {
        if let Some(mix) = &mut self.mix {
            mix.restart();
        }
        let Some(seeds) = &self.restart else {
            return;
        };
        if let Some(mix) = &mut self.mix {
            mix.reseed(seeds[seeds::MIX]);
        }
        for (lengths, purpose) in self.lengths.0.iter_mut().zip(seeds::LENGTH) {
            lengths.reseed(seeds[purpose]);
        }
    }

    /// Ends the ramp: the counts of issued I/Os restart.
    pub(crate) fn end_ramp(&mut self) {
        self.issued = [0; 3];
        if let Some(mix) = &mut self.mix {
            mix.restart();
        }
    }
}
