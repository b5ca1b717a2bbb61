//! What a report is made from besides plan and result.

use ferrio_job::{Compat, Diagnostic, Severity};
use ferrio_machine::{CpuThrottling, CpuUse, local_now};
use ferrio_stats::Buckets;
use jiff::Zoned;

use crate::environment::RunEnvironment;
use crate::format::{Format, Formats};
use crate::series::RunSeries;
use crate::terse::{TerseLayout, TerseVersion};

/// Notes of the run that a report has at most.
const MAX_RUN_NOTES: usize = 1000;

/// What a report is made from besides plan and result.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Formats to write.
    pub formats: Formats,
    /// Percentiles are those of fio's histogram (`--fio-bins`), whatever the formats.
    pub fio_bins: bool,
    /// CPU idleness, where it was measured, is shown for each CPU (`--idle-prof=percpu`).
    pub each_cpu: bool,
    /// Which fields terse lines have.
    pub terse_version: TerseVersion,
    /// The names of their fields precede them (`--terse-header`).
    pub terse_header: bool,
    /// Whose documents these are: fio's have no object `ferrio`, unless it has warnings or notes, or the format lists everything.
    pub compat: Compat,
    /// The version of fio that documents follow (`fio-3.42`).
    pub version: String,
    /// Percentiles that latencies have beside those of the document ([`unlisted`](crate::model::LatencyReport::unlisted)), percent.
    pub asked_percentiles: Vec<f64>,
    /// Labels of the run, as names and values; no name comes twice.
    pub labels: Vec<(String, String)>,
    /// When the report is made, in the zone it is shown in.
    pub time: Zoned,
    /// Where the run takes place.
    pub environment: RunEnvironment,
    /// CPU time during the run.
    pub cpu: CpuUse,
    /// What throttled the CPUs during the run.
    pub throttling: CpuThrottling,
    /// What the run noted so far.
    pub run_notes: Vec<Diagnostic>,
    /// What jobs and devices did over time, if that was recorded.
    pub series: RunSeries,
}

impl ReportOptions {
    /// A report made now, in local time.
    #[must_use]
    pub fn new(formats: Formats, terse_version: TerseVersion, version: impl Into<String>) -> Self {
        ReportOptions {
            formats,
            fio_bins: false,
            each_cpu: false,
            terse_version,
            terse_header: false,
            compat: Compat::Ferrio,
            version: version.into(),
            asked_percentiles: Vec::new(),
            labels: Vec::new(),
            time: local_now(),
            environment: RunEnvironment::default(),
            cpu: CpuUse::default(),
            throttling: CpuThrottling::default(),
            run_notes: Vec::new(),
            series: RunSeries::default(),
        }
    }

    /// The buckets that all percentiles of the report are read from: fio's where they are listed, so that both agree.
    #[must_use]
    pub fn buckets(&self) -> Buckets {
        if self.fio_bins || self.formats.have_details() { Buckets::Fio } else { Buckets::Hdr }
    }

    /// How terse lines are written.
    #[must_use]
    pub fn terse_layout(&self) -> TerseLayout {
        TerseLayout { version: self.terse_version, header: self.terse_header }
    }

    /// True if a JSON document has the object `ferrio` even without warnings and notes.
    pub(crate) fn always_has_own_object(&self) -> bool {
        self.compat == Compat::Ferrio || !self.formats.has(Format::Json) || self.formats.have_details()
    }

    /// Adds a note of the run, unless it is there. As many jobs may have much to note, only the first 1000 are kept.
    pub fn add_run_note(&mut self, note: &Diagnostic) {
        let has_room = self.run_notes.len() < MAX_RUN_NOTES;
        // Damaged blocks are in `verify`.
        let is_new = note.severity != Severity::Error && note.code != "verify-damage";
        if has_room && is_new && !self.run_notes.contains(note) {
            self.run_notes.push(note.clone());
        }
    }

    /// The same for a report in these formats, beside others of the same run.
    #[must_use]
    pub fn in_formats(&self, formats: Formats) -> Self {
        let series = if formats.have_details() { self.series.clone() } else { RunSeries::default() };
        ReportOptions { formats, series, ..self.clone() }
    }

    /// The same for a report made now.
    #[must_use]
    pub fn now(self) -> Self {
        ReportOptions { time: local_now(), ..self }
    }

    /// The same for a run in this environment that has come this far.
    #[must_use]
    pub fn within(self, environment: &RunEnvironment) -> Self {
        ReportOptions {
            environment: environment.clone(),
            cpu: environment.cpu_so_far(),
            throttling: environment.throttling_so_far(),
            ..self
        }
    }
}
