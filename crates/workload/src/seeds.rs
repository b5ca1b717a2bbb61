//! The 24 seeds of a job, one for each purpose that consumes random numbers.
//!
//! Runs compare and replay only when these numbers are fio's own, so the table is fixed; numbers that have no name here belong
//! to features that draw their own streams elsewhere or not at all.

use ferrio_plan::{JobSpec, Seeding};

/// Number of seeds of a job.
pub const SEEDS: usize = 24;

/// Length of reads; writes and trims follow.
pub(crate) const LENGTH: [usize; 3] = [0, 1, 2];
/// Bodies of blocks that are verified.
pub(crate) const BLOCK: usize = 3;
/// Read or write in a mix.
pub(crate) const MIX: usize = 4;
/// Random offsets.
pub(crate) const OFFSET: usize = 6;
/// Contents of buffers.
pub(crate) const CONTENT: usize = 9;

/// Range of `startdelay`.
pub(crate) const DELAY: usize = 13;

/// The default of `randseed`.
const DEFAULT_SEED: u64 = 0x89;

/// The seeds of one job. They depend on `randseed` and on the job's number, so clones differ but repeat.
///
/// `entropy` is returned as it is for `randrepeat=0` without `randseed`, and ignored otherwise.
#[must_use]
pub fn thread_seeds(spec: &JobSpec, entropy: [u64; SEEDS]) -> [u64; SEEDS] {
    const P: u64 = 0x9e37_0001;
    let seed = match spec.seeding {
        Seeding::Repeatable => DEFAULT_SEED,
        Seeding::Fixed(seed) => seed,
        Seeding::FromSystem => return entropy,
    };
    let mut q = seed.wrapping_mul(P.wrapping_pow(4));
    let mut seeds = [0; SEEDS];
    for (i, slot) in (0u64..).zip(&mut seeds) {
        *slot = q.wrapping_mul(u64::from(spec.number)).wrapping_add(i);
        q = q.wrapping_mul(P);
    }
    seeds
}

/// True when every stream starts again with each further pass.
pub(crate) fn restarts_each_pass(spec: &JobSpec) -> bool {
    spec.seeding == Seeding::Repeatable
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::job;

    #[test]
    fn the_default_seeds_of_the_first_two_jobs_are_fios() {
        let mut spec = job();
        let seeds = thread_seeds(&spec, [0; SEEDS]);
        assert_eq!(seeds[0], 5_942_511_153_023_025_289);
        assert_eq!(seeds[4], 2_501_048_522_732_208_269);
        assert_eq!(seeds[6], 6_803_328_749_335_347_343);
        assert_eq!(seeds[9], 15_955_825_128_535_949_458);
        assert_eq!(seeds[23], 2_435_071_312_708_042_912);
        spec.number = 2;
        assert_eq!(thread_seeds(&spec, [0; SEEDS])[6], 13_606_657_498_670_694_680);
    }

    #[test]
    fn entropy_is_used_only_when_the_system_seeds() {
        let mut spec = job();
        let entropy = std::array::from_fn(|i| i as u64 + 100);
        spec.seeding = Seeding::Fixed(0x89);
        assert_ne!(thread_seeds(&spec, entropy), entropy);
        spec.seeding = Seeding::FromSystem;
        assert_eq!(thread_seeds(&spec, entropy), entropy);
    }
}
