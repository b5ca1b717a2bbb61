//! The whole program from outside: what it prints, writes, returns and asks of the kernel, side by side with real fio.
//!
//! Needs `fio` and `strace` on the machine (`apt-get install fio strace`); no test needs root or leaves anything behind.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod articles;
mod bad_input;
mod buffers;
mod check;
mod choices;
mod clients;
mod command_line;
mod command_line_answers;
mod command_line_debug;
mod command_line_shell;
mod command_line_status;
mod diagnostics;
mod differential;
mod engines;
mod failures;
mod files;
mod iolog;
mod json_document;
mod lifecycle;
mod logs;
mod offload;
mod openmetrics;
mod own_jobs;
mod parsing_like_fio;
mod reference;
mod response;
mod restraints;
mod rules;
mod same_io;
mod signals;
mod steadystate;
mod support;
mod syscalls;
mod terse;
mod text_report;
mod verify;
