//! Errors of single I/Os that do not end a job.

use crate::choice::choices;

/// `continue_on_error` and `ignore_error`: errnos per class; a class without any tolerates nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tolerance {
    /// Of reads.
    pub read: Vec<i32>,
    /// Of writes, trims and syncs.
    pub write: Vec<i32>,
    /// Of verification: a mismatch is EILSEQ.
    pub verify: Vec<i32>,
    /// `error_dump`: report each tolerated error.
    pub dump: bool,
}

choices! {
    /// `continue_on_error`: the classes of errors that do not end a job.
    pub enum ContinueOnError default None {
        None: "none", "End at the first error";
        Read: "read", "Go on after failed reads";
        Write: "write", "Go on after failed writes";
        Io: "io", "Go on after failed reads and writes";
        Verify: "verify", "Go on after wrong data";
        All: "all", "Go on after all of these";
        = None: "0";
        = All: "1";
    }
}

impl Tolerance {
    /// True when some error is tolerated; then the report counts them.
    #[must_use]
    pub fn any(&self) -> bool {
        !(self.read.is_empty() && self.write.is_empty() && self.verify.is_empty())
    }

    /// True for an error that does not end the job; `is_read` tells reads from everything else.
    #[must_use]
    pub fn tolerates(&self, errno: i32, is_read: bool) -> bool {
        let class = match errno {
            libc::EILSEQ => &self.verify,
            _ if is_read => &self.read,
            _ => &self.write,
        };
        class.contains(&errno)
    }
}
