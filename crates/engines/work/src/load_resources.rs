//! Resources shared by the jobs of a load: locks, and a block of memory.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex as Lock, PoisonError, Weak};

use ferrio_engine::EngineError;
use ferrio_job::EventLoad;
use nix::errno::Errno;

use crate::memory::MemoryBlock;
use crate::mutex::Mutex;

/// The resources of one load.
#[derive(Default)]
pub(crate) struct LoadResources {
    pub(crate) locks: Vec<Mutex>,
    /// Number of locks handed out so far, for round-robin.
    locks_handed_out: AtomicUsize,
    pub(crate) memory: Option<MemoryBlock>,
}

impl LoadResources {
    pub(crate) fn with_locks(count: u32) -> Result<Self, EngineError> {
        let mut locks = Vec::new();
        let count = count as usize;
        if locks.try_reserve_exact(count).is_err() {
            let bytes = count.saturating_mul(size_of::<Mutex>());
            let error = EngineError::new(format!("malloc({bytes})"), Errno::ENOMEM);
            return Err(error.hint("the locks do not fit into memory"));
        }
        // All pages are touched now, to keep page faults out of the measurement.
        locks.resize_with(count, Mutex::default);
        Ok(LoadResources { locks, ..LoadResources::default() })
    }

    /// The next lock, round-robin over all jobs; `None` if there are none.
    pub(crate) fn next_lock(&self) -> Option<&Mutex> {
        let index = self.locks_handed_out.fetch_add(1, Relaxed).checked_rem(self.locks.len())?;
        self.locks.get(index)
    }

    /// Allocates `bytes` bytes, in huge pages of `page` bytes if that is given.
    pub(crate) fn with_memory(bytes: u64, page: Option<u64>) -> Result<Self, EngineError> {
        Ok(LoadResources { memory: Some(MemoryBlock::new(bytes, page)?), ..LoadResources::default() })
    }
}

/// The resources of each load that has jobs; dropped with the last job of the load.
static LOAD_RESOURCES: Lock<Vec<(Weak<EventLoad>, Weak<LoadResources>)>> = Lock::new(Vec::new());

/// The resources of `load`, created by its first job.
pub(crate) fn resources_of(
    load: &Arc<EventLoad>,
    make: impl FnOnce() -> Result<LoadResources, EngineError>,
) -> Result<Arc<LoadResources>, EngineError> {
    let mut loads = LOAD_RESOURCES.lock().unwrap_or_else(PoisonError::into_inner);
    loads.retain(|(_, resources)| resources.strong_count() > 0);
    let found = loads.iter().find(|(known, _)| known.as_ptr() == Arc::as_ptr(load));
    if let Some(resources) = found.and_then(|(_, resources)| resources.upgrade()) {
        return Ok(resources);
    }
    let resources = Arc::new(make()?);
    loads.push((Arc::downgrade(load), Arc::downgrade(&resources)));
    Ok(resources)
}
