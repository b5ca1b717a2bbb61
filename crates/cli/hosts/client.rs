//! `--client`: runs job files on servers, in fio's words.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ferrio_hosts::{CoordinatorSettings, Ends, PlanText, Token, TokenError, coordinate};
use ferrio_job::{Compat, Diagnostic, FioWords, Origin, reason};

use super::address::Address;
use super::client_line::{Client, ClientLine, bad_address};
use super::client_run::{ClientRun, HostOfClient};
use super::connect::{Connected, connect_all};
use super::coordinator::stop_requests;
use super::server::TOKEN_VARIABLE;
use super::{remote_words, tls, triggered};
use crate::arguments::{Item, values_of};
use crate::diagnose;
use crate::error::Error;
use crate::messages::Messages;
use crate::option_values::Eta;
use crate::options::ProgramOption;
use crate::output::{Output, begin_file};
use crate::queries;
use crate::settings::{Action, ProgramSettings};

/// How long a server may take to greet.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// A server, and what it shall do.
struct Order {
    address: Address,
    plan: PlanText,
}

/// Runs the command line and returns the exit status.
///
/// # Errors
/// An address, a list or a job file is wrong; nothing runs anywhere then.
pub fn run(items: &[Item], compat: Compat, messages: Messages) -> Result<u8, Error> {
    let line = ClientLine::read(items, &read_list)?;
    let mut settings = diagnose::settings(&line.local, compat)?;
    if let Action::Answer(query) = &settings.action {
        return queries::answer(query, compat, messages);
    }
    if compat == Compat::Fio && settings.eta == Eta::Auto {
        settings.eta = Eta::Always;
    }
    let token = token(items)?;
    let tls = tls::files_of(items)?.map(tls::of_files).transpose()?;
    if line.has_jobs {
        messages.note(&note_of_jobs());
    }
    let orders = orders(&line, &settings)?;
    if tls.is_some()
        && let Some(order) = orders.iter().find(|order| matches!(order.address, Address::Socket(_)))
    {
        let message = format!("there is no TLS over the local socket {}", order.address);
        return Err(Error::refusal("tls", message, Some("leave out --tls-cert, --tls-key and --tls-ca")));
    }
    let (_file, claims) = begin_file(&mut settings)?;
    let output = Output::open(&settings, messages)?;
    let (sender, requests) = stop_requests().map_err(Error::Agent)?;
    let mut run = ClientRun::new(output, &settings, messages);
    let mut hosts: Vec<(io::Result<Ends>, PlanText)> = Vec::new();
    let addresses = orders.iter().map(|order| &order.address);
    for (connected, mut order) in connect_all(addresses, tls.as_ref()).into_iter().zip(orders) {
        match connected {
            Ok(Connected { ends, address }) => {
                let texts = order.plan.files.iter().map(|file| file.text.clone()).collect();
                let name = order.address.name();
                run.add_host(HostOfClient::new(name, order.address.port(), address.clone(), texts));
                order.plan.states = triggered::states(&address, &order.plan.files);
                order.plan.address = Some(address);
                hosts.push((Ok(ends.with_token(token.clone())), order.plan));
            }
            Err(error) => run.miss(&not_connected(&order.address, &error)),
        }
    }
    let remote = values_of(items, ProgramOption::TriggerRemote).next_back().map(str::to_owned);
    let trigger = settings.trigger.as_ref();
    let fired = trigger.map(|trigger| triggered::watch(trigger, remote, sender)).transpose();
    let fired = fired.map_err(Error::Agent)?;
    let how = CoordinatorSettings {
        require_all: false,
        only_check: false,
        refusal_ends_run: false,
        common_phases: false,
        greeting_timeout: GREETING_TIMEOUT,
    };
    let program = format!("ferrio {}", env!("CARGO_PKG_VERSION"));
    coordinate(hosts, how, &program, requests, &mut |action| run.observe(action)).map_err(Error::Agent)?;
    let is_fired = fired.is_some_and(|fired| fired.load(Ordering::Acquire));
    if let Some(command) = trigger.and_then(|trigger| trigger.command.as_deref()).filter(|_| is_fired) {
        // Its failure is its own business.
        let _ = triggered::run(command);
    }
    let status = run.finish()?;
    drop(claims);
    Ok(status)
}

/// The text of a list of hosts; `None` for a word that names no file.
fn read_list(word: &str) -> Option<io::Result<String>> {
    let about = fs::metadata(word).ok()?;
    let is_list = about.is_file() || about.is_dir();
    is_list.then(|| fs::read_to_string(word))
}

/// The token that the other ends must have too.
///
/// # Errors
/// It is too short, too long or readable by others.
pub fn token(items: &[Item]) -> Result<Option<Token>, Error> {
    let file = values_of(items, ProgramOption::TokenFile).next_back();
    let token = match (file, std::env::var(TOKEN_VARIABLE)) {
        (Some(file), _) => Token::of_file(Path::new(file)).map(Some),
        (None, Ok(text)) if !text.is_empty() => Token::new(text.as_bytes()).map(Some),
        _ => Ok(None),
    };
    token.map_err(|error: TokenError| {
        let place = file.unwrap_or(TOKEN_VARIABLE);
        Error::refusal("server-token", format!("cannot use the token in {place}: {error}"), None)
    })
}

/// Checks all addresses and job files before any server is asked.
fn orders(line: &ClientLine, settings: &ProgramSettings) -> Result<Vec<Order>, Error> {
    let mut mistakes = Vec::new();
    let mut orders = Vec::new();
    for client in &line.clients {
        if let Err(error) = client.address.resolve(false) {
            mistakes.extend(bad_address(
                &error,
                &client.address.name(),
                client.list.as_deref(),
                Origin::Builtin,
            ));
        }
        mistakes.extend(client.files.iter().filter_map(|name| unreadable(name)));
        orders.push(Order { address: client.address.clone(), plan: plan_of(client, settings) });
    }
    mistakes.dedup();
    if mistakes.is_empty() { Ok(orders) } else { Err(mistakes.into()) }
}

/// The error for a job file that cannot be read.
fn unreadable(name: &str) -> Option<Diagnostic> {
    let error = fs::File::open(name).err()?;
    let message = format!("cannot read the job file {name}: {}", reason(&error));
    let line = format!("fio: job file <{name}> open: {}", reason(&error));
    let mistake = Diagnostic::error(message, Origin::Builtin).code("unreadable-job-file");
    Some(mistake.in_fio(FioWords::Lines(vec![line])))
}

/// What a server gets. The jobs are read here for the files and variables that they use; what is wrong with them, the server says.
fn plan_of(client: &Client, settings: &ProgramSettings) -> PlanText {
    // A dash is the name of a file here.
    let named = |name: &String| if name == "-" { "./-".to_owned() } else { name.clone() };
    let items: Vec<Item> = client.files.iter().map(|name| Item::File(named(name))).collect();
    let (plan, _) = remote_words::texts(&items, settings, None);
    let mut words = vec![format!("--as={}", settings.compat.word())];
    words.extend(client.words.iter().cloned());
    if !client.has_format {
        // Its lines before the run are text, as if it knew of no other format.
        let details = if settings.all_formats().have_details() { "normal,json+" } else { "normal" };
        words.push(format!("--output-format={details}"));
    }
    words.push("--".to_owned());
    words.extend(client.files.iter().map(named));
    PlanText { words, own_files: client.own_files.clone(), ..plan }
}

/// The note about jobs on the command line.
fn note_of_jobs() -> Diagnostic {
    let message =
        "jobs and job options on the command line are not sent to servers: write them into the job files";
    Diagnostic::note(message).code("client-jobs")
}

/// The lines about a server that cannot be reached.
fn not_connected(address: &Address, error: &io::Error) -> Diagnostic {
    let reason = reason(error);
    let lines = match address {
        Address::Port { .. } => {
            vec![format!("fio: connect: {reason}"), format!("fio: failed to connect to {address}")]
        }
        Address::Socket(_) => {
            vec![format!("fio: connect; {reason}"), format!("fio: failed to connect to {address}")]
        }
    };
    let message = format!("cannot connect to {address}: {reason}");
    Diagnostic::error(message, Origin::Builtin).code("server-address").in_fio(FioWords::Lines(lines))
}
