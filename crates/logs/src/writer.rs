//! The writer of all log files of a run: one thread writes them while the jobs run.
//!
//! Workers and the monitor hand over batches through a bounded queue. A log on a disk slower than its job slows the job down
//! rather than filling memory. Rows are fio's; their times are ms since the job began, or since the epoch of `log_alternate_epoch`.

use std::collections::HashSet;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use ferrio_job::{Diagnostic, JobSpec, Origin, Plan, PlannedLog, log_files, reason};
use ferrio_machine::run_on;
use ferrio_results::RunResult;
use nix::sys::signal::{SigSet, SigmaskHow};

use crate::batch::LogBatch;
use crate::compressed::{Compressor, Packer};
use crate::file::{LogFile, LogOutlet, Spool, problem};
use crate::job::JobLogs;
use crate::queue::{LogReceiver, LogSender, log_queue};
use crate::rows::Rows;
use crate::summed::SummedLogs;
use crate::total::TotalLogs;

/// Batches that may wait for the writer.
const MAX_QUEUED: usize = 64;
/// How long a run that ends early waits for a disk that accepts no writes to a log.
const DISK_TIMEOUT: Duration = Duration::from_secs(10);
/// Most log files that stay open while jobs run. In runs with more of them, files are opened for each batch: descriptors are scarce, and
/// every worker has a copy of them all.
const MAX_OPEN_FILES: usize = 256;

/// All log files of a run and the thread that writes them.
#[derive(Debug)]
pub struct LogWriter {
    sender: LogSender,
    thread: JoinHandle<RunLogs>,
}

/// The log files of a run.
#[derive(Debug)]
struct RunLogs {
    jobs: Vec<Option<JobLogs>>,
    totals: Option<TotalLogs>,
    /// Logs of several jobs together (`log_sum`).
    summed: SummedLogs,
    /// Where the thread may run; empty for anywhere.
    cpus: Vec<u32>,
    /// Errors that do not belong to a file.
    problems: Vec<Diagnostic>,
}

impl LogWriter {
    /// Creates the log files of all jobs, and with the prefix `bandwidth` those of all jobs together, and starts the thread. `None`
    /// without log files.
    ///
    /// Files of one job are emptied; rows are added to files of several jobs (`per_job_logs=0`).
    ///
    /// With an `outlet`, the logs go there and no file is created for them. Errors are reported to `report` at once; the run goes on
    /// without the files that cannot be created.
    pub fn start(
        plan: &Plan,
        bandwidth: Option<&str>,
        outlet: Option<&LogOutlet>,
        report: &mut dyn FnMut(Diagnostic),
    ) -> Option<Self> {
        let logging = plan.jobs.iter().filter(|job| job.spec.logs.any()).count();
        if logging == 0 && bandwidth.is_none() {
            return None;
        }
        let stay_open = logging * JobLogs::MAX_FILES <= MAX_OPEN_FILES;
        let specs = || plan.jobs.iter().map(|job| &job.spec);
        let spool = spool(specs(), outlet.is_some(), report);
        let stored = specs().filter(|spec| spec.logs.any() && spec.logs.stored.is_some()).count();
        let compressor = Compressor::new();
        let packer = |record, piece| {
            Packer::new(compressor.clone(), record, piece, stored.saturating_mul(JobLogs::MAX_FILES))
        };
        let mut summed = SummedLogs::default();
        let mut make = |spec: &JobSpec| {
            let file = |name: String| match (outlet, spec.logs.shared) {
                (Some(outlet), is_shared) => {
                    LogFile::sent(name, outlet.clone(), spool.clone().filter(|_| is_shared))
                }
                (None, true) => LogFile::add_to(name, spool.clone()),
                (None, false) => LogFile::create(name, stay_open),
            };
            let join = |log: &PlannedLog| {
                let file = |name: String| match outlet {
                    Some(outlet) => LogFile::sent(name, outlet.clone(), None),
                    None => LogFile::create(name, stay_open),
                };
                spec.logs.summed.then(|| summed.join(log, spec, file))
            };
            JobLogs::create(spec, file, packer, join)
        };
        let jobs = specs().map(|spec| spec.logs.any().then(|| make(spec))).collect();
        let mut logs = RunLogs {
            jobs,
            summed,
            totals: bandwidth.map(|prefix| TotalLogs::create(prefix, outlet)),
            cpus: specs()
                .filter(|spec| spec.logs.any())
                .flat_map(|spec| spec.logs.writer_cpus.clone())
                .collect(),
            problems: Vec::new(),
        };
        logs.take_problems().into_iter().for_each(&mut *report);
        let (sender, batches) = log_queue(MAX_QUEUED, DISK_TIMEOUT);
        match spawn(logs, batches) {
            Ok(thread) => Some(LogWriter { sender, thread }),
            Err(error) => {
                report(problem(format!("no logs are written: the log thread cannot be started: {error}")));
                None
            }
        }
    }

    /// A sender of batches, for the run.
    #[must_use]
    pub fn sender(&self) -> LogSender {
        self.sender.clone()
    }

    /// Writes the rest and closes the files. Waits until every [`LogWriter::sender`] is dropped.
    ///
    /// Where single I/Os were logged, their rates replace the samples of `result`, as in fio. Returns the errors.
    #[must_use]
    pub fn finish(self, result: &mut RunResult) -> Vec<Diagnostic> {
        if self.sender.is_stuck() {
            return vec![problem(format!(
                "the logs are incomplete: their disk accepted no writes for {} s at the end of the run",
                DISK_TIMEOUT.as_secs()
            ))];
        }
        let lost = self.sender.has_lost();
        if result.abandoned > 0 {
            // Jobs that go on have senders: the writer would wait for them. What was sent is written.
            self.sender.wait_until_idle(DISK_TIMEOUT);
            return vec![problem("the logs of jobs that did not end lack their last rows")];
        }
        drop(self.sender);
        let Ok(mut logs) = self.thread.join() else {
            return vec![problem("the logs are incomplete: the thread that writes them failed")];
        };
        for (job, result) in logs.jobs.iter().zip(&mut result.jobs) {
            if let Some(job) = job {
                job.replace_rates(&mut result.stats);
            }
        }
        let lost =
            lost.then(|| problem("the logs are incomplete: their disk was too slow for some of their rows"));
        logs.take_problems().into_iter().chain(lost).collect()
    }
}

/// A spool for the rows of files that several jobs write, if there are such files: beside them, or in the current directory if they are
/// `sent` away.
fn spool<'a>(
    specs: impl Iterator<Item = &'a JobSpec>,
    sent: bool,
    report: &mut dyn FnMut(Diagnostic),
) -> Option<Spool> {
    let mut seen = HashSet::new();
    let path = specs
        .filter(|spec| spec.logs.shared && !spec.logs.summed)
        .flat_map(log_files)
        .find_map(|log| seen.replace(log.path))?;
    Spool::beside(if sent { "" } else { &path })
        .map_err(|error| {
            let message = format!("rows of several jobs are mixed in {path}: {error}");
            report(Diagnostic::warning(message, Origin::Builtin).code("log-rows-mixed"));
        })
        .ok()
}

/// Starts the thread. Signals are blocked in it: the run handles them in another thread.
fn spawn(logs: RunLogs, batches: LogReceiver) -> std::io::Result<JoinHandle<RunLogs>> {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let spawned = Builder::new().name("ferrio-logs".into()).spawn(move || logs.write(batches));
    before.thread_set_mask()?;
    spawned
}

impl RunLogs {
    /// Body of the thread: until all senders are gone.
    fn write(mut self, mut batches: LogReceiver) -> Self {
        if !self.cpus.is_empty()
            && let Err(error) = run_on(self.cpus.iter().map(|&cpu| cpu as usize))
        {
            let message = format!(
                "log_compression_cpus has no effect, logs are written on any CPU: {}",
                reason(&error)
            );
            self.problems.push(Diagnostic::warning(message, Origin::Builtin).code("log-writer-not-placed"));
        }
        let mut rows = Rows::default();
        while let Some(batch) = batches.next() {
            self.take(&batch, &mut rows);
            batches.recycle(batch);
        }
        self.jobs.iter_mut().flatten().for_each(|job| job.end_with_the_run(&mut rows));
        self.summed.end();
        self
    }

    /// The logs of a job; `None` if it writes none.
    fn job(&mut self, job: usize) -> Option<&mut JobLogs> {
        self.jobs.get_mut(job)?.as_mut()
    }

    /// Writes a batch. `None` if nobody logs it.
    fn take(&mut self, batch: &LogBatch, rows: &mut Rows) -> Option<()> {
        match batch {
            LogBatch::Began { job, epoch_ms } => self.job(*job)?.set_epoch(*epoch_ms),
            LogBatch::Ios { job, samples } => self.job(*job)?.ios(samples, rows),
            LogBatch::Window { job, kind, direction, time_ms, summary } => {
                self.job(*job)?.window(*kind, *direction, *time_ms, *summary, rows);
            }
            LogBatch::Histogram { job, direction, time_ms, len, counts } => {
                self.job(*job)?.histogram(*direction, *time_ms, *len, counts);
            }
            LogBatch::Rest { job, last_ms, windows, histograms } => {
                self.job(*job)?.rest(*last_ms, windows, histograms.as_deref());
            }
            LogBatch::Rates { job, kind, sample } => self.job(*job)?.rates(*kind, sample, rows),
            LogBatch::Total { sample } => self.totals.as_mut()?.add(sample, rows),
            LogBatch::Ended { job, time_ms } => self.job(*job)?.end(*time_ms, rows),
        }
        Some(())
    }

    fn take_problems(&mut self) -> Vec<Diagnostic> {
        let jobs = self.jobs.iter_mut().flatten().flat_map(JobLogs::take_problems);
        let totals = self.totals.iter_mut().flat_map(TotalLogs::take_problems);
        let summed = self.summed.take_problems();
        std::mem::take(&mut self.problems).into_iter().chain(jobs).chain(summed).chain(totals).collect()
    }
}

#[cfg(test)]
mod tests;
