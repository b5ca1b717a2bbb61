//! Properties that every engine for file I/O must have, for the tests of each engine.

use ferrio_job::JobSpec;

use super::{Rig, content, file_with, open};
use crate::{Engine, Op, OpenFile};

/// Size of the files in bytes.
const SIZE: usize = 256 << 10;
const BLOCK: usize = 4096;

/// Checks the engine `E`; `spec` names it and sets the queue depth.
///
/// # Panics
/// When the engine lacks one of the properties.
pub fn holds_for<E: Engine>(spec: &JobSpec) {
    moves_all_bytes_and_no_others::<E>(spec);
    ends_where_the_file_ends::<E>(spec);
    reports_errors_as_results::<E>(spec);
    completes_every_request_once::<E>(spec);
    uses_the_files_attached_last::<E>(spec);
}

#[expect(clippy::expect_used, reason = "support of tests")]
fn rig<E: Engine>(spec: &JobSpec, file: &tempfile::NamedTempFile) -> Rig<E> {
    let files = open(file, libc::O_RDWR).expect("the file can be opened");
    Rig::new(spec, files).expect("the engine opens")
}

#[expect(clippy::expect_used, reason = "support of tests")]
fn moves_all_bytes_and_no_others<E: Engine>(spec: &JobSpec) {
    let file = file_with(&content(SIZE));
    let mut rig = rig::<E>(spec, &file);
    assert_eq!(rig.read(2 * BLOCK as u64, 3 * BLOCK), content(SIZE)[2 * BLOCK..5 * BLOCK]);
    rig.write(BLOCK as u64, &[7; BLOCK]);
    assert_eq!(rig.read(BLOCK as u64, BLOCK), [7; BLOCK]);
    for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(libc::SYNC_FILE_RANGE_WRITE as u8)] {
        assert_eq!(rig.run(op, 0, BLOCK as u64), 0, "{op:?}");
    }
    assert_eq!(rig.run(Op::Trim, 0, BLOCK as u64), -i64::from(libc::ENOTTY), "only devices can be trimmed");
    let mut expected = content(SIZE);
    expected[BLOCK..2 * BLOCK].fill(7);
    assert!(std::fs::read(file.path()).expect("the file is readable") == expected);
}

/// Reads across the end of the file are short, and reads beyond it are empty. For a mapping such reads are errors.
fn ends_where_the_file_ends<E: Engine>(spec: &JobSpec) {
    let file = file_with(&content(SIZE));
    let mut rig = rig::<E>(spec, &file);
    let (short, empty) = (rig.run(Op::Read, SIZE as u64 - 512, 4096), rig.run(Op::Read, SIZE as u64, 4096));
    if spec.engine.maps_files() {
        assert!(short < 0 && empty < 0, "{short} {empty}");
    } else {
        assert_eq!((short, empty), (512, 0));
    }
}

#[expect(clippy::expect_used, reason = "support of tests")]
fn reports_errors_as_results<E: Engine>(spec: &JobSpec) {
    let file = file_with(&content(SIZE));
    let files = open(&file, libc::O_WRONLY).expect("the file can be opened");
    match Rig::<E>::new(spec, files) {
        Ok(mut rig) => {
            assert_eq!(rig.run(Op::Read, 0, 4096), -i64::from(libc::EBADF));
            rig.write(0, &[3; 512]);
        }
        // A file that is not readable cannot be mapped.
        Err(error) => assert!(spec.engine.maps_files() && error.errno() == libc::EACCES, "{error}"),
    }
}

fn completes_every_request_once<E: Engine>(spec: &JobSpec) {
    const REQUESTS: u32 = 64;
    let file = file_with(&content(SIZE));
    let depth = spec.depth.iodepth;
    for (batch, min) in [(1, 1), (depth, depth), (depth.div_ceil(2), 1), (depth, 0)] {
        let mut rig = rig::<E>(spec, &file);
        let done = rig.pump(Op::Read, REQUESTS, BLOCK as u64, batch, min);
        assert_eq!(done.len(), REQUESTS as usize, "batch {batch}, min {min}");
        assert!(done.iter().all(|done| done.result == BLOCK as i64 && done.unit < depth), "{done:?}");
    }
}

#[expect(clippy::expect_used, reason = "support of tests")]
fn uses_the_files_attached_last<E: Engine>(spec: &JobSpec) {
    let [first, second, third] = [1, 2, 3].map(|byte| file_with(&[byte; SIZE]));
    let mut rig = rig::<E>(spec, &first);
    assert_eq!(rig.read(0, BLOCK), [1; BLOCK]);
    let files = open(&second, libc::O_RDWR).expect("the file can be opened");
    rig.engine.attach(&files).expect("the engine takes other files");
    rig.files = files;
    assert_eq!(rig.read(0, BLOCK), [2; BLOCK]);
    // As between two passes: the file is closed, and another one takes its place.
    rig.engine.attach_one(0, &OpenFile { fd: None, offset: 0, size: SIZE as u64 }).expect("a file is closed");
    rig.files = open(&third, libc::O_RDWR).expect("the file can be opened");
    rig.engine.attach_one(0, &rig.files.files[0]).expect("a file is opened");
    assert_eq!(rig.read(BLOCK as u64, BLOCK), [3; BLOCK]);
}
