//! sysbench's histogram of latencies: 1024 cells at equal ratios from 1 µs to 100 s, 1.8 % apart.
//!
//! Latencies come from the HDR histogram, whose buckets are narrower than 0.8 %: the middle of a bucket is within 0.4 % of each of its
//! samples. So a sample is at most one cell away from the cell that sysbench counts it in.

use ferrio_stats::Latency;

const CELLS: usize = 1024;
/// Values of the first and the last cell, ms.
const MIN_MS: f64 = 0.001;
const RATIO: f64 = 1e8;

/// How many latencies each cell has.
#[derive(Clone, Debug)]
pub(super) struct Cells(Vec<u64>);

impl Cells {
    pub(super) fn of(latency: &Latency) -> Self {
        let mut cells = vec![0; CELLS];
        for (ns, count) in latency.hdr_bins() {
            cells[cell_of(ns as f64 / 1e6)] += count;
        }
        Cells(cells)
    }

    /// The value in ms of the first cell at which the count reaches this share; that of the first of all without latencies.
    pub(super) fn percentile(&self, percent: u32) -> f64 {
        let count: u64 = self.0.iter().sum();
        let wanted = (count as f64 * f64::from(percent) / 100.0 + 0.5).floor() as u64;
        let mut seen = 0;
        let reached = self.0.iter().position(|cell| {
            seen += cell;
            seen >= wanted
        });
        value_of(reached.unwrap_or(CELLS - 1))
    }

    /// A row for each cell that is not empty.
    pub(super) fn rows(&self) -> String {
        const WIDTH: f64 = 40.0;
        let largest = self.0.iter().copied().max().unwrap_or_default();
        let mut rows = String::new();
        for (at, &count) in self.0.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let stars = (WIDTH * count as f64 / largest as f64).round() as usize;
            rows.push_str(&format!("{:12.3} |{:40} {count}\n", value_of(at), "*".repeat(stars)));
        }
        rows
    }
}

fn cell_of(ms: f64) -> usize {
    let place = ((ms / MIN_MS).ln() * (CELLS - 1) as f64 / RATIO.ln() + 0.5).floor();
    // Also of 0, whose logarithm is not finite.
    place.clamp(0.0, (CELLS - 1) as f64) as usize
}

fn value_of(cell: usize) -> f64 {
    MIN_MS * RATIO.powf(cell as f64 / (CELLS - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(all: &[u64]) -> Latency {
        let mut latency = Latency::new();
        all.iter().for_each(|&ns| latency.record(ns));
        latency
    }

    #[test]
    fn values_are_those_that_sysbench_prints() {
        let printed = |ns| format!("{:.3}", Cells::of(&latency(&[ns])).percentile(95));
        // sysbench 1.0.20 prints 308.84 and 0.32 after one event of 308.50 ms or 0.32 ms.
        assert_eq!(printed(308_500_000), "308.842");
        assert_eq!(printed(320_000), "0.318");
        assert_eq!(
            (printed(0), printed(1), printed(u64::MAX >> 2)),
            ("0.001".into(), "0.001".into(), "100000.000".into())
        );
    }

    #[test]
    fn the_middle_of_each_cell_is_in_it() {
        for cell in 0..CELLS {
            assert_eq!(cell_of(value_of(cell)), cell);
        }
    }

    #[test]
    fn a_percentile_is_the_cell_in_which_the_count_reaches_the_share() {
        let samples: Vec<u64> = (1..=100).map(|ms| ms * 1_000_000).collect();
        let cells = Cells::of(&latency(&samples));
        for (percent, ms) in [(1, 1.0), (50, 50.0), (95, 95.0), (99, 99.0), (100, 100.0)] {
            let value = cells.percentile(percent);
            assert!((value / ms - 1.0).abs() < 0.02, "{percent}: {value}");
        }
        assert_eq!(format!("{:.3}", Cells::of(&Latency::new()).percentile(95)), "0.001");
    }

    #[test]
    fn the_longest_bar_is_that_of_the_fullest_cell() {
        let samples = [1_000_000, 1_000_000, 1_000_000, 5_000_000];
        let rows = Cells::of(&latency(&samples)).rows();
        let rows: Vec<&str> = rows.lines().collect();
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[0], format!("       1.007 |{} 3", "*".repeat(40)));
        assert!(rows[1].ends_with(&format!(" |{:40} 1", "*".repeat(13))), "{}", rows[1]);
    }
}
