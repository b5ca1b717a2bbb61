//! One invocation of a script.

use std::fmt;
use std::sync::Arc;

use ferrio_oltp::{RandomOptions, Target, UniqueNumbers};

use crate::Script;

/// An invocation of a script, which its threads share.
pub struct ScriptRun {
    /// The script.
    pub script: Script,
    /// The command, if one was given.
    pub command: Option<String>,
    /// The words of the command line, from the name of the program.
    pub words: Vec<String>,
    /// Standard output has a document: what scripts print goes to standard error.
    pub stdout_is_reserved: bool,
    /// The random numbers of all threads.
    pub random: RandomOptions,
    /// Random numbers of which none comes twice.
    pub unique: UniqueNumbers,
    /// A thread draws one random number more after each event, as sysbench does when it counts latencies in its histogram.
    pub extra_draw: bool,
    /// The database, to which nobody connects unless the script does.
    pub target: Arc<Target>,
    /// Writes a message about a failure.
    pub fatal: Box<dyn Fn(&str) + Send + Sync>,
}

impl fmt::Debug for ScriptRun {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ScriptRun").field("script", &self.script).finish_non_exhaustive()
    }
}
