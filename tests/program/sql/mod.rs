//! Databases: the drivers, and what runs on them.

// First, because the other modules use its macro.
#[macro_use]
pub mod servers;

mod drivers;
mod import_status;
mod oltp;
