//! The requests of sysbench's test `fileio`, in an order that its threads share.
//!
//! Threads share one sequential position over all files, the numbers of completed reads and writes that determine the next direction of a
//! mix, and the round of syncs over all files after a number of requests. Each is one atomic number; sysbench uses a lock for all.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Mutex;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use ferrio_job::{Direction, Fileio, FileioMode};
use ferrio_random::Xoroshiro;

use crate::lock::lock;
use crate::step::{Io, Step, SyncKind};

/// Attempts to draw a free block before the CPU is yielded.
const DRAWS_BEFORE_YIELD: u32 = 64;

/// The state that the threads share.
#[derive(Debug)]
pub(crate) struct SharedFileio {
    load: Fileio,
    /// Sequential requests per file.
    per_file: u64,
    /// The blocks that threads work on, by file and offset; only with checksums.
    held: Option<Mutex<HashMap<(u32, u64), BlockHolder>>>,
    seed: u32,
    counters: FileioCounters,
}

/// The state that changes with the requests. It has a cache line of its own, apart from constant state: each event takes it once.
#[derive(Debug, Default)]
#[repr(align(64))]
struct FileioCounters {
    /// Number of sequential requests so far.
    sequential: AtomicU64,
    /// The position between two rounds of syncs: a [`SyncWindow`].
    window: AtomicU64,
    /// Completed reads and writes of a mix.
    completed: [AtomicU64; 2],
}

/// The thread that works on a block, and the number of its requests.
#[derive(Debug)]
struct BlockHolder {
    thread: u32,
    requests: u32,
}

/// The requests since the last round of syncs, or the position in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SyncWindow {
    /// Requests in this window, below the number after which files are synced: 0 where a round begins.
    requests: u32,
    /// Whether one of the requests since the last round was a write.
    dirty: bool,
    /// The file that is synced next; 0 outside of a round.
    next_file: u32,
}

impl SyncWindow {
    const DIRTY: u64 = 1 << 31;

    const fn unpack(bits: u64) -> Self {
        SyncWindow {
            requests: bits as u32 & (Self::DIRTY as u32 - 1),
            dirty: bits & Self::DIRTY != 0,
            next_file: (bits >> 32) as u32,
        }
    }

    const fn pack(self) -> u64 {
        let dirty = if self.dirty { Self::DIRTY } else { 0 };
        self.requests as u64 | dirty | (self.next_file as u64) << 32
    }

    /// The file to sync now, and the following window; `None` if a request is next.
    fn sync(self, files: u32) -> Option<(u32, SyncWindow)> {
        let due = self.dirty && self.requests == 0;
        let next_file = self.next_file + 1;
        let after = match next_file < files {
            true => SyncWindow { next_file, ..self },
            false => SyncWindow { requests: 0, dirty: false, next_file: 0 },
        };
        due.then_some((self.next_file, after))
    }

    /// The window after a request.
    fn after_request(self, writes: bool, every: u32) -> SyncWindow {
        let requests = self.requests + 1;
        SyncWindow {
            requests: if requests >= every { 0 } else { requests },
            dirty: self.dirty || writes,
            ..self
        }
    }
}

/// The action of an event.
enum FileioAction {
    Request(Direction),
    Sync(u32),
}

impl SharedFileio {
    /// The state before the first request; `seed` determines the random numbers of all threads.
    pub(crate) fn new(load: &Fileio, seed: u64) -> Self {
        SharedFileio {
            per_file: load.file_size.div_ceil(load.sequential_block.max(1)).max(1),
            held: load.validate.then(Mutex::default),
            // A seed of the option has no more bits.
            seed: seed as u32,
            counters: FileioCounters::default(),
            load: load.clone(),
        }
    }

    /// Whether the end of a request has an effect.
    pub(crate) fn sees_completions(&self) -> bool {
        self.load.mode == FileioMode::RandomMix || self.held.is_some()
    }

    /// Completes a request of a thread.
    pub(crate) fn completed(&self, direction: Direction, file: u32, offset: u64) {
        if self.load.mode == FileioMode::RandomMix {
            self.counters.completed[usize::from(direction == Direction::Write)].fetch_add(1, Relaxed);
        }
        if let Some(held) = &self.held {
            let mut held = lock(held);
            if let Entry::Occupied(mut block) = held.entry((file, offset)) {
                block.get_mut().requests -= 1;
                if block.get().requests == 0 {
                    block.remove();
                }
            }
        }
    }

    /// The action of the next event, in the order of all threads.
    fn choose(&self) -> FileioAction {
        // The number is that of an option with 31 bits.
        let every = u32::try_from(self.load.sync_every).unwrap_or(u32::MAX >> 1).min(u32::MAX >> 1);
        if every == 0 || !self.load.writes() {
            return FileioAction::Request(self.direction());
        }
        let window = &self.counters.window;
        let mut bits = window.load(Acquire);
        loop {
            let now = SyncWindow::unpack(bits);
            let (choice, after) = match now.sync(self.load.files) {
                Some((file, after)) => (FileioAction::Sync(file), after),
                None => {
                    let direction = self.direction();
                    let after = now.after_request(direction == Direction::Write, every);
                    (FileioAction::Request(direction), after)
                }
            };
            match window.compare_exchange_weak(bits, after.pack(), AcqRel, Acquire) {
                Ok(_) => return choice,
                Err(other) => bits = other,
            }
        }
    }

    /// The direction of the next request: in a mix, the one that brings the completed requests closer to the ratio.
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

    /// The place of the next sequential request: file, offset and length. The first file follows the last.
    fn sequential(&self) -> (u32, u64, u64) {
        let number = self.counters.sequential.fetch_add(1, Relaxed);
        let number = number % (self.per_file * u64::from(self.load.files));
        let (file, offset) = (number / self.per_file, number % self.per_file * self.load.sequential_block);
        (file as u32, offset, self.load.sequential_block.min(self.load.file_size - offset))
    }

    /// The place for a random number in 0..1: file, offset and length. Offsets are multiples of a block in all files together.
    fn random(&self, uniform: f64) -> (u32, u64, u64) {
        let Fileio { block, file_size, files, total_size, .. } = self.load;
        // If the size is not a multiple of the number of files, the files are slightly smaller.
        let most = (file_size * u64::from(files)).saturating_sub(1);
        let at = ((uniform * total_size as f64) as u64).min(most);
        let at = at - at % block;
        let offset = at % file_size;
        ((at / file_size) as u32, offset, block.min(file_size - offset))
    }

    /// Takes a block for a thread, unless another thread has it.
    fn hold(&self, file: u32, offset: u64, thread: u32) -> bool {
        let Some(held) = &self.held else { return true };
        let mut held = lock(held);
        let holder = held.entry((file, offset)).or_insert(BlockHolder { thread, requests: 0 });
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
    /// The rest of the current event.
    rest: EventRest,
}

/// The rest of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventRest {
    /// All of it.
    Event,
    /// The sync of the file that was written to.
    Sync(u32),
    /// The end of the event.
    End,
}

impl FileioPath {
    pub(crate) fn new(shared: &SharedFileio, thread: u32) -> Self {
        FileioPath { thread, random: Xoroshiro::of_thread(shared.seed, thread), rest: EventRest::Event }
    }

    /// The next step of this thread. `over` returns whether the load has ended.
    pub(crate) fn next(&mut self, shared: &SharedFileio, over: impl Fn() -> bool) -> Step {
        match self.rest {
            EventRest::Event => match shared.choose() {
                FileioAction::Sync(file) => self.sync(shared, file),
                FileioAction::Request(direction) => self.request(shared, direction, over),
            },
            EventRest::Sync(file) => self.sync(shared, file),
            EventRest::End => {
                self.rest = EventRest::Event;
                if shared.load.extra_draw {
                    self.random.next();
                }
                Step::EventEnd
            }
        }
    }

    fn sync(&mut self, shared: &SharedFileio, file: u32) -> Step {
        self.rest = EventRest::End;
        let kind = if shared.load.sync_data_only { SyncKind::Fdatasync } else { SyncKind::Fsync };
        Step::Sync { file, kind }
    }

    fn request(&mut self, shared: &SharedFileio, direction: Direction, over: impl Fn() -> bool) -> Step {
        let (file, offset, len) = match shared.load.mode {
            FileioMode::SequentialRead | FileioMode::SequentialWrite => shared.sequential(),
            _ if shared.held.is_none() => shared.random(self.random.uniform()),
            _ => self.free_block(shared, over),
        };
        let syncs = shared.load.sync_each_write && direction == Direction::Write;
        self.rest = if syncs { EventRest::Sync(file) } else { EventRest::End };
        Step::Io(Io { direction, file, offset, len })
    }

    /// A random block that no other thread works on, so that no thread sees half of another one's write.
    fn free_block(&mut self, shared: &SharedFileio, over: impl Fn() -> bool) -> (u32, u64, u64) {
        let mut draws = 0_u32;
        loop {
            let place @ (file, offset, _) = shared.random(self.random.uniform());
            if shared.hold(file, offset, self.thread) || over() {
                return place;
            }
            draws += 1;
            if draws.is_multiple_of(DRAWS_BEFORE_YIELD) {
                std::thread::yield_now();
            }
        }
    }
}

#[cfg(test)]
mod tests;
