//! What each thread of a block trace does: how many requests of which size and kind, how deep its queue is, and how long it is busy.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::BufRead;

use super::{DeviceNumber, TraceAction, TraceError, TraceReader, TraceRecord, TraceRequest};

/// Most requests that are followed to their completion at once. A trace without completions must not fill the memory.
const FOLLOWED: usize = 1 << 16;

/// A summary of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceSummary {
    /// The threads that have queued requests, by their numbers.
    pub threads: BTreeMap<u32, ThreadSummary>,
    /// Records, without notes.
    pub records: u64,
    /// The end of the trace cuts a record.
    pub is_cut: bool,
}

/// What one thread does.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadSummary {
    /// Its reads, writes and discards.
    pub kinds: [RequestsSummary; 3],
    /// Its flushes without data.
    pub flushes: u64,
    /// Most requests at once.
    pub depth: u32,
    /// Requests whose completion the trace lacks.
    pub incomplete: u32,
    /// The devices, in the order of their first use.
    pub devices: Vec<DeviceNumber>,
    /// Nanoseconds from the first request of the trace to the first of the thread.
    pub begins_ns: u64,
    /// Nanoseconds from the first request of the thread to its last record or completion.
    pub lasts_ns: u64,
    now: u32,
    /// The same as `devices`: a trace may have thousands.
    known: HashSet<DeviceNumber>,
}

/// The requests of one kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestsSummary {
    /// Requests.
    pub ios: u64,
    /// Those that were merged with another one.
    pub merges: u64,
    /// Those that begin where the one before ended.
    pub sequential: u64,
    /// Bytes of the requests that were completed.
    pub completed_bytes: u64,
    /// How many requests there are of each size in bytes.
    pub sizes: BTreeMap<u32, u64>,
    ends: u64,
}

/// A request in flight.
struct Flying {
    pid: u32,
    kind: usize,
    bytes: u32,
}

impl TraceSummary {
    /// Reads a whole trace.
    ///
    /// # Errors
    /// It cannot be read, or has something other than records.
    pub fn read<R: BufRead>(mut trace: TraceReader<R>) -> Result<Self, TraceError> {
        let mut summary = TraceSummary::default();
        let mut flying: HashMap<(DeviceNumber, u64), Flying> = HashMap::new();
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
                    if flying.len() < FOLLOWED {
                        let new = Flying { pid: record.pid, kind, bytes: record.len };
                        // The completion of one that is queued again is missing.
                        if let Some(lost) = flying.insert(key, new) {
                            summary.forget(&lost);
                        }
                    }
                }
                TraceAction::Merge => {
                    if let Some(merged) = flying.remove(&key) {
                        summary.complete(&merged, None);
                        summary.kind_of(&merged, |kind| kind.merges += 1);
                    }
                }
                TraceAction::Complete => {
                    if let Some(done) = flying.remove(&key) {
                        summary.complete(&done, Some(record.time_ns.saturating_sub(began_ns)));
                    }
                }
                TraceAction::Issue | TraceAction::Other => {}
            }
        }
        for lost in flying.values() {
            if let Some(thread) = summary.threads.get_mut(&lost.pid) {
                thread.incomplete = thread.incomplete.saturating_add(1);
            }
        }
        summary.is_cut = trace.is_cut();
        Ok(summary)
    }

    fn complete(&mut self, request: &Flying, since_ns: Option<u64>) {
        self.kind_of(request, |kind| {
            kind.completed_bytes = kind.completed_bytes.saturating_add(u64::from(request.bytes));
        });
        if let Some(thread) = self.threads.get_mut(&request.pid) {
            thread.now = thread.now.saturating_sub(1);
            let lasts_ns = since_ns.map_or(0, |since_ns| since_ns.saturating_sub(thread.begins_ns));
            thread.lasts_ns = thread.lasts_ns.max(lasts_ns);
        }
    }

    fn forget(&mut self, request: &Flying) {
        if let Some(thread) = self.threads.get_mut(&request.pid) {
            thread.now = thread.now.saturating_sub(1);
            thread.incomplete = thread.incomplete.saturating_add(1);
        }
    }

    fn kind_of(&mut self, request: &Flying, change: impl FnOnce(&mut RequestsSummary)) {
        if let Some(thread) = self.threads.get_mut(&request.pid) {
            change(&mut thread.kinds[request.kind]);
        }
    }
}

impl RequestsSummary {
    /// The share of requests that do not begin where the one before ended, in percent.
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

    /// Counts the requests of another thread as well.
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
    /// Requests of all kinds.
    #[must_use]
    pub fn ios(&self) -> u64 {
        self.kinds.iter().map(|kind| kind.ios).sum()
    }

    /// KiB per second that requests of this kind move, in whole KiB and milliseconds.
    #[must_use]
    pub fn kib_per_second(&self, kind: &RequestsSummary) -> u64 {
        let ms = (self.lasts_ns / 1_000_000).max(1);
        (kind.completed_bytes / 1024).saturating_mul(1000) / ms
    }

    /// Counts a request that is queued. Its kind is returned if it moves data.
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
        // As there is nothing before it, the first request counts as sequential.
        requests.sequential += u64::from(requests.ios == 0 || requests.ends == record.sector);
        requests.ios += 1;
        requests.ends = record.sector.saturating_add(u64::from(record.len / 512));
        *requests.sizes.entry(record.len).or_default() += 1;
        self.now += 1;
        self.depth = self.depth.max(self.now);
        Some(kind)
    }
}
