//! Groups of jobs that do their I/Os in fixed proportions.

use std::time::Duration;

/// `flow` and the options below it: the group of jobs that do I/Os in fixed proportions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// `flow_id`: jobs with one id are a group.
    pub id: u32,
    /// `flow`: I/Os of this job in proportion to the weights of the others, 1..=1000.
    pub weight: u32,
    /// `flow_sleep`: how long to sleep while other jobs are due; zero to poll.
    pub sleep: Duration,
}
