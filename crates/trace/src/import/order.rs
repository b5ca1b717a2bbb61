//! Sorts events by time within a window.
//!
//! Traces are nearly sorted: some are in the order of the ends of I/Os. Sorting all of it would take as much memory as the trace.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::event::{TraceEvent, TraceEventKind};

/// A window of events.
#[derive(Debug)]
pub struct SortWindow {
    window: usize,
    waiting: BinaryHeap<Reverse<WindowEntry>>,
    arrived: u64,
    last_ns: u64,
    late: u64,
}

/// An event, ordered by time and then by arrival; no two have arrived together.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct WindowEntry {
    time_ns: u64,
    arrived: u64,
    event: TraceEvent,
}

/// Most I/Os whose ends are tracked to find the number in flight. No job has a larger queue.
const MAX_IN_FLIGHT: usize = 65536;

impl SortWindow {
    /// Sorts within a window of this many events.
    pub fn new(window: usize) -> Self {
        SortWindow { window, waiting: BinaryHeap::new(), arrived: 0, last_ns: 0, late: 0 }
    }

    /// Adds an event, and returns the earliest one if the window is full.
    pub fn push(&mut self, event: TraceEvent) -> Option<TraceEvent> {
        self.waiting.push(Reverse(WindowEntry { time_ns: event.time_ns, arrived: self.arrived, event }));
        self.arrived += 1;
        if self.waiting.len() > self.window { self.pop() } else { None }
    }

    /// Removes the earliest event. One that came too late for the window gets the time of its predecessor.
    pub fn pop(&mut self) -> Option<TraceEvent> {
        let Reverse(WindowEntry { event, .. }) = self.waiting.pop()?;
        self.late += u64::from(event.time_ns < self.last_ns);
        self.last_ns = self.last_ns.max(event.time_ns);
        Some(TraceEvent { time_ns: self.last_ns, ..event })
    }

    /// Number of events that came too late for the window.
    pub fn late(&self) -> u64 {
        self.late
    }
}

/// Tracks the number of I/Os in flight.
#[derive(Debug, Default)]
pub struct QueueDepth {
    /// End times of the I/Os in flight.
    ends: BinaryHeap<Reverse<u64>>,
    deepest: u32,
}

impl QueueDepth {
    /// Most I/Os in flight at once; 0 if the trace has no durations.
    pub fn deepest(&self) -> u32 {
        self.deepest
    }

    /// Adds an I/O; they must come in the order of their times.
    pub fn follow(&mut self, event: &TraceEvent) {
        let (Some(took_ns), TraceEventKind::Io { .. }) = (event.took_ns, event.what) else { return };
        while self.ends.peek().is_some_and(|Reverse(end)| *end <= event.time_ns) {
            self.ends.pop();
        }
        if self.ends.len() < MAX_IN_FLIGHT {
            self.ends.push(Reverse(event.time_ns.saturating_add(took_ns)));
        }
        self.deepest = self.deepest.max(self.ends.len() as u32);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::IoAction;

    fn event(time_ns: u64, offset: u64, took_ns: Option<u64>) -> TraceEvent {
        let what = TraceEventKind::Io { action: IoAction::Read, offset, len: 1 };
        TraceEvent { time_ns, took_ns, pid: None, target: 0, what }
    }

    fn sorted(window: usize, times: &[u64]) -> (Vec<u64>, u64) {
        let mut order = SortWindow::new(window);
        let mut out: Vec<u64> =
            times.iter().filter_map(|&time| Some(order.push(event(time, 0, None))?.time_ns)).collect();
        out.extend(std::iter::from_fn(|| order.pop()).map(|event| event.time_ns));
        (out, order.late())
    }

    #[test]
    fn what_is_in_the_window_is_sorted_and_what_is_not_is_late() {
        assert_eq!(sorted(2, &[10, 30, 20, 40]), (vec![10, 20, 30, 40], 0));
        assert_eq!(sorted(1, &[10, 30, 20, 5, 40]), (vec![10, 20, 20, 30, 40], 1));
    }

    #[test]
    fn events_of_one_time_stay_in_their_order() {
        let mut order = SortWindow::new(8);
        (0..5).for_each(|at| assert!(order.push(event(7, at, None)).is_none()));
        let offsets: Vec<TraceEventKind> =
            std::iter::from_fn(|| order.pop()).map(|event| event.what).collect();
        let want = (0..5).map(|offset| TraceEventKind::Io { action: IoAction::Read, offset, len: 1 });
        assert!(offsets.into_iter().eq(want));
    }

    #[test]
    fn ios_in_flight_are_those_that_have_not_ended() {
        let mut depth = QueueDepth::default();
        for (time, took) in [(0, 100), (10, 50), (20, 10), (40, 10), (100, 10)] {
            depth.follow(&event(time, 0, Some(took)));
        }
        assert_eq!(depth.deepest(), 3);
    }

    proptest! {
        #[test]
        fn times_never_go_back_and_nothing_is_lost(times in prop::collection::vec(0..1000_u64, 0..200), window in 0..50_usize) {
            let (out, late) = sorted(window, &times);
            prop_assert_eq!(out.len(), times.len());
            prop_assert!(out.is_sorted());
            if window >= times.len() {
                let mut want = times;
                want.sort_unstable();
                prop_assert_eq!((out, late), (want, 0));
            }
        }
    }
}
