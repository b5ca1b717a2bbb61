//! From job files as written to a plan of resolved jobs.
//!
//! This is the only place where the machine is asked what a job needs to know before it runs (file sizes, devices, CPUs). What
//! comes out is plain data, immutable while the run lasts: workers, engines and reports read [`JobSpec`], never the options.
#![forbid(unsafe_code)]

pub mod spec;

pub use spec::*;
