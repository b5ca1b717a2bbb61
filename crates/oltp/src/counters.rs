//! Statements and errors, counted by each thread for itself, for reports at any time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use ferrio_sql::ReplyKind;

/// The counters of all threads.
#[derive(Debug)]
pub struct Counters(Box<[ThreadCounters]>);

/// The counters of one thread, which alone changes them. They have cache lines of their own, two for processors that fetch pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct ThreadCounters {
    reads: AtomicU64,
    writes: AtomicU64,
    others: AtomicU64,
    ignored_errors: AtomicU64,
    reconnects: AtomicU64,
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SqlCounts {
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Statements that did neither, such as BEGIN.
    pub others: u64,
    /// Errors that began an event again.
    pub ignored_errors: u64,
    /// Connections that were lost and made again.
    pub reconnects: u64,
}

impl Counters {
    /// Counters at zero for so many threads.
    #[must_use]
    pub fn new(threads: u32) -> Self {
        Counters((0..threads).map(|_| ThreadCounters::default()).collect())
    }

    /// Those of a thread; threads beyond the number share those of the first ones.
    ///
    /// # Panics
    /// There are no threads.
    #[must_use]
    pub fn of(&self, thread: u32) -> &ThreadCounters {
        &self.0[thread as usize % self.0.len()]
    }

    /// How many threads there are.
    #[must_use]
    pub const fn threads(&self) -> usize {
        self.0.len()
    }

    /// The sums of all threads.
    #[must_use]
    pub fn total(&self) -> SqlCounts {
        let mut sum = SqlCounts::default();
        for thread in &self.0 {
            sum.reads += thread.reads.load(Relaxed);
            sum.writes += thread.writes.load(Relaxed);
            sum.others += thread.others.load(Relaxed);
            sum.ignored_errors += thread.ignored_errors.load(Relaxed);
            sum.reconnects += thread.reconnects.load(Relaxed);
        }
        sum
    }
}

impl ThreadCounters {
    /// A statement was answered.
    #[inline]
    pub fn answered(&self, kind: ReplyKind) {
        increment(match kind {
            ReplyKind::Rows(_) => &self.reads,
            ReplyKind::Changed(_) => &self.writes,
            ReplyKind::Nothing => &self.others,
        });
    }

    /// An error begins the event again.
    pub fn ignored(&self) {
        increment(&self.ignored_errors);
    }

    /// A lost connection was made again.
    pub fn reconnected(&self) {
        increment(&self.reconnects);
    }
}

/// Adds one. Only one thread writes, so that no locked instruction is needed.
#[inline]
fn increment(counter: &AtomicU64) {
    counter.store(counter.load(Relaxed) + 1, Relaxed);
}

impl SqlCounts {
    /// All statements.
    #[must_use]
    pub const fn queries(&self) -> u64 {
        self.reads + self.writes + self.others
    }

    /// What was counted since an earlier moment.
    #[must_use]
    pub const fn since(&self, earlier: &SqlCounts) -> SqlCounts {
        SqlCounts {
            reads: self.reads.saturating_sub(earlier.reads),
            writes: self.writes.saturating_sub(earlier.writes),
            others: self.others.saturating_sub(earlier.others),
            ignored_errors: self.ignored_errors.saturating_sub(earlier.ignored_errors),
            reconnects: self.reconnects.saturating_sub(earlier.reconnects),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_counted_by_their_answers() {
        let counters = Counters::new(2);
        counters.of(0).answered(ReplyKind::Rows(0));
        counters.of(1).answered(ReplyKind::Rows(5));
        let before = counters.total();
        counters.of(1).answered(ReplyKind::Changed(2));
        counters.of(1).answered(ReplyKind::Nothing);
        counters.of(0).ignored();
        counters.of(1).reconnected();
        let expected = SqlCounts { reads: 2, writes: 1, others: 1, ignored_errors: 1, reconnects: 1 };
        assert_eq!(counters.total(), expected);
        assert_eq!(counters.total().since(&before), SqlCounts { reads: 0, ..expected });
        assert_eq!(expected.queries(), 4);
    }
}
