//! Where the files of a job are, and when they are opened.

use std::path::Path;

use super::JobSpec;
use crate::{Direction, FileKind, FileSpec};

impl JobSpec {
    /// True when a file is opened when it is first used, or when a replayed log says so, and closed when it is finished. Otherwise all
    /// files are open throughout each pass. Engines that measure another operation than I/O, such as `filecreate` and `filestat`,
    /// always open on demand, so that the operation is part of the measurement.
    #[must_use]
    pub fn opens_on_demand(&self) -> bool {
        let syncs_each = self.durability.fsync_on_close && self.rw.does(Direction::Write);
        self.replay.is_some()
            || self.engine.operates_on_files()
            || (self.opening.openfiles as usize) < self.files.len()
            || (syncs_each && self.files.len() > 1)
    }

    /// Paths by which the storage of the job can be found: its block devices, its existing files, and for new files their directory.
    /// A path is not repeated for consecutive files, such as many new ones in one directory. Engines without files have none.
    pub fn storage_paths(&self) -> impl Iterator<Item = &Path> {
        let mut last = None;
        let stored = |file: &&FileSpec| matches!(file.kind, FileKind::Regular | FileKind::Block);
        self.files.iter().filter(stored).filter_map(move |file| {
            let is_new = file.kind == FileKind::Regular && file.found.is_none();
            let path = if is_new { file.directory() } else { &file.path };
            (last.replace(path) != Some(path)).then_some(path)
        })
    }
}
