//! The commands that start the agents: ssh, or what the user says.

use std::io;
use std::process::Command;
use std::sync::mpsc::Receiver;

use ferrio_hosts::{Carrier as _, Ends, UserRequest};
use nix::sys::resource::{Resource, setrlimit};

use super::program_copy;
use super::shell_word::quoted;
use crate::settings::HostSettings;

/// The place of the host's name in the command of `--via`.
pub const HOST_PLACE: &str = "{host}";

/// How ferrio is called on each host, if the user does not say.
const FERRIO: &str = "ferrio";

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

/// Starts the agent of each host, or says why there is none. `stop` ends the wait for a copy of the program.
#[must_use]
pub fn start(hosts: &[String], wanted: &HostSettings, stop: &Receiver<UserRequest>) -> Vec<io::Result<Ends>> {
    if wanted.copy {
        let shells = hosts.iter().map(|host| run(host, wanted, "sh")).collect();
        return program_copy::agents_of(shells, ferrio(wanted), stop);
    }
    let agent = format!("{} agent", ferrio(wanted));
    hosts.iter().map(|host| run(host, wanted, &agent)).collect()
}

fn ferrio(wanted: &HostSettings) -> &str {
    wanted.ferrio.as_deref().unwrap_or(FERRIO)
}

/// Runs a command of the shell on a host.
fn run(host: &str, wanted: &HostSettings, command: &str) -> io::Result<Ends> {
    let command = match &wanted.via {
        None => ssh(host, command),
        Some(via) => shell(&format!("{} {command}", via.replace(HOST_PLACE, &quoted(host)))),
    };
    command.split()
}

/// ssh with the user's configuration, except for what would disturb a conversation: terminals, questions such as that for a password, which
/// nobody could answer for a thousand hosts, and ports that are forwarded for sessions. `ssh: connect to host ...: Connection timed out`
/// says more than that there was no sign of life.
fn ssh(host: &str, remote: &str) -> Command {
    let mut command = Command::new("ssh");
    command.args([
        "-T",
        "-x",
        "-o",
        "BatchMode=yes",
        "-o",
        "ClearAllForwardings=yes",
        "-o",
        "ConnectTimeout=30",
    ]);
    command.args(["-o", "ServerAliveInterval=5", "--", host, remote]);
    command
}

fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    command
}

/// What to do about an agent that did not start, for the reason that the command gave; `None` if the user did not want it any more.
#[must_use]
pub fn advice(host: &str, wanted: &HostSettings, reason: &str) -> Option<String> {
    if reason == program_copy::ENDED {
        return None;
    }
    let lacks_ferrio =
        ["command not found", "No such file", "not found"].iter().any(|words| reason.contains(words));
    if lacks_ferrio && reason.contains("ferrio") {
        let advice = "install ferrio there in the PATH of commands without a terminal, name it with --ferrio-path=/opt/bin/ferrio, or \
                      send this program along with --copy";
        return Some(advice.to_owned());
    }
    let command = match &wanted.via {
        None => format!("ssh -o BatchMode=yes {}", quoted(host)),
        Some(via) => via.replace(HOST_PLACE, &quoted(host)),
    };
    Some(format!("this must print a version: {command} {} --version", ferrio(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_depends_on_what_the_command_said() {
        let wanted =
            |via: Option<&str>| HostSettings { via: via.map(str::to_owned), ..HostSettings::default() };
        let advice = |host: &str, wanted: &HostSettings, reason: &str| advice(host, wanted, reason).unwrap();
        let lacking = advice("n1", &wanted(None), "bash: line 1: ferrio: command not found");
        assert!(lacking.contains("--copy") && lacking.contains("--ferrio-path"), "{lacking}");
        assert_eq!(
            advice("n1", &wanted(None), "Permission denied (publickey)."),
            "this must print a version: ssh -o BatchMode=yes n1 ferrio --version"
        );
        let pod = advice("a b", &wanted(Some("kubectl exec -i {host} --")), "pods \"a b\" not found");
        assert_eq!(pod, "this must print a version: kubectl exec -i 'a b' -- ferrio --version");
    }
}
