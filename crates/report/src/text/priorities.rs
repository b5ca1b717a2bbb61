//! Latency lines and percentile blocks of I/Os by their priority.

use std::fmt;

use super::latency::{write_percentiles, write_summary};
use crate::model::{LatencyReport, PriorityReport};
use crate::num::percent;

/// `    clat prio 2/3/0 (usec): min=...` for each priority, as class, level and hint.
pub(super) fn write_summaries(out: &mut String, priorities: &[PriorityReport]) -> fmt::Result {
    named(priorities).try_for_each(|(name, latency)| write_summary(out, &name, latency))
}

/// A block `    clat prio 2/3/0 (30.53% of IOs) percentiles (usec):` for each priority.
pub(super) fn write_blocks(out: &mut String, priorities: &[PriorityReport], precision: u8) -> fmt::Result {
    let all: u64 = named(priorities).map(|(_, latency)| latency.samples).sum();
    named(priorities).try_for_each(|(name, latency)| {
        let name = format!("{name} ({:.2}% of IOs)", percent(latency.samples, all));
        write_percentiles(out, &name, &latency.percentile, precision)
    })
}

fn named(priorities: &[PriorityReport]) -> impl Iterator<Item = (String, &LatencyReport)> {
    priorities.iter().filter_map(|report| {
        let (kind, latency) = match (&report.clat_ns, &report.lat_ns) {
            (Some(latency), _) => ("clat", latency),
            (None, Some(latency)) => ("lat", latency),
            (None, None) => return None,
        };
        let PriorityReport { prioclass, prio, priohint, .. } = report;
        Some((format!("{kind} prio {prioclass}/{prio}/{priohint}"), latency))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Percentiles;

    fn report(prio: u8, samples: u64, of_lat: bool) -> PriorityReport {
        let percentile = Percentiles(vec![(50.0, 20)]);
        let latency =
            LatencyReport { min: 10, max: 30, mean: 20.0, samples, percentile, ..Default::default() };
        let (clat_ns, lat_ns) = if of_lat { (None, Some(latency)) } else { (Some(latency), None) };
        PriorityReport { prioclass: 2, prio, priohint: 1, clat_ns, lat_ns }
    }

    #[test]
    fn each_priority_has_a_line_and_a_block_with_its_share() {
        let mut out = String::new();
        let reports = [report(3, 5, false), report(0, 15, false)];
        write_summaries(&mut out, &reports).unwrap();
        write_blocks(&mut out, &reports, 2).unwrap();
        let want = "    clat prio 2/3/1 (nsec): min=10, max=30, avg=20.00, stdev= 0.00\n    \
                    clat prio 2/0/1 (nsec): min=10, max=30, avg=20.00, stdev= 0.00\n    \
                    clat prio 2/3/1 (25.00% of IOs) percentiles (nsec):\n     | 50.00th=[   20]\n    \
                    clat prio 2/0/1 (75.00% of IOs) percentiles (nsec):\n     | 50.00th=[   20]\n";
        assert_eq!(out, want);
    }

    #[test]
    fn total_latencies_are_called_lat_and_one_priority_alone_says_nothing() {
        let mut out = String::new();
        write_summaries(&mut out, &[]).unwrap();
        write_blocks(&mut out, &[], 2).unwrap();
        assert_eq!(out, "");
        write_summaries(&mut out, &[report(7, 1, true)]).unwrap();
        assert_eq!(out, "    lat prio 2/7/1 (nsec): min=10, max=30, avg=20.00, stdev= 0.00\n");
    }
}
