//! Main's monitoring of the running jobs: bandwidth and IOPS samples, steady states, and the figures of the live line.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ferrio_job::Plan;
use ferrio_logs::{LogBacklog, LogBatch, LogSender};
use ferrio_results::{JobProgress, JobState, Progress, SteadyResult};
use ferrio_stats::{Clock, JobStats, Sampler};

use crate::control::JobControl;
use crate::io_loop::windows::samples_itself;
use crate::rate_samplers::{RateSamplers, TransferCounts};
use crate::steadystate::SteadyWatch;

/// Shortest time between two rounds: a tenth of the shortest interval of samples.
const MIN_POLL_INTERVAL: Duration = Duration::from_micros(100);
/// Longest time between two rounds.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) struct Monitor<'a> {
    clock: Clock,
    controls: &'a [JobControl],
    jobs: Vec<WatchedJob>,
    logs: Option<LogBacklog>,
    steady: Option<SteadyWatch>,
}

struct WatchedJob {
    samplers: RateSamplers,
    /// Ticks when the job began to be measured, as seen last.
    since: u64,
    /// The time for which an ended job did I/O.
    ran: Option<Duration>,
    /// The worker takes the samples.
    is_sampled: bool,
    /// Writes any log.
    logs: bool,
}

impl<'a> Monitor<'a> {
    pub(crate) fn new(
        plan: &Plan,
        controls: &'a [JobControl],
        clock: Clock,
        logs: Option<LogSender>,
    ) -> Self {
        let watched = plan.jobs.iter().map(|job| WatchedJob {
            samplers: RateSamplers::new(&job.spec),
            since: 0,
            ran: None,
            is_sampled: samples_itself(&job.spec, logs.is_some()),
            logs: job.spec.logs.any(),
        });
        Monitor {
            clock,
            controls,
            jobs: watched.collect(),
            logs: logs.map(LogBacklog::new),
            steady: SteadyWatch::new(plan),
        }
    }

    /// Takes the samples that are due. Returns how long main may sleep until the next one.
    pub(crate) fn poll(&mut self) -> Duration {
        let now = self.clock.now();
        let mut wake = MAX_POLL_INTERVAL;
        for (index, (job, control)) in self.jobs.iter_mut().zip(self.controls).enumerate() {
            if job.is_sampled {
                continue;
            }
            let since = match control.state() {
                JobState::Initialized => 0,
                JobState::Ramp | JobState::Running | JobState::Verifying | JobState::Fsyncing => {
                    control.measuring_since()
                }
                _ => continue,
            };
            job.measured_since(since);
            if since == 0 {
                // It may begin at any moment: its first sample must not come late.
                wake = wake.min(job.samplers.due_in(0));
                continue;
            }
            // Read beside the counters: the samples are over the true length of the interval.
            let ns = self.clock.between(since, self.clock.now());
            job.sample(index, ns, control, self.logs.as_mut(), |sampler, done, unit| {
                sampler.observe(ns, done, unit)
            });
            wake = wake.min(job.samplers.due_in(ns));
        }
        if let Some(steady) = &mut self.steady {
            wake = wake.min(steady.poll(now, &self.clock, self.controls));
        }
        if let Some(logs) = &mut self.logs {
            wake = wake.min(logs.forward());
        }
        wake.max(MIN_POLL_INTERVAL)
    }

    /// Polled once all jobs have ended: true when the logs are written, or when the run `ends` early and their disk does not answer.
    pub(crate) fn logs_are_over(&mut self, ends: bool) -> bool {
        self.logs.as_mut().is_none_or(|logs| logs.is_over(ends))
    }

    /// The steady states of jobs that have one, by job index.
    pub(crate) fn steady_states(&self) -> impl Iterator<Item = (usize, SteadyResult)> {
        self.steady.iter().flat_map(SteadyWatch::results)
    }

    /// Called when a job ended: adds its samples to its figures.
    pub(crate) fn ended(&mut self, index: usize, stats: &mut JobStats) {
        let job = &mut self.jobs[index];
        let control = &self.controls[index];
        let since = control.running_since.load(Relaxed);
        job.ran = (since > 0).then(|| Duration::from_nanos(self.clock.between(since, self.clock.now())));
        job.measured_since(control.measuring_since());
        if job.since > 0 && !job.is_sampled {
            // An interval that ends with the job is complete even if main heard of the end first.
            let ns = stats.job_runtime_ms * 1_000_000;
            job.sample(index, ns, control, self.logs.as_mut(), |sampler, done, unit| {
                sampler.observe(ns, done, unit)
            });
            // What it did after that belongs into the logs only.
            job.sample(index, ns, control, self.logs.as_mut(), |sampler, done, unit| {
                sampler.rest(ns, done, unit)
            });
        }
        if let Some(logs) = self.logs.as_mut().filter(|_| job.logs) {
            logs.send(LogBatch::Ended { job: index, time_ms: stats.job_runtime_ms });
        }
        job.put_samples(stats);
    }

    /// Puts the samples so far into the figures of a job that runs.
    pub(crate) fn put_samples(&mut self, index: usize, stats: &mut JobStats) {
        let job = &mut self.jobs[index];
        job.measured_since(self.controls[index].measuring_since());
        job.put_samples(stats);
    }

    /// Progress for the live line.
    pub(crate) fn progress(&self, elapsed: Duration) -> Progress {
        let now = self.clock.now();
        let jobs = self.jobs.iter().zip(self.controls).map(|(job, control)| {
            let passed = |since| match since {
                0 => Duration::ZERO,
                since => Duration::from_nanos(self.clock.between(since, now)),
            };
            let elapsed = job.ran.unwrap_or_else(|| passed(control.running_since.load(Relaxed)));
            JobProgress {
                state: control.state(),
                elapsed,
                measured: passed(control.measuring_since()).min(elapsed),
                bytes: sum(control.ramp.bytes(), control.live.bytes()),
                ios: sum(control.ramp.ios(), control.live.ios()),
                transactions: control.ramp.events() + control.live.events(),
                open_files: control.open_files.load(Relaxed),
            }
        });
        Progress { elapsed, jobs: jobs.collect() }
    }
}

impl WatchedJob {
    fn put_samples(&self, stats: &mut JobStats) {
        if !self.is_sampled {
            self.samplers.put_samples(stats);
        }
    }

    /// Discards earlier samples of a job, which belong to its ramp.
    fn measured_since(&mut self, ticks: u64) {
        if ticks != self.since {
            self.since = ticks;
            self.samplers.restart();
        }
    }

    /// Takes samples with `take`, `ns` after measuring began, and logs them at this time.
    fn sample(
        &mut self,
        index: usize,
        ns: u64,
        control: &JobControl,
        logs: Option<&mut LogBacklog>,
        take: impl Fn(&mut Sampler, [u64; 3], u64) -> Option<[u64; 3]>,
    ) {
        let completed = TransferCounts::published(&control.live);
        let rates =
            self.samplers.sample(completed, |sampler, done, unit| Some((ns, take(sampler, done, unit)?)));
        if let Some(logs) = logs {
            self.samplers.log(index, rates, |batch| logs.send(batch));
        }
    }
}

fn sum(a: [u64; 3], b: [u64; 3]) -> [u64; 3] {
    std::array::from_fn(|i| a[i] + b[i])
}

#[cfg(test)]
mod tests {
    use ferrio_job::LogKind;
    use ferrio_logs::{LogReceiver, RateSample, log_queue};
    use ferrio_plan::testing::{default_job, plan};

    use super::*;

    /// A job that writes 1 MiB/s and ends after `runtime_ms`, with a bandwidth log of 100 ms intervals.
    fn end_of_job(measuring_since: u64, runtime_ms: u64) -> (JobStats, LogReceiver) {
        let mut spec = default_job("a");
        spec.measure.bwavgtime_ms = 100;
        spec.logs.set_prefix("write_bw_log", Some("a"));
        spec.logs.avg_msec = 100;
        // Main takes the samples of jobs that do not read the clock for every I/O.
        spec.measure.gtod_reduce = true;
        (spec.measure.lat, spec.measure.clat, spec.measure.slat) = (false, false, false);
        let plan = plan([spec]);
        let control = JobControl::default();
        control.running_since.store(1, Relaxed);
        control.begin_measuring(measuring_since);
        control.live.store(1, 1, (runtime_ms << 20) / 1000);
        let (sender, batches) = log_queue(8, Duration::ZERO);
        let controls = [control];
        let mut monitor = Monitor::new(&plan, &controls, Clock::monotonic(), Some(sender));
        let mut stats = JobStats { job_runtime_ms: runtime_ms, ..JobStats::default() };
        monitor.ended(0, &mut stats);
        drop(monitor);
        (stats, batches)
    }

    #[test]
    fn an_interval_that_ends_with_the_job_is_sampled_and_logged_before_the_end() {
        let (stats, batches) = end_of_job(1, 100);
        let sample = RateSample { time_ms: 100, per_second: [0, 1023, 0] };
        let sent: Vec<LogBatch> = batches.collect();
        assert_eq!(
            sent,
            [
                LogBatch::Rates { job: 0, kind: LogKind::Bandwidth, sample },
                LogBatch::Ended { job: 0, time_ms: 100 }
            ]
        );
        assert_eq!((stats.directions[1].bw.samples, stats.directions[1].bw.max), (1, 1023));
        assert_eq!(stats.directions[1].iops.samples, 0, "half a second has not passed");
    }

    #[test]
    fn the_last_partial_interval_is_logged_and_gives_no_sample() {
        let (stats, batches) = end_of_job(1, 98);
        let sample = RateSample { time_ms: 98, per_second: [0, 1023, 0] };
        let sent: Vec<LogBatch> = batches.collect();
        assert_eq!(
            sent,
            [
                LogBatch::Rates { job: 0, kind: LogKind::Bandwidth, sample },
                LogBatch::Ended { job: 0, time_ms: 98 }
            ]
        );
        assert_eq!(stats.directions[1].bw.samples, 0);
    }

    #[test]
    fn a_job_that_ends_in_its_ramp_has_no_samples() {
        let (stats, _) = end_of_job(0, 100);
        assert_eq!(stats.directions[1].bw.samples, 0);
    }

    #[test]
    fn progress_counts_what_was_done_in_the_ramp() {
        let plan = plan([default_job("a")]);
        let controls = [JobControl::default()];
        controls[0].ramp.store(0, 2, 8192);
        controls[0].live.store(0, 1, 4096);
        controls[0].ramp.store_events(5);
        controls[0].live.store_events(2);
        let monitor = Monitor::new(&plan, &controls, Clock::monotonic(), None);
        let progress = monitor.progress(Duration::ZERO);
        let job = progress.jobs[0];
        assert_eq!((job.ios, job.bytes, job.transactions), ([3, 0, 0], [12288, 0, 0], 7));
    }
}
