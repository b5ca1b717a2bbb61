//! Calls to the kernel and the C library that take `unsafe` code and belong to no engine: the scheduling of threads, signals, programs
//! that jobs start, mapped files that become shorter, and settings of the process.
//!
//! Everything here is safe to call, except for [`syscall::call`] and the accesses of [`sigbus`].

mod calls;
pub mod futexes;
pub mod heap;
pub mod programs;
pub mod sigbus;
mod sleep;
pub mod stdout;
pub mod syscall;

pub use calls::{
    exit_at_once, flush_buffers, inherited_socket, keep_ended_children, run_when_idle, set_io_priority,
    set_memory_policy, set_write_hint, wait_for_signal,
};
pub use sleep::sleep;
