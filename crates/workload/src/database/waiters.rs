//! Sessions that wait for write-back, in the order of their turns.
//!
//! A session that is released leaves the queue before it is woken and asks no more, so that no session overtakes it and no wake-up is in
//! vain.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};

use crate::lock::lock;

/// Sessions that are released before they are woken: the queue is not locked for long.
const WAKE_BATCH: usize = 16;

/// The waiting sessions.
#[derive(Debug)]
pub(super) struct Waiters {
    /// Numbers of the sessions in the order of their release, each with its place.
    queue: Mutex<VecDeque<(u64, u32)>>,
    /// Whether each session is in the queue.
    waits: Vec<AtomicBool>,
}

impl Waiters {
    /// An empty queue for this many sessions.
    pub(super) fn new(sessions: u32) -> Self {
        Waiters {
            queue: Mutex::new(VecDeque::with_capacity(sessions as usize)),
            waits: (0..sessions).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// Whether session number `thread` must wait because it is not true that it `may_go`. Then it is in the queue, after those with the
    /// same place.
    pub(super) fn must_wait(&self, thread: u32, place: u64, may_go: impl Fn() -> bool) -> bool {
        if may_go() {
            return false;
        }
        let Some(waits) = self.waits.get(thread as usize) else { return false };
        let mut queue = lock(&self.queue);
        // The reason may have gone before the session was in the queue and could be released.
        if may_go() {
            return false;
        }
        let behind = queue.partition_point(|&(other, _)| other <= place);
        queue.insert(behind, (place, thread));
        waits.store(true, Release);
        true
    }

    /// Whether a session that must wait has not been released.
    pub(super) fn waits(&self, thread: u32) -> bool {
        self.waits.get(thread as usize).is_some_and(|waits| waits.load(Acquire))
    }

    /// Releases and wakes the sessions at the head of the queue, up to the first one that may not continue.
    pub(super) fn let_through(&self, may_go: impl Fn(u32) -> bool, wake: &dyn Fn(u32)) {
        loop {
            let mut woken = [0; WAKE_BATCH];
            let mut count = 0;
            let mut queue = lock(&self.queue);
            while count < WAKE_BATCH
                && let Some(&(_, thread)) = queue.front()
                && may_go(thread)
            {
                queue.pop_front();
                self.goes_on(thread);
                woken[count] = thread;
                count += 1;
            }
            drop(queue);
            woken[..count].iter().for_each(|&thread| wake(thread));
            if count < WAKE_BATCH {
                return;
            }
        }
    }

    /// Ends the wait of a session. The others keep their places.
    pub(super) fn leave(&self, thread: u32) {
        let mut queue = lock(&self.queue);
        queue.retain(|&(_, other)| other != thread);
        self.goes_on(thread);
    }

    fn goes_on(&self, thread: u32) {
        if let Some(waits) = self.waits.get(thread as usize) {
            waits.store(false, Release);
        }
    }
}
