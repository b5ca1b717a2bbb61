use std::fs;

use ferrio_engine::testing::{Rig, content, file_with, open};
use ferrio_plan::testing::spec_of;

use super::*;

/// The engine on ordinary memory: a shared mapping of any file.
struct OnOrdinaryMemory(PersistentMemory);

impl Engine for OnOrdinaryMemory {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        // Larger than a page, so that regions are in the middle of units.
        PersistentMemory::with_sharing(spec, Sharing::Shared, 4 * PAGE_BYTES).map(OnOrdinaryMemory)
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.0.attach(files)
    }

    fn submit(&mut self, request: &Request) -> Submit {
        self.0.submit(request)
    }
}

fn rig(options: &str, files: FileSet) -> Rig<OnOrdinaryMemory> {
    let spec = spec_of(&format!("[a]\nioengine=libpmem\nrw=randrw\nsize=64k\n{options}"));
    Rig::new(&spec, files).unwrap()
}

#[test]
fn what_is_written_is_in_the_file_and_read_back() {
    for options in ["", "direct=1\n", "sync=1\n", "direct=1\nsync=1\n"] {
        let file = file_with(&content(65536));
        let mut rig = rig(options, open(&file, libc::O_RDWR).unwrap());
        assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288], "{options}");
        rig.write(4096, &[7; 4096]);
        // Neither begins nor ends with a cache line.
        rig.write(1001, &[8; 777]);
        assert_eq!(
            rig.read(1000, 800)[..],
            [&content(65536)[1000..1001], &[8; 777], &content(65536)[1778..1800]].concat()
        );
        for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
            assert_eq!(rig.run(op, 0, 4096), 0, "{op:?}");
        }
        assert_eq!(rig.run(Op::Trim, 0, 4096), -i64::from(libc::ENOTTY));
        drop(rig);
        let found = fs::read(file.path()).unwrap();
        assert!(found[..1001] == content(65536)[..1001] && found[1001..1778] == [8; 777], "{options}");
        assert!(found[4096..8192] == [7; 4096] && found[8192..] == content(65536)[8192..], "{options}");
    }
}

#[test]
fn only_the_region_is_accessible_wherever_it_begins() {
    let file = file_with(&content(65536));
    let mut files = open(&file, libc::O_RDWR).unwrap();
    (files.files[0].offset, files.files[0].size) = (20481, 8192);
    let mut rig = rig("", files);
    assert_eq!(rig.read(20481, 8192), content(65536)[20481..28673]);
    for (offset, len) in [(20480, 4096), (28672, 4096), (u64::MAX, 4096)] {
        assert_eq!(rig.run(Op::Read, offset, len), -i64::from(libc::EINVAL), "{len} at {offset}");
    }
}

#[test]
fn a_file_that_becomes_shorter_gives_short_ios_and_recovers_when_it_grows_again() {
    for options in ["", "direct=1\n"] {
        let file = file_with(&content(65536));
        let mut rig = rig(options, open(&file, libc::O_RDWR).unwrap());
        assert_eq!(rig.read(40960, 4096), content(65536)[40960..45056]);
        file.as_file().set_len(8192 + 100).unwrap();
        for op in [Op::Read, Op::Write] {
            assert_eq!(rig.run(op, 40960, 8192), 0, "{op:?} beyond the end");
            assert_eq!(rig.run(op, 8192, 8192), 100, "{op:?} across the end");
            assert_eq!(rig.run(op, 4096, 4096), 4096, "{op:?} before the end");
        }
        file.as_file().set_len(65536).unwrap();
        assert_eq!(rig.read(40960, 4096), [0; 4096], "the file's own bytes");
        rig.write(40960, &[3; 4096]);
        assert_eq!(fs::read(file.path()).unwrap()[40960..45056], [3; 4096]);
    }
}

#[test]
fn ordinary_files_are_no_persistent_memory() {
    let file = file_with(&content(65536));
    let spec = spec_of("[a]\nioengine=libpmem\nrw=read\nsize=64k\n");
    let error = Rig::<PersistentMemory>::new(&spec, open(&file, libc::O_RDWR).unwrap()).err().unwrap();
    assert_eq!(error.func, "file_name does not point to persistent memory");
    assert_eq!(error.errno(), libc::EOPNOTSUPP);
}
