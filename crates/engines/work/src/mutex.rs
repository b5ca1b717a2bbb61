//! Mutexes of the C library, as the tests of sysbench have: what one costs is what they measure. Those of the standard library spin before
//! they sleep.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A mutex. In a run it has nothing beside it: how mutexes share cache lines decides how threads get into each other's way.
pub(crate) struct Mutex {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    /// How often it was taken.
    #[cfg(test)]
    taken: AtomicU64,
}

// SAFETY: a pthread mutex is for several threads. It moves between them only before it is locked, as `hold` borrows it.
unsafe impl Send for Mutex {}
// SAFETY: as above; what is in the cell is only passed to functions that may be called by several threads at once.
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
    /// Does something with the mutex locked.
    pub(crate) fn hold(&self, act: impl FnOnce()) {
        // SAFETY: it is initialised, stays where it is while it is borrowed, and this thread does not have it: nothing in here locks twice.
        let locked = unsafe { libc::pthread_mutex_lock(self.mutex.get()) };
        debug_assert_eq!(locked, 0);
        #[cfg(test)]
        self.taken.fetch_add(1, Relaxed);
        act();
        // SAFETY: as above; this thread has it locked.
        unsafe { libc::pthread_mutex_unlock(self.mutex.get()) };
    }

    /// How often it was taken.
    #[cfg(test)]
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }
}

impl Drop for Mutex {
    fn drop(&mut self) {
        // SAFETY: nobody has it locked, as nobody borrows it, and nobody uses it any more.
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
