//! The completions of tasks that the job has not taken yet.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};

use ferrio_engine::Completion;

/// Where tasks leave their completions, and the one place that waits for them. Used by one thread; no borrow lives across an await.
pub(crate) struct Finished {
    completions: RefCell<VecDeque<Completion>>,
    /// The task that waits for `wanted` completions.
    waiter: Cell<Option<Waker>>,
    wanted: Cell<usize>,
    /// Changes with each completion.
    life: Cell<u64>,
    /// The job waits.
    awaited: Cell<bool>,
    /// Nothing more is waited for.
    broken: Cell<bool>,
}

impl Finished {
    /// Room for `count` completions.
    pub(crate) fn new(count: usize) -> Self {
        Finished {
            life: Cell::default(),
            awaited: Cell::default(),
            broken: Cell::default(),
            completions: RefCell::new(VecDeque::with_capacity(count)),
            waiter: Cell::new(None),
            wanted: Cell::new(0),
        }
    }

    /// Completions that can be taken.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.completions.borrow().len()
    }

    /// Adds one; wakes the waiter when it is the last one wanted.
    #[inline]
    pub(crate) fn push(&self, completion: Completion) {
        self.show_life();
        self.completions.borrow_mut().push_back(completion);
        if self.len() >= self.wanted.get()
            && let Some(waker) = self.waiter.take()
        {
            waker.wake();
        }
    }

    /// Ready when at least `count` completions are there.
    pub(crate) async fn wait(&self, count: usize) {
        self.wanted.set(count);
        self.awaited.set(true);
        poll_fn(|context| {
            if self.len() >= count || self.broken.get() {
                return Poll::Ready(());
            }
            self.waiter.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
        self.awaited.set(false);
    }

    /// Ready when an operation is, whatever it returns.
    pub(crate) async fn wait_for<T>(&self, operation: impl Future<Output = T>) {
        let mut operation = pin!(operation);
        // No number of completions is enough.
        self.wanted.set(usize::MAX);
        self.awaited.set(true);
        poll_fn(|context| {
            if operation.as_mut().poll(context).is_ready() {
                self.show_life();
                return Poll::Ready(());
            }
            if self.broken.get() {
                return Poll::Ready(());
            }
            self.waiter.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
        self.awaited.set(false);
    }

    /// Something completed.
    #[inline]
    pub(crate) fn show_life(&self) {
        self.life.set(self.life.get().wrapping_add(1));
    }

    /// A number that changes when something completes.
    pub(crate) fn life(&self) -> u64 {
        self.life.get()
    }

    /// True while the job waits.
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.get()
    }

    /// True if nothing more is waited for.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.broken.get()
    }

    /// Ends the wait, and all others to come.
    pub(crate) fn break_off(&self) {
        self.broken.set(true);
        if let Some(waker) = self.waiter.take() {
            waker.wake();
        }
    }

    /// Makes it look as if the job waited.
    #[cfg(test)]
    pub(crate) fn await_anything(&self) {
        self.awaited.set(true);
    }

    /// Moves at most `max` completions to `done`, oldest first; how many.
    #[inline]
    pub(crate) fn take(&self, max: usize, done: &mut Vec<Completion>) -> usize {
        let mut completions = self.completions.borrow_mut();
        let count = completions.len().min(max);
        done.extend(completions.drain(..count));
        count
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Context, Wake};

    use super::*;

    #[derive(Default)]
    struct Wakes(AtomicU32);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn the_waiter_is_woken_once_by_the_last_completion_it_wants() {
        let finished = Finished::new(4);
        let wakes = Arc::new(Wakes::default());
        let waker = Waker::from(Arc::clone(&wakes));
        let mut context = Context::from_waker(&waker);
        let mut waiting = pin!(finished.wait(2));
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        let counts = [0, 1, 2].map(|unit| {
            finished.push(Completion { unit, result: 0 });
            wakes.0.load(Ordering::Relaxed)
        });
        assert_eq!(counts, [0, 1, 1]);
        assert!(waiting.as_mut().poll(&mut context).is_ready());
    }

    #[test]
    fn completions_are_taken_oldest_first_up_to_the_limit() {
        let finished = Finished::new(4);
        (0..3).for_each(|unit| finished.push(Completion { unit, result: 0 }));
        let mut done = Vec::new();
        assert_eq!(finished.take(2, &mut done), 2);
        assert_eq!(done.iter().map(|c| c.unit).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((finished.take(2, &mut done), finished.len()), (1, 0));
    }
}
