//! The draws of a stream in batches: the same numbers as one by one, at a third of the cost.
//!
//! Each component of [`Tausworthe32`] is linear: its states obey a recurrence that adds a few earlier ones. So a batch is made from earlier batches
//! by additions alone, several states at once, whereas the generator itself waits for each state before the next.

use crate::prefetch::BATCH;
use crate::stream::{Scale, Stream, Tausworthe32, Tausworthe64};

/// Most states that a recurrence reaches back.
const HISTORY: usize = 4 * BATCH;
/// States of a component that are kept; when they are full, the last [`HISTORY`] move to the front.
const KEPT_STATES: usize = 3 * HISTORY;
/// States made at once: no recurrence reaches back less far.
const RUN: usize = 16;

/// A stream that is read in batches.
#[derive(Clone, Debug)]
pub struct Batches(BatchedStream);

#[derive(Clone, Debug)]
enum BatchedStream {
    Tausworthe32(Box<NarrowBatches>),
    Tausworthe64(Tausworthe64),
}

/// The states of the components of a [`Tausworthe32`].
#[derive(Clone, Debug)]
struct NarrowBatches {
    /// Makes the first states.
    generator: Tausworthe32,
    states: [[u32; KEPT_STATES]; 3],
    at: usize,
}

impl Batches {
    /// The draws of `stream`.
    #[must_use]
    pub fn new(stream: Stream) -> Self {
        Batches(match stream {
            Stream::Tausworthe32(generator) => BatchedStream::Tausworthe32(Box::new(NarrowBatches {
                generator,
                states: [[0; KEPT_STATES]; 3],
                at: 0,
            })),
            Stream::Tausworthe64(generator) => BatchedStream::Tausworthe64(generator),
        })
    }

    /// Restarts from `seed` with the same width.
    pub fn reseed(&mut self, seed: u64) {
        match &mut self.0 {
            BatchedStream::Tausworthe32(narrow) => {
                narrow.generator = Tausworthe32::new(seed);
                narrow.at = 0;
            }
            BatchedStream::Tausworthe64(generator) => *generator = Tausworthe64::new(seed),
        }
    }

    /// Fills a batch with raw draws.
    pub fn fill(&mut self, draws: &mut [u64; BATCH]) {
        match &mut self.0 {
            BatchedStream::Tausworthe32(narrow) => {
                for (draw, sum) in draws.iter_mut().zip(narrow.next()) {
                    *draw = u64::from(sum);
                }
            }
            BatchedStream::Tausworthe64(generator) => {
                let mut state = generator.clone();
                draws.fill_with(|| state.draw());
                *generator = state;
            }
        }
    }

    /// Fills a batch with draws below a count that was prepared for the stream (see [`Stream::scale`]).
    pub fn fill_below(&mut self, count: Scale, draws: &mut [u64; BATCH]) {
        match &mut self.0 {
            BatchedStream::Tausworthe32(narrow) => count.pick_all_narrow(&narrow.next(), draws),
            BatchedStream::Tausworthe64(generator) => {
                let mut state = generator.clone();
                draws.fill_with(|| count.pick_wide(state.draw()));
                *generator = state;
            }
        }
    }
}

impl NarrowBatches {
    #[inline(always)]
    fn next(&mut self) -> [u32; BATCH] {
        if self.at >= KEPT_STATES {
            self.states.iter_mut().for_each(|states| states.copy_within(KEPT_STATES - HISTORY.., 0));
            self.at = HISTORY;
        }
        let at = self.at;
        let [a, b, c] = &mut self.states;
        if at < HISTORY {
            for place in at..at + BATCH {
                self.generator.draw();
                [a[place], b[place], c[place]] = self.generator.0;
            }
        } else {
            // Found by searching for sums of few powers of each component's step that are the identity; the tests compare all of them with
            // the generator.
            extend(a, at, [24, 48, 72, 124]);
            extend(b, at, [54, 58]);
            extend(c, at, [16, 28, 33, 36, 42, 44]);
        }
        let mut sums = [0; BATCH];
        for states in [a, b, c] {
            for (sum, state) in sums.iter_mut().zip(&states[at..at + BATCH]) {
                *sum ^= state;
            }
        }
        self.at += BATCH;
        sums
    }
}

/// Makes a batch of states from `at` on, each the sum of those at these distances before it.
#[inline(always)]
fn extend<const N: usize>(states: &mut [u32; KEPT_STATES], at: usize, lags: [usize; N]) {
    for run in (at..at + BATCH).step_by(RUN) {
        let mut sums = [0; RUN];
        for lag in lags {
            for (sum, state) in sums.iter_mut().zip(&states[run - lag..run - lag + RUN]) {
                *sum ^= state;
            }
        }
        states[run..run + RUN].copy_from_slice(&sums);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Generator;

    proptest! {
        #[test]
        fn batches_are_the_draws_one_by_one(seed: u64, other: u64, wide: bool, n: u64, shift in 0u32..64, count in 1usize..40) {
            let kind = if wide { Generator::Tausworthe64 } else { Generator::Tausworthe32 };
            let mut stream = Stream::new(kind, seed);
            let mut batches = Batches::new(stream.clone());
            let mut batch = [0; BATCH];
            let scale = stream.scale(n >> shift);
            for number in 0..2 * count {
                if number == count {
                    stream.reseed(other);
                    batches.reseed(other);
                }
                let expected: Vec<u64> = if number % 3 == 0 {
                    batches.fill_below(scale, &mut batch);
                    (0..BATCH).map(|_| stream.below(scale)).collect()
                } else {
                    batches.fill(&mut batch);
                    (0..BATCH).map(|_| stream.draw()).collect()
                };
                prop_assert_eq!(&batch[..], &expected, "batch {}", number);
            }
        }
    }
}
