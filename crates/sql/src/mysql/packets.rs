//! MySQL's packets: a length of three bytes, a number, and a payload. What is longer than three bytes can say is sent as several.

use std::io::{self, Write};

use super::compression::Transport;
use crate::input::Input;

/// The payload of a packet that another one continues.
const MAX_PAYLOAD: usize = 0xff_ffff;

const HEADER: usize = 4;

/// Sends and receives packets.
#[derive(Debug)]
pub(super) struct Packets {
    transport: Transport,
    input: Input,
    /// Payload of the packet that was received last, and is still in the input.
    received: usize,
    /// Room for the header, then a payload.
    output: Vec<u8>,
    sequence: u8,
}

impl Packets {
    pub(super) fn new(transport: Transport) -> Packets {
        Packets { transport, input: Input::new(), received: 0, output: vec![0; HEADER], sequence: 0 }
    }

    pub(super) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// The login is over.
    pub(super) fn wait_without_limit(&mut self) -> io::Result<()> {
        self.transport.stream_mut().wait_without_limit()
    }

    /// Replaces the transport between two packets.
    pub(super) fn map_transport<E>(
        mut self,
        change: impl FnOnce(Transport) -> Result<Transport, E>,
    ) -> Result<Packets, E> {
        self.transport = change(self.transport)?;
        Ok(self)
    }

    /// An empty payload that begins a command; [`Packets::send`] sends what was added.
    pub(super) fn command(&mut self) -> &mut Vec<u8> {
        self.sequence = 0;
        self.transport.begin();
        self.reply()
    }

    /// An empty payload that goes on with a conversation.
    pub(super) fn reply(&mut self) -> &mut Vec<u8> {
        self.output.truncate(HEADER);
        &mut self.output
    }

    /// Sends the payload.
    pub(super) fn send(&mut self) -> io::Result<()> {
        let mut start = 0;
        loop {
            let length = (self.output.len() - start - HEADER).min(MAX_PAYLOAD);
            // The header of a further packet is written over the end of the one that is sent.
            let [low, middle, high, ..] = (length as u32).to_le_bytes();
            self.output[start..start + HEADER].copy_from_slice(&[low, middle, high, self.sequence]);
            self.sequence = self.sequence.wrapping_add(1);
            let end = start + HEADER + length;
            self.transport.write_all(&self.output[start..end])?;
            if length < MAX_PAYLOAD {
                // A large statement is rare: its memory is not kept.
                self.output.shrink_to(MAX_KEPT_OUTPUT);
                return self.transport.flush();
            }
            start = end - HEADER;
        }
    }

    /// The next packet.
    pub(super) fn receive(&mut self) -> io::Result<&[u8]> {
        self.input.consume(self.received);
        self.received = 0;
        self.input.fill(&mut self.transport, HEADER)?;
        let mut part = self.header_at(0);
        self.input.consume(HEADER);
        self.input.fill(&mut self.transport, part)?;
        let mut length = part;
        while part == MAX_PAYLOAD {
            self.input.fill(&mut self.transport, length + HEADER)?;
            part = self.header_at(length);
            self.input.remove(length, HEADER);
            self.input.fill(&mut self.transport, length + part)?;
            length += part;
        }
        self.received = length;
        Ok(&self.input.available()[..length])
    }

    /// The length of the packet whose header is there.
    fn header_at(&mut self, at: usize) -> usize {
        let header = &self.input.available()[at..at + HEADER];
        let length = usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16;
        self.sequence = header[3].wrapping_add(1);
        length
    }
}

/// Statements of a bulk load are about half a megabyte each.
const MAX_KEPT_OUTPUT: usize = 1 << 20;
