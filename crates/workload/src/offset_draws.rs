//! The random numbers of offsets, drawn one by one beside the workload: `--debug=random` reports them as fio does.

use ferrio_job::{Distribution, JobSpec, RandomOrder, RwPostfix};

use crate::offset_space::generator_of_offsets;
use crate::pass_stream::PassStream;
use crate::seeds::{OFFSET, SEEDS, thread_seeds};

/// The draws of a job. The workload makes its own in batches; these are the same.
#[derive(Clone, Debug)]
pub struct OffsetDraws(PassStream);

impl OffsetDraws {
    /// The draws of a job that makes one for each of its I/Os; `None` for other jobs.
    #[must_use]
    pub fn of(spec: &JobSpec, entropy: [u64; SEEDS]) -> Option<Self> {
        let draws_each = spec.rw.is_random()
            && spec.rw_postfix == RwPostfix::None
            && spec.random_order == RandomOrder::Drawn
            && spec.distribution == Distribution::Uniform
            && spec.percentage_random.0.iter().all(|&percent| percent == 100);
        let seed = thread_seeds(spec, entropy)[OFFSET];
        draws_each.then(|| OffsetDraws(PassStream::new(spec, generator_of_offsets(spec), seed)))
    }

    /// Begins a pass over the files.
    pub fn begin_pass(&mut self) {
        self.0.begin_pass();
    }

    /// The next draw.
    pub fn draw(&mut self) -> u64 {
        self.0.stream.draw()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offset_space::offset_stream;
    use crate::tests::support::job;
    use ferrio_job::ReadWrite;

    #[test]
    fn each_pass_repeats_the_draws_that_pick_the_offsets() {
        let mut spec = job();
        spec.rw = ReadWrite::RandWrite;
        let mut draws = OffsetDraws::of(&spec, [0; SEEDS]).unwrap();
        let first: [u64; 3] = std::array::from_fn(|_| draws.draw());
        draws.begin_pass();
        assert_eq!(std::array::from_fn(|_| draws.draw()), first);
        let mut expected = offset_stream(&spec, thread_seeds(&spec, [0; SEEDS])[OFFSET]);
        assert_eq!(first[0], expected.draw());
        spec.rw = ReadWrite::Write;
        assert!(OffsetDraws::of(&spec, [0; SEEDS]).is_none());
    }
}
