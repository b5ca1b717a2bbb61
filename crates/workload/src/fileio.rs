//! The requests of sysbench's test `fileio`: which of them its threads do next, in an order that they share.
//!
//! Threads share one sequential position over all files, the numbers of completed reads and writes that decide the next direction of a
//! mix, and the round of syncs over all files after each so many requests. Each is one atomic number: sysbench takes a lock for all.

mod random_numbers;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};
use std::sync::{Mutex, PoisonError};

use ferrio_job::{Direction, Fileio, FileioMode};

use crate::step::{Io, Step, SyncKind};
use random_numbers::Xoroshiro;

/// Draws of a block that nobody holds before the CPU is left to others for a moment.
const DRAWS: u32 = 64;

/// What the threads share.
#[derive(Debug)]
pub(crate) struct SharedFileio {
    load: Fileio,
    /// Sequential requests that a file takes.
    per_file: u64,
    /// The blocks that threads work on, by file and offset, with checksums only.
    held: Option<Mutex<HashMap<(u32, u64), Holder>>>,
    seed: u32,
    counters: Counters,
}

/// What changes with the requests. In one cache line, apart from what does not change: each event takes it once.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Counters {
    /// Sequential requests so far.
    sequential: AtomicU64,
    /// Where the threads are between two rounds of syncs: a [`Window`].
    window: AtomicU64,
    /// Completed reads and writes of a mix.
    completed: [AtomicU64; 2],
}

/// The thread that works on a block, and how many of its requests do.
#[derive(Debug)]
struct Holder {
    thread: u32,
    requests: u32,
}

/// Requests since the last round of syncs, or the place in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    /// Requests in this window, below the number after which files are synced: 0 where a round begins.
    requests: u32,
    /// One of the requests since the last round was a write.
    dirty: bool,
    /// The file that is synced next; 0 outside of a round.
    next_file: u32,
}

impl Window {
    const DIRTY: u64 = 1 << 31;

    const fn unpack(bits: u64) -> Self {
        Window {
            requests: bits as u32 & (Self::DIRTY as u32 - 1),
            dirty: bits & Self::DIRTY != 0,
            next_file: (bits >> 32) as u32,
        }
    }

    const fn pack(self) -> u64 {
        let dirty = if self.dirty { Self::DIRTY } else { 0 };
        self.requests as u64 | dirty | (self.next_file as u64) << 32
    }

    /// The file to sync now, and the window after that; `None` if a request is next.
    fn sync(self, files: u32) -> Option<(u32, Window)> {
        let due = self.dirty && self.requests == 0;
        let next_file = self.next_file + 1;
        let after = match next_file < files {
            true => Window { next_file, ..self },
            false => Window { requests: 0, dirty: false, next_file: 0 },
        };
        due.then_some((self.next_file, after))
    }

    /// The window after a request.
    fn after_request(self, writes: bool, every: u32) -> Window {
        let requests = self.requests + 1;
        Window { requests: if requests >= every { 0 } else { requests }, dirty: self.dirty || writes, ..self }
    }
}

/// What an event does.
enum Choice {
    Request(Direction),
    Sync(u32),
}

impl SharedFileio {
    /// Before the first request; the random numbers of all threads come from `seed`.
    pub(crate) fn new(load: &Fileio, seed: u64) -> Self {
        SharedFileio {
            per_file: load.file_size.div_ceil(load.sequential_block.max(1)).max(1),
            held: load.validate.then(Mutex::default),
            // A seed of the option has no more bits.
            seed: seed as u32,
            counters: Counters::default(),
            load: load.clone(),
        }
    }

    /// True if something follows from the end of a request.
    pub(crate) fn sees_completions(&self) -> bool {
        self.load.mode == FileioMode::RandomMix || self.held.is_some()
    }

    /// A request of a thread is complete.
    pub(crate) fn completed(&self, direction: Direction, file: u32, offset: u64) {
        if self.load.mode == FileioMode::RandomMix {
            self.counters.completed[usize::from(direction == Direction::Write)].fetch_add(1, Relaxed);
        }
        if let Some(held) = &self.held {
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            if let Entry::Occupied(mut block) = held.entry((file, offset)) {
                block.get_mut().requests -= 1;
                if block.get().requests == 0 {
                    block.remove();
                }
            }
        }
    }

    /// The sync of the load.
    fn sync_kind(&self) -> SyncKind {
        if self.load.sync_data_only { SyncKind::Fdatasync } else { SyncKind::Fsync }
    }

    /// What the next event does, in the order of all threads.
    fn choose(&self) -> Choice {
        // The number is that of an option with 31 bits.
        let every = u32::try_from(self.load.sync_every).unwrap_or(u32::MAX >> 1).min(u32::MAX >> 1);
        if every == 0 || !self.load.writes() {
            return Choice::Request(self.direction());
        }
        let window = &self.counters.window;
        let mut bits = window.load(Acquire);
        loop {
            let now = Window::unpack(bits);
            let (choice, after) = match now.sync(self.load.files) {
                Some((file, after)) => (Choice::Sync(file), after),
                None => {
                    let direction = self.direction();
                    let after = now.after_request(direction == Direction::Write, every);
                    (Choice::Request(direction), after)
                }
            };
            match window.compare_exchange_weak(bits, after.pack(), AcqRel, Acquire) {
                Ok(_) => return choice,
                Err(other) => bits = other,
            }
        }
    }

    /// The direction of the next request: in a mix the one that brings the completed ones nearer to the ratio.
    fn direction(&self) -> Direction {
        match self.load.mode {
            FileioMode::SequentialWrite | FileioMode::RandomWrite => Direction::Write,
            FileioMode::SequentialRead | FileioMode::RandomRead => Direction::Read,
            FileioMode::RandomMix => {
                let [reads, writes] = self.counters.completed.each_ref().map(|count| count.load(Relaxed) + 1);
                if (reads as f64) / (writes as f64) < self.load.rw_ratio {
                    Direction::Read
                } else {
                    Direction::Write
                }
            }
        }
    }

    /// The place of the next sequential request: file, offset and length. Files follow each other, and the first one the last.
    fn sequential(&self) -> (u32, u64, u64) {
        let number = self.counters.sequential.fetch_add(1, Relaxed);
        let number = number % (self.per_file * u64::from(self.load.files));
        let (file, offset) = (number / self.per_file, number % self.per_file * self.load.sequential_block);
        (file as u32, offset, self.load.sequential_block.min(self.load.file_size - offset))
    }

    /// The place that a random number in 0..1 stands for: file, offset and length. Offsets are multiples of a block in all files together.
    fn random(&self, uniform: f64) -> (u32, u64, u64) {
        let Fileio { block, file_size, files, total_size, .. } = self.load;
        // If the size is no multiple of the number of files, the files have a little less.
        let most = (file_size * u64::from(files)).saturating_sub(1);
        let at = ((uniform * total_size as f64) as u64).min(most);
        let at = at - at % block;
        let offset = at % file_size;
        ((at / file_size) as u32, offset, block.min(file_size - offset))
    }

    /// Takes a block for a thread, unless another one has it.
    fn hold(&self, file: u32, offset: u64, thread: u32) -> bool {
        let Some(held) = &self.held else { return true };
        let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
        let holder = held.entry((file, offset)).or_insert(Holder { thread, requests: 0 });
        let free = holder.thread == thread;
        holder.requests += u32::from(free);
        free
    }
}

/// The requests of one thread.
#[derive(Debug)]
pub(crate) struct FileioPath {
    thread: u32,
    random: Xoroshiro,
    /// What follows in the event that has begun.
    rest: Rest,
}

/// What is left of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// All of it.
    Event,
    /// The sync of the file that was written to.
    Sync(u32),
    /// Its end.
    End,
}

impl FileioPath {
    pub(crate) fn new(shared: &SharedFileio, thread: u32) -> Self {
        FileioPath { thread, random: Xoroshiro::of_thread(shared.seed, thread), rest: Rest::Event }
    }

    /// The next step of this thread. `over` says that the load has ended.
    pub(crate) fn next(&mut self, shared: &SharedFileio, over: impl Fn() -> bool) -> Step {
        match self.rest {
            Rest::Event => match shared.choose() {
                Choice::Sync(file) => {
                    self.rest = Rest::End;
                    Step::Sync { file, kind: shared.sync_kind() }
                }
                Choice::Request(direction) => self.request(shared, direction, over),
            },
            Rest::Sync(file) => {
                self.rest = Rest::End;
                Step::Sync { file, kind: shared.sync_kind() }
            }
            Rest::End => {
                self.rest = Rest::Event;
                if shared.load.extra_draw {
                    self.random.next();
                }
                Step::EventEnd
            }
        }
    }

    fn request(&mut self, shared: &SharedFileio, direction: Direction, over: impl Fn() -> bool) -> Step {
        let (file, offset, len) = match shared.load.mode {
            FileioMode::SequentialRead | FileioMode::SequentialWrite => shared.sequential(),
            _ if shared.held.is_none() => shared.random(self.random.uniform()),
            _ => self.free_block(shared, over),
        };
        let syncs = shared.load.sync_each_write && direction == Direction::Write;
        self.rest = if syncs { Rest::Sync(file) } else { Rest::End };
        Step::Io(Io { direction, file, offset, len })
    }

    /// A random block that no other thread works on, so that none sees half of what another writes.
    fn free_block(&mut self, shared: &SharedFileio, over: impl Fn() -> bool) -> (u32, u64, u64) {
        let mut draws = 0_u32;
        loop {
            let place @ (file, offset, _) = shared.random(self.random.uniform());
            if shared.hold(file, offset, self.thread) || over() {
                return place;
            }
            draws += 1;
            if draws.is_multiple_of(DRAWS) {
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests;
