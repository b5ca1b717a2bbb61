//! `ferrio agent`: the end of a run on many hosts that does the work, spoken to on standard input and output.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use ferrio_hosts::Token;
use ferrio_job::reason;

use super::subcommand::Invocation;
use crate::error::Error;
use crate::hosts::agent::{self, ForClients};
use crate::hosts::limits::Limits;
use crate::hosts::server::TOKEN_VARIABLE;
use crate::hosts::tls;

/// Help below the options.
pub const LONG_HELP: &str = "\
`ferrio --hosts=HOSTS` starts this on each host, by ssh or the command of --via,
and holds a conversation with it on its standard input and output: one JSON
document a line. There is nothing to type here.

`ferrio --server` starts it with --for-clients for each client, with the
connection as standard input and output.";

/// The clap definition of the sub-command.
pub fn command() -> Command {
    let file = |name: &'static str, help: &'static str| {
        let argument = Arg::new(name).long(name).value_name("FILE").requires("for-clients").help(help);
        argument.value_parser(value_parser!(PathBuf))
    };
    Command::new("agent")
        .arg(flag("for-clients", "The other end is a client of a server: it has to prove that it has the token in FERRIO_TOKEN, if there is one, and its jobs have limits"))
        .arg(flag("allow-exec", "Jobs may start programs and load engines").requires("for-clients"))
        .arg(
            file("root", "Jobs may use this file, or what is below this directory; without any, all files")
                .value_name("PATH")
                .action(ArgAction::Append),
        )
        .arg(file("tls-cert", "Talk over TLS with this certificate").requires("tls-key").requires("tls-ca"))
        .arg(file("tls-key", "The key of the certificate").requires("tls-cert"))
        .arg(file("tls-ca", "The CA of the client's certificate").requires("tls-cert"))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Holds the conversation.
///
/// # Errors
/// The arguments are wrong, or the conversation cannot begin.
pub fn run(invocation: Invocation<'_>) -> Result<u8, Error> {
    match invocation.parsed_arguments()? {
        Some(arguments) if arguments.get_flag("for-clients") => {
            agent::converse_with_client(for_clients(&arguments)?)
        }
        Some(_) => agent::converse_on_standard_streams(),
        None => Ok(0),
    }
}

fn for_clients(arguments: &ArgMatches) -> Result<ForClients, Error> {
    let file = |name: &str| arguments.get_one::<PathBuf>(name).cloned();
    let token = match std::env::var(TOKEN_VARIABLE) {
        Ok(text) => Some(Token::new(text.as_bytes()).map_err(|error| {
            Error::refusal("server-token", format!("cannot use the token in {TOKEN_VARIABLE}: {error}"), None)
        })?),
        Err(_) => None,
    };
    let tls = match (file("tls-cert"), file("tls-key"), file("tls-ca")) {
        (Some(cert), Some(key), Some(ca)) => Some(tls::of_files([cert, key, ca])?),
        _ => None,
    };
    let roots: Vec<PathBuf> = arguments.get_many("root").into_iter().flatten().cloned().collect();
    let limits = Limits::new(arguments.get_flag("allow-exec"), &roots).map_err(|(root, error)| {
        Error::refusal("server-option", format!("--root: {}: {}", root.display(), reason(&error)), None)
    })?;
    Ok(ForClients { token, tls, limits })
}
