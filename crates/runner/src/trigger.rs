//! What ends a run from outside: a file that appears, a time that is over; and the command run then.

use std::path::PathBuf;
use std::time::Duration;

/// `--trigger-file`, `--trigger-timeout` and `--trigger`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trigger {
    /// When this file appears it is removed and the trigger fires.
    pub file: Option<PathBuf>,
    /// The trigger fires when the jobs have run for this long.
    pub timeout: Option<Duration>,
    /// Shell command to run once the jobs have ended.
    pub command: Option<String>,
}
