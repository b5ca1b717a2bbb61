//! Figures over time of all hosts together, on the time axis of the whole run: rows of hosts are dealt out to rows of one grid in proportion
//! to the time that they share with them.

use std::collections::BTreeMap;

use ferrio_job::Direction;
use ferrio_stats::saturating_add_to;

use super::ReportedHost;
use crate::model::{DeviceSeries, DirectionSeries, Series};

/// Rows of a merged series. Longer ones have longer rows.
const MAX_ROWS: u64 = 960;
/// Disks with a series. A page with those of many hosts would show nothing.
const MAX_DISKS: usize = 16;

/// A series of one host, and when the run of the host began on the axis of the whole run, ms.
#[derive(Clone, Copy)]
pub(super) struct HostSeries<'a> {
    pub(super) series: &'a Series,
    pub(super) began_ms: u64,
}

/// The rows of the grid.
struct Grid {
    start_ms: u64,
    interval_ms: u64,
    end_ms: u64,
}

/// One row of the grid.
#[derive(Clone, Default)]
struct GridRow {
    directions: [GridIos; 3],
    errors: u64,
    depth: Option<f64>,
}

#[derive(Clone, Default)]
struct GridIos {
    ios: u64,
    bytes: u64,
    max_ns: u64,
    cells: BTreeMap<u64, u64>,
}

/// When the run of a host began on the axis of the whole run, ms.
pub(super) fn began_ms(host: &ReportedHost) -> u64 {
    let us = host.phases.first().map_or(0, |phase| phase.reached_us);
    u64::try_from(us / 1000).unwrap_or(0)
}

impl HostSeries<'_> {
    /// Beginning and end of each row on the axis of the whole run.
    fn rows(&self) -> impl Iterator<Item = (u64, u64)> {
        let shifted = |ms: u64| ms.saturating_add(self.began_ms);
        let ends = self.series.time_ms.iter().map(move |&end| shifted(end));
        let starts = std::iter::once(shifted(self.series.start_ms)).chain(ends.clone());
        starts.zip(ends).map(|(start, end)| (start, end.max(start)))
    }

    /// I/Os and bytes of a direction between two times.
    pub(super) fn between(&self, direction: Direction, from_ms: u64, to_ms: u64) -> (f64, f64) {
        let Some(columns) = self.series.direction(direction) else { return (0.0, 0.0) };
        self.rows().enumerate().fold((0.0, 0.0), |(ios, bytes), (at, (start, end))| {
            let shared = end.min(to_ms).saturating_sub(start.max(from_ms));
            let share = shared as f64 / end.saturating_sub(start).max(1) as f64;
            (ios + share * value(&columns.ios, at) as f64, bytes + share * value(&columns.bytes, at) as f64)
        })
    }
}

/// A value of a column, which a document of another program may have too short.
fn value(column: &[u64], at: usize) -> u64 {
    column.get(at).copied().unwrap_or(0)
}

/// The series of an entry of several hosts; `None` without any.
pub(super) fn merged_series(hosts: &[HostSeries<'_>]) -> Option<Series> {
    let first = hosts.first()?.series;
    let grid = Grid::over(hosts)?;
    let mut rows = vec![GridRow::default(); usize::try_from(grid.count()).ok()?];
    for host in hosts {
        for (at, row) in host.rows().enumerate() {
            add_row(&grid, &mut rows, host.series, at, row);
        }
    }
    let column = |direction: usize| {
        let columns = DirectionSeries {
            ios: rows.iter().map(|row| row.directions[direction].ios).collect(),
            bytes: rows.iter().map(|row| row.directions[direction].bytes).collect(),
            max_ns: rows.iter().map(|row| row.directions[direction].max_ns).collect(),
            cells: rows
                .iter()
                .map(|row| {
                    let cells = &row.directions[direction].cells;
                    cells.iter().flat_map(|(&bucket, &count)| [bucket, count]).collect()
                })
                .collect(),
            mean_ns: Vec::new(),
        };
        columns.ios.iter().any(|&ios| ios > 0).then_some(columns)
    };
    let ramps = hosts.iter().filter(|host| host.series.ramp_until_ms > 0);
    Some(Series {
        jobname: first.jobname.clone(),
        job_number: first.job_number,
        groupid: first.groupid,
        interval_ms: grid.interval_ms,
        start_ms: grid.start_ms,
        time_ms: (0..grid.count()).map(|row| grid.row(row).1).collect(),
        ramp_until_ms: ramps
            .map(|host| host.series.ramp_until_ms.saturating_add(host.began_ms))
            .max()
            .unwrap_or(0),
        iodepth_mean: rows.iter().map(|row| row.depth.map(|depth| (depth * 1e3).round() / 1e3)).collect(),
        errors: rows.iter().map(|row| row.errors).collect(),
        read: column(0),
        write: column(1),
        trim: column(2),
    })
}

impl Grid {
    /// A grid over the series, with rows as long as their longest; `None` if they have no time.
    fn over(hosts: &[HostSeries<'_>]) -> Option<Self> {
        let rows = || hosts.iter().flat_map(HostSeries::rows);
        let (start_ms, end_ms) = (rows().map(|row| row.0).min()?, rows().map(|row| row.1).max()?);
        let mut interval_ms = hosts.iter().map(|host| host.series.interval_ms).max()?.max(1);
        while (end_ms - start_ms).div_ceil(interval_ms) > MAX_ROWS {
            interval_ms = interval_ms.saturating_mul(2);
        }
        (end_ms > start_ms).then_some(Grid { start_ms, interval_ms, end_ms })
    }

    /// The number of rows. An end of less than a quarter of a row is too short for a rate: it belongs to the row before.
    fn count(&self) -> u64 {
        let (whole, rest) = {
            let length = self.end_ms - self.start_ms;
            (length / self.interval_ms, length % self.interval_ms)
        };
        if whole == 0 || rest.saturating_mul(4) >= self.interval_ms {
            whole + u64::from(rest > 0)
        } else {
            whole
        }
    }

    /// Beginning and end of a row.
    fn row(&self, at: u64) -> (u64, u64) {
        let start = self.start_ms.saturating_add(at.saturating_mul(self.interval_ms));
        let is_last = at + 1 == self.count();
        (start, if is_last { self.end_ms } else { start.saturating_add(self.interval_ms) })
    }

    /// The row with this moment.
    fn row_of(&self, ms: u64) -> u64 {
        (ms.saturating_sub(self.start_ms) / self.interval_ms).min(self.count() - 1)
    }
}

/// Deals a row of a host out to the rows of the grid.
fn add_row(grid: &Grid, rows: &mut [GridRow], series: &Series, at: usize, (start, end): (u64, u64)) {
    let length = (end - start).max(1);
    let middle = grid.row_of(start + (end - start) / 2);
    for row in grid.row_of(start)..=grid.row_of(end.saturating_sub(1).max(start)) {
        let (from, to) = grid.row(row);
        let [begin, finish] = [from, to].map(|edge| edge.clamp(start, end) - start);
        // Rounded sums, so that the parts add up to the whole.
        let up_to = |count: u64, ms: u64| {
            let length = u128::from(length);
            let scaled = (u128::from(count) * u128::from(ms)).saturating_add(length / 2) / length;
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        // A row without length belongs to the one that it is in.
        let finish = if end == start { length } else { finish };
        let part = |count: u64| up_to(count, finish) - up_to(count, begin);
        let Some(sums) = usize::try_from(row).ok().and_then(|row| rows.get_mut(row)) else { continue };
        saturating_add_to(&mut sums.errors, part(value(&series.errors, at)));
        if let Some(&Some(depth)) = series.iodepth_mean.get(at) {
            let share = (finish - begin) as f64 / (to - from).max(1) as f64;
            *sums.depth.get_or_insert(0.0) += depth * share;
        }
        for (direction, sum) in Direction::ALL.into_iter().zip(&mut sums.directions) {
            let Some(columns) = series.direction(direction) else { continue };
            saturating_add_to(&mut sum.ios, part(value(&columns.ios, at)));
            saturating_add_to(&mut sum.bytes, part(value(&columns.bytes, at)));
            if row == middle {
                sum.max_ns = sum.max_ns.max(value(&columns.max_ns, at));
            }
            for cell in columns.cells.get(at).iter().flat_map(|cells| cells.chunks_exact(2)) {
                let count = part(cell[1]);
                if count > 0 {
                    saturating_add_to(sum.cells.entry(cell[0]).or_default(), count);
                }
            }
        }
    }
}

/// The series of the disks of all hosts, with the names of these before theirs; none if there are many.
pub(super) fn disk_series<'a>(
    hosts: impl Iterator<Item = (&'a ReportedHost, &'a [DeviceSeries])>,
) -> Vec<DeviceSeries> {
    let of_host = |(host, disks): (&ReportedHost, &[DeviceSeries])| {
        let began = began_ms(host);
        let named = |disk: &DeviceSeries| DeviceSeries {
            name: format!("{} {}", host.name, disk.name),
            time_ms: disk.time_ms.iter().map(|ms| ms.saturating_add(began)).collect(),
            ..disk.clone()
        };
        disks.iter().map(named).collect::<Vec<_>>()
    };
    let all: Vec<DeviceSeries> = hosts.flat_map(of_host).take(MAX_DISKS + 1).collect();
    if all.len() > MAX_DISKS { Vec::new() } else { all }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads in rows of 500 ms from `start_ms` on.
    fn reads(start_ms: u64, ios: &[u64]) -> Series {
        let column = DirectionSeries {
            ios: ios.to_vec(),
            bytes: ios.iter().map(|ios| ios * 4096).collect(),
            max_ns: ios.iter().map(|ios| ios * 10).collect(),
            cells: ios.iter().map(|&ios| vec![80, ios]).collect(),
            mean_ns: Vec::new(),
        };
        Series {
            interval_ms: 500,
            start_ms,
            time_ms: (1..=ios.len() as u64).map(|row| start_ms + 500 * row).collect(),
            iodepth_mean: vec![Some(2.0); ios.len()],
            errors: vec![1; ios.len()],
            read: Some(column),
            ..Series::default()
        }
    }

    #[test]
    fn rows_that_begin_together_add_up() {
        let [a, b] = [reads(0, &[100, 200, 300]), reads(0, &[10, 20, 30])];
        let hosts = [&a, &b].map(|series| HostSeries { series, began_ms: 7 });
        let merged = merged_series(&hosts).unwrap();
        assert_eq!((merged.start_ms, &merged.time_ms), (7, &vec![507, 1007, 1507]));
        let read = merged.read.unwrap();
        assert_eq!((read.ios, read.max_ns), (vec![110, 220, 330], vec![1000, 2000, 3000]));
        assert_eq!(read.cells, [[80, 110], [80, 220], [80, 330]]);
        assert_eq!((merged.iodepth_mean, merged.errors), (vec![Some(4.0); 3], vec![2; 3]));
    }

    #[test]
    fn a_host_that_began_later_shares_its_rows_with_two() {
        let [a, b] = [reads(0, &[100, 100]), reads(0, &[40, 80])];
        // An end of 25 ms would be in the row before, and one of 125 ms is in one of its own.
        let hosts = [HostSeries { series: &a, began_ms: 0 }, HostSeries { series: &b, began_ms: 125 }];
        let merged = merged_series(&hosts).unwrap();
        assert_eq!(merged.time_ms, [500, 1000, 1125]);
        let read = merged.read.unwrap();
        assert_eq!(read.ios, [130, 170, 20]);
        // The first 375 of its 500 ms.
        assert_eq!(merged.iodepth_mean, [Some(3.5), Some(4.0), Some(2.0)]);
        let soon = [hosts[0], HostSeries { began_ms: 25, ..hosts[1] }];
        assert_eq!(merged_series(&soon).unwrap().time_ms, [500, 1025]);
        let (ios, bytes) = hosts[1].between(Direction::Read, 500, 1000);
        assert_eq!((ios, bytes), (70.0, 70.0 * 4096.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Nothing is lost, whatever the rows are like, and no document can do harm.
        #[test]
        fn the_total_is_that_of_all_hosts(
            hosts in prop::collection::vec((any::<u64>(), 0_u64..2000, prop::collection::vec((0_u64..1500, 0_u64..1 << 40), 1..20)), 1..5),
            interval_ms in 0_u64..2000,
            far in any::<bool>(),
        ) {
            let all: Vec<(u64, Series)> = hosts.iter().map(|(seed, start, rows)| {
                let began = if far { *seed } else { seed % 3000 };
                let mut at = *start;
                let ends = rows.iter().map(|(length, _)| { at += length; at }).collect();
                let ios: Vec<u64> = rows.iter().map(|&(_, ios)| ios).collect();
                (began, Series { interval_ms, time_ms: ends, ..reads(*start, &ios) })
            }).collect();
            let hosts: Vec<HostSeries<'_>> =
                all.iter().map(|(began_ms, series)| HostSeries { series, began_ms: *began_ms }).collect();
            let Some(merged) = merged_series(&hosts) else { return Ok(()) };
            prop_assert!(merged.time_ms.len() as u64 <= MAX_ROWS);
            let total = |series: &Series| series.read.iter().flat_map(|read| &read.ios).sum::<u64>();
            let wanted: u64 = all.iter().map(|(_, series)| total(series)).sum();
            if !far {
                prop_assert_eq!(total(&merged), wanted);
            }
        }
    }
}
