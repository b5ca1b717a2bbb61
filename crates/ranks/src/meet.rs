//! Brings the ranks together.

use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ferrio_hosts::Ends;

use crate::address::{listen, own_addresses};
use crate::gather::Waiting;
use crate::greeting::RunIdentity;
use crate::join::{Target, join};
use crate::meeting_file::{Contact, MeetingFile};
use crate::pmi::{Exchanged, exchange};
use crate::secret::Secret;
use crate::{Meeting, RankOfRun, RendezvousError};

/// What a rank has when all are together.
pub enum Met {
    /// This is rank 0: the names of the hosts of ranks 1, 2, … and the connections to them.
    First(Vec<(String, Ends)>),
    /// This is another rank: the connection to rank 0.
    Other(Ends),
}

/// Brings this rank, which is on `host`, together with the others. `note` takes lines about strangers, for the user;
/// the wait ends soon after `stop` is set, except while the launcher or rank 0 is asked.
///
/// # Errors
///
/// The ranks do not come together within `timeout`.
pub fn meet(
    me: &RankOfRun,
    host: &str,
    meeting: &Meeting,
    timeout: Duration,
    stop: &AtomicBool,
    note: &mut dyn FnMut(String),
) -> Result<Met, RendezvousError> {
    let begin = Instant::now();
    let run = RunIdentity { job: me.job.clone(), ranks: me.ranks, secret: Secret::default() };
    match meeting {
        Meeting::Address { hosts, ports } => {
            let place = place(hosts, ports);
            if me.rank == 0 {
                let listener = listen_on_one(hosts, ports)?;
                return Waiting { run, listener, timeout, place, stop, note }.gather().map(Met::First);
            }
            let mut look = || Ok(Target { hosts: hosts.clone(), ports: ports.clone(), run: run.clone() });
            join((me.rank, host), timeout, &place, stop, &mut look).map(Met::Other)
        }
        Meeting::File(path) => {
            let place = path.display().to_string();
            let failed = |error| RendezvousError::File { path: path.clone(), error };
            if me.rank == 0 {
                let (listener, contact) = contact(&me.job)?;
                let run = RunIdentity { secret: contact.secret(), ..run };
                // Removed when all are here.
                let _file = MeetingFile::write(path, contact).map_err(failed)?;
                return Waiting { run, listener, timeout, place, stop, note }.gather().map(Met::First);
            }
            let mut look = || {
                let contact = Contact::of_file(path).map_err(|error| error.to_string())?;
                if contact.job != run.job {
                    return Err(format!("it is of run `{}`", contact.job.escape_debug()));
                }
                let run = RunIdentity { secret: contact.secret(), ..run.clone() };
                Ok(Target { hosts: contact.addresses, ports: vec![contact.port], run })
            };
            join((me.rank, host), timeout, &place, stop, &mut look).map(Met::Other)
        }
        Meeting::Pmi(descriptor) => {
            let stream = ferrio_kernel::inherited_socket(*descriptor)
                .map_err(|error| RendezvousError::Pmi(format!("descriptor {descriptor}: {error}")))?;
            // The barrier waits for the last rank.
            stream.set_read_timeout(Some(timeout))?;
            let job = |space: &str| if run.job.is_empty() { space.to_owned() } else { run.job.clone() };
            if me.rank == 0 {
                let (listener, contact) = contact("")?;
                let word = |longest: usize| contact.to_word(longest);
                let Exchanged { space, .. } = exchange(stream, Some(&word))?;
                let run = RunIdentity { job: job(&space), secret: contact.secret(), ..run };
                let place = place(&contact.addresses, &[contact.port]);
                let timeout = timeout.saturating_sub(begin.elapsed());
                return Waiting { run, listener, timeout, place, stop, note }.gather().map(Met::First);
            }
            let Exchanged { space, offer } = exchange(stream, None)?;
            let job = job(&space);
            let contact = Contact::of_word(&offer, &job).ok_or_else(|| {
                RendezvousError::Pmi(format!("no address of rank 0: `{}`", offer.escape_debug()))
            })?;
            let run = RunIdentity { job, secret: contact.secret(), ..run };
            let (hosts, ports) = (contact.addresses, vec![contact.port]);
            let place = place(&hosts, &ports);
            let mut look = || Ok(Target { hosts: hosts.clone(), ports: ports.clone(), run: run.clone() });
            join((me.rank, host), timeout, &place, stop, &mut look).map(Met::Other)
        }
    }
}

/// Listens on a port that is free, with a new secret.
fn contact(job: &str) -> Result<(TcpListener, Contact), RendezvousError> {
    let failed = |error| RendezvousError::Listen { address: "a free port".to_owned(), error };
    let listener = listen("", 0).map_err(failed)?;
    let port = listener.local_addr()?.port();
    let secret = Secret::random()?.digits().to_owned();
    Ok((listener, Contact { job: job.to_owned(), addresses: own_addresses(), port, secret }))
}

/// Listens on the first of the ports that is free.
fn listen_on_one(hosts: &[String], ports: &[u16]) -> Result<TcpListener, RendezvousError> {
    let host = hosts.first().map_or("", String::as_str);
    let mut error = std::io::Error::other("there is no port");
    for &port in ports {
        match listen(host, port) {
            Ok(listener) => return Ok(listener),
            Err(other) => error = other,
        }
    }
    Err(RendezvousError::Listen { address: place(hosts, ports), error })
}

/// The place, for messages.
fn place(hosts: &[String], ports: &[u16]) -> String {
    let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
    format!("{}, port {}", hosts.join(", "), ports.join(" or "))
}
