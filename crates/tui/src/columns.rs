//! The table of jobs: its columns, and which of them fit.

use ferrio_job::{Direction, Units};
use ferrio_report::num::{NumberUnit, Prefixes, num};
use ferrio_report::{LiveEntry, LiveFigures, LiveLatency, LiveTable, Unit, clock_text};
use ferrio_results::JobState;

use crate::board::one_line;

/// Significant digits of rates.
const FIGURES: u8 = 4;
/// The name has at least this many characters, if the terminal does.
const MIN_NAME: usize = 8;
/// What is not known or does not exist.
const NOTHING: &str = "-";

/// A column right of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    State,
    Left,
    /// Transactions per second, and how long they took.
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

impl Column {
    /// All columns for jobs with these directions, from left to right.
    fn all(directions: [bool; 3], transactions: bool) -> Vec<Column> {
        let mut columns = vec![Column::State, Column::Left];
        if transactions {
            columns.extend([Column::Tps, Column::TransactionP50, Column::TransactionP99]);
        }
        for direction in Direction::ALL.into_iter().filter(|&direction| directions[direction as usize]) {
            columns.extend([Column::Iops(direction), Column::Bandwidth(direction)]);
        }
        columns.extend([Column::P50, Column::P99, Column::Max, Column::Depth, Column::Errors]);
        columns
    }

    /// The columns that fit beside a name in `width` characters, the most important ones first considered.
    pub(crate) fn that_fit(directions: [bool; 3], transactions: bool, width: usize) -> Vec<Column> {
        let all = Column::all(directions, transactions);
        let mut by_importance = all.clone();
        by_importance.sort_by_key(|column| column.importance());
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

    /// 0 for the most important columns.
    const fn importance(self) -> u8 {
        match self {
            Column::Tps => 0,
            Column::Iops(_) => 1,
            Column::TransactionP99 => 2,
            Column::P99 => 3,
            Column::State => 4,
            Column::Bandwidth(_) => 5,
            Column::Errors => 6,
            Column::Left => 7,
            Column::TransactionP50 => 8,
            Column::P50 => 9,
            Column::Max => 10,
            Column::Depth => 11,
        }
    }

    /// Characters, with the blank on the left.
    pub(crate) const fn width(self) -> usize {
        match self {
            Column::State => 14,
            Column::Left => 12,
            Column::Iops(Direction::Write) => 11,
            Column::Iops(_) | Column::Tps => 10,
            Column::Bandwidth(_) => 12,
            Column::P50 | Column::P99 | Column::Max => 9,
            Column::TransactionP50 | Column::TransactionP99 => 9,
            Column::Depth => 6,
            Column::Errors => 7,
        }
    }

    /// True if texts begin at the left.
    pub(crate) const fn is_text(self) -> bool {
        matches!(self, Column::State)
    }

    pub(crate) fn heading(self) -> String {
        match self {
            Column::State => "state".to_owned(),
            Column::Left => "left".to_owned(),
            Column::Iops(direction) => format!("{} IOPS", direction.name()),
            Column::Bandwidth(direction) => format!("{} bw", direction.name()),
            Column::Tps => "tps".to_owned(),
            Column::TransactionP50 => "tx p50".to_owned(),
            Column::TransactionP99 => "tx p99".to_owned(),
            Column::P50 => "p50".to_owned(),
            Column::P99 => "p99".to_owned(),
            Column::Max => "max".to_owned(),
            Column::Depth => "depth".to_owned(),
            Column::Errors => "errors".to_owned(),
        }
    }

    pub(crate) fn text(self, entry: &LiveEntry, units: Units) -> String {
        match self {
            Column::State => state(entry),
            Column::Left => entry.left.map_or(NOTHING.to_owned(), left),
            Column::Errors => num(entry.errors, FIGURES, Prefixes::Decimal, NumberUnit::None),
            _ => entry.now().and_then(|now| self.figure(now, units)).unwrap_or_else(|| NOTHING.to_owned()),
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
            Column::Tps => now.transactions.map(|transactions| iops_text(transactions.rate)),
            Column::TransactionP50 => transactions(|latency| latency.p50),
            Column::TransactionP99 => transactions(|latency| latency.p99),
            Column::Iops(direction) => Some(iops_text(now.iops[direction as usize])),
            Column::Bandwidth(direction) => Some(bandwidth_text(now.bandwidth[direction as usize], units)),
            Column::P50 => latency(|latency| latency.p50),
            Column::P99 => latency(|latency| latency.p99),
            Column::Max => latency(|latency| latency.max),
            Column::Depth => now
                .depth
                .map(|depth| if depth < 100.0 { format!("{depth:.1}") } else { format!("{depth:.0}") }),
            Column::State | Column::Left | Column::Errors => None,
        }
    }
}

/// I/Os or transactions per second, rounded.
pub(crate) fn iops_text(iops: f64) -> String {
    num(iops.round() as u64, FIGURES, Prefixes::Decimal, NumberUnit::None)
}

/// Bytes per second in the units that the jobs ask for.
pub(crate) fn bandwidth_text(bytes: f64, units: Units) -> String {
    let unit = if units.unit_base == 1 { NumberUnit::BitsPerSecond } else { NumberUnit::BytesPerSecond };
    num(bytes.round() as u64, FIGURES, Prefixes::of_kb_base(units.kb_base), unit)
}

/// The time that is left, in at most eleven characters.
fn left(seconds: u64) -> String {
    match seconds / 86_400 {
        0 => clock_text(seconds),
        days => format!("{days}d:{:02}h", seconds / 3600 % 24),
    }
}

/// What an entry does, and how many of its jobs do that if not all do.
fn state(entry: &LiveEntry) -> String {
    let word = entry.state.word();
    match entry.in_state == entry.jobs() || entry.state == JobState::Reaped {
        true => word.to_owned(),
        false => format!("{word} {}/{}", entry.in_state, entry.jobs()),
    }
}

/// The name of an entry, and what follows it: the number of its jobs if it has several, or that of its job if other entries have the
/// same name.
pub(crate) fn name(table: &LiveTable, place: Option<usize>) -> (String, String) {
    let Some(entry) = place.and_then(|place| table.entries.get(place)) else {
        return ("all".to_owned(), format!(" x{}", table.all.jobs()));
    };
    let has_namesakes = || table.entries.iter().filter(|other| other.name == entry.name).nth(1).is_some();
    let suffix = match entry.jobs() {
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
        let iops = Column::Iops(Direction::Read);
        assert_eq!(Column::that_fit(reads, false, 10), []);
        assert_eq!(Column::that_fit(reads, false, 20), [iops]);
        assert_eq!(Column::that_fit(reads, false, 41), [Column::State, iops, Column::P99]);
        assert_eq!(Column::that_fit(reads, false, 200), Column::all(reads, false));
        let mixed = Column::that_fit([true, true, false], false, 40);
        assert_eq!(mixed, [iops, Column::Iops(Direction::Write), Column::P99]);
        let session = Column::that_fit(reads, true, 40);
        assert_eq!(session, [Column::Tps, Column::TransactionP99, iops]);
    }

    #[test]
    fn every_text_fits_into_its_column() {
        // Counts of many jobs are cut.
        let longest = JobState::PreReading.word().len().max("running 99/99".len());
        assert!(longest < Column::State.width());
        assert_eq!([left(59), left(86_399), left(90_061)], ["00m:59s", "23h:59m:59s", "1d:01h"]);
        for column in Column::all([true; 3], true) {
            assert!(column.heading().len() < column.width(), "{column:?}");
        }
        for ns in [0.0, 999.0, 999_949.0, 36_512.0, 12e9, 5e12] {
            assert!(Unit::Nanoseconds.text(ns).len() < Column::P50.width(), "{ns}");
        }
        for rate in [0.0, 9999.4, 12_345.0, 1_047_000.0, 1e9, 1e15] {
            let bits = Units { kb_base: 1024, unit_base: 1, significant_figures: 4 };
            assert!(iops_text(rate).len() < 10 && bandwidth_text(rate, bits).len() < 12, "{rate}");
        }
    }
}
