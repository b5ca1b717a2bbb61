//! The random choices of a job: fio's generators, the conversion of a draw to a number, and the seeds of a job's streams; and the generator
//! of sysbench.
//!
//! Nothing here knows jobs or files: a seed and a count go in, numbers come out, the same as fio's or sysbench's on every machine.
#![forbid(unsafe_code)]

mod batches;
mod prefetch;
mod seeds;
mod stream;
mod xoroshiro;

pub use ferrio_job::Generator;

pub use batches::Batches;
pub use prefetch::{BATCH, Prefetch};
pub use seeds::{DEFAULT_SEED, SEEDS, host_seed, job_seeds, purpose};
pub use stream::{Scale, Stream, Tausworthe32, Tausworthe64};
pub use xoroshiro::Xoroshiro;
