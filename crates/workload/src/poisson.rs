//! `rate_process=poisson`: gaps between I/Os that are exponentially distributed around the one that the rate asks for.
//!
//! fio computes whole µs from whole µs, which makes every gap half a µs too short on average: at 100 000 I/Os a second the rate is
//! 5 % too high, at 700 000 it is more than doubled, and a rate in bytes is taken for one in smallest blocks however large the
//! blocks are. Where that costs less than one in a thousand the gaps are fio's to the µs; elsewhere the same draws are scaled to the
//! gap that was asked for, in ns.

use ferrio_job::{Direction, JobSpec};

use crate::random::T88;
use crate::seeds::{self, SEEDS};

/// Largest error of the mean for which the gaps are fio's.
const TOLERANCE: f64 = 0.001;

/// The gaps of each direction.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    streams: [T88; 3],
    means: [Mean; 3],
    /// Seeds to start again from at each pass, if the job repeats.
    restart: Option<[u64; 3]>,
}

/// Mean gap of one direction.
#[derive(Clone, Copy, Debug)]
enum Mean {
    /// As fio: whole µs, cut.
    Micros(u32),
    /// ns for each I/O.
    PerIo(f64),
    /// ns for each byte.
    PerByte(f64),
}

impl Mean {
    fn new(spec: &JobSpec, direction: Direction) -> Self {
        let (bytes, ios) = (spec.rates.bytes[direction], spec.rates.iops[direction]);
        let block = &spec.block[direction];
        let varies = block.min != block.max || !spec.split[direction].is_empty();
        let (exact, gap_ns, whole_ios) = match bytes {
            0 if ios == 0 => return Mean::PerIo(0.0),
            0 => (Mean::PerIo(1e9 / ios as f64), 1e9 / ios as f64, ios),
            bytes => {
                let per_byte = 1e9 / bytes as f64;
                (Mean::PerByte(per_byte), per_byte * block.min as f64, bytes / block.min.max(1))
            }
        };
        let Some(micros) = 1_000_000_u64.checked_div(whole_ios) else { return exact };
        // Cutting a fraction of µs takes half of one on average.
        let fios_ns = (micros as f64 - 0.5) * 1000.0;
        if (gap_ns - fios_ns).abs() > TOLERANCE * gap_ns || (bytes > 0 && varies) {
            return exact;
        }
        Mean::Micros(micros as u32)
    }
}

impl Arrivals {
    /// Gaps for the rates of `spec`.
    pub(crate) fn new(spec: &JobSpec, seeds: [u64; SEEDS]) -> Self {
        let seeds = seeds::ARRIVAL.map(|purpose| seeds[purpose]);
        Arrivals {
            streams: seeds.map(T88::new),
            means: Direction::ALL.map(|direction| Mean::new(spec, direction)),
            restart: seeds::restarts_each_pass(spec).then_some(seeds),
        }
    }

    /// The gap after an I/O of `len` bytes, in ns.
    pub(crate) fn gap_ns(&mut self, d: usize, len: u32) -> u64 {
        let unit = (f64::from(self.streams[d].draw()) + 1.0) / 4_294_967_296.0;
        let mean_ns = match self.means[d] {
            // fio's single precision.
            Mean::Micros(mean) => return (mean as f32 * -(unit as f32).ln()) as u64 * 1000,
            Mean::PerIo(ns) => ns,
            Mean::PerByte(ns) => ns * f64::from(len),
        };
        (mean_ns * -unit.ln()).round() as u64
    }

    /// Begins another pass.
    pub(crate) fn begin_pass(&mut self) {
        if let Some(seeds) = self.restart {
            self.streams = seeds.map(T88::new);
        }
    }
}
