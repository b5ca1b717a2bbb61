//! Runs on many hosts.

// First, because the other modules use its macro.
#[macro_use]
mod cluster;
mod check;
mod client_server;
mod job_options;
mod launchers;
mod reaching_hosts;
mod ssh;

// What goes wrong, and who is kept out.
mod clients;
mod faults;
