//! The threads of a connection: one reads messages, one writes them, and neither does anything else, so a slow other end delays nobody.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::carrier::{Closer, Ends, THREAD_STACK};
use crate::frame::write_frame;
use crate::intake::{Intake, LongFramePermit, LongFrames};
use crate::{FrameError, FrameReader, HostId, ToAgent, ToCoordinator};

/// Messages to an agent that wait because it does not read: pings of more than a minute. None that hears its coordinator has so many.
const UNREAD: usize = 64;

/// What comes out of a connection.
pub(crate) enum Heard {
    /// A message, and its share of the memory for long ones.
    Message(ToCoordinator, LongFramePermit),
    /// The connection is over: closed, or broken in this way.
    End(Option<FrameError>),
}

/// The coordinator's end of one connection. When it is dropped, the messages that were sent still go out before the other end is told.
pub(crate) struct Line {
    to_writer: SyncSender<ToAgent>,
    pub closer: Box<dyn Closer>,
    pub intake: Intake,
    /// What the line had taken in at the last look.
    pub seen: usize,
    /// The other end has closed it.
    pub has_ended: bool,
}

impl Line {
    pub fn open(
        host: HostId,
        ends: Ends,
        long_frames: &Arc<LongFrames>,
        inputs: SyncSender<(HostId, Heard)>,
    ) -> io::Result<Line> {
        let (to_writer, messages) = sync_channel(UNREAD);
        write_all(ends.writer, messages, || {})?;
        let reader = FrameReader::sharing(ends.reader, long_frames);
        let intake = move_messages(reader, move |heard, permit| {
            let heard = match heard {
                Ok(message) => Heard::Message(message, permit),
                Err(broken) => Heard::End(broken),
            };
            inputs.send((host, heard)).is_ok()
        })?;
        Ok(Line { to_writer, closer: ends.closer, intake, seen: 0, has_ended: false })
    }

    /// Notes that the other end is gone, and returns why. What came instead of a message says more than the carrier knows: how the command
    /// ended that wrote it.
    pub fn end(&mut self, broken: Option<FrameError>) -> String {
        self.has_ended = true;
        let last_words = self.closer.last_words();
        match (broken, last_words) {
            (
                Some(error @ (FrameError::Foreign { .. } | FrameError::TooLong { .. } | FrameError::Tls)),
                _,
            ) => error.to_string(),
            (_, Some(last_words)) => last_words,
            (Some(error), None) => error.to_string(),
            (None, None) => "it was closed".to_owned(),
        }
    }

    /// Sends a message; false if the host leaves too many unread. A message to a host that is gone goes nowhere: its end is told by the
    /// reader.
    pub fn send(&self, message: ToAgent) -> bool {
        !matches!(self.to_writer.try_send(message), Err(std::sync::mpsc::TrySendError::Full(_)))
    }

    /// Whether the host has given signs of life that no message tells of, since the last call.
    pub fn is_alive(&mut self) -> bool {
        self.intake.is_alive(&mut self.seen)
    }
}

/// Starts a thread that writes messages to a stream until there are no more senders, and calls `written` after each, also after those that
/// go nowhere because the other end is gone.
pub(crate) fn write_all<M: Serialize + Send + 'static>(
    mut stream: impl Write + Send + 'static,
    messages: Receiver<M>,
    written: impl Fn() + Send + 'static,
) -> io::Result<()> {
    let write = move || {
        let mut is_open = true;
        for message in messages {
            is_open = is_open && write_frame(&mut stream, &message).is_ok();
            written();
        }
    };
    thread::Builder::new().stack_size(THREAD_STACK).spawn(write)?;
    Ok(())
}

/// Starts a thread that gives each message to `take`, and at last why there are no more, until `take` returns false. Messages are short
/// until the other end is trusted.
pub(crate) fn move_messages<M: DeserializeOwned>(
    mut reader: FrameReader<impl Read + Send + 'static>,
    mut take: impl FnMut(Result<M, Option<FrameError>>, LongFramePermit) -> bool + Send + 'static,
) -> io::Result<Intake> {
    let intake = reader.intake();
    let held = reader.intake();
    let read = move || {
        loop {
            let message = reader.read().map_err(Some).and_then(|message| message.ok_or(None));
            let permit = reader.take_permit();
            let is_over = message.is_err();
            if !held.while_held(|| take(message, permit)) || is_over {
                return;
            }
        }
    };
    thread::Builder::new().stack_size(THREAD_STACK).spawn(read)?;
    Ok(intake)
}
