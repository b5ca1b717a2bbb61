//! The samples of latencies in a document: sums and a histogram whose buckets are narrower than 0.8 %, unlike sysbench's cells.

use std::collections::BTreeMap;

use ferrio_stats::{Latency, LatencyParts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Samples of latencies. Sums are decimal numbers in text, because few readers of JSON have integers of 128 bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(super) struct LatencyHistogram {
    /// The shortest, ns.
    min_ns: u64,
    /// The longest, ns.
    max_ns: u64,
    /// All together, ns.
    sum_ns: String,
    /// The sum of the squares, ns².
    sum_of_squares: String,
    /// Number of samples by the largest latency of their bucket, in ns. A bucket is narrower than 0.8 % of its latencies.
    counts: BTreeMap<u64, u64>,
}

impl LatencyHistogram {
    pub(super) fn of(latency: &Latency) -> Self {
        let LatencyParts { min, max, sum, sum_of_squares, counts } = latency.clone().into();
        // Without samples, the shortest has no meaning.
        let min_ns = if counts.is_empty() { 0 } else { min };
        LatencyHistogram {
            min_ns,
            max_ns: max,
            sum_ns: sum,
            sum_of_squares,
            counts: counts.into_iter().collect(),
        }
    }

    /// The latencies; `None` if the document has something that none can be.
    pub(super) fn latency(&self) -> Option<Latency> {
        let parts = LatencyParts {
            min: self.min_ns,
            max: self.max_ns,
            sum: self.sum_ns.clone(),
            sum_of_squares: self.sum_of_squares.clone(),
            counts: self.counts.iter().map(|(&ns, &count)| (ns, count)).collect(),
        };
        Latency::try_from(parts).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_come_back_as_they_were() {
        let mut latency = Latency::new();
        [1, 77_777, 77_778, 3_000_000_000, 1 << 50].iter().for_each(|&ns| latency.record(ns));
        let text = serde_json::to_string(&LatencyHistogram::of(&latency)).unwrap();
        let read: LatencyHistogram = serde_json::from_str(&text).unwrap();
        let back = read.latency().unwrap();
        assert_eq!(LatencyHistogram::of(&back), read);
        assert_eq!((back.count(), back.sum(), back.max()), (5, latency.sum(), 1 << 50));
        assert_eq!(back.stddev(), latency.stddev());
        let none = LatencyHistogram::of(&Latency::new());
        assert_eq!((none.min_ns, none.latency().unwrap().count()), (0, 0));
    }

    #[test]
    fn what_no_samples_can_be_is_refused() {
        let mut latency = Latency::new();
        latency.record(1000);
        let good = LatencyHistogram::of(&latency);
        for wrong in [
            LatencyHistogram { sum_ns: "many".into(), ..good.clone() },
            LatencyHistogram { min_ns: 2000, ..good.clone() },
            LatencyHistogram { counts: [(1003, 0)].into(), ..good.clone() },
            LatencyHistogram { sum_ns: "5000".into(), ..good },
        ] {
            assert!(wrong.latency().is_none(), "{wrong:?}");
        }
    }
}
