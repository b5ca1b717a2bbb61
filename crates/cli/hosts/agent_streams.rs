//! The standard streams of an agent: the conversation takes those that it was started with, and what the run and the programs that it starts
//! print becomes texts for the coordinator.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use ferrio_hosts::{Carrier as _, Ends, Stream, StreamPair};
use ferrio_job::Compat;
use nix::fcntl::OFlag;
use nix::unistd::{dup, dup2_stderr, dup2_stdin, dup2_stdout, pipe2};

use super::Voice;
use crate::escaped_stream;

/// How long texts are awaited after the run. A program that a job has left behind may hold the pipes for ever.
const LAST_TEXTS_TIMEOUT: Duration = Duration::from_secs(1);

/// Standard input and output as ends of a conversation. What is printed from now on goes to standard error: no stray line can break the
/// conversation.
///
/// # Errors
/// Descriptors are missing, or there are too many.
pub fn take_conversation() -> io::Result<Ends> {
    let reader = File::from(dup(io::stdin())?);
    let writer = File::from(dup(escaped_stream::stdout().get_ref())?);
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(escaped_stream::stderr().get_ref())?;
    StreamPair { reader, writer }.split()
}

/// Standard input as a connection. What is printed from now on goes to standard error.
///
/// # Errors
/// Descriptors are missing, or there are too many.
pub fn take_connection() -> io::Result<TcpStream> {
    let connection = dup(io::stdin())?;
    dup2_stdin(File::open("/dev/null")?)?;
    dup2_stdout(escaped_stream::stderr().get_ref())?;
    Ok(TcpStream::from(connection))
}

/// The standard output and standard error of a run, as texts of its voice.
pub struct RunStreams {
    /// Standard error of the agent itself.
    own_error: OwnedFd,
    /// Closed once all texts are said.
    ended: Receiver<()>,
}

impl RunStreams {
    /// Takes both. As fio prints all that comes from its servers on standard output, called `fio` both are one stream, in order.
    ///
    /// # Errors
    /// There are too many descriptors.
    pub fn take(voice: &Voice, compat: Compat) -> io::Result<RunStreams> {
        let own_error = dup(escaped_stream::stderr().get_ref())?;
        let (sender, ended) = channel();
        dup2_stdout(texts(voice, Stream::Output, sender.clone())?)?;
        match compat {
            Compat::Fio => dup2_stderr(escaped_stream::stdout().get_ref())?,
            Compat::Ferrio => dup2_stderr(texts(voice, Stream::Error, sender)?)?,
        }
        Ok(RunStreams { own_error, ended })
    }

    /// Waits until everything that was printed is said.
    pub fn finish(self) {
        // What cannot be flushed cannot be shown.
        let _ = escaped_stream::stdout().flush();
        let closed = dup2_stdout(&self.own_error).and_then(|()| dup2_stderr(&self.own_error));
        if closed.is_ok() {
            // All senders gone is the answer.
            let _ = self.ended.recv_timeout(LAST_TEXTS_TIMEOUT);
        }
    }
}

/// A pipe that keeps each write apart, so that a message stays a message, and a thread that says what comes through it.
fn texts(voice: &Voice, stream: Stream, until: Sender<()>) -> io::Result<OwnedFd> {
    let (reader, writer) = pipe2(OFlag::O_DIRECT | OFlag::O_CLOEXEC)?;
    let (mut reader, voice) = (File::from(reader), voice.clone());
    thread::Builder::new().spawn(move || {
        let mut packet = vec![0; 64 << 10];
        while let Ok(length @ 1..) = reader.read(&mut packet) {
            voice.text(stream, String::from_utf8_lossy(&packet[..length]).into_owned());
        }
        drop(until);
    })?;
    Ok(writer)
}
