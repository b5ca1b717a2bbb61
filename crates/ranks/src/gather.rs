//! Rank 0 waits for the others.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use ferrio_hosts::{Carrier, Ends, FrameReader, write_frame};

use crate::RendezvousError;
use crate::gathering::Gathering;
use crate::greeting::{FromFirst, FromRank, Refusal, RunIdentity, shortened};
use crate::secret::digits;

/// How long a greeting may take. A stranger who says nothing keeps one of [`MAX_PENDING`] places for so long.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// Greetings at a time; the kernel keeps the next ones waiting.
const MAX_PENDING: usize = 128;

/// Time between two looks for new connections.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(10);

/// Stack of a thread that holds one greeting.
const THREAD_STACK: usize = 128 << 10;

/// Strangers that are reported; more would fill a terminal.
const MAX_NOTES: usize = 10;

/// Where and how long rank 0 waits.
pub struct Waiting<'a> {
    /// The run.
    pub run: RunIdentity,
    /// Listens where the others look.
    pub listener: TcpListener,
    /// How long.
    pub timeout: Duration,
    /// For messages: where the others look.
    pub place: String,
    /// Set when the wait is to end.
    pub stop: &'a AtomicBool,
    /// Takes lines about connections that are refused.
    pub note: &'a mut dyn FnMut(String),
}

/// A rank that has greeted, and waits to be told that all have.
struct Greeted {
    rank: u64,
    host: String,
    ends: Ends,
}

/// How a greeting ended.
type Outcome = Result<Greeted, Refusal>;

/// A greeting that goes on.
struct Pending {
    id: usize,
    since: Instant,
    peer: SocketAddr,
    stream: TcpStream,
}

impl Waiting<'_> {
    /// Waits until all other ranks have come, and returns the names of their hosts and their connections in the order of ranks.
    ///
    /// # Errors
    ///
    /// Some have not come in time, a signal has come, or the kernel refuses.
    pub fn gather(self) -> Result<Vec<(String, Ends)>, RendezvousError> {
        self.listener.set_nonblocking(true)?;
        let begin = Instant::now();
        let (sender, outcomes) = channel();
        let mut gathering = Gathering::new(self.run.ranks);
        let mut pending: Vec<Pending> = Vec::new();
        let mut notes = 0;
        let mut id = 0;
        while !gathering.is_complete() {
            if self.stop.load(Relaxed) {
                return Err(RendezvousError::Stopped);
            }
            if begin.elapsed() >= self.timeout {
                return Err(self.give_up(gathering));
            }
            while pending.len() < MAX_PENDING
                && let Some((stream, peer)) = accepted(&self.listener)?
            {
                id += 1;
                let since = Instant::now();
                pending.push(Pending { id, since, peer, stream: stream.try_clone()? });
                start_greeting(id, stream, self.run.clone(), sender.clone())?;
            }
            for late in pending.iter().filter(|greeting| greeting.since.elapsed() >= GREETING_TIMEOUT) {
                // Its thread then finds the end of the stream.
                let _ = late.stream.shutdown(Shutdown::Both);
            }
            let Some((id, outcome)) = next(&outcomes) else { continue };
            let peer =
                pending.iter().position(|greeting| greeting.id == id).map(|at| pending.remove(at).peer);
            let refused = match outcome {
                Ok(greeted) => gathering
                    .arrive(greeted.rank, (greeted.host, greeted.ends))
                    .map_err(|((_, mut ends), refusal)| {
                        let _ = write_frame(&mut ends.writer, &refusal.message());
                        refusal
                    })
                    .err(),
                Err(refusal) => Some(refusal),
            };
            if let Some((refusal, peer)) = refused.zip(peer) {
                notes += 1;
                if notes <= MAX_NOTES {
                    (self.note)(format!("a connection from {peer} was refused: {refusal}"));
                }
            }
        }
        for greeting in &pending {
            let _ = greeting.stream.shutdown(Shutdown::Both);
        }
        let mut ranks: Vec<(String, Ends)> = gathering.into_ranks().collect();
        for (_, ends) in &mut ranks {
            // One who is gone by now is lost to the conversation, which says so.
            let _ = write_frame(&mut ends.writer, &FromFirst::Complete);
        }
        Ok(ranks)
    }

    /// Lets those go who have come.
    fn give_up(self, gathering: Gathering<(String, Ends)>) -> RendezvousError {
        let missing = gathering.names_of_missing();
        let count = gathering.missing();
        for (_, mut ends) in gathering.into_ranks() {
            let _ = write_frame(&mut ends.writer, &FromFirst::Incomplete { missing: missing.clone() });
        }
        RendezvousError::Missing { missing, count, timeout: self.timeout, place: self.place }
    }
}

/// A new connection, if there is one.
fn accepted(listener: &TcpListener) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    match listener.accept() {
        Ok((stream, peer)) => {
            stream.set_nonblocking(false)?;
            Ok(Some((stream, peer)))
        }
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted => {
                Ok(None)
            }
            _ => Err(error),
        },
    }
}

fn next(outcomes: &Receiver<(usize, Outcome)>) -> Option<(usize, Outcome)> {
    outcomes.recv_timeout(ACCEPT_INTERVAL).ok()
}

fn start_greeting(
    id: usize,
    stream: TcpStream,
    run: RunIdentity,
    outcomes: Sender<(usize, Outcome)>,
) -> io::Result<()> {
    let greet = move || {
        let outcome = greeted(stream, &run);
        // Nobody waits any more if all have come.
        let _ = outcomes.send((id, outcome));
    };
    thread::Builder::new().stack_size(THREAD_STACK).spawn(greet)?;
    Ok(())
}

/// Holds rank 0's end of a greeting.
fn greeted(stream: TcpStream, run: &RunIdentity) -> Outcome {
    let foreign = |error: &dyn std::fmt::Display| Refusal::Foreign(error.to_string());
    let mut ends = stream.split().map_err(|error| foreign(&error))?;
    let mut reader = FrameReader::new(ends.reader);
    let mut answer = || -> Result<(u64, String), Refusal> {
        let Some(FromRank::Rank(rank)) = reader.read().map_err(|error| foreign(&error))? else {
            return Err(foreign(&"it ended or began with another message"));
        };
        run.check(&rank)?;
        let nonce = digits().map_err(|error| foreign(&error))?;
        write_frame(&mut ends.writer, &run.challenge(&rank, &nonce)).map_err(|error| foreign(&error))?;
        let Some(FromRank::Proof { proof }) = reader.read().map_err(|error| foreign(&error))? else {
            return Err(foreign(&"it did not answer the challenge"));
        };
        run.check_proof(rank.rank, [&rank.nonce, &nonce], &proof)?;
        Ok((rank.rank, shortened(&rank.host)))
    };
    match answer() {
        Ok((rank, host)) => {
            Ok(Greeted { rank, host, ends: Ends { reader: Box::new(reader.into_stream()), ..ends } })
        }
        Err(refusal) => {
            let _ = write_frame(&mut ends.writer, &refusal.message());
            Err(refusal)
        }
    }
}
