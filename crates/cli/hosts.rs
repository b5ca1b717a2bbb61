//! A run on many hosts: the agent on each host, and the coordinator that has the user. What they say to each other is in `ferrio_hosts`.

pub mod agent;
mod agent_run;
mod agent_streams;
pub mod coordinator;
mod host_commands;
mod host_texts;
pub mod ranks;
mod remote_words;
mod run_on_hosts;
mod voice;

pub use voice::Voice;
