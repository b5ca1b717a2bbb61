//! The HTTP server and its thread.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use nix::sys::signal::SigSet;

use crate::address::MetricsAddress;
use crate::request::{self, MetricsRequest};

/// The content type of the metrics.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Longest wait of a request for a new text. If the run renders none in this time, such as during file setup, the request gets the previous
/// one.
const NEW_TEXT_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest silence of a client.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(2);
/// The metrics before a run: none.
const NO_METRICS: &str = "# EOF\n";

/// The address cannot be served.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve metrics on {address}: {}", ferrio_job::reason(error))]
pub struct BindError {
    address: SocketAddr,
    error: io::Error,
}

/// Serves the metrics of a run until the program ends.
#[derive(Debug)]
pub struct MetricsServer {
    address: SocketAddr,
    shared: Arc<SharedState>,
}

/// State that the run and the server thread share.
#[derive(Debug)]
struct SharedState {
    state: Mutex<MetricsState>,
    published: Condvar,
}

#[derive(Debug)]
struct MetricsState {
    text: Arc<str>,
    /// Number of texts so far.
    number: u64,
    /// Whether a request waits for the next text.
    wanted: bool,
}

impl MetricsAddress {
    /// Checks whether the address can be served, without serving it.
    ///
    /// # Errors
    /// Those of [`MetricsServer::start`].
    pub fn check(self) -> Result<(), BindError> {
        let MetricsAddress(address) = self;
        TcpListener::bind(address).map(drop).map_err(|error| BindError { address, error })
    }
}

impl MetricsServer {
    /// Starts to serve.
    ///
    /// # Errors
    /// The address is in use, not of this machine, or not permitted.
    pub fn start(MetricsAddress(address): MetricsAddress) -> Result<Self, BindError> {
        let failed = |error| BindError { address, error };
        let listener = TcpListener::bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let state = MetricsState { text: NO_METRICS.into(), number: 0, wanted: false };
        let shared = Arc::new(SharedState { state: Mutex::new(state), published: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        let serve = move || {
            // Signals end the run, and the main thread waits for them.
            let _ = SigSet::all().thread_block();
            for client in listener.incoming() {
                match client {
                    // A client that disconnects needs no answer, and nobody else is concerned.
                    Ok(client) => drop(of_thread.answer(client)),
                    // There are no more descriptors: the next connection is tried after a while.
                    Err(_) => thread::park_timeout(CLIENT_TIMEOUT),
                }
            }
        };
        thread::Builder::new().name("metrics".to_owned()).spawn(serve).map_err(failed)?;
        Ok(MetricsServer { address, shared })
    }

    /// The address of the metrics.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Whether a request waits for a new text.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.shared.lock().wanted
    }

    /// Answers the waiting requests, and later ones until there is a newer text.
    pub fn publish(&self, text: String) {
        let mut state = self.shared.lock();
        state.text = text.into();
        state.number += 1;
        state.wanted = false;
        drop(state);
        self.shared.published.notify_all();
    }
}

impl SharedState {
    /// A panic cannot leave the state half changed.
    fn lock(&self) -> MutexGuard<'_, MetricsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a text that is rendered from now on; returns the previous one at the timeout.
    fn text(&self) -> Arc<str> {
        let mut state = self.lock();
        let before = state.number;
        state.wanted = true;
        let is_old = |state: &mut MetricsState| state.number == before;
        let (state, _) = self
            .published
            .wait_timeout_while(state, NEW_TEXT_TIMEOUT, is_old)
            .unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&state.text)
    }

    fn answer(&self, mut client: TcpStream) -> io::Result<()> {
        client.set_read_timeout(Some(CLIENT_TIMEOUT))?;
        client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
        let plain =
            |status, text: &str, head_only| (status, "text/plain; charset=utf-8", text.into(), head_only);
        let (status, kind, body, head_only): (_, _, Arc<str>, _) = match request::read(&mut client)? {
            MetricsRequest::Metrics { head_only } => ("200 OK", OPEN_METRICS, self.text(), head_only),
            MetricsRequest::Index { head_only } => plain("200 OK", "ferrio: see /metrics\n", head_only),
            MetricsRequest::NotFound => plain("404 Not Found", "ferrio: only /metrics is here\n", false),
            MetricsRequest::OtherMethod => {
                plain("405 Method Not Allowed\r\nAllow: GET, HEAD", "ferrio: use GET\n", false)
            }
            MetricsRequest::Malformed => plain("400 Bad Request", "ferrio: this is no request\n", false),
        };
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        client.write_all(head.as_bytes())?;
        if !head_only {
            client.write_all(body.as_bytes())?;
        }
        client.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn server() -> MetricsServer {
        MetricsServer::start("0".parse().unwrap()).unwrap()
    }

    fn ask(server: &MetricsServer, request: &str) -> String {
        let mut client = TcpStream::connect(server.address).unwrap();
        client.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn a_request_gets_a_text_that_is_newer_than_itself() {
        let server = server();
        server.publish("old\n".to_owned());
        let answer = thread::scope(|scope| {
            let asking = scope.spawn(|| ask(&server, "GET /metrics HTTP/1.1\r\n\r\n"));
            while !server.is_wanted() {
                thread::yield_now();
            }
            server.publish("new\n".to_owned());
            asking.join().unwrap()
        });
        assert!(
            answer
                .starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/openmetrics-text; version=1.0.0")
        );
        assert!(
            answer.contains("\r\nContent-Length: 4\r\n") && answer.ends_with("\r\n\r\nnew\n"),
            "{answer}"
        );
        assert!(!server.is_wanted());
    }

    #[test]
    fn a_run_that_has_nothing_new_leaves_the_last_text() {
        let answer = ask(&server(), "GET /metrics HTTP/1.1\r\n\r\n");
        assert!(answer.ends_with("\r\n\r\n# EOF\n"), "{answer}");
    }

    #[test]
    fn everything_else_has_its_status() {
        let server = server();
        let status = |request: &str| ask(&server, request).lines().next().unwrap_or_default().to_owned();
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 200 OK");
        assert_eq!(status("GET /favicon.ico HTTP/1.1\r\n\r\n"), "HTTP/1.1 404 Not Found");
        assert_eq!(status("DELETE /metrics HTTP/1.1\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
        assert_eq!(status("nonsense\r\n\r\n"), "HTTP/1.1 400 Bad Request");
    }

    #[test]
    fn an_address_in_use_is_named() {
        let server = server();
        let error = MetricsServer::start(MetricsAddress(server.address)).unwrap_err().to_string();
        assert_eq!(error, format!("cannot serve metrics on {}: Address already in use", server.address));
    }
}
