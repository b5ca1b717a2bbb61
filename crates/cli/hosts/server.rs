//! `--server`: waits for connections, and starts an agent for each client, a process of its own that has the connection as standard input
//! and output.
//!
//! The server itself reads nothing and runs nothing, so it outlives whatever clients and jobs do. A client that breaks off ends its agent,
//! and a server that ends leaves its agents their jobs.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command};

use ferrio_hosts::Token;
use ferrio_job::{Compat, Diagnostic, FioWords, Origin, reason};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use super::address::Address;
use super::limits::Limits;
use super::listener::{ListenError, Listener};
use super::strangers::{Strangers, Verdict};
use super::{daemon, tls};
use crate::arguments::{Item, values_of};
use crate::compat;
use crate::error::Error;
use crate::messages::{Messages, print_text};
use crate::options::ProgramOption;

/// Agents at the most: each is a process, also before its client has proved who it is.
const MAX_AGENTS: usize = 512;

/// The variable with the token that clients must have.
pub const TOKEN_VARIABLE: &str = "FERRIO_TOKEN";

/// The variable that lets the jobs of clients start programs.
const ALLOW_EXEC_VARIABLE: &str = "FERRIO_ALLOW_EXEC";

/// Options that a server acts on.
const OF_SERVERS: &[ProgramOption] = &[
    ProgramOption::Server,
    ProgramOption::Daemonize,
    ProgramOption::TokenFile,
    ProgramOption::TlsCert,
    ProgramOption::TlsKey,
    ProgramOption::TlsCa,
    ProgramOption::AllowExec,
    ProgramOption::Root,
    ProgramOption::Output,
    ProgramOption::As,
    ProgramOption::MessageFormat,
    ProgramOption::Color,
    ProgramOption::Quiet,
];

/// A server's command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ServerLine {
    address: String,
    pid_file: Option<PathBuf>,
    token_file: Option<PathBuf>,
    tls: Option<[PathBuf; 3]>,
    allows_exec: bool,
    roots: Vec<PathBuf>,
    output: Option<PathBuf>,
}

/// Serves until a signal ends it and the agents have ended.
///
/// # Errors
/// The command line has more than a server needs, or nobody can listen there.
pub fn run(items: &[Item], compat: Compat, messages: Messages) -> Result<u8, Error> {
    let line = ServerLine::read(items, compat)?;
    let token = line.token()?;
    let address = line.address(compat)?;
    let words_of_agents = line.words_of_agents(&address)?;
    let failed = |error: io::Error| ListenError::Bind { shown: String::new(), error }.into_error(compat);
    let (listener, pid_file) = match daemon::inherited(&address).map_err(failed)? {
        Some((listener, pid_file)) => (listener, Some(pid_file)),
        None => (Listener::open(&address).map_err(|error| error.into_error(compat))?, None),
    };
    if pid_file.is_none() {
        let knows_clients = token.is_some() || line.tls.is_some();
        warn_of_strangers(&listener, knows_clients, compat, messages)?;
        if let Some(path) = &line.pid_file {
            return daemon::start(listener, path);
        }
    }
    let signals = watch_signals().map_err(failed)?;
    listener.set_nonblocking().map_err(failed)?;
    line.announce(&listener, compat)?;
    let mut server = Server {
        strangers: Strangers::new(line.tls.is_some()),
        agents: Vec::new(),
        words_of_agents,
        token,
        messages,
    };
    server.serve(listener, &signals).map_err(failed)?;
    drop(pid_file);
    Ok(0)
}

impl ServerLine {
    fn read(items: &[Item], compat: Compat) -> Result<ServerLine, Error> {
        if items.iter().any(|item| item.is(ProgramOption::Client)) {
            let message = "a process is a client or a server: leave out --client or --server";
            let line = "fio: can't be both client and server".to_owned();
            let mistake = Diagnostic::error(message, Origin::Builtin).code("server-option");
            return Err(mistake.in_fio(FioWords::Lines(vec![line])).into());
        }
        let unused = |item: &Item| {
            let (what, origin) = match item {
                Item::Program { option, .. } if OF_SERVERS.contains(option) => return None,
                Item::Program { option, origin, .. } => (format!("option --{option}"), origin.name_origin()),
                Item::Job { name, origin, .. } => (format!("option --{name}"), origin.name_origin()),
                Item::File(name) => (format!("word `{name}`"), Origin::Builtin),
            };
            let mistake = Diagnostic::error(format!("a server has no use for the {what}"), origin);
            Some(
                mistake
                    .code("server-option")
                    .help("clients send jobs and options; write --server=ADDRESS in one word"),
            )
        };
        let unused: Vec<Diagnostic> = items.iter().filter_map(unused).collect();
        if !unused.is_empty() {
            return Err(unused.into());
        }
        let last = |option| values_of(items, option).next_back();
        // An address that is left out does not repeat an earlier one.
        let address = items.iter().rev().find(|item| item.is(ProgramOption::Server));
        let address = address.and_then(|item| item.value_of(ProgramOption::Server)).map(|(value, _)| value);
        Ok(ServerLine {
            address: match address {
                None | Some("") if compat == Compat::Ferrio => "127.0.0.1".to_owned(),
                address => address.unwrap_or_default().to_owned(),
            },
            pid_file: last(ProgramOption::Daemonize).map(PathBuf::from),
            token_file: last(ProgramOption::TokenFile).map(PathBuf::from),
            tls: tls::files_of(items)?,
            allows_exec: items.iter().any(|item| item.is(ProgramOption::AllowExec))
                || std::env::var_os(ALLOW_EXEC_VARIABLE).is_some_and(|value| value == "1"),
            roots: match values_of(items, ProgramOption::Root).map(PathBuf::from).collect::<Vec<_>>() {
                roots if roots.is_empty() && compat == Compat::Ferrio => vec![PathBuf::from(".")],
                roots => roots,
            },
            output: last(ProgramOption::Output).map(PathBuf::from),
        })
    }

    fn address(&self, compat: Compat) -> Result<Address, Error> {
        Address::parse(&self.address).map_err(|error| ListenError::from(error).into_error(compat))
    }

    /// The token that clients must have, for the agents.
    fn token(&self) -> Result<Option<String>, Error> {
        let refused = |place: &str, why: &dyn fmt::Display| {
            Error::refusal("server-token", format!("cannot use the token in {place}: {why}"), None)
        };
        match (&self.token_file, std::env::var(TOKEN_VARIABLE)) {
            (Some(path), _) => {
                let place = path.display().to_string();
                Token::of_file(path).map_err(|error| refused(&place, &error))?;
                let text = fs::read_to_string(path).map_err(|error| refused(&place, &reason(&error)))?;
                Ok(Some(text))
            }
            (None, Ok(text)) if !text.is_empty() => {
                Token::new(text.as_bytes()).map_err(|error| refused(TOKEN_VARIABLE, &error))?;
                Ok(Some(text))
            }
            _ => Ok(None),
        }
    }

    /// What the agents are told about their clients.
    fn words_of_agents(&self, address: &Address) -> Result<Vec<OsString>, Error> {
        let mut words = vec![OsString::from("--for-clients")];
        if let Some(files) = &self.tls {
            if matches!(address, Address::Socket(_)) {
                let message = "there is no TLS over a local socket, which only this user can reach";
                return Err(Error::refusal(
                    "tls",
                    message,
                    Some("leave out --tls-cert, --tls-key and --tls-ca"),
                ));
            }
            // What is wrong with the files is said now, and not to the clients.
            tls::of_files(files.clone())?;
            for (option, file) in tls::OPTIONS.into_iter().zip(files) {
                words.extend([format!("--{option}").into(), file.into()]);
            }
        }
        if self.allows_exec {
            words.push("--allow-exec".into());
        }
        let limits = Limits::new(self.allows_exec, &self.roots).map_err(|(root, error)| {
            let message = format!("--root: {}: {}", root.display(), reason(&error));
            Error::refusal("server-option", message, None)
        })?;
        for root in limits.roots() {
            words.extend(["--root".into(), root.into()]);
        }
        Ok(words)
    }

    /// Says where the server listens: scripts wait for this line.
    fn announce(&self, listener: &Listener, compat: Compat) -> Result<(), Error> {
        let text = format!("{}: server listening on {}\n", compat.word(), listener.shown);
        match &self.output {
            Some(path) => fs::write(path, text)
                .map_err(|error| Error::OpenOutput { name: path.display().to_string(), error }),
            None => print_text(&text).map(drop),
        }
    }
}

/// Says once that anyone may run jobs here. Called `ferrio`, the program listens to other machines only with a token.
fn warn_of_strangers(
    listener: &Listener,
    has_token: bool,
    compat: Compat,
    messages: Messages,
) -> Result<(), Error> {
    if !listener.is_open || has_token {
        return Ok(());
    }
    let shown = &listener.shown;
    if compat == Compat::Ferrio {
        let message = format!("a server on {shown} would run the jobs of anyone who can reach it");
        let help = "give it a token that clients must have with --token-file=FILE, or listen on this machine only with --server";
        return Err(Error::refusal("open-server", message, Some(help)));
    }
    let message = format!(
        "anyone who can reach {shown} may now read and write files as this user; set FERRIO_TOKEN on both sides to close it"
    );
    messages.note(&Diagnostic::note(message).code("open-server"));
    Ok(())
}

impl ListenError {
    fn into_error(self, compat: Compat) -> Error {
        let mut lines = vec![format!("fio: {self}")];
        if let (ListenError::Bind { shown, .. }, Compat::Fio) = (&self, compat)
            && let Some((host, _)) = shown.split_once(',')
        {
            lines.push(format!(
                "fio: failed with {} {host}",
                if host.contains(':') { "IPv6" } else { "IPv4" }
            ));
        }
        let message = match &self {
            ListenError::Bind { shown, error } if !shown.is_empty() => {
                format!("cannot listen on {shown}: {}", reason(error))
            }
            _ => self.to_string(),
        };
        let mistake = Diagnostic::error(message, Origin::Builtin).code("server-address");
        mistake.in_fio(FioWords::Lines(lines)).into()
    }
}

/// The signals that the server waits for, instead of being ended by them.
fn watch_signals() -> io::Result<SignalFd> {
    let signals: SigSet = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGCHLD].into_iter().collect();
    signals.thread_block()?;
    Ok(SignalFd::with_flags(&signals, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?)
}

struct Server {
    strangers: Strangers,
    agents: Vec<Child>,
    words_of_agents: Vec<OsString>,
    token: Option<String>,
    messages: Messages,
}

impl Server {
    /// Serves until a signal ends it, then waits until the agents have ended.
    fn serve(&mut self, listener: Listener, signals: &SignalFd) -> io::Result<()> {
        let mut listener = Some(listener);
        while listener.is_some() || !self.agents.is_empty() {
            self.wait(listener.as_ref(), signals)?;
            while let Some(signal) = signals.read_signal()? {
                let is_end = signal.ssi_signo != Signal::SIGCHLD as u32;
                // The second signal leaves the agents to themselves.
                if is_end && listener.take().is_none() {
                    return Ok(());
                }
            }
            // A child that cannot be waited for is gone.
            self.agents.retain_mut(|agent| matches!(agent.try_wait(), Ok(None)));
            let Some(listener) = &listener else {
                self.strangers.clear();
                continue;
            };
            // Full of open files, the server waits for others to leave.
            while let Ok((connection, peer)) = listener.accept() {
                self.strangers.add(connection, peer);
            }
            for verdict in self.strangers.sort() {
                self.treat(verdict);
            }
        }
        Ok(())
    }

    /// Waits until there is something to do.
    fn wait(&self, listener: Option<&Listener>, signals: &SignalFd) -> io::Result<()> {
        let watched = [signals.as_fd()].into_iter().chain(listener.map(Listener::as_fd));
        let watched = watched.chain(self.strangers.awaited());
        let mut watched: Vec<PollFd<'_>> = watched.map(readable).collect();
        let patience = self.strangers.patience().map_or(PollTimeout::NONE, |time| {
            PollTimeout::try_from(time.as_millis() + 1).unwrap_or(PollTimeout::MAX)
        });
        match poll(&mut watched, patience) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn treat(&mut self, verdict: Verdict) {
        let refusal = match verdict {
            Verdict::Client(_) if self.agents.len() >= MAX_AGENTS => {
                format!("a client was turned away: there are {MAX_AGENTS} already")
            }
            Verdict::Client(connection) => match self.start_agent(connection) {
                Ok(agent) => return self.agents.push(agent),
                Err(error) => format!("no agent for a client: {}", reason(&error)),
            },
            Verdict::Foreign { peer, is_fio: true } => {
                format!("{peer} is a client of fio, and version mismatch: run the same program on both sides")
            }
            Verdict::Foreign { peer, is_fio: false } => {
                format!("{peer} is no client of {}", Compat::Ferrio.word())
            }
        };
        let line = Diagnostic::error(refusal, Origin::Builtin).code("foreign-peer");
        self.messages.note(&line);
    }

    /// Starts an agent for the client at the other end of a connection.
    fn start_agent(&self, connection: OwnedFd) -> io::Result<Child> {
        let mut command = Command::new("/proc/self/exe");
        // By this name it has the sub-command; its plan says by which the client was called.
        command.arg0("ferrio").arg("agent").args(&self.words_of_agents);
        command.env_remove(TOKEN_VARIABLE).env_remove(compat::VARIABLE).env_remove(daemon::VARIABLE);
        if let Some(token) = &self.token {
            // Not an argument, which all users can read.
            command.env(TOKEN_VARIABLE, token);
        }
        command.stdin(connection.try_clone()?).stdout(connection).spawn()
    }
}

fn readable(descriptor: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::new(descriptor, PollFlags::POLLIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments;
    use crate::options::OPTIONS;

    fn read(words: &[&str], compat: Compat) -> Result<ServerLine, Vec<String>> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        let items = arguments::scan(&words, 1, OPTIONS, compat).items;
        ServerLine::read(&items, compat).map_err(|error| match error {
            Error::Problems(problems) => {
                problems.diagnostics.iter().map(|wrong| wrong.line(compat)).collect()
            }
            other => vec![other.to_string()],
        })
    }

    #[test]
    fn the_last_address_counts_and_the_default_depends_on_the_name() {
        let address = |words: &[&str], compat| read(words, compat).unwrap().address;
        assert_eq!(address(&["--server=a", "--server=b,1"], Compat::Fio), "b,1");
        assert_eq!(address(&["--server=a", "--server"], Compat::Fio), "");
        assert_eq!(address(&["--server"], Compat::Ferrio), "127.0.0.1");
        assert_eq!(address(&["-S,4444"], Compat::Ferrio), ",4444");
    }

    #[test]
    fn what_a_server_has_no_use_for_is_refused() {
        let wrong = read(&["--server", "127.0.0.1,4444", "--eta=never", "--bs=4k"], Compat::Fio).unwrap_err();
        let want = ["word `127.0.0.1,4444`", "option --eta", "option --bs"];
        assert_eq!(wrong, want.map(|what| format!("fio: a server has no use for the {what}")));
        let both = read(&["--client=a", "--server"], Compat::Fio).unwrap_err();
        assert_eq!(both, ["fio: can't be both client and server"]);
    }
}
