//! From the requests of a block trace to the steps of its replay.
//!
//! Each request is replayed when it was queued. Devices are files, opened with their first request.

use std::collections::{HashMap, VecDeque};
use std::io::BufRead;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use ferrio_job::{Direction, PerDirection, ReplayRules, ReplayStep, ReplaySummary, counted};

use super::devices::{DeviceNodes, DeviceNumber, Devices, Found};
use super::{TraceAction, TraceReader, TraceRecord, TraceRequest};
use crate::step_builder::StepBuilder;
use crate::step_error::StepError;
use crate::{FileAction, IoAction, LogAction, LogLine, ReadError};

/// Most I/Os in flight that a trace asks for.
const MAX_DEPTH: i64 = 1024;

/// Reads the steps of a trace, one after the other.
#[derive(Debug)]
pub(crate) struct TraceSteps<R> {
    trace: TraceReader<R>,
    rules: ReplayRules,
    steps: StepBuilder,
    devices: Devices,
    /// What the latest record asks for and is not yet done: the device, and what happens to it.
    pending: VecDeque<(usize, LogAction)>,
    clock: Clock,
    depths: PerDirection<Depth>,
    has_empty_request: bool,
    left_out: u64,
    zone_requests: u64,
    has_ended: bool,
}

/// The time of the replay: waits add up from the first request with a time, and there is none where time goes back.
#[derive(Debug, Default)]
struct Clock {
    previous_ns: u64,
    waits_ns: u64,
    backward: u64,
}

/// How many requests of one direction are in flight. Counted anew from each completion on, as it is not known which request is completed.
#[derive(Clone, Copy, Debug, Default)]
struct Depth {
    now: i64,
    most: i64,
}

impl<R: BufRead> TraceSteps<R> {
    pub(crate) fn new(trace: TraceReader<R>, rules: ReplayRules, nodes: DeviceNodes) -> Self {
        TraceSteps {
            trace,
            steps: StepBuilder::new(rules.clone()),
            devices: Devices::new(nodes, rules.redirect.clone()),
            rules,
            pending: VecDeque::new(),
            clock: Clock::default(),
            depths: PerDirection([Depth::default(); 3]),
            has_empty_request: false,
            left_out: 0,
            zone_requests: 0,
            has_ended: false,
        }
    }

    /// The next step; `None` at the end of the trace.
    ///
    /// # Errors
    /// A record is skipped, or the trace cannot be replayed or read.
    pub(crate) fn next_step(&mut self) -> Result<Option<ReplayStep>, StepError> {
        loop {
            if let Some((device, what)) = self.pending.pop_front() {
                if let Some(step) = self.step(device, what)? {
                    return Ok(Some(step));
                }
            } else if let Some(record) = self.trace.next_record().map_err(ReadError::Trace)? {
                self.follow(&record);
                self.replay(&record)?;
            } else if self.has_ended {
                return Ok(None);
            } else {
                self.end()?;
            }
        }
    }

    pub(crate) fn summary(&self) -> &ReplaySummary {
        self.steps.summary()
    }

    /// The files of all devices so far.
    pub(crate) fn devices(&self) -> HashMap<DeviceNumber, PathBuf> {
        self.devices.table()
    }

    pub(crate) fn finish(self) -> Option<ReplaySummary> {
        let depth = self.depths.0.iter().map(|depth| depth.most.clamp(1, MAX_DEPTH)).max().unwrap_or(1);
        let summary = self.steps.finish()?;
        Some(ReplaySummary { depth: u32::try_from(depth).ok(), ..summary })
    }

    /// What to know about the replay of the whole trace.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.clock.backward > 0 {
            notes.push(format!(
                "out of order: {} with an earlier time than the one before, replayed in the order of the file: \
                 `blkparse -i NAME -d FILE` sorts a trace",
                counted(self.clock.backward, "request")
            ));
        }
        if self.zone_requests > 0 {
            notes.push(format!(
                "left out: {} (reset, finish, open, close)",
                counted(self.zone_requests, "zone management request")
            ));
        }
        if self.trace.is_cut() {
            notes.push("the trace ends in the middle of a record".to_owned());
        }
        notes
    }

    /// Requests that change data and that `--readonly` or `replay_skip` leaves out.
    pub(crate) fn changes_left_out(&self) -> u64 {
        self.left_out
    }

    /// Counts what is in flight.
    fn follow(&mut self, record: &TraceRecord) {
        let direction = match record.request() {
            None | Some(TraceRequest::ZoneManagement) => return,
            Some(TraceRequest::Read) => Direction::Read,
            Some(TraceRequest::Write | TraceRequest::Flush | TraceRequest::FlushAndWrite) => Direction::Write,
            Some(TraceRequest::Discard) => Direction::Trim,
        };
        let depth = &mut self.depths[direction];
        match record.action() {
            TraceAction::Queue => depth.now += 1,
            TraceAction::Merge => depth.now -= 1,
            TraceAction::Complete => {
                depth.most = depth.most.max(depth.now);
                depth.now = 0;
            }
            TraceAction::Issue | TraceAction::Other => {}
        }
    }

    /// Notes down what a record asks for.
    fn replay(&mut self, record: &TraceRecord) -> Result<(), StepError> {
        let Some(request) = record.request().filter(|_| record.action() == TraceAction::Queue) else {
            return Ok(());
        };
        self.clock.tick(record.time_ns);
        let len = self.aligned(record.len);
        let io = |action| LogAction::Io { action, offset: record.offset(), len };
        let sync = LogAction::Io { action: IoAction::Sync, offset: 0, len: 0 };
        let wanted = match request {
            TraceRequest::ZoneManagement => {
                self.zone_requests += 1;
                return Ok(());
            }
            TraceRequest::Flush => [Some(sync), None],
            TraceRequest::FlushAndWrite if self.rules.flush_replaces_write => [Some(sync), None],
            _ if record.len == 0 => return self.skip_empty(record),
            TraceRequest::FlushAndWrite => [Some(sync), Some(io(IoAction::Write))],
            TraceRequest::Write => [Some(io(IoAction::Write)), None],
            TraceRequest::Discard => [Some(io(IoAction::Trim)), None],
            TraceRequest::Read => [Some(io(IoAction::Read)), None],
        };
        if self.rules.readonly && request != TraceRequest::Read {
            self.left_out += 1;
            return Ok(());
        }
        let Some(device) = self.device(record.device) else { return Ok(()) };
        self.pending.extend(wanted.into_iter().flatten().map(|what| (device, what)));
        Ok(())
    }

    /// The first request without bytes is reported; all are left out.
    fn skip_empty(&mut self, record: &TraceRecord) -> Result<(), StepError> {
        if std::mem::replace(&mut self.has_empty_request, true) {
            return Ok(());
        }
        let message = format!("blktrace: ignoring zero byte trace: action={:x}", record.code);
        Err(StepError::LeftOut { line: self.trace.records(), message })
    }

    /// Unlike offsets, lengths are rounded up.
    fn aligned(&self, len: u32) -> u64 {
        let len = u64::from(len);
        len.checked_next_multiple_of(self.rules.align.max(1)).unwrap_or(len)
    }

    /// The index of a device. A new one is added and opened first; `None` if the host does not have it.
    fn device(&mut self, number: DeviceNumber) -> Option<usize> {
        match self.devices.find(number) {
            Found::Known(device) => Some(device),
            Found::New(device) => {
                let first = [FileAction::Add, FileAction::Open];
                self.pending.extend(first.map(|what| (device, LogAction::File(what))));
                Some(device)
            }
            Found::Missing => None,
        }
    }

    fn step(&mut self, device: usize, what: LogAction) -> Result<Option<ReplayStep>, StepError> {
        let name = self.devices.paths()[device].as_os_str().as_bytes();
        // Microseconds are rounded once, not with each wait.
        self.steps.wait(self.clock.waits_ns / 1000);
        let added = self.steps.add(&LogLine { time_us: 0, name, what });
        added.map_err(|problem| problem.in_line(self.trace.records()))
    }

    /// Closes everything.
    fn end(&mut self) -> Result<(), StepError> {
        self.has_ended = true;
        let missing = self.devices.missing();
        if !missing.is_empty() {
            let numbers: Vec<String> =
                missing.iter().map(|(major, minor)| format!("{major}:{minor}")).collect();
            return Err(ReadError::NoDevice(numbers.join(", ")).into());
        }
        let close = |device| (device, LogAction::File(FileAction::Close));
        self.pending.extend((0..self.devices.paths().len()).map(close));
        Ok(())
    }
}

impl Clock {
    fn tick(&mut self, time_ns: u64) {
        if self.previous_ns > 0 {
            self.backward += u64::from(time_ns < self.previous_ns);
            self.waits_ns = self.waits_ns.saturating_add(time_ns.saturating_sub(self.previous_ns));
        }
        self.previous_ns = time_ns;
    }
}
