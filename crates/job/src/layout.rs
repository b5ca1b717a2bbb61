//! Laying out: what happens to the files of a job that are missing or too short, before it runs.

use crate::{Direction, Fallocate, FileKind, FileSpec, JobSpec};

/// How a job lays out its files. The runner does it; the planner and `ferrio check` foresee it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Files are laid out at all; otherwise they appear when they are opened, or the engine has none.
    pub happens: bool,
    /// Files are written full of data. Otherwise there is only reserved space, or nothing.
    pub fills: bool,
    /// Files are truncated and written again. Otherwise, if the job only trims, they grow and keep what they have.
    pub replaces: bool,
    /// Reserving space sets the size of the file.
    pub reserves_size: bool,
}

/// How a job lays out its files: readers get files full of data, plain writers reserved space only, by fio's rules.
#[must_use]
pub fn layout_of(spec: &JobSpec) -> Layout {
    let (reads, writes) = (spec.rw.does(Direction::Read), spec.rw.does(Direction::Write));
    Layout {
        happens: !spec.create_on_open && !spec.engine.is_diskless(),
        fills: reads || (writes && (spec.overwrite || spec.engine.cannot_extend())),
        replaces: reads || writes,
        reserves_size: !spec.fill_device && !matches!(spec.fallocate, Fallocate::None | Fallocate::Keep),
    }
}

impl Layout {
    /// Whether this file of the job is laid out.
    #[must_use]
    pub fn concerns(&self, file: &FileSpec) -> bool {
        self.happens && file.extend && file.kind == FileKind::Regular
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineKind, ReadWrite};

    fn layout(rw: ReadWrite, change: fn(&mut JobSpec)) -> Layout {
        let mut spec =
            JobSpec { rw, overwrite: false, engine: EngineKind::Psync, ..JobSpec::with_defaults("a") };
        change(&mut spec);
        layout_of(&spec)
    }

    #[test]
    fn readers_get_data_and_plain_writers_space() {
        assert!(layout(ReadWrite::Read, |_| {}).fills && layout(ReadWrite::Mixed, |_| {}).fills);
        assert!(!layout(ReadWrite::Write, |_| {}).fills && !layout(ReadWrite::Trim, |_| {}).fills);
        assert!(layout(ReadWrite::Write, |spec| spec.overwrite = true).fills);
        assert!(layout(ReadWrite::Write, |spec| spec.engine = EngineKind::Mmap).fills);
    }

    #[test]
    fn jobs_that_only_trim_keep_what_is_there() {
        assert!(!layout(ReadWrite::Trim, |_| {}).replaces && layout(ReadWrite::TrimWrite, |_| {}).replaces);
    }

    #[test]
    fn files_that_appear_on_open_or_not_at_all_are_not_laid_out() {
        assert!(layout(ReadWrite::Read, |_| {}).happens);
        assert!(!layout(ReadWrite::Read, |spec| spec.create_on_open = true).happens);
        assert!(!layout(ReadWrite::Read, |spec| spec.engine = EngineKind::Null).happens);
    }

    #[test]
    fn a_file_ends_as_large_as_data_or_reserved_space_make_it() {
        let file = FileSpec {
            path: "f".into(),
            kind: FileKind::Regular,
            offset: 4096,
            size: 8192,
            real_size: 12288,
            found: Some(512),
            extend: true,
        };
        let after = |rw, change| layout(rw, change).size_after(&file, file.found);
        assert_eq!(after(ReadWrite::Read, |spec| spec.fallocate = Fallocate::None), 12288);
        assert_eq!(after(ReadWrite::Write, |_| {}), 12288);
        assert_eq!(after(ReadWrite::Write, |spec| spec.fallocate = Fallocate::Keep), 0);
        assert_eq!(after(ReadWrite::Write, |spec| spec.fill_device = true), 0);
        assert_eq!(after(ReadWrite::Trim, |spec| spec.fallocate = Fallocate::None), 512);
    }
}
