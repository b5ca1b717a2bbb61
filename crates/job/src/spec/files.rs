//! Where the files of a job are, and when they are opened.

use std::path::Path;

use super::JobSpec;
use crate::{Direction, FileKind, FileSpec};

impl JobSpec {
    /// True when a file is opened when it is first used, or when a replayed log says so, and closed when it is finished. Otherwise all
    /// files are open for a whole pass, from before the first I/O on: what an engine does in place of opening them must be measured.
    #[must_use]
    pub fn opens_on_demand(&self) -> bool {
        let syncs_each = self.durability.fsync_on_close && self.rw.does(Direction::Write);
        self.replay.is_some()
            || self.engine.operates_on_files()
            || (self.opening.openfiles as usize) < self.files.len()
            || (syncs_each && self.files.len() > 1)
    }

    /// Paths that are where the files and block devices of the job are. New files are where their directory is, so that a hundred
    /// thousand of them in one directory are one path; engines without files have none.
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
