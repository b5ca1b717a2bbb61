//! Logs that a run writes, and logs and traces that it replays.

mod bandwidth_log;
mod block_traces;
mod compressed;
mod failures;
mod files;
mod iolog;
mod replay;
