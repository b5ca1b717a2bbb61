//! A document of several runs together as text: a row for each run, and what they did together.

use std::fmt::Write as _;

use super::document::{FileFigures, LatencyFigures, SysbenchDocument};
use super::merge::own_row;
use super::merged_document::MergedDocument;

impl SysbenchDocument {
    /// The text of a document that others were merged into.
    #[must_use]
    pub fn aggregate_text(&self) -> String {
        let all = own_row("all", self);
        let mean = |value: fn(&MergedDocument) -> f64| {
            self.merged.iter().map(value).sum::<f64>() / self.merged.len().max(1) as f64
        };
        let mut rows = vec![
            ["run", "threads", "time s", "events", "events/s", "avg ms", "p95 ms", "p99 ms", "max ms"]
                .map(str::to_owned),
        ];
        rows.extend(self.merged.iter().map(cells));
        let mut of_mean = [const { String::new() }; 9];
        of_mean[0] = "mean".to_owned();
        of_mean[3] = format!("{:.0}", mean(|run| run.events as f64));
        of_mean[4] = format!("{:.2}", mean(|run| run.events_per_second));
        rows.push(of_mean);
        rows.push(cells(&all));
        let runs = self.merged.len();
        let mut text =
            format!("{}: {runs} {} together\n\n", self.test, if runs == 1 { "run" } else { "runs" });
        text += &aligned(&rows);
        text += &format!("\nLatencies of all events, ms: {}\n", latencies(&self.report.latency_ms));
        if let Some(signal) = self.signal {
            let _ = writeln!(text, "Signal {signal} ended a run early.");
        }
        if let Some(files) = &self.report.files {
            text += &of_files(files);
        }
        if let Some(sql) = &self.report.sql {
            let _ = writeln!(
                text,
                "Transactions: {:.2}/s; queries: {:.2}/s ({:.2} read, {:.2} write, {:.2} other); ignored errors: {}, reconnects: {}",
                sql.transactions_per_second,
                sql.queries_per_second,
                sql.reads_per_second,
                sql.writes_per_second,
                sql.others_per_second,
                sql.ignored_errors,
                sql.reconnects
            );
        }
        if let Some(memory) = &self.report.memory {
            let _ = writeln!(text, "Transferred: {:.2} MiB/s", memory.mib_per_second);
        }
        text
    }
}

fn cells(run: &MergedDocument) -> [String; 9] {
    [
        run.name.clone(),
        run.threads.to_string(),
        format!("{:.2}", run.measured),
        run.events.to_string(),
        format!("{:.2}", run.events_per_second),
        ms_text(run.latency_avg_ms),
        ms_text(run.latency_p95_ms),
        ms_text(run.latency_p99_ms),
        ms_text(run.latency_max_ms),
    ]
}

/// Milliseconds; short ones to 100 ns.
fn ms_text(ms: f64) -> String {
    if ms < 0.1 { format!("{ms:.4}") } else { format!("{ms:.3}") }
}

fn latencies(latency: &LatencyFigures) -> String {
    let mut percentiles: Vec<(f64, f64)> =
        latency.percentiles.iter().filter_map(|(percent, &ms)| Some((percent.parse().ok()?, ms))).collect();
    percentiles.sort_by(|one, other| one.0.total_cmp(&other.0));
    let percentiles: String =
        percentiles.iter().map(|(percent, ms)| format!(", p{percent} {}", ms_text(*ms))).collect();
    let [min, avg, stddev, max] = [latency.min, latency.avg, latency.stddev, latency.max].map(ms_text);
    format!("min {min}, avg {avg}, stddev {stddev}{percentiles}, max {max}")
}

fn of_files(files: &FileFigures) -> String {
    let rows = [
        ("Reads", files.reads_per_second, Some(files.read_mib_per_second), &files.read_latency_ms),
        ("Writes", files.writes_per_second, Some(files.written_mib_per_second), &files.write_latency_ms),
        ("Syncs", files.fsyncs_per_second, None, &files.fsync_latency_ms),
    ];
    let mut text = String::new();
    for (name, per_second, mib, latency) in rows {
        let Some(latency) = latency else { continue };
        let mib = mib.map(|mib| format!(", {mib:.2} MiB/s")).unwrap_or_default();
        let _ = writeln!(text, "{name}: {per_second:.2}/s{mib}; ms: {}", latencies(latency));
    }
    text
}

/// The rows with columns of equal width: the first is text, the others are numbers.
fn aligned(rows: &[[String; 9]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; 9] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let mut line = format!("{:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
