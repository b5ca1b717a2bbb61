//! What carries a conversation: a pair of byte streams, and a way to end both.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::{Challenge, Token};

/// Stack of a thread that only moves messages: a run on a thousand hosts has a few thousand of them.
pub(crate) const THREAD_STACK: usize = 128 << 10;

/// Both directions of a connection that is open.
pub struct Ends {
    /// From the other end.
    pub reader: Box<dyn Read + Send>,
    /// To the other end.
    pub writer: Box<dyn Write + Send>,
    /// Ends the connection, also while a thread waits in `reader` or `writer`.
    pub closer: Box<dyn Closer>,
    /// What the other end has to prove to have. None over ssh and other commands, where whoever can start the agent may use it.
    pub token: Option<Token>,
}

impl Ends {
    /// The same, and the other end has to prove that it has this token.
    #[must_use]
    pub fn with_token(self, token: Option<Token>) -> Ends {
        Ends { token, ..self }
    }

    /// What this end asks the other one.
    pub(crate) fn challenge(&self) -> io::Result<Option<Challenge>> {
        self.token.clone().map(Challenge::random).transpose()
    }
}

/// Ends a connection.
pub trait Closer: Send {
    /// Ends both directions. A read that waits returns.
    fn close(&mut self);

    /// Waits until everything that was written has left this process, but not for long; nothing is written afterwards.
    fn flush(&mut self, _timeout: Duration) {}

    /// Why the other end is gone, if the carrier knows more than that it is: the last words of `ssh`, for example. Called after the end.
    fn last_words(&mut self) -> Option<String> {
        None
    }
}

/// Something that a conversation can run over.
pub trait Carrier {
    /// Splits it.
    ///
    /// # Errors
    ///
    /// The kernel refuses, for example because the process has too many open files.
    fn split(self) -> io::Result<Ends>;
}

/// A connected socket.
trait Socket: Read + Write + Send + Sized + 'static {
    fn second(&self) -> io::Result<Self>;
    fn end(&self, directions: Shutdown) -> io::Result<()>;
}

impl Socket for TcpStream {
    fn second(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self, directions: Shutdown) -> io::Result<()> {
        self.shutdown(directions)
    }
}

impl Socket for UnixStream {
    fn second(&self) -> io::Result<Self> {
        self.try_clone()
    }

    fn end(&self, directions: Shutdown) -> io::Result<()> {
        self.shutdown(directions)
    }
}

/// The half of a socket that sends: the other end is told when it is dropped.
struct SendingHalf<S: Socket>(S);

impl<S: Socket> Write for SendingHalf<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl<S: Socket> Drop for SendingHalf<S> {
    fn drop(&mut self) {
        // Closed already by the other end.
        let _ = self.0.end(Shutdown::Write);
    }
}

/// Ends a socket.
struct SocketCloser<S: Socket>(S);

impl<S: Socket> Closer for SocketCloser<S> {
    fn close(&mut self) {
        let _ = self.0.end(Shutdown::Both);
    }
}

fn split_socket<S: Socket>(socket: S) -> io::Result<Ends> {
    Ok(Ends {
        reader: Box::new(socket.second()?),
        writer: Box::new(SendingHalf(socket.second()?)),
        closer: Box::new(SocketCloser(socket)),
        token: None,
    })
}

impl Carrier for TcpStream {
    fn split(self) -> io::Result<Ends> {
        // A message is one write and waits for nothing.
        self.set_nodelay(true)?;
        split_socket(self)
    }
}

impl Carrier for UnixStream {
    fn split(self) -> io::Result<Ends> {
        split_socket(self)
    }
}

/// Two streams, such as those that `ssh` gave the agent that it started as standard input and output.
#[derive(Clone, Copy, Debug)]
pub struct StreamPair<R, W> {
    /// From the other end.
    pub reader: R,
    /// To the other end.
    pub writer: W,
}

/// Streams that end with the process.
struct EndsWithProcess;

impl Closer for EndsWithProcess {
    fn close(&mut self) {}
}

impl<R: Read + Send + 'static, W: Write + Send + 'static> Carrier for StreamPair<R, W> {
    fn split(self) -> io::Result<Ends> {
        Ok(Ends {
            reader: Box::new(self.reader),
            writer: Box::new(self.writer),
            closer: Box::new(EndsWithProcess),
            token: None,
        })
    }
}

/// Bytes of the last line of a command that are kept.
const MAX_LAST_LINE: usize = 1 << 10;

/// How long after its output the last words of a command are awaited. A program that it has left behind, such as the master of ssh's shared
/// connections, may hold its standard error for ever.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_millis(500);

/// The output of a command, which ends when its last words are known.
struct CommandOutput {
    stdout: ChildStdout,
    /// Closed at the end of standard error.
    stderr_ended: Receiver<()>,
}

impl Read for CommandOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stdout.read(buffer)?;
        if length == 0 && !buffer.is_empty() {
            // That there is no sender is the answer.
            let _ = self.stderr_ended.recv_timeout(LAST_WORDS_TIMEOUT);
        }
        Ok(length)
    }
}

/// How long a command that has closed its output and said nothing may take to end.
const STATUS_TIMEOUT: Duration = Duration::from_millis(50);

struct RunningCommand {
    child: Child,
    last_line: Arc<Mutex<Vec<u8>>>,
}

impl RunningCommand {
    /// Kills it and what it has started, such as the commands of a shell.
    fn kill(&mut self) {
        // Once it is reaped, its number may be that of somebody else.
        if matches!(self.child.try_wait(), Ok(None))
            && let Ok(group) = i32::try_from(self.child.id())
        {
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
    }

    /// Its exit status, if it ends soon.
    fn status(&mut self) -> Option<ExitStatus> {
        let begin = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if begin.elapsed() < STATUS_TIMEOUT => thread::sleep(Duration::from_millis(1)),
                ended => return ended.ok().flatten(),
            }
        }
    }
}

impl Closer for RunningCommand {
    fn close(&mut self) {
        // Its ends of the pipes go with it, so no reader waits for ever.
        self.kill();
    }

    fn last_words(&mut self) -> Option<String> {
        let line = self.last_line.lock().ok()?;
        let text: String = String::from_utf8_lossy(&line).chars().filter(|c| !c.is_control()).collect();
        if !text.is_empty() {
            return Some(text);
        }
        drop(line);
        let status = self.status()?;
        (!status.success()).then(|| format!("the command ended with {status}"))
    }
}

impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.kill();
        let _ = self.child.wait();
    }
}

impl Carrier for Command {
    /// Starts the command, whose standard streams carry the conversation.
    fn split(mut self) -> io::Result<Ends> {
        // A Ctrl-C is for the coordinator, which tells the agents itself.
        self.process_group(0);
        let mut child = self.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("a command without pipes"));
        };
        let last_line = Arc::default();
        let kept = Arc::clone(&last_line);
        // Always read: a command that fills the pipe would wait for ever.
        let (until, stderr_ended) = channel();
        thread::Builder::new().stack_size(THREAD_STACK).spawn(move || {
            keep_last_line(stderr, &kept);
            drop::<Sender<()>>(until);
        })?;
        Ok(Ends {
            reader: Box::new(CommandOutput { stdout, stderr_ended }),
            writer: Box::new(stdin),
            closer: Box::new(RunningCommand { child, last_line }),
            token: None,
        })
    }
}

/// Reads to the end, and keeps the last line that is not empty.
fn keep_last_line(stream: impl Read, kept: &Mutex<Vec<u8>>) {
    let (mut stream, mut line) = (BufReader::new(stream), Vec::new());
    // What goes on without an end is cut into lines.
    while let Ok(1..) = stream.by_ref().take(MAX_LAST_LINE as u64).read_until(b'\n', &mut line) {
        let words = line.trim_ascii();
        if !words.is_empty()
            && let Ok(mut kept) = kept.lock()
        {
            *kept = words.to_vec();
        }
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_has_started_ends_with_it() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & echo $!; wait"]);
        let Ends { mut reader, mut closer, .. } = command.split().unwrap();
        let mut pid = Vec::new();
        while pid.last() != Some(&b'\n') {
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            pid.push(byte[0]);
        }
        closer.close();
        // The sleep holds the pipe, too: there is an end only if it is gone.
        assert_eq!(reader.read_to_end(&mut Vec::new()).unwrap(), 0);
    }

    #[test]
    fn the_last_words_of_a_command_are_known_at_the_end_of_its_output() {
        let mut command = Command::new("sh");
        command.args(["-c", "exec >&-; read words; echo first >&2; echo \"$words\" >&2"]);
        let Ends { mut reader, mut writer, mut closer, .. } = command.split().unwrap();
        let read = thread::spawn(move || reader.read_to_end(&mut Vec::new()));
        writer.write_all(b"why \x1b[31m\n").unwrap();
        assert_eq!(read.join().unwrap().unwrap(), 0);
        assert_eq!(closer.last_words().as_deref(), Some("why [31m"));
    }
}
