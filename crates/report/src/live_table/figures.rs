//! The figures of one row of the live view between two samples.

use ferrio_stats::cell_middle_ns;

use crate::series::{RowIos, SeriesRow};

/// The smallest latency of each band in ns: 1, 2 and 5 in each decade. The first band has everything below 100 ns, the last everything from
/// 100 s on.
pub const BAND_STARTS_NS: [u64; BANDS] = band_starts();
pub(super) const BANDS: usize = 29;

const fn band_starts() -> [u64; BANDS] {
    let mut starts = [0; BANDS];
    let (mut band, mut decade) = (1, 100);
    while band < BANDS {
        starts[band] = decade * [1, 2, 5][(band - 1) % 3];
        if band % 3 == 0 {
            decade *= 10;
        }
        band += 1;
    }
    starts
}

/// The figures of an entry, or of all together, between two samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveFigures {
    /// I/Os per second: read, write, trim.
    pub iops: [f64; 3],
    /// Bytes per second: read, write, trim.
    pub bandwidth: [f64; 3],
    /// Latencies of all directions together; `None` without any.
    pub latency: Option<LiveLatency>,
    /// I/Os in flight on average; `None` if no latency is measured.
    pub depth: Option<f64>,
    /// Transactions; `None` if no job of the entry does any.
    pub transactions: Option<Transactions>,
    /// Errors.
    pub errors: u64,
    /// Number of I/Os in each latency band of [`BAND_STARTS_NS`].
    pub bands: [u32; BANDS],
}

/// Transactions of the sessions of a database model.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Transactions {
    /// Transactions per second.
    pub rate: f64,
    /// Latencies of transactions; `None` without any.
    pub latency: Option<LiveLatency>,
}

/// Latencies in ns. Percentiles are accurate to 4.5 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LiveLatency {
    /// Median.
    pub p50: u64,
    /// 99th percentile.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

impl LiveFigures {
    pub(super) fn of(row: &SeriesRow, length_ms: u64) -> Self {
        let seconds = length_ms.max(1) as f64 / 1e3;
        let rate = |amount: u64| amount as f64 / seconds;
        let mut bands = [0u32; BANDS];
        let mut cells: Vec<(u64, u64)> =
            row.directions.iter().flat_map(|direction| &direction.cells).map(|(&at, &n)| (at, n)).collect();
        cells.sort_unstable();
        for &(bucket, count) in &cells {
            let band = &mut bands[band(cell_middle_ns(bucket))];
            *band = band.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        }
        let max = row.directions.iter().map(|direction| direction.max_ns).max().unwrap_or_default();
        let transactions = |ios: &RowIos| {
            let cells: Vec<(u64, u64)> = ios.cells.iter().map(|(&at, &n)| (at, n)).collect();
            Transactions { rate: rate(ios.ios), latency: LiveLatency::of(&cells, ios.max_ns) }
        };
        LiveFigures {
            iops: [0, 1, 2].map(|at| rate(row.directions[at].ios)),
            bandwidth: [0, 1, 2].map(|at| rate(row.directions[at].bytes)),
            latency: LiveLatency::of(&cells, max),
            depth: row.mean_depth(length_ms),
            transactions: row.transactions.as_ref().map(transactions),
            errors: row.errors,
            bands,
        }
    }

    /// I/Os per second in all directions.
    #[must_use]
    pub fn total_iops(&self) -> f64 {
        self.iops.iter().sum()
    }

    /// Bytes per second in all directions.
    #[must_use]
    pub fn total_bandwidth(&self) -> f64 {
        self.bandwidth.iter().sum()
    }
}

impl LiveLatency {
    /// The latencies in these buckets, which are in ascending order.
    fn of(cells: &[(u64, u64)], max: u64) -> Option<Self> {
        let percentile = |percent| percentile(cells, percent).min(max);
        (!cells.is_empty()).then(|| LiveLatency { p50: percentile(50), p99: percentile(99), max })
    }
}

/// The band of a latency of `ns`.
pub(super) fn band(ns: u64) -> usize {
    BAND_STARTS_NS.partition_point(|&start| start <= ns).saturating_sub(1)
}

/// The smallest latency in ns that at least `percent` % of the samples in these buckets do not exceed.
fn percentile(cells: &[(u64, u64)], percent: u64) -> u64 {
    let samples: u64 = cells.iter().map(|&(_, count)| count).sum();
    let wanted = u128::from(samples) * u128::from(percent);
    let mut seen = 0u128;
    for &(bucket, count) in cells {
        seen += u128::from(count) * 100;
        if seen >= wanted {
            return cell_middle_ns(bucket);
        }
    }
    0
}
