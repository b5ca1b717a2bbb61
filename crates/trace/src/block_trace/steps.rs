//! Turns the requests of a block trace into the steps of its replay.
//!
//! Each request is replayed at the time when it was queued. Devices become files, opened with their first request.

use std::collections::{HashMap, VecDeque};
use std::io::BufRead;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use ferrio_job::{Direction, PerDirection, ReplayRules, ReplayStep, ReplaySummary, counted};

use super::devices::{DeviceFile, DeviceNodes, DeviceNumber, Devices};
use super::{TraceAction, TraceReader, TraceRecord, TraceRequest};
use crate::step_builder::StepBuilder;
use crate::step_error::StepError;
use crate::{FileAction, IoAction, IologReadError, LogAction, LogLine};

/// Largest queue depth that a trace can request.
const MAX_DEPTH: i64 = 1024;

/// Reads the steps of a trace.
#[derive(Debug)]
pub(crate) struct TraceSteps<R> {
    trace: TraceReader<R>,
    rules: ReplayRules,
    steps: StepBuilder,
    devices: Devices,
    /// Actions of the latest record that are still to be done, with their devices.
    pending: VecDeque<(usize, LogAction)>,
    clock: TraceClock,
    depths: PerDirection<DirectionDepth>,
    has_empty_request: bool,
    left_out: u64,
    zone_requests: u64,
    has_ended: bool,
}

/// The time of the replay: waits add up from the first request with a time; a time that goes back adds none.
#[derive(Debug, Default)]
struct TraceClock {
    previous_ns: u64,
    waits_ns: u64,
    backward: u64,
}

/// The number of requests of one direction in flight. Restarts at each completion, because the completed request is unknown.
#[derive(Clone, Copy, Debug, Default)]
struct DirectionDepth {
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
            clock: TraceClock::default(),
            depths: PerDirection([DirectionDepth::default(); 3]),
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
            } else if let Some(record) = self.trace.next_record().map_err(IologReadError::Trace)? {
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

    /// The files of all devices found so far.
    pub(crate) fn devices(&self) -> HashMap<DeviceNumber, PathBuf> {
        self.devices.table()
    }

    pub(crate) fn finish(self) -> Option<ReplaySummary> {
        let depth = self.depths.0.iter().map(|depth| depth.most.clamp(1, MAX_DEPTH)).max().unwrap_or(1);
        let summary = self.steps.finish()?;
        Some(ReplaySummary { depth: u32::try_from(depth).ok(), ..summary })
    }

    /// Remarks on the replay of the whole trace.
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

    /// Number of changing requests that `--readonly` or `replay_skip` leaves out.
    pub(crate) fn changes_left_out(&self) -> u64 {
        self.left_out
    }

    /// Updates the number of requests in flight.
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

    /// Queues the actions of a record.
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

    /// Reports the first request without bytes; all are left out.
    fn skip_empty(&mut self, record: &TraceRecord) -> Result<(), StepError> {
        if std::mem::replace(&mut self.has_empty_request, true) {
            return Ok(());
        }
        let message = format!("blktrace: ignoring zero byte trace: action={:x}", record.code);
        Err(StepError::LeftOut { line: self.trace.records(), message })
    }

    /// Rounds a length up; offsets are rounded down.
    fn aligned(&self, len: u32) -> u64 {
        let len = u64::from(len);
        len.checked_next_multiple_of(self.rules.align.max(1)).unwrap_or(len)
    }

    /// The index of a device. A new one is first added and opened; `None` if the host does not have it.
    fn device(&mut self, number: DeviceNumber) -> Option<usize> {
        match self.devices.find(number) {
            DeviceFile::Known(device) => Some(device),
            DeviceFile::New(device) => {
                let first = [FileAction::Add, FileAction::Open];
                self.pending.extend(first.map(|what| (device, LogAction::File(what))));
                Some(device)
            }
            DeviceFile::Missing => None,
        }
    }

    fn step(&mut self, device: usize, what: LogAction) -> Result<Option<ReplayStep>, StepError> {
        let name = self.devices.paths()[device].as_os_str().as_bytes();
        // Rounded to microseconds once, not with each wait.
        self.steps.wait(self.clock.waits_ns / 1000);
        let added = self.steps.add(&LogLine { time_us: 0, name, what });
        added.map_err(|problem| problem.in_line(self.trace.records()))
    }

    /// Closes all files.
    fn end(&mut self) -> Result<(), StepError> {
        self.has_ended = true;
        let missing = self.devices.missing();
        if !missing.is_empty() {
            let numbers: Vec<String> =
                missing.iter().map(|(major, minor)| format!("{major}:{minor}")).collect();
            return Err(IologReadError::NoDevice(numbers.join(", ")).into());
        }
        let close = |device| (device, LogAction::File(FileAction::Close));
        self.pending.extend((0..self.devices.paths().len()).map(close));
        Ok(())
    }
}

impl TraceClock {
    fn tick(&mut self, time_ns: u64) {
        if self.previous_ns > 0 {
            self.backward += u64::from(time_ns < self.previous_ns);
            self.waits_ns = self.waits_ns.saturating_add(time_ns.saturating_sub(self.previous_ns));
        }
        self.previous_ns = time_ns;
    }
}
