//! Verification: what was written is read back and checked, and a changed byte is found and named.

mod backlog;
mod crash_consistency;
mod damage;
mod dump;
mod generated_jobs;
pub mod reading_back;
mod state;
mod threads;
