//! One direction of an entry, and latencies.

use ferrio_stats::{saturating_add_to, saturating_total};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::maps::{Pairs, Percentiles};
use super::rules;

/// Figures of one direction; all 0 without I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DirectionReport {
    /// Bytes transferred.
    pub io_bytes: u64,
    /// KiB transferred, rounded down.
    pub io_kbytes: u64,
    /// Bytes per second, rounded down.
    pub bw_bytes: u64,
    /// KiB per second, rounded down.
    pub bw: u64,
    /// I/Os per second.
    #[schemars(range(min = 0))]
    pub iops: f64,
    /// Time in which I/O was done, in ms, rounded up; the longest of several jobs.
    pub runtime: u64,
    /// I/Os issued, including failed ones; the rest of a short transfer is another I/O.
    pub total_ios: u64,
    /// Transfers that moved fewer bytes than requested.
    pub short_ios: u64,
    /// Always 0: fio has the key but never sets it.
    #[schemars(extend("const" = 0))]
    pub drop_ios: u64,
    /// Submission latency: from the start of an I/O until it is handed to the kernel. Asynchronous engines only.
    pub slat_ns: LatencyReport,
    /// Completion latency: from the submission of an I/O to its completion.
    pub clat_ns: LatencyReport,
    /// Total latency: from the start of an I/O to its completion.
    pub lat_ns: LatencyReport,
    /// Latencies by priority, if I/Os had two or more priorities.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(min = 2))]
    pub prios: Vec<PriorityReport>,
    /// Response time: from the moment an I/O was due by its rate to its completion. Only for a direction with a rate. fio lacks this key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_ns: Option<LatencyReport>,
    /// Smallest bandwidth sample, in KiB/s.
    pub bw_min: u64,
    /// Largest bandwidth sample, in KiB/s.
    pub bw_max: u64,
    /// Mean bandwidth as a percentage of the group's, at most 100.
    #[schemars(range(min = 0, max = 100))]
    pub bw_agg: f64,
    /// Mean of the bandwidth samples, in KiB/s.
    #[schemars(range(min = 0))]
    pub bw_mean: f64,
    /// Standard deviation of the bandwidth samples, in KiB/s.
    #[schemars(range(min = 0))]
    pub bw_dev: f64,
    /// Number of bandwidth samples.
    pub bw_samples: u64,
    /// Smallest IOPS sample.
    pub iops_min: u64,
    /// Largest IOPS sample.
    pub iops_max: u64,
    /// Mean of the IOPS samples.
    #[schemars(range(min = 0))]
    pub iops_mean: f64,
    /// Standard deviation of the IOPS samples.
    #[schemars(range(min = 0))]
    pub iops_stddev: f64,
    /// Number of IOPS samples.
    pub iops_samples: u64,
    /// Number of zones that the job has reset. Only for writes and trims of a job with `zonemode=zbd`; the same number for both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone_resets: Option<u64>,
}

impl DirectionReport {
    /// True if the direction did I/O or tried to.
    pub(crate) fn did_io(&self) -> bool {
        self.total_ios > 0 || self.io_bytes > 0
    }

    /// The main latency of the direction: the completion latency, or the total latency if only that has percentiles or samples.
    #[must_use]
    pub fn shown_latency(&self) -> Option<&LatencyReport> {
        let all = [&self.clat_ns, &self.lat_ns];
        let with_percentiles = all.into_iter().find(|latency| !latency.percentile.is_empty());
        with_percentiles.or_else(|| all.into_iter().find(|latency| latency.samples > 0))
    }
}

/// The I/Os of one direction with the same priority.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(transform = rules::clat_or_lat)]
pub struct PriorityReport {
    /// Class: 0 none, 1 real time, 2 best effort, 3 idle.
    #[schemars(range(max = 7))]
    pub prioclass: u8,
    /// Level in the class, 0 to 7; 0 is served first.
    #[schemars(range(max = 7))]
    pub prio: u8,
    /// Hint to the device, 0 to 1023.
    #[schemars(range(max = 1023))]
    pub priohint: u16,
    /// Completion latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clat_ns: Option<LatencyReport>,
    /// Total latency, instead of the completion latency, with `lat_percentiles=1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat_ns: Option<LatencyReport>,
}

/// One latency of one direction, in ns; all 0 without samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("dependentRequired" = { "bins": ["percentile"] }))]
pub struct LatencyReport {
    /// Smallest sample, in ns.
    pub min: u64,
    /// Largest sample, in ns.
    pub max: u64,
    /// Mean, in ns.
    #[schemars(range(min = 0))]
    pub mean: f64,
    /// Sample standard deviation, in ns.
    #[schemars(range(min = 0))]
    pub stddev: f64,
    /// Number of samples.
    #[serde(rename = "N")]
    pub samples: u64,
    /// Percentiles in ns by percentage, ascending: that percentage of the samples is not larger. Present if percentiles of this latency are
    /// enabled and there are samples.
    #[serde(skip_serializing_if = "Pairs::is_empty")]
    #[schemars(schema_with = "rules::percentiles", extend("minProperties" = 1))]
    pub percentile: Percentiles,
    /// Number of samples in each histogram bucket by the value in ns that represents the bucket, ascending, without empty buckets. Only in
    /// the format json+, together with percentiles.
    #[serde(skip_serializing_if = "Pairs::is_empty")]
    #[schemars(schema_with = "rules::bins")]
    pub bins: Pairs<u64, u64>,
    /// Percentiles for thresholds, whether they are listed or not; not in the document.
    #[serde(skip)]
    pub unlisted: Percentiles,
}

impl LatencyReport {
    /// The listed percentile, or else the one of the histogram, in ns.
    pub(crate) fn percentile(&self, percent: f64) -> Option<u64> {
        self.listed(percent).or_else(|| {
            let samples = saturating_total(self.bins.0.iter().map(|&(_, count)| count));
            let rank = samples as f64 * percent / 100.0;
            let mut below = 0;
            let mut reaches = |count: u64| {
                saturating_add_to(&mut below, count);
                below as f64 >= rank
            };
            self.bins.0.iter().find(|&&(_, count)| reaches(count)).map(|&(ns, _)| ns)
        })
    }

    /// The percentile `percent` in ns, if it is listed.
    #[must_use]
    pub fn listed(&self, percent: f64) -> Option<u64> {
        self.percentile.0.iter().find(|(other, _)| *other == percent).map(|&(_, ns)| ns)
    }
}
