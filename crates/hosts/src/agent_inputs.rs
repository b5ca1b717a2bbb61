//! What waits for an agent: messages of its coordinator, and what its run says. Both wait in bounded queues, and how the run's words wait
//! depends on what they are: an interval that finds the queue full takes the place of the one before it, since only the newest matters, and
//! costs the jobs no time; everything else waits until the coordinator has read what came before.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{AgentInput, ToCoordinator};

/// Messages of each queue.
const WAITING: usize = 64;

/// Messages that are on their way to the coordinator before the run's words wait.
const UNWRITTEN: usize = 8;

/// Answers to pings that a coordinator may leave unread. Beyond that it is no coordinator of ours.
const UNREAD: usize = 1_024;

/// The inputs of one agent. The run has a clone, on which it says what it has to say.
#[derive(Clone, Debug, Default)]
pub struct AgentInputs(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queues: Mutex<Queues>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queues {
    heard: VecDeque<AgentInput>,
    said: VecDeque<ToCoordinator>,
    /// Messages that were sent, and that the carrier has not taken.
    unwritten: usize,
    /// The conversation is over: nobody listens.
    is_over: bool,
}

impl AgentInputs {
    /// Empty queues.
    #[must_use]
    pub fn new() -> Self {
        AgentInputs::default()
    }

    /// Says something on behalf of the run. Only messages that are no intervals may have to wait, at most until the conversation is over.
    pub fn say(&self, message: ToCoordinator) {
        let is_interval = |message: &ToCoordinator| {
            matches!(message, ToCoordinator::Interval { .. } | ToCoordinator::Snapshot { .. })
        };
        let is_full = |queues: &mut Queues| queues.said.len() >= WAITING && !queues.is_over;
        let mut queues = self.lock();
        if is_full(&mut queues) && is_interval(&message) {
            // None before it: the queue is full of what matters more.
            let Some(older) = queues.said.iter().rposition(is_interval) else { return };
            queues.said.remove(older);
        }
        let mut queues = self.wait_while(queues, is_full);
        if !queues.is_over {
            queues.said.push_back(message);
        }
        self.0.changed.notify_all();
    }

    /// Brings a message of the coordinator, or its end; false if the conversation is over.
    pub(crate) fn hear(&self, input: AgentInput) -> bool {
        let is_full = |queues: &mut Queues| queues.heard.len() >= WAITING && !queues.is_over;
        let mut queues = self.wait_while(self.lock(), is_full);
        queues.heard.push_back(input);
        self.0.changed.notify_all();
        !queues.is_over
    }

    /// The next input; `None` once it is `until`. The run's words are left waiting while the coordinator has not read enough, unless they go
    /// nowhere.
    pub(crate) fn next(&self, until: Instant, words_go_nowhere: bool) -> Option<AgentInput> {
        let mut queues = self.lock();
        loop {
            let left = until.checked_duration_since(Instant::now())?;
            if let Some(heard) = queues.heard.pop_front() {
                self.0.changed.notify_all();
                return Some(heard);
            }
            if (queues.unwritten < UNWRITTEN || words_go_nowhere)
                && let Some(said) = queues.said.pop_front()
            {
                self.0.changed.notify_all();
                return Some(AgentInput::Run(said));
            }
            queues = self.0.changed.wait_timeout(queues, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Counts a message that is sent; false if the coordinator leaves too many unread.
    pub(crate) fn note_sent(&self) -> bool {
        let mut queues = self.lock();
        queues.unwritten += 1;
        queues.unwritten <= UNREAD
    }

    /// Counts a message that the carrier has taken.
    pub(crate) fn note_written(&self) {
        self.lock().unwritten -= 1;
        self.0.changed.notify_all();
    }

    /// Waits until the carrier has taken everything, but not for long.
    pub(crate) fn flush(&self, timeout: Duration) {
        let is_unwritten = |queues: &mut Queues| queues.unwritten > 0;
        drop(self.0.changed.wait_timeout_while(self.lock(), timeout, is_unwritten));
    }

    /// Nobody listens any more, and nobody waits.
    pub(crate) fn end(&self) {
        self.lock().is_over = true;
        self.0.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.0.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'a>(
        &'a self,
        queues: MutexGuard<'a, Queues>,
        condition: impl FnMut(&mut Queues) -> bool,
    ) -> MutexGuard<'a, Queues> {
        self.0.changed.wait_while(queues, condition).unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use serde_json::json;

    use super::*;
    use crate::ClockTime;

    fn interval(at: u64) -> ToCoordinator {
        ToCoordinator::Interval { at: ClockTime(at), live: json!(null) }
    }

    fn ready(phase: u32) -> ToCoordinator {
        ToCoordinator::Ready { phase }
    }

    fn words(inputs: &AgentInputs) -> Vec<ToCoordinator> {
        let until = Instant::now() + Duration::from_millis(10);
        let next = || match inputs.next(until, false) {
            Some(AgentInput::Run(message)) => Some(message),
            _ => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn of_intervals_that_nobody_reads_the_newest_is_kept_and_the_run_never_waits() {
        let inputs = AgentInputs::new();
        inputs.say(ready(0));
        (0..10_000).for_each(|at| inputs.say(interval(at)));
        let words = words(&inputs);
        assert_eq!(words.len(), WAITING);
        assert_eq!((&words[0], &words[WAITING - 1]), (&ready(0), &interval(9_999)));
    }

    #[test]
    fn what_matters_waits_until_it_is_read_and_pushes_no_interval_out() {
        let inputs = AgentInputs::new();
        let all = 3 * WAITING as u32;
        let run = inputs.clone();
        let run = thread::spawn(move || (0..all).for_each(|phase| run.say(ready(phase))));
        let mut read = Vec::new();
        while read.len() < all as usize {
            read.extend(words(&inputs));
            assert!(inputs.lock().said.len() <= WAITING);
        }
        run.join().unwrap();
        assert_eq!(read, (0..all).map(ready).collect::<Vec<_>>());
        (0..WAITING as u32).for_each(|phase| inputs.say(ready(phase)));
        inputs.say(interval(1));
        assert!(!words(&inputs).contains(&interval(1)));
    }

    #[test]
    fn words_wait_while_the_coordinator_does_not_read_and_go_when_it_is_lost() {
        let inputs = AgentInputs::new();
        (0..UNWRITTEN).for_each(|_| assert!(inputs.note_sent()));
        inputs.say(ready(0));
        assert_eq!(words(&inputs), []);
        let soon = Instant::now() + Duration::from_secs(60);
        assert!(matches!(inputs.next(soon, true), Some(AgentInput::Run(_))));
        inputs.say(ready(1));
        inputs.note_written();
        assert_eq!(words(&inputs), [ready(1)]);
        (UNWRITTEN..=UNREAD).for_each(|_| assert!(inputs.note_sent()));
        assert!(!inputs.note_sent());
    }

    #[test]
    fn nobody_waits_for_a_conversation_that_is_over() {
        let inputs = AgentInputs::new();
        let run = inputs.clone();
        let run = thread::spawn(move || (0..=2 * WAITING as u32).for_each(|phase| run.say(ready(phase))));
        let reader = inputs.clone();
        let reader = thread::spawn(move || while reader.hear(AgentInput::Disconnected) {});
        inputs.end();
        run.join().unwrap();
        reader.join().unwrap();
    }
}
