//! Pages that transactions have changed: those not written back, and those whose next change is logged as a whole page after a checkpoint.
//!
//! A session waits until its own changed pages and all earlier ones are few enough. So sessions continue in the order of their changes, and
//! no more of them after a batch than it has made room for. A session also waits while the log is full: until a checkpoint has ended that
//! began late enough for the log to have room again.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
};

use ferrio_job::{Database, PageWriteBack};

use super::buffer_pool::BufferPool;
use super::log::Append;
use super::waiters::Waiters;
use crate::lock::lock;

/// Most pages for which the queue allocates room at the start.
const MAX_ROOM: u64 = 1 << 16;

/// The pages that are changed and not written back.
#[derive(Debug)]
pub(super) struct DirtyPages {
    most: u64,
    /// Waiting pages at which the cleaner begins: no more than transactions can afford to wait for.
    batch: u64,
    /// Whether a full batch suffices to begin.
    at_once: bool,
    queue: Mutex<VecDeque<u64>>,
    /// Pages in the queue.
    waiting: AtomicU64,
    /// Pages changed so far. Minus those written back, these are the pages in the queue and those being written.
    changed: AtomicU64,
    /// Pages written back so far.
    written: AtomicU64,
    sessions: Vec<SessionProgress>,
    /// Bytes of the log after which a checkpoint follows.
    checkpoint_log: Option<u64>,
    /// Bytes of the log that checkpoints may leave; `None` if the log is never full.
    full_log: Option<u64>,
    /// End of the log when the last checkpoint began.
    checkpoint: AtomicU64,
    /// Start of the log that this checkpoint leaves: earlier changes are written back when it ends.
    left_from: AtomicU64,
    /// `left_from` of the last checkpoint that has ended.
    covered: AtomicU64,
    pub(super) waiters: Waiters,
}

/// The progress of a session.
#[derive(Debug)]
struct SessionProgress {
    /// Number of changed pages after its last change.
    changed: AtomicU64,
    /// End of the log at that time.
    log: AtomicU64,
    /// A place in the log at or before the first append of the transaction whose changes are not in the queue; [`u64::MAX`] if there is
    /// none.
    appends_from: AtomicU64,
}

impl DirtyPages {
    pub(super) fn new(write_back: &PageWriteBack, database: &Database) -> Self {
        let sessions = database.sessions;
        let room =
            u64::from(sessions).saturating_mul(write_back.most_changed()) + u64::from(write_back.most_dirty);
        DirtyPages {
            most: write_back.most_dirty.into(),
            batch: write_back.batch.max(1).into(),
            at_once: write_back.interval.is_zero(),
            queue: Mutex::new(VecDeque::with_capacity(room.min(MAX_ROOM) as usize)),
            waiting: AtomicU64::new(0),
            changed: AtomicU64::new(0),
            written: AtomicU64::new(0),
            sessions: (0..sessions).map(|_| SessionProgress::new()).collect(),
            checkpoint_log: write_back.checkpoint.log,
            full_log: database.full_log(),
            checkpoint: AtomicU64::new(0),
            left_from: AtomicU64::new(0),
            covered: AtomicU64::new(0),
            waiters: Waiters::new(sessions),
        }
    }

    /// Notes that a transaction of session number `thread` begins to append at the end of the log.
    pub(super) fn begin_appends(&self, thread: u32, log_end: u64) {
        if let Some(session) = self.sessions.get(thread as usize) {
            session.appends_from.store(log_end, SeqCst);
        }
    }

    /// Adds the pages that a transaction of session number `thread` has changed; the log ends at `log_end`. With a pool, a page that is
    /// already in the queue is not added again.
    pub(super) fn add(&self, thread: u32, pages: &[u64], log_end: u64, pool: Option<&BufferPool>) {
        let mut queue = lock(&self.queue);
        let before = queue.len();
        match pool {
            None => queue.extend(pages),
            Some(pool) => queue.extend(pages.iter().filter(|&&page| pool.change(page))),
        }
        self.waiting.store(queue.len() as u64, Release);
        let added = (queue.len() - before) as u64;
        let changed = self.changed.fetch_add(added, AcqRel) + added;
        if let Some(session) = self.sessions.get(thread as usize) {
            session.changed.store(changed, Relaxed);
            session.log.store(log_end, Relaxed);
            session.appends_from.store(u64::MAX, SeqCst);
        }
    }

    /// Moves up to `most` pages from the queue to `pages`.
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

    /// Whether the cleaner begins without regard to time: a batch is full, or sessions wait for less than a batch.
    pub(super) fn has_batch(&self) -> bool {
        let waiting = self.waiting();
        (self.at_once && waiting >= self.batch) || (waiting > 0 && self.are_too_many())
    }

    fn are_too_many(&self) -> bool {
        // In this order: a page is changed before it is written back.
        let written = self.written.load(Acquire);
        self.changed.load(Acquire) - written > self.most
    }

    /// Whether a session may continue: of the pages changed up to its last one, few enough are dirty, and the log has room again.
    fn may_go(&self, session: &SessionProgress) -> bool {
        session.changed.load(Relaxed) <= self.written.load(Acquire).saturating_add(self.most)
            && self.full_log.is_none_or(|room| {
                session.log.load(Relaxed) <= self.covered.load(Acquire).saturating_add(room)
            })
    }

    /// Whether a session must wait; if so, it is added to the queue of the waiters.
    pub(super) fn must_wait(&self, thread: u32) -> bool {
        let Some(session) = self.sessions.get(thread as usize) else { return false };
        self.waiters.must_wait(thread, session.changed.load(Relaxed), || self.may_go(session))
    }

    /// Ends a session.
    pub(super) fn session_ended(&self, thread: u32) {
        if let Some(session) = self.sessions.get(thread as usize) {
            session.appends_from.store(u64::MAX, SeqCst);
        }
    }

    /// Counts pages that were written to their places.
    pub(super) fn written_back(&self, count: u32, wake: &dyn Fn(u32)) {
        self.written.fetch_add(count.into(), AcqRel);
        self.let_through(wake);
    }

    fn let_through(&self, wake: &dyn Fn(u32)) {
        let may_go =
            |thread: u32| self.sessions.get(thread as usize).is_none_or(|session| self.may_go(session));
        self.waiters.let_through(may_go, wake);
    }

    /// Begins a checkpoint. It leaves the log from its end on, or from the first append of a transaction whose changes are not in the queue
    /// yet: the checkpoint may miss them.
    pub(super) fn begin_checkpoint(&self, log_end: u64) {
        self.checkpoint.store(log_end, Relaxed);
        // A session may announce late where it began: covered parts of the log stay covered.
        self.left_from.fetch_max(self.would_leave_from(log_end), Relaxed);
    }

    fn would_leave_from(&self, log_end: u64) -> u64 {
        self.sessions.iter().map(|session| session.appends_from.load(SeqCst)).fold(log_end, u64::min)
    }

    /// Notes an append of the checkpoint, which needs no further checkpoint unless something else was appended since it began.
    pub(super) fn checkpoint_appended(&self, append: Append) {
        for begin in [&self.checkpoint, &self.left_from] {
            if begin.load(Relaxed) == append.from {
                begin.store(append.end, Relaxed);
            }
        }
    }

    /// Completes the checkpoint. Sessions that wait for it continue when something is [written back](Self::written_back) next.
    pub(super) fn end_checkpoint(&self) {
        self.covered.store(self.left_from.load(Relaxed), Release);
    }

    /// Whether enough was appended since the last checkpoint began, or whether the rest fills the log and another checkpoint would leave
    /// less.
    pub(super) fn is_checkpoint_due(&self, log_end: u64) -> bool {
        let appended = log_end.saturating_sub(self.checkpoint.load(Relaxed));
        self.checkpoint_log.is_some_and(|bytes| appended >= bytes)
            || self.full_log.is_some_and(|room| {
                self.log_left(log_end) >= room
                    && self.would_leave_from(log_end) > self.left_from.load(Relaxed)
            })
    }

    /// Bytes of the log that the latest checkpoint leaves.
    pub(super) fn log_left(&self, log_end: u64) -> u64 {
        log_end.saturating_sub(self.left_from.load(Relaxed))
    }
}

impl SessionProgress {
    fn new() -> Self {
        SessionProgress {
            changed: AtomicU64::new(0),
            log: AtomicU64::new(0),
            appends_from: AtomicU64::new(u64::MAX),
        }
    }
}

/// A bit per page: whether it was changed since the last checkpoint.
#[derive(Debug)]
pub(super) struct FullPages {
    changed: Vec<AtomicU64>,
}

impl FullPages {
    pub(super) fn new(pages: u64) -> Self {
        let words = usize::try_from(pages.div_ceil(64)).unwrap_or(usize::MAX);
        FullPages { changed: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Marks a page as changed. Returns whether that is the first change since the last checkpoint.
    pub(super) fn is_first_change(&self, page: u64) -> bool {
        let bit = 1 << (page % 64);
        let Some(word) = self.changed.get((page / 64) as usize) else { return false };
        word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Relaxed) & bit == 0
    }

    /// Begins a checkpoint.
    pub(super) fn clear(&self) {
        self.changed.iter().for_each(|word| word.store(0, Relaxed));
    }
}
