//! The common interval of an entry: the time in which all of its hosts did I/O, and the rates of all hosts in it.
//!
//! fio divides all bytes by the longest run time, so that a host which ends late lowers the figure although the others were as fast as
//! before. In the common interval, all hosts load the storage at once.

use ferrio_job::Direction;

use super::host_entries::{iops, start_ms};
use super::series::{HostSeries, began_ms};
use super::{HostReport, ReportedHost};
use crate::build::record::EntryRecord;
use crate::model::{CommonDirectionReport, CommonIntervalReport};
use crate::num::per_second;

/// An entry on one host.
pub(super) type HostEntry<'a> = (&'a ReportedHost, &'a HostReport, &'a EntryRecord<'static>);

/// When an entry did I/O on one host.
struct Active<'a> {
    part: HostEntry<'a>,
    from_ms: u64,
    to_ms: u64,
}

/// The figures of the entry over time, if the host recorded them.
pub(super) fn host_series<'a>(&(host, report, entry): &HostEntry<'a>) -> Option<HostSeries<'a>> {
    let mut all = report.ferrio.series.iter();
    let series = all.find(|series| series.job_number == entry.job_number)?;
    Some(HostSeries { series, began_ms: began_ms(host) })
}

/// The common interval of entries of several hosts; `None` for one host, and if it is not known when one of them began.
pub(super) fn common_interval(entries: &[HostEntry<'_>]) -> Option<CommonIntervalReport> {
    let did_io = entries.iter().filter(|(_, _, entry)| entry.stats.total_ios() > 0);
    let active: Vec<Active<'_>> = did_io
        .map(|&part| {
            let (host, _, entry) = part;
            let from_ms = start_ms(host, entry)?;
            let longest = entry.stats.directions.iter().map(|direction| direction.runtime_ms).max()?;
            Some(Active { part, from_ms, to_ms: from_ms.saturating_add(longest) })
        })
        .collect::<Option<_>>()?;
    let &[Active { part: (_, _, first), .. }, _, ..] = active.as_slice() else { return None };
    let from_ms = active.iter().map(|one| one.from_ms).max()?;
    let to_ms = active.iter().map(|one| one.to_ms).min()?;
    let series: Option<Vec<HostSeries<'_>>> = active.iter().map(|one| host_series(&one.part)).collect();
    let direction = |direction: Direction| {
        let did = active.iter().any(|one| one.part.2.stats.directions[direction as usize].ios > 0);
        (did && to_ms > from_ms).then(|| match &series {
            Some(series) => sampled_rates(series, direction, from_ms, to_ms),
            None => mean_rates(&active, direction),
        })
    };
    Some(CommonIntervalReport {
        jobname: first.jobname.clone(),
        groupid: first.groupid,
        hosts: u32::try_from(active.len()).unwrap_or(u32::MAX),
        from_ms,
        to_ms,
        sampled: series.is_some(),
        read: direction(Direction::Read),
        write: direction(Direction::Write),
        trim: direction(Direction::Trim),
    })
}

/// The rates that hosts recorded in the interval.
fn sampled_rates(
    series: &[HostSeries<'_>],
    direction: Direction,
    from_ms: u64,
    to_ms: u64,
) -> CommonDirectionReport {
    let seconds = (to_ms - from_ms) as f64 / 1000.0;
    let (ios, bytes) = series.iter().fold((0.0, 0.0), |(ios, bytes), series| {
        let (more_ios, more_bytes) = series.between(direction, from_ms, to_ms);
        (ios + more_ios, bytes + more_bytes)
    });
    CommonDirectionReport { bw_bytes: (bytes / seconds) as u64, iops: ios / seconds }
}

/// The mean rates of all hosts together: as far as totals tell, each had its mean rate in any part of its run.
fn mean_rates(active: &[Active<'_>], direction: Direction) -> CommonDirectionReport {
    let figures = || active.iter().map(|one| &one.part.2.stats.directions[direction as usize]);
    CommonDirectionReport {
        bw_bytes: figures()
            .fold(0, |sum: u64, figures| sum.saturating_add(per_second(figures.bytes, figures.runtime_ms))),
        iops: figures().map(|figures| iops(figures.ios, figures.runtime_ms)).sum(),
    }
}
