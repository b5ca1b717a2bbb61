use std::fs;

use ferrio_engine::testing::{Rig, content, contract, file_with, open};
use ferrio_job::{Direction, ReadWrite};
use ferrio_plan::testing::{default_job, spec_of};

use super::*;

fn spec(rw: ReadWrite, change: impl FnOnce(&mut JobSpec)) -> JobSpec {
    let mut spec = default_job("mmap");
    spec.rw = rw;
    change(&mut spec);
    spec
}

fn refusal(spec: &JobSpec, files: FileSet) -> EngineError {
    Rig::<Mmap>::new(spec, files).err().unwrap()
}

#[test]
fn what_every_engine_promises_holds() {
    contract::holds_for::<Mmap>(&spec_of("[a]\nioengine=mmap\nrw=randrw\nsize=256k\niodepth=1\n"));
}

#[test]
fn what_is_written_is_in_the_file_and_read_back() {
    let file = file_with(&content(65536));
    for direct in [false, true] {
        let spec = spec(ReadWrite::RandMixed, |spec| spec.opening.direct = direct);
        let mut rig = Rig::<Mmap>::new(&spec, open(&file, libc::O_RDWR).unwrap()).unwrap();
        assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288]);
        rig.write(4096, &[7; 4096]);
        assert_eq!(rig.read(4096, 4096), [7; 4096]);
        for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
            assert_eq!(rig.run(op, 0, 4096), 0, "{op:?}");
        }
        assert_eq!(rig.run(Op::Trim, 0, 4096), -i64::from(libc::ENOTTY));
        drop(rig);
        let found = fs::read(file.path()).unwrap();
        assert!(found[4096..8192] == [7; 4096] && found[8192..] == content(65536)[8192..]);
    }
}

#[test]
fn write_jobs_and_read_jobs_map_what_their_descriptors_allow() {
    let file = file_with(&content(8192));
    let mut reader =
        Rig::<Mmap>::new(&spec(ReadWrite::Read, |_| ()), open(&file, libc::O_RDONLY).unwrap()).unwrap();
    let mut writer =
        Rig::<Mmap>::new(&spec(ReadWrite::Write, |_| ()), open(&file, libc::O_RDWR).unwrap()).unwrap();
    writer.write(100, &[9; 1000]);
    assert_eq!(reader.read(100, 1000), [9; 1000], "mappings are shared");
    let error = refusal(&spec(ReadWrite::Write, |_| ()), open(&file, libc::O_RDONLY).unwrap());
    assert_eq!((error.func.as_str(), error.errno()), ("mmap", libc::EACCES));
    let verifies = spec_of("[a]\nioengine=mmap\nrw=write\nsize=8k\nverify=crc32c\nverify_only\n");
    let mut verifier = Rig::<Mmap>::new(&verifies, open(&file, libc::O_RDONLY).unwrap()).unwrap();
    assert_eq!(verifier.read(100, 1000), [9; 1000], "files of a job that only verifies are open for reading");
}

#[test]
fn huge_pages_map_privately() {
    if !fs::exists("/sys/kernel/mm/transparent_hugepage").unwrap() {
        return;
    }
    let file = file_with(&content(8192));
    let spec = spec(ReadWrite::Mixed, |spec| spec.engine_options.mmap.thp = true);
    let mut rig = Rig::<Mmap>::new(&spec, open(&file, libc::O_RDWR).unwrap()).unwrap();
    rig.write(0, &[9; 4096]);
    assert_eq!(rig.read(0, 4096), [9; 4096]);
    assert_eq!(fs::read(file.path()).unwrap(), content(8192));
    assert!(rig.engine.notes()[0].message.contains("writes do not reach the file"));
}

#[test]
fn a_file_that_ends_before_the_region_is_refused_when_attached() {
    let file = file_with(&content(8192));
    let mut files = open(&file, libc::O_RDONLY).unwrap();
    files.files[0].offset = 4096;
    let error = refusal(&spec(ReadWrite::Read, |_| ()), files);
    assert_eq!((error.func.as_str(), error.errno()), ("mmap", libc::EIO));
    assert!(error.to_string().contains("8192 bytes") && error.to_string().contains("12288"), "{error}");
}

#[test]
fn a_region_between_two_pages_is_refused() {
    let file = file_with(&content(8192));
    let mut files = open(&file, libc::O_RDONLY).unwrap();
    files.files[0].offset = 1000;
    files.files[0].size = 4096;
    let error = refusal(&spec(ReadWrite::Read, |_| ()), files);
    assert_eq!((error.func.as_str(), error.errno()), ("mmap", libc::EINVAL));
    assert!(error.to_string().contains("offset 1000"), "{error}");
}

#[test]
fn only_the_region_is_accessible() {
    let file = file_with(&content(16384));
    let mut files = open(&file, libc::O_RDONLY).unwrap();
    files.files[0].offset = 4096;
    files.files[0].size = 8192;
    let mut rig = Rig::<Mmap>::new(&spec(ReadWrite::Read, |_| ()), files).unwrap();
    assert_eq!(rig.read(4096, 8192), content(16384)[4096..12288]);
    for (offset, len) in [(0, 4096), (8192, 8192), (u64::MAX, 4096)] {
        assert_eq!(rig.run(Op::Read, offset, len), -i64::from(libc::EINVAL), "{len} at {offset}");
    }
}

#[test]
fn write_back_needs_blocks_of_whole_pages() {
    let odd = |change: fn(&mut JobSpec)| {
        let spec = spec(ReadWrite::Read, |spec| {
            spec.block[Direction::Read].min = 1000;
            change(spec);
        });
        Mmap::open(&spec, &Buffers::new(1, 4096, true).unwrap()).err()
    };
    assert!(odd(|_| ()).is_none());
    for refused in [
        odd(|s| s.opening.direct = true),
        odd(|s| s.durability.fsync = 1),
        odd(|s| s.durability.fdatasync = 1),
    ] {
        let error = refused.unwrap();
        assert_eq!(error.errno(), libc::EINVAL);
        assert!(error.to_string().contains("4096"), "{error}");
    }
}

#[test]
fn attaching_again_maps_the_new_file() {
    let (first, second) = (file_with(&[1; 4096]), file_with(&[2; 4096]));
    let mut rig =
        Rig::<Mmap>::new(&spec(ReadWrite::Read, |_| ()), open(&first, libc::O_RDONLY).unwrap()).unwrap();
    assert_eq!(rig.read(0, 4096), [1; 4096]);
    rig.files = open(&second, libc::O_RDONLY).unwrap();
    rig.engine.attach(&rig.files).unwrap();
    assert_eq!(rig.read(0, 4096), [2; 4096]);
}

#[test]
fn the_advice_follows_fadvise_hint() {
    assert_eq!(order(&spec(ReadWrite::RandRead, |_| ())), Some(libc::MADV_RANDOM));
    assert_eq!(order(&spec(ReadWrite::Write, |_| ())), Some(libc::MADV_SEQUENTIAL));
    assert_eq!(
        order(&spec(ReadWrite::Write, |spec| spec.opening.fadvise = Fadvise::Random)),
        Some(libc::MADV_RANDOM)
    );
    assert_eq!(order(&spec(ReadWrite::RandRead, |spec| spec.opening.fadvise = Fadvise::None)), None);
}

#[test]
fn a_file_that_becomes_shorter_gives_short_ios_and_recovers_when_it_grows_again() {
    let file = file_with(&content(65536));
    let spec = spec(ReadWrite::RandMixed, |_| ());
    let mut rig = Rig::<Mmap>::new(&spec, open(&file, libc::O_RDWR).unwrap()).unwrap();
    assert_eq!(rig.read(40960, 4096), content(65536)[40960..45056]);
    file.as_file().set_len(8192 + 100).unwrap();
    for op in [Op::Read, Op::Write] {
        assert_eq!(rig.run(op, 40960, 8192), 0, "{op:?} beyond the end");
        assert_eq!(rig.run(op, 8192, 8192), 100, "{op:?} across the end");
        assert_eq!(rig.run(op, 4096, 4096), 4096, "{op:?} before the end");
    }
    assert_eq!(file.as_file().metadata().unwrap().len(), 8192 + 100, "writes do not extend it");
    file.as_file().set_len(65536).unwrap();
    assert_eq!(rig.read(40960, 4096), [0; 4096], "the file's own bytes");
    rig.write(40960, &[3; 4096]);
    assert_eq!(fs::read(file.path()).unwrap()[40960..45056], [3; 4096]);
}

#[test]
fn workers_that_share_files_share_their_mappings() {
    let file = file_with(&content(16384));
    let shared = Arc::new(SharedFiles {
        files: open(&file, libc::O_RDWR).unwrap().files,
        engines: std::sync::Mutex::default(),
    });
    let rig = || {
        let files = shared.files.iter().map(|file| file.duplicated().unwrap()).collect();
        let files = FileSet { shared: Some(Arc::clone(&shared)), ..FileSet::new(files) };
        Rig::<Mmap>::new(&spec(ReadWrite::RandMixed, |_| ()), files).unwrap()
    };
    let [mut first, mut second] = [rig(), rig()];
    let name = file.path().to_str().unwrap();
    let maps =
        || fs::read_to_string("/proc/self/maps").unwrap().lines().filter(|line| line.ends_with(name)).count();
    assert_eq!(maps(), 1);
    first.write(4096, &[7; 4096]);
    assert_eq!(second.read(4096, 4096), [7; 4096]);
    drop(first);
    assert_eq!(second.read(0, 4096), content(16384)[..4096]);
    drop((second, shared));
    assert_eq!(maps(), 0);
}
