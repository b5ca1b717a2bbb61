//! The kinds of logs: a row of the table says everything about a kind that is the same in all jobs.

use crate::{JobSpec, Logs};

/// The meaning of the values of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogValues {
    /// Amounts per second, in units of this many bytes or I/Os.
    Rates(u64),
    /// Latencies of single I/Os or their means, ns.
    Latencies,
    /// Counts of latencies by bucket.
    Histograms,
}

macro_rules! log_kinds {
    ($($kind:ident: $word:literal, $option:literal, $values:expr, $help:literal;)+) => {
        /// A kind of log file, in the order in which the files of a job are listed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum LogKind {
            $(#[doc = $help] $kind,)+
        }

        impl LogKind {
            /// All kinds.
            pub const ALL: &'static [LogKind] = &[$(LogKind::$kind),+];

            /// The word in the names of its files.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $(LogKind::$kind => $word,)+ }
            }

            /// The name of the option that writes it.
            #[must_use]
            pub const fn option(self) -> &'static str {
                match self { $(LogKind::$kind => $option,)+ }
            }

            /// The meaning of its values.
            #[inline]
            #[must_use]
            pub const fn values(self) -> LogValues {
                match self { $(LogKind::$kind => $values,)+ }
            }
        }
    };
}

log_kinds! {
    Bandwidth: "bw", "write_bw_log", LogValues::Rates(1024), "Bandwidth";
    Latency: "lat", "write_lat_log", LogValues::Latencies, "Total latencies";
    SubmissionLatency: "slat", "write_lat_log", LogValues::Latencies, "Submission latencies";
    CompletionLatency: "clat", "write_lat_log", LogValues::Latencies, "Completion latencies";
    Iops: "iops", "write_iops_log", LogValues::Rates(1), "I/Os per second";
    Histogram: "clat_hist", "write_hist_log", LogValues::Histograms, "Histograms of completion latencies";
}

impl LogKind {
    /// True if its values are rates.
    #[inline]
    #[must_use]
    pub const fn is_rate(self) -> bool {
        matches!(self.values(), LogValues::Rates(_))
    }

    /// True if its values are single latencies or their means.
    #[inline]
    #[must_use]
    pub const fn is_latency(self) -> bool {
        matches!(self.values(), LogValues::Latencies)
    }

    /// True if its rows are made from single I/Os.
    pub(crate) fn has_every_io(self, logs: &Logs) -> bool {
        match self.values() {
            LogValues::Rates(_) => {
                logs.rates_are_single() && !(self == LogKind::Bandwidth && logs.bw_disabled)
            }
            LogValues::Latencies => true,
            LogValues::Histograms => logs.hist_msec > 0,
        }
    }

    /// ms between two rows: 0 without rows, `None` for a row for every I/O. The outer `None` is for a latency that the job does not
    /// measure.
    pub(crate) fn window_ms(self, spec: &JobSpec) -> Option<Option<u32>> {
        let (logs, measure) = (&spec.logs, &spec.measure);
        let windows = |ms: u32| Some(ms).filter(|&ms| ms > 0);
        match self {
            LogKind::Bandwidth if logs.bw_disabled => Some(Some(0)),
            LogKind::Bandwidth => Some(windows(logs.bw_avg_msec)),
            LogKind::Latency => measure.lat.then(|| windows(logs.avg_msec)),
            LogKind::SubmissionLatency => measure.slat.then(|| windows(logs.avg_msec)),
            LogKind::CompletionLatency => measure.clat.then(|| windows(logs.avg_msec)),
            LogKind::Iops => Some(windows(logs.iops_avg_msec)),
            LogKind::Histogram => Some(Some(if measure.clat { logs.hist_msec } else { 0 })),
        }
    }
}
