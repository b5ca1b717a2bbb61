//! The slots of a job's queue: which hold an I/O in flight, which are free, which wait to reach the kernel. The number of a slot is the
//! `unit` of its request.

use std::collections::VecDeque;

use ferrio_engine::{Completion, Op, Request};

/// One I/O in flight, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct InFlightIo {
    pub(super) request: Request,
    /// Index of the direction; meaningless for syncs.
    pub(super) direction: usize,
    /// Ticks when the I/O was ready to be submitted.
    pub(super) start: u64,
    /// Ticks when the I/O was handed to the kernel.
    pub(super) issued: u64,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<InFlightIo>() == 64);

/// The I/O slots (units) of a job, and the state of each.
#[derive(Debug)]
pub(super) struct Slots {
    /// I/Os that may be in flight now. Units that are being checked do not count.
    pub(super) depth: u32,
    pub(super) units: Vec<InFlightIo>,
    /// Free units, as a stack.
    pub(super) free: Vec<u32>,
    /// Accepted by the engine, not yet handed to the kernel.
    pub(super) queued: Vec<u32>,
    /// Requests to submit before new ones: the rest of short transfers, and requests that a full engine refused.
    pub(super) retry: VecDeque<u32>,
    /// Completions that the engine reaped last.
    pub(super) completions: Vec<Completion>,
    /// Syncs among the units that are not free.
    pub(super) syncs: u32,
    /// Units that the present depth excludes, for a job that varies its depth.
    above_depth: Vec<u32>,
    /// Whether a checker thread has the data of a unit; such a unit is neither free nor busy.
    checking: Vec<bool>,
}

impl Slots {
    /// Slots that are all free. Allocates everything that the loop needs.
    pub(super) fn new(depth: u32) -> Self {
        let no_request = Request {
            op: Op::Read,
            unit: 0,
            file: 0,
            len: 0,
            priority: 0,
            offset: 0,
            buffer: std::ptr::null_mut(),
        };
        let room = depth as usize;
        Slots {
            depth,
            units: vec![InFlightIo { request: no_request, direction: 0, start: 0, issued: 0 }; room],
            free: (0..depth).collect(),
            queued: Vec::with_capacity(room),
            retry: VecDeque::with_capacity(room),
            completions: Vec::with_capacity(room),
            syncs: 0,
            above_depth: Vec::new(),
            checking: vec![false; room],
        }
    }

    /// The unit that the next request uses. There must be a free one.
    #[inline(always)]
    pub(super) fn next_unit(&self) -> u32 {
        self.free[self.free.len() - 1]
    }

    /// Number of units that the engine or the kernel holds.
    #[inline]
    pub(super) fn submitted(&self) -> u32 {
        self.depth - self.free.len() as u32 - self.retry.len() as u32
    }

    /// True when nothing is in flight and nothing waits.
    pub(super) fn is_idle(&self) -> bool {
        self.free.len() == self.depth as usize
    }

    /// Data I/Os that were issued and not completed.
    pub(super) fn data_in_flight(&self) -> u64 {
        u64::from(self.depth) - self.free.len() as u64 - u64::from(self.syncs)
    }

    /// Records that the engine accepted the request of `unit`, which must be the next unit.
    #[inline(always)]
    pub(super) fn accept(&mut self, unit: u32, io: InFlightIo) {
        debug_assert_eq!(self.free.last(), Some(&unit));
        self.units[unit as usize] = io;
        self.free.pop();
        self.queued.push(unit);
    }

    /// Records that a full engine refused the request of `unit`, which must be the next unit: it is submitted again before any other.
    pub(super) fn hold_back(&mut self, unit: u32, io: InFlightIo) {
        self.units[unit as usize] = io;
        self.free.pop();
        self.retry.push_front(unit);
    }

    /// Marks `unit`, which must be the next unit, as held by a checker thread.
    pub(super) fn hand_to_checker(&mut self, unit: u32) {
        debug_assert_eq!(self.free.last(), Some(&unit));
        self.free.pop();
        self.checking[unit as usize] = true;
        self.depth -= 1;
    }

    /// Frees a unit whose data was checked.
    pub(super) fn return_from_checker(&mut self, unit: u32) {
        self.checking[unit as usize] = false;
        self.depth += 1;
        self.free.push(unit);
    }

    /// Makes a free unit the next one to use.
    pub(super) fn use_next(&mut self, unit: u32) {
        if let Some(at) = self.free.iter().position(|&free| free == unit) {
            self.free.remove(at);
            self.free.push(unit);
        }
    }

    /// I/Os per direction and syncs that were issued and have not ended.
    pub(super) fn in_flight(&self) -> ([u64; 3], u64) {
        let (mut ios, mut syncs) = ([0; 3], 0);
        for unit in self.busy() {
            if is_data(unit.request.op) {
                ios[unit.direction] += 1;
            } else {
                syncs += 1;
            }
        }
        (ios, syncs)
    }

    /// True when a request to a file is in flight or waits to be submitted.
    pub(super) fn has_request_to(&self, file: u32) -> bool {
        !self.is_idle() && self.busy().any(|unit| unit.request.file == file)
    }

    /// I/Os that were issued, or wait to be submitted again, and have not ended.
    fn busy(&self) -> impl Iterator<Item = &InFlightIo> {
        let mut busy = vec![true; self.units.len()];
        self.free.iter().chain(&self.above_depth).for_each(|&unit| busy[unit as usize] = false);
        self.checking.iter().zip(&mut busy).for_each(|(&checking, busy)| *busy &= !checking);
        self.units.iter().zip(busy).filter_map(|(unit, busy)| busy.then_some(unit))
    }

    /// Limits the number of I/Os in flight to `depth`. Nothing may be in flight when the depth is lowered.
    pub(super) fn set_depth(&mut self, depth: u32) {
        let depth = depth.min(self.units.len() as u32);
        // The units used last stay on top of the stack.
        if depth < self.depth {
            let surplus = ((self.depth - depth) as usize).min(self.free.len());
            self.above_depth.extend(self.free.drain(..surplus).rev());
        } else {
            let kept = self.above_depth.len() - (depth - self.depth) as usize;
            let more: Vec<u32> = self.above_depth.drain(kept..).collect();
            self.free.splice(0..0, more);
        }
        self.depth = depth;
    }
}

/// True for an I/O that is counted for a direction, false for syncs.
#[inline]
pub(super) fn is_data(op: Op) -> bool {
    matches!(op, Op::Read | Op::Write | Op::Trim)
}
