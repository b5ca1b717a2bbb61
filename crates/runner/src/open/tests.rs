use std::fs;

use ferrio_job::ReadWrite;
use ferrio_plan::testing::{default_job, file};
use tempfile::{NamedTempFile, TempDir};

use super::*;

fn spec(rw: ReadWrite, path: &std::path::Path) -> JobSpec {
    let mut spec = default_job("a");
    spec.rw = rw;
    spec.files = vec![FileSpec { extend: false, ..file(path, FileKind::Regular, 4096) }];
    spec
}

fn open(spec: &JobSpec) -> Result<FileSet, Failure> {
    open_files(spec, &mut |line| panic!("{}", line.message))
}

/// Access mode and flags of the only file, as the kernel has them.
fn flags(spec: &JobSpec) -> i32 {
    let files = open(spec).unwrap();
    let info = fs::read_to_string(format!("/proc/thread-self/fdinfo/{}", files.files[0].raw_fd())).unwrap();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    i32::from_str_radix(flags.trim(), 8).unwrap()
}

#[test]
fn readers_open_for_reading_all_others_for_both() {
    let file = NamedTempFile::new().unwrap();
    for (rw, access) in [
        (ReadWrite::Read, libc::O_RDONLY),
        (ReadWrite::RandRead, libc::O_RDONLY),
        (ReadWrite::Write, libc::O_RDWR),
        (ReadWrite::RandMixed, libc::O_RDWR),
        (ReadWrite::Trim, libc::O_RDWR),
    ] {
        assert_eq!(flags(&spec(rw, file.path())) & libc::O_ACCMODE, access, "{rw:?}");
    }
}

#[test]
fn a_read_only_run_never_opens_for_writing() {
    let file = NamedTempFile::new().unwrap();
    let mut spec = spec(ReadWrite::Write, file.path());
    spec.opening.readonly = true;
    assert_eq!(flags(&spec) & libc::O_ACCMODE, libc::O_RDONLY);
}

#[test]
fn sync_options_are_open_flags() {
    let file = NamedTempFile::new().unwrap();
    let mut spec = spec(ReadWrite::Write, file.path());
    assert_eq!(flags(&spec) & libc::O_SYNC, 0);
    spec.opening.open_sync = OpenSync::Dsync;
    assert_eq!(flags(&spec) & libc::O_SYNC, libc::O_DSYNC);
    spec.opening.open_sync = OpenSync::Sync;
    assert_eq!(flags(&spec) & libc::O_SYNC, libc::O_SYNC);
}

#[test]
fn writers_create_missing_files_for_their_owner() {
    use std::os::unix::fs::PermissionsExt;

    let directory = TempDir::new().unwrap();
    let path = directory.path().join("f");
    open(&spec(ReadWrite::Write, &path)).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn readers_and_trims_need_the_file_unless_it_is_created_on_open() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("f");
    for rw in [ReadWrite::Read, ReadWrite::Trim] {
        let error = open(&spec(rw, &path)).unwrap_err().error;
        assert_eq!((error.errno, error.func), (libc::ENOENT, format!("open({})", path.display())));
    }
    let mut spec = spec(ReadWrite::Read, &path);
    spec.layout.create_on_open = true;
    open(&spec).unwrap();
    assert!(path.exists());
}

#[test]
fn a_file_without_a_region_is_neither_opened_nor_created() {
    let directory = TempDir::new().unwrap();
    let mut spec = spec(ReadWrite::Write, &directory.path().join("f"));
    spec.files[0].size = 0;
    assert!(open(&spec).unwrap().files[0].fd.is_none());
    assert!(!spec.files[0].path.exists());
}

#[test]
fn a_character_device_is_opened_and_not_invalidated() {
    let mut spec = spec(ReadWrite::Write, "/dev/null".as_ref());
    spec.files[0].kind = FileKind::Char;
    assert!(open(&spec).unwrap().files[0].fd.is_some());
}
