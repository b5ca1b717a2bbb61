//! The layouts of published traces.

use super::ColumnMeaning::{self, Begin, Kind, KindNumber, Latency, Length, Offset, Target};
use super::{MICRO, SECOND, SECTOR};

/// A tick of Windows file times, in nanoseconds.
const TICK: u64 = 100;

/// The layout of a published trace.
#[derive(Debug)]
pub struct TraceLayout {
    pub(super) columns: &'static [ColumnMeaning],
    /// The first line of some of its files.
    pub(super) header: &'static str,
    /// The prefix of names of devices.
    pub(super) prefix: &'static str,
}

/// Microsoft Research, Cambridge: enterprise servers, 2007.
pub const MSR: TraceLayout = TraceLayout {
    columns: &[Begin(TICK), Target, Target, Kind, Offset(1), Length(1), Latency(TICK)],
    header: "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    prefix: "",
};

/// SYSTOR '17: a virtual desktop infrastructure.
pub const SYSTOR: TraceLayout = TraceLayout {
    columns: &[Begin(SECOND), Latency(SECOND), Kind, Target, Offset(1), Length(1)],
    header: "Timestamp,Response,IOType,LUN,Offset,Size",
    prefix: "lun",
};

/// Alibaba Cloud block traces, 2020.
pub const ALIBABA: TraceLayout = TraceLayout {
    columns: &[Target, Kind, Offset(1), Length(1), Begin(MICRO)],
    header: "device_id,opcode,offset,length,timestamp",
    prefix: "device",
};

/// Tencent cloud block storage, 2018.
pub const TENCENT: TraceLayout = TraceLayout {
    columns: &[Begin(SECOND), Offset(SECTOR), Length(SECTOR), KindNumber, Target],
    header: "Timestamp,Offset,Size,IOType,VolumeID",
    prefix: "volume",
};

/// The format of the Storage Performance Council: the OLTP and search traces of the University of Massachusetts.
pub const SPC: TraceLayout = TraceLayout {
    columns: &[Target, Offset(SECTOR), Length(1), Kind, Begin(SECOND)],
    header: "ASU,LBA,Size,Opcode,Timestamp",
    prefix: "asu",
};
