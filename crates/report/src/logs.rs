//! Log files of jobs (`write_bw_log`, `write_lat_log`, `write_iops_log`, `write_hist_log`) and of all jobs together
//! (`--bandwidth-log`): one thread writes them while the jobs run.
//!
//! Workers and the monitor hand over batches through a bounded queue. A log on a disk slower than its job slows the job down
//! rather than filling memory. Rows are fio's; their times are ms since the job began, or since another epoch if one is asked for.

mod file;
mod histogram;
mod inflate;
mod job;
mod packer;
mod record;
mod rows;
mod totals;
mod window;

pub use inflate::{InflateError, inflate_log};

use std::collections::HashSet;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use ferrio_job::{Diagnostic, JobSpec, Plan, reason};
use ferrio_runner::logs::{LogBatch, LogReceiver, LogSender, log_queue};
use ferrio_runner::{RunResult, run_on};
use nix::sys::signal::{SigSet, SigmaskHow};

use file::{LogFile, Spool, problem};
use job::JobLogs;
use packer::{Compressor, Packer};
use rows::Rows;
use totals::TotalLogs;

/// Batches that may wait for the writer.
const QUEUE: usize = 64;
/// A run that ends early waits this long for a disk that does not take what is written to a log.
const PATIENCE: Duration = Duration::from_secs(10);
/// Log files that are kept open while jobs run. Those of larger runs are opened for each batch: descriptors are scarce, and every
/// worker has a copy of them all.
const OPEN_FILES: usize = 256;

/// All log files of a run and the thread that writes them.
#[derive(Debug)]
pub struct LogWriter {
    sender: LogSender,
    thread: JoinHandle<RunLogs>,
}

/// All files.
#[derive(Debug)]
struct RunLogs {
    jobs: Vec<Option<JobLogs>>,
    totals: Option<TotalLogs>,
    /// Where the thread may run; empty for anywhere.
    cpus: Vec<u32>,
    /// What went wrong beside the files.
    problems: Vec<Diagnostic>,
}

impl LogWriter {
    /// Creates the log files of all jobs, and with the prefix `bandwidth` those of all jobs together, and starts the thread. `None`
    /// when there are none.
    ///
    /// Files of one job are emptied; to those of several (`per_job_logs=0`) rows are added.
    ///
    /// `tell` is called at once for what cannot be created; the run goes on without it.
    pub fn start(plan: &Plan, bandwidth: Option<&str>, tell: &mut dyn FnMut(Diagnostic)) -> Option<Self> {
        let logging = plan.jobs.iter().filter(|job| job.spec.logs.any()).count();
        if logging == 0 && bandwidth.is_none() {
            return None;
        }
        let stay_open = logging * JobLogs::MOST_FILES <= OPEN_FILES;
        let specs = || plan.jobs.iter().map(|job| &job.spec);
        let spool = spool(specs(), tell);
        let stored = specs().filter(|spec| spec.logs.any() && spec.logs.stored.is_some()).count();
        let compressor = Compressor::new();
        let packer = |record, piece| {
            Packer::new(compressor.clone(), record, piece, stored.saturating_mul(JobLogs::MOST_FILES))
        };
        let make = |spec: &JobSpec| match spec.logs.shared {
            true => JobLogs::create(spec, |name| LogFile::add_to(name, spool.clone()), packer),
            false => JobLogs::create(spec, |name| LogFile::create(name, stay_open), packer),
        };
        let mut logs = RunLogs {
            jobs: specs().map(|spec| spec.logs.any().then(|| make(spec))).collect(),
            totals: bandwidth.map(TotalLogs::create),
            cpus: specs()
                .filter(|spec| spec.logs.any())
                .flat_map(|spec| spec.logs.writer_cpus.clone())
                .collect(),
            problems: Vec::new(),
        };
        logs.take_problems().into_iter().for_each(&mut *tell);
        let (sender, batches) = log_queue(QUEUE, PATIENCE);
        match spawn(logs, batches) {
            Ok(thread) => Some(LogWriter { sender, thread }),
            Err(error) => {
                tell(problem(format!("no logs are written: no thread for them: {error}")));
                None
            }
        }
    }

    /// A way to the writer, for [`ferrio_runner::RunOptions::logs`].
    #[must_use]
    pub fn sender(&self) -> LogSender {
        self.sender.clone()
    }

    /// Writes what is left and closes the files; every [`LogWriter::sender`] must be gone by then, or this waits for it.
    ///
    /// Where single I/Os were logged, their rates replace the samples of `result`, as fio has it. Returns what went wrong with the
    /// files.
    #[must_use]
    pub fn finish(self, result: &mut RunResult) -> Vec<Diagnostic> {
        if self.sender.is_stuck() {
            return vec![problem(format!(
                "the logs are incomplete: {} s after the end of the run was asked for, their disk still took nothing",
                PATIENCE.as_secs()
            ))];
        }
        let lost = self.sender.has_lost();
        drop(self.sender);
        let Ok(mut logs) = self.thread.join() else {
            return vec![problem("the thread that writes logs failed: they are incomplete")];
        };
        for (job, result) in logs.jobs.iter().zip(&mut result.jobs) {
            if let Some(job) = job {
                job.put_rates(&mut result.stats);
            }
        }
        let lost =
            lost.then(|| problem("the logs are incomplete: their disk was too slow for some of their rows"));
        logs.take_problems().into_iter().chain(lost).collect()
    }
}

/// A place where rows of files that several jobs write can wait for the end of their job, if there are such files.
fn spool<'a>(specs: impl Iterator<Item = &'a JobSpec>, tell: &mut dyn FnMut(Diagnostic)) -> Option<Spool> {
    let mut seen = HashSet::new();
    let logs = specs.map(|spec| &spec.logs).filter(|logs| logs.shared);
    let prefixes = logs.flat_map(|logs| {
        let prefixes = [("bw", &logs.bw), ("lat", &logs.lat), ("iops", &logs.iops), ("hist", &logs.hist)];
        prefixes.into_iter().filter_map(|(kind, prefix)| Some((kind, prefix.as_deref()?)))
    });
    let (_, prefix) = { prefixes }.find(|name| !seen.insert(*name))?;
    Spool::beside(prefix)
        .map_err(|error| tell(problem(format!("rows of several jobs are mixed in {prefix}_*.log: {error}"))))
        .ok()
}

/// Signals are blocked in the new thread: the run takes them in a thread of its own.
fn spawn(logs: RunLogs, batches: LogReceiver) -> std::io::Result<JoinHandle<RunLogs>> {
    let before = SigSet::all().thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let spawned = Builder::new().name("ferrio-logs".into()).spawn(move || logs.write(batches));
    before.thread_set_mask()?;
    spawned
}

impl RunLogs {
    /// Body of the thread: until all senders are gone.
    fn write(mut self, batches: LogReceiver) -> Self {
        if !self.cpus.is_empty()
            && let Err(error) = run_on(self.cpus.iter().map(|&cpu| cpu as usize))
        {
            self.problems.push(problem(format!(
                "log_compression_cpus: logs are written on any CPU: {}",
                reason(&error)
            )));
        }
        let mut rows = Rows::default();
        for batch in batches {
            self.take(&batch, &mut rows);
        }
        self.jobs.iter_mut().flatten().for_each(|job| job.end_with_the_run(&mut rows));
        self
    }

    fn take(&mut self, batch: &LogBatch, rows: &mut Rows) {
        let at = match batch {
            LogBatch::Began { job, .. }
            | LogBatch::Ios { job, .. }
            | LogBatch::Bandwidth { job, .. }
            | LogBatch::Iops { job, .. }
            | LogBatch::Ended { job, .. } => *job,
            LogBatch::Total { sample } => {
                if let Some(totals) = &mut self.totals {
                    totals.add(sample, rows);
                }
                return;
            }
        };
        let Some(Some(job)) = self.jobs.get_mut(at) else { return };
        match batch {
            LogBatch::Began { epoch_ms, .. } => job.set_epoch(*epoch_ms),
            LogBatch::Ios { samples, .. } => job.ios(samples, rows),
            LogBatch::Bandwidth { sample, .. } => job.bandwidth(sample, rows),
            LogBatch::Iops { sample, .. } => job.iops(sample, rows),
            LogBatch::Ended { time_ms, .. } => job.end(*time_ms, rows),
            LogBatch::Total { .. } => {}
        }
    }

    fn take_problems(&mut self) -> Vec<Diagnostic> {
        let jobs = self.jobs.iter_mut().flatten().flat_map(JobLogs::take_problems);
        let totals = self.totals.iter_mut().flat_map(TotalLogs::take_problems);
        std::mem::take(&mut self.problems).into_iter().chain(jobs).chain(totals).collect()
    }
}

#[cfg(test)]
mod tests;
