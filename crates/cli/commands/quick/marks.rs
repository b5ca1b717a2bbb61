//! The answer of the profile `diskmark`: a line for each test, with the best rates at which it read and wrote.

use std::fmt::Write as _;

use ferrio_report::model::{JobReport, RunReport};

/// Columns after the name. A MB is a million bytes.
const COLUMNS: [&str; 2] = ["read MB/s", "write MB/s"];

/// A test: its name, and what it read and wrote in its best runs, bytes per second.
struct Marks {
    name: String,
    best: [Option<u64>; 2],
}

/// The table as text, with the heading lines above it; empty if nothing was measured.
#[must_use]
pub fn text(report: &RunReport, heading: &[String]) -> String {
    let marks = marks(report);
    if marks.is_empty() {
        return String::new();
    }
    let first = marks.iter().map(|marks| marks.name.len()).max().unwrap_or(0);
    let mut out = heading.join("\n");
    let _ = write!(out, "\n\n{:first$}  {:>12}  {:>12}\n", "", COLUMNS[0], COLUMNS[1]);
    for marks in marks {
        let [read, write] = marks.best.map(rate);
        let _ = writeln!(out, "{:first$}  {read:>12}  {write:>12}", marks.name);
    }
    out
}

/// The table as Markdown, below the heading lines.
#[must_use]
pub fn markdown(report: &RunReport, heading: &[String]) -> String {
    let marks = marks(report);
    if marks.is_empty() {
        return String::new();
    }
    let mut out = heading.join("\n\n");
    let _ = write!(out, "\n\n| | {} |\n|---|---:|---:|\n", COLUMNS.join(" | "));
    for marks in marks {
        let _ = writeln!(out, "| {} | {} |", marks.name, marks.best.map(rate).join(" | "));
    }
    out
}

/// `-` for what was not measured.
fn rate(bytes_per_second: Option<u64>) -> String {
    bytes_per_second.map_or_else(|| "-".to_owned(), |bytes| format!("{:.2}", bytes as f64 / 1e6))
}

/// The tests in order. A job is named after its test and what it does, as in `SEQ1M-Q8T1-read`.
fn marks(report: &RunReport) -> Vec<Marks> {
    let mut all: Vec<Marks> = Vec::new();
    for job in &report.jobs {
        let Some((test, rate)) = job.jobname.rsplit_once('-').zip(rate_of(job)) else { continue };
        let (name, column) = (test.0.replace('-', " "), usize::from(test.1 == "write"));
        let at = all.iter().position(|marks| marks.name == name).unwrap_or_else(|| {
            all.push(Marks { name, best: [None, None] });
            all.len() - 1
        });
        let best = &mut all[at].best[column];
        *best = (*best).max(Some(rate));
    }
    all
}

/// Bytes per second of what a job does; `None` if it did nothing.
fn rate_of(job: &JobReport) -> Option<u64> {
    let directions = job.shown_directions();
    directions.into_iter().find(|(_, figures)| figures.total_ios > 0).map(|(_, figures)| figures.bw_bytes)
}

#[cfg(test)]
mod tests {
    use ferrio_report::model::DirectionReport;

    use super::*;

    fn report() -> RunReport {
        let job = |name: &str, bw_bytes: u64| JobReport {
            jobname: name.to_owned(),
            read: Some(DirectionReport { total_ios: 1, bw_bytes, ..DirectionReport::default() }),
            ..JobReport::default()
        };
        let jobs = vec![
            job("SEQ1M-Q8T1-read", 1_999_000_000),
            job("SEQ1M-Q8T1-read", 2_100_004_000),
            job("SEQ1M-Q8T1-read", 1_000_000_000),
            job("SEQ1M-Q8T1-write", 900_000_000),
            job("RND4K-Q32T1-read", 12_345_678),
        ];
        RunReport { jobs, ..RunReport::default() }
    }

    #[test]
    fn a_test_has_the_best_of_its_runs() {
        let wanted = "\
/data

\x20               read MB/s    write MB/s
SEQ1M Q8T1        2100.00        900.00
RND4K Q32T1         12.35             -
";
        assert_eq!(text(&report(), &["/data".to_owned()]), wanted);
        let wanted = "\
/data

| | read MB/s | write MB/s |
|---|---:|---:|
| SEQ1M Q8T1 | 2100.00 | 900.00 |
| RND4K Q32T1 | 12.35 | - |
";
        assert_eq!(markdown(&report(), &["/data".to_owned()]), wanted);
        assert_eq!(text(&RunReport::default(), &["/data".to_owned()]), "");
    }
}
