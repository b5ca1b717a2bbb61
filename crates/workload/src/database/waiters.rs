//! Sessions that wait for write-back, each until its turn.
//!
//! A session that is let through leaves the queue before it is woken and asks no more, so that none overtakes it and no wake-up is in vain.

use std::collections::VecDeque;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Release},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions that are let through before they are woken: the queue is not closed to others for long.
const AT_ONCE: usize = 16;

/// Those that wait.
#[derive(Debug)]
pub(super) struct Waiters {
    /// Their numbers in the order in which they go on, each with its place in it.
    queue: Mutex<VecDeque<(u64, u32)>>,
    /// Per session: it is in the queue.
    waits: Vec<AtomicBool>,
}

impl Waiters {
    /// None of so many sessions.
    pub(super) fn new(sessions: u32) -> Self {
        Waiters {
            queue: Mutex::new(VecDeque::with_capacity(sessions as usize)),
            waits: (0..sessions).map(|_| AtomicBool::new(false)).collect(),
        }
    }

    /// True if session number `thread` must wait, as it `may_go` not. Then it is in the queue, behind those with the same place.
    pub(super) fn must_wait(&self, thread: u32, place: u64, may_go: impl Fn() -> bool) -> bool {
        if may_go() {
            return false;
        }
        let Some(waits) = self.waits.get(thread as usize) else { return false };
        let mut queue = self.queue();
        // The reason may be gone since before the session was there to be let through.
        if may_go() {
            return false;
        }
        let behind = queue.partition_point(|&(other, _)| other <= place);
        queue.insert(behind, (place, thread));
        waits.store(true, Release);
        true
    }

    /// True until a session that must wait is let through.
    pub(super) fn waits(&self, thread: u32) -> bool {
        self.waits.get(thread as usize).is_some_and(|waits| waits.load(Acquire))
    }

    /// Lets through and wakes the sessions at the head of the queue, up to the first one that may not go.
    pub(super) fn let_through(&self, may_go: impl Fn(u32) -> bool, wake: &dyn Fn(u32)) {
        loop {
            let mut woken = [0; AT_ONCE];
            let mut count = 0;
            let mut queue = self.queue();
            while count < AT_ONCE
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
            if count < AT_ONCE {
                return;
            }
        }
    }

    /// A session waits no longer. The others keep their places.
    pub(super) fn leave(&self, thread: u32) {
        let mut queue = self.queue();
        queue.retain(|&(_, other)| other != thread);
        self.goes_on(thread);
    }

    fn goes_on(&self, thread: u32) {
        if let Some(waits) = self.waits.get(thread as usize) {
            waits.store(false, Release);
        }
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<(u64, u32)>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
