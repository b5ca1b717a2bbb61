//! Writes expositions: metric families, their values, and lines.

use std::fmt::Write;

use ferrio_stats::{saturating_add_to, saturating_total};

use crate::model::LatencyReport;

/// Units of values; the name of a family ends with its unit.
const UNITS: [&str; 4] = ["bytes_per_second", "seconds", "bytes", "ratio"];

/// A metric family about things of one type.
pub(super) struct Family<T> {
    /// Without the suffixes of its samples.
    pub(super) name: &'static str,
    pub(super) kind: MetricType,
    /// One line that needs no escapes.
    pub(super) help: &'static str,
    /// The points of a thing; none if it was not measured.
    pub(super) points: fn(&T) -> Vec<MetricPoint>,
}

/// The type of a family, limited to those that every reader of Prometheus' formats knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetricType {
    Counter,
    Gauge,
    Summary,
    Histogram,
}

/// Names and values of labels.
pub(super) type Labels = Vec<(&'static str, String)>;

/// One metric of a family: labels besides those of the thing, and a value.
pub(super) struct MetricPoint {
    pub(super) labels: Labels,
    pub(super) value: MetricValue,
}

/// The value of a metric.
pub(super) enum MetricValue {
    Whole(u64),
    Real(f64),
    Distribution(MetricDistribution),
}

/// Quantiles of a distribution with their values, or upper bounds with the number of samples that do not exceed them.
pub(super) struct MetricDistribution {
    /// Both as they are written, ascending.
    pub(super) parts: Vec<(String, String)>,
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

/// A table of families. A row has the type, the name and the help, and the function that returns the points of a thing.
macro_rules! families {
    ($($kind:ident $name:literal, $help:literal, $points:expr;)+) => {
        &[$($crate::openmetrics::exposition::Family {
            name: $name,
            kind: $crate::openmetrics::exposition::MetricType::$kind,
            help: $help,
            points: $points,
        }),+]
    };
}
pub(super) use families;

/// A value without additional labels.
pub(super) fn one(value: impl Into<MetricValue>) -> Vec<MetricPoint> {
    vec![MetricPoint { labels: Vec::new(), value: value.into() }]
}

/// A value without additional labels, if present.
pub(super) fn maybe(value: Option<impl Into<MetricValue>>) -> Vec<MetricPoint> {
    value.map_or_else(Vec::new, one)
}

/// One value for each value of a label.
pub(super) fn each<V: Into<MetricValue>>(
    label: &'static str,
    values: impl IntoIterator<Item = (impl Into<String>, V)>,
) -> Vec<MetricPoint> {
    let point = |(word, value): (_, V)| MetricPoint { labels: vec![(label, word)], value: value.into() };
    values.into_iter().map(|(word, value)| point((word.into(), value))).collect()
}

/// A latency with its percentiles, if there are samples. The quantiles 0 and 1 are the smallest and the largest sample; percentiles, which
/// are only as accurate as their buckets, are clamped between them.
pub(super) fn latency(latency: &LatencyReport) -> Vec<MetricPoint> {
    let &LatencyReport { min, max, mean, samples, .. } = latency;
    if samples == 0 {
        return Vec::new();
    }
    let mut quantiles = vec![(0.0, seconds_of_ns(min))];
    for &(percent, ns) in &latency.percentile.0 {
        // As fine as the percentages of the report, so that no two are written alike.
        let share = (percent * 1e8).round() / 1e10;
        // A list may have a percentile twice, and 100.
        if quantiles.last().is_some_and(|&(last, _)| last < share) && share < 1.0 {
            quantiles.push((share, seconds_of_ns(ns.min(max).max(min))));
        }
    }
    quantiles.push((1.0, seconds_of_ns(max)));
    let parts = quantiles.into_iter().map(|(share, value)| (canonical(share), value.to_string()));
    let sum = mean * samples as f64 / 1e9;
    one(MetricValue::Distribution(MetricDistribution { parts: parts.collect(), sum, count: samples }))
}

/// The buckets of a latency, if the report has its histogram: six bounds per decade from 1 us to 100 s.
pub(super) fn latency_histogram(latency: &LatencyReport) -> Vec<MetricPoint> {
    const STEPS: [u64; 6] = [10, 15, 20, 30, 50, 70];
    let bins = &latency.bins.0;
    if bins.is_empty() {
        return Vec::new();
    }
    let decades = std::iter::successors(Some(100), |decade: &u64| Some(decade * 10)).take(8);
    let bounds = decades.flat_map(|decade| STEPS.map(|step| step * decade)).chain([100_000_000_000]);
    let (mut rest, mut below) = (bins.as_slice(), 0);
    let mut parts = Vec::new();
    for bound in bounds {
        while let Some((&(_, count), others)) = rest.split_first().filter(|((ns, _), _)| *ns <= bound) {
            saturating_add_to(&mut below, count);
            rest = others;
        }
        parts.push((canonical(seconds_of_ns(bound)), below.to_string()));
    }
    let count = saturating_total(bins.iter().map(|&(_, count)| count));
    parts.push(("+Inf".to_owned(), count.to_string()));
    one(MetricValue::Distribution(MetricDistribution {
        parts,
        sum: latency.mean * count as f64 / 1e9,
        count,
    }))
}

/// The standard deviation of a latency, if there are samples.
pub(super) fn latency_stddev(latency: &LatencyReport) -> Vec<MetricPoint> {
    maybe((latency.samples > 0).then_some(latency.stddev / 1e9))
}

pub(super) fn seconds_of_ns(ns: u64) -> f64 {
    ns as f64 / 1e9
}

pub(super) fn seconds_of_ms(ms: u64) -> f64 {
    ms as f64 / 1e3
}

/// Converts a percentage to a share of 1.
pub(super) fn ratio(percent: f64) -> f64 {
    percent / 100.0
}

impl<T> Family<T> {
    /// The unit of the values; empty for plain numbers.
    pub(super) fn unit(&self) -> &'static str {
        let name = self.name;
        let is_suffix = |unit: &&str| name.strip_suffix(*unit).is_some_and(|start| start.ends_with('_'));
        UNITS.into_iter().find(is_suffix).unwrap_or("")
    }

    /// Writes the family's metrics for all `things`; nothing if there are none.
    fn write(&self, out: &mut String, things: &[(Labels, &T)]) {
        let mut is_announced = false;
        for (labels, thing) in things {
            for point in (self.points)(thing) {
                if !std::mem::replace(&mut is_announced, true) {
                    self.announce(out);
                }
                self.write_metric(out, labels, &point);
            }
        }
    }

    fn announce(&self, out: &mut String) {
        let &Family { name, kind, help, .. } = self;
        let kind = match kind {
            MetricType::Counter => "counter",
            MetricType::Gauge => "gauge",
            MetricType::Summary => "summary",
            MetricType::Histogram => "histogram",
        };
        // Writing to memory cannot fail, here and below.
        let _ = writeln!(out, "# TYPE {name} {kind}");
        if !self.unit().is_empty() {
            let _ = writeln!(out, "# UNIT {name} {}", self.unit());
        }
        let _ = writeln!(out, "# HELP {name} {help}");
    }

    fn write_metric(&self, out: &mut String, of_thing: &Labels, point: &MetricPoint) {
        let labels: Vec<(&str, &str)> =
            of_thing.iter().chain(&point.labels).map(|(name, value)| (*name, value.as_str())).collect();
        let mut sample = |suffix, labels: &[(&str, &str)], value: &str| {
            write_sample(out, self.name, suffix, labels, value);
        };
        let suffix = if self.kind == MetricType::Counter { "_total" } else { "" };
        match &point.value {
            MetricValue::Whole(value) => sample(suffix, &labels, &value.to_string()),
            MetricValue::Real(value) => sample(suffix, &labels, &value.to_string()),
            MetricValue::Distribution(MetricDistribution { parts, sum, count }) => {
                let (label, suffix) = match self.kind {
                    MetricType::Histogram => ("le", "_bucket"),
                    _ => ("quantile", ""),
                };
                for (bound, value) in parts {
                    sample(suffix, &[&labels[..], &[(label, bound.as_str())]].concat(), value);
                }
                sample("_sum", &labels, &sum.to_string());
                sample("_count", &labels, &count.to_string());
            }
        }
    }
}

/// Writes families one after the other.
pub(super) fn write<T>(out: &mut String, families: &[Family<T>], things: &[(Labels, &T)]) {
    families.iter().for_each(|family| family.write(out, things));
}

fn write_sample(out: &mut String, name: &str, suffix: &str, labels: &[(&str, &str)], value: &str) {
    let _ = write!(out, "{name}{suffix}");
    for (at, (label, text)) in labels.iter().enumerate() {
        let _ = write!(out, "{}{label}=\"{}\"", if at == 0 { '{' } else { ',' }, escaped(text));
    }
    let _ = writeln!(out, "{} {value}", if labels.is_empty() { "" } else { "}" });
}

/// Escapes text for a quoted label value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

/// Formats a quantile or bound in the standard's canonical form.
fn canonical(number: f64) -> String {
    let rounded = format!("{number:.10}");
    let rounded = rounded.trim_end_matches('0');
    match rounded.strip_suffix('.') {
        Some(whole) => format!("{whole}.0"),
        None if number < 1e-4 => small(rounded),
        None => rounded.to_owned(),
    }
}

/// Formats a decimal below 0.0001 with an exponent of two digits.
fn small(decimal: &str) -> String {
    let scientific = format!("{:e}", decimal.parse::<f64>().unwrap_or_default());
    match scientific.split_once("e-") {
        Some((digits, exponent)) => format!("{digits}e-{exponent:0>2}"),
        None => scientific,
    }
}
