use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use ferrio_job::{Direction, EngineKind, ReadWrite};
use ferrio_plan::testing::{default_job, file};
use ferrio_workload::SEEDS;
use tempfile::TempDir;

use super::*;

const SIZE: u64 = 64 * 1024;

struct Case {
    directory: TempDir,
    spec: JobSpec,
    stop: AtomicBool,
    notes: Vec<Diagnostic>,
}

impl Case {
    /// A job over one missing file.
    fn new(rw: ReadWrite) -> Self {
        let directory = TempDir::new().unwrap();
        let mut spec = default_job("a");
        spec.rw = rw;
        spec.layout.overwrite = rw.does(Direction::Read);
        spec.files = vec![file(directory.path().join("f"), FileKind::Regular, SIZE)];
        Case { directory, spec, stop: AtomicBool::new(false), notes: Vec::new() }
    }

    fn path(&self) -> PathBuf {
        self.spec.files[0].path.clone()
    }

    fn read(&self) -> Vec<u8> {
        fs::read(self.path()).unwrap()
    }

    fn lay_out(&mut self) -> Result<LayoutEnd, Failure> {
        let content = &mut LayoutContent::new(&self.spec, [0; SEEDS]).unwrap();
        let note = &mut |line| self.notes.push(line);
        FileLayout { spec: &self.spec, content, stop: &|| self.stop.load(Relaxed), note }.lay_out()
    }

    fn complete(&mut self) {
        assert_eq!(self.lay_out().unwrap(), LayoutEnd::Complete);
    }

    fn errno(&mut self) -> i32 {
        self.lay_out().unwrap_err().error.errno
    }
}

fn is_data(bytes: &[u8]) -> bool {
    bytes.chunks(512).all(|sector| sector.iter().any(|&b| b != 0))
}

#[test]
fn a_reader_gets_a_file_full_of_data() {
    for rw in [ReadWrite::Read, ReadWrite::RandRead, ReadWrite::Mixed] {
        let mut case = Case::new(rw);
        case.spec.files[0].offset = 1000;
        assert_eq!(pending(&case.spec), (1, SIZE + 1000));
        case.complete();
        assert_eq!(case.read().len() as u64, SIZE + 1000);
        assert!(is_data(&case.read()));
        assert_eq!(fs::metadata(case.path()).unwrap().mode() & 0o777 & !0o644, 0);
    }
}

#[test]
fn a_plain_writer_gets_space_but_no_data() {
    let mut case = Case::new(ReadWrite::Write);
    case.spec.layout.fallocate = Fallocate::Truncate;
    case.complete();
    assert_eq!(case.read(), vec![0; SIZE as usize]);
    let mut case = Case::new(ReadWrite::Write);
    case.spec.layout.fallocate = Fallocate::None;
    case.complete();
    assert_eq!(case.read(), b"");
}

#[test]
fn writers_that_need_old_data_get_it() {
    let mut overwriting = Case::new(ReadWrite::Write);
    overwriting.spec.layout.overwrite = true;
    overwriting.complete();
    assert!(overwriting.read().len() as u64 == SIZE && is_data(&overwriting.read()));
    let mut mapped = Case::new(ReadWrite::RandWrite);
    mapped.spec.engine = EngineKind::Mmap;
    mapped.complete();
    assert!(mapped.read().len() as u64 == SIZE && is_data(&mapped.read()));
}

#[test]
fn a_shorter_file_is_replaced_except_for_trims() {
    for (rw, kept) in [(ReadWrite::Read, false), (ReadWrite::Write, false), (ReadWrite::Trim, true)] {
        let mut case = Case::new(rw);
        case.spec.layout.fallocate = Fallocate::None;
        fs::write(case.path(), "old").unwrap();
        let link = case.directory.path().join("link");
        fs::hard_link(case.path(), &link).unwrap();
        case.complete();
        assert_eq!(fs::read(&link).unwrap(), b"old", "{rw:?}");
        assert_eq!(case.read() == b"old", kept, "{rw:?}");
    }
}

#[test]
fn a_file_that_is_long_enough_is_left_alone() {
    for rw in [ReadWrite::Read, ReadWrite::Write] {
        let mut case = Case::new(rw);
        fs::write(case.path(), vec![7; SIZE as usize + 1]).unwrap();
        case.complete();
        assert_eq!(case.read(), vec![7; SIZE as usize + 1]);
    }
}

#[test]
fn a_symbolic_link_is_followed_and_kept() {
    let mut case = Case::new(ReadWrite::Read);
    let target = case.directory.path().join("target");
    fs::write(&target, "old").unwrap();
    symlink(&target, case.path()).unwrap();
    case.complete();
    assert!(fs::symlink_metadata(case.path()).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().len(), SIZE);
}

#[test]
fn a_directory_is_refused() {
    let mut case = Case::new(ReadWrite::Read);
    fs::create_dir(case.path()).unwrap();
    // The size of a directory depends on the file system: it must not pass for a file that is long enough.
    case.spec.files[0].size = 1 << 40;
    assert_eq!(case.errno(), libc::EISDIR);
    assert!(case.path().is_dir());
}

#[test]
fn missing_directories_are_made_for_their_owner_only() {
    let mut case = Case::new(ReadWrite::Read);
    let parent = case.directory.path().join("new/deep");
    case.spec.files[0].path = parent.join("f");
    case.complete();
    assert_eq!(fs::metadata(&parent).unwrap().mode() & 0o777, 0o700);
    assert_eq!(case.read().len() as u64, SIZE);
}

#[test]
fn a_parent_that_is_a_file_is_an_error() {
    let mut case = Case::new(ReadWrite::Read);
    let parent = case.directory.path().join("file");
    fs::write(&parent, "").unwrap();
    case.spec.files[0].path = parent.join("f");
    assert_eq!(case.errno(), libc::ENOTDIR);
}

#[test]
fn a_stop_removes_the_half_written_file_also_behind_a_link() {
    for linked in [false, true] {
        let case = Case::new(ReadWrite::Read);
        let target = case.directory.path().join("target");
        if linked {
            symlink(&target, case.path()).unwrap();
        }
        let file = case.spec.files[0].clone();
        let content = &mut LayoutContent::new(&case.spec, [0; SEEDS]).unwrap();
        case.stop.store(true, Relaxed);
        let stop = &|| case.stop.load(Relaxed);
        let mut layout = FileLayout { spec: &case.spec, content, stop, note: &mut |_| {} };
        let stopped = layout.extend(&file, &ExistingFile::at(&file.path).unwrap()).unwrap();
        assert_eq!(stopped, LayoutEnd::Stopped);
        assert!(!target.exists() && !case.path().exists());
    }
}

/// Lays out one file and stops after that many blocks of 4 KiB.
fn stopped_after(case: &Case, blocks: u32) -> LayoutEnd {
    let content = &mut LayoutContent::new(&case.spec, [0; SEEDS]).unwrap();
    let asked = std::cell::Cell::new(0);
    let stop = &|| asked.replace(asked.get() + 1) >= blocks;
    let file = &case.spec.files[0];
    let mut layout = FileLayout { spec: &case.spec, content, stop, note: &mut |_| {} };
    layout.extend(file, &ExistingFile::at(&file.path).unwrap()).unwrap()
}

#[test]
fn a_stop_leaves_a_file_that_was_not_created_and_cuts_it_to_what_is_written() {
    for linked in [false, true] {
        let mut case = Case::new(ReadWrite::Read);
        case.spec.layout.allow_file_create = linked;
        let target = case.directory.path().join("target");
        fs::write(if linked { &target } else { &case.spec.files[0].path }, "old").unwrap();
        if linked {
            symlink(&target, case.path()).unwrap();
        }
        let link = case.directory.path().join("hard link");
        fs::hard_link(if linked { target } else { case.path() }, &link).unwrap();
        assert_eq!(stopped_after(&case, 2), LayoutEnd::Stopped);
        assert_eq!(case.read().len(), 8192, "linked: {linked}");
        assert!(is_data(&case.read()));
        assert_eq!(fs::metadata(link).unwrap().ino(), fs::metadata(case.path()).unwrap().ino());
    }
}

#[test]
fn a_stop_removes_the_file_that_took_the_place_of_a_shorter_one() {
    let case = Case::new(ReadWrite::Read);
    fs::write(case.path(), "old").unwrap();
    assert_eq!(stopped_after(&case, 2), LayoutEnd::Stopped);
    assert!(!case.path().exists());
}

#[test]
fn a_stop_also_ends_a_layout_without_data() {
    let mut case = Case::new(ReadWrite::Write);
    case.stop.store(true, Relaxed);
    assert_eq!(case.lay_out().unwrap(), LayoutEnd::Stopped);
    assert!(!case.path().exists());
}

#[test]
fn nothing_is_made_for_create_on_open_diskless_engines_and_read_only_runs() {
    let mut on_open = Case::new(ReadWrite::Read);
    on_open.spec.layout.create_on_open = true;
    let mut diskless = Case::new(ReadWrite::Read);
    diskless.spec.engine = EngineKind::Null;
    for mut case in [on_open, diskless] {
        assert_eq!(pending(&case.spec), (0, 0));
        case.complete();
        assert!(!case.path().exists());
    }
    let mut read_only = Case::new(ReadWrite::Read);
    read_only.spec.opening.readonly = true;
    read_only.complete();
    assert!(!read_only.path().exists());
    assert_eq!(read_only.notes.len(), 1);
}

#[test]
fn a_region_beyond_all_sizes_is_an_error_not_a_panic() {
    let mut case = Case::new(ReadWrite::Write);
    (case.spec.files[0].offset, case.spec.files[0].size) = (u64::MAX - 5, 10);
    assert_eq!(pending(&case.spec), (1, u64::MAX));
    assert_eq!(case.errno(), libc::EFBIG);
}

#[test]
fn a_block_that_no_memory_can_hold_is_an_error() {
    let mut case = Case::new(ReadWrite::Read);
    case.spec.layout.fallocate = Fallocate::None;
    case.spec.block[Direction::Write].max = 1 << 62;
    case.spec.files[0].size = 1 << 62;
    let errno = case.errno();
    // A file system may refuse the size before memory does.
    assert!([libc::ENOMEM, libc::EFBIG, libc::EINVAL].contains(&errno), "{errno}");
}

#[test]
fn layout_writes_the_jobs_kind_of_data() {
    let mut case = Case::new(ReadWrite::Read);
    case.spec.buffer.zero = true;
    case.complete();
    assert_eq!(case.read(), vec![0; SIZE as usize]);
}

#[test]
fn a_file_that_is_appended_to_keeps_what_it_has() {
    for rw in [ReadWrite::Write, ReadWrite::Read, ReadWrite::RandMixed] {
        let mut case = Case::new(rw);
        fs::write(case.path(), b"keep this text").unwrap();
        case.spec.file_append = true;
        (case.spec.files[0].offset, case.spec.files[0].found) = (14, Some(14));
        case.spec.files[0].real_size = SIZE + 14;
        case.complete();
        let bytes = case.read();
        assert_eq!(&bytes[..14], b"keep this text");
        if rw.does(Direction::Read) {
            assert_eq!(bytes.len() as u64, SIZE + 14);
            assert!(is_data(&bytes[14..]));
        }
        case.stop.store(true, Relaxed);
        case.spec.files[0].size += 5;
        case.spec.files[0].real_size += 5;
        assert_eq!(case.lay_out().unwrap(), LayoutEnd::Stopped);
        assert_eq!(&case.read()[..14], b"keep this text");
    }
}
