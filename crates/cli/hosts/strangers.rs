//! Connections to a server that have not greeted. Until it sends the beginning of a greeting, a stranger costs the server a descriptor and
//! no process, and there are few of them.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use ferrio_hosts::MAX_GREETING;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};

/// Connections at the most. The oldest one goes for a new one: a client greets at once.
const MAX_STRANGERS: usize = 64;

/// How long a client may take to greet.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// Time between two looks at greetings that are not complete.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The connections.
#[derive(Debug)]
pub struct Strangers {
    waiting: VecDeque<Stranger>,
    /// They begin with a handshake of TLS, which is the agent's business.
    speak_tls: bool,
}

#[derive(Debug)]
struct Stranger {
    connection: OwnedFd,
    /// Its address.
    peer: String,
    since: Instant,
    /// Has sent a part of a greeting, so the kernel would always call it readable.
    has_begun: bool,
}

/// What becomes of a connection.
#[derive(Debug)]
pub enum Verdict {
    /// It has greeted; the greeting is still to be read.
    Client(OwnedFd),
    /// It speaks another protocol.
    Foreign {
        /// The address of the other end.
        peer: String,
        /// The protocol is fio's.
        is_fio: bool,
    },
}

impl Strangers {
    /// None yet.
    #[must_use]
    pub fn new(speak_tls: bool) -> Self {
        Strangers { waiting: VecDeque::new(), speak_tls }
    }

    /// Closes all connections.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Takes a connection.
    pub fn add(&mut self, connection: OwnedFd, peer: String) {
        if self.waiting.len() >= MAX_STRANGERS {
            self.waiting.pop_front();
        }
        self.waiting.push_back(Stranger { connection, peer, since: Instant::now(), has_begun: false });
    }

    /// The connections that are worth waiting for.
    pub fn awaited(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.waiting.iter().filter(|stranger| !stranger.has_begun).map(|stranger| stranger.connection.as_fd())
    }

    /// How long to wait for them; `None` if there are none.
    #[must_use]
    pub fn patience(&self) -> Option<Duration> {
        if self.waiting.iter().any(|stranger| stranger.has_begun) {
            return Some(LOOK_INTERVAL);
        }
        self.waiting.front().map(|oldest| GREETING_TIMEOUT.saturating_sub(oldest.since.elapsed()))
    }

    /// Looks at all of them. Those that are gone or too slow are closed.
    pub fn sort(&mut self) -> Vec<Verdict> {
        let mut verdicts = Vec::new();
        for mut stranger in std::mem::take(&mut self.waiting) {
            match greeting(&stranger.connection, self.speak_tls) {
                Greeting::Whole => verdicts.push(Verdict::Client(stranger.connection)),
                Greeting::Foreign { is_fio } => {
                    verdicts.push(Verdict::Foreign { peer: stranger.peer, is_fio });
                }
                Greeting::Gone => {}
                begun if stranger.since.elapsed() < GREETING_TIMEOUT => {
                    stranger.has_begun = matches!(begun, Greeting::Begun);
                    self.waiting.push_back(stranger);
                }
                Greeting::Begun | Greeting::Nothing => {}
            }
        }
        verdicts
    }
}

/// The first bytes of a connection.
#[derive(Debug, PartialEq)]
enum Greeting {
    Nothing,
    Begun,
    Whole,
    Foreign { is_fio: bool },
    Gone,
}

/// Looks at the bytes that have come without reading them.
fn greeting(connection: &OwnedFd, speaks_tls: bool) -> Greeting {
    let mut bytes = [0; MAX_GREETING + 1];
    match recv(connection.as_raw_fd(), &mut bytes, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT) {
        Ok(0) => Greeting::Gone,
        Ok(_) if speaks_tls => Greeting::Whole,
        Ok(length) => greeting_in(&bytes[..length]),
        Err(Errno::EAGAIN | Errno::EINTR) => Greeting::Nothing,
        Err(_) => Greeting::Gone,
    }
}

/// A greeting is a line with an object of JSON, as long as a stranger may send.
fn greeting_in(bytes: &[u8]) -> Greeting {
    let is_empty_line = |byte: &&u8| byte.is_ascii_whitespace();
    let text = &bytes[bytes.iter().take_while(is_empty_line).count()..];
    match text {
        [] if bytes.len() > MAX_GREETING => Greeting::Foreign { is_fio: false },
        [] => Greeting::Begun,
        [b'{', rest @ ..] if rest.contains(&b'\n') => Greeting::Whole,
        [b'{', ..] if bytes.len() <= MAX_GREETING => Greeting::Begun,
        // fio's header: a version and a command, both small numbers in two bytes.
        [_, 0, _, 0, ..] => Greeting::Foreign { is_fio: true },
        _ => Greeting::Foreign { is_fio: false },
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_greeting_is_a_line_that_begins_an_object() {
        assert_eq!(greeting_in(b"\n{\"message\":\"hello\"}\n"), Greeting::Whole);
        assert_eq!(greeting_in(b"{\"mess"), Greeting::Begun);
        assert_eq!(greeting_in(b" \n"), Greeting::Begun);
        assert_eq!(greeting_in(b"GET / HTTP/1.0\r\n"), Greeting::Foreign { is_fio: false });
        assert_eq!(greeting_in(b"a\0\x0a\0\0\0"), Greeting::Foreign { is_fio: true });
        assert_eq!(greeting_in(&[b'{'; MAX_GREETING]), Greeting::Begun);
        assert_eq!(greeting_in(&[b'{'; MAX_GREETING + 1]), Greeting::Foreign { is_fio: false });
        assert_eq!(greeting_in(&[b' '; MAX_GREETING + 1]), Greeting::Foreign { is_fio: false });
    }

    #[test]
    fn strangers_are_sorted_by_what_they_send() {
        let mut strangers = Strangers::new(false);
        let mut ends = Vec::new();
        for words in [&b"{\"message\":1}\n"[..], b"{", b"", b"SSH-2.0"] {
            let (mut ours, theirs) = UnixStream::pair().unwrap();
            ours.write_all(words).unwrap();
            ends.push(ours);
            strangers.add(theirs.into(), String::from_utf8_lossy(words).into_owned());
        }
        let verdicts = strangers.sort();
        assert!(
            matches!(&verdicts[..], [Verdict::Client(_), Verdict::Foreign { peer, is_fio: false }] if peer == "SSH-2.0")
        );
        assert_eq!((strangers.waiting.len(), strangers.awaited().count()), (2, 1));
        assert_eq!(strangers.patience(), Some(LOOK_INTERVAL));
        drop(ends);
        assert_eq!((strangers.sort().len(), strangers.waiting.len()), (0, 1));
    }

    #[test]
    fn there_are_few_strangers() {
        let mut strangers = Strangers::new(false);
        for number in 0..MAX_STRANGERS + 3 {
            strangers.add(UnixStream::pair().unwrap().1.into(), number.to_string());
        }
        assert_eq!((strangers.waiting.len(), strangers.waiting[0].peer.as_str()), (MAX_STRANGERS, "3"));
    }
}
