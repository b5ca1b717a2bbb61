//! How much a reader takes in: what its owner allows, what the owner can see of it, and the memory that the readers of all hosts share for
//! long messages.
//!
//! A message of a thousand hosts each may be short (64 KiB) without asking: 64 MB. What is longer needs one of a few permits, and its reader
//! waits for one, so the hosts together make the coordinator keep at most some 600 MB of text, whatever they send and however many they are.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Length of a frame at the most, in bytes, once both ends trust each other: the whole histograms of a few thousand jobs.
pub const MAX_FRAME: usize = 128 << 20;

/// Length of a greeting at the most, in bytes: what a stranger can make the other end keep.
pub const MAX_GREETING: usize = 4 << 10;

/// Shared by the reader of a stream, who obeys, and the one who talks with the other end.
#[derive(Clone, Debug, Default)]
pub struct Intake(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    is_trusted: AtomicBool,
    /// Pieces of the stream that have come.
    pieces: AtomicUsize,
    /// Something has come, and nobody has taken it yet.
    is_held: AtomicBool,
}

impl Intake {
    /// From now on messages of up to [`MAX_FRAME`] bytes are taken.
    pub fn trust(&self) {
        self.0.is_trusted.store(true, Ordering::Relaxed);
    }

    /// How long a message may be, in bytes.
    pub(crate) fn limit(&self) -> usize {
        if self.0.is_trusted.load(Ordering::Relaxed) { MAX_FRAME } else { MAX_GREETING }
    }

    pub(crate) fn note_bytes(&self) {
        self.0.pieces.fetch_add(1, Ordering::Relaxed);
    }

    /// Does something that may have to wait until this end has time or memory for what has come.
    pub(crate) fn while_held<T>(&self, wait: impl FnOnce() -> T) -> T {
        self.0.is_held.store(true, Ordering::Relaxed);
        let result = wait();
        self.0.is_held.store(false, Ordering::Relaxed);
        result
    }

    /// Whether the other end has given signs of life that no message tells of: a part of a long one, or one that still waits here. `seen` is
    /// what was seen the last time.
    pub(crate) fn is_alive(&self, seen: &mut usize) -> bool {
        let pieces = self.0.pieces.load(Ordering::Relaxed);
        std::mem::replace(seen, pieces) != pieces || self.0.is_held.load(Ordering::Relaxed)
    }
}

/// Lengths above which a message needs a permit, in bytes, and how many there are. A long message has one of each class below it, so
/// whoever waits for a permit waits for others who need no more than the classes above: none waits in a circle.
const CLASSES: [(usize, usize); 2] = [(64 << 10, 256), (1 << 20, 2)];

/// The permits of all readers.
#[derive(Debug)]
pub(crate) struct LongFrames {
    free: Mutex<[usize; CLASSES.len()]>,
    returned: Condvar,
}

impl Default for LongFrames {
    fn default() -> Self {
        LongFrames { free: Mutex::new(CLASSES.map(|(_, permits)| permits)), returned: Condvar::new() }
    }
}

/// What one message has of them; returned when it is dropped.
#[derive(Debug)]
pub(crate) struct LongFramePermit {
    frames: Arc<LongFrames>,
    has: [bool; CLASSES.len()],
}

impl LongFramePermit {
    /// That of a short message.
    pub fn new(frames: Arc<LongFrames>) -> Self {
        LongFramePermit { frames, has: Default::default() }
    }

    /// Whether it is that of a long message.
    pub fn is_long(&self) -> bool {
        self.has.contains(&true)
    }

    /// Waits for what a message of this length needs.
    pub fn cover(&mut self, length: usize) {
        for (class, (above, _)) in CLASSES.into_iter().enumerate() {
            if length > above && !self.has[class] {
                let free = self.frames.free.lock().unwrap_or_else(PoisonError::into_inner);
                let free = self.frames.returned.wait_while(free, |free| free[class] == 0);
                free.unwrap_or_else(PoisonError::into_inner)[class] -= 1;
                self.has[class] = true;
            }
        }
    }

    /// This permit, which leaves that of a short message.
    pub fn take(&mut self) -> Self {
        std::mem::replace(self, LongFramePermit::new(Arc::clone(&self.frames)))
    }
}

impl Drop for LongFramePermit {
    fn drop(&mut self) {
        if self.is_long() {
            let mut free = self.frames.free.lock().unwrap_or_else(PoisonError::into_inner);
            for (free, had) in free.iter_mut().zip(self.has) {
                *free += usize::from(had);
            }
            self.frames.returned.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;

    use super::*;

    #[test]
    fn the_third_longest_message_waits_for_the_first_and_short_ones_do_not() {
        let frames: Arc<LongFrames> = Arc::default();
        let permit = |length| {
            let mut permit = LongFramePermit::new(Arc::clone(&frames));
            permit.cover(length);
            permit
        };
        let (first, _second) = (permit(MAX_FRAME), permit(MAX_FRAME));
        permit(CLASSES[1].0);
        let (sender, got) = channel();
        let third = LongFramePermit::new(Arc::clone(&frames));
        let waiting = thread::spawn(move || {
            let mut third = third;
            third.cover(MAX_FRAME);
            sender.send(()).unwrap();
            third
        });
        assert!(got.try_recv().is_err());
        drop(first);
        got.recv().unwrap();
        let third = waiting.join().unwrap();
        assert_eq!(*frames.free.lock().unwrap(), [254, 0]);
        drop(third);
        assert_eq!(*frames.free.lock().unwrap(), [255, 1]);
    }

    #[test]
    fn a_part_of_a_message_and_a_message_that_waits_are_signs_of_life() {
        let (intake, mut seen) = (Intake::default(), 0);
        assert!(!intake.is_alive(&mut seen));
        intake.note_bytes();
        assert!(intake.is_alive(&mut seen) && !intake.is_alive(&mut seen));
        assert!(intake.while_held(|| intake.is_alive(&mut seen)));
        assert!(!intake.is_alive(&mut seen));
    }
}
