//! The whole program from outside: what it prints, writes, returns and asks of the kernel, side by side with real fio.
//!
//! Needs `fio` and `strace` on the machine (`apt-get install fio strace`); only the tests with hosts of their own need root, and all of them
//! remove their files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::disallowed_methods)]

// First, because the other modules use its macro.
#[macro_use]
mod requirements;

mod beside_fio;
mod called_fio;
mod command_line;
mod commands;
mod database;
mod docs;
mod engines;
mod failures;
mod hosts;
mod jobs;
mod live;
mod logs;
mod loop_device;
mod one_file;
mod random_numbers;
mod reports;
mod schemas;
#[macro_use]
mod sql;
mod support;
mod sysbench;
mod verify;
