//! When reports of the run so far are due: by the clock, by a signal or by a file.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ferrio_job::{Diagnostic, reason};

/// Main waits this long for figures at most, and no longer than half of the time between two reports,
const MAX_REPLY_TIMEOUT: Duration = Duration::from_millis(100);
/// but at least this long: a job that sleeps checks every 20 ms, and on a busy machine it needs some time to get a CPU.
const MIN_REPLY_TIMEOUT: Duration = Duration::from_millis(50);
/// Time between two checks for the status file.
const FILE_CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// The kinds of reports that are due.
#[derive(Debug, Default)]
pub(super) struct DueKinds {
    pub(super) status: bool,
    /// Places of the intervals that have passed, each once.
    pub(super) intervals: Vec<usize>,
}

impl DueKinds {
    pub(super) fn any(&self) -> bool {
        self.status || !self.intervals.is_empty()
    }
}

/// Figures are being collected.
#[derive(Debug)]
pub(super) struct FigureRound {
    /// For these reports.
    pub(super) due: DueKinds,
    /// Jobs that have not answered.
    pub(super) missing: usize,
    pub(super) until: Instant,
}

/// When reports are due.
#[derive(Debug, Default)]
pub(super) struct DueReports {
    status: Option<IntervalTimer>,
    intervals: Vec<IntervalTimer>,
    file: Option<PathBuf>,
    /// When the next check for the file is due, since the start of the run.
    next_check: Duration,
    pub(super) reply_timeout: Duration,
    /// Reports that no round was begun for.
    pub(super) due: DueKinds,
    pub(super) round: Option<FigureRound>,
}

impl DueReports {
    /// Reports every `status` and at each of the `intervals`, and when `status_file` appears.
    pub(super) fn new(
        status: Option<Duration>,
        intervals: &[Duration],
        status_file: Option<PathBuf>,
    ) -> Self {
        let shortest = intervals.iter().copied().chain(status).min();
        DueReports {
            status: status.map(IntervalTimer::new),
            intervals: intervals.iter().copied().map(IntervalTimer::new).collect(),
            file: status_file,
            reply_timeout: shortest
                .map_or(MAX_REPLY_TIMEOUT, |every| (every / 2).clamp(MIN_REPLY_TIMEOUT, MAX_REPLY_TIMEOUT)),
            ..DueReports::default()
        }
    }

    /// A report is wanted as soon as possible.
    pub(super) fn want_status(&mut self) {
        self.due.status = true;
    }

    /// Finds out what is due. Returns what the user should know, if a report cannot be asked for.
    pub(super) fn poll(&mut self, elapsed: Duration) -> Option<Diagnostic> {
        self.due.status |= self.status.as_mut().is_some_and(|timer| timer.passed(elapsed));
        for (at, timer) in self.intervals.iter_mut().enumerate() {
            if timer.passed(elapsed) && !self.due.intervals.contains(&at) {
                self.due.intervals.push(at);
            }
        }
        let file = self.file.as_ref().filter(|_| elapsed >= self.next_check)?;
        self.next_check = elapsed + FILE_CHECK_INTERVAL;
        // Removing is also the check: a file that cannot be removed would ask for a report at every check.
        match std::fs::remove_file(file) {
            Ok(()) => self.due.status = true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                let message = format!(
                    "{} requests a report, but cannot be removed, so none is printed: {}",
                    file.display(),
                    reason(&error)
                );
                self.file = None;
                return Some(Diagnostic::note(message).code("status-file-not-removed"));
            }
        }
        None
    }

    /// Time that main may sleep until the next report is due.
    pub(super) fn due_in(&self, elapsed: Duration) -> Duration {
        if let Some(round) = &self.round {
            return round.until.saturating_duration_since(Instant::now());
        }
        if self.due.any() {
            return Duration::ZERO;
        }
        let timers = self.intervals.iter().chain(&self.status).map(|timer| timer.next);
        let file = self.file.is_some().then_some(self.next_check);
        let next = timers.chain(file).min();
        next.map_or(Duration::MAX, |next| next.saturating_sub(elapsed))
    }
}

/// An event at whole multiples of an interval.
#[derive(Debug)]
struct IntervalTimer {
    every: Duration,
    next: Duration,
}

impl IntervalTimer {
    fn new(every: Duration) -> Self {
        let every = every.max(Duration::from_millis(1));
        IntervalTimer { every, next: every }
    }

    /// True when it is time. Missed multiples are skipped.
    fn passed(&mut self, elapsed: Duration) -> bool {
        if elapsed < self.next {
            return false;
        }
        let past = elapsed.as_nanos() % self.every.as_nanos();
        let left = self.every.as_nanos() - past;
        self.next = elapsed + Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX));
        true
    }
}

#[cfg(test)]
mod tests;
