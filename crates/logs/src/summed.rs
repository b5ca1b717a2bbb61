//! Logs that several jobs write together (`log_sum`): a row is what all of them did in a window, the sum of their rates or the mean of
//! their latencies.
//!
//! Windows count from the moment at which the first of the jobs was measured. The row of a job belongs to the window at whose end it is,
//! which is off by less than a window for jobs that begin between two windows. A window is written when no job can add to it any more.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferrio_job::{Diagnostic, JobSpec, PlannedLog, WindowValue};

use crate::latency::WindowSummary;
use crate::sample::RateSample;

use crate::file::LogFile;
use crate::record::{Columns, LogRow};
use crate::rows::Rows;

/// All logs of sums of a run, by their names. Only the thread of the writer uses them.
#[derive(Debug, Default)]
pub(crate) struct SummedLogs(Vec<(String, Arc<Mutex<SummedLog>>)>);

/// A job's way to a log of sums.
#[derive(Debug)]
pub(crate) struct SummedLogMember {
    log: Arc<Mutex<SummedLog>>,
    at: usize,
}

/// One log.
#[derive(Debug)]
struct SummedLog {
    is_rate: bool,
    window_ms: u64,
    window_value: WindowValue,
    columns: Columns,
    /// Times are those of a clock.
    has_epoch: bool,
    file: LogFile,
    members: Vec<MemberProgress>,
    /// When the first job was measured, ms of the clock of all.
    begin_ms: Option<u64>,
    /// Sums by window, from 1, and direction.
    sums: BTreeMap<(u64, u8), WindowSum>,
    /// All windows up to this one are written.
    written: u64,
    rows: Rows,
}

/// How far a job has come.
#[derive(Clone, Copy, Debug, Default)]
struct MemberProgress {
    /// When it was measured; `None` before.
    begin_ms: Option<u64>,
    /// The last window in each direction; 0 before the first.
    last: [u64; 3],
    has_ended: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct WindowSum {
    sum: u128,
    count: u64,
    maximum: u64,
}

impl SummedLogs {
    /// Adds a job to the log of this name, which the first one creates.
    pub(crate) fn join(
        &mut self,
        planned: &PlannedLog,
        spec: &JobSpec,
        make: impl FnOnce(String) -> LogFile,
    ) -> SummedLogMember {
        let known = self.0.iter().find(|(name, _)| *name == planned.path).map(|(_, log)| Arc::clone(log));
        let log = known.unwrap_or_else(|| {
            let log = Arc::new(Mutex::new(SummedLog {
                is_rate: planned.kind.is_rate(),
                window_ms: u64::from(planned.window_ms.unwrap_or(0)).max(1),
                window_value: spec.logs.window_value,
                columns: Columns::of(&spec.logs),
                has_epoch: spec.logs.epoch_clock.is_some(),
                file: make(planned.path.clone()),
                members: Vec::new(),
                begin_ms: None,
                sums: BTreeMap::new(),
                written: 0,
                rows: Rows::default(),
            }));
            self.0.push((planned.path.clone(), Arc::clone(&log)));
            log
        });
        let at = {
            let mut log = locked(&log);
            log.members.push(MemberProgress::default());
            log.members.len() - 1
        };
        SummedLogMember { log, at }
    }

    /// Writes what is left and closes the files.
    pub(crate) fn end(&mut self) {
        for (_, log) in &self.0 {
            let mut log = locked(log);
            log.members.iter_mut().for_each(|member| member.has_ended = true);
            log.write();
            log.file.close();
        }
    }

    /// Errors since the last call.
    pub(crate) fn take_problems(&mut self) -> Vec<Diagnostic> {
        self.0.iter().filter_map(|(_, log)| locked(log).file.take_problem()).collect()
    }
}

fn locked(log: &Mutex<SummedLog>) -> MutexGuard<'_, SummedLog> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SummedLogMember {
    /// The job is measured from this moment on, ms of the clock of all jobs.
    pub(crate) fn begin(&self, begin_ms: u64) {
        let mut log = locked(&self.log);
        log.begin_ms.get_or_insert(begin_ms);
        log.members[self.at].begin_ms = Some(begin_ms);
    }

    /// A window of latencies, which ended at this time after the job began.
    pub(crate) fn window(&self, direction: u8, time_ms: u64, summary: WindowSummary) {
        let mut log = locked(&self.log);
        let window = log.window_of(self.at, usize::from(direction), time_ms);
        let sum = log.sums.entry((window, direction)).or_default();
        sum.sum += u128::from(summary.average) * u128::from(summary.count);
        sum.count += summary.count;
        sum.maximum = sum.maximum.max(summary.maximum);
        log.write();
    }

    /// Rates of an interval, which ended at this time after the job began.
    pub(crate) fn rates(&self, sample: &RateSample) {
        let mut log = locked(&self.log);
        let windows = [0, 1, 2].map(|direction| log.window_of(self.at, direction, sample.time_ms));
        for ((direction, &value), window) in (0..).zip(&sample.per_second).zip(windows) {
            if value > 0 {
                log.sums.entry((window, direction)).or_default().sum += u128::from(value);
            }
        }
        log.write();
    }

    /// Nothing more of the job follows.
    pub(crate) fn end(&self) {
        let mut log = locked(&self.log);
        log.members[self.at].has_ended = true;
        log.write();
    }
}

impl SummedLog {
    /// The window that the next row of a job belongs to: a job has one row in each.
    fn window_of(&mut self, at: usize, direction: usize, time_ms: u64) -> u64 {
        let member = &mut self.members[at];
        let offset_ms = member.begin_ms.unwrap_or(0).saturating_sub(self.begin_ms.unwrap_or(0));
        let time_ms = time_ms.saturating_add(offset_ms);
        // Intervals end a little before or after their time, windows of latencies with the first I/O after it.
        let early_ms = if self.is_rate { self.window_ms / 2 } else { 0 };
        let window = time_ms.saturating_add(early_ms) / self.window_ms;
        let last = &mut member.last[direction];
        *last = window.max(*last + 1).max(self.written + 1);
        *last
    }

    /// Writes the windows that no job adds to any more.
    fn write(&mut self) {
        let under_way = self.members.iter().filter(|member| member.begin_ms.is_some() && !member.has_ended);
        let reached = under_way.map(|member| member.last.into_iter().max().unwrap_or(0)).min();
        let later = reached.map_or_else(BTreeMap::new, |reached| self.sums.split_off(&(reached, 0)));
        let done = std::mem::replace(&mut self.sums, later);
        let Some((&(last, _), _)) = done.last_key_value() else { return };
        self.written = last;
        let epoch_ms = self.begin_ms.filter(|_| self.has_epoch).unwrap_or(0);
        self.rows.begin(self.columns, epoch_ms);
        for ((window, direction), sum) in done {
            let (average, maximum) = if self.is_rate { sum.rates() } else { sum.latencies() };
            let value = if self.window_value == WindowValue::Maximum { maximum } else { average };
            let time_ms = window.saturating_mul(self.window_ms);
            self.rows.push(&LogRow { time_ms, value, maximum, direction, ..LogRow::default() });
        }
        self.file.append(self.rows.text());
    }
}

impl WindowSum {
    /// The sum of the rates, which is also their largest value in the window.
    fn rates(self) -> (u64, u64) {
        let sum = u64::try_from(self.sum).unwrap_or(u64::MAX);
        (sum, sum)
    }

    /// The mean over all I/Os, rounded half up, and the largest value.
    fn latencies(self) -> (u64, u64) {
        let count = u128::from(self.count);
        let mean = (self.sum + count / 2).checked_div(count).unwrap_or(0);
        (u64::try_from(mean).unwrap_or(self.maximum), self.maximum)
    }
}
