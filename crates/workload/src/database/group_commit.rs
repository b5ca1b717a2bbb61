//! Group commit: which transactions a sync of the log makes durable, and who does it.
//!
//! A transaction takes a ticket when its last append has ended. One sync of the log is under way at a time; it serves those that had their
//! ticket before it began. It is done by the session that finds none under way; when it ends, the first of those left is woken for the next.

use std::collections::VecDeque;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Sessions that are taken from the queue before they are woken.
const AT_ONCE: usize = 16;

/// The transactions that wait for a sync.
#[derive(Debug)]
pub struct GroupCommit {
    /// Most of them that a sync serves.
    most: usize,
    /// All tickets up to this one are durable.
    durable: AtomicU64,
    queue: Mutex<Queue>,
}

#[derive(Debug)]
struct Queue {
    /// Tickets so far.
    taken: u64,
    /// A sync is under way.
    syncing: bool,
    /// Tickets that are not durable, and the jobs that have them.
    waiting: VecDeque<(u64, u32)>,
}

/// What a session does that waits until it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Goes on: it is.
    Durable,
    /// Syncs the log for all up to this ticket, then calls [`GroupCommit::synced`].
    Sync(u64),
    /// Waits until it is woken.
    Wait,
}

impl GroupCommit {
    pub(crate) fn new(group: u32, sessions: u32) -> Self {
        let waiting = VecDeque::with_capacity(sessions as usize);
        GroupCommit {
            most: if group == 0 { usize::MAX } else { group as usize },
            durable: AtomicU64::new(0),
            queue: Mutex::new(Queue { taken: 0, syncing: false, waiting }),
        }
    }

    /// A ticket for job number `thread`, whose appends have ended.
    pub fn arrive(&self, thread: u32) -> u64 {
        let mut queue = self.queue();
        queue.taken += 1;
        let ticket = queue.taken;
        queue.waiting.push_back((ticket, thread));
        ticket
    }

    /// What the session with this ticket does.
    pub fn turn(&self, ticket: u64) -> Turn {
        if self.durable.load(Acquire) >= ticket {
            return Turn::Durable;
        }
        let mut queue = self.queue();
        if self.durable.load(Acquire) >= ticket {
            return Turn::Durable;
        }
        if queue.syncing {
            return Turn::Wait;
        }
        let served = queue.waiting.len().min(self.most);
        let Some(&(upto, _)) = served.checked_sub(1).and_then(|last| queue.waiting.get(last)) else {
            return Turn::Wait;
        };
        queue.syncing = true;
        Turn::Sync(upto)
    }

    /// The sync for all up to this ticket has ended. Wakes the session that does the next, then those that this one has served: few at a time,
    /// so that the queue is not closed to others for long.
    pub fn synced(&self, upto: u64, wake: &dyn Fn(u32)) {
        let mut queue = self.queue();
        self.durable.store(upto, Release);
        queue.syncing = false;
        let next = queue.waiting.partition_point(|&(ticket, _)| ticket <= upto);
        if let Some(&(_, thread)) = queue.waiting.get(next) {
            wake(thread);
        }
        loop {
            let mut served = [0; AT_ONCE];
            let mut count = 0;
            while count < AT_ONCE
                && let Some(&(ticket, thread)) = queue.waiting.front()
                && ticket <= upto
            {
                queue.waiting.pop_front();
                served[count] = thread;
                count += 1;
            }
            drop(queue);
            served[..count].iter().for_each(|&thread| wake(thread));
            if count < AT_ONCE {
                return;
            }
            queue = self.queue();
        }
    }

    /// The session with this ticket waits no longer.
    pub fn leave(&self, ticket: u64, wake: &dyn Fn(u32)) {
        let mut queue = self.queue();
        queue.waiting.retain(|&(other, _)| other != ticket);
        // It may have been woken for the next sync.
        if let Some(&(_, thread)) = queue.waiting.front().filter(|_| !queue.syncing) {
            wake(thread);
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
