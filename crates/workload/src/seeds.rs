//! The seeds of a job, by `randrepeat` and `randseed`.

use ferrio_job::{GeneratorState, JobSpec, Seeding};
use ferrio_random::{DEFAULT_SEED, host_seed, job_seeds};

use crate::offset_space::offset_stream;

pub use ferrio_random::SEEDS;
pub(crate) use ferrio_random::purpose::*;

/// The seeds of one job. They depend on `randseed`, on the host's number and on the job's, so clones differ but repeat.
///
/// `entropy` is returned unchanged for `randrepeat=0` without `randseed`, and ignored otherwise.
#[must_use]
pub fn thread_seeds(spec: &JobSpec, entropy: [u64; SEEDS]) -> [u64; SEEDS] {
    match spec.seeding {
        Seeding::Repeatable => job_seeds(host_seed(DEFAULT_SEED, spec.rank), spec.number),
        Seeding::Fixed(seed) => job_seeds(host_seed(seed, spec.rank), spec.number),
        Seeding::FromSystem => entropy,
    }
}

/// The state of the generator of offsets at the start of each pass, in the form of verify state files.
#[must_use]
pub fn offset_generator(spec: &JobSpec, entropy: [u64; SEEDS]) -> GeneratorState {
    offset_stream(spec, thread_seeds(spec, entropy)[OFFSET]).state()
}

/// Replaces seeds that are shared between purposes.
pub(crate) fn shared(spec: &JobSpec, mut seeds: [u64; SEEDS]) -> [u64; SEEDS] {
    if spec.verify.is_some() {
        // A job that reads repeats the lengths of the job that wrote.
        seeds[LENGTH[1]] = seeds[LENGTH[0]];
    }
    if spec.rw.is_trimwrite() {
        seeds[LENGTH[2]] = seeds[LENGTH[1]];
    }
    seeds
}

/// Whether every stream restarts with each further pass.
pub(crate) fn restarts_each_pass(spec: &JobSpec) -> bool {
    spec.seeding == Seeding::Repeatable
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::support::job;

    #[test]
    fn hosts_draw_other_numbers_and_the_first_those_of_a_run_alone() {
        for seeding in [Seeding::Repeatable, Seeding::Fixed(7)] {
            let seeds = |rank| thread_seeds(&JobSpec { rank, seeding, ..job() }, [0; SEEDS]);
            assert_ne!(seeds(1), seeds(0));
            assert_ne!(seeds(1), seeds(2));
        }
        let first = thread_seeds(&JobSpec { seeding: Seeding::Fixed(7), ..job() }, [0; SEEDS]);
        assert_eq!(first, job_seeds(7, job().number));
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
