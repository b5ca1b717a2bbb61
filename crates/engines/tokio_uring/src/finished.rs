//! Where tasks leave their completions, and the one place that waits for them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use ferrio_engine::Completion;

/// Completions not taken yet. Used by one thread; no borrow lives across an await.
pub(crate) struct Finished {
    completions: RefCell<VecDeque<Completion>>,
    /// The task that waits for `wanted` completions.
    waiter: Cell<Option<Waker>>,
    wanted: Cell<usize>,
}

impl Finished {
    /// Room for `count` completions.
    pub(crate) fn new(count: usize) -> Self {
        Finished {
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
        poll_fn(|context| {
            if self.len() >= count {
                return Poll::Ready(());
            }
            self.waiter.set(Some(context.waker().clone()));
            Poll::Pending
        })
        .await;
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
    use std::future::Future;
    use std::pin::pin;
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
