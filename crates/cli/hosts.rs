//! A run on many hosts: the agent on each host, and the coordinator that has the user. What they say to each other is in `ferrio_hosts`.
//!
//! In fio's words: `server` waits for clients (`listener`, `strangers`, `daemon`), and `client` runs job files on servers: `client_line` says
//! what its command line means, `connect` opens the connections, `client_run` shows what comes. Both have `address`es.
//! `run_on_hosts` does that for `--hosts` and launchers, and `logs_of_hosts` has the logs of both.

mod address;
pub mod agent;
mod agent_run;
mod agent_streams;
pub mod check_on_hosts;
pub mod client;
mod client_line;
mod client_run;
mod connect;
pub mod coordinator;
mod daemon;
mod host_commands;
mod host_texts;
pub mod limits;
mod listener;
mod logs_of_hosts;
mod program_copy;
pub mod ranks;
mod remote_words;
mod run_on_hosts;
pub mod server;
mod shell_word;
mod strangers;
pub mod tls;
mod triggered;
mod voice;
mod watched_hosts;

pub use voice::Voice;
