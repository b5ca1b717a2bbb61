//! The life cycle of a job: which jobs it waits for, which it ends, which errors it tolerates, and the commands before and after it.

use std::ops::Range;

use crate::choice::choices;

/// The order of jobs, `exitall`, and commands before and after a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LifeCycle {
    /// `wait_for`: indices in the plan of the jobs that must have ended before this one starts; all are smaller than its own.
    pub wait_for: Range<usize>,
    /// `exitall`: a job that ends also ends others. If one job of the run sets it, it applies to all.
    pub exitall: bool,
    /// `exitall_on_error`: when this job ends with an error it ends others too.
    pub exitall_on_error: bool,
    /// `exit_what`: the jobs that this one ends.
    pub exit_what: ExitWhat,
    /// True if the job ends when all other jobs have ended: its engine only generates load for them.
    pub ends_with_others: bool,
    /// `exec_prerun`: shell command that every clone runs before its I/O.
    pub exec_prerun: Option<String>,
    /// `exec_postrun`: shell command that every clone runs after its I/O.
    pub exec_postrun: Option<String>,
    /// True if an include file of the job does not exist and fio's behaviour applies: the job then fails after its first I/O.
    pub fails_after_first_io: bool,
}

impl LifeCycle {
    /// True when a command runs before or after the job.
    #[must_use]
    pub fn runs_commands(&self) -> bool {
        self.exec_prerun.is_some() || self.exec_postrun.is_some()
    }
}

choices! {
    /// Which other jobs end when a job ends.
    pub enum ExitWhat default Group {
        /// All jobs of the group, including those that have not started.
        Group: "group", "Jobs of the same group";
        /// All running jobs; those that have not started still run.
        Stonewall: "stonewall", "Jobs up to the next stonewall";
        /// All running jobs and those that have not started.
        All: "all", "All jobs";
    }
}

/// `continue_on_error` and `ignore_error`: errnos per class; a class without any tolerates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tolerance {
    /// Errors of reads.
    pub read: Vec<i32>,
    /// Errors of writes, trims and syncs.
    pub write: Vec<i32>,
    /// Errors of verification: a mismatch is EILSEQ.
    pub verify: Vec<i32>,
    /// `error_dump`: report each tolerated error.
    pub reports_each: bool,
}

choices! {
    /// `continue_on_error`: the classes of errors that do not end a job.
    pub enum ContinueOnError default None {
        None: "none", "Stop at the first error";
        Read: "read", "Continue after failed reads";
        Write: "write", "Continue after failed writes";
        Io: "io", "Continue after failed reads and writes";
        Verify: "verify", "Continue after verification failures";
        All: "all", "Continue after all of these";
        = None: "0";
        = All: "1";
    }
}

impl Tolerance {
    /// True when some error is tolerated; then the report counts them.
    #[must_use]
    pub fn tolerates_any(&self) -> bool {
        !(self.read.is_empty() && self.write.is_empty() && self.verify.is_empty())
    }

    /// True for an error that does not end the job; `is_read` tells reads from everything else.
    #[must_use]
    pub fn tolerates(&self, errno: i32, is_read: bool) -> bool {
        self.class(errno, is_read).contains(&errno)
    }

    /// True if the job tolerates some errors of the class of `errno`, even if not `errno` itself. fio counts all errors of such a class.
    #[must_use]
    pub fn has_class_of(&self, errno: i32, is_read: bool) -> bool {
        !self.class(errno, is_read).is_empty()
    }

    fn class(&self, errno: i32, is_read: bool) -> &[i32] {
        match errno {
            libc::EILSEQ => &self.verify,
            _ if is_read => &self.read,
            _ => &self.write,
        }
    }
}
