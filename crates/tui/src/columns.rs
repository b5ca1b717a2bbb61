//! The table of jobs: its columns, and the choice of those that fit.

use ferrio_job::{Direction, Units};
use ferrio_report::num::{NumberUnit, Prefixes, num};
use ferrio_report::{HostState, LiveEntry, LiveFigures, LiveLatency, LiveTable, Unit, clock_text};
use ferrio_results::JobState;

use crate::board::one_line;

/// Significant digits of rates.
const SIGNIFICANT_DIGITS: u8 = 4;
/// Fewest characters of the name, if the terminal is as wide.
const MIN_NAME: usize = 8;
/// Stands for a figure that is unknown or does not exist.
const NO_FIGURE: &str = "-";

/// A column to the right of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobColumn {
    State,
    Left,
    /// Transactions per second and their latency.
    Tps,
    TransactionP50,
    TransactionP99,
    Iops(Direction),
    Bandwidth(Direction),
    P50,
    P99,
    Max,
    Depth,
    Errors,
}

impl JobColumn {
    /// All columns for jobs with these directions, from left to right.
    fn all(directions: [bool; 3], transactions: bool) -> Vec<JobColumn> {
        let mut columns = vec![JobColumn::State, JobColumn::Left];
        if transactions {
            columns.extend([JobColumn::Tps, JobColumn::TransactionP50, JobColumn::TransactionP99]);
        }
        for direction in Direction::ALL.into_iter().filter(|&direction| directions[direction as usize]) {
            columns.extend([JobColumn::Iops(direction), JobColumn::Bandwidth(direction)]);
        }
        columns.extend([JobColumn::P50, JobColumn::P99, JobColumn::Max, JobColumn::Depth, JobColumn::Errors]);
        columns
    }

    /// The columns that fit beside a name into `width` characters. The most important ones are tried first.
    pub(crate) fn fitting(directions: [bool; 3], transactions: bool, width: usize) -> Vec<JobColumn> {
        let all = JobColumn::all(directions, transactions);
        let mut by_importance = all.clone();
        by_importance.sort_by_key(|column| column.row().0);
        let mut room = width.saturating_sub(MIN_NAME);
        by_importance.retain(|column| match room.checked_sub(column.width()) {
            Some(rest) => {
                room = rest;
                true
            }
            None => false,
        });
        all.into_iter().filter(|column| by_importance.contains(column)).collect()
    }

    /// The rank of the column, 0 for the most important; the width in characters, with the blank before it; the heading, without the
    /// direction.
    const fn row(self) -> (u8, usize, &'static str) {
        match self {
            JobColumn::Tps => (0, 10, "tps"),
            JobColumn::Iops(Direction::Write) => (1, 11, "IOPS"),
            JobColumn::Iops(_) => (1, 10, "IOPS"),
            JobColumn::TransactionP99 => (2, 9, "tx p99"),
            JobColumn::P99 => (3, 9, "p99"),
            JobColumn::State => (4, 14, "state"),
            JobColumn::Bandwidth(_) => (5, 12, "bw"),
            JobColumn::Errors => (6, 7, "errors"),
            JobColumn::Left => (7, 12, "left"),
            JobColumn::TransactionP50 => (8, 9, "tx p50"),
            JobColumn::P50 => (9, 9, "p50"),
            JobColumn::Max => (10, 9, "max"),
            JobColumn::Depth => (11, 6, "depth"),
        }
    }

    pub(crate) const fn width(self) -> usize {
        let (_, width, _) = self.row();
        width
    }

    /// Whether the text is left-aligned.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, JobColumn::State)
    }

    pub(crate) fn heading(self) -> String {
        let (.., heading) = self.row();
        match self {
            JobColumn::Iops(direction) | JobColumn::Bandwidth(direction) => {
                format!("{} {heading}", direction.name())
            }
            _ => heading.to_owned(),
        }
    }

    pub(crate) fn text(self, entry: &LiveEntry, units: Units) -> String {
        match self {
            JobColumn::State => state(entry),
            JobColumn::Left => entry.left.map_or(NO_FIGURE.to_owned(), remaining_time),
            JobColumn::Errors => num(entry.errors, SIGNIFICANT_DIGITS, Prefixes::Decimal, NumberUnit::None),
            _ => entry.now().and_then(|now| self.figure(now, units)).unwrap_or_else(|| NO_FIGURE.to_owned()),
        }
    }

    /// The text of a figure of the last second.
    fn figure(self, now: &LiveFigures, units: Units) -> Option<String> {
        let text = |latency: Option<LiveLatency>, of: fn(LiveLatency) -> u64| {
            latency.map(|latency| Unit::Nanoseconds.text(of(latency) as f64))
        };
        let latency = |of| text(now.latency, of);
        let transactions = |of| text(now.transactions?.latency, of);
        match self {
            JobColumn::Tps => now.transactions.map(|transactions| iops_text(transactions.rate)),
            JobColumn::TransactionP50 => transactions(|latency| latency.p50),
            JobColumn::TransactionP99 => transactions(|latency| latency.p99),
            JobColumn::Iops(direction) => Some(iops_text(now.iops[direction as usize])),
            JobColumn::Bandwidth(direction) => Some(bandwidth_text(now.bandwidth[direction as usize], units)),
            JobColumn::P50 => latency(|latency| latency.p50),
            JobColumn::P99 => latency(|latency| latency.p99),
            JobColumn::Max => latency(|latency| latency.max),
            JobColumn::Depth => now
                .depth
                .map(|depth| if depth < 100.0 { format!("{depth:.1}") } else { format!("{depth:.0}") }),
            JobColumn::State | JobColumn::Left | JobColumn::Errors => None,
        }
    }
}

/// I/Os or transactions per second, rounded.
pub(crate) fn iops_text(iops: f64) -> String {
    num(iops.round() as u64, SIGNIFICANT_DIGITS, Prefixes::Decimal, NumberUnit::None)
}

/// Bytes per second in the units that the jobs ask for.
pub(crate) fn bandwidth_text(bytes: f64, units: Units) -> String {
    let unit = if units.unit_base == 1 { NumberUnit::BitsPerSecond } else { NumberUnit::BytesPerSecond };
    num(bytes.round() as u64, SIGNIFICANT_DIGITS, Prefixes::of_kb_base(units.kb_base), unit)
}

/// The remaining time in at most eleven characters.
fn remaining_time(seconds: u64) -> String {
    match seconds / 86_400 {
        0 => clock_text(seconds),
        days => format!("{days}d:{:02}h", seconds / 3600 % 24),
    }
}

/// The state of an entry, with the number of its jobs in that state if not all are.
fn state(entry: &LiveEntry) -> String {
    if let Some(word) = entry.host.and_then(HostState::word) {
        return word.to_owned();
    }
    let word = entry.state.word();
    match entry.in_state == entry.jobs() || entry.state == JobState::Reaped {
        true => word.to_owned(),
        false => format!("{word} {}/{}", entry.in_state, entry.jobs()),
    }
}

/// What a row of the table is.
pub(crate) const fn row_noun(table: &LiveTable) -> &'static str {
    if table.has_hosts { "host" } else { "job" }
}

/// The name of an entry and its suffix: the number of its jobs if it has several, or the number of its job if other entries have the same
/// name. A host that is named twice has its rank.
pub(crate) fn name(table: &LiveTable, index: Option<usize>) -> (String, String) {
    let Some(entry) = index.and_then(|index| table.entries.get(index)) else {
        let rows = if table.has_hosts { table.entries.len() } else { table.all.jobs() };
        return ("all".to_owned(), format!(" x{rows}"));
    };
    let has_namesakes = || table.entries.iter().filter(|other| other.name == entry.name).nth(1).is_some();
    let suffix = match entry.jobs() {
        _ if table.has_hosts && !has_namesakes() => String::new(),
        _ if table.has_hosts => format!(" #{}", entry.number),
        1 if has_namesakes() => format!(" #{}", entry.number),
        1 => String::new(),
        jobs => format!(" x{jobs}"),
    };
    (one_line(&entry.name), suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_has_the_most_important_columns() {
        let reads = [true, false, false];
        let iops = JobColumn::Iops(Direction::Read);
        assert_eq!(JobColumn::fitting(reads, false, 10), []);
        assert_eq!(JobColumn::fitting(reads, false, 20), [iops]);
        assert_eq!(JobColumn::fitting(reads, false, 41), [JobColumn::State, iops, JobColumn::P99]);
        assert_eq!(JobColumn::fitting(reads, false, 200), JobColumn::all(reads, false));
        let mixed = JobColumn::fitting([true, true, false], false, 40);
        assert_eq!(mixed, [iops, JobColumn::Iops(Direction::Write), JobColumn::P99]);
        let session = JobColumn::fitting(reads, true, 40);
        assert_eq!(session, [JobColumn::Tps, JobColumn::TransactionP99, iops]);
    }

    #[test]
    fn every_text_fits_into_its_column() {
        // Counts of many jobs are cut.
        let longest = JobState::PreReading.word().len().max("running 99/99".len());
        assert!(longest < JobColumn::State.width());
        for state in [HostState::Connecting, HostState::Preparing, HostState::Ended, HostState::Lost] {
            assert!(state.word().unwrap().len() < JobColumn::State.width(), "{state:?}");
        }
        assert_eq!(
            [remaining_time(59), remaining_time(86_399), remaining_time(90_061)],
            ["00m:59s", "23h:59m:59s", "1d:01h"]
        );
        for column in JobColumn::all([true; 3], true) {
            assert!(column.heading().len() < column.width(), "{column:?}");
        }
        for ns in [0.0, 999.0, 999_949.0, 36_512.0, 12e9, 5e12] {
            assert!(Unit::Nanoseconds.text(ns).len() < JobColumn::P50.width(), "{ns}");
        }
        for rate in [0.0, 9999.4, 12_345.0, 1_047_000.0, 1e9, 1e15] {
            let bits = Units { kb_base: 1024, unit_base: 1, significant_figures: 4 };
            assert!(iops_text(rate).len() < 10 && bandwidth_text(rate, bits).len() < 12, "{rate}");
        }
    }
}
