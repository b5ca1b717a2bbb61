//! The inputs of a report besides plan and result.

use ferrio_job::{Compat, Diagnostic, Severity};
use ferrio_machine::{CpuThrottling, CpuUse, local_now};
use ferrio_stats::Buckets;
use jiff::Zoned;

use crate::environment::RunEnvironment;
use crate::format::{Format, Formats};
use crate::series::RunSeries;
use crate::terse::{TerseLayout, TerseVersion};

/// Maximum number of run notes in a report.
const MAX_RUN_NOTES: usize = 1000;

/// The inputs of a report besides plan and result.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Formats to write.
    pub formats: Formats,
    /// Uses the buckets of fio's histogram for percentiles (`--fio-bins`), whatever the formats.
    pub fio_bins: bool,
    /// Shows CPU idleness, if measured, for each CPU (`--idle-prof=percpu`).
    pub per_cpu: bool,
    /// Selects the fields of terse lines.
    pub terse_version: TerseVersion,
    /// Precedes terse lines by the names of their fields (`--terse-header`).
    pub terse_header: bool,
    /// Whether to write documents as fio does: these lack the object `ferrio`, unless it has warnings or notes, or the format lists
    /// everything.
    pub compat: Compat,
    /// The version of fio that documents follow (`fio-3.42`).
    pub version: String,
    /// Percentiles of latencies besides those of the document ([`unlisted`](crate::model::LatencyReport::unlisted)), in percent.
    pub requested_percentiles: Vec<f64>,
    /// Labels of the run, as names and values; names are unique.
    pub labels: Vec<(String, String)>,
    /// Time at which the report is made, in the time zone to show.
    pub time: Zoned,
    /// Environment of the run.
    pub environment: RunEnvironment,
    /// CPU time during the run.
    pub cpu: CpuUse,
    /// CPU throttling during the run.
    pub throttling: CpuThrottling,
    /// Notes of the run so far.
    pub run_notes: Vec<Diagnostic>,
    /// Figures of jobs and devices over time, if they were recorded.
    pub series: RunSeries,
}

impl ReportOptions {
    /// Options for a report made now, in local time.
    #[must_use]
    pub fn new(formats: Formats, terse_version: TerseVersion, version: impl Into<String>) -> Self {
        ReportOptions {
            formats,
            fio_bins: false,
            per_cpu: false,
            terse_version,
            terse_header: false,
            compat: Compat::Ferrio,
            version: version.into(),
            requested_percentiles: Vec::new(),
            labels: Vec::new(),
            time: local_now(),
            environment: RunEnvironment::default(),
            cpu: CpuUse::default(),
            throttling: CpuThrottling::default(),
            run_notes: Vec::new(),
            series: RunSeries::default(),
        }
    }

    /// The buckets from which all percentiles are read: fio's if they are listed, so that both agree.
    #[must_use]
    pub fn buckets(&self) -> Buckets {
        if self.fio_bins || self.formats.have_details() { Buckets::Fio } else { Buckets::Hdr }
    }

    /// The layout of terse lines.
    #[must_use]
    pub fn terse_layout(&self) -> TerseLayout {
        TerseLayout { version: self.terse_version, header: self.terse_header }
    }

    /// True if a JSON document has the object `ferrio` even without warnings and notes.
    pub(crate) fn always_has_own_object(&self) -> bool {
        self.compat == Compat::Ferrio || !self.formats.has(Format::Json) || self.formats.have_details()
    }

    /// Adds a note of the run, unless it is a duplicate. Only the first 1000 are kept, as many jobs may have many notes.
    pub fn add_run_note(&mut self, note: &Diagnostic) {
        let has_room = self.run_notes.len() < MAX_RUN_NOTES;
        // The report lists damaged blocks in `verify`.
        let is_new = note.severity != Severity::Error && note.code != "verify-damage";
        if has_room && is_new && !self.run_notes.contains(note) {
            self.run_notes.push(note.clone());
        }
    }

    /// A copy for a report in other formats of the same run.
    #[must_use]
    pub fn in_formats(&self, formats: Formats) -> Self {
        let series = if formats.have_details() { self.series.clone() } else { RunSeries::default() };
        ReportOptions { formats, series, ..self.clone() }
    }

    /// Sets the time of the report to the current time.
    #[must_use]
    pub fn now(self) -> Self {
        ReportOptions { time: local_now(), ..self }
    }

    /// Takes the environment of a run, and its CPU times so far.
    #[must_use]
    pub fn within(self, environment: &RunEnvironment) -> Self {
        ReportOptions {
            environment: environment.clone(),
            cpu: environment.cpu.so_far(),
            throttling: environment.throttling_so_far(),
            ..self
        }
    }
}
