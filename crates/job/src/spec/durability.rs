//! How the I/O of a job reaches the device.

use super::JobSpec;
use crate::{EngineKind, FileKind, FileSpec, LibaioBackend, OpenSync};

impl JobSpec {
    /// True when its I/O goes through the page cache.
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        // A mapping is the page cache, whatever the open flags say.
        let mapped = self.engine.maps_files();
        let cached = (!self.opening.direct || mapped) && !self.engine.is_on_persistent_memory();
        cached && self.engine.moves_data() && !self.engine.is_diskless()
    }

    /// True when it keeps one I/O in flight although `iodepth` asks for more: `io_submit` returns only when a buffered I/O is complete.
    #[must_use]
    pub fn submits_one_by_one(&self) -> bool {
        let is_stored = |file: &FileSpec| matches!(file.kind, FileKind::Regular | FileKind::Block);
        self.engine == EngineKind::Libaio
            && self.engine_options.libaio.backend != LibaioBackend::IoUring
            && self.depth.iodepth > 1
            && self.is_buffered()
            && !self.layout.create_only
            && self.files.iter().any(is_stored)
    }

    /// True when writes are made durable while it runs or when it ends.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        let durability = &self.durability;
        durability.fsync > 0
            || durability.fdatasync > 0
            || durability.end_fsync
            || durability.fsync_on_close
            || durability.end_syncfs
            || self.opening.open_sync != OpenSync::None
    }
}
