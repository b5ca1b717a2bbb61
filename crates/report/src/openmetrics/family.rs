//! Metric families and the values of their samples.

use crate::model::LatencyReport;

/// A metric family about things of one type.
pub(super) struct Family<T> {
    /// Without the suffixes of its samples; ends in the unit if there is one.
    pub(super) name: &'static str,
    pub(super) kind: MetricType,
    /// Empty if it is a plain number.
    pub(super) unit: &'static str,
    /// One line that needs no escapes.
    pub(super) help: &'static str,
    /// What there is to say of one thing, nothing if that was not measured.
    pub(super) points: fn(&T) -> Vec<Point>,
}

/// The type of a family; those that every reader of Prometheus' formats knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricType {
    Counter,
    Gauge,
    Summary,
}

/// Names and values of labels.
pub(super) type Labels = Vec<(&'static str, String)>;

/// One metric of a family: labels beside those of the thing it is about, and its value.
pub(super) struct Point {
    pub(super) labels: Labels,
    pub(super) value: MetricValue,
}

/// What a metric says.
pub(super) enum MetricValue {
    Whole(u64),
    Real(f64),
    Summary(Summary),
}

/// A distribution by some of its quantiles.
pub(super) struct Summary {
    /// Share of the samples, 0 to 1, and the value that they reach; ascending, each share once.
    pub(super) quantiles: Vec<(f64, f64)>,
    pub(super) sum: f64,
    pub(super) count: u64,
}

impl From<u64> for MetricValue {
    fn from(value: u64) -> Self {
        MetricValue::Whole(value)
    }
}

impl From<f64> for MetricValue {
    fn from(value: f64) -> Self {
        MetricValue::Real(value)
    }
}

/// A value without labels of its own.
pub(super) fn one(value: impl Into<MetricValue>) -> Vec<Point> {
    vec![Point { labels: Vec::new(), value: value.into() }]
}

/// The same if there is a value.
pub(super) fn maybe(value: Option<impl Into<MetricValue>>) -> Vec<Point> {
    value.map_or_else(Vec::new, one)
}

/// A value for each value of one label.
pub(super) fn each<V: Into<MetricValue>>(
    label: &'static str,
    values: impl IntoIterator<Item = (impl Into<String>, V)>,
) -> Vec<Point> {
    let point = |(word, value): (_, V)| Point { labels: vec![(label, word)], value: value.into() };
    values.into_iter().map(|(word, value)| point((word.into(), value))).collect()
}

/// A latency with its percentiles, if there are samples. Its least and its largest sample are the quantiles 0 and 1; a percentile,
/// which is as exact as a bucket is narrow, does not go beyond them.
pub(super) fn latency(latency: &LatencyReport) -> Vec<Point> {
    let &LatencyReport { min, max, mean, samples, .. } = latency;
    if samples == 0 {
        return Vec::new();
    }
    let mut quantiles = vec![(0.0, seconds_of_ns(min))];
    for &(percent, ns) in &latency.percentile.0 {
        // As fine as the report has percentages, so that no two are written alike.
        let share = (percent * 1e8).round() / 1e10;
        // A list may hold a percentile twice, and 100.
        if quantiles.last().is_some_and(|&(last, _)| last < share) && share < 1.0 {
            quantiles.push((share, seconds_of_ns(ns.min(max).max(min))));
        }
    }
    quantiles.push((1.0, seconds_of_ns(max)));
    one(MetricValue::Summary(Summary { quantiles, sum: mean * samples as f64 / 1e9, count: samples }))
}

/// The deviation of a latency, if there are samples.
pub(super) fn latency_stddev(latency: &LatencyReport) -> Vec<Point> {
    maybe((latency.samples > 0).then_some(latency.stddev / 1e9))
}

pub(super) fn seconds_of_ns(ns: u64) -> f64 {
    ns as f64 / 1e9
}

pub(super) fn seconds_of_ms(ms: u64) -> f64 {
    ms as f64 / 1e3
}

/// Percent as a share of 1.
pub(super) fn ratio(percent: f64) -> f64 {
    percent / 100.0
}
