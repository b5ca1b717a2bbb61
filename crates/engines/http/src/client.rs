//! Sends messages to the server: one agent with one connection, which stays open between the I/Os.
//!
//! The client answers challenges, follows redirects, and describes failures in words: the message, the error, and the remedy.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use ferrio_engine::EngineError;
use ferrio_job::{HttpOptions, Https, debug_class};
use log::debug;
use ureq::http::{Request, Response, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use crate::address::Server;
use crate::credentials::Credentials;
use crate::message::{HttpHeader, HttpRequest};

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Longest time without progress in either direction.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Time after which an unused connection is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);
/// Maximum number of redirects of a message.
const MAX_REDIRECTS: u32 = 10;
/// Bytes of an unneeded answer that are read to keep the connection usable.
const MAX_DISCARDED_BYTES: u64 = 64 << 10;
/// Bytes of an answer that are searched for an explanation, and characters of it that are printed.
const MAX_EXPLANATION_BYTES: u64 = 4096;
const MAX_EXPLANATION_CHARS: usize = 200;
/// Bytes of a body that `http_verbose=2` prints.
const MAX_PRINTED_BODY_BYTES: usize = 256;

/// The connection to the server.
pub(crate) struct HttpClient {
    agent: Agent,
    server: Server,
    credentials: Credentials,
    verbose: u32,
    job: u32,
    /// True if there was a connection, which the server may have closed meanwhile.
    is_connected: bool,
    /// Target of the first redirect.
    redirected: Option<String>,
}

/// A failure in words.
pub(crate) type FailureText = String;

impl HttpClient {
    /// Creates a client that is not connected yet.
    pub(crate) fn new(options: &HttpOptions, job: u32) -> Result<Self, EngineError> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_per_read(Some(STALL_TIMEOUT))
            .timeout_per_write(Some(STALL_TIMEOUT))
            .max_idle_age(IDLE_TIMEOUT)
            .user_agent(concat!("ferrio/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls(options.https)?)
            .build();
        Ok(HttpClient {
            agent: config.into(),
            server: Server::new(options.https != Https::Off, &options.host),
            credentials: Credentials::new(options),
            verbose: options.verbose,
            job,
            is_connected: false,
            redirected: None,
        })
    }

    /// A handle that ends requests in flight and all later ones.
    pub(crate) fn agent(&self) -> Agent {
        self.agent.clone()
    }

    /// The proxy in use, if any.
    pub(crate) fn proxy(&self) -> Option<String> {
        let proxy = self.agent.config().proxy()?;
        let url = self.server.url("/").parse().ok()?;
        (!proxy.is_no_proxy(&url)).then(|| format!("{}:{}", proxy.host(), proxy.port()))
    }

    /// Takes the target of the first redirect.
    pub(crate) fn take_redirect(&mut self) -> Option<String> {
        self.redirected.take()
    }

    /// The message's name in failures.
    pub(crate) fn name(&self, message: &HttpRequest<'_>) -> String {
        let range = message.range.map(|(first, last)| format!(" (bytes {first}-{last})"));
        format!("{} {}{}", message.method, self.server.url(message.path), range.unwrap_or_default())
    }

    /// Sends a message, and again after a challenge or a redirect. Returns the first other answer.
    pub(crate) fn exchange(&mut self, message: &HttpRequest<'_>) -> Result<Response<Body>, FailureText> {
        let mut target: Option<(Server, String)> = None;
        let (mut challenged, mut redirects) = (false, 0);
        loop {
            let (server, path) = match &target {
                Some((server, path)) => (server.clone(), path.as_str()),
                None => (self.server.clone(), message.path),
            };
            let response = self.send(&server, &HttpRequest { path, ..*message })?;
            let status = response.status().as_u16();
            let values = |name: header::HeaderName| {
                let values = response.headers().get_all(name);
                values.iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect::<Vec<_>>()
            };
            if status == 401
                && !challenged
                && self.server.trusts(&server)
                && self.credentials.challenged(&values(header::WWW_AUTHENTICATE))
            {
                challenged = true;
                discard(response);
                continue;
            }
            // A write answered by a 303 has succeeded; its result is at another address.
            let moved = matches!(status, 301 | 302 | 307 | 308) || status == 303 && message.method == "GET";
            if !moved {
                return Ok(response);
            }
            let location = values(header::LOCATION).into_iter().next().unwrap_or_default();
            let Some(next) = server.redirect_target(path, &location) else {
                let name = self.name(message);
                return Err(format!("{name}: redirected with status {status} to no address"));
            };
            redirects += 1;
            if redirects > MAX_REDIRECTS {
                return Err(format!("{}: more than {MAX_REDIRECTS} redirects", self.name(message)));
            }
            self.redirected.get_or_insert_with(|| next.0.url(""));
            discard(response);
            target = Some(next);
        }
    }

    /// Sends a message, a second time if the server closed the connection after the previous message.
    fn send(&mut self, server: &Server, message: &HttpRequest<'_>) -> Result<Response<Body>, FailureText> {
        loop {
            let request = self.request(server, message)?;
            let before = std::mem::replace(&mut self.is_connected, true);
            let outcome = match message.method {
                "PUT" => self.agent.run(request.map(|()| message.body)),
                _ => self.agent.run(request),
            };
            match outcome {
                Ok(response) => {
                    if self.verbose > 0 {
                        self.print_answer(&response);
                    }
                    return Ok(response);
                }
                Err(error) => {
                    self.is_connected = false;
                    if !(before && is_lost_connection(&error)) {
                        let error = self.explain(server, &error);
                        return Err(format!("{}: {error}", self.name(message)));
                    }
                }
            }
        }
    }

    /// Builds the HTTP request without the body.
    fn request(&mut self, server: &Server, message: &HttpRequest<'_>) -> Result<Request<()>, FailureText> {
        let mut headers = vec![HttpHeader::plain("host", server.host.as_str())];
        if let Some((first, last)) = message.range {
            headers.push(HttpHeader::plain("range", format!("bytes={first}-{last}")));
        }
        if self.server.trusts(server) {
            let own = self.credentials.headers(message, &server.host);
            headers.extend(own.map_err(|reason| format!("{}: {reason}", self.name(message)))?);
        }
        if self.verbose > 0 {
            self.print_message(message, &headers);
        }
        let mut request = Request::builder().method(message.method).uri(server.url(message.path));
        for HttpHeader { name, value, .. } in headers {
            request = request.header(name, value);
        }
        request.body(()).map_err(|error| format!("{}: {error}", self.name(message)))
    }

    /// Describes an unsuccessful answer: the status, and the first line of its text.
    pub(crate) fn refusal(&self, message: &HttpRequest<'_>, response: Response<Body>) -> FailureText {
        let status = response.status();
        let mut text = Vec::new();
        // If the text does not arrive, there is no explanation.
        let _ = response.into_body().into_reader().take(MAX_EXPLANATION_BYTES).read_to_end(&mut text);
        let words = explanation(&String::from_utf8_lossy(&text));
        let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
        let colon = if words.is_empty() { "" } else { ": " };
        let refusal = format!("{}: status {}{reason}{colon}{words}", self.name(message), status.as_u16());
        let advice = match status.as_u16() {
            401 if self.credentials.has_answer() => {
                format!("; the server refuses {}", self.credentials.options())
            }
            401 | 403 => format!("; look at {}", self.credentials.options()),
            _ => String::new(),
        };
        self.credentials.masked(refusal) + &advice
    }

    /// Describes an error and the remedy.
    fn explain(&self, server: &Server, error: &ureq::Error) -> String {
        if let Some(error) = tls_error(error) {
            return match error {
                rustls::Error::InvalidCertificate(_) => format!(
                    "the certificate of {} is not valid ({error}): https=insecure accepts any; a certificate authority of your own \
                     belongs into the certificates of the system, or into the file that SSL_CERT_FILE names",
                    server.host
                ),
                rustls::Error::InvalidMessage(_) => {
                    format!("{} does not answer by TLS: use https=off, or another port", server.host)
                }
                error => format!("TLS with {} failed: {error}", server.host),
            };
        }
        let host = &server.host;
        match error {
            ureq::Error::Io(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
                format!("Connection refused: no server listens at {host}; look at `http_host` and `https`")
            }
            ureq::Error::HostNotFound => format!("the name {host} is not known: look at `http_host`"),
            ureq::Error::Io(e) if e.raw_os_error().is_none() && e.to_string().contains("lookup") => {
                format!("the name {} is not known: look at `http_host` ({e})", server.name())
            }
            ureq::Error::Io(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                let advice = match server.is_tls {
                    true => "a server without TLS needs https=off",
                    false => "a server that wants TLS needs https=on",
                };
                format!("the server closed the connection without an answer; {advice}")
            }
            ureq::Error::Timeout(ureq::Timeout::Connect) => {
                format!("no connection to {host} within {} s: look at `http_host`", CONNECT_TIMEOUT.as_secs())
            }
            ureq::Error::Timeout(_) => format!("nothing moved for {} s", STALL_TIMEOUT.as_secs()),
            ureq::Error::Protocol(e) => {
                format!("the answer is not HTTP ({e}): look at `http_host` and `https`")
            }
            error => error.to_string(),
        }
    }

    /// Describes an error during the transfer of a body.
    pub(crate) fn explain_read(&self, message: &HttpRequest<'_>, error: io::Error) -> FailureText {
        let name = self.name(message);
        format!("{name}: {}", self.explain(&self.server, &ureq::Error::from(error)))
    }

    fn print_message(&self, message: &HttpRequest<'_>, headers: &[HttpHeader]) {
        let HttpRequest { method, path, body, .. } = *message;
        debug!(target: debug_class::HTTP, job = self.job; "> {method} {path} HTTP/1.1");
        for header in headers {
            debug!(target: debug_class::HTTP, job = self.job; "> {}", self.credentials.masked(header.to_string()));
        }
        debug!(target: debug_class::HTTP, job = self.job; "> {} bytes", body.len());
        self.print_body('>', body);
    }

    fn print_answer(&self, response: &Response<Body>) {
        debug!(target: debug_class::HTTP, job = self.job; "< {:?} {}", response.version(), response.status());
        for (name, value) in response.headers() {
            let line = format!("{name}: {}", String::from_utf8_lossy(value.as_bytes()));
            debug!(target: debug_class::HTTP, job = self.job; "< {}", self.credentials.masked(line));
        }
    }

    /// Prints the beginning of a body that goes to the server (`>`) or comes from it (`<`).
    pub(crate) fn print_body(&self, direction: char, body: &[u8]) {
        if self.verbose < 2 || body.is_empty() {
            return;
        }
        let shown = body[..body.len().min(MAX_PRINTED_BODY_BYTES)].escape_ascii().to_string();
        let more = if body.len() > MAX_PRINTED_BODY_BYTES { "..." } else { "" };
        debug!(target: debug_class::HTTP, job = self.job; "{direction} {}{more}", self.credentials.masked(shown));
    }
}

/// Reads an answer to its end, so that the connection can be used again.
pub(crate) fn discard(response: Response<Body>) {
    // A longer or broken answer costs the connection.
    let _ = io::copy(&mut response.into_body().into_reader().take(MAX_DISCARDED_BYTES), &mut io::sink());
}

fn tls(https: Https) -> Result<TlsConfig, EngineError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = TlsConfig::builder().unversioned_rustls_crypto_provider(provider);
    Ok(match https {
        Https::Off => config.build(),
        Https::Insecure => config.disable_verification(true).build(),
        Https::On => {
            let found = rustls_native_certs::load_native_certs();
            let certificates: Vec<_> =
                found.certs.iter().map(|found| Certificate::from_der(found).to_owned()).collect();
            if certificates.is_empty() {
                let reason = found.errors.first().map(ToString::to_string).unwrap_or_default();
                let error = EngineError::new("load certificates", io::Error::from_raw_os_error(libc::ENOENT));
                return Err(error.hint(format!(
                    "https=on needs the certificate authorities of the system, and there are none: install the package \
                     ca-certificates, or use https=insecure {reason}"
                )));
            }
            config.root_certs(RootCerts::from(certificates)).build()
        }
    })
}

/// True if the server closed an open connection between two messages.
fn is_lost_connection(error: &ureq::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error, ureq::Error::Io(e) if matches!(e.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof))
}

fn tls_error(error: &ureq::Error) -> Option<&rustls::Error> {
    match error {
        ureq::Error::Rustls(error) => Some(error),
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref(),
        _ => None,
    }
}

/// The explanation in an answer: code and message of S3, or the first line of text.
fn explanation(text: &str) -> String {
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0)
    };
    let words = match (element("Code"), element("Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        _ => first_line(text),
    };
    words.trim_end_matches('.').chars().filter(|c| !c.is_control()).take(MAX_EXPLANATION_CHARS).collect()
}

/// The first line with text outside the tags of HTML or XML.
fn first_line(text: &str) -> String {
    let mut plain = String::new();
    let mut in_tag = false;
    for c in text.chars() {
        match c {
            '<' => in_tag = true,
            '>' if in_tag => in_tag = false,
            c if !in_tag => plain.push(c),
            _ => {}
        }
    }
    plain.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_explained_by_its_code_and_message_or_its_first_line() {
        let s3 = "<?xml version=\"1.0\"?>\n<Error><Code>NoSuchBucket</Code><Message>It does not exist</Message></Error>";
        assert_eq!(explanation(s3), "NoSuchBucket: It does not exist");
        assert_eq!(
            explanation("<html><head><style></style></head>\n<body>\n<h1>No room</h1>\n</body>"),
            "No room"
        );
        assert_eq!(explanation("plain\ntext"), "plain");
        assert_eq!(explanation(""), "");
        assert_eq!(explanation(&"x".repeat(1000)).len(), MAX_EXPLANATION_CHARS);
    }
}
