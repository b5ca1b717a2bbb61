//! Queues of requests, one per file. One request of each file is processed at a time.

use std::collections::VecDeque;

use ferrio_engine::Request;

/// Marks the end of a list.
const NO_UNIT: u32 = u32::MAX;

/// The queues, linked through the units, so that no memory is allocated per request.
pub(crate) struct RequestQueues {
    /// Indexed by unit: its request, and the next unit in the queue of the file.
    units: Box<[(Option<Request>, u32)]>,
    /// Indexed by file: first and last unit of its queue. The first one may be in progress.
    files: Vec<(u32, u32)>,
    /// Files with a request that can start.
    ready: VecDeque<u32>,
}

// SAFETY: of a request only `buffer` is not Send. By the contract of Request its bytes belong to the engine from submission until the
// completion is reaped, and no other request in flight uses them; the lock around this struct orders all accesses.
unsafe impl Send for RequestQueues {}

impl RequestQueues {
    /// Creates queues for requests of units below `iodepth`.
    pub(crate) fn new(iodepth: u32) -> Self {
        RequestQueues {
            units: vec![(None, NO_UNIT); iodepth as usize].into_boxed_slice(),
            files: Vec::new(),
            ready: VecDeque::with_capacity(iodepth as usize),
        }
    }

    /// Creates empty queues for `count` files.
    pub(crate) fn set_files(&mut self, count: usize) {
        self.files = vec![(NO_UNIT, NO_UNIT); count];
    }

    /// Appends a request to the queue of its file. True if it can start now.
    pub(crate) fn push(&mut self, request: Request) -> bool {
        let unit = request.unit;
        self.units[unit as usize] = (Some(request), NO_UNIT);
        let (first, last) = &mut self.files[request.file as usize];
        let before = std::mem::replace(last, unit);
        if *first == NO_UNIT {
            *first = unit;
            self.ready.push_back(request.file);
            return true;
        }
        self.units[before as usize].1 = unit;
        false
    }

    /// The next request that can start. It stays at the front of its queue until [`finish`](Self::finish).
    pub(crate) fn next(&mut self) -> Option<Request> {
        let file = self.ready.pop_front()?;
        let (first, _) = self.files[file as usize];
        self.units[first as usize].0
    }

    /// Ends the current request of `file`, so that the next one can start.
    pub(crate) fn finish(&mut self, file: u32) {
        let (first, last) = &mut self.files[file as usize];
        let (_, next) = self.units[*first as usize];
        *first = next;
        if next == NO_UNIT {
            *last = NO_UNIT;
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
        let mut waiting = RequestQueues::new(4);
        waiting.set_files(2);
        let can_start: Vec<bool> =
            [(3, 0), (1, 0), (0, 1), (2, 0)].map(|(unit, file)| waiting.push(request(unit, file))).to_vec();
        assert_eq!(can_start, [true, false, true, false]);
        let mut next = |finish: Option<u32>| {
            if let Some(file) = finish {
                waiting.finish(file);
            }
            waiting.next().map(|request| request.unit)
        };
        assert_eq!((next(None), next(None), next(None)), (Some(3), Some(0), None));
        assert_eq!((next(Some(0)), next(Some(1))), (Some(1), None));
        assert_eq!((next(Some(0)), next(Some(0))), (Some(2), None));
        assert!(waiting.push(request(2, 0)), "the list is empty again");
    }
}
