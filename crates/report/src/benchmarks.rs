//! The report for services that track benchmarks over time: the Bencher Metric Format, and the two formats of github-action-benchmark.
//!
//! A benchmark is one direction of an entry. All formats are written from one list of benchmarks and their measures.

use serde_json::{Map, Value, json};

use crate::model::{DirectionReport, JobReport, LatencyReport, RunReport};
use crate::num::finite;
use crate::unique_names::unique_names;

/// One direction of an entry, or its syncs.
struct Benchmark {
    /// Name of the entry and the direction, such as `a #2 read`; unique in the report.
    name: String,
    measures: Vec<BenchmarkMeasure>,
}

/// One figure of a benchmark.
struct BenchmarkMeasure {
    name: String,
    unit: &'static str,
    value: f64,
    /// Standard deviation in the same unit, if it is known.
    deviation: Option<f64>,
    is_better: BetterValue,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BetterValue {
    Bigger,
    Smaller,
}

/// Percentiles to include, if the report has them.
const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p99.9")];

/// Formats the report as Bencher Metric Format: an object of benchmarks, each with its measures. Bounds are one standard deviation away.
pub(crate) fn to_bencher(report: &RunReport) -> String {
    let metric = |measure: &BenchmarkMeasure| {
        // Computed from rounded figures, so that a saved report has the same bounds.
        let value = rounded(measure.value);
        let mut metric = Map::new();
        metric.insert("value".to_owned(), value.into());
        if let Some(deviation) = measure.deviation.map(rounded) {
            metric.insert("lower_value".to_owned(), rounded((value - deviation).max(0.0)).into());
            metric.insert("upper_value".to_owned(), rounded(value + deviation).into());
        }
        Value::Object(metric)
    };
    let measures = |benchmark: &Benchmark| -> Map<String, Value> {
        benchmark.measures.iter().map(|measure| (measure.name.clone(), metric(measure))).collect()
    };
    let all = benchmarks(report);
    let all: Map<String, Value> =
        all.iter().map(|benchmark| (benchmark.name.clone(), Value::Object(measures(benchmark)))).collect();
    text(&Value::Object(all))
}

/// The measures for which bigger is better, for the tool `customBiggerIsBetter` of github-action-benchmark.
pub(crate) fn to_github_bigger(report: &RunReport) -> String {
    to_github(report, BetterValue::Bigger)
}

/// The measures for which smaller is better, for the tool `customSmallerIsBetter` of github-action-benchmark.
pub(crate) fn to_github_smaller(report: &RunReport) -> String {
    to_github(report, BetterValue::Smaller)
}

fn to_github(report: &RunReport, better: BetterValue) -> String {
    let row = |benchmark: &Benchmark, measure: &BenchmarkMeasure| {
        let mut row = json!({
            "name": format!("{} {}", benchmark.name, measure.name),
            "unit": measure.unit,
            "value": rounded(measure.value),
        });
        if let Some(deviation) = measure.deviation {
            row["range"] = format!("± {}", rounded(deviation)).into();
        }
        row
    };
    let all = benchmarks(report);
    let rows = all.iter().flat_map(|benchmark| {
        let measures = benchmark.measures.iter().filter(|measure| measure.is_better == better);
        measures.map(|measure| row(benchmark, measure))
    });
    text(&rows.collect())
}

/// The document with a newline.
fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

/// Formats a number with six decimals, as in the JSON document.
fn rounded(value: f64) -> f64 {
    let rounded = (value * 1e6).round() / 1e6;
    if rounded.is_finite() { rounded } else { finite(value) }
}

fn benchmarks(report: &RunReport) -> Vec<Benchmark> {
    let named = report.jobs.iter().zip(unique_names(report.jobs.iter().map(|job| job.jobname.as_str())));
    named.flat_map(|(job, name)| benchmarks_of(job, &name)).collect()
}

fn benchmarks_of(job: &JobReport, name: &str) -> Vec<Benchmark> {
    let of = |direction: &str, measures: Vec<BenchmarkMeasure>| Benchmark {
        name: format!("{name} {direction}"),
        measures,
    };
    let shown = job.shown_directions();
    let directions = shown.iter().filter(|(_, figures)| figures.did_io());
    let mut all: Vec<Benchmark> =
        directions.map(|(direction, figures)| of(direction, measures(figures))).collect();
    let syncs = job.syncs().map(|syncs| latencies(&syncs.lat_ns)).unwrap_or_default();
    if !syncs.is_empty() {
        all.push(of("sync", syncs));
    }
    all
}

fn measures(figures: &DirectionReport) -> Vec<BenchmarkMeasure> {
    let bigger = |name: &str, unit, value, deviation, samples| BenchmarkMeasure {
        name: name.to_owned(),
        unit,
        value,
        deviation: (samples > 1).then_some(deviation),
        is_better: BetterValue::Bigger,
    };
    let mut all = vec![
        bigger("throughput", "ops/s", figures.iops, figures.iops_stddev, figures.iops_samples),
        bigger(
            "bandwidth",
            "B/s",
            figures.bw_bytes as f64,
            rounded(figures.bw_dev) * 1024.0,
            figures.bw_samples,
        ),
    ];
    all.extend(figures.shown_latency().map(latencies).unwrap_or_default());
    all
}

/// The mean of a latency and its percentiles; empty without samples.
fn latencies(latency: &LatencyReport) -> Vec<BenchmarkMeasure> {
    if latency.samples == 0 {
        return Vec::new();
    }
    let smaller = |name: String, value, deviation| BenchmarkMeasure {
        name,
        unit: "ns",
        value,
        deviation,
        is_better: BetterValue::Smaller,
    };
    let deviation = (latency.samples > 1).then_some(latency.stddev);
    let mut all = vec![smaller("latency".to_owned(), latency.mean, deviation)];
    all.extend(PERCENTILES.iter().filter_map(|&(percent, word)| {
        let ns = latency.percentile(percent)?;
        Some(smaller(format!("latency-{word}"), ns as f64, None))
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pairs, SyncReport};

    fn report() -> RunReport {
        let latency = LatencyReport {
            mean: 1500.1234567,
            stddev: 2000.5,
            samples: 10,
            percentile: Pairs(vec![(50.0, 1400), (99.0, 9000)]),
            ..LatencyReport::default()
        };
        let read = DirectionReport {
            total_ios: 10,
            io_bytes: 40960,
            iops: 2000.0 / 3.0,
            bw_bytes: 2_730_666,
            iops_samples: 2,
            iops_stddev: 1000.0,
            clat_ns: latency.clone(),
            ..DirectionReport::default()
        };
        let job = |name: &str| JobReport {
            jobname: name.to_owned(),
            read: Some(read.clone()),
            write: Some(DirectionReport::default()),
            ..JobReport::default()
        };
        let sync = Some(SyncReport { total_ios: 3, lat_ns: latency.clone() });
        RunReport {
            jobs: vec![job("a"), job("a #2"), job("a"), JobReport { sync, ..job("b") }],
            ..RunReport::default()
        }
    }

    #[test]
    fn a_benchmark_is_an_entry_in_a_direction_and_no_name_comes_twice() {
        let document: Value = serde_json::from_str(&to_bencher(&report())).unwrap();
        let names: Vec<&String> = document.as_object().unwrap().keys().collect();
        assert_eq!(names, ["a read", "a #2 read", "a #3 read", "b read", "b sync"]);
        let want = json!({
            "throughput": { "value": 666.666667, "lower_value": 0.0, "upper_value": 1666.666667 },
            "bandwidth": { "value": 2730666.0 },
            "latency": { "value": 1500.123457, "lower_value": 0.0, "upper_value": 3500.623457 },
            "latency-p50": { "value": 1400.0 },
            "latency-p99": { "value": 9000.0 },
        });
        assert_eq!(document["a #3 read"], want);
        assert_eq!(document["b sync"].as_object().unwrap().len(), 3, "syncs have latencies only");
    }

    #[test]
    fn rows_of_github_are_those_that_are_better_in_one_way() {
        let rows = |text: String| -> Vec<Value> { serde_json::from_str(&text).unwrap() };
        let bigger = rows(to_github_bigger(&report()));
        let first =
            json!({ "name": "a read throughput", "unit": "ops/s", "value": 666.666667, "range": "± 1000" });
        assert_eq!((bigger.len(), &bigger[0]), (8, &first));
        assert_eq!(bigger[1], json!({ "name": "a read bandwidth", "unit": "B/s", "value": 2730666.0 }));
        let smaller = rows(to_github_smaller(&report()));
        assert_eq!(smaller.len(), 15);
        assert_eq!(smaller[14], json!({ "name": "b sync latency-p99", "unit": "ns", "value": 9000.0 }));
    }

    #[test]
    fn a_run_without_io_has_no_benchmarks() {
        let empty = RunReport { jobs: vec![JobReport::default()], ..RunReport::default() };
        assert_eq!((to_bencher(&empty).as_str(), to_github_bigger(&empty).as_str()), ("{}\n", "[]\n"));
    }
}
