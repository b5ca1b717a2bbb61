//! The log as the output of tests of databases and of scripts.

use std::fmt;
use std::sync::Arc;

use ferrio_oltp::Output;

use crate::log::{Level, Log};

/// Writes to the log.
#[derive(Clone)]
pub struct LogOutput(pub Arc<Log>);

impl fmt::Debug for LogOutput {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("LogOutput")
    }
}

impl Output for LogOutput {
    fn notice(&self, line: &str) {
        // In sysbench, scripts print these lines, whatever the verbosity.
        self.0.always(&format!("{line}\n"));
    }

    fn warning(&self, message: &str) {
        self.0.line(Level::Warning, message);
    }

    fn fatal(&self, message: &str) {
        self.0.line(Level::Fatal, message);
    }
}
