//! The live line: the progress of all jobs, rewritten in place while they run.
//!
//! [`LiveLine`] decides when a line is due and stores the counters of the previous line, from which rates are computed. Time and terminal
//! width are arguments of each call; nothing here reads a clock or writes to a terminal.
//!
//! fio's line has only the number of jobs and files until the remaining time can be estimated, after three seconds, and no rates in a ramp.
//! ferrio's line has the states of jobs and the rates from the first line on, marks a ramp, and omits parts that do not fit a narrow
//! terminal.

mod status;

use std::fmt;
use std::time::Duration;

use ferrio_job::{Compat, Plan, Units};
use ferrio_results::Progress;

use crate::eta;
use crate::num::{NumberUnit, Prefixes, num, num_of_kilo, percent};
pub use status::LiveStatus;
use status::{LiveTotals, RATE_FIGURES};
pub(crate) use status::{does_io, units};

/// Composes the live line of one run.
#[derive(Debug)]
pub struct LiveLine {
    compat: Compat,
    interval: Duration,
    newline: Option<Duration>,
    /// The totals that rates are relative to: those of the last line; with fio, those of the start until something was moved.
    from: LiveTotals,
    /// Length of the last line in characters (with fio, of the last complete one), which a shorter line must overwrite.
    length: usize,
    percent_shown: bool,
    /// Start of the current period until the next newline.
    mark: Option<Duration>,
    newline_due: bool,
}

impl LiveLine {
    /// Creates a line every `interval` (`--eta-interval`, usually 1 s). With `newline` (`--eta-newline`), one line is kept each time that
    /// much time has passed.
    #[must_use]
    pub fn new(compat: Compat, interval: Duration, newline: Option<Duration>) -> Self {
        LiveLine {
            compat,
            interval,
            newline,
            from: LiveTotals::default(),
            length: 0,
            percent_shown: false,
            mark: None,
            newline_due: false,
        }
    }

    /// The text to print now, including the carriage return; `None` if no line is due or all jobs have ended. `columns` is the width of the
    /// terminal, if there is one.
    pub fn update(&mut self, plan: &Plan, progress: &Progress, columns: Option<usize>) -> Option<String> {
        // Not computed for each look of the run at its jobs.
        let is_due = self.is_due(progress.elapsed);
        is_due
            .then(|| LiveStatus::new(plan, progress, self.compat))
            .and_then(|status| self.show(&status, columns))
    }

    /// The same for the parts of a run on many hosts.
    pub fn update_together<'a>(
        &mut self,
        parts: impl Iterator<Item = &'a LiveStatus> + Clone,
        columns: Option<usize>,
    ) -> Option<String> {
        let status = LiveStatus::together(parts);
        if self.is_due(status.totals.elapsed) { self.show(&status, columns) } else { None }
    }

    fn is_due(&self, elapsed: Duration) -> bool {
        let since = elapsed.saturating_sub(self.from.elapsed);
        since.as_micros() * 100 > self.interval.as_micros() * 95
    }

    fn show(&mut self, status: &LiveStatus, columns: Option<usize>) -> Option<String> {
        if status.has_ended {
            return None;
        }
        let totals = &status.totals;
        let parts = self.compose(status, totals.elapsed.saturating_sub(self.from.elapsed));
        // The last column stays free: after a full row, some terminals start the next one.
        let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(1).max(1));
        let is_complete = parts.remaining.is_some();
        let line: String = match self.compat {
            Compat::Fio => parts.to_string(),
            Compat::Ferrio => parts.that_fit(room),
        };
        let line: String = line.chars().take(room).collect();
        // The newline before a line counts as part of it when fio pads it.
        let line = if self.newline_due { format!("\n{line}") } else { line };
        let text = format!("{line:length$}\r", length = self.length.min(room));
        if is_complete || self.compat == Compat::Ferrio {
            self.length = line.chars().count();
        }
        self.mark_newline(totals.elapsed);
        if totals.moved || self.compat == Compat::Ferrio {
            self.from = *totals;
        }
        Some(text)
    }

    fn mark_newline(&mut self, now: Duration) {
        self.newline_due = false;
        let Some(newline) = self.newline else {
            return;
        };
        let mark = *self.mark.get_or_insert(now);
        if now.saturating_sub(mark) > newline {
            self.newline_due = true;
            self.mark = Some(now);
        }
    }

    fn compose(&mut self, status: &LiveStatus, since: Duration) -> LineParts {
        let LiveStatus { totals, units, .. } = status;
        let mut parts = LineParts {
            jobs: status.running,
            files: format!(" (f={})", status.files),
            limits: status.limits.text(*units),
            ..LineParts::default()
        };
        let Some(remaining) = status.remaining else { return parts };
        let done = self.percent_done(status, remaining);
        parts.states = format!("[{}]", status.states);
        parts.done = format!("[{done}]");
        if totals.moved || self.compat == Compat::Ferrio {
            (parts.bandwidths, parts.iops) = rates(&self.from, totals, since, *units);
            parts.tps = tps(&self.from, totals, since);
        }
        parts.remaining = Some(format!("[eta {}]", eta::clock_text(remaining)));
        parts
    }

    fn percent_done(&mut self, status: &LiveStatus, remaining: u64) -> String {
        if status.all_ramp && self.compat == Compat::Ferrio {
            return "ramp".to_owned();
        }
        if status.all_ramp || (remaining == 0 && !self.percent_shown) {
            return "-.-%".to_owned();
        }
        self.percent_shown = true;
        let elapsed = eta::seconds(status.totals.elapsed);
        let ready = 1.0 - status.setting_up as f64 / status.running.max(1) as f64;
        format!("{:.1}%", percent(elapsed, elapsed.saturating_add(remaining)) * ready.max(0.0))
    }
}

/// The parts of a line, each with its brackets; absent ones are empty.
#[derive(Clone, Debug, Default)]
struct LineParts {
    jobs: usize,
    files: String,
    limits: String,
    states: String,
    done: String,
    bandwidths: String,
    iops: String,
    tps: String,
    /// `None` until the remaining time can be estimated; states are omitted until then too.
    remaining: Option<String>,
}

impl fmt::Display for LineParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Jobs: {}{}{}", self.jobs, self.files, self.limits)?;
        if let Some(remaining) = &self.remaining {
            write!(f, ": {}{}", self.states, self.done)?;
            write!(f, "{}{}{}{remaining}", self.bandwidths, self.iops, self.tps)?;
        }
        Ok(())
    }
}

impl LineParts {
    /// The line in at most `room` characters, if omitting parts can achieve that. The least important parts go first.
    fn that_fit(mut self, room: usize) -> String {
        let parts: [fn(&mut LineParts) -> &mut String; 7] = [
            |line| &mut line.limits,
            |line| &mut line.files,
            |line| &mut line.done,
            |line| &mut line.states,
            |line| &mut line.iops,
            |line| &mut line.bandwidths,
            |line| &mut line.tps,
        ];
        for part in parts {
            let line = self.to_string();
            if line.chars().count() <= room {
                return line;
            }
            part(&mut self).clear();
        }
        self.to_string()
    }
}

/// The growth of a counter per second.
fn rate(from: u64, to: u64, since: Duration) -> u64 {
    let ms = since.as_millis().max(1);
    u64::try_from(u128::from(to.saturating_sub(from)) * 1000 / ms).unwrap_or(u64::MAX)
}

/// Transactions per second of database models, in brackets; empty without any.
fn tps(from: &LiveTotals, to: &LiveTotals, since: Duration) -> String {
    if to.transactions == 0 {
        return String::new();
    }
    let tps = rate(from.transactions, to.transactions, since);
    format!("[{} TPS]", num(tps, RATE_FIGURES, Prefixes::Decimal, NumberUnit::None))
}

/// Bandwidths and IOPS, each in brackets; empty if nothing moved.
fn rates(from: &LiveTotals, to: &LiveTotals, since: Duration, units: Units) -> (String, String) {
    let rate = |from, to| rate(from, to, since);
    let prefixes = Prefixes::of_kb_base(units.kb_base);
    let unit = if units.unit_base == 1 { NumberUnit::BitsPerSecond } else { NumberUnit::BytesPerSecond };
    let (mut bandwidths, mut iops) = (Vec::new(), Vec::new());
    for (index, name) in ["r", "w", "t"].into_iter().enumerate() {
        let kilo = rate(from.bytes[index], to.bytes[index]) / prefixes.step();
        let ios = rate(from.ios[index], to.ios[index]);
        if kilo > 0 || ios > 0 {
            let bandwidth = num_of_kilo(kilo, RATE_FIGURES, prefixes, unit);
            bandwidths.push(format!("{name}={bandwidth}"));
            iops.push(format!("{name}={}", num(ios, RATE_FIGURES, Prefixes::Decimal, NumberUnit::None)));
        }
    }
    if iops.is_empty() {
        (String::new(), String::new())
    } else {
        (format!("[{}]", bandwidths.join(",")), format!("[{} IOPS]", iops.join(",")))
    }
}

#[cfg(test)]
mod tests;
