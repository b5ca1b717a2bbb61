//! What a job has to do with the other jobs of the run, and with commands around it.

use std::ops::Range;

use crate::choice::choices;

/// Order of jobs, their common end, and commands before and after a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LifeCycle {
    /// `wait_for`: indices in the plan of the jobs that must have ended before this one starts; all are smaller than its own.
    pub wait_for: Range<usize>,
    /// `exitall`: whenever a job of the run ends it ends others too. One job with it switches it on for all.
    pub exitall: bool,
    /// `exitall_on_error`: when this job ends with an error it ends others too.
    pub exitall_on_error: bool,
    /// `exit_what`: the jobs that this one ends.
    pub exit_what: ExitWhat,
    /// `exec_prerun`: shell command that every clone runs before its I/O.
    pub exec_prerun: Option<String>,
    /// `exec_postrun`: shell command that every clone runs after its I/O.
    pub exec_postrun: Option<String>,
}

impl LifeCycle {
    /// True when a command runs before or after the job.
    #[must_use]
    pub fn runs_commands(&self) -> bool {
        self.exec_prerun.is_some() || self.exec_postrun.is_some()
    }
}

choices! {
    /// Which jobs a job takes with it when it ends.
    pub enum ExitWhat default Group {
        /// Also before they start.
        Group: "group", "Jobs of the same group";
        /// All that run; those that have not started will.
        Stonewall: "stonewall", "Jobs up to the next stonewall";
        /// All that run or have not started.
        All: "all", "All jobs";
    }
}
