//! Runs that something breaks or ends early: the report is complete and true, and so is the status.

mod complete_output;
mod faults;
mod half_way;
mod memory;
pub mod process_limits;
mod signals;
mod signals_at_random;
