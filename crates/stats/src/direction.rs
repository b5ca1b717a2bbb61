//! The figures of one direction of a job, and their recording.

use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::latency::Latency;
use crate::priority::{PriorityRecorder, PriorityStats};
use crate::recorder::Recorder;
use crate::samples::SampleStats;
use crate::saturating::saturating_add_to;

/// Figures of one direction. Copies share their latencies, because many consumers read the figures of thousands of jobs during the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DirectionStats {
    /// I/Os issued, including failed ones; the rest of a short transfer counts again.
    pub ios: u64,
    /// Bytes completed.
    pub bytes: u64,
    /// Transfers that moved fewer bytes than asked.
    pub short: u64,
    /// Reads that were sent to the job and never arrived; network engines only.
    pub dropped: u64,
    /// Time in the I/O loop, ms rounded up; 0 without bytes.
    pub runtime_ms: u64,
    /// Submission latency, asynchronous engines only.
    pub slat: Option<Arc<Latency>>,
    /// Completion latency.
    pub clat: Option<Arc<Latency>>,
    /// Total latency; `None` with samples in `clat` means that both are equal (synchronous engines: see [`DirectionStats::lat`]).
    total: Option<Arc<Latency>>,
    /// Whether `total` equals `clat` because the I/O was submitted and completed by one call.
    lat_is_clat: bool,
    /// Response time: from the moment at which each I/O was due by the schedule of a rate to its end; `None` without a schedule.
    pub response: Option<Arc<Latency>>,
    /// Latencies by the priority of I/Os.
    pub priorities: PriorityStats,
    /// Bandwidth samples, KiB/s.
    pub bw: SampleStats,
    /// IOPS samples.
    pub iops: SampleStats,
}

impl DirectionStats {
    /// Total latency, if measured.
    #[must_use]
    pub fn lat(&self) -> Option<&Latency> {
        self.shared_lat().map(Arc::as_ref)
    }

    fn shared_lat(&self) -> Option<&Arc<Latency>> {
        if self.lat_is_clat { self.clat.as_ref() } else { self.total.as_ref() }
    }

    /// Completion latency or, if only that is measured, total latency.
    #[must_use]
    pub fn completion(&self) -> Option<&Arc<Latency>> {
        self.clat.as_ref().or_else(|| self.shared_lat())
    }

    pub(crate) fn counters(&self) -> DirectionStats {
        let DirectionStats { ios, bytes, short, dropped, runtime_ms, .. } = *self;
        DirectionStats { ios, bytes, short, dropped, runtime_ms, ..DirectionStats::default() }
    }

    pub(crate) fn merge(&mut self, other: &DirectionStats) {
        saturating_add_to(&mut self.ios, other.ios);
        saturating_add_to(&mut self.bytes, other.bytes);
        saturating_add_to(&mut self.short, other.short);
        saturating_add_to(&mut self.dropped, other.dropped);
        self.runtime_ms = self.runtime_ms.max(other.runtime_ms);
        self.merge_priorities(other);
        if self.lat_is_clat && !other.lat_is_clat {
            // A group of synchronous and asynchronous jobs: from here on the two latencies differ.
            self.total = self.clat.clone();
            self.lat_is_clat = false;
        }
        if !self.lat_is_clat && other.lat_is_clat && self.clat.is_none() && self.total.is_none() {
            self.lat_is_clat = true;
        } else if !self.lat_is_clat {
            merge_latency(&mut self.total, other.shared_lat());
        }
        merge_latency(&mut self.slat, other.slat.as_ref());
        merge_latency(&mut self.clat, other.clat.as_ref());
        merge_latency(&mut self.response, other.response.as_ref());
        self.bw.merge(&other.bw);
        self.iops.merge(&other.iops);
    }

    /// I/Os, bytes, time and latencies since `earlier`, an earlier copy of these figures; `None` if they were reset in between.
    #[must_use]
    pub fn since(&self, earlier: &DirectionStats) -> Option<DirectionStats> {
        Some(DirectionStats {
            ios: self.ios.checked_sub(earlier.ios)?,
            bytes: self.bytes.checked_sub(earlier.bytes)?,
            short: self.short.checked_sub(earlier.short)?,
            dropped: self.dropped.checked_sub(earlier.dropped)?,
            runtime_ms: self.runtime_ms.saturating_sub(earlier.runtime_ms),
            slat: latency_since(self.slat.as_ref(), earlier.slat.as_deref())?,
            clat: latency_since(self.clat.as_ref(), earlier.clat.as_deref())?,
            total: latency_since(self.total.as_ref(), earlier.total.as_deref())?,
            lat_is_clat: self.lat_is_clat,
            response: latency_since(self.response.as_ref(), earlier.response.as_deref())?,
            ..DirectionStats::default()
        })
    }

    /// Must be called before other latencies are merged.
    fn merge_priorities(&mut self, other: &DirectionStats) {
        let mut priorities = std::mem::take(&mut self.priorities);
        let all = if other.priorities.of_lat { self.lat() } else { self.clat.as_deref() };
        let all_of_other = if other.priorities.of_lat { other.lat() } else { other.clat.as_deref() };
        priorities.merge(all, &other.priorities, all_of_other);
        self.priorities = priorities;
    }
}

/// The recording side of [`DirectionStats`], which a worker updates for every I/O.
#[derive(Clone, Debug, Default)]
pub struct DirectionRecorder {
    /// I/Os issued.
    pub ios: u64,
    /// Bytes completed.
    pub bytes: u64,
    /// Short transfers.
    pub short: u64,
    slat: Option<Box<Recorder>>,
    clat: Option<Box<Recorder>>,
    total: Option<Box<Recorder>>,
    response: Option<Box<Recorder>>,
    lat_is_clat: bool,
    pub(crate) priorities: PriorityRecorder,
}

impl DirectionRecorder {
    /// A recorder for a used direction. A `synchronous` job has no slat, and one recorder serves clat and lat.
    #[must_use]
    pub fn new(slat: bool, clat: bool, lat: bool, synchronous: bool) -> Self {
        Self::with(Recorder::new, slat, clat, lat, synchronous)
    }

    /// A recorder like [`new`](Self::new), made of [`Recorder::growing`] ones, for a direction whose I/Os move no data.
    #[must_use]
    pub fn growing(slat: bool, clat: bool, lat: bool, synchronous: bool) -> Self {
        Self::with(Recorder::growing, slat, clat, lat, synchronous)
    }

    fn with(recorder: fn() -> Recorder, slat: bool, clat: bool, lat: bool, synchronous: bool) -> Self {
        let make = |on: bool| on.then(|| Box::new(recorder()));
        let shared = synchronous && clat;
        DirectionRecorder {
            slat: make(slat && !synchronous),
            clat: make(clat),
            total: make(lat && !shared),
            lat_is_clat: lat && shared,
            ..Self::default()
        }
    }

    /// Adds response times, for a direction whose I/Os are due by a schedule.
    #[must_use]
    pub fn with_response(self) -> Self {
        DirectionRecorder { response: Some(Box::default()), ..self }
    }

    /// Adds latencies by priority, for a direction whose I/Os may have these priorities, that of the job first. With `of_lat`, total latencies are recorded
    /// per priority, otherwise completion latencies. A latency that is not measured is not recorded.
    #[must_use]
    pub fn with_priorities(self, priorities: &[u16], of_lat: bool) -> Self {
        let measured = if of_lat { self.total.is_some() || self.lat_is_clat } else { self.clat.is_some() };
        let priorities = if measured { priorities } else { &[] };
        DirectionRecorder { priorities: PriorityRecorder::new(priorities, of_lat), ..self }
    }

    /// Records the latencies of an asynchronous I/O for its priority; does nothing while all I/Os have the same.
    #[inline]
    pub fn record_priority(&mut self, priority: u16, clat_ns: u64, lat_ns: u64) {
        if self.priorities.is_divided() {
            self.priorities.record(priority, clat_ns, lat_ns);
        }
    }

    /// Records the response time of an I/O; does nothing without [`DirectionRecorder::with_response`].
    #[inline]
    pub fn record_response(&mut self, ns: u64) {
        if let Some(response) = &mut self.response {
            response.record(ns);
        }
    }

    /// Records a synchronous I/O: one latency is both completion and total.
    #[inline]
    pub fn record_synchronous(&mut self, ns: u64) {
        if let Some(clat) = &mut self.clat {
            clat.record(ns);
        } else if let Some(total) = &mut self.total {
            total.record(ns);
        }
    }

    /// Records synchronous I/Os.
    #[inline]
    pub fn record_all_synchronous(&mut self, latencies: &[u64]) {
        if let Some(recorder) = self.clat.as_mut().or(self.total.as_mut()) {
            recorder.record_all(latencies);
        }
    }

    /// Records the submission latencies of asynchronous I/Os.
    #[inline]
    pub fn record_submissions(&mut self, latencies: &[u64]) {
        if let Some(slat) = &mut self.slat {
            slat.record_all(latencies);
        }
    }

    /// Records the completion latencies of asynchronous I/Os, and their total latencies.
    #[inline]
    pub fn record_completions(&mut self, clat: &[u64], lat: &[u64]) {
        if let Some(recorder) = &mut self.clat {
            recorder.record_all(clat);
        }
        if let Some(total) = &mut self.total {
            total.record_all(lat);
        }
    }

    /// Whether latencies are recorded per priority.
    #[inline]
    #[must_use]
    pub fn divides_by_priority(&self) -> bool {
        self.priorities.is_divided()
    }

    /// Sum of the completion latencies so far, ns, and their number.
    #[must_use]
    pub fn total_clat(&self) -> (u64, u64) {
        self.clat.as_ref().map_or((0, 0), |clat| clat.total())
    }

    /// The figures so far; `run_ms` is the time in the I/O loop.
    #[must_use]
    pub fn finish(&self, run_ms: u64) -> DirectionStats {
        let fold = |recorder: &Option<Box<Recorder>>| recorder.as_ref().map(|r| Arc::new(r.finish()));
        DirectionStats {
            ios: self.ios,
            bytes: self.bytes,
            short: self.short,
            dropped: 0,
            runtime_ms: if self.bytes > 0 { run_ms } else { 0 },
            slat: fold(&self.slat),
            clat: fold(&self.clat),
            total: fold(&self.total),
            response: fold(&self.response),
            priorities: self.priorities.finish(),
            lat_is_clat: self.lat_is_clat,
            ..DirectionStats::default()
        }
    }
}

fn merge_latency(into: &mut Option<Arc<Latency>>, from: Option<&Arc<Latency>>) {
    match (into, from) {
        (_, None) => {}
        (Some(into), Some(from)) => Arc::make_mut(into).merge(from),
        (into, from) => *into = from.cloned(),
    }
}

/// The difference of two states of one latency, each perhaps not measured or without samples. The outer `None` means that it was reset.
pub(crate) fn latency_since<P>(now: Option<&P>, earlier: Option<&Latency>) -> Option<Option<P>>
where
    P: Deref<Target = Latency> + From<Latency> + Clone,
{
    match (now, earlier) {
        (Some(now), Some(earlier)) => now.since(earlier).map(|latency| Some(latency.into())),
        (now @ Some(_), None) => Some(now.cloned()),
        (None, earlier) => earlier.is_none_or(|earlier| earlier.count() == 0).then_some(None),
    }
}
