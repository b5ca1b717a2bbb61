//! Private options of engines, one file for each engine that is here.

mod absent;
mod io_uring;
mod libaio;
mod mmap;
mod pvsync2;

pub(super) use absent::ROWS as ABSENT;
pub(super) use io_uring::ROWS as IO_URING;
pub(super) use libaio::ROWS as LIBAIO;
pub(super) use mmap::ROWS as MMAP;
pub(super) use pvsync2::ROWS as PVSYNC2;
