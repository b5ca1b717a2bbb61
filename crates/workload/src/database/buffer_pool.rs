//! A simulated buffer pool, which determines the page accesses that need a read.
//!
//! It replaces pages by the CLOCK rule, an approximation of least recently used: a hand moves over the pages in the pool, and evicts the
//! first one that was not used since its last visit. Changed pages stay until they are written back.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::lock::lock;

/// Bit: the page is in the pool.
const IN_POOL: u8 = 1;
/// Bit: it was used since the last visit of the hand.
const USED: u8 = 2;
/// Bit: it is changed and waits to be written back.
const DIRTY: u8 = 4;

/// Page uses before the first transaction, for each page of the pool.
const WARM_UP: u64 = 4;
/// Most of these uses: about a second.
const MAX_WARM_UP: u64 = 1 << 24;

/// The pool.
#[derive(Debug)]
pub(super) struct BufferPool {
    /// Per page of the data.
    states: Vec<AtomicU8>,
    frames: Mutex<PoolFrames>,
}

/// The pages in the pool.
#[derive(Debug)]
struct PoolFrames {
    pages: Vec<u64>,
    /// The next position of the hand.
    hand: usize,
    /// Most pages.
    room: usize,
}

impl BufferPool {
    /// An empty pool with room for `room` of `pages` pages.
    pub(super) fn new(room: u64, pages: u64) -> Self {
        let room = usize::try_from(room.min(pages).max(1)).unwrap_or(usize::MAX);
        let count = usize::try_from(pages).unwrap_or(usize::MAX);
        BufferPool {
            states: (0..count).map(|_| AtomicU8::new(0)).collect(),
            frames: Mutex::new(PoolFrames { pages: Vec::with_capacity(room), hand: 0, room }),
        }
    }

    /// Fills the pool as a long run of these choices would.
    pub(super) fn warm_up(&self, mut next: impl FnMut() -> u64) {
        let (room, pages) = (lock(&self.frames).room as u64, self.states.len() as u64);
        if room < pages {
            (0..(room.saturating_mul(WARM_UP)).min(MAX_WARM_UP)).for_each(|_| {
                self.use_page(next());
            });
        }
        // Pages that are hardly ever used fill the rest.
        let mut page = 0;
        while !self.is_full() && page < pages {
            self.use_page(page);
            page += 1;
        }
    }

    /// Uses a page. Returns whether it was in the pool; otherwise it must be read, and is in the pool from now on.
    pub(super) fn use_page(&self, page: u64) -> bool {
        let Some(state) = self.states.get(page as usize) else { return false };
        let before = state.load(Relaxed);
        if before & IN_POOL != 0 {
            if before & USED == 0 {
                state.fetch_or(USED, Relaxed);
            }
            return true;
        }
        // Of two sessions that miss a page at once, one reads it.
        if state.fetch_or(IN_POOL | USED, Relaxed) & IN_POOL != 0 {
            return true;
        }
        lock(&self.frames).insert(page, &self.states);
        false
    }

    /// Changes a page. Returns false if it already waits to be written back.
    pub(super) fn change(&self, page: u64) -> bool {
        self.states.get(page as usize).is_some_and(|state| state.fetch_or(DIRTY, Relaxed) & DIRTY == 0)
    }

    /// Marks a page as clean when its write-back begins: later changes are new ones.
    pub(super) fn clean(&self, page: u64) {
        if let Some(state) = self.states.get(page as usize) {
            state.fetch_and(!DIRTY, Relaxed);
        }
    }

    fn is_full(&self) -> bool {
        let frames = lock(&self.frames);
        frames.pages.len() >= frames.room
    }
}

impl PoolFrames {
    /// Inserts a page; evicts another one if the pool is full.
    fn insert(&mut self, page: u64, states: &[AtomicU8]) {
        if self.pages.len() < self.room {
            return self.pages.push(page);
        }
        // In two turns at most, the hand finds a page that is not in use, unless all are changed.
        for _ in 0..self.pages.len().saturating_mul(2) {
            let state = &states[self.pages[self.hand] as usize];
            let before = state.load(Relaxed);
            if before & USED != 0 {
                state.fetch_and(!USED, Relaxed);
            } else if before & DIRTY == 0 {
                break;
            }
            self.advance();
        }
        states[self.pages[self.hand] as usize].fetch_and(!(IN_POOL | USED), Relaxed);
        self.pages[self.hand] = page;
        self.advance();
    }

    fn advance(&mut self) {
        self.hand = if self.hand + 1 < self.pages.len() { self.hand + 1 } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use ferrio_job::{Skew, SkewShape};

    use super::*;
    use crate::skewed::SkewedChoice;

    /// Misses of a pool and of one that replaces what was not used for longest, for the same `uses`.
    fn misses(room: u64, pages: u64, uses: impl Iterator<Item = u64>) -> (u64, u64) {
        let pool = BufferPool::new(room, pages);
        let mut least_recent = VecDeque::new();
        let (mut clock_misses, mut exact_misses) = (0, 0);
        for page in uses {
            clock_misses += u64::from(!pool.use_page(page));
            match least_recent.iter().position(|&other| other == page) {
                Some(at) => drop(least_recent.remove(at)),
                None => exact_misses += 1,
            }
            least_recent.push_back(page);
            if least_recent.len() as u64 > room {
                least_recent.pop_front();
            }
        }
        (clock_misses, exact_misses)
    }

    #[test]
    fn popular_pages_stay_as_if_the_longest_unused_one_went() {
        let skew = Skew { shape: SkewShape::Zipf(1.1), center: Some(0.0) };
        let mut choices = SkewedChoice::new(&skew, 2000, 1, true);
        let (clock, exact) = misses(200, 2000, (0..60_000).map(|_| choices.next()));
        assert!(exact > 5000 && clock.abs_diff(exact) < exact / 10, "{clock} misses and {exact}");
    }

    #[test]
    fn a_pool_as_large_as_the_data_misses_each_page_once_and_a_repeated_scan_of_more_always() {
        let scan = |pages: u64| (0..10 * pages).map(move |use_| use_ % pages);
        assert_eq!(misses(100, 100, scan(100)), (100, 100));
        assert_eq!(misses(100, 101, scan(101)), (1010, 1010));
    }

    #[test]
    fn a_warm_pool_is_full_and_misses_as_often_as_later() {
        let skew = Skew { shape: SkewShape::Pareto(0.2), center: Some(0.0) };
        let pool = BufferPool::new(300, 3000);
        let mut choices = SkewedChoice::new(&skew, 3000, 1, true);
        pool.warm_up(|| choices.next());
        assert_eq!(lock(&pool.frames).pages.len(), 300);
        let mut misses = || (0..5000).filter(|_| !pool.use_page(choices.next())).count();
        let (first, _, later) = (misses(), misses(), misses());
        assert!(first.abs_diff(later) < first / 5 + 50, "{first} and {later}");
    }

    #[test]
    fn changed_pages_stay_until_they_are_written_back() {
        let pool = BufferPool::new(4, 100);
        (0..4).for_each(|page| assert!(!pool.use_page(page)));
        assert!(pool.change(2) && !pool.change(2), "the second change is merged with the first");
        (10..90).for_each(|page| assert!(!pool.use_page(page)));
        assert!(pool.use_page(2));
        pool.clean(2);
        assert!(pool.change(2));
        pool.clean(2);
        (10..90).for_each(|page| assert!(!pool.use_page(page)));
        assert!(!pool.use_page(2));
        // Where all pages are changed, one of them goes nevertheless.
        (86..90).for_each(|page| assert!(pool.change(page)));
        (20..24).for_each(|page| assert!(!pool.use_page(page)));
        assert!(pool.use_page(23));
    }
}
