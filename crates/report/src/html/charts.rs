//! The chart elements with captions, and the data that `page.js` draws them from.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use ferrio_stats::{saturating_add_to, saturating_total};
use serde::Serialize;
use serde_json::json;

use super::events::{PageEvent, PageEventKind, events};
use super::markup::{HtmlTable, escape, folded, script_data};
use super::tracks::{Track, TrackDirection, named, tracks};
use super::{PageRun, database, prefix};
use crate::model::{DeviceSeries, JobReport, LatencyReport, RunReport, Series};
use crate::{Unit, grouped};

/// Maximum number of tracks (a job's lines over time) of a run with charts; more would hide each other.
const MAX_TRACKS: usize = 24;

/// Maximum number of latency curves.
const MAX_CURVES: usize = 48;

/// Maximum number of events in the list.
const MAX_EVENTS: usize = 200;

/// The latency distribution of one direction of the jobs with one name.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct LatencyCurve {
    pub(super) name: String,
    /// Latencies, ascending.
    pub(super) ns: Vec<u64>,
    /// Number of I/Os with each of these latencies, from a histogram.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) counts: Option<Vec<u64>>,
    /// Percentage of I/Os with at most each latency, from the listed percentiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) percents: Option<Vec<f64>>,
    /// Number of I/Os.
    pub(super) samples: u64,
}

/// Chart data of a run over time.
#[derive(Default, Serialize)]
pub(super) struct RunChartData {
    /// Prefix of the names of its latency curves.
    label: String,
    /// Number of tracks that are not drawn.
    #[serde(skip)]
    left_out: usize,
    tracks: Vec<Track>,
    devices: Vec<DeviceTrack>,
    events: Vec<PageEvent>,
}

/// A device over time.
#[derive(Serialize)]
struct DeviceTrack {
    name: String,
    edges: Vec<u64>,
    /// Percentage of time.
    busy: Vec<f64>,
}

impl RunChartData {
    /// The chart data of run `number`.
    pub(super) fn of(runs: &[PageRun<'_>], number: usize) -> Self {
        let (series, devices) = series_of(&runs[number]);
        let mut tracks = tracks(series);
        let left_out = tracks.len().saturating_sub(MAX_TRACKS);
        tracks.truncate(MAX_TRACKS);
        let devices = devices.iter().filter(|device| !device.time_ms.is_empty()).map(|device| DeviceTrack {
            name: device.name.clone(),
            edges: std::iter::once(0).chain(device.time_ms.iter().copied()).collect(),
            busy: device.util_percent.iter().map(|percent| (percent * 100.0).round() / 100.0).collect(),
        });
        RunChartData {
            label: prefix(runs, number),
            left_out,
            devices: devices.collect(),
            events: events(runs[number].report, &tracks),
            tracks,
        }
    }

    /// True if `has` holds for any direction of a job.
    fn any(&self, has: impl Fn(&TrackDirection) -> bool) -> bool {
        self.tracks.iter().flat_map(|track| &track.directions).any(has)
    }
}

/// The series of a report, or those from its logs.
fn series_of<'a>(run: &PageRun<'a>) -> (&'a [Series], &'a [DeviceSeries]) {
    match (&run.report.ferrio, run.logged) {
        (Some(ferrio), _) if has_series(run.report) => (&ferrio.series, &ferrio.device_series),
        (_, Some(logged)) => (&logged.series, &[]),
        _ => (&[], &[]),
    }
}

fn has_series(report: &RunReport) -> bool {
    report.ferrio.as_ref().is_some_and(|ferrio| !ferrio.series.is_empty())
}

/// The data of all charts as JSON for a `script` element.
pub(super) fn data(runs: &[PageRun<'_>], over_time: &[RunChartData]) -> String {
    let unit = |unit: Unit| {
        let (steps, scale) = unit.steps();
        json!({ "steps": steps, "scale": scale, "space": unit.space() })
    };
    let data = json!({
        "units": {
            "rate": unit(Unit::PerSecond),
            "bandwidth": unit(Unit::BytesPerSecond),
            "time": unit(Unit::Nanoseconds),
        },
        "lines": curves(runs),
        "runs": over_time,
    });
    script_data(&data.to_string())
}

/// The latency charts; empty if no report has percentiles.
pub(super) fn latency(runs: &[PageRun<'_>]) -> String {
    let all = all_curves(runs);
    if all.is_empty() {
        return "<p>The reports have neither percentiles nor histograms of latencies.</p>\n".to_owned();
    }
    let listed = all.iter().filter(|line| line.percents.is_some()).count();
    let source = match listed {
        0 => "The curves are drawn from histograms.".to_owned(),
        count if count == all.len() => {
            "The curves are drawn from the percentiles that the reports list: straight lines between them are guesses. Reports in the \
             format json+ have histograms."
                .to_owned()
        }
        count => format!(
            "The curves are drawn from histograms; {count} of {} only from the percentiles that their report lists (marked *), between which \
             straight lines are guesses. Reports in the format json+ have histograms.",
            all.len()
        ),
    };
    let mut out = format!("<p class=\"quiet\">{source}</p>\n");
    if all.len() > MAX_CURVES {
        let _ = writeln!(out, "<p>The first {MAX_CURVES} of {} curves are drawn.</p>", all.len());
    }
    out.push_str("<div class=\"charts\">\n");
    out.push_str(&chart_element(
        "percentiles",
        "Latency by percentile",
        "Each step to the right is one more nine.",
        "",
    ));
    out.push_str(&chart_element(
        "distribution",
        "Distribution of latencies",
        "The share of I/Os that took no longer.",
        "",
    ));
    out + "</div>\n"
}

/// The charts over time, by run.
pub(super) fn over_time(runs: &[PageRun<'_>], data: &[RunChartData]) -> String {
    let mut out = String::new();
    for (number, (run, data)) in runs.iter().zip(data).enumerate() {
        if runs.len() > 1 {
            let _ = writeln!(out, "<h3>Run {}: {}</h3>", number + 1, escape(run.name));
        }
        if data.tracks.is_empty() {
            out.push_str(no_charts_reason(run.report));
            continue;
        }
        out.push_str(&logged_note(run));
        if data.left_out > 0 {
            let drawn = data.tracks.len();
            let _ = writeln!(out, "<p>The first {drawn} of {} jobs are drawn.</p>", drawn + data.left_out);
        }
        out.push_str(&run_charts(number, data));
    }
    out
}

/// The reason why a run has no charts over time, and the remedy.
fn no_charts_reason(report: &RunReport) -> &'static str {
    if report.ferrio.is_some() {
        "<p>This report has no figures over time: run the job with <code>--output-format=json+</code> or <code>--output-format=html</code> \
         to get them.</p>\n"
    } else {
        "<p>Reports of fio have no figures over time: give the logs of the run as well (<code>write_lat_log</code>, \
         <code>write_bw_log</code>, <code>write_iops_log</code>), or run the job with <code>ferrio --output-format=json+</code>.</p>\n"
    }
}

/// A note on what charts from logs lack.
fn logged_note(run: &PageRun<'_>) -> String {
    let Some(logged) = run.logged.filter(|_| !has_series(run.report)) else { return String::new() };
    let count = match logged.logs {
        1 => "one log".to_owned(),
        count => format!("{count} logs"),
    };
    let windows = if logged.has_windows {
        ", whose rows stand for windows of time: latencies are means of windows, and mostly no single I/O"
    } else {
        ""
    };
    format!("<p class=\"quiet\">Drawn from {count}{windows}.</p>\n")
}

fn run_charts(number: usize, data: &RunChartData) -> String {
    let run = format!(" data-run=\"{number}\"");
    let mut out = String::from("<div class=\"charts\">\n");
    out.push_str(&chart_element(
        "phases",
        "Phases and events",
        "Bars are jobs from their first to their last I/O; pale: ramp; orange: stall; hatched: throttled; triangle: errors.",
        &run,
    ));
    if data.any(|direction| !direction.ios.is_empty()) {
        let about = "Orange stripes are stalls, grey ones are ramps, hatched ones are throttling.";
        out.push_str(&chart_element("iops", "IOPS", about, &run));
    }
    if data.any(|direction| !direction.bytes.is_empty()) {
        out.push_str(&chart_element("bandwidth", "Bandwidth", "Of each job and direction.", &run));
    }
    if data.any(|direction| !direction.mean.is_empty()) {
        let about = "Of the windows that the rows of the log stand for.";
        out.push_str(&chart_element("mean", "Mean latency over time", about, &run));
    }
    if data.tracks.iter().flat_map(|track| &track.depth).any(Option::is_some) {
        out.push_str(&chart_element("depth", "Queue depth", "Mean number of I/Os in flight.", &run));
    }
    if !data.devices.is_empty() {
        out.push_str(&chart_element(
            "utilisation",
            "Utilisation of devices",
            "Share of time with requests, of all programs.",
            &run,
        ));
    }
    for (at, track) in data.tracks.iter().enumerate() {
        for (which, direction) in track.directions.iter().enumerate() {
            if direction.cells.iter().all(Vec::is_empty) {
                continue;
            }
            let caption = format!("Latency over time: {} {}", track.name, direction.name);
            let about = "The stronger the colour, the more I/Os with this latency, on a logarithmic scale.";
            out.push_str(&chart_element(
                "heatmap",
                &caption,
                about,
                &format!("{run} data-track=\"{at}\" data-direction=\"{which}\""),
            ));
        }
    }
    out.push_str("</div>\n");
    out.push_str(&events_table(data));
    out
}

/// The element of a chart. The caption is plain text; `data` are its other data attributes.
fn chart_element(chart: &str, caption: &str, about: &str, data: &str) -> String {
    let caption = escape(caption);
    let wide = if chart == "phases" { " class=\"wide\"" } else { "" };
    format!(
        "<figure{wide} data-chart=\"{chart}\"{data}><figcaption>{caption}<small>{about}</small></figcaption>\
         <noscript><p>Charts need JavaScript.</p></noscript></figure>\n"
    )
}

/// The table of events.
fn events_table(data: &RunChartData) -> String {
    if data.events.is_empty() {
        return "<p>No errors, no stalls and no throttling were seen.</p>\n".to_owned();
    }
    let mut table =
        HtmlTable::new("Events", &[("from", true), ("to", true), ("job", false), ("what", false)]);
    for event in data.events.iter().take(MAX_EVENTS) {
        let seconds = |ms: u64| format!("{:.3} s", ms as f64 / 1000.0);
        table.row(&[
            seconds(event.from),
            seconds(event.to),
            event.track.map_or_else(|| "all jobs".to_owned(), |track| data.tracks[track].name.clone()),
            event.what.clone(),
        ]);
    }
    let more = match data.events.len().checked_sub(MAX_EVENTS) {
        None | Some(0) => String::new(),
        Some(more) => format!("<p>… and {more} more.</p>\n"),
    };
    let count = |kind: PageEventKind| data.events.iter().filter(|event| event.kind == kind).count();
    let summary = format!(
        "Events: stalls {}, rows with errors {}, throttled {}, ramps {}",
        count(PageEventKind::Stall),
        count(PageEventKind::Error),
        count(PageEventKind::Throttled),
        count(PageEventKind::Ramp)
    );
    folded(&summary, &(table.end() + &more))
}

pub(super) fn curves(runs: &[PageRun<'_>]) -> Vec<LatencyCurve> {
    let mut all = all_curves(runs);
    all.truncate(MAX_CURVES);
    all
}

/// The curves of all runs. Jobs of one group with the same name share a curve if all have histograms.
fn all_curves(runs: &[PageRun<'_>]) -> Vec<LatencyCurve> {
    let mut all = Vec::new();
    for (number, run) in runs.iter().enumerate() {
        let label = prefix(runs, number);
        let clones = grouped(run.report.jobs.iter().map(|job| ((&job.jobname, job.groupid), job)));
        for ((jobname, _), jobs) in &clones {
            let name = format!("{label}{jobname}");
            for direction in ["read", "write", "trim", "mixed", "sync"] {
                let latencies = jobs.iter().filter_map(|job| latency_of(job, direction));
                all.extend(curves_of(&name, direction, &latencies.collect::<Vec<_>>()));
            }
            for direction in ["read", "write", "trim", "mixed"] {
                let latencies = jobs.iter().filter_map(|job| job.response_of(direction));
                let curve = format!("{direction} response");
                all.extend(curves_of(&name, &curve, &latencies.collect::<Vec<_>>()));
            }
        }
        for database in database::databases(run).iter().filter(|database| database.figures.transactions > 0) {
            let name = format!("{label}{}", database.jobname);
            all.extend(curves_of(&name, "transaction", &[&database.figures.lat_ns]));
        }
    }
    all
}

fn latency_of<'a>(job: &'a JobReport, direction: &str) -> Option<&'a LatencyReport> {
    if direction == "sync" {
        return job.syncs().map(|syncs| &syncs.lat_ns).filter(|latency| latency.samples > 0);
    }
    job.direction(direction).filter(|figures| figures.did_io())?.shown_latency()
}

fn curves_of(name: &str, direction: &str, latencies: &[&LatencyReport]) -> Vec<LatencyCurve> {
    if latencies.iter().all(|latency| !latency.bins.is_empty()) {
        let name = named(name, latencies.len());
        return histogram(format!("{name} {direction}"), latencies).into_iter().collect();
    }
    let drawn = latencies.iter().filter(|latency| !latency.bins.is_empty() || !latency.percentile.is_empty());
    let line = |(at, latency): (usize, &&LatencyReport)| {
        let number = if latencies.len() > 1 { format!(" #{}", at + 1) } else { String::new() };
        let name = format!("{name}{number} {direction}");
        if latency.bins.is_empty() {
            Some(listed_percentiles(name + " *", latency))
        } else {
            histogram(name, &[latency])
        }
    };
    drawn.enumerate().filter_map(line).collect()
}

/// The distribution of all samples together; `None` without any.
fn histogram(name: String, latencies: &[&LatencyReport]) -> Option<LatencyCurve> {
    let mut bins = BTreeMap::new();
    for &(ns, count) in latencies.iter().flat_map(|latency| &latency.bins.0) {
        saturating_add_to(bins.entry(ns).or_default(), count);
    }
    let samples = saturating_total(bins.values().copied());
    let (ns, counts) = bins.into_iter().unzip();
    (samples > 0).then_some(LatencyCurve { name, ns, counts: Some(counts), percents: None, samples })
}

fn listed_percentiles(name: String, latency: &LatencyReport) -> LatencyCurve {
    let mut pairs = latency.percentile.0.clone();
    pairs.retain(|(percent, _)| *percent < 100.0);
    pairs.push((100.0, latency.max));
    let (percents, ns): (Vec<f64>, Vec<u64>) = pairs.into_iter().unzip();
    // Percentiles of small histograms may exceed the largest sample, which is exact.
    let ns = ns.into_iter().map(|ns| ns.min(latency.max)).collect();
    LatencyCurve { name, ns, counts: None, percents: Some(percents), samples: latency.samples.max(1) }
}
