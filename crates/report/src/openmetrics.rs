//! The report as an OpenMetrics text, version 1.0: one exposition of what the whole run came to.
//!
//! Names, types and units follow the standard: seconds, bytes and ratios, counters end in `_total`, families stand together, the last
//! line is `# EOF`. No sample has a timestamp and no family is of a type that Prometheus' older text format does not know, because
//! readers of files such as node_exporter's textfile collector refuse both. Which families there are is said in tables, one per kind
//! of thing measured; `docs/openmetrics.md` lists them for users, and a test compares the two.

mod directions;
mod disks;
mod jobs;
mod run;
mod text;

use crate::model::{LatencyReport, RunReport};

/// The exposition, `# EOF` at the end included.
#[must_use]
pub fn to_openmetrics(report: &RunReport) -> String {
    let mut out = String::new();
    text::write(&mut out, run::FAMILIES, &[(Vec::new(), report)]);
    text::write(&mut out, jobs::FAMILIES, &jobs::things(report));
    text::write(&mut out, directions::FAMILIES, &directions::things(report));
    text::write(&mut out, run::GROUP_FAMILIES, &run::groups(report));
    text::write(&mut out, disks::FAMILIES, &disks::things(report));
    out.push_str("# EOF\n");
    out
}

/// A metric family about things of one type.
struct Family<T> {
    /// Without the suffixes of its samples; ends in the unit if there is one.
    name: &'static str,
    kind: Kind,
    /// Empty if it is a plain number.
    unit: &'static str,
    /// One line that needs no escapes.
    help: &'static str,
    /// What there is to say of one thing, nothing if that was not measured.
    points: fn(&T) -> Vec<Point>,
}

/// The type of a family; those that every reader of Prometheus' formats knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
    Summary,
}

/// Names and values of labels.
type Labels = Vec<(&'static str, String)>;

/// One metric of a family: labels beside those of the thing it is about, and its value.
struct Point {
    labels: Labels,
    value: Value,
}

/// What a metric says.
enum Value {
    Whole(u64),
    Real(f64),
    Summary(Summary),
}

/// A distribution by some of its quantiles.
struct Summary {
    /// Share of the samples, 0 to 1, and the value that they reach; ascending, each share once.
    quantiles: Vec<(f64, f64)>,
    sum: f64,
    count: u64,
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Whole(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Real(value)
    }
}

/// A value without labels of its own.
fn one(value: impl Into<Value>) -> Vec<Point> {
    vec![Point { labels: Vec::new(), value: value.into() }]
}

/// The same if there is a value.
fn maybe(value: Option<impl Into<Value>>) -> Vec<Point> {
    value.map_or_else(Vec::new, one)
}

/// A value for each value of one label.
fn each<V: Into<Value>>(
    label: &'static str,
    values: impl IntoIterator<Item = (impl Into<String>, V)>,
) -> Vec<Point> {
    let point = |(word, value): (_, V)| Point { labels: vec![(label, word)], value: value.into() };
    values.into_iter().map(|(word, value)| point((word.into(), value))).collect()
}

/// A latency with its percentiles, if there are samples. Its least and its largest sample are the quantiles 0 and 1; a percentile,
/// which is as exact as a bucket is narrow, does not go beyond them.
fn latency(latency: &LatencyReport) -> Vec<Point> {
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
    one(Value::Summary(Summary { quantiles, sum: mean * samples as f64 / 1e9, count: samples }))
}

/// The deviation of a latency, if there are samples.
fn latency_stddev(latency: &LatencyReport) -> Vec<Point> {
    maybe((latency.samples > 0).then_some(latency.stddev / 1e9))
}

fn seconds_of_ns(ns: u64) -> f64 {
    ns as f64 / 1e9
}

fn seconds_of_ms(ms: u64) -> f64 {
    ms as f64 / 1e3
}

/// Percent as a share of 1.
fn ratio(percent: f64) -> f64 {
    percent / 100.0
}

#[cfg(test)]
mod tests;
