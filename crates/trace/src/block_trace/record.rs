//! One record of a block trace.

use super::DeviceNumber;

/// The first bytes of a record, with its version in the low byte.
pub(super) const MAGIC: u32 = 0x6561_7400;
/// The version whose actions have 32 bits, and the bytes of its records.
pub(super) const VERSION_7: u8 = 7;
pub(super) const LENGTH_7: usize = 48;
/// The version whose actions have 64 bits, and the bytes of its records.
pub(super) const VERSION_8: u8 = 8;
pub(super) const LENGTH_8: usize = 64;

/// Bit of an action whose payload contains the number of a control group.
const OF_CGROUP: u64 = 1 << 8;
/// Bits of the minor number in a device number.
const MINOR_BITS: u32 = 20;

/// The byte order of all numbers in a trace, which is that of the host that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The low byte first.
    Little,
    /// The high byte first.
    Big,
}

impl ByteOrder {
    /// The order in which these bytes are the magic number.
    pub(super) fn of_magic(magic: [u8; 4]) -> Option<Self> {
        [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.u32(&magic, 0) & !0xff == MAGIC)
    }

    pub(super) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = bytes[at..].first_chunk().copied().unwrap_or_default();
        if self == ByteOrder::Little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = bytes[at..].first_chunk().copied().unwrap_or_default();
        if self == ByteOrder::Little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    }

    pub(super) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let bytes = bytes[at..].first_chunk().copied().unwrap_or_default();
        if self == ByteOrder::Little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) }
    }
}

/// The kind of a request: the upper bits of the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Categories(u64);

impl Categories {
    /// The request writes; otherwise it reads.
    const WRITE: Self = Categories(1 << 1);
    /// The request flushes the device's cache, before its own data if it has any.
    const FLUSH: Self = Categories(1 << 2);
    /// The record is about no request: the name of a process, the time of day, a message.
    const NOTIFY: Self = Categories(1 << 10);
    /// The request discards.
    const DISCARD: Self = Categories(1 << 13);
    /// The request appends to a zone: it writes at a place that the device chooses.
    const ZONE_APPEND: Self = Categories(1 << 16);
    /// The request resets, finishes, opens or closes a zone, or resets all zones.
    const ZONE_MANAGEMENT: Self = Categories(0b1_1111 << 17);

    /// Whether any of these categories is set.
    const fn has(self, any: Self) -> bool {
        self.0 & any.0 != 0
    }
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceRequest {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// A flush followed by a write, as in commits of journals.
    FlushAndWrite,
    /// Flushes the device's cache.
    Flush,
    /// Discards a range.
    Discard,
    /// Resets, finishes, opens or closes zones.
    ZoneManagement,
}

/// The events of a request that matter to replay and summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceAction {
    /// The request enters the block layer.
    Queue,
    /// The request is merged with a queued one.
    Merge,
    /// The request is sent to the driver.
    Issue,
    /// The request is completed.
    Complete,
    /// Any other event.
    Other,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRecord {
    /// Nanoseconds: since the first request in the output of `blkparse -d`, since the start of the host in that of blktrace and in all
    /// notes.
    pub time_ns: u64,
    /// Start of the request in sectors of 512 bytes.
    pub sector: u64,
    /// Bytes of the request.
    pub len: u32,
    /// The recorded action with its categories.
    pub code: u64,
    /// Number of the thread.
    pub pid: u32,
    /// Number of the traced device.
    pub device: DeviceNumber,
    /// The CPU that recorded it.
    pub cpu: u32,
    /// Number of the record.
    pub(super) sequence: u32,
    /// Errno of a completion.
    pub(super) error: u16,
    /// Bytes of the payload after the record.
    pub(super) payload: u16,
}

impl TraceRecord {
    /// The event.
    #[must_use]
    pub const fn action(&self) -> TraceAction {
        match self.code & 0xffff & !OF_CGROUP {
            1 => TraceAction::Queue,
            2 | 3 => TraceAction::Merge,
            7 => TraceAction::Issue,
            8 => TraceAction::Complete,
            _ => TraceAction::Other,
        }
    }

    const fn categories(&self) -> Categories {
        Categories(self.code >> 16)
    }

    /// The operation; `None` for a note, which is about no request.
    #[must_use]
    pub const fn request(&self) -> Option<TraceRequest> {
        let categories = self.categories();
        Some(if categories.has(Categories::NOTIFY) {
            return None;
        } else if categories.has(Categories::DISCARD) {
            TraceRequest::Discard
        } else if categories.has(Categories::ZONE_MANAGEMENT) {
            TraceRequest::ZoneManagement
        } else if categories.has(Categories::FLUSH) {
            let writes = categories.has(Categories::WRITE) && self.len > 0;
            if writes { TraceRequest::FlushAndWrite } else { TraceRequest::Flush }
        } else if categories.has(Categories::WRITE) || categories.has(Categories::ZONE_APPEND) {
            TraceRequest::Write
        } else {
            TraceRequest::Read
        })
    }

    /// Start of the request in bytes.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.sector.saturating_mul(512)
    }

    /// Reads a record of version 7 or 8.
    pub(super) fn read(version: u8, bytes: &[u8], order: ByteOrder) -> Self {
        let (code, pid, rest) = match version {
            VERSION_7 => (u64::from(order.u32(bytes, 28)), order.u32(bytes, 32), &bytes[36..]),
            _ => (order.u64(bytes, 32), order.u32(bytes, 28), &bytes[40..]),
        };
        TraceRecord {
            sequence: order.u32(bytes, 4),
            time_ns: order.u64(bytes, 8),
            sector: order.u64(bytes, 16),
            len: order.u32(bytes, 24),
            code,
            pid,
            device: device(order.u32(rest, 0)),
            cpu: order.u32(rest, 4),
            error: order.u16(rest, 8),
            payload: order.u16(rest, 10),
        }
    }

    /// The record in version 7 and the byte order of this host, without payload. Categories of zoned devices are lost; an append becomes a
    /// write.
    pub(super) fn to_version_7(self) -> [u8; LENGTH_7] {
        let is_append = self.categories().has(Categories::ZONE_APPEND);
        let category = if is_append { Categories::WRITE.0 << 16 } else { 0 };
        let code = u32::try_from((self.code & !OF_CGROUP | category) & 0xffff_ffff).unwrap_or_default();
        // Both numbers came from 32 bits.
        let device = u32::try_from(self.device.0 << MINOR_BITS | self.device.1).unwrap_or(u32::MAX);
        let mut bytes = [0; LENGTH_7];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &(MAGIC | u32::from(VERSION_7)).to_ne_bytes());
        put(4, &self.sequence.to_ne_bytes());
        put(8, &self.time_ns.to_ne_bytes());
        put(16, &self.sector.to_ne_bytes());
        put(24, &self.len.to_ne_bytes());
        put(28, &code.to_ne_bytes());
        put(32, &self.pid.to_ne_bytes());
        put(36, &device.to_ne_bytes());
        put(40, &self.cpu.to_ne_bytes());
        put(44, &self.error.to_ne_bytes());
        bytes
    }
}

fn device(number: u32) -> DeviceNumber {
    (u64::from(number >> MINOR_BITS), u64::from(number & ((1 << MINOR_BITS) - 1)))
}
