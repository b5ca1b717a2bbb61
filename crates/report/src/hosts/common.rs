//! The common interval of an entry: the time in which all of its hosts did I/O, and the rates of all hosts in it.
//!
//! fio divides all bytes by the longest run time, so that a host which ends late lowers the figure although the others were as fast as
//! before. In the common interval, all hosts load the storage at once.

use super::host_entries::{iops, start_ms};
use super::{HostReport, RunHost};
use crate::build::record::EntryRecord;
use crate::model::{CommonDirectionReport, CommonIntervalReport};
use crate::num::per_second;

/// One host of an entry.
struct Part<'a> {
    entry: &'a EntryRecord<'static>,
    from_ms: u64,
    to_ms: u64,
}

/// The common interval of entries of several hosts; `None` for one host, and if it is not known when one of them began.
pub(super) fn common_interval(
    entries: &[(&RunHost, &HostReport, &EntryRecord<'static>)],
) -> Option<CommonIntervalReport> {
    let did_io = entries.iter().filter(|(_, _, entry)| entry.stats.total_ios() > 0);
    let parts: Vec<Part<'_>> = did_io
        .map(|(host, _, entry)| {
            let from_ms = start_ms(host, entry)?;
            let longest = entry.stats.directions.iter().map(|direction| direction.runtime_ms).max()?;
            Some(Part { entry, from_ms, to_ms: from_ms.saturating_add(longest) })
        })
        .collect::<Option<_>>()?;
    let &[Part { entry: first, .. }, _, ..] = parts.as_slice() else { return None };
    let from_ms = parts.iter().map(|part| part.from_ms).max()?;
    let to_ms = parts.iter().map(|part| part.to_ms).min()?;
    let direction = |at: usize| (to_ms > from_ms).then(|| rates(&parts, at)).flatten();
    Some(CommonIntervalReport {
        jobname: first.jobname.clone(),
        groupid: first.groupid,
        hosts: u32::try_from(parts.len()).unwrap_or(u32::MAX),
        from_ms,
        to_ms,
        read: direction(0),
        write: direction(1),
        trim: direction(2),
    })
}

/// The rates of all hosts together: each counts with its mean rate, which is its rate in any part of its run as far as totals tell.
fn rates(parts: &[Part<'_>], direction: usize) -> Option<CommonDirectionReport> {
    let active = || {
        let figures = parts.iter().map(|part| &part.entry.stats.directions[direction]);
        figures.filter(|figures| figures.ios > 0)
    };
    active().next()?;
    Some(CommonDirectionReport {
        bw_bytes: active()
            .fold(0, |sum: u64, figures| sum.saturating_add(per_second(figures.bytes, figures.runtime_ms))),
        iops: active().map(|figures| iops(figures.ios, figures.runtime_ms)).sum(),
    })
}
