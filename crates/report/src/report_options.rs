//! What a report needs to know besides the run.

use ferrio_machine::CpuUse;
use ferrio_stats::Buckets;
use jiff::Zoned;

use crate::format::{Format, Formats};
use crate::setting::RunSetting;
use crate::terse::TerseVersion;

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
    pub setting: RunSetting,
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
            setting: RunSetting::default(),
            cpu: CpuUse::default(),
        }
    }

    /// Which buckets all percentiles of the report are read from: fio's where they are listed, so that both agree.
    #[must_use]
    pub fn buckets(&self) -> Buckets {
        if self.fio_bins || self.formats.has(Format::JsonPlus) { Buckets::Fio } else { Buckets::Hdr }
    }

    /// The same for a report made now.
    #[must_use]
    pub fn now(self) -> Self {
        ReportOptions { time: Zoned::now(), ..self }
    }

    /// The same for a run in this setting, as far as it has come now.
    #[must_use]
    pub fn within(self, setting: &RunSetting) -> Self {
        ReportOptions { setting: setting.clone(), cpu: setting.cpu_so_far(), ..self }
    }
}
