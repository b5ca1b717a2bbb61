//! Mutexes of the C library, as sysbench uses: its tests measure their cost. Those of the standard library spin before they sleep.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A pthread mutex. Without other fields in a release build, because the layout decides how mutexes share cache lines, and so how threads
/// contend.
pub(crate) struct Mutex {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    /// Number of times it was locked.
    #[cfg(test)]
    taken: AtomicU64,
}

// SAFETY: a pthread mutex is made for several threads. It moves between them only before it is locked, as `hold` borrows it.
unsafe impl Send for Mutex {}
// SAFETY: as above; the cell's content is only passed to functions that several threads may call at once.
unsafe impl Sync for Mutex {}

impl Default for Mutex {
    fn default() -> Self {
        Mutex {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            #[cfg(test)]
            taken: AtomicU64::new(0),
        }
    }
}

impl Mutex {
    /// Runs `act` with the mutex locked.
    pub(crate) fn hold(&self, act: impl FnOnce()) {
        // SAFETY: the mutex is initialised, does not move while it is borrowed, and is not locked by this thread: nothing here locks twice.
        let locked = unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
        debug_assert_eq!(locked, 0);
        #[cfg(test)]
        self.taken.fetch_add(1, Relaxed);
        act();
        // SAFETY: as above; this thread has it locked.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
    }

    /// Number of times it was locked.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }
}

impl Drop for Mutex {
    fn drop(&mut self) {
        // SAFETY: the mutex is not borrowed, so it is neither locked nor used any more.
        unsafe { libc::pthread_mutex_destroy(self.mutex.get()) };
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn one_thread_at_a_time_has_it() {
        let mutex = Mutex::default();
        let inside = AtomicU64::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        mutex.hold(|| {
                            assert_eq!(inside.fetch_add(1, Relaxed), 0);
                            thread::yield_now();
                            inside.store(0, Relaxed);
                        });
                    }
                });
            }
        });
        assert_eq!(mutex.taken(), 2000);
    }
}
