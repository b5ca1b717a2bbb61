//! What users see of a run: reports in all formats, log files, the lines at the start, the live line, messages about errors.
//!
//! Functions return text and print nothing. A report is built once as a tree ([`RunReport`]) and every format is written from it.
//!
//! - The tree: `model` is its shape, `build` works it out of plan and result, `warnings` finds figures that may mislead, `setting` is
//!   what was known of the machine before the run.
//! - Its formats: `text`, `json`, `terse`, `openmetrics`; `num` and `ctime` for numbers and times as fio prints them.
//! - While jobs run: `live` with `eta`, `interval` (`--interval-report`), `logs` (written in a thread of their own).
//! - Lines beside the report: `start`, `errors`, `debug`.
#![forbid(unsafe_code)]

mod build;
mod ctime;
mod debug;
mod errors;
mod eta;
mod interval;
mod json;
mod live;
pub mod logs;
pub mod model;
mod names;
pub mod num;
mod openmetrics;
mod read;
mod schema;
mod setting;
mod start;
mod terse;
mod text;
mod warnings;

use ferrio_machine::CpuUse;
use ferrio_stats::Buckets;
use jiff::Zoned;

pub use debug::{DEBUG_CLASSES, DebugClass, DebugOptions, debug_words, start_debug};
pub use errors::{error_message, job_failed, terminating};
pub use interval::IntervalReport;
pub use live::LiveLine;
pub use logs::{InflateError, LogWriter, inflate_log};
pub use model::RunReport;
pub use read::{ReadError, read, read_all};
pub use schema::{interval_report_schema, report_schema};
pub use setting::Setting;
pub use start::{laying_out_line, start_lines, starting_line};
pub use terse::{NoTerseVersion, TerseVersion};
pub use text::idle_calibration;
pub use warnings::codes as warning_codes;

/// The formats of a report (`--output-format`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats {
    /// The text for people.
    pub normal: bool,
    /// The JSON document.
    pub json: bool,
    /// Histogram buckets in the JSON document; implies `json` where formats are chosen.
    pub json_plus: bool,
    /// Lines of fields between semicolons.
    pub terse: bool,
    /// One OpenMetrics text, which stands alone: nothing may follow its last line.
    pub openmetrics: bool,
}

impl Formats {
    /// True if one stream can hold several reports, one behind the other.
    #[must_use]
    pub const fn may_repeat(&self) -> bool {
        !self.openmetrics
    }

    /// True if one stream can hold a report in all of them.
    #[must_use]
    pub const fn fit_together(&self) -> bool {
        !(self.openmetrics && (self.normal || self.json || self.terse))
    }
}

impl Default for Formats {
    fn default() -> Self {
        Formats { normal: true, json: false, json_plus: false, terse: false, openmetrics: false }
    }
}

/// What a report needs to know besides the run.
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
    /// The version line (`fio-3.42`).
    pub version: String,
    /// When the report is made, in the zone it is shown in.
    pub time: Zoned,
    /// Where the run takes place.
    pub setting: Setting,
    /// What the processors did during the run.
    pub cpu: CpuUse,
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
            version: version.into(),
            time: Zoned::now(),
            setting: Setting::default(),
            cpu: CpuUse::default(),
        }
    }

    /// Which buckets all percentiles of the report are read from: fio's where they are listed, so that both agree.
    #[must_use]
    pub const fn buckets(&self) -> Buckets {
        if self.fio_bins || self.formats.json_plus { Buckets::Fio } else { Buckets::Hdr }
    }

    /// The same for a report made now.
    #[must_use]
    pub fn now(self) -> Self {
        ReportOptions { time: Zoned::now(), ..self }
    }

    /// The same for a run in this setting, as far as it has come now.
    #[must_use]
    pub fn within(self, setting: &Setting) -> Self {
        ReportOptions { setting: setting.clone(), cpu: setting.cpu_so_far(), ..self }
    }
}

impl RunReport {
    /// The text for people, starting with an empty line.
    #[must_use]
    pub fn to_text(&self) -> String {
        text::to_text(self)
    }

    /// The terse lines.
    #[must_use]
    pub fn to_terse(&self, version: TerseVersion) -> String {
        terse::to_terse(self, version)
    }

    /// All chosen formats: the terse lines first, then the JSON document, then the text; or the OpenMetrics text, which is never
    /// chosen with another one.
    #[must_use]
    pub fn in_formats(&self, options: &ReportOptions) -> String {
        let mut out = String::new();
        if options.formats.terse {
            out.push_str(&self.to_terse(options.terse_version));
        }
        if options.formats.json || options.formats.json_plus {
            out.push_str(&self.to_json());
        }
        if options.formats.normal {
            out.push_str(&self.to_text());
        }
        if options.formats.openmetrics {
            out.push_str(&self.to_openmetrics());
        }
        out
    }

    /// The JSON document, newline at the end included.
    #[must_use]
    pub fn to_json(&self) -> String {
        json::to_json(self)
    }

    /// The OpenMetrics text, up to the line that ends it.
    #[must_use]
    pub fn to_openmetrics(&self) -> String {
        openmetrics::to_openmetrics(self)
    }
}
