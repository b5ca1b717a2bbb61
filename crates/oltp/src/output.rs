//! Where texts for the user go.

use std::fmt::Debug;

/// Shows texts, from any thread.
pub trait Output: Debug + Send + Sync {
    /// Shows a line about what is done.
    fn notice(&self, line: &str);
    /// Shows what the user may want to change.
    fn warning(&self, message: &str);
    /// Shows why the run ends.
    fn fatal(&self, message: &str);
}
