//! Requests that wait for a thread: one list per file, of which one request at a time is in work.

use std::collections::VecDeque;

use ferrio_engine::Request;

/// No unit.
const NONE: u32 = u32::MAX;

/// The lists. They are linked through the units, so that nothing is allocated per request.
pub(crate) struct Waiting {
    /// One per unit: its request and the unit that follows in the list of the file.
    units: Box<[(Option<Request>, u32)]>,
    /// One per file: first and last unit of its list. The first one may be in work.
    files: Vec<(u32, u32)>,
    /// Files with a request that can start.
    ready: VecDeque<u32>,
}

// SAFETY: of a request only `buffer` is not Send. By the contract of Request its bytes belong to the engine from submission until the
// completion is reaped, and no other request in flight uses them; the lock around this struct orders all accesses.
unsafe impl Send for Waiting {}

impl Waiting {
    /// For requests of units below `iodepth`.
    pub(crate) fn new(iodepth: u32) -> Self {
        Waiting {
            units: vec![(None, NONE); iodepth as usize].into_boxed_slice(),
            files: Vec::new(),
            ready: VecDeque::with_capacity(iodepth as usize),
        }
    }

    /// Room for this many files; nothing waits.
    pub(crate) fn set_files(&mut self, count: usize) {
        self.files = vec![(NONE, NONE); count];
    }

    /// Appends a request to the list of its file. True if it can start now.
    pub(crate) fn push(&mut self, request: Request) -> bool {
        let unit = request.unit;
        self.units[unit as usize] = (Some(request), NONE);
        let (first, last) = &mut self.files[request.file as usize];
        let before = std::mem::replace(last, unit);
        if *first == NONE {
            *first = unit;
            self.ready.push_back(request.file);
            return true;
        }
        self.units[before as usize].1 = unit;
        false
    }

    /// A request that can start; it stays first in its list until it has [`ended`](Self::ended).
    pub(crate) fn next(&mut self) -> Option<Request> {
        let file = self.ready.pop_front()?;
        let (first, _) = self.files[file as usize];
        self.units[first as usize].0
    }

    /// The request in work of this file has ended: the next one can start.
    pub(crate) fn ended(&mut self, file: u32) {
        let (first, last) = &mut self.files[file as usize];
        let (_, next) = self.units[*first as usize];
        *first = next;
        if next == NONE {
            *last = NONE;
        } else {
            self.ready.push_back(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_engine::Op;

    fn request(unit: u32, file: u32) -> Request {
        Request { op: Op::Read, unit, file, len: 512, priority: 0, offset: 0, buffer: std::ptr::null_mut() }
    }

    #[test]
    fn requests_of_a_file_start_one_after_the_other_and_files_do_not_wait_for_each_other() {
        let mut waiting = Waiting::new(4);
        waiting.set_files(2);
        let can_start: Vec<bool> =
            [(3, 0), (1, 0), (0, 1), (2, 0)].map(|(unit, file)| waiting.push(request(unit, file))).to_vec();
        assert_eq!(can_start, [true, false, true, false]);
        let mut next = |ended: Option<u32>| {
            if let Some(file) = ended {
                waiting.ended(file);
            }
            waiting.next().map(|request| request.unit)
        };
        assert_eq!((next(None), next(None), next(None)), (Some(3), Some(0), None));
        assert_eq!((next(Some(0)), next(Some(1))), (Some(1), None));
        assert_eq!((next(Some(0)), next(Some(0))), (Some(2), None));
        assert!(waiting.push(request(2, 0)), "the list is empty again");
    }
}
