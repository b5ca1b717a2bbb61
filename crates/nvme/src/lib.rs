//! NVMe passthrough to the character device of a namespace: commands, namespace properties, and status codes.
//!
//! Facts are from the NVMe Base and NVM Command Set specifications and from the kernel's `nvme_ioctl.h`. All but [`Namespace::of`] are
//! plain functions.

mod command;
mod namespace;
mod needs;
mod status;

pub use command::{Command, PASSTHROUGH, PASSTHROUGH_VECTORED, Range, RwFlags, opcode};
pub use namespace::{GuardFormat, Namespace, NamespaceError, ProtectionFormat};
pub use needs::{NamespaceNeeds, NamespaceObstacle};
pub use status::Status;
