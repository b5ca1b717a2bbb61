//! Chooses the I/Os that are sent with a priority of their own: `cmdprio_percentage`, `cmdprio_bssplit`.

use ferrio_job::{Direction, JobSpec, PerDirection, PriorityShare};

use crate::pass_stream::PassStream;
use crate::random::{Generator, Scale};
use crate::seeds::{self, SEEDS, thread_seeds};

/// Draws the priorities of a job's I/Os.
#[derive(Clone, Debug)]
pub struct PriorityChoice {
    own: u16,
    shares: PerDirection<Vec<PriorityShare>>,
    draws: PassStream,
    percent: Scale,
}

impl PriorityChoice {
    /// `None` for a job all of whose I/Os have its own priority. `entropy` is that of [`crate::Workload::new`].
    #[must_use]
    pub fn new(spec: &JobSpec, entropy: [u64; SEEDS]) -> Option<Self> {
        if !spec.priorities.are_chosen() {
            return None;
        }
        let seed = thread_seeds(spec, entropy)[seeds::PRIORITY];
        // 32 bits wide whatever `random_generator`.
        let draws = PassStream::new(spec, Generator::Tausworthe32, seed);
        Some(PriorityChoice {
            own: spec.priorities.own_bits(),
            shares: spec.priorities.shares.clone(),
            percent: draws.stream.scale(100),
            draws,
        })
    }

    /// The kernel's number of the priority of the next I/O. Like in fio, nothing is drawn where no share applies.
    pub fn next(&mut self, direction: Direction, len: u64) -> u16 {
        let applies = |share: &&PriorityShare| share.bytes.is_none_or(|bytes| bytes == len);
        let mut shares = self.shares[direction].iter().filter(applies).peekable();
        if shares.peek().is_none() {
            return self.own;
        }
        let mut number = self.draws.stream.below(self.percent);
        for share in shares {
            match number.checked_sub(share.percent.into()) {
                None => return share.priority.bits(),
                Some(rest) => number = rest,
            }
        }
        self.own
    }

    /// Begins another pass, like [`crate::Workload::begin_pass`].
    pub fn begin_pass(&mut self) {
        self.draws.begin_pass();
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::{IoPriority, Seeding};

    use super::*;
    use crate::tests::support::job;

    const OWN: u16 = 0x4002;

    fn choice(reads: &[(u64, u8, u16)], writes: &[(u64, u8, u16)], seeding: Seeding) -> PriorityChoice {
        let shares = |list: &[(u64, u8, u16)]| {
            let share = |&(bytes, percent, bits): &(u64, u8, u16)| PriorityShare {
                bytes: (bytes > 0).then_some(bytes),
                percent,
                priority: IoPriority::from_bits(bits),
            };
            list.iter().map(share).collect()
        };
        let mut spec = job();
        spec.seeding = seeding;
        spec.priorities.own = Some(IoPriority::from_bits(OWN));
        spec.priorities.shares = PerDirection([shares(reads), shares(writes), Vec::new()]);
        PriorityChoice::new(&spec, [0; SEEDS]).unwrap()
    }

    #[test]
    fn the_default_stream_chooses_what_fio_chooses() {
        // Of the 64 reads of 4k of a job with cmdprio_percentage=40, those that fio sends with the priority.
        let chosen = [
            0, 2, 3, 5, 10, 13, 16, 18, 22, 23, 24, 25, 28, 32, 33, 35, 36, 38, 41, 44, 46, 47, 51, 53, 60,
            61,
        ];
        let mut choice = choice(&[(0, 40, 0x4003)], &[(0, 40, 0x4003)], Seeding::Repeatable);
        for pass in 0..2 {
            for at in 0..64 {
                let want = if chosen.contains(&at) { 0x4003 } else { OWN };
                assert_eq!(choice.next(Direction::Read, 4096), want, "read {at} of pass {pass}");
            }
            choice.begin_pass();
        }
    }

    #[test]
    fn a_stream_with_a_seed_of_its_own_goes_on_from_pass_to_pass() {
        let mut choice = choice(&[(0, 50, 0x4003)], &[], Seeding::Fixed(7));
        let mut pass = || {
            let all: Vec<_> = (0..64).map(|_| choice.next(Direction::Read, 512)).collect();
            choice.begin_pass();
            all
        };
        assert_ne!(pass(), pass());
    }

    #[test]
    fn directions_and_sizes_without_a_share_draw_nothing() {
        // fio's numbers are 1, 70, 20, 7, 70, 33, 61.
        let reads = [(8192, 40, 0x4001), (8192, 30, 0x6002), (4096, 20, 0x4007)];
        let mut choice = choice(&reads, &[], Seeding::Repeatable);
        let mut next = |direction, len| choice.next(direction, len);
        assert_eq!(next(Direction::Read, 4096), 0x4007);
        assert_eq!(next(Direction::Write, 4096), OWN);
        assert_eq!(next(Direction::Trim, 4096), OWN);
        assert_eq!(next(Direction::Read, 512), OWN);
        assert_eq!(next(Direction::Read, 8192), OWN, "70 is not below 40 + 30");
        assert_eq!(next(Direction::Read, 8192), 0x4001);
        assert_eq!(next(Direction::Read, 4096), 0x4007);
        assert_eq!(next(Direction::Read, 8192), OWN);
        assert_eq!(next(Direction::Read, 4096), OWN);
        assert_eq!(next(Direction::Read, 8192), 0x6002);
    }

    #[test]
    fn a_job_without_shares_has_no_choice() {
        assert!(PriorityChoice::new(&job(), [0; SEEDS]).is_none());
    }
}
