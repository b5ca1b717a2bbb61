//! The figures of a run on many hosts while it runs: for `--interval-report`, `--metrics`, `--tui` and `--abort-if`, from the snapshots that all hosts
//! send.

use std::time::{Duration, SystemTime};

use ferrio_job::Diagnostic;
use ferrio_metrics::MetricsServer;
use ferrio_report::{Format, Formats, HostsIntervalReport, HostsRecorder, HostsReport};
use ferrio_thresholds::{Judgement, Threshold, judge};

use crate::error::Error;
use crate::option_values::Intervals;
use crate::options::ProgramOption;
use crate::output::{IntervalStream, Output, reason_to_abort};
use crate::settings::ProgramSettings;

/// Time between snapshots for `--metrics` alone: those who ask read the figures of the last second.
const METRICS_INTERVAL: Duration = Duration::from_secs(1);

/// Time between snapshots for `--abort-if` alone.
const ABORT_INTERVAL: Duration = Duration::from_secs(1);

/// Who watches the figures.
#[derive(Default)]
pub struct WatchedHosts {
    intervals: Option<(HostsIntervalReport, IntervalStream)>,
    metrics: Option<MetricsServer>,
    /// Thresholds that end the run.
    aborting: Vec<Threshold>,
    /// The one that has.
    aborted: Option<Judgement>,
    /// Time between snapshots; `None` if nobody watches.
    pub every: Option<Duration>,
    /// Snapshots that each host has sent; `None` for one that sends no more.
    snapshots: Vec<Option<u64>>,
    /// Intervals that are written.
    written: u64,
    /// The latest snapshot of each host.
    at: Vec<Duration>,
    /// Snapshots of each host between two samples of the live view.
    snapshots_of_view: u64,
    /// Time between two samples of the live view.
    pub view_interval: Duration,
    /// The latest snapshot.
    until: Duration,
}

impl WatchedHosts {
    /// Opens what the settings ask for.
    ///
    /// # Errors
    /// The file or the address cannot be used.
    pub fn open(hosts: usize, settings: &ProgramSettings, output: &mut Output) -> Result<Self, Error> {
        settings.interval_report.as_ref().map_or(Ok(()), Intervals::check_path)?;
        let metrics = settings.metrics.map(MetricsServer::start).transpose()?;
        if let Some(server) = &metrics {
            let message = format!("metrics are at {} until the run ends", server.url());
            output.message(&Diagnostic::note(message).code("metrics-address"));
        }
        let intervals = settings.interval_report.as_ref().map(IntervalStream::open).transpose()?;
        let every = settings.interval_report.as_ref().map(|wanted| wanted.every);
        let every = every.or(metrics.as_ref().map(|_| METRICS_INTERVAL));
        let view_interval = HostsRecorder::sample_interval(hosts, every);
        let of_view = settings.has(ProgramOption::Tui).then_some(view_interval);
        let snapshots_of_view = view_interval.as_nanos() / every.unwrap_or(view_interval).as_nanos().max(1);
        Ok(WatchedHosts {
            intervals: intervals.map(|stream| (HostsIntervalReport::new(), stream)),
            every: every.or(of_view).or((!settings.aborting.is_empty()).then_some(ABORT_INTERVAL)),
            aborting: settings.aborting.clone(),
            metrics,
            snapshots: vec![Some(0); hosts],
            at: vec![Duration::ZERO; hosts],
            snapshots_of_view: u64::try_from(snapshots_of_view).unwrap_or(1).max(1),
            view_interval,
            ..WatchedHosts::default()
        })
    }

    /// A host has sent the figures of the moment `at` on the common axis, which the report has now.
    /// Returns the reason to end the run, once.
    pub fn note_snapshot(
        &mut self,
        host: usize,
        at: Duration,
        report: &HostsReport,
        output: &mut Output,
    ) -> Option<Diagnostic> {
        self.until = self.until.max(at);
        self.at[host] = self.at[host].max(at);
        if let Some(count) = &mut self.snapshots[host] {
            *count += 1;
        }
        let is_whole = self.write_whole(report, output);
        if let Some(server) = self.metrics.as_mut().filter(|server| server.is_wanted()) {
            let formats = Formats::only(Format::OpenMetrics);
            server.publish(report.together().in_formats(formats, output.terse_layout()));
        }
        if is_whole { self.judge(report) } else { None }
    }

    /// The reason to end the run, the first time that a threshold is exceeded.
    fn judge(&mut self, report: &HostsReport) -> Option<Diagnostic> {
        if self.aborting.is_empty() || self.aborted.is_some() {
            return None;
        }
        let so_far = report.together_to_judge()?;
        let exceeded = judge(&self.aborting, &so_far).into_iter().find(Judgement::is_exceeded)?;
        let reason = reason_to_abort(&exceeded, self.until);
        self.aborted = Some(exceeded);
        Some(reason)
    }

    /// A host sends no more, and nobody waits for it.
    pub fn note_end(&mut self, host: usize, report: &HostsReport, output: &mut Output) {
        self.snapshots[host] = None;
        self.write_whole(report, output);
    }

    /// Writes and shows an interval once all hosts have sent its figures, and returns whether they have.
    fn write_whole(&mut self, report: &HostsReport, output: &mut Output) -> bool {
        let Some(whole) = self.snapshots.iter().flatten().min() else { return false };
        let is_whole = *whole > self.written;
        if is_whole {
            self.written = *whole;
            self.write(report, output);
            if self.written.is_multiple_of(self.snapshots_of_view)
                && let Some(view) = output.hosts_view()
            {
                view.look(report, &self.at);
            }
        }
        is_whole
    }

    fn write(&mut self, report: &HostsReport, output: &mut Output) {
        if let Some((intervals, stream)) = &mut self.intervals {
            stream.show_lines(&intervals.lines(report, self.until, SystemTime::now()), output);
        }
    }

    /// Writes the last interval, which ends at `until` on the common axis with the last reports. Returns the threshold that has ended the
    /// run.
    pub fn finish(mut self, until: Duration, report: &HostsReport, output: &mut Output) -> Option<Judgement> {
        self.until = self.until.max(until);
        self.write(report, output);
        if let Some((_, stream)) = self.intervals {
            stream.end(output);
        }
        self.aborted
    }
}
