//! The 24 seeds of a job, one for each purpose that consumes random numbers.
//!
//! Runs compare and replay only if these numbers are fio's own, so the table is fixed; numbers without a name here belong to features that
//! draw their own streams elsewhere or not at all.

/// Number of seeds of a job.
pub const SEEDS: usize = 24;

/// The purpose of each seed: its index in the table.
pub mod purpose {
    /// Length of reads; writes and trims follow.
    pub const LENGTH: [usize; 3] = [0, 1, 2];
    /// Bodies of blocks that are verified.
    pub const BLOCK: usize = 3;
    /// Read or write in a mix.
    pub const MIX: usize = 4;
    /// Choice of files.
    pub const FILE: usize = 5;
    /// Random offsets.
    pub const OFFSET: usize = 6;
    /// Sizes of files.
    pub const FILE_SIZE: usize = 7;
    /// Written blocks that are trimmed.
    pub const BLOCK_TRIM: usize = 8;
    /// Contents of buffers.
    pub const CONTENT: usize = 9;
    /// Random or sequential with `percentage_random`: all directions have this seed.
    pub const SHARE: usize = 10;
    /// Range of `startdelay`.
    pub const DELAY: usize = 13;
    /// Choice of buffers that are duplicates.
    pub const DEDUPE: usize = 14;
    /// The block of the working set that a duplicate copies.
    pub const DEDUPE_PICK: usize = 20;
    /// Arrivals of reads, writes and trims with `rate_process=poisson`.
    pub const ARRIVAL: [usize; 3] = [15, 17, 18];
    /// Zones of `random_distribution=zoned` and `zoned_abs`.
    pub const ZONE: usize = 16;
    /// I/Os that have a priority of their own.
    pub const PRIORITY: usize = 19;
    /// Choice of blocks that `sprandom` writes again.
    pub const SPRANDOM: usize = 22;
}

/// The default of `randseed`.
pub const DEFAULT_SEED: u64 = 0x89;

/// The seed from which the jobs of a host derive theirs, for host number `rank` of a run with this `randseed`. With the same one, all hosts
/// would visit the same blocks of a shared file at the same time, and only the first would not find them in a cache.
#[must_use]
pub const fn host_seed(randseed: u64, rank: u32) -> u64 {
    // An odd factor keeps the hosts apart; the first host has the offsets of a run without others.
    randseed.wrapping_add((rank as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The seeds of the job with this number, from 1, of a run with this `randseed`: clones differ but repeat.
#[must_use]
pub fn job_seeds(randseed: u64, number: u32) -> [u64; SEEDS] {
    const P: u64 = 0x9e37_0001;
    let mut q = randseed.wrapping_mul(P.wrapping_pow(4));
    let mut seeds = [0; SEEDS];
    for (i, slot) in (0u64..).zip(&mut seeds) {
        *slot = q.wrapping_mul(u64::from(number)).wrapping_add(i);
        q = q.wrapping_mul(P);
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_seeds_of_the_first_two_jobs_are_fios() {
        let seeds = job_seeds(DEFAULT_SEED, 1);
        assert_eq!(seeds[0], 5_942_511_153_023_025_289);
        assert_eq!(seeds[4], 2_501_048_522_732_208_269);
        assert_eq!(seeds[6], 6_803_328_749_335_347_343);
        assert_eq!(seeds[9], 15_955_825_128_535_949_458);
        assert_eq!(seeds[23], 2_435_071_312_708_042_912);
        assert_eq!(job_seeds(DEFAULT_SEED, 2)[6], 13_606_657_498_670_694_680);
    }
}
