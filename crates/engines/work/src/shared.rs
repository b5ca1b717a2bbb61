//! What the jobs of a load share: locks, and a block of memory.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex as Lock, PoisonError, Weak};

use ferrio_engine::EngineError;
use ferrio_job::EventLoad;
use nix::errno::Errno;

use crate::memory::Words;
use crate::mutex::Mutex;

/// Locks and memory.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) locks: Vec<Mutex>,
    /// Locks that were taken in turn so far.
    turn: AtomicUsize,
    pub(crate) words: Option<Words>,
}

impl Shared {
    pub(crate) fn locks(count: u32) -> Result<Self, EngineError> {
        let mut locks = Vec::new();
        let count = count as usize;
        if locks.try_reserve_exact(count).is_err() {
            let bytes = count.saturating_mul(size_of::<Mutex>());
            let error = EngineError::new(format!("malloc({bytes})"), Errno::ENOMEM);
            return Err(error.hint("the locks do not fit into memory"));
        }
        // All of them now, so that no event pays for fresh memory.
        locks.resize_with(count, Mutex::default);
        Ok(Shared { locks, ..Shared::default() })
    }

    /// The next lock, in turn over all jobs; `None` if there are none.
    pub(crate) fn next_lock(&self) -> Option<&Mutex> {
        let turn = self.turn.fetch_add(1, Relaxed).checked_rem(self.locks.len())?;
        self.locks.get(turn)
    }

    /// A block of so many bytes, in huge pages of a size if that is given.
    pub(crate) fn memory(bytes: u64, page: Option<u64>) -> Result<Self, EngineError> {
        Ok(Shared { words: Some(Words::new(bytes, page)?), ..Shared::default() })
    }
}

/// The loads that have jobs, each with what its jobs share. It lives as long as one of them.
static LOADS: Lock<Vec<(Weak<EventLoad>, Weak<Shared>)>> = Lock::new(Vec::new());

/// What the jobs of `load` share, made by the first of them.
pub(crate) fn of(
    load: &Arc<EventLoad>,
    make: impl FnOnce() -> Result<Shared, EngineError>,
) -> Result<Arc<Shared>, EngineError> {
    let mut loads = LOADS.lock().unwrap_or_else(PoisonError::into_inner);
    loads.retain(|(_, shared)| shared.strong_count() > 0);
    let found = loads.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(load));
    if let Some(shared) = found.and_then(|(_, shared)| shared.upgrade()) {
        return Ok(shared);
    }
    let shared = Arc::new(make()?);
    loads.push((Arc::downgrade(load), Arc::downgrade(&shared)));
    Ok(shared)
}
