//! The figures of a direction over the runs of a side.

use ferrio_report::Unit;
use ferrio_report::model::DirectionReport;
use ferrio_stats::{saturating_add_to, saturating_total};
use serde::{Serialize, Serializer};

use crate::job_entry::EVENTS;
use crate::run_parts::RunPart;
use crate::statistics::{Statistic, mean};

/// A figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Events of a test of sysbench per second.
    Events,
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean completion latency in ns; mean total latency where there is no completion latency.
    MeanLatency,
    /// A percentile of the same latency, in percent.
    Percentile(f64),
}

impl Figure {
    /// All figures of events in the order of the table. 95 % is what sysbench reports.
    const OF_EVENTS: [Figure; 6] = [
        Figure::Events,
        Figure::MeanLatency,
        Figure::Percentile(50.0),
        Figure::Percentile(95.0),
        Figure::Percentile(99.0),
        Figure::Percentile(99.9),
    ];

    /// The figures of a direction.
    pub(crate) fn of(direction: &str) -> &'static [Figure] {
        if direction == EVENTS { &Figure::OF_EVENTS } else { &Figure::ALL }
    }

    /// All figures of I/O in the order of the table.
    pub const ALL: [Figure; 6] = [
        Figure::Iops,
        Figure::Bandwidth,
        Figure::MeanLatency,
        Figure::Percentile(50.0),
        Figure::Percentile(99.0),
        Figure::Percentile(99.9),
    ];

    /// The name in tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Figure::Events => "events/s".to_owned(),
            Figure::Iops => "iops".to_owned(),
            Figure::Bandwidth => "bw".to_owned(),
            Figure::MeanLatency => "latency mean".to_owned(),
            Figure::Percentile(percent) => format!("latency p{percent}"),
        }
    }

    /// The unit.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Figure::Events | Figure::Iops => Unit::PerSecond,
            Figure::Bandwidth => Unit::BytesPerSecond,
            Figure::MeanLatency | Figure::Percentile(_) => Unit::Nanoseconds,
        }
    }

    /// Whether a larger figure is better.
    #[must_use]
    pub const fn more_is_better(self) -> bool {
        matches!(self, Figure::Events | Figure::Iops | Figure::Bandwidth)
    }
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

/// One figure of every run of a side.
#[derive(Debug)]
pub(crate) enum Values {
    /// A number per run; the figure of the side is their mean.
    Means(Vec<f64>),
    /// Samples per run in common buckets; the figure of the side is the percentile of all samples.
    Histograms(RunHistograms),
}

/// Histograms of several runs.
#[derive(Debug)]
pub(crate) struct RunHistograms {
    percent: f64,
    /// The representative values of the buckets, ascending.
    values: Vec<f64>,
    /// Per run, the samples in each bucket.
    counts: Vec<Vec<u64>>,
}

impl Values {
    /// The figure of one direction of the same job in each run; `None` if a run lacks it.
    pub(crate) fn of(figure: Figure, runs: &[&DirectionReport]) -> Option<Self> {
        let means = |value: &dyn Fn(&DirectionReport) -> Option<f64>| {
            let all: Option<Vec<f64>> = runs.iter().map(|run| value(run)).collect();
            all.map(Values::Means)
        };
        match figure {
            Figure::Events | Figure::Iops => means(&|run| Some(run.iops)),
            Figure::Bandwidth => means(&|run| Some(run.bw_bytes as f64)),
            Figure::MeanLatency => means(&|run| Some(run.shown_latency()?.mean)),
            Figure::Percentile(percent) => {
                let latencies: Vec<_> = runs.iter().map(|run| run.shown_latency()).collect::<Option<_>>()?;
                if latencies.iter().all(|latency| !latency.bins.is_empty()) {
                    let bins: Vec<&[(u64, u64)]> =
                        latencies.iter().map(|latency| latency.bins.0.as_slice()).collect();
                    return Some(Values::Histograms(RunHistograms::new(percent, &bins)));
                }
                means(&|run| Some(run.shown_latency()?.listed(percent)? as f64))
            }
        }
    }

    /// The figure in the parts of one run; `None` if the run lacks it.
    pub(crate) fn of_pieces(figure: Figure, pieces: &[RunPart]) -> Option<Self> {
        match figure {
            // Documents of sysbench have no such parts.
            Figure::Events => None,
            Figure::Iops => Some(Values::Means(pieces.iter().map(RunPart::iops).collect())),
            Figure::Bandwidth => Some(Values::Means(pieces.iter().map(RunPart::bandwidth).collect())),
            Figure::MeanLatency => {
                let means: Option<Vec<f64>> = pieces.iter().map(RunPart::mean_latency).collect();
                means.map(Values::Means)
            }
            Figure::Percentile(percent) => {
                let bins: Vec<Vec<(u64, u64)>> = pieces.iter().map(|piece| piece.bins().collect()).collect();
                bins.iter()
                    .all(|bins| !bins.is_empty())
                    .then(|| Values::Histograms(RunHistograms::new(percent, &bins)))
            }
        }
    }

    /// The figure over all runs of the side.
    pub(crate) fn whole(&self) -> f64 {
        let all: Vec<usize> = (0..self.runs()).collect();
        self.of(&all, &mut Vec::new())
    }
}

impl Statistic for Values {
    fn runs(&self) -> usize {
        match self {
            Values::Means(values) => values.len(),
            Values::Histograms(histograms) => histograms.counts.len(),
        }
    }

    fn of(&self, runs: &[usize], without: &mut Vec<f64>) -> f64 {
        match self {
            Values::Means(values) => mean(values, runs, without),
            Values::Histograms(histograms) => histograms.of(runs, without),
        }
    }
}

impl RunHistograms {
    /// Brings the buckets and counts of all runs to common buckets.
    fn new(percent: f64, runs: &[impl AsRef<[(u64, u64)]>]) -> Self {
        let mut values: Vec<u64> =
            runs.iter().flat_map(|bins| bins.as_ref().iter().map(|&(ns, _)| ns)).collect();
        values.sort_unstable();
        values.dedup();
        let counts = runs.iter().map(|bins| {
            let mut counts = vec![0; values.len()];
            for (ns, count) in bins.as_ref() {
                if let Ok(bucket) = values.binary_search(ns) {
                    saturating_add_to(&mut counts[bucket], *count);
                }
            }
            counts
        });
        RunHistograms {
            percent,
            counts: counts.collect(),
            values: values.iter().map(|&ns| ns as f64).collect(),
        }
    }

    /// The percentile of these runs together, and `without` each of them.
    fn of(&self, runs: &[usize], without: &mut Vec<f64>) -> f64 {
        let mut all = vec![0; self.values.len()];
        for &run in runs {
            all.iter_mut().zip(&self.counts[run]).for_each(|(sum, count)| saturating_add_to(sum, *count));
        }
        if runs.len() > 1 {
            let left_out = runs.iter().map(|&run| &self.counts[run]);
            without
                .extend(left_out.map(|one| self.percentile(all.iter().zip(one).map(|(all, one)| all - one))));
        }
        self.percentile(all.iter().copied())
    }

    /// The percentile of these samples. Within a bucket they are taken to be spread evenly from the previous value: otherwise small shifts
    /// of a distribution would not show.
    fn percentile(&self, counts: impl Iterator<Item = u64> + Clone) -> f64 {
        let rank = saturating_total(counts.clone()) as f64 * self.percent / 100.0;
        let (mut below, mut before) = (0.0, None);
        for (&value, count) in self.values.iter().zip(counts).filter(|(_, count)| *count > 0) {
            let count = count as f64;
            if below + count >= rank {
                let from = before.unwrap_or(value);
                return from + (value - from) * ((rank - below) / count).clamp(0.0, 1.0);
            }
            before = Some(value);
            below += count;
        }
        before.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use ferrio_report::model::Pairs;

    use super::*;

    fn run(iops: f64, bins: &[(u64, u64)]) -> DirectionReport {
        let mut run = DirectionReport { iops, ..DirectionReport::default() };
        run.clat_ns.samples = bins.iter().map(|(_, count)| count).sum();
        run.clat_ns.percentile = Pairs(vec![(50.0, 7), (99.0, 9)]);
        run.clat_ns.bins = Pairs(bins.to_vec());
        run
    }

    fn value(figure: Figure, runs: &[DirectionReport]) -> Option<f64> {
        Values::of(figure, &runs.iter().collect::<Vec<_>>()).map(|values| values.whole())
    }

    #[test]
    fn rates_are_means_and_percentiles_those_of_all_samples_together() {
        let runs = [run(10.0, &[(100, 90), (200, 10)]), run(20.0, &[(100, 10), (300, 890)])];
        assert_eq!(value(Figure::Iops, &runs), Some(15.0));
        // 100 samples up to 100, 10 up to 200, and 890 from there up to 300: the 500th is 390 of 890 into these.
        assert_eq!(value(Figure::Percentile(50.0), &runs), Some(200.0 + 100.0 * 390.0 / 890.0));
        assert_eq!(value(Figure::Percentile(5.0), &runs), Some(100.0));
    }

    #[test]
    fn without_histograms_the_listed_percentiles_count_and_others_are_left_out() {
        let runs = [run(1.0, &[]), run(1.0, &[(100, 1)])];
        assert_eq!(value(Figure::Percentile(99.0), &runs), Some(9.0));
        assert_eq!(value(Figure::Percentile(99.9), &runs), None);
        let mut none = run(1.0, &[]);
        none.clat_ns.percentile = Pairs::default();
        assert_eq!(value(Figure::MeanLatency, &[none]), None, "there are no samples");
    }

    #[test]
    fn what_is_left_out_is_taken_out_of_the_sum() {
        let runs = [run(1.0, &[(100, 1)]), run(1.0, &[(300, 1)]), run(1.0, &[(200, 1)])];
        let values = Values::of(Figure::Percentile(100.0), &runs.iter().collect::<Vec<_>>()).unwrap();
        let mut without = Vec::new();
        assert_eq!(values.of(&[0, 1, 2], &mut without), 300.0);
        assert_eq!(without, [300.0, 200.0, 300.0]);
    }
}
