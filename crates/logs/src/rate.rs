//! Logs of bandwidths and I/O rates (`write_bw_log`, `write_iops_log`): a row for each I/O, or one for each interval.

use ferrio_job::LogKind;

use crate::record::LogRow;
use crate::sample::{IoSample, RateSample, milliseconds};

/// The row of one I/O: its own rate. `None` in logs of other kinds.
#[inline]
pub(crate) fn io_row(kind: LogKind, sample: &IoSample) -> Option<LogRow> {
    let value = match kind {
        // kB/s, not KiB/s as in averaged rows.
        LogKind::Bandwidth => sample.len * 1_000_000 / sample.clat_ns.max(1),
        LogKind::Iops => 1,
        _ => return None,
    };
    Some(LogRow::of_io(sample, milliseconds(sample.time_ns), value))
}

/// The rows of an interval, one per direction with progress: its only sample is average and maximum.
pub(crate) fn interval_rows(sample: &RateSample) -> impl Iterator<Item = LogRow> {
    let RateSample { time_ms, per_second } = *sample;
    (0..).zip(per_second).filter(|&(_, value)| value > 0).map(move |(direction, value)| LogRow {
        time_ms,
        value,
        maximum: value,
        direction,
        ..LogRow::default()
    })
}
