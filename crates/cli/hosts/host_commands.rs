//! The commands that start the agents: ssh, or what the user says.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use ferrio_hosts::{Carrier as _, Ends};
use nix::sys::resource::{Resource, setrlimit};

/// The place of the host's name in the command of `--via`.
const HOST_PLACE: &str = "{host}";

/// The agent, as it is called on each host.
const AGENT: &str = "ferrio agent";

/// Descriptors that a host takes: three pipes, and one of a file that is just being opened.
const DESCRIPTORS_OF_HOST: u64 = 4;

/// Descriptors of everything else.
const OTHER_DESCRIPTORS: u64 = 100;

/// Raises the soft limit on open files to the hard limit if so many hosts need that.
pub fn raise_limit(hosts: usize) {
    let needed = (hosts as u64).saturating_mul(DESCRIPTORS_OF_HOST).saturating_add(OTHER_DESCRIPTORS);
    if let Some((soft, hard)) = ferrio_machine::open_file_limits()
        && soft < needed
    {
        // If it is still too low, the hosts without descriptors are named.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
}

/// Starts the agent of a host.
///
/// # Errors
/// The command cannot be started here.
pub fn start(host: &str, via: Option<&str>) -> io::Result<Ends> {
    let mut command = match via {
        None => ssh(host),
        Some(via) => shell(&via.replace(HOST_PLACE, &quoted(host))),
    };
    // A Ctrl-C is for the coordinator, which tells the agents itself.
    command.process_group(0);
    command.split()
}

/// ssh with the user's configuration. It may not ask for a password: a thousand could not be answered.
fn ssh(host: &str) -> Command {
    let mut command = Command::new("ssh");
    command.args(["-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5", "--", host, AGENT]);
    command
}

fn shell(via: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{via} {AGENT}")]);
    command
}

/// One word of a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./-_".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_one_word_of_the_shell() {
        assert_eq!(quoted("root@node-1.example:22"), "root@node-1.example:22");
        assert_eq!(quoted("a b;c"), "'a b;c'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
