//! What a job has to do with the other jobs of the run, and with commands around it.

use std::ops::Range;

/// Order of jobs, their common end, and commands before and after a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LifeCycle {
    /// `wait_for`: indices in the plan of the jobs that must have ended before this one starts; all are smaller than its own.
    pub wait_for: Range<usize>,
}
