//! Summarizes each thread of a block trace: the number, sizes and kinds of its requests, its queue depth, and its duration.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead;

use super::{DeviceNumber, TraceAction, TraceError, TraceReader, TraceRecord, TraceRequest};

/// Most requests that are tracked until their completion at once, so that a trace without completions does not fill the memory.
const MAX_TRACKED: usize = 1 << 16;

/// A summary of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSummary {
    /// The threads that queued requests, by number.
    pub threads: BTreeMap<u32, ThreadSummary>,
    /// Number of records without notes.
    pub records: u64,
    /// Whether the trace ends in the middle of a record.
    pub is_cut: bool,
}

/// A summary of one thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadSummary {
    /// Reads, writes and discards.
    pub kinds: [RequestsSummary; 3],
    /// Flushes without data.
    pub flushes: u64,
    /// Largest number of requests in flight.
    pub depth: u32,
    /// Requests without a completion in the trace.
    pub incomplete: u32,
    /// The devices in the order of their first use.
    pub devices: Vec<DeviceNumber>,
    /// Nanoseconds from the first request of the trace to the first of the thread.
    pub begins_ns: u64,
    /// Nanoseconds from the first request of the thread to its last record or completion.
    pub lasts_ns: u64,
    now: u32,
    /// The elements of `devices`: a trace may have thousands.
    known: HashSet<DeviceNumber>,
}

/// The requests of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestsSummary {
    /// Requests.
    pub ios: u64,
    /// Requests that were merged with another one.
    pub merges: u64,
    /// Requests that begin at the end of their predecessor.
    pub sequential: u64,
    /// Bytes of completed requests.
    pub completed_bytes: u64,
    /// Number of requests of each size in bytes.
    pub sizes: BTreeMap<u32, u64>,
    ends: u64,
}

/// A request in flight.
struct RequestInFlight {
    pid: u32,
    kind: usize,
    bytes: u32,
}

impl TraceSummary {
    /// Reads a whole trace.
    ///
    /// # Errors
    /// The trace cannot be read, or contains other data than records.
    pub fn read<R: BufRead>(mut trace: TraceReader<R>) -> Result<Self, TraceError> {
        let mut summary = TraceSummary::default();
        let mut flying: HashMap<(DeviceNumber, u64), RequestInFlight> = HashMap::new();
        let mut began_ns = None;
        while let Some(record) = trace.next_record()? {
            let Some(request) = record.request() else { continue };
            summary.records += 1;
            let began_ns = *began_ns.get_or_insert(record.time_ns);
            let key = (record.device, record.sector);
            match record.action() {
                TraceAction::Queue => {
                    let since_ns = record.time_ns.saturating_sub(began_ns);
                    let thread = summary
                        .threads
                        .entry(record.pid)
                        .or_insert_with(|| ThreadSummary { begins_ns: since_ns, ..ThreadSummary::default() });
                    thread.lasts_ns = since_ns.saturating_sub(thread.begins_ns);
                    let Some(kind) = thread.queue(&record, request) else { continue };
                    if flying.len() < MAX_TRACKED {
                        let new = RequestInFlight { pid: record.pid, kind, bytes: record.len };
                        // A request that is queued again has lost its completion.
                        if let Some(lost) = flying.insert(key, new) {
                            summary.lose(&lost);
                        }
                    }
                }
                action @ (TraceAction::Merge | TraceAction::Complete) => {
                    if let Some(ended) = flying.remove(&key)
                        && let Some(thread) = summary.threads.get_mut(&ended.pid)
                    {
                        thread.now = thread.now.saturating_sub(1);
                        let kind = &mut thread.kinds[ended.kind];
                        kind.completed_bytes = kind.completed_bytes.saturating_add(u64::from(ended.bytes));
                        if action == TraceAction::Merge {
                            kind.merges += 1;
                        } else {
                            let since_ns = record.time_ns.saturating_sub(began_ns);
                            thread.lasts_ns = thread.lasts_ns.max(since_ns.saturating_sub(thread.begins_ns));
                        }
                    }
                }
                TraceAction::Issue | TraceAction::Other => {}
            }
        }
        flying.values().for_each(|lost| summary.lose(lost));
        summary.is_cut = trace.is_cut();
        Ok(summary)
    }

    /// Counts a request whose completion the trace does not have.
    fn lose(&mut self, request: &RequestInFlight) {
        if let Some(thread) = self.threads.get_mut(&request.pid) {
            thread.now = thread.now.saturating_sub(1);
            thread.incomplete = thread.incomplete.saturating_add(1);
        }
    }
}

impl RequestsSummary {
    /// Percentage of requests that do not begin at the end of their predecessor.
    #[must_use]
    pub const fn random_percent(&self) -> u64 {
        let random = self.ios.saturating_sub(self.sequential);
        if self.ios == 0 { 0 } else { (200 * random + self.ios) / (2 * self.ios) }
    }

    /// Sizes and their numbers of requests, the most frequent first.
    pub fn by_frequency(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut sizes: Vec<(u32, u64)> = self.sizes.iter().map(|(&size, &ios)| (size, ios)).collect();
        sizes.sort_by_key(|&(size, ios)| (std::cmp::Reverse(ios), size));
        sizes.into_iter()
    }

    /// Adds the requests of another thread.
    pub fn add(&mut self, other: &RequestsSummary) {
        self.ios += other.ios;
        self.merges += other.merges;
        self.sequential += other.sequential;
        self.completed_bytes = self.completed_bytes.saturating_add(other.completed_bytes);
        for (size, ios) in &other.sizes {
            *self.sizes.entry(*size).or_default() += ios;
        }
    }
}

impl ThreadSummary {
    /// Number of requests of all kinds.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.ios).sum()
    }

    /// Throughput of requests of this kind in KiB per second, in whole KiB and milliseconds.
    #[must_use]
    pub fn kib_per_second(&self, kind: &RequestsSummary) -> u64 {
        let ms = (self.lasts_ns / 1_000_000).max(1);
        (kind.completed_bytes / 1024).saturating_mul(1000) / ms
    }

    /// Counts a queued request. Returns its kind if it moves data.
    fn queue(&mut self, record: &TraceRecord, request: TraceRequest) -> Option<usize> {
        let kind = match request {
            TraceRequest::Read => 0,
            TraceRequest::Write | TraceRequest::FlushAndWrite => 1,
            TraceRequest::Discard => 2,
            TraceRequest::Flush => {
                self.flushes += 1;
                return None;
            }
            TraceRequest::ZoneManagement => return None,
        };
        if record.len == 0 {
            return None;
        }
        if self.known.insert(record.device) {
            self.devices.push(record.device);
        }
        let requests = &mut self.kinds[kind];
        // The first request counts as sequential because it has no predecessor.
        requests.sequential += u64::from(requests.ios == 0 || requests.ends == record.sector);
        requests.ios += 1;
        requests.ends = record.sector.saturating_add(u64::from(record.len / 512));
        *requests.sizes.entry(record.len).or_default() += 1;
        self.now += 1;
        self.depth = self.depth.max(self.now);
        Some(kind)
    }
}
