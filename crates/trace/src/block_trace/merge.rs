//! Merges the requests of several block traces in the order of their times.
//!
//! One record of each trace is in memory. A trace may be stretched or compressed in time, and may be repeated: each repetition begins where
//! the previous one ends.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufRead, Read};

use super::record::LENGTH_7;
use super::{TraceAction, TraceError, TraceReader, TraceRecord, TraceRequest};

/// A reason why traces cannot be merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A trace cannot be opened.
    #[error("could not open file: {name}: {}", ferrio_job::reason(error))]
    Open {
        /// Name of the trace, as given.
        name: String,
        /// The error of the kernel.
        error: io::Error,
    },
    /// A source is not a trace, or cannot be read further.
    #[error("{error}: {name}")]
    Read {
        /// Name of the trace, as given.
        name: String,
        /// The reason.
        error: TraceError,
    },
}

/// A trace to be merged.
#[derive(Debug)]
pub struct MergeInput<F> {
    /// The name in messages.
    pub name: String,
    /// Opens the trace, once for each repetition.
    pub open: F,
    /// Scale of times in percent: 200 makes the trace take twice as long.
    pub percent: f64,
    /// Number of repetitions, at least 1.
    pub iterations: u64,
}

/// A merge in progress.
#[derive(Debug)]
pub struct TraceMerge<F, R> {
    sources: Vec<MergeSource<F, R>>,
    /// The time of the next record of each source that has one, and the index of the source: of equal times, the earlier source is first.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

#[derive(Debug)]
struct MergeSource<F, R> {
    input: MergeInput<F>,
    reader: TraceReader<R>,
    /// Number of completed iterations.
    done: u64,
    /// The latest recorded time of this iteration. Records need not be in the order of time.
    latest_ns: u64,
    /// The recorded time of the last request.
    previous_ns: u64,
    /// Number of requests that are earlier than their predecessors.
    backward: u64,
    /// The recorded time at which this iteration begins.
    begins_ns: u64,
    /// Whether the trace has any request.
    has_request: bool,
    /// Whether the trace ends in the middle of a record.
    is_truncated: bool,
    next: Option<TraceRecord>,
}

impl<R: BufRead, F: FnMut() -> io::Result<R>> TraceMerge<F, R> {
    /// Opens all traces.
    ///
    /// # Errors
    /// A trace cannot be opened or read, or is not a trace.
    pub fn new(inputs: Vec<MergeInput<F>>) -> Result<Self, MergeError> {
        let mut merge = TraceMerge { sources: Vec::with_capacity(inputs.len()), next: BinaryHeap::new() };
        for (index, mut input) in inputs.into_iter().enumerate() {
            let reader = input.reader()?;
            merge.sources.push(MergeSource::new(input, reader));
            merge.advance(index)?;
        }
        Ok(merge)
    }

    /// The next queued read, write or discard, with its time in the result.
    ///
    /// # Errors
    /// A trace cannot be read further.
    pub fn next_record(&mut self) -> Result<Option<TraceRecord>, MergeError> {
        let Some(Reverse((_, index))) = self.next.pop() else { return Ok(None) };
        let record = self.sources[index].next.take();
        self.advance(index)?;
        Ok(record)
    }

    /// The names of the traces that end in the middle of a record, of those merged so far. The record is ignored.
    pub fn truncated(&self) -> impl Iterator<Item = &str> {
        let truncated = self.sources.iter().filter(|source| source.is_truncated);
        truncated.map(|source| source.input.name.as_str())
    }

    /// The names of the traces that are not in the order of time, as far as they are merged, with the number of requests that are earlier
    /// than their predecessors. Then the result is not in order either.
    pub fn out_of_order(&self) -> impl Iterator<Item = (&str, u64)> {
        let disordered = self.sources.iter().filter(|source| source.backward > 0);
        disordered.map(|source| (source.input.name.as_str(), source.backward))
    }

    fn advance(&mut self, index: usize) -> Result<(), MergeError> {
        let source = &mut self.sources[index];
        source.next = source.next_request()?;
        if let Some(record) = &source.next {
            self.next.push(Reverse((record.time_ns, index)));
        }
        Ok(())
    }
}

impl<R: BufRead, F: FnMut() -> io::Result<R>> MergeInput<F> {
    fn reader(&mut self) -> Result<TraceReader<R>, MergeError> {
        let opened = (self.open)().map_err(|error| MergeError::Open { name: self.name.clone(), error })?;
        TraceReader::new(opened).map_err(|error| self.unreadable(error))
    }

    fn unreadable(&self, error: TraceError) -> MergeError {
        MergeError::Read { name: self.name.clone(), error }
    }
}

/// The result as a trace: records of version 7 in the byte order of this host, without payloads.
#[derive(Debug)]
pub struct MergedTrace<F, R> {
    merge: TraceMerge<F, R>,
    record: [u8; LENGTH_7],
    /// Bytes of `record` that have been returned.
    taken: usize,
}

impl<F, R> From<TraceMerge<F, R>> for MergedTrace<F, R> {
    fn from(merge: TraceMerge<F, R>) -> Self {
        MergedTrace { merge, record: [0; LENGTH_7], taken: LENGTH_7 }
    }
}

impl<R: BufRead, F: FnMut() -> io::Result<R>> MergedTrace<F, R> {
    /// See [`TraceMerge::truncated`].
    pub fn truncated(&self) -> impl Iterator<Item = &str> {
        self.merge.truncated()
    }

    /// See [`TraceMerge::out_of_order`].
    pub fn out_of_order(&self) -> impl Iterator<Item = (&str, u64)> {
        self.merge.out_of_order()
    }
}

impl<R: BufRead, F: FnMut() -> io::Result<R>> Read for MergedTrace<F, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == LENGTH_7 {
            let Some(record) = self.merge.next_record().map_err(io::Error::other)? else { return Ok(0) };
            (self.record, self.taken) = (record.to_version_7(), 0);
        }
        let bytes = buffer.len().min(LENGTH_7 - self.taken);
        buffer[..bytes].copy_from_slice(&self.record[self.taken..self.taken + bytes]);
        self.taken += bytes;
        Ok(bytes)
    }
}

impl<R: BufRead, F: FnMut() -> io::Result<R>> MergeSource<F, R> {
    fn new(input: MergeInput<F>, reader: TraceReader<R>) -> Self {
        MergeSource {
            input,
            reader,
            done: 0,
            latest_ns: 0,
            previous_ns: 0,
            backward: 0,
            begins_ns: 0,
            has_request: false,
            is_truncated: false,
            next: None,
        }
    }

    /// The next request of the trace, or of its next iteration.
    fn next_request(&mut self) -> Result<Option<TraceRecord>, MergeError> {
        loop {
            while let Some(record) =
                self.reader.next_record().map_err(|error| self.input.unreadable(error))?
            {
                let Some(request) = record.request() else { continue };
                self.latest_ns = self.latest_ns.max(record.time_ns);
                let is_data = !matches!(request, TraceRequest::Flush | TraceRequest::ZoneManagement);
                if record.action() == TraceAction::Queue && is_data && record.len > 0 {
                    // All iterations have the same order.
                    if self.done == 0 && record.time_ns < self.previous_ns {
                        self.backward += 1;
                    }
                    self.previous_ns = record.time_ns;
                    let time_ns = self.scaled(self.begins_ns.saturating_add(record.time_ns));
                    self.has_request = true;
                    return Ok(Some(TraceRecord { time_ns, ..record }));
                }
            }
            self.is_truncated |= self.reader.is_cut();
            self.done += 1;
            if self.done >= self.input.iterations || !self.has_request {
                return Ok(None);
            }
            self.begins_ns = self.begins_ns.saturating_add(self.latest_ns);
            self.reader = self.input.reader()?;
        }
    }

    fn scaled(&self, time_ns: u64) -> u64 {
        // Without scaling, times remain exact.
        if self.input.percent == 100.0 {
            time_ns
        } else {
            (time_ns as f64 * self.input.percent / 100.0) as u64
        }
    }
}
