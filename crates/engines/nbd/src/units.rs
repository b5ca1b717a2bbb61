//! The last request of each unit: its bytes on the wire, and the state of its reply.

use ferrio_engine::Request;
use ferrio_nbd::wire::{self, REQUEST_LEN, RequestType};

/// Maximum length of a request, a multiple of every block size that exports have.
const MAX_REQUEST_BYTES: u32 = 1 << 31;

/// The last request of a unit.
struct UnitState {
    header: [u8; REQUEST_LEN],
    /// The data after the header of a write, or the destination of a read.
    buffer: *mut u8,
    /// Length of the data in bytes.
    len: u32,
    command: RequestType,
    offset: u64,
    in_flight: bool,
    /// Bytes of a read that were received so far.
    answered: u64,
    /// The first error in the reply; 0 if none.
    errno: i32,
    /// The server's message about the error.
    details: Option<String>,
}

/// The units of a job.
pub(crate) struct Units {
    units: Vec<UnitState>,
    in_flight: usize,
}

impl Units {
    pub(crate) fn new(count: u32) -> Self {
        let unit = |_| UnitState {
            header: [0; REQUEST_LEN],
            buffer: std::ptr::null_mut(),
            len: 0,
            command: RequestType::Flush,
            offset: 0,
            in_flight: false,
            answered: 0,
            errno: 0,
            details: None,
        };
        Units { units: (0..count).map(unit).collect(), in_flight: 0 }
    }

    /// Number of requests without a complete reply.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Starts a request. Its unit number is its cookie.
    pub(crate) fn begin(&mut self, request: &Request, command: RequestType, flags: u16) {
        let (offset, len) = match command {
            RequestType::Flush => (0, 0),
            // The length of a request has 32 bits: the rest of a longer one becomes another request.
            _ => (request.offset, u32::try_from(request.len).unwrap_or(MAX_REQUEST_BYTES)),
        };
        let unit = &mut self.units[request.unit as usize];
        unit.header = wire::request(command, flags, request.unit.into(), offset, len);
        (unit.buffer, unit.len, unit.command, unit.offset) = (request.buffer, len, command, offset);
        (unit.in_flight, unit.answered, unit.errno) = (true, 0, 0);
        // Frees memory only if there was a failure.
        unit.details = None;
        self.in_flight += 1;
    }

    /// The bytes of a request: its header, the start of its data, and the length of the data.
    pub(crate) fn on_wire(&self, unit: u32) -> (&[u8; REQUEST_LEN], *const u8, usize) {
        let unit = &self.units[unit as usize];
        let len = if unit.command == RequestType::Write { unit.len as usize } else { 0 };
        (&unit.header, unit.buffer, len)
    }

    /// The unit that a reply with this cookie is for; `None` if it has no request in flight.
    pub(crate) fn answered_by(&self, cookie: u64) -> Option<u32> {
        let unit = self.units.get(usize::try_from(cookie).ok()?)?;
        unit.in_flight.then_some(cookie as u32)
    }

    pub(crate) fn is_read(&self, unit: u32) -> bool {
        self.units[unit as usize].command == RequestType::Read
    }

    /// Length of a unit's request in bytes.
    pub(crate) fn len(&self, unit: u32) -> u32 {
        self.units[unit as usize].len
    }

    /// Offset in a read's buffer of the `len` bytes at this offset of the export; `None` if the read does not cover them.
    pub(crate) fn place(&self, unit: u32, offset: u64, len: u32) -> Option<u32> {
        let unit = &self.units[unit as usize];
        let at = offset.checked_sub(unit.offset)?;
        let inside = at.checked_add(len.into())? <= unit.len.into();
        (unit.command == RequestType::Read && inside).then_some(at as u32)
    }

    /// Accounts for `len` received bytes of a read.
    pub(crate) fn count(&mut self, unit: u32, len: u32) {
        self.units[unit as usize].answered += u64::from(len);
    }

    /// Address of byte `at` of a unit's buffer.
    pub(crate) fn target(&self, unit: u32, at: u32) -> *mut u8 {
        let unit = &self.units[unit as usize];
        debug_assert!(unit.in_flight && at <= unit.len);
        unit.buffer.wrapping_add(at as usize)
    }

    /// Records an error reported by the server; the first one is kept.
    pub(crate) fn fail(&mut self, unit: u32, errno: i32, details: Option<String>) {
        let unit = &mut self.units[unit as usize];
        if unit.errno == 0 {
            (unit.errno, unit.details) = (errno, details);
        }
    }

    /// Ends a request whose reply is complete: bytes moved, or a negated errno.
    pub(crate) fn finish(&mut self, unit: u32) -> i64 {
        let unit = &mut self.units[unit as usize];
        unit.in_flight = false;
        self.in_flight -= 1;
        if unit.errno == 0 && unit.command == RequestType::Read && unit.answered != u64::from(unit.len) {
            unit.errno = libc::EIO;
            unit.details = Some(format!("only {} of {} bytes", unit.answered, unit.len));
        }
        if unit.errno == 0 { unit.len.into() } else { -i64::from(unit.errno) }
    }

    /// The units without a complete reply.
    pub(crate) fn waiting(&self) -> Vec<u32> {
        (0..self.units.len() as u32).filter(|&unit| self.units[unit as usize].in_flight).collect()
    }

    /// The server's message about the failure of a unit.
    pub(crate) fn details(&self, unit: u32) -> Option<&str> {
        self.units.get(unit as usize)?.details.as_deref()
    }
}
