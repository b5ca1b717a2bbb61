//! Which files a job lays out, and how.

use crate::{Direction, Fallocate, FileKind, FileSpec, JobSpec};

/// How a job lays out its files. The runner does it; the planner and `ferrio check` predict it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The job lays out files at all. Otherwise they are created when they are opened, or the engine has none.
    pub is_enabled: bool,
    /// Files are filled with data. Otherwise, layout only reserves space, or does not even do that.
    pub fills: bool,
    /// Existing files are replaced. Otherwise, if the job only trims or verifies, they keep their contents and may grow.
    pub replaces: bool,
    /// Reserving space sets the size of the file.
    pub reserves_size: bool,
    /// The job only reads, but layout would replace existing files, and `allow_layout_overwrite` does not permit it. The user does not
    /// expect to lose their data.
    pub replaces_without_consent: bool,
}

/// How a job lays out its files: readers get files full of data, plain writers reserved space only, by fio's rules.
#[must_use]
pub fn layout_of(spec: &JobSpec) -> Layout {
    // Files to verify are never replaced.
    let (reads, writes) = (!spec.only_checks() && spec.rw.does(Direction::Read), spec.writes_data());
    Layout {
        is_enabled: !spec.layout.create_on_open && !spec.engine.is_diskless(),
        fills: reads || (writes && (spec.layout.overwrite || spec.engine.cannot_extend())),
        replaces: reads || writes,
        replaces_without_consent: reads
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
    pub fn applies_to(&self, file: &FileSpec) -> bool {
        self.is_enabled && file.extend && file.kind == FileKind::Regular
    }

    /// Whether this file holds data that the job has no reason to destroy, but layout would.
    #[must_use]
    pub fn would_destroy_data(&self, file: &FileSpec) -> bool {
        self.replaces_without_consent && self.applies_to(file) && file.found.is_some_and(|size| size > 0)
    }

    /// Size of the file after layout, given the size before.
    #[must_use]
    pub fn size_after(&self, file: &FileSpec, before: Option<u64>) -> u64 {
        match (self.fills || self.reserves_size, self.replaces) {
            (true, _) => file.end(),
            (false, true) => 0,
            (false, false) => before.unwrap_or(0),
        }
    }
}
