//! How processes that a launcher started as ranks of one run find rank 0, which coordinates the others.
//!
//! [`Meeting`] says where ranks meet: at an address that is stated, that the launcher gives or that follows from the launcher's variables;
//! through the launcher itself (`pmi`); or through a file in a shared directory. [`meet`] brings them together: rank 0 listens and gets
//! a connection for each other rank, the others get one to rank 0. Each connection begins with a `greeting`, and the ordinary conversation
//! of `ferrio-hosts` follows on it.
//!
//! No launcher reports a dead host in useful time, so everything here has time-outs of its own.
#![forbid(unsafe_code)]

mod address;
mod error;
mod gather;
mod gathering;
mod greeting;
mod interruption;
mod join;
mod meet;
mod meeting;
mod meeting_file;
mod pmi;
mod secret;

pub use error::{MeetingError, RendezvousError};
pub use interruption::Interruption;
pub use meet::{Met, meet};
pub use meeting::{Meeting, RankOfRun};
