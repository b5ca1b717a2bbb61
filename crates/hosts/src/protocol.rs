//! The version of the conversation.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The version that this program speaks.
pub const PROTOCOL: ProtocolVersion = ProtocolVersion { major: 1, minor: 0 };

/// Versions of one major number understand each other: a newer minor number only adds messages and fields, which the other end leaves out
/// and ignores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProtocolVersion {
    /// Changes when a message changes its meaning.
    pub major: u32,
    /// Changes when a message or a field is added.
    pub minor: u32,
}

impl ProtocolVersion {
    /// Whether a conversation between both versions is possible.
    #[must_use]
    pub const fn understands(self, other: ProtocolVersion) -> bool {
        self.major == other.major
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
