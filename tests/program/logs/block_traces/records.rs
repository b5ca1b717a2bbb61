//! Records of block traces, byte by byte as `linux/blktrace_api.h` of the kernel defines them.

/// Categories of requests.
pub const READ: u64 = 1 << 0;
pub const WRITE: u64 = 1 << 1;
pub const FLUSH: u64 = 1 << 2;
pub const NOTIFY: u64 = 1 << 10;
pub const DISCARD: u64 = 1 << 13;

/// Actions.
pub const QUEUE: u64 = 1;
pub const BACK_MERGE: u64 = 2;
pub const ISSUE: u64 = 7;
pub const COMPLETE: u64 = 8;

/// The version of a record, and the order of its bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Form {
    pub version: u8,
    pub big_endian: bool,
}

pub const USUAL: Form = Form { version: 7, big_endian: false };

/// A record of thread 77 on device 8:16.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    pub time_us: u64,
    pub sector: u64,
    pub len: u32,
    pub action: u64,
    pub category: u64,
    pub pid: u32,
    pub device: (u32, u32),
    pub payload: &'a [u8],
}

/// A request that is queued.
pub fn queued(time_us: u64, sector: u64, len: u32, category: u64) -> Record<'static> {
    Record { time_us, sector, len, action: QUEUE, category, pid: 77, device: (8, 16), payload: b"" }
}

impl Record<'_> {
    pub fn bytes(&self, form: Form) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut number = |value: u64, len: usize| match form.big_endian {
            true => bytes.extend_from_slice(&value.to_be_bytes()[8 - len..]),
            false => bytes.extend_from_slice(&value.to_le_bytes()[..len]),
        };
        let device = u64::from(self.device.0 << 20 | self.device.1);
        let action = self.category << 16 | self.action;
        number(0x6561_7400 | u64::from(form.version), 4);
        number(1, 4);
        number(self.time_us * 1000, 8);
        number(self.sector, 8);
        number(u64::from(self.len), 4);
        if form.version == 8 {
            number(u64::from(self.pid), 4);
            number(action, 8);
        } else {
            number(action, 4);
            number(u64::from(self.pid), 4);
        }
        number(device, 4);
        number(0, 4);
        number(0, 2);
        number(self.payload.len() as u64, 2);
        if form.version == 8 {
            number(0, 8);
            number(0, 4);
        }
        bytes.extend_from_slice(self.payload);
        bytes
    }
}

/// A trace of these records in the usual form.
pub fn trace(records: &[Record<'_>]) -> Vec<u8> {
    in_form(USUAL, records)
}

pub fn in_form(form: Form, records: &[Record<'_>]) -> Vec<u8> {
    records.iter().flat_map(|record| record.bytes(form)).collect()
}
