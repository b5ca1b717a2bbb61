//! Reads the request of a client.

use std::io::{self, ErrorKind, Read};
use std::time::{Duration, Instant};

/// Largest head of a request.
const MAX_BYTES: usize = 16 << 10;
/// Most headers of a request.
const MAX_HEADERS: usize = 100;
/// Time in which a client must send its request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// The request of a client, as far as the server distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsRequest {
    /// The metrics.
    Metrics {
        /// Whether only the headers are requested.
        head_only: bool,
    },
    /// The page that links to the metrics.
    Index {
        /// Whether only the headers are requested.
        head_only: bool,
    },
    /// Another path.
    NotFound,
    /// A method other than GET and HEAD.
    OtherMethod,
    /// Not an HTTP request.
    Malformed,
}

/// Reads a request up to the empty line. A body is not read.
///
/// # Errors
/// The connection ends or is silent for too long.
pub fn read(client: &mut impl Read) -> io::Result<MetricsRequest> {
    let until = Instant::now() + REQUEST_TIMEOUT;
    let mut bytes = Vec::new();
    let mut part = [0; 1024];
    loop {
        let count = client.read(&mut part)?;
        if count == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&part[..count]);
        if let Some(asked) = parse(&bytes) {
            return Ok(asked);
        }
        if bytes.len() > MAX_BYTES {
            return Ok(MetricsRequest::Malformed);
        }
        if Instant::now() >= until {
            return Err(ErrorKind::TimedOut.into());
        }
    }
}

/// `None` if the request is incomplete.
fn parse(bytes: &[u8]) -> Option<MetricsRequest> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    match request.parse(bytes) {
        Ok(status) if status.is_partial() => return None,
        Ok(_) => {}
        Err(_) => return Some(MetricsRequest::Malformed),
    }
    let head_only = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Some(MetricsRequest::OtherMethod),
    };
    let path = request.path.unwrap_or_default();
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    Some(match path {
        "/metrics" => MetricsRequest::Metrics { head_only },
        "/" => MetricsRequest::Index { head_only },
        _ => MetricsRequest::NotFound,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A client that sends a byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            buffer[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    #[test]
    fn requests_are_understood_in_whatever_pieces_they_come() {
        let asked = |text: &str| read(&mut Slow(text.as_bytes())).ok();
        let metrics = "GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n";
        assert_eq!(asked(metrics), Some(MetricsRequest::Metrics { head_only: false }));
        assert_eq!(
            asked("HEAD /metrics HTTP/1.0\r\n\r\n"),
            Some(MetricsRequest::Metrics { head_only: true })
        );
        assert_eq!(asked("GET / HTTP/1.1\r\n\r\n"), Some(MetricsRequest::Index { head_only: false }));
        assert_eq!(asked("GET /x HTTP/1.1\r\n\r\n"), Some(MetricsRequest::NotFound));
        assert_eq!(
            asked("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
            Some(MetricsRequest::OtherMethod)
        );
        assert_eq!(asked("\u{16}\u{3}\u{1} hello\r\n\r\n"), Some(MetricsRequest::Malformed));
        assert_eq!(asked("GET /metrics HTTP/1.1\r\n"), None, "it ends too early");
        let endless = format!("GET /metrics HTTP/1.1\r\nX: {}", "a".repeat(2 * MAX_BYTES));
        // In larger pieces: each byte would parse all bytes again, for longer than a client may take.
        assert_eq!(read(&mut endless.as_bytes()).ok(), Some(MetricsRequest::Malformed));
    }
}
