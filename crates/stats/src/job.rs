//! All figures of one job (one clone), or of several merged into one report entry.

use serde::{Deserialize, Serialize};

use crate::block_errors::BlockErrors;
use crate::direction::{DirectionStats, latency_since};
use crate::distribution::{BatchSizes, DepthLevels, LatencyBuckets};
use crate::latency::Latency;
use crate::saturating::{saturating_add_to, saturating_total};
use crate::thread_usage::ThreadUsage;

/// Figures of fsync, fdatasync and sync_file_range calls issued by the workload.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SyncStats {
    /// Calls issued.
    pub ios: u64,
    /// The latency, once there was a call.
    pub latency: Option<Box<Latency>>,
}

impl SyncStats {
    /// Records the latency of one call in ns. Allocates at the first one.
    pub fn record(&mut self, ns: u64) {
        self.latency.get_or_insert_default().record(ns);
    }

    /// The calls since `earlier`, an earlier copy of these figures; `None` if they were reset in between.
    #[must_use]
    pub fn since(&self, earlier: &SyncStats) -> Option<SyncStats> {
        Some(SyncStats {
            ios: self.ios.checked_sub(earlier.ios)?,
            latency: latency_since(self.latency.as_ref(), earlier.latency.as_deref())?,
        })
    }
}

/// All figures of one job.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct JobStats {
    /// Read, write, trim.
    pub directions: [DirectionStats; 3],
    /// Periodic syncs.
    pub sync: SyncStats,
    /// Completion latencies of all directions in coarse buckets.
    pub latency_buckets: LatencyBuckets,
    /// Queue depth at submission.
    pub depth: DepthLevels,
    /// I/Os per submit call.
    pub submit: BatchSizes,
    /// I/Os per reap call.
    pub complete: BatchSizes,
    /// From the start of the job (or the end of its ramp) to its end, ms rounded down.
    pub job_runtime_ms: u64,
    /// CPU use of the worker over that time.
    pub usage: ThreadUsage,
    /// Errors tolerated by `continue_on_error`, and the first of them.
    pub total_errors: u64,
    /// First tolerated errno, 0 without.
    pub first_error: i32,
    /// Zones that were reset (`zonemode=zbd`), by trims too.
    pub zone_resets: u64,
    /// The states of trimmed blocks, if they were counted.
    pub block_errors: Option<BlockErrors>,
}

impl JobStats {
    /// I/Os issued over all directions.
    #[must_use]
    pub fn total_ios(&self) -> u64 {
        saturating_total(self.directions.iter().map(|d| d.ios))
    }

    /// All directions as one: sums as for jobs of a group, including samples.
    #[must_use]
    pub fn mixed(&self) -> DirectionStats {
        let mut mixed = DirectionStats::default();
        self.directions
            .iter()
            .filter(|direction| direction.ios > 0)
            .for_each(|direction| mixed.merge(direction));
        mixed
    }

    /// The counted figures, without sampled ones: latencies, their shares, rates.
    #[must_use]
    pub fn counters(&self) -> JobStats {
        JobStats {
            directions: self.directions.each_ref().map(DirectionStats::counters),
            sync: SyncStats { ios: self.sync.ios, latency: None },
            latency_buckets: LatencyBuckets::default(),
            block_errors: self.block_errors.clone(),
            ..*self
        }
    }

    /// Adds another job's figures. Those of another host may be anything, so that sums saturate.
    pub fn merge(&mut self, other: &JobStats) {
        self.directions.iter_mut().zip(&other.directions).for_each(|(a, b)| a.merge(b));
        saturating_add_to(&mut self.sync.ios, other.sync.ios);
        if let Some(latency) = &other.sync.latency {
            self.sync.latency.get_or_insert_default().merge(latency);
        }
        self.latency_buckets.merge(&other.latency_buckets);
        self.depth.merge(&other.depth);
        self.submit.merge(&other.submit);
        self.complete.merge(&other.complete);
        saturating_add_to(&mut self.job_runtime_ms, other.job_runtime_ms);
        self.usage.merge(&other.usage);
        saturating_add_to(&mut self.total_errors, other.total_errors);
        saturating_add_to(&mut self.zone_resets, other.zone_resets);
        if self.first_error == 0 {
            self.first_error = other.first_error;
        }
        if let Some(block_errors) = &other.block_errors {
            self.block_errors.get_or_insert_default().merge(block_errors);
        }
    }

    /// The figures since `earlier`, an earlier copy: per direction, syncs, time, CPU use and the number of errors. `None` if the figures
    /// were reset in between. The first error is that of the whole job.
    ///
    /// Only sums and latencies are subtracted. Samples of bandwidth and IOPS are not sums and stay empty, as do the coarse distributions
    /// (queue depths, batch sizes, latency buckets).
    #[must_use]
    pub fn since(&self, earlier: &JobStats) -> Option<JobStats> {
        let [read, write, trim] = &self.directions;
        let [read_before, write_before, trim_before] = &earlier.directions;
        Some(JobStats {
            directions: [read.since(read_before)?, write.since(write_before)?, trim.since(trim_before)?],
            sync: self.sync.since(&earlier.sync)?,
            job_runtime_ms: self.job_runtime_ms.saturating_sub(earlier.job_runtime_ms),
            usage: self.usage.since(&earlier.usage),
            total_errors: self.total_errors.saturating_sub(earlier.total_errors),
            zone_resets: self.zone_resets.saturating_sub(earlier.zone_resets),
            first_error: self.first_error,
            ..JobStats::default()
        })
    }
}

#[cfg(test)]
mod tests;
