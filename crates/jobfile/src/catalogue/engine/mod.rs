//! Private options of engines: a file for each engine that ferrio has, and `absent` for fio's other engines.

pub(super) mod absent;
pub(super) mod cpuio;
pub(super) mod e4defrag;
pub(super) mod exec;
pub(super) mod external;
pub(super) mod filestat;
pub(super) mod http;
pub(super) mod io_uring;
pub(super) mod libaio;
pub(super) mod mmap;
pub(super) mod mtd;
pub(super) mod nbd;
pub(super) mod net;
pub(super) mod pvsync2;
pub(super) mod sg;
