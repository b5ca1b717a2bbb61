//! Which files a job lays out, and how.

use ferrio_job::{EngineKind, Fallocate, FileKind, FileSpec, JobSpec, Layout, ReadWrite, layout_of};
use ferrio_plan::testing::default_job;

fn layout(rw: ReadWrite, change: fn(&mut JobSpec)) -> Layout {
    let mut spec = JobSpec { rw, engine: EngineKind::Psync, ..default_job("a") };
    spec.layout.overwrite = false;
    change(&mut spec);
    layout_of(&spec)
}

#[test]
fn readers_get_data_and_plain_writers_space() {
    assert!(layout(ReadWrite::Read, |_| {}).fills && layout(ReadWrite::Mixed, |_| {}).fills);
    assert!(!layout(ReadWrite::Write, |_| {}).fills && !layout(ReadWrite::Trim, |_| {}).fills);
    assert!(layout(ReadWrite::Write, |spec| spec.layout.overwrite = true).fills);
    assert!(layout(ReadWrite::Write, |spec| spec.engine = EngineKind::Mmap).fills);
}

#[test]
fn jobs_that_only_trim_keep_what_is_there() {
    assert!(!layout(ReadWrite::Trim, |_| {}).replaces && layout(ReadWrite::TrimWrite, |_| {}).replaces);
}

#[test]
fn files_that_appear_on_open_or_not_at_all_are_not_laid_out() {
    assert!(layout(ReadWrite::Read, |_| {}).is_enabled);
    assert!(!layout(ReadWrite::Read, |spec| spec.layout.create_on_open = true).is_enabled);
    assert!(!layout(ReadWrite::Read, |spec| spec.engine = EngineKind::Null).is_enabled);
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
        missing_device: false,
        run: None,
    };
    let after = |rw, change| layout(rw, change).size_after(&file, file.found);
    assert_eq!(after(ReadWrite::Read, |spec| spec.layout.fallocate = Fallocate::None), 12288);
    assert_eq!(after(ReadWrite::Write, |_| {}), 12288);
    assert_eq!(after(ReadWrite::Write, |spec| spec.layout.fallocate = Fallocate::Keep), 0);
    assert_eq!(after(ReadWrite::Write, |spec| spec.fill_device = true), 0);
    assert_eq!(after(ReadWrite::Trim, |spec| spec.layout.fallocate = Fallocate::None), 512);
}
