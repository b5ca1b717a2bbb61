//! Latency lines and percentile blocks, for all I/Os and by priority: their units and the layout of their columns.

use std::fmt::{self, Write};

use ferrio_stats::saturating_total;

use crate::model::{LatencyReport, Percentiles, PriorityReport};
use crate::num::{NumberUnit, Prefixes, digits, num, percent};

/// The unit of a latency line or a percentile block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LatencyUnit {
    name: &'static str,
    ns: u64,
}

impl LatencyUnit {
    const NSEC: Self = LatencyUnit { name: "nsec", ns: 1 };
    const USEC: Self = LatencyUnit { name: "usec", ns: 1000 };
    const MSEC: Self = LatencyUnit { name: "msec", ns: 1_000_000 };

    /// The unit in which a whole line of figures is readable. A percentile block has no deviation and passes infinity.
    fn fitting(min: u64, max: u64, deviation: f64) -> Self {
        if min > 2_000_000 && max > 99_999_999 && deviation > 1_000_000.0 {
            LatencyUnit::MSEC
        } else if min > 2000 && max > 99_999 && deviation > 1000.0 {
            LatencyUnit::USEC
        } else {
            LatencyUnit::NSEC
        }
    }

    const fn rounded_up(self, ns: u64) -> u64 {
        ns.div_ceil(self.ns)
    }
}

/// Writes `    clat (usec): min=34, max=4801, avg=58.63, stdev=207.26`; nothing without samples.
pub(super) fn write_summary(out: &mut String, name: &str, latency: &LatencyReport) -> fmt::Result {
    if latency.samples == 0 {
        return Ok(());
    }
    let unit = LatencyUnit::fitting(latency.min, latency.max, latency.stddev);
    let whole = |ns| num(ns / unit.ns, 6, Prefixes::Decimal, NumberUnit::None);
    let scale = unit.ns as f64;
    writeln!(
        out,
        "    {name} ({}): min={}, max={}, avg={:>5.2}, stdev={:>5.2}",
        unit.name,
        whole(latency.min),
        whole(latency.max),
        latency.mean / scale,
        latency.stddev / scale,
    )
}

/// Writes the block `    clat percentiles (usec):` with as many columns as fit; nothing without percentiles.
pub(super) fn write_percentiles(
    out: &mut String,
    name: &str,
    percentiles: &Percentiles,
    precision: u8,
) -> fmt::Result {
    let values = || percentiles.0.iter().map(|&(_, ns)| ns);
    let (Some(min), Some(max)) = (values().min(), values().max()) else {
        return Ok(());
    };
    let unit = LatencyUnit::fitting(min, max, f64::INFINITY);
    let precision = usize::from(precision);
    let width = digits(max / unit.ns).max(5);
    let per_line = (73 / (precision + 10 + width)).max(1);
    writeln!(out, "    {name} percentiles ({}):", unit.name)?;
    let cell = |&(percent, ns): &(f64, u64)| {
        let value = unit.rounded_up(ns);
        format!(" {percent:>column$.precision$}th=[{value:>width$}]", column = precision + 3)
    };
    let line = |cells: &[(f64, u64)]| cells.iter().map(cell).collect::<Vec<_>>().join(",");
    let lines: Vec<String> = percentiles.0.chunks(per_line).map(line).collect();
    writeln!(out, "     |{}", lines.join(",\n     |"))
}

/// Formats a time setting with two decimals in the unit that keeps it below 2000 (`1500.00us`, `2.50ms`).
pub(super) fn duration(ns: u64) -> String {
    let (divisor, unit) = match ns {
        0..2_000 => (1.0, "ns"),
        2_000..2_000_000 => (1e3, "us"),
        2_000_000..2_000_000_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{:.2}{unit}", ns as f64 / divisor)
}

/// Writes `    clat prio 2/3/0 (usec): min=...` for each priority, as class, level and hint.
pub(super) fn write_priority_summaries(out: &mut String, priorities: &[PriorityReport]) -> fmt::Result {
    named(priorities).try_for_each(|(name, latency)| write_summary(out, &name, latency))
}

/// Writes a block `    clat prio 2/3/0 (30.53% of IOs) percentiles (usec):` for each priority.
pub(super) fn write_priority_percentiles(
    out: &mut String,
    priorities: &[PriorityReport],
    precision: u8,
) -> fmt::Result {
    let all = saturating_total(named(priorities).map(|(_, latency)| latency.samples));
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
    use crate::model::Pairs;

    fn block(values: &[(f64, u64)], precision: u8) -> String {
        let mut out = String::new();
        write_percentiles(&mut out, "clat", &Pairs(values.to_vec()), precision).unwrap();
        out
    }

    fn summary(min: u64, max: u64, mean: f64, stddev: f64) -> String {
        let mut out = String::new();
        let latency = LatencyReport { min, max, mean, stddev, samples: 9, ..LatencyReport::default() };
        write_summary(&mut out, " lat", &latency).unwrap();
        out
    }

    #[test]
    fn a_line_needs_min_max_and_deviation_to_step_up() {
        assert_eq!(
            summary(1973, 16_885, 3120.83, 843.3),
            "     lat (nsec): min=1973, max=16885, avg=3120.83, stdev=843.30\n"
        );
        assert_eq!(
            summary(34_232, 4_801_999, 58_630.0, 207_260.0),
            "     lat (usec): min=34, max=4801, avg=58.63, stdev=207.26\n"
        );
        assert_eq!(
            summary(91, 6_729_123, 360_055.97, 469_604.44),
            "     lat (nsec): min=91, max=6729.1k, avg=360055.97, stdev=469604.44\n"
        );
        assert_eq!(
            summary(2_000_001, 100_000_000, 3e6, 1_000_001.0),
            "     lat (msec): min=2, max=100, avg= 3.00, stdev= 1.00\n"
        );
        assert!(
            summary(2_000_001, 99_999_999, 3e6, 1_000_001.0).contains("(usec)"),
            "max is too small for msec"
        );
        assert!(
            summary(2_000_001, 100_000_000, 3e6, 1_000_000.0).contains("(usec)"),
            "deviation is too small for msec"
        );
        assert!(summary(2001, 100_000, 3e3, 1000.0).contains("(nsec)"), "deviation is too small for usec");
    }

    #[test]
    fn no_samples_no_line() {
        let mut out = String::new();
        write_summary(&mut out, "slat", &LatencyReport::default()).unwrap();
        assert_eq!(out, "");
        assert_eq!(block(&[], 2), "");
    }

    #[test]
    fn four_percentiles_fit_on_a_line_of_short_values() {
        let values = [(1.0, 36), (5.0, 37), (10.0, 38), (20.0, 39), (99.99, 4816)];
        assert_eq!(
            block(&values, 2),
            "    clat percentiles (nsec):\n     \
             |  1.00th=[   36],  5.00th=[   37], 10.00th=[   38], 20.00th=[   39],\n     \
             | 99.99th=[ 4816]\n"
        );
    }

    #[test]
    fn seven_digits_leave_room_for_three() {
        let values = [(1.0, 900), (5.0, 1336), (10.0, 2320), (99.0, 1_466_368)];
        assert_eq!(
            block(&values, 2),
            "    clat percentiles (nsec):\n     \
             |  1.00th=[    900],  5.00th=[   1336], 10.00th=[   2320],\n     \
             | 99.00th=[1466368]\n"
        );
    }

    #[test]
    fn names_have_the_precision_of_the_list() {
        let values = [(1.0, 35_072), (50.0, 38_144), (99.0, 1_155_072), (99.999, 8_847_360)];
        assert_eq!(
            block(&values, 3),
            "    clat percentiles (usec):\n     \
             |  1.000th=[   36], 50.000th=[   39], 99.000th=[ 1156], 99.999th=[ 8848]\n"
        );
        assert_eq!(block(&[(50.0, 10)], 0), "    clat percentiles (nsec):\n     |  50th=[   10]\n");
    }

    #[test]
    fn values_are_rounded_up_when_scaled() {
        assert_eq!(LatencyUnit::USEC.rounded_up(35_072), 36);
        assert_eq!(LatencyUnit::USEC.rounded_up(35_000), 35);
        assert_eq!(LatencyUnit::MSEC.rounded_up(2_000_001), 3);
    }

    #[test]
    fn settings_change_unit_at_two_thousand() {
        let texts = [0, 1999, 2000, 1_500_000, 2_500_000, 2_000_000_000].map(duration);
        assert_eq!(texts, ["0.00ns", "1999.00ns", "2.00us", "1500.00us", "2.50ms", "2.00s"]);
    }

    fn report(prio: u8, samples: u64, of_lat: bool) -> PriorityReport {
        let percentile = Pairs(vec![(50.0, 20)]);
        let latency =
            LatencyReport { min: 10, max: 30, mean: 20.0, samples, percentile, ..Default::default() };
        let (clat_ns, lat_ns) = if of_lat { (None, Some(latency)) } else { (Some(latency), None) };
        PriorityReport { prioclass: 2, prio, priohint: 1, clat_ns, lat_ns }
    }

    #[test]
    fn each_priority_has_a_line_and_a_block_with_its_share() {
        let mut out = String::new();
        let reports = [report(3, 5, false), report(0, 15, false)];
        write_priority_summaries(&mut out, &reports).unwrap();
        write_priority_percentiles(&mut out, &reports, 2).unwrap();
        let want = "    clat prio 2/3/1 (nsec): min=10, max=30, avg=20.00, stdev= 0.00\n    \
                    clat prio 2/0/1 (nsec): min=10, max=30, avg=20.00, stdev= 0.00\n    \
                    clat prio 2/3/1 (25.00% of IOs) percentiles (nsec):\n     | 50.00th=[   20]\n    \
                    clat prio 2/0/1 (75.00% of IOs) percentiles (nsec):\n     | 50.00th=[   20]\n";
        assert_eq!(out, want);
    }

    #[test]
    fn total_latencies_are_called_lat_and_one_priority_alone_has_no_line() {
        let mut out = String::new();
        write_priority_summaries(&mut out, &[]).unwrap();
        write_priority_percentiles(&mut out, &[], 2).unwrap();
        assert_eq!(out, "");
        write_priority_summaries(&mut out, &[report(7, 1, true)]).unwrap();
        assert_eq!(out, "    lat prio 2/7/1 (nsec): min=10, max=30, avg=20.00, stdev= 0.00\n");
    }
}
