//! The live line: the progress of all jobs, rewritten in place while they run.
//!
//! [`LiveLine`] decides when a line is due and stores the counters of the previous line, from which rates are computed. Time and terminal
//! width are arguments of each call; nothing here reads a clock or writes to a terminal.
//!
//! fio's line has only the number of jobs and files until the remaining time can be estimated, after three seconds, and no rates in a ramp.
//! ferrio's line has the states of jobs and the rates from the first line on, marks a ramp, and omits parts that do not fit a narrow
//! terminal.

use std::fmt;
use std::time::Duration;

use ferrio_job::{Compat, Direction, JobSpec, Plan, ReadWrite, Units};
use ferrio_results::{JobProgress, JobState, Progress};

use crate::eta;
use crate::num::{NumberUnit, Prefixes, num, num_of_kilo, percent};

/// Significant digits of rates, whatever the jobs ask for.
const RATE_FIGURES: u8 = 4;

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

/// Sums over all jobs at one moment, including ramps.
#[derive(Clone, Copy, Debug, Default)]
struct LiveTotals {
    elapsed: Duration,
    /// True if a job moved bytes outside its ramp.
    moved: bool,
    bytes: [u64; 3],
    ios: [u64; 3],
    transactions: u64,
}

impl LiveTotals {
    fn of(progress: &Progress) -> Self {
        let sum = |counters: fn(&JobProgress) -> &[u64; 3]| {
            [0, 1, 2].map(|direction| progress.jobs.iter().map(|job| counters(job)[direction]).sum())
        };
        let moves =
            |job: &JobProgress| job.state != JobState::Ramp && job.bytes.iter().any(|&bytes| bytes > 0);
        LiveTotals {
            elapsed: progress.elapsed,
            moved: progress.jobs.iter().any(moves),
            bytes: sum(|job| &job.bytes),
            ios: sum(|job| &job.ios),
            transactions: progress.jobs.iter().map(|job| job.transactions).sum(),
        }
    }
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
        let since = progress.elapsed.saturating_sub(self.from.elapsed);
        let due = since.as_micros() * 100 > self.interval.as_micros() * 95;
        if !due || progress.jobs.iter().all(|job| eta::has_ended(job.state)) {
            return None;
        }
        let totals = LiveTotals::of(progress);
        let parts = self.compose(plan, progress, &totals, since);
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
        self.mark_newline(progress.elapsed);
        if totals.moved || self.compat == Compat::Ferrio {
            self.from = totals;
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

    fn compose(
        &mut self,
        plan: &Plan,
        progress: &Progress,
        totals: &LiveTotals,
        since: Duration,
    ) -> LineParts {
        let jobs: Vec<(&JobSpec, &JobProgress)> = eta::jobs(plan, progress).collect();
        let running: Vec<(&JobSpec, &JobProgress)> =
            jobs.iter().copied().filter(|(_, job)| does_io(job.state)).collect();
        // The files and limits of jobs in their ramp are not counted.
        let beyond_ramp = || running.iter().filter(|(_, job)| job.state != JobState::Ramp);
        let files: u32 = beyond_ramp().map(|(_, job)| job.open_files).sum();
        let units = units(plan);
        let mut parts = LineParts {
            jobs: running.len(),
            files: format!(" (f={files})"),
            limits: limits(units, beyond_ramp().map(|(spec, _)| *spec)),
            ..LineParts::default()
        };
        let is_fio = self.compat == Compat::Fio;
        let remaining = eta::remaining(plan, progress, self.compat);
        let Some(remaining) = remaining.filter(|_| !is_fio || !running.is_empty()) else {
            return parts;
        };
        let all_ramp = !running.is_empty() && running.iter().all(|(_, job)| job.state == JobState::Ramp);
        let done = self.percent_done(progress, running.len(), all_ramp, remaining);
        parts.states = format!("[{}]", states(&jobs));
        parts.done = format!("[{done}]");
        if totals.moved || !is_fio {
            (parts.bandwidths, parts.iops) = rates(&self.from, totals, since, units);
            parts.tps = tps(&self.from, totals, since);
        }
        parts.remaining = Some(format!("[eta {}]", eta::clock_text(remaining)));
        parts
    }

    fn percent_done(
        &mut self,
        progress: &Progress,
        running: usize,
        all_ramp: bool,
        remaining: u64,
    ) -> String {
        if all_ramp && self.compat == Compat::Ferrio {
            return "ramp".to_owned();
        }
        if all_ramp || (remaining == 0 && !self.percent_shown) {
            return "-.-%".to_owned();
        }
        self.percent_shown = true;
        let elapsed = eta::seconds(progress.elapsed);
        let setting_up = progress.jobs.iter().filter(|job| job.state == JobState::SettingUp).count();
        let ready = 1.0 - setting_up as f64 / running.max(1) as f64;
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

/// True for states in which a job may have I/Os in flight.
pub(crate) const fn does_io(state: JobState) -> bool {
    matches!(
        state,
        JobState::Ramp | JobState::Running | JobState::Verifying | JobState::Fsyncing | JobState::Finishing
    )
}

/// The units of the line: decimal prefixes or bits only if all jobs use them. The number of significant digits is the last job's.
pub(crate) fn units(plan: &Plan) -> Units {
    let units = || plan.jobs.iter().map(|job| job.spec.units);
    Units {
        kb_base: units().map(|units| units.kb_base).max().unwrap_or(1024),
        unit_base: units().map(|units| units.unit_base).max().unwrap_or(8),
        significant_figures: plan.jobs.last().map_or(RATE_FIGURES, |job| job.spec.units.significant_figures),
    }
}

/// The sums of the minimum and maximum rates of jobs, in bytes even if rates are in bits.
fn limits<'a>(units: Units, jobs: impl Iterator<Item = &'a JobSpec> + Clone) -> String {
    let sum = |limit: fn(&JobSpec, Direction) -> u64| -> u64 {
        let of_job = |spec: &JobSpec| -> u64 {
            Direction::ALL.into_iter().filter(|&d| spec.rw.does(d)).map(|d| limit(spec, d)).sum()
        };
        jobs.clone().map(of_job).sum()
    };
    let bytes = sum(|spec, direction| spec.rates.bytes[direction]);
    let iops = sum(|spec, direction| spec.rates.iops[direction]);
    let least_bytes = sum(|spec, direction| spec.rates.min_bytes[direction]);
    let least_iops = sum(|spec, direction| spec.rates.min_iops[direction]);
    if bytes > 0 || least_bytes > 0 {
        let prefixes = Prefixes::of_kb_base(units.kb_base);
        let text = |rate| num(rate, units.significant_figures, prefixes, NumberUnit::BytesPerSecond);
        format!(", {}-{}", text(least_bytes), text(bytes))
    } else if iops > 0 || least_iops > 0 {
        format!(", {least_iops}-{iops} IOPS")
    } else {
        String::new()
    }
}

/// One letter per job in order, with equal neighbours merged: `m(2),_(1)`.
fn states(jobs: &[(&JobSpec, &JobProgress)]) -> String {
    let letters: Vec<char> = jobs.iter().map(|(spec, job)| letter(spec, job.state)).collect();
    let runs: Vec<String> =
        letters.chunk_by(|a, b| a == b).map(|run| format!("{}({})", run[0], run.len())).collect();
    runs.join(",")
}

fn letter(spec: &JobSpec, state: JobState) -> char {
    match state {
        JobState::NotCreated => 'P',
        JobState::Initialized | JobState::SettingUp => 'I',
        JobState::PreReading => 'p',
        JobState::Ramp => '/',
        JobState::Verifying => 'V',
        JobState::Running => workload_letter(spec),
        JobState::Fsyncing => 'F',
        JobState::Finishing => 'f',
        JobState::Reaped => '_',
        JobState::Failed => 'X',
    }
}

/// The letter for the workload of a running job; capitals are sequential. A mix of 0 % or 100 % reads counts as writes or reads.
fn workload_letter(spec: &JobSpec) -> char {
    let sequential = match spec.rw {
        ReadWrite::Read | ReadWrite::RandRead => 'R',
        ReadWrite::Write | ReadWrite::RandWrite | ReadWrite::TrimWrite | ReadWrite::RandTrimWrite => 'W',
        ReadWrite::Trim | ReadWrite::RandTrim => 'D',
        ReadWrite::Every => 'M',
        ReadWrite::Mixed | ReadWrite::RandMixed => match spec.rwmixread {
            100 => 'R',
            0 => 'W',
            _ => 'M',
        },
    };
    if spec.rw.is_random() { sequential.to_ascii_lowercase() } else { sequential }
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
