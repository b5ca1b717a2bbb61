//! Pages that transactions have changed: those that are not written back, and those that a checkpoint makes the log begin again with.
//!
//! A session waits until its own pages and all that were changed before them are few enough. So sessions go on in the order of their
//! changes, and no more of them after a batch than it has made room for.

use std::collections::VecDeque;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrio_job::PageWriteBack;

use super::buffer_pool::BufferPool;
use super::waiters::Waiters;

/// Most pages that the queue has room for from the start.
const MOST_ROOM: u64 = 1 << 16;

/// The pages that are changed and not written back.
#[derive(Debug)]
pub(super) struct DirtyPages {
    most: u64,
    /// Pages that are waiting when the cleaner begins: no more than keep transactions going.
    batch: u64,
    /// Whether a full batch is enough to begin.
    at_once: bool,
    queue: Mutex<VecDeque<u64>>,
    /// Pages in the queue.
    waiting: AtomicU64,
    /// Pages changed so far. Less those written back, they are those in the queue and those that are being written.
    changed: AtomicU64,
    /// Pages written back so far.
    written: AtomicU64,
    /// Per session: pages changed so far when it had changed its last one.
    places: Vec<AtomicU64>,
    /// Bytes of the log after which there is a checkpoint.
    checkpoint_log: Option<u64>,
    /// Where the log ended when the last checkpoint began.
    checkpoint: AtomicU64,
    pub(super) waiters: Waiters,
}

impl DirtyPages {
    pub(super) fn new(write_back: &PageWriteBack, sessions: u32) -> Self {
        let room = u64::from(sessions) * u64::from(write_back.changed) + u64::from(write_back.most_dirty);
        DirtyPages {
            most: write_back.most_dirty.into(),
            batch: write_back.batch.max(1).into(),
            at_once: write_back.interval.is_zero(),
            queue: Mutex::new(VecDeque::with_capacity(room.min(MOST_ROOM) as usize)),
            waiting: AtomicU64::new(0),
            changed: AtomicU64::new(0),
            written: AtomicU64::new(0),
            places: (0..sessions).map(|_| AtomicU64::new(0)).collect(),
            checkpoint_log: write_back.checkpoint.log,
            checkpoint: AtomicU64::new(0),
            waiters: Waiters::new(sessions),
        }
    }

    /// A transaction of session number `thread` has changed these pages. With a pool, a page that is in the queue is not put there again.
    pub(super) fn add(&self, thread: u32, pages: &[u64], pool: Option<&BufferPool>) {
        let mut queue = lock(&self.queue);
        let before = queue.len();
        match pool {
            None => queue.extend(pages),
            Some(pool) => queue.extend(pages.iter().filter(|&&page| pool.change(page))),
        }
        self.waiting.store(queue.len() as u64, Release);
        let added = (queue.len() - before) as u64;
        let changed = self.changed.fetch_add(added, AcqRel) + added;
        if let Some(place) = self.places.get(thread as usize) {
            place.store(changed, Relaxed);
        }
    }

    /// Moves pages from the queue to `pages`, `most` of them at most.
    pub(super) fn take(&self, most: u64, pages: &mut Vec<u64>, pool: Option<&BufferPool>) {
        let mut queue = lock(&self.queue);
        let count = usize::try_from(most).unwrap_or(usize::MAX).min(queue.len());
        let begin = pages.len();
        pages.extend(queue.drain(..count));
        self.waiting.store(queue.len() as u64, Release);
        if let Some(pool) = pool {
            pages[begin..].iter().for_each(|&page| pool.clean(page));
        }
    }

    /// Pages in the queue.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.load(Acquire)
    }

    /// True if the cleaner begins without regard to time: a batch is full, or sessions wait for what is less than a batch.
    pub(super) fn has_batch(&self) -> bool {
        let waiting = self.waiting();
        (self.at_once && waiting >= self.batch) || (waiting > 0 && self.are_too_many())
    }

    fn are_too_many(&self) -> bool {
        // In this order: what is written back was changed before.
        let written = self.written.load(Acquire);
        self.changed.load(Acquire) - written > self.most
    }

    /// Pages changed so far when a session had changed its last one.
    fn place(&self, thread: u32) -> u64 {
        self.places.get(thread as usize).map_or(0, |place| place.load(Relaxed))
    }

    /// True once no more pages than may be are dirty of those that were changed up to this place.
    fn may_go(&self, place: u64) -> bool {
        place <= self.written.load(Acquire).saturating_add(self.most)
    }

    /// True if a session must wait, which is then in the queue of the waiters.
    pub(super) fn must_wait(&self, thread: u32) -> bool {
        let place = self.place(thread);
        self.waiters.must_wait(thread, place, || self.may_go(place))
    }

    /// So many pages are in their places.
    pub(super) fn written_back(&self, count: u32, wake: &dyn Fn(u32)) {
        self.written.fetch_add(count.into(), AcqRel);
        self.waiters.let_through(|thread| self.may_go(self.place(thread)), wake);
    }

    /// A checkpoint begins where the log ends.
    pub(super) fn begin_checkpoint(&self, log_end: u64) {
        self.checkpoint.store(log_end, Relaxed);
    }

    /// True if enough has been appended since the last checkpoint began.
    pub(super) fn is_checkpoint_due(&self, log_end: u64) -> bool {
        self.checkpoint_log.is_some_and(|bytes| self.log_since_checkpoint(log_end) >= bytes)
    }

    /// Bytes appended since the last checkpoint began.
    pub(super) fn log_since_checkpoint(&self, log_end: u64) -> u64 {
        log_end.saturating_sub(self.checkpoint.load(Relaxed))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A bit for each page: it was changed since the last checkpoint.
#[derive(Debug)]
pub(super) struct FullPages {
    changed: Vec<AtomicU64>,
}

impl FullPages {
    pub(super) fn new(pages: u64) -> Self {
        let words = usize::try_from(pages.div_ceil(64)).unwrap_or(usize::MAX);
        FullPages { changed: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// A page is changed. True if that is the first time since the last checkpoint.
    pub(super) fn is_first_change(&self, page: u64) -> bool {
        let bit = 1 << (page % 64);
        let Some(word) = self.changed.get((page / 64) as usize) else { return false };
        word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
    }

    /// A checkpoint begins.
    pub(super) fn clear(&self) {
        self.changed.iter().for_each(|word| word.store(0, Relaxed));
    }
}
