//! A random stream that begins again with each pass of a job that repeats.

use ferrio_job::{Generator, JobSpec};

use crate::random::Stream;
use crate::seeds::restarts_each_pass;

/// The stream, and the seed from which each pass restarts it, if the job repeats.
#[derive(Clone, Debug)]
pub(crate) struct PassStream {
    pub(crate) stream: Stream,
    restart: Option<u64>,
}

impl PassStream {
    pub(crate) fn new(spec: &JobSpec, generator: Generator, seed: u64) -> Self {
        let restart = restarts_each_pass(spec).then_some(seed);
        PassStream { stream: Stream::new(generator, seed), restart }
    }

    pub(crate) fn begin_pass(&mut self) {
        if let Some(seed) = self.restart {
            self.stream.reseed(seed);
        }
    }
}
