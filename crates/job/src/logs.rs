//! The logs that a job writes while it runs, and where its I/O is recorded.

use std::path::PathBuf;

use crate::LogKind;
use crate::choice::choices;

/// Log files of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// Prefixes of file names, by [`LogKind`]: the value of its option, by default the name of the job. `None` if the job has no such log.
    pub prefixes: [Option<String>; LogKind::ALL.len()],
    /// `log_avg_msec`: length of the windows of the latency logs, ms; 0 logs every I/O.
    pub avg_msec: u32,
    /// Length of the windows of the bandwidth log, ms; at most a `bwavgtime` that was given.
    pub bw_avg_msec: u32,
    /// Length of the windows of the IOPS log, ms; at most an `iopsavgtime` that was given.
    pub iops_avg_msec: u32,
    /// `log_compression`, `log_store_compressed`: rates are those of single I/Os even in windows, not those of intervals.
    pub single_rates: bool,
    /// `disable_bw_measurement`: a bandwidth log of single I/Os stays empty.
    pub bw_disabled: bool,
    /// `log_store_compressed`: files hold compressed records instead of text, in pieces of this many bytes, at least 1024.
    pub stored: Option<u32>,
    /// `log_compression_cpus`: where the thread that writes the logs may run; empty for anywhere.
    pub writer_cpus: Vec<u32>,
    /// `log_window_value`: the value of a window.
    pub window_value: WindowValue,
    /// `log_hist_msec`, time between two histograms; 0 writes none.
    pub hist_msec: u32,
    /// `log_hist_coarseness`, 0..=6: 2^this neighbouring buckets of histograms share a count.
    pub hist_coarseness: u32,
    /// `per_job_logs=0`: file names carry no job number, and jobs add to the end of files.
    pub shared: bool,
    /// `log_sum`: the jobs of a reporting group whose logs have one name write one log, with the sum of what they did in each window.
    pub summed: bool,
    /// The number of the reporting group, if names of summed logs need it to differ from those of other groups.
    pub group_in_names: Option<u32>,
    /// `log_offset`: rows have the offset of the I/O.
    pub offset: bool,
    /// `log_prio`: rows have the whole priority instead of a bit.
    pub prio: bool,
    /// `log_issue_time`: rows have the time at which the I/O was issued.
    pub issue_time: bool,
    /// `log_alternate_epoch`: the clock (as for clock_gettime) whose time at the start of the job is added to all times.
    pub epoch_clock: Option<i32>,
}

choices! {
    /// `log_window_value`: what a row of averaged logs holds.
    pub enum WindowValue default Average {
        Average: "avg", "Mean of the window";
        Maximum: "max", "Maximum of the window";
        /// In two columns.
        Both: "both", "Both";
        = Average: "0";
        = Maximum: "1";
    }
}

impl Logs {
    /// The prefix of the file names of a kind; `None` if the job has no such log.
    #[must_use]
    pub fn prefix(&self, kind: LogKind) -> Option<&str> {
        self.prefixes[kind as usize].as_deref()
    }

    /// Sets the prefix of all kinds that the option writes.
    pub fn set_prefix(&mut self, option: &str, prefix: Option<&str>) {
        for &kind in LogKind::ALL.iter().filter(|kind| kind.option() == option) {
            self.prefixes[kind as usize] = prefix.map(str::to_owned);
        }
    }

    fn kinds(&self) -> impl Iterator<Item = LogKind> {
        LogKind::ALL.iter().copied().filter(|&kind| self.prefix(kind).is_some())
    }

    /// True if the job writes any log.
    #[must_use]
    pub fn any(&self) -> bool {
        self.kinds().next().is_some()
    }

    /// True if logged rates are those of single I/Os.
    #[must_use]
    pub fn rates_are_single(&self) -> bool {
        self.avg_msec == 0 || self.single_rates
    }

    /// True if rates of this kind are logged as averages.
    #[must_use]
    pub fn averages(&self, rate: LogKind) -> bool {
        self.prefix(rate).is_some() && !self.rates_are_single()
    }

    /// True if any rates are logged as averages.
    #[must_use]
    pub fn averages_rates(&self) -> bool {
        self.kinds().any(|kind| kind.is_rate() && self.averages(kind))
    }

    /// True if all rows that are made from single I/Os are windows of latencies or histograms.
    #[must_use]
    pub fn sums_suffice(&self) -> bool {
        let suffice = |kind: LogKind| kind == LogKind::Histogram || (kind.is_latency() && self.avg_msec > 0);
        self.kinds().filter(|kind| kind.has_every_io(self)).all(suffice)
    }

    /// True if rows are made from single I/Os, so that each must be logged where it completes.
    #[must_use]
    pub fn every_io(&self) -> bool {
        self.kinds().any(|kind| kind.has_every_io(self))
    }
}

/// `write_iolog` and `write_iolog_version` (ferrio's own option): the log that a job's I/O is recorded in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordTo {
    /// The log; all clones of a job append to the same one.
    pub path: PathBuf,
    /// The format.
    pub version: IologVersion,
}

/// Version of the format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IologVersion {
    /// Lines without times.
    Two,
    /// Lines that begin with microseconds since the log was opened.
    #[default]
    Three,
}

impl IologVersion {
    /// The first line of a log, without its line end.
    #[must_use]
    pub const fn header(self) -> &'static str {
        match self {
            IologVersion::Two => "fio version 2 iolog",
            IologVersion::Three => "fio version 3 iolog",
        }
    }
}
