//! The figures that are measured of a job, by which clock, and how they are printed.

use serde::{Deserialize, Serialize};

use crate::choice::choices;

/// Which figures are measured and printed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// `disable_lat` off (total latency measured).
    pub lat: bool,
    /// `disable_clat` off.
    pub clat: bool,
    /// `disable_slat` off.
    pub slat: bool,
    /// Print total-latency percentiles.
    pub lat_percentiles: bool,
    /// Print completion-latency percentiles.
    pub clat_percentiles: bool,
    /// Print submission-latency percentiles.
    pub slat_percentiles: bool,
    /// `gtod_reduce`: the clock is read only now and then.
    pub gtod_reduce: bool,
    /// Percentiles to print, ascending, in percent.
    pub percentiles: Vec<f64>,
    /// Digits after the point of printed percentiles.
    pub percentile_precision: u8,
    /// Sampling interval of the bw line, ms.
    pub bwavgtime_ms: u32,
    /// Sampling interval of the iops line, ms.
    pub iopsavgtime_ms: u32,
    /// `stats`: the job has an entry in the report.
    pub reported: bool,
    /// `block_error_percentiles`: follow what becomes of each block.
    pub block_errors: bool,
    /// Collect disk statistics.
    pub disk_util: bool,
    /// `job_start_clock_id`: the clock, by its number for clock_gettime, that `job_start` is read from. The machine has it.
    pub start_clock: i32,
    /// Sum the directions up in the report.
    pub unified: UnifiedReporting,
}

impl Measure {
    /// True when percentiles of the total or the completion latency are printed. Those of syncs and response times follow them.
    #[must_use]
    pub const fn any_percentiles(&self) -> bool {
        self.clat_percentiles || self.lat_percentiles
    }
}

choices! {
    /// `unified_rw_reporting`.
    #[derive(Serialize, Deserialize)]
    pub enum UnifiedReporting default None {
        None: "none", "Each direction separately";
        Mixed: "mixed", "All directions combined";
        Both: "both", "Each separately, and all combined";
        = None: "0";
        = Mixed: "1";
        = Both: "2";
    }
}

choices! {
    /// `kb_base`: what the prefixes of sizes stand for.
    pub enum KbBase default Binary {
        Binary: "1024", "Values: k is 1024, KiB 1000; reports: binary units";
        Decimal: "1000", "Values: k is 1000, KiB 1024; reports: decimal units";
    }
}

impl KbBase {
    /// Bytes of a `k`.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            KbBase::Binary => 1024,
            KbBase::Decimal => 1000,
        }
    }
}

choices! {
    /// `unit_base`: what bandwidths are counted in.
    pub enum UnitBase default Automatic {
        Automatic: "0", "The engine's own unit";
        Bytes: "8", "Bytes";
        Bits: "1", "Bits";
    }
}

/// How numbers are printed for this job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Units {
    /// 1024 or 1000.
    pub kb_base: u32,
    /// 0 automatic, 8 bytes, 1 bits.
    pub unit_base: u32,
    /// `significant_figures`, 1..=10.
    pub significant_figures: u8,
}

choices! {
    /// `clocksource`: the clock of the whole run, if one is given.
    pub enum ClockSource {
        /// The kernel's monotonic clock.
        Kernel: "gettimeofday", "gettimeofday(2)";
        = Kernel: "clock_gettime", "clock_gettime(2)";
        /// There is a note if the counter is not reliable.
        Cpu: "cpu", "The CPU's time stamp counter";
    }
}
