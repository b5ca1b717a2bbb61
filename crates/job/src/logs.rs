//! What a job logs while it runs, and where its I/O is recorded.

use std::path::PathBuf;

use crate::choice::choices;

/// Log files of one job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// `write_bw_log` prefix (job name when given without a value).
    pub bw: Option<String>,
    /// `write_lat_log` prefix.
    pub lat: Option<String>,
    /// `write_iops_log` prefix.
    pub iops: Option<String>,
    /// `write_hist_log` prefix.
    pub hist: Option<String>,
    /// `log_avg_msec`: length of the windows of the latency logs, ms; 0 logs every I/O.
    pub avg_msec: u32,
    /// The same for the bandwidth log; at most a `bwavgtime` that was given.
    pub bw_avg_msec: u32,
    /// The same for the IOPS log; at most an `iopsavgtime` that was given.
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

choices! {
    /// A kind of log file, in the order in which the files of a job are listed; the word is part of their names.
    pub enum LogKind {
        Bandwidth: "bw", "Bandwidth";
        Latency: "lat", "Total latencies";
        SubmissionLatency: "slat", "Submission latencies";
        CompletionLatency: "clat", "Completion latencies";
        Iops: "iops", "I/Os per second";
        Histogram: "clat_hist", "Histograms of completion latencies";
    }
}

impl LogKind {
    /// True if its values are rates.
    #[inline]
    #[must_use]
    pub const fn is_rate(self) -> bool {
        matches!(self, LogKind::Bandwidth | LogKind::Iops)
    }

    /// True if its values are single latencies or their means.
    #[inline]
    #[must_use]
    pub const fn is_latency(self) -> bool {
        matches!(self, LogKind::Latency | LogKind::SubmissionLatency | LogKind::CompletionLatency)
    }

    /// Prefix of the names of its files; `None` if the job has no such log.
    pub(crate) fn prefix(self, logs: &Logs) -> Option<&str> {
        match self {
            LogKind::Bandwidth => logs.bw.as_deref(),
            LogKind::Latency | LogKind::SubmissionLatency | LogKind::CompletionLatency => logs.lat.as_deref(),
            LogKind::Iops => logs.iops.as_deref(),
            LogKind::Histogram => logs.hist.as_deref(),
        }
    }

    /// True if its rows are made from single I/Os.
    fn has_every_io(self, logs: &Logs) -> bool {
        match self {
            LogKind::Bandwidth => logs.rates_are_single() && !logs.bw_disabled,
            LogKind::Latency | LogKind::SubmissionLatency | LogKind::CompletionLatency => true,
            LogKind::Iops => logs.rates_are_single(),
            LogKind::Histogram => logs.hist_msec > 0,
        }
    }
}

impl Logs {
    fn kinds(&self) -> impl Iterator<Item = LogKind> {
        LogKind::ALL.iter().copied().filter(|kind| kind.prefix(self).is_some())
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

    /// True if bandwidths are logged as averages.
    #[must_use]
    pub fn averages_bandwidth(&self) -> bool {
        self.bw.is_some() && !self.rates_are_single()
    }

    /// True if I/O rates are logged as averages.
    #[must_use]
    pub fn averages_iops(&self) -> bool {
        self.iops.is_some() && !self.rates_are_single()
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
    /// Its format.
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
