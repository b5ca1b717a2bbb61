//! The other ranks look for rank 0.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use ferrio_hosts::{Carrier, Ends, FrameError, FrameReader, write_frame};

use crate::RendezvousError;
use crate::greeting::{FromFirst, FromRank, Introduction, RunIdentity};
use crate::secret::digits;

/// How long one connection may take to come up: an address that nobody answers must not keep the others waiting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long rank 0 may take to answer a greeting.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// How much longer than rank 0 the others wait for its word that ranks are missing.
const GRACE: Duration = Duration::from_secs(5);

/// Time between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(200);

/// Where rank 0 may be now.
pub struct Target {
    /// Names and addresses of its host.
    pub hosts: Vec<String>,
    /// Its ports.
    pub ports: Vec<u16>,
    /// The run, with its secret if there is one.
    pub run: RunIdentity,
}

/// An attempt that came to nothing.
enum Failure {
    /// Rank 0 may be elsewhere or come later.
    NotYet(String),
    /// No other attempt will do better.
    Final(RendezvousError),
}

/// Looks for rank 0 as `rank` on `host` until it is found, and waits until all ranks have come. `look` says where, before each attempt.
///
/// # Errors
///
/// It is not found in time, or refuses this rank.
pub fn join(
    (rank, host): (u64, &str),
    timeout: Duration,
    place: &str,
    stop: &AtomicBool,
    look: &mut dyn FnMut() -> Result<Target, String>,
) -> Result<Ends, RendezvousError> {
    let deadline = Instant::now() + timeout;
    loop {
        if stop.load(Relaxed) {
            return Err(RendezvousError::Stopped);
        }
        let failure = match look() {
            Ok(target) => match attempt((rank, host), &target, deadline) {
                Ok(ends) => return Ok(ends),
                Err(failure) => failure,
            },
            Err(reason) => Failure::NotYet(reason),
        };
        let reason = match failure {
            Failure::Final(error) => return Err(error),
            Failure::NotYet(reason) => reason,
        };
        let left = deadline.saturating_duration_since(Instant::now());
        if left <= RETRY_INTERVAL {
            return Err(RendezvousError::NotFound { place: place.to_owned(), timeout, reason });
        }
        thread::sleep(RETRY_INTERVAL);
    }
}

/// Tries all addresses once.
fn attempt(me: (u64, &str), target: &Target, deadline: Instant) -> Result<Ends, Failure> {
    let mut reason = "it has no address".to_owned();
    for host in &target.hosts {
        for &port in &target.ports {
            // A name may get its address later, as those of pods do; which error the resolver has then differs.
            let addresses: Vec<SocketAddr> = match (host.as_str(), port).to_socket_addrs() {
                Ok(addresses) => addresses.collect(),
                Err(error) => {
                    reason = format!("{host}: {error}");
                    break;
                }
            };
            for address in addresses {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(Failure::NotYet(reason));
                }
                match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT.min(left)) {
                    Ok(stream) => match greet(me, stream, &target.run, deadline) {
                        Err(Failure::NotYet(why)) => reason = format!("{address}: {why}"),
                        result => return result,
                    },
                    Err(error) => reason = format!("{address}: {error}"),
                }
            }
        }
    }
    Err(Failure::NotYet(reason))
}

/// Holds a rank's end of a greeting.
fn greet(
    (rank, host): (u64, &str),
    stream: TcpStream,
    run: &RunIdentity,
    deadline: Instant,
) -> Result<Ends, Failure> {
    let not_yet = |error: &dyn std::fmt::Display| Failure::NotYet(error.to_string());
    let socket = stream.try_clone().map_err(|error| not_yet(&error))?;
    let mut ends = stream.split().map_err(|error| not_yet(&error))?;
    let nonce = digits().map_err(|error| not_yet(&error))?;
    let introduction = Introduction {
        job: run.job.clone(),
        rank,
        ranks: run.ranks,
        host: host.to_owned(),
        nonce: nonce.clone(),
    };
    socket.set_read_timeout(Some(ANSWER_TIMEOUT)).map_err(|error| not_yet(&error))?;
    write_frame(&mut ends.writer, &FromRank::Rank(introduction)).map_err(|error| not_yet(&error))?;
    let mut reader = FrameReader::new(ends.reader);
    match reader.read() {
        Ok(Some(FromFirst::Challenge { nonce: theirs, proof })) => {
            if !run.is_first([&nonce, &theirs], &proof) {
                return Err(not_yet(&"it does not have the secret of this run"));
            }
            write_frame(&mut ends.writer, &run.proof(rank, [&nonce, &theirs]))
                .map_err(|error| not_yet(&error))?;
        }
        // Another program may listen here.
        Ok(None) => return Err(not_yet(&"it closed the connection")),
        Ok(answer) => return Err(refused(answer)),
        Err(error) => return Err(not_yet(&said(&error))),
    }
    let left = deadline.saturating_duration_since(Instant::now()) + GRACE;
    socket.set_read_timeout(Some(left)).map_err(|error| not_yet(&error))?;
    match reader.read() {
        Ok(Some(FromFirst::Complete)) => {}
        Ok(answer) => return Err(refused(answer)),
        Err(error) => return Err(Failure::Final(RendezvousError::Abandoned(said(&error)))),
    }
    socket.set_read_timeout(None).map_err(|error| not_yet(&error))?;
    Ok(Ends { reader: Box::new(reader.into_stream()), ..ends })
}

/// Why rank 0 said something else than what was hoped for.
fn refused(answer: Option<FromFirst>) -> Failure {
    match answer {
        Some(FromFirst::Refused { reason, is_stranger: true }) => Failure::NotYet(reason),
        Some(FromFirst::Refused { reason, is_stranger: false }) => {
            Failure::Final(RendezvousError::Refused(reason))
        }
        Some(FromFirst::Incomplete { missing }) => Failure::Final(RendezvousError::Incomplete(missing)),
        Some(_) => Failure::NotYet("it spoke out of turn".to_owned()),
        None => Failure::Final(RendezvousError::Abandoned("the connection was closed".to_owned())),
    }
}

fn said(error: &FrameError) -> String {
    match error {
        FrameError::Io(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            "it is silent".to_owned()
        }
        error => error.to_string(),
    }
}
