//! Main's eye on the running jobs: bandwidth and IOPS samples, and the figures of the live line.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use ferrio_plan::Plan;
use ferrio_stats::{Clock, JobStats, Sampler};

use crate::control::JobControl;
use crate::event::{JobProgress, JobState, Progress};
use crate::logs::{LogBatch, LogSender, RateSample};

/// KiB in the unit of bandwidth samples.
const KIB: u64 = 1024;
/// Longest time between two looks.
const TICK: Duration = Duration::from_millis(250);

/// Samplers of all jobs.
pub(crate) struct Monitor<'a> {
    clock: Clock,
    controls: &'a [JobControl],
    jobs: Vec<Watched>,
    logs: Option<LogSender>,
}

struct Watched {
    bw: Sampler,
    iops: Sampler,
    /// Ticks when the job began to be measured, as seen last.
    since: u64,
    /// How long an ended job did I/O.
    ran: Option<Duration>,
    logs_bw: bool,
    logs_iops: bool,
}

impl<'a> Monitor<'a> {
    pub(crate) fn new(
        plan: &Plan,
        controls: &'a [JobControl],
        clock: Clock,
        logs: Option<LogSender>,
    ) -> Self {
        let watched = plan.jobs.iter().map(|job| Watched {
            bw: Sampler::new(job.spec.measure.bwavgtime_ms),
            iops: Sampler::new(job.spec.measure.iopsavgtime_ms),
            since: 0,
            ran: None,
            logs_bw: job.spec.logs.bw.is_some() && job.spec.logs.avg_msec > 0,
            logs_iops: job.spec.logs.iops.is_some() && job.spec.logs.avg_msec > 0,
        });
        Monitor { clock, controls, jobs: watched.collect(), logs }
    }

    /// Takes the samples that are due. Returns how long main may sleep until the next one.
    pub(crate) fn look(&mut self) -> Duration {
        let now = self.clock.now();
        let mut wake = TICK;
        for (index, (job, control)) in self.jobs.iter_mut().zip(self.controls).enumerate() {
            if !matches!(control.state(), JobState::Ramp | JobState::Running | JobState::Fsyncing) {
                continue;
            }
            let since = control.measuring_since.load(Relaxed);
            if since != job.since {
                job.since = since;
                job.bw.restart();
                job.iops.restart();
            }
            if since == 0 {
                continue;
            }
            let ns = self.clock.between(since, now);
            let bandwidth = job.bw.observe(ns, control.live.bytes(), KIB);
            let iops = job.iops.observe(ns, control.live.ios(), 1);
            if let Some(logs) = &self.logs {
                let time_ms = ns / 1_000_000;
                if let Some(per_second) = bandwidth.filter(|_| job.logs_bw) {
                    let _ = logs
                        .send(LogBatch::Bandwidth { job: index, sample: RateSample { time_ms, per_second } });
                }
                if let Some(per_second) = iops.filter(|_| job.logs_iops) {
                    let _ =
                        logs.send(LogBatch::Iops { job: index, sample: RateSample { time_ms, per_second } });
                }
            }
            wake = wake.min(job.bw.due_in(ns)).min(job.iops.due_in(ns));
        }
        wake.max(Duration::from_millis(1))
    }

    /// A job ended: its samples go into its figures.
    pub(crate) fn ended(&mut self, index: usize, stats: &mut JobStats) {
        let job = &mut self.jobs[index];
        let since = self.controls[index].running_since.load(Relaxed);
        job.ran = (since > 0).then(|| Duration::from_nanos(self.clock.between(since, self.clock.now())));
        if job.since != self.controls[index].measuring_since.load(Relaxed) {
            // The ramp ended after the last look: what was sampled belongs to it.
            return;
        }
        for (direction, stats) in stats.directions.iter_mut().enumerate() {
            stats.bw = job.bw.stats[direction];
            stats.iops = job.iops.stats[direction];
        }
    }

    /// What the live line needs.
    pub(crate) fn progress(&self, elapsed: Duration) -> Progress {
        let now = self.clock.now();
        let jobs = self.jobs.iter().zip(self.controls).map(|(job, control)| {
            let since = control.running_since.load(Relaxed);
            let running = if since == 0 {
                Duration::ZERO
            } else {
                Duration::from_nanos(self.clock.between(since, now))
            };
            JobProgress {
                state: control.state(),
                elapsed: job.ran.unwrap_or(running),
                bytes: control.live.bytes(),
                ios: control.live.ios(),
                open_files: control.open_files.load(Relaxed),
            }
        });
        Progress { elapsed, jobs: jobs.collect() }
    }
}
