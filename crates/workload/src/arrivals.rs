//! `rate_process=poisson`: gaps between I/Os that are exponentially distributed around the one that the rate asks for.

use ferrio_plan::{Direction, JobSpec};

use crate::random::T88;
use crate::seeds::{self, SEEDS};

/// The gaps of each direction.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    streams: [T88; 3],
    /// Mean gap in µs, 0 for a direction without a limit.
    mean_us: [u64; 3],
    /// Seeds to start again from at each pass, if the job repeats.
    restart: Option<[u64; 3]>,
}

impl Arrivals {
    /// Gaps for directions limited to so many bytes per second.
    pub(crate) fn new(spec: &JobSpec, rate: [u64; 3], seeds: [u64; SEEDS]) -> Self {
        let seeds = seeds::ARRIVAL.map(|purpose| seeds[purpose]);
        let mean = |d: Direction| {
            1_000_000_u64.checked_div(rate[d as usize] / spec.block[d].min.max(1)).unwrap_or(0)
        };
        Arrivals {
            streams: seeds.map(T88::new),
            mean_us: Direction::ALL.map(mean),
            restart: seeds::restarts_each_pass(spec).then_some(seeds),
        }
    }

    /// The gap after an I/O, in ns; fio computes in single precision and whole µs.
    pub(crate) fn gap_ns(&mut self, d: usize) -> u64 {
        let unit = (f64::from(self.streams[d].draw()) + 1.0) / 4_294_967_296.0;
        let gap_us = self.mean_us[d] as f32 * -(unit as f32).ln();
        gap_us as u64 * 1000
    }

    /// Begins another pass.
    pub(crate) fn begin_pass(&mut self) {
        if let Some(seeds) = self.restart {
            self.streams = seeds.map(T88::new);
        }
    }
}
