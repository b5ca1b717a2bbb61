//! Group commit: the transactions that one sync of the log makes durable, and the session that does the sync.
//!
//! A transaction takes a ticket when its last append has ended. One sync of the log is in progress at a time; it covers the tickets taken
//! before it began. It is done by the session that finds none in progress; when it ends, the first of the remaining sessions is woken for
//! the next.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

use crate::lock::lock;

/// Sessions that are taken from the queue before they are woken.
const WAKE_BATCH: usize = 16;

/// The transactions that wait for a sync.
#[derive(Debug)]
pub struct GroupCommit {
    /// Maximum number of transactions that a sync covers.
    max_per_sync: usize,
    /// All tickets up to this one are durable.
    durable: AtomicU64,
    queue: Mutex<TicketQueue>,
}

#[derive(Debug)]
struct TicketQueue {
    /// Number of tickets so far.
    taken: u64,
    /// Whether a sync is in progress.
    syncing: bool,
    /// Tickets that are not durable, with their jobs.
    waiting: VecDeque<(u64, u32)>,
}

/// The next action of a session that waits until it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitTurn {
    /// Continues: the transaction is durable.
    Durable,
    /// Syncs the log for all tickets up to this one, then calls [`GroupCommit::synced`].
    Sync(u64),
    /// Waits until it is woken.
    Wait,
}

impl GroupCommit {
    pub(crate) fn new(group: u32, sessions: u32) -> Self {
        let waiting = VecDeque::with_capacity(sessions as usize);
        GroupCommit {
            max_per_sync: if group == 0 { usize::MAX } else { group as usize },
            durable: AtomicU64::new(0),
            queue: Mutex::new(TicketQueue { taken: 0, syncing: false, waiting }),
        }
    }

    /// Returns a ticket to job number `job`, whose appends have ended.
    pub fn arrive(&self, job: u32) -> u64 {
        let mut queue = lock(&self.queue);
        queue.taken += 1;
        let ticket = queue.taken;
        queue.waiting.push_back((ticket, job));
        ticket
    }

    /// The next action of the session with this ticket.
    pub fn turn(&self, ticket: u64) -> CommitTurn {
        if self.durable.load(Acquire) >= ticket {
            return CommitTurn::Durable;
        }
        let mut queue = lock(&self.queue);
        if self.durable.load(Acquire) >= ticket {
            return CommitTurn::Durable;
        }
        if queue.syncing {
            return CommitTurn::Wait;
        }
        let served = queue.waiting.len().min(self.max_per_sync);
        let Some(&(upto, _)) = served.checked_sub(1).and_then(|last| queue.waiting.get(last)) else {
            return CommitTurn::Wait;
        };
        queue.syncing = true;
        CommitTurn::Sync(upto)
    }

    /// Ends the sync for all tickets up to this one. Wakes the session that does the next sync, then those that are durable now: a few at a
    /// time, so that the queue is not locked for long.
    pub fn synced(&self, upto: u64, wake: &dyn Fn(u32)) {
        let mut queue = lock(&self.queue);
        self.durable.store(upto, Release);
        queue.syncing = false;
        let next = queue.waiting.partition_point(|&(ticket, _)| ticket <= upto);
        if let Some(&(_, job)) = queue.waiting.get(next) {
            wake(job);
        }
        loop {
            let mut served = [0; WAKE_BATCH];
            let mut count = 0;
            while count < WAKE_BATCH
                && let Some(&(ticket, job)) = queue.waiting.front()
                && ticket <= upto
            {
                queue.waiting.pop_front();
                served[count] = job;
                count += 1;
            }
            drop(queue);
            served[..count].iter().for_each(|&job| wake(job));
            if count < WAKE_BATCH {
                return;
            }
            queue = lock(&self.queue);
        }
    }

    /// Ends the wait of the session with this ticket.
    pub fn leave(&self, ticket: u64, wake: &dyn Fn(u32)) {
        let mut queue = lock(&self.queue);
        queue.waiting.retain(|&(other, _)| other != ticket);
        // It may have been woken for the next sync.
        if let Some(&(_, job)) = queue.waiting.front().filter(|_| !queue.syncing) {
            wake(job);
        }
    }
}
