//! `rate`, `rate_iops` and `rate_process`: the time at which the next I/O of a direction is due, and the direction that a mix takes
//! meanwhile.
//!
//! The schedule is absolute, in whole ns whose rounding errors do not add up: after a stall a job catches up in a burst. Each direction has
//! its own; an I/O is due by the schedule of the direction it is issued in, whatever was chosen first. All times are ns since the job's
//! epoch, which is the start of I/O or the end of the ramp.

use ferrio_job::{Direction, JobSpec};

use crate::random::Tausworthe32;
use crate::seeds::{self, SEEDS, thread_seeds};

const SECOND_NS: u128 = 1_000_000_000;
/// Largest error of the mean for which the gaps are fio's.
const TOLERANCE: f64 = 0.001;

/// The schedule of a job with rate limits.
#[derive(Clone, Debug)]
pub struct RatePacer {
    directions: [Schedule; 3],
    /// Random gaps instead of equal ones.
    arrivals: Option<Box<PoissonGaps>>,
    /// Whether the job is a mix in which both directions have a share.
    switches: bool,
}

/// The schedule of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Schedule {
    /// Units per second, 0 for no limit.
    rate: u64,
    /// Whether a unit is an I/O of any size instead of a byte.
    counts_ios: bool,
    /// Time between two of the smallest I/Os, ns.
    interval_ns: u64,
    /// Units issued.
    issued: u64,
    /// Time by which pauses shifted the schedule, ns.
    shift_ns: u64,
    /// Time at which the next I/O is due.
    due_ns: u64,
}

impl Schedule {
    /// Converts a limit in I/Os per second to one in bytes by the smallest block. Larger blocks of a range thus make fewer I/Os. Only
    /// blocks of a split are counted one by one.
    fn new(spec: &JobSpec, direction: Direction) -> Self {
        if !spec.rw.does(direction) {
            return Schedule::default();
        }
        let (bytes, ios) = (spec.rates.bytes[direction], spec.rates.iops[direction]);
        let smallest = spec.block[direction].min;
        let counts_ios = bytes == 0 && !spec.split[direction].is_empty();
        let rate = match bytes {
            0 if counts_ios => ios,
            0 => ios.saturating_mul(smallest),
            bytes => bytes,
        };
        let schedule = Schedule { rate, counts_ios, ..Schedule::default() };
        Schedule { interval_ns: schedule.ns(if counts_ios { 1 } else { smallest }), ..schedule }
    }

    /// Time for `units`, rounded down; 0 without a limit.
    fn ns(&self, units: u64) -> u64 {
        let ns = (u128::from(units) * SECOND_NS).checked_div(u128::from(self.rate)).unwrap_or(0);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    fn issued(&mut self, len: u64) {
        self.issued += if self.counts_ios { 1 } else { len };
        self.due_ns = self.ns(self.issued).saturating_add(self.shift_ns);
    }

    /// Shifts the schedule by a pause: the I/O that would have been due in the pause is due at its end, as in fio, and the next one follows
    /// an interval later.
    fn paused(&mut self, ns: u64, ended_ns: u64) {
        self.shift_ns = self.shift_ns.saturating_add(ns.checked_sub(self.interval_ns).unwrap_or(ns));
        self.due_ns += ns.min(ended_ns.saturating_sub(self.due_ns));
    }
}

impl RatePacer {
    /// The schedule of `spec`; `None` if no direction in use is limited. `entropy` is that of [`crate::Workload::new`].
    #[must_use]
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Option<Self> {
        let directions = Direction::ALL.map(|direction| Schedule::new(spec, direction));
        let arrivals = || Box::new(PoissonGaps::new(spec, thread_seeds(spec, entropy)));
        directions.iter().any(|schedule| schedule.rate > 0).then(|| RatePacer {
            directions,
            arrivals: spec.rates.poisson.then(arrivals),
            switches: spec.rw.is_mixed() && (1..100).contains(&spec.rwmixread),
        })
    }

    /// Whether I/Os of this direction have a time at which they are due.
    #[inline]
    #[must_use]
    pub fn limits(&self, direction: Direction) -> bool {
        self.directions[direction as usize].rate > 0
    }

    /// The time at which the next I/O of this direction may be issued, ns since the epoch; 0 for a direction without a limit.
    #[inline]
    #[must_use]
    pub fn due_ns(&self, direction: Direction) -> u64 {
        self.directions[direction as usize].due_ns
    }

    /// The direction of the next I/O if `direction` was chosen at `now_ns`.
    ///
    /// In a mix, a direction that is not due gives way to the other: at once if that one is due, otherwise to the one that is due first.
    #[inline]
    #[must_use]
    pub fn choose(&self, direction: Direction, now_ns: u64) -> Direction {
        let due = self.due_ns(direction);
        let other = if direction == Direction::Read { Direction::Write } else { Direction::Read };
        if due > now_ns && self.switches && self.due_ns(other) < due {
            return other;
        }
        direction
    }

    /// Counts an issued I/O of `len` bytes in this direction.
    #[inline]
    pub fn issued(&mut self, direction: Direction, len: u64) {
        let schedule = &mut self.directions[direction as usize];
        if schedule.rate == 0 {
            return;
        }
        match &mut self.arrivals {
            None => schedule.issued(len),
            Some(arrivals) => {
                schedule.due_ns = schedule.due_ns.saturating_add(arrivals.gap_ns(direction as usize, len));
            }
        }
    }

    /// Shifts the schedule by a pause from `began_ns` to `ended_ns`, if `rate_ignore_thinktime` says so.
    pub fn paused(&mut self, began_ns: u64, ended_ns: u64) {
        let ns = ended_ns.saturating_sub(began_ns);
        for schedule in self.directions.iter_mut().filter(|schedule| schedule.rate > 0) {
            match self.arrivals {
                None => schedule.paused(ns, ended_ns),
                Some(_) => schedule.due_ns = schedule.due_ns.saturating_add(ns),
            }
        }
    }

    /// Begins another pass: random gaps restart if the job repeats.
    pub fn begin_pass(&mut self) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.begin_pass();
        }
    }

    /// Begins a new epoch at the end of the ramp.
    pub fn restart(&mut self) {
        for schedule in &mut self.directions {
            *schedule = Schedule { issued: 0, shift_ns: 0, due_ns: 0, ..*schedule };
        }
    }
}

/// `rate_process=poisson`: gaps between I/Os that are exponentially distributed around the gap of the rate.
///
/// fio computes whole µs from whole µs, which makes every gap half a µs too short on average: at 100 000 I/Os a second the rate is 5 % too
/// high, at 700 000 it is more than doubled, and a rate in bytes is taken for one in smallest blocks however large the blocks are. Where
/// that costs less than one in a thousand the gaps are fio's to the µs; elsewhere the same draws are scaled to the gap that was asked
/// for, in ns.
#[derive(Clone, Debug)]
struct PoissonGaps {
    streams: [Tausworthe32; 3],
    means: [MeanGap; 3],
    /// Seeds from which each pass restarts, if the job repeats.
    restart: Option<[u64; 3]>,
}

/// The mean gap of one direction.
#[derive(Clone, Copy, Debug)]
enum MeanGap {
    /// Like in fio: whole µs, rounded down.
    Micros(u32),
    /// ns for each I/O.
    PerIo(f64),
    /// ns for each byte.
    PerByte(f64),
}

impl MeanGap {
    fn new(spec: &JobSpec, direction: Direction) -> Self {
        let (bytes, ios) = (spec.rates.bytes[direction], spec.rates.iops[direction]);
        let block = &spec.block[direction];
        let varies = block.min != block.max || !spec.split[direction].is_empty();
        let (exact, gap_ns, whole_ios) = match bytes {
            0 if ios == 0 => return MeanGap::PerIo(0.0),
            0 => (MeanGap::PerIo(1e9 / ios as f64), 1e9 / ios as f64, ios),
            bytes => {
                let per_byte = 1e9 / bytes as f64;
                (MeanGap::PerByte(per_byte), per_byte * block.min as f64, bytes / block.min.max(1))
            }
        };
        let Some(micros) = 1_000_000_u64.checked_div(whole_ios) else { return exact };
        // Rounding down takes half a µs on average.
        let fios_ns = (micros as f64 - 0.5) * 1000.0;
        if (gap_ns - fios_ns).abs() > TOLERANCE * gap_ns || (bytes > 0 && varies) {
            return exact;
        }
        MeanGap::Micros(micros as u32)
    }
}

impl PoissonGaps {
    /// The gaps for the rates of `spec`.
    fn new(spec: &JobSpec, seeds: [u64; SEEDS]) -> Self {
        let seeds = seeds::ARRIVAL.map(|purpose| seeds[purpose]);
        PoissonGaps {
            streams: seeds.map(Tausworthe32::new),
            means: Direction::ALL.map(|direction| MeanGap::new(spec, direction)),
            restart: seeds::restarts_each_pass(spec).then_some(seeds),
        }
    }

    /// The gap after an I/O of `len` bytes, in ns.
    fn gap_ns(&mut self, d: usize, len: u64) -> u64 {
        let unit = (f64::from(self.streams[d].draw()) + 1.0) / 4_294_967_296.0;
        let mean_ns = match self.means[d] {
            // fio's single precision.
            MeanGap::Micros(mean) => return (mean as f32 * -(unit as f32).ln()) as u64 * 1000,
            MeanGap::PerIo(ns) => ns,
            MeanGap::PerByte(ns) => ns * len as f64,
        };
        (mean_ns * -unit.ln()).round() as u64
    }

    fn begin_pass(&mut self) {
        if let Some(seeds) = self.restart {
            self.streams = seeds.map(Tausworthe32::new);
        }
    }
}

#[cfg(test)]
mod tests;
