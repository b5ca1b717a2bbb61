//! Tests of the machine that need no jobs: the speed of checksums and of copying memory, and the CPUs' clocks.
//!
//! Their output has the form of fio's, so that scripts can read both.

mod checksums;
mod clocks;
mod copies;
mod measure;

pub use checksums::checksums;
pub use clocks::clocks;
pub use copies::copies;
