//! `rate` and `rate_iops`: when the next I/O of a direction is due, and which direction a mix takes meanwhile.
//!
//! The schedule is absolute: after a stall a job catches up in a burst. All times are ns since the job's epoch, which is the
//! start of I/O or the end of the ramp.

use ferrio_plan::{Direction, JobSpec};

use crate::arrivals::Arrivals;
use crate::seeds::{SEEDS, thread_seeds};

/// Schedule of a job with rate limits.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// Bytes per second, 0 for no limit.
    rate: [u64; 3],
    /// ns between two I/Os of a direction that is limited in I/Os and not in bytes, 0 for others.
    step_ns: [u64; 3],
    /// Random gaps instead of the even ones.
    arrivals: Option<Box<Arrivals>>,
    /// Smallest blocks in bytes.
    block: [u64; 3],
    issued: [u64; 3],
    due_ns: [u64; 3],
    /// The job is a mix in which both directions have a share.
    switches: bool,
}

impl Pacer {
    /// The schedule of `spec`, `None` when no direction it uses is limited.
    ///
    /// A limit in I/Os per second is one in bytes: so many of the smallest blocks. Larger blocks of a range thus make fewer I/Os.
    /// Only blocks of a split are counted one by one.
    ///
    /// `entropy` as in [`crate::Workload::new`].
    #[must_use]
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Option<Self> {
        let rate = Direction::ALL.map(|d| match spec.rates.bytes[d] {
            _ if !spec.rw.does(d) => 0,
            0 => spec.rates.iops[d].saturating_mul(spec.block[d].min),
            bytes => bytes,
        });
        let switches = spec.rw.is_mixed() && (1..100).contains(&spec.rwmixread);
        let step_ns = Direction::ALL.map(|d| match spec.rates.iops[d] {
            iops if iops > 0 && !spec.split[d].is_empty() => 1_000_000 / iops * 1000,
            _ => 0,
        });
        let block = Direction::ALL.map(|d| spec.block[d].min);
        let arrivals = || Box::new(Arrivals::new(spec, rate, thread_seeds(spec, entropy)));
        rate.iter().any(|&r| r > 0).then(|| Pacer {
            rate,
            step_ns,
            arrivals: spec.rates.poisson.then(arrivals),
            block,
            issued: [0; 3],
            due_ns: [0; 3],
            switches,
        })
    }

    /// When the next I/O of this direction may be issued, in ns since the epoch; 0 for a direction without a limit.
    #[inline]
    #[must_use]
    pub fn due_ns(&self, direction: Direction) -> u64 {
        self.due_ns[direction as usize]
    }

    /// Direction of the next I/O when `direction` was chosen at `now_ns`, and how many ns to wait before it.
    ///
    /// In a mix a direction that is not due gives way to the other: at once if that one is due, else to whichever is due first.
    #[inline]
    #[must_use]
    pub fn choose(&self, direction: Direction, now_ns: u64) -> (Direction, u64) {
        let due = self.due_ns(direction);
        if due <= now_ns {
            return (direction, 0);
        }
        let other = if direction == Direction::Read { Direction::Write } else { Direction::Read };
        if self.switches && self.due_ns(other) < due {
            return (other, self.due_ns(other).saturating_sub(now_ns));
        }
        (direction, due - now_ns)
    }

    /// An I/O of `len` bytes was issued in this direction.
    #[inline]
    pub fn issued(&mut self, direction: Direction, len: u32) {
        let d = direction as usize;
        let rate = self.rate[d];
        if rate == 0 {
            return;
        }
        if let Some(arrivals) = &mut self.arrivals {
            self.due_ns[d] = self.due_ns[d].saturating_add(arrivals.gap_ns(d));
            return;
        }
        if self.step_ns[d] > 0 {
            self.due_ns[d] += self.step_ns[d];
            return;
        }
        self.issued[d] += u64::from(len);
        let ns = u128::from(self.issued[d]) * 1_000_000_000 / u128::from(rate);
        self.due_ns[d] = u64::try_from(ns).unwrap_or(u64::MAX);
    }

    /// The job paused for `ns`, which `rate_ignore_thinktime` takes out of its schedule: as much as would have been issued
    /// meanwhile counts as issued.
    pub fn paused(&mut self, ns: u64) {
        for (d, issued) in self.issued.iter_mut().enumerate() {
            let bytes = u128::from(self.rate[d]) * u128::from(ns) / 1_000_000_000;
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            if self.arrivals.is_some() {
                self.due_ns[d] = self.due_ns[d].saturating_add(ns);
            }
            // The I/O that follows at once is one of those.
            *issued = issued.saturating_add(bytes.checked_sub(self.block[d]).unwrap_or(bytes));
        }
    }

    /// Another pass begins: random gaps start again if the job repeats.
    pub fn begin_pass(&mut self) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.begin_pass();
        }
    }

    /// A new epoch begins (end of the ramp): nothing was issued since.
    pub fn restart(&mut self) {
        self.issued = [0; 3];
        self.due_ns = [0; 3];
    }
}

#[cfg(test)]
mod tests {
    use ferrio_plan::{BlockShare, JobSpec, PerDirection, ReadWrite};

    use super::*;
    use crate::testing::{job, set_block};

    fn mixed(read: u64, write: u64) -> JobSpec {
        let mut spec = job();
        spec.rw = ReadWrite::Mixed;
        spec.rates.bytes = PerDirection([read, write, 0]);
        spec
    }

    #[test]
    fn a_job_without_rates_has_no_pacer() {
        assert!(Pacer::new(&job(), [0; SEEDS]).is_none());
        let mut spec = mixed(0, 1000);
        spec.rw = ReadWrite::Read;
        assert!(Pacer::new(&spec, [0; SEEDS]).is_none());
    }

    #[test]
    fn iops_of_a_range_limit_bytes_in_smallest_blocks() {
        let mut spec = job();
        spec.rates.iops = PerDirection([1000, 0, 0]);
        set_block(&mut spec, 4096, 16384);
        let mut pacer = Pacer::new(&spec, [0; SEEDS]).unwrap();
        assert_eq!(pacer.choose(Direction::Read, 0), (Direction::Read, 0));
        pacer.issued(Direction::Read, 4096);
        assert_eq!(pacer.due_ns(Direction::Read), 1_000_000);
        pacer.issued(Direction::Read, 16384);
        assert_eq!(pacer.due_ns(Direction::Read), 5_000_000);
        assert_eq!(pacer.choose(Direction::Read, 4_999_000), (Direction::Read, 1000));
        assert_eq!(pacer.choose(Direction::Read, 9_000_000), (Direction::Read, 0));
    }

    #[test]
    fn iops_of_a_split_limit_its_ios_whatever_their_size() {
        let mut spec = job();
        spec.rates.iops = PerDirection([3000, 0, 0]);
        set_block(&mut spec, 4096, 65536);
        spec.split.0[0] = [4096, 65536].map(|bytes| BlockShare { bytes, percent: 50 }).to_vec();
        let mut pacer = Pacer::new(&spec, [0; SEEDS]).unwrap();
        pacer.issued(Direction::Read, 65536);
        assert_eq!(pacer.due_ns(Direction::Read), 333_000);
        pacer.issued(Direction::Read, 4096);
        assert_eq!(pacer.due_ns(Direction::Read), 666_000);
    }

    #[test]
    fn a_pause_that_is_not_caught_up_with_moves_the_schedule() {
        let mut spec = job();
        spec.rates.iops = PerDirection([1000, 0, 0]);
        let mut pacer = Pacer::new(&spec, [0; SEEDS]).unwrap();
        pacer.issued(Direction::Read, 4096);
        assert_eq!(pacer.due_ns(Direction::Read), 1_000_000);
        pacer.paused(5_000_000);
        assert_eq!(pacer.due_ns(Direction::Read), 1_000_000, "the next one is overdue");
        pacer.issued(Direction::Read, 4096);
        assert_eq!(pacer.due_ns(Direction::Read), 6_000_000);
        pacer.paused(500_000);
        pacer.issued(Direction::Read, 4096);
        assert_eq!(pacer.due_ns(Direction::Read), 7_500_000);
    }

    #[test]
    fn random_arrivals_come_when_fios_do_and_keep_the_mean() {
        let mut spec = job();
        spec.rates.iops = PerDirection([1000, 0, 0]);
        spec.rates.poisson = true;
        let mut pacer = Pacer::new(&spec, [0; SEEDS]).unwrap();
        let mut next = || {
            pacer.issued(Direction::Read, 4096);
            pacer.due_ns(Direction::Read) / 1000
        };
        let first: Vec<u64> = (0..8).map(|_| next()).collect();
        // Recorded from fio, where each I/O goes a little late.
        for (due, seen) in first.iter().zip([2345, 2820, 3129, 4190, 7944, 9475, 10290, 10608_u64]) {
            assert!(*due <= seen && due + 110 > seen, "{first:?}");
        }
        let last = (8..20_000).map(|_| next()).last().unwrap();
        assert!((19_500_000..20_500_000).contains(&last), "{last}");
        pacer.begin_pass();
        pacer.restart();
        pacer.issued(Direction::Read, 4096);
        assert_eq!(pacer.due_ns(Direction::Read) / 1000, first[0]);
    }

    #[test]
    fn a_mix_switches_to_the_direction_that_is_due_first() {
        let mut pacer = Pacer::new(&mixed(1_000_000, 2_000_000), [0; SEEDS]).unwrap();
        pacer.issued(Direction::Read, 4000);
        assert_eq!(pacer.choose(Direction::Read, 0), (Direction::Write, 0));
        pacer.issued(Direction::Write, 4000);
        assert_eq!(pacer.choose(Direction::Read, 1_500_000), (Direction::Write, 500_000));
        assert_eq!(pacer.choose(Direction::Write, 1_500_000), (Direction::Write, 500_000));
        assert_eq!(pacer.choose(Direction::Read, 5_000_000), (Direction::Read, 0));
    }

    #[test]
    fn a_mix_of_all_reads_never_switches() {
        let mut spec = mixed(1_000_000, 0);
        spec.rwmixread = 100;
        let mut pacer = Pacer::new(&spec, [0; SEEDS]).unwrap();
        pacer.issued(Direction::Read, 1000);
        assert_eq!(pacer.choose(Direction::Read, 0), (Direction::Read, 1_000_000));
    }

    #[test]
    fn a_day_at_full_speed_does_not_overflow_and_a_restart_forgets_it() {
        let mut pacer = Pacer::new(&mixed(10 << 30, 0), [0; SEEDS]).unwrap();
        pacer.issued[0] = (10 << 30) * 86_400;
        pacer.issued(Direction::Read, 0);
        assert_eq!(pacer.due_ns(Direction::Read), 86_400_000_000_000);
        pacer.restart();
        assert_eq!(pacer.due_ns(Direction::Read), 0);
    }
}
