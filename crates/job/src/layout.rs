//! Which files a job lays out, and how.

use crate::{Direction, Fallocate, FileKind, FileSpec, JobSpec};

/// How a job lays out its files. The runner does it; the planner and `ferrio check` predict it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Files are laid out at all; otherwise they appear when they are opened, or the engine has none.
    pub happens: bool,
    /// Files are written full of data. Otherwise there is only reserved space, or nothing.
    pub fills: bool,
    /// Files are truncated and written again. Otherwise, if the job only trims or verifies, they grow and keep what they have.
    pub replaces: bool,
    /// Reserving space sets the size of the file.
    pub reserves_size: bool,
    /// The job only reads, but files are replaced without `allow_layout_overwrite`: the user does not expect to lose their data.
    pub replaces_unasked: bool,
}

/// How a job lays out its files: readers get files full of data, plain writers reserved space only, by fio's rules.
#[must_use]
pub fn layout_of(spec: &JobSpec) -> Layout {
    // What is to be verified is never replaced.
    let (reads, writes) = (!spec.only_checks() && spec.rw.does(Direction::Read), spec.writes_data());
    Layout {
        happens: !spec.layout.create_on_open && !spec.engine.is_diskless(),
        fills: reads || (writes && (spec.layout.overwrite || spec.engine.cannot_extend())),
        replaces: reads || writes,
        replaces_unasked: reads
            && !writes
            && !spec.rw.does(Direction::Trim)
            && !spec.file_append
            && !spec.opening.readonly
            && !spec.layout.allow_layout_overwrite,
        reserves_size: !spec.fill_device
            && !matches!(spec.layout.fallocate, Fallocate::None | Fallocate::Keep),
    }
}

impl Layout {
    /// Whether this file of the job is laid out.
    #[must_use]
    pub fn concerns(&self, file: &FileSpec) -> bool {
        self.happens && file.extend && file.kind == FileKind::Regular
    }

    /// Whether this file holds data that the job has no reason to destroy, but layout would.
    #[must_use]
    pub fn endangers(&self, file: &FileSpec) -> bool {
        self.replaces_unasked && self.concerns(file) && file.found.is_some_and(|size| size > 0)
    }

    /// Size of such a file afterwards, if it had this one before.
    #[must_use]
    pub fn size_after(&self, file: &FileSpec, before: Option<u64>) -> u64 {
        match (self.fills || self.reserves_size, self.replaces) {
            (true, _) => file.end(),
            (false, true) => 0,
            (false, false) => before.unwrap_or(0),
        }
    }
}
