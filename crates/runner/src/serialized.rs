//! An engine that holds back what overlaps an I/O in flight: `serialize_overlap=1`.
//!
//! It wraps any engine with a queue and answers that it is full as long as the range of a request is in use, so that the loop reaps
//! and tries again. Ranges in flight never overlap each other: they are kept in order, and a look at the two neighbours of a new
//! one tells. A look costs a binary search, an entry moves those behind it by 24 bytes each: at a depth of some thousands
//! that is still below 2 µs. Nothing allocates.

use std::io;
use std::time::Duration;

use ferrio_engine::{Buffers, Completion, Engine, EngineError, FileSet, Op, OpenFile, Ran, Request, Submit};
use ferrio_plan::JobSpec;
use ferrio_stats::Usage;

/// Bytes of a file that an I/O in flight touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Range {
    file: u32,
    start: u64,
    /// First byte after it.
    end: u64,
}

impl Range {
    /// The range of a request; syncs have none.
    fn of(request: &Request) -> Option<Range> {
        let Request { op, file, offset, len, .. } = *request;
        let touches = matches!(op, Op::Read | Op::Write | Op::Trim) && len > 0;
        touches.then(|| Range { file, start: offset, end: offset.saturating_add(len.into()) })
    }
}

/// Ranges in flight, in order.
#[derive(Debug)]
struct Ranges {
    sorted: Vec<Range>,
    /// The range of each unit.
    units: Vec<Option<Range>>,
}

impl Ranges {
    fn new(units: u32) -> Self {
        Ranges { sorted: Vec::with_capacity(units as usize), units: vec![None; units as usize] }
    }

    /// Where `range` belongs, unless one in flight overlaps it.
    fn place(&self, range: Range) -> Option<usize> {
        let place =
            self.sorted.partition_point(|other| (other.file, other.start) < (range.file, range.start));
        let before = place.checked_sub(1).and_then(|before| self.sorted.get(before));
        let overlaps = before.is_some_and(|before| before.file == range.file && before.end > range.start)
            || self.sorted.get(place).is_some_and(|next| next.file == range.file && next.start < range.end);
        (!overlaps).then_some(place)
    }

    fn insert(&mut self, place: usize, unit: u32, range: Range) {
        self.sorted.insert(place, range);
        self.units[unit as usize] = Some(range);
    }

    fn remove(&mut self, unit: u32) {
        let Some(range) = self.units[unit as usize].take() else { return };
        if let Ok(place) = self.sorted.binary_search(&range) {
            self.sorted.remove(place);
        }
    }
}

/// Engine `E`, which never has two I/Os in flight that touch the same byte; or all it is given, if the job does not ask for that.
pub(crate) struct Serialized<E> {
    engine: E,
    ranges: Option<Ranges>,
}

impl<E> Serialized<E> {
    fn release(&mut self, done: &[Completion]) {
        if let Some(ranges) = &mut self.ranges {
            done.iter().for_each(|completion| ranges.remove(completion.unit));
        }
    }
}

impl<E: Engine> Engine for Serialized<E> {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        let ranges = spec.serialize_overlap.then(|| Ranges::new(spec.units()));
        Ok(Serialized { engine: E::open(spec, buffers)?, ranges })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.engine.attach(files)
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.engine.attach_one(index, file)
    }

    fn submit(&mut self, request: &Request) -> Submit {
        let (Some(ranges), Some(range)) = (&mut self.ranges, Range::of(request)) else {
            return self.engine.submit(request);
        };
        let Some(place) = ranges.place(range) else { return Submit::Full };
        let outcome = self.engine.submit(request);
        if outcome == Submit::Queued {
            ranges.insert(place, request.unit, range);
        }
        outcome
    }

    fn flush(&mut self) -> io::Result<u32> {
        self.engine.flush()
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let before = done.len();
        let reaped = self.engine.reap(min, max, done);
        self.release(&done[before..]);
        reaped
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        let before = done.len();
        let reaped = self.engine.reap_within(timeout, max, done);
        self.release(&done[before..]);
        reaped
    }

    fn ran(&self, unit: u32) -> Option<Ran> {
        self.engine.ran(unit)
    }

    fn usage(&mut self) -> Usage {
        self.engine.usage()
    }

    fn notes(&mut self) -> Vec<String> {
        self.engine.notes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(file: u32, start: u64, end: u64) -> Range {
        Range { file, start, end }
    }

    fn enter(ranges: &mut Ranges, unit: u32, range: Range) -> bool {
        let place = ranges.place(range);
        if let Some(place) = place {
            ranges.insert(place, unit, range);
        }
        place.is_some()
    }

    #[test]
    fn ranges_that_share_a_byte_of_a_file_exclude_each_other() {
        let mut ranges = Ranges::new(8);
        assert!(enter(&mut ranges, 0, range(1, 100, 200)));
        for (start, end) in [(0, 101), (100, 200), (120, 130), (199, 300), (0, 1000)] {
            assert!(!enter(&mut ranges, 1, range(1, start, end)), "{start}..{end}");
        }
        assert!(enter(&mut ranges, 1, range(1, 0, 100)), "up to it");
        assert!(enter(&mut ranges, 2, range(1, 200, 300)), "right behind it");
        assert!(enter(&mut ranges, 3, range(0, 100, 200)), "another file");
        ranges.remove(0);
        assert!(enter(&mut ranges, 0, range(1, 120, 130)));
    }

    #[test]
    fn the_order_agrees_with_looking_at_every_range() {
        let mut state = 7_u64;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut ranges = Ranges::new(32);
        for _ in 0..20_000 {
            let unit = draw(32) as u32;
            if ranges.units[unit as usize].is_some() {
                ranges.remove(unit);
                continue;
            }
            let start = draw(200);
            let new = range(draw(2) as u32, start, start + 1 + draw(16));
            let in_flight: Vec<Range> = ranges.units.iter().flatten().copied().collect();
            let free = in_flight
                .iter()
                .all(|other| other.file != new.file || other.end <= new.start || new.end <= other.start);
            assert_eq!(enter(&mut ranges, unit, new), free, "{new:?} among {in_flight:?}");
        }
    }
}
