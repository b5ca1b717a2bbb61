//! The completions of tasks that the job has not taken yet.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use ferrio_engine::Completion;

/// Completions of ended tasks, and the single task that waits for them. Used by one thread; no borrow is held across an await.
pub(crate) struct CompletionQueue {
    completions: RefCell<VecDeque<Completion>>,
    /// Wakes the task that waits for `wanted` completions.
    waiter: Cell<Option<Waker>>,
    wanted: Cell<usize>,
    /// Changes with each completion.
    completion_count: Cell<u64>,
    /// True while the job waits.
    awaited: Cell<bool>,
    /// True once waiting has been given up.
    broken: Cell<bool>,
}

impl CompletionQueue {
    /// Creates room for `count` completions.
    pub(crate) fn new(count: usize) -> Self {
        CompletionQueue {
            completion_count: Cell::default(),
            awaited: Cell::default(),
            broken: Cell::default(),
            completions: RefCell::new(VecDeque::with_capacity(count)),
            waiter: Cell::new(None),
            wanted: Cell::new(0),
        }
    }

    /// Number of available completions.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.completions.borrow().len()
    }

    /// Adds a completion; wakes the waiter if it is the last one wanted.
    #[inline]
    pub(crate) fn push(&self, completion: Completion) {
        self.count_completion();
        self.completions.borrow_mut().push_back(completion);
        if self.len() >= self.wanted.get()
            && let Some(waker) = self.waiter.take()
        {
            waker.wake();
        }
    }

    /// Waits until at least `count` completions are available.
    pub(crate) async fn wait(&self, count: usize) {
        self.wait_until(count, |_| self.len() >= count).await;
    }

    /// Waits for an operation and ignores its result.
    pub(crate) async fn wait_for<T>(&self, operation: impl Future<Output = T>) {
        let mut operation = pin!(operation);
        // No number of completions ends this wait.
        self.wait_until(usize::MAX, |context| {
            let is_done = operation.as_mut().poll(context).is_ready();
            if is_done {
                self.count_completion();
            }
            is_done
        })
        .await;
    }

    /// Waits until `is_over` says so, or waiting is given up. Polled again at `wanted` completions.
    async fn wait_until(&self, wanted: usize, mut is_over: impl FnMut(&mut Context<'_>) -> bool) {
        self.wanted.set(wanted);
        self.awaited.set(true);
        poll_fn(|context| {
            if is_over(context) || self.broken.get() {
                return Poll::Ready(());
            }
            self.waiter.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
        self.awaited.set(false);
    }

    /// Records that an operation completed.
    #[inline]
    pub(crate) fn count_completion(&self) {
        self.completion_count.set(self.completion_count.get().wrapping_add(1));
    }

    /// A counter of completed operations.
    pub(crate) fn completion_count(&self) -> u64 {
        self.completion_count.get()
    }

    /// True while the job waits.
    pub(crate) fn is_awaited(&self) -> bool {
        self.awaited.get()
    }

    /// True if nothing more is waited for.
    pub(crate) fn is_broken_off(&self) -> bool {
        self.broken.get()
    }

    /// Ends the current wait and all later ones.
    pub(crate) fn give_up(&self) {
        self.broken.set(true);
        if let Some(waker) = self.waiter.take() {
            waker.wake();
        }
    }

    /// Simulates a waiting job.
    #[cfg(test)]
    pub(crate) fn simulate_wait(&self) {
        self.awaited.set(true);
    }

    /// Moves up to `max` completions to `done`, oldest first; returns how many.
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
    use std::task::Wake;

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
        let finished = CompletionQueue::new(4);
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
        let finished = CompletionQueue::new(4);
        (0..3).for_each(|unit| finished.push(Completion { unit, result: 0 }));
        let mut done = Vec::new();
        assert_eq!(finished.take(2, &mut done), 2);
        assert_eq!(done.iter().map(|c| c.unit).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((finished.take(2, &mut done), finished.len()), (1, 0));
    }
}
