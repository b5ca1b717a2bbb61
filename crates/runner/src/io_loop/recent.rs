//! Latencies that are not in the histograms yet. Recording a batch at a time costs a fraction of recording each one between two clock
//! readings.

use ferrio_logs::LogSums;
use ferrio_stats::{Clock, DirectionRecorder, LatencyBuckets};

/// Latencies in a batch.
const BATCH: usize = 64;

/// Times of one kind in ticks.
#[derive(Clone, Copy, Debug)]
struct Batch {
    ticks: [u64; BATCH],
    len: usize,
}

/// Latencies of one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecentLatencies {
    /// I/Os that the submitting call completed.
    calls: Batch,
    /// Submission latencies.
    submissions: Batch,
    /// Completion latencies of I/Os that the engine reaped, and the submission latencies of the same.
    completions: Batch,
    submitted: [u64; BATCH],
    /// Start of a batch: 0, or the last index if each latency must be seen at once.
    first: usize,
}

impl RecentLatencies {
    /// Creates an empty batch. With `sees_each`, no latency waits for others.
    pub(super) fn new(sees_each: bool) -> Self {
        let first = if sees_each { BATCH - 1 } else { 0 };
        let batch = Batch { ticks: [0; BATCH], len: first };
        RecentLatencies { calls: batch, submissions: batch, completions: batch, submitted: [0; BATCH], first }
    }

    /// Adds an I/O that the submitting call completed. True when the batch is full: see [`RecentLatencies::record_calls`].
    #[inline(always)]
    pub(super) fn add_call(&mut self, ticks: u64) -> bool {
        self.calls.add(ticks)
    }

    /// Adds a submission. True when the batch is full: see [`RecentLatencies::record_submissions`].
    #[inline(always)]
    pub(super) fn add_submission(&mut self, ticks: u64) -> bool {
        self.submissions.add(ticks)
    }

    /// Adds an I/O that the engine reaped. True when the batch is full: see [`RecentLatencies::record_completions`].
    #[inline(always)]
    pub(super) fn add_completion(&mut self, submission_ticks: u64, completion_ticks: u64) -> bool {
        self.submitted[self.completions.len % BATCH] = submission_ticks;
        self.completions.add(completion_ticks)
    }

    /// Moves the I/Os that submitting calls completed into the figures, and into sums for logs under their direction.
    #[inline(never)]
    pub(super) fn record_calls(
        &mut self,
        clock: &Clock,
        figures: &mut DirectionRecorder,
        buckets: Option<&mut LatencyBuckets>,
        sums: Option<(usize, &mut LogSums)>,
    ) {
        let mut ns = [0; BATCH];
        let ns = self.calls.take(self.first, clock, &mut ns);
        figures.record_all_synchronous(ns);
        if let Some((direction, sums)) = sums {
            sums.add_batch(direction, &[], ns, ns);
        }
        if let Some(buckets) = buckets {
            buckets.record_all(ns);
        }
    }

    /// Moves the submission latencies into the figures.
    #[inline(never)]
    pub(super) fn record_submissions(&mut self, clock: &Clock, figures: &mut DirectionRecorder) {
        let mut ns = [0; BATCH];
        figures.record_submissions(self.submissions.take(self.first, clock, &mut ns));
    }

    /// Moves the I/Os that the engine reaped into the figures, and into sums for logs under their direction.
    #[inline(never)]
    pub(super) fn record_completions(
        &mut self,
        clock: &Clock,
        figures: &mut DirectionRecorder,
        buckets: Option<&mut LatencyBuckets>,
        sums: Option<(usize, &mut LogSums)>,
    ) {
        let (mut slat, mut clat, mut lat) = ([0; BATCH], [0; BATCH], [0; BATCH]);
        let clat = self.completions.take(self.first, clock, &mut clat);
        let submitted = &self.submitted[self.first..];
        for (slat, (&ticks, _)) in slat.iter_mut().zip(submitted.iter().zip(clat)) {
            *slat = clock.ns(ticks);
        }
        // The sum to the nanosecond: each is cut to whole ones.
        for (lat, (slat, clat)) in lat.iter_mut().zip(slat.iter().zip(clat)) {
            *lat = slat + clat;
        }
        let (slat, lat) = (&slat[..clat.len()], &lat[..clat.len()]);
        figures.record_completions(clat, lat);
        if let Some((direction, sums)) = sums {
            sums.add_batch(direction, slat, clat, lat);
        }
        if let Some(buckets) = buckets {
            buckets.record_all(clat);
        }
    }

    /// Drops what was not recorded.
    pub(super) fn clear(&mut self) {
        for batch in [&mut self.calls, &mut self.submissions, &mut self.completions] {
            batch.len = self.first;
        }
    }
}

impl Batch {
    #[inline(always)]
    fn add(&mut self, ticks: u64) -> bool {
        let at = self.len;
        // A full batch was emptied: the remainder spares a check.
        self.ticks[at % BATCH] = ticks;
        self.len = at + 1;
        at + 1 == BATCH
    }

    /// Empties the batch, which began at `first`. Returns the times in ns.
    #[inline(always)]
    fn take<'n>(&mut self, first: usize, clock: &Clock, ns: &'n mut [u64; BATCH]) -> &'n [u64] {
        let ticks = &self.ticks[first..self.len];
        ns.iter_mut().zip(ticks).for_each(|(ns, &ticks)| *ns = clock.ns(ticks));
        let count = ticks.len();
        self.len = first;
        &ns[..count]
    }
}
