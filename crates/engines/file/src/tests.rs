use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use ferrio_engine::testing::Rig;
use ferrio_job::{EngineKind, JobSpec, StatType};
use ferrio_plan::testing::default_job;
use tempfile::TempDir;

use super::*;

fn spec(engine: EngineKind) -> JobSpec {
    JobSpec { engine, ..default_job("psync") }
}

fn rig(spec: &JobSpec) -> Rig<FileEngine> {
    Rig::new(spec, FileSet::new(vec![OpenFile { fd: None, offset: 0, size: 4096 }])).unwrap()
}

/// What the engine does to a path: an error is the call and the errno.
fn operate(engine: EngineKind, path: &Path) -> Result<Option<OwnedFd>, (String, i32)> {
    rig(&spec(engine)).engine.operate(path).map_err(|e| (e.func.clone(), e.errno()))
}

#[test]
fn a_created_file_is_empty_private_and_open() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("f");
    let fd = operate(EngineKind::Filecreate, &path).unwrap();
    assert!(fd.is_some());
    let found = fs::metadata(&path).unwrap();
    assert_eq!((found.len(), found.permissions().mode() & 0o7777), (0, 0o600));
    fs::write(&path, "data").unwrap();
    operate(EngineKind::Filecreate, &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"data", "an existing file keeps its data");
}

#[test]
fn what_is_removed_is_gone_and_cannot_be_removed_again() {
    let place = TempDir::new().unwrap();
    let (file, directory) = (place.path().join("f"), place.path().join("d"));
    fs::write(&file, "").unwrap();
    operate(EngineKind::Dircreate, &directory).unwrap();
    assert_eq!(fs::metadata(&directory).unwrap().permissions().mode() & 0o7777, 0o700);
    for (engine, path, call) in
        [(EngineKind::Filedelete, &file, "delete"), (EngineKind::Dirdelete, &directory, "rmdir")]
    {
        assert!(operate(engine, path).unwrap().is_none());
        assert!(!path.exists());
        let want = (format!("{call}({})", path.display()), libc::ENOENT);
        assert_eq!(operate(engine, path).unwrap_err(), want);
    }
}

#[test]
fn lstat_alone_does_not_follow_a_link() {
    let place = TempDir::new().unwrap();
    let link = place.path().join("l");
    symlink("nowhere", &link).unwrap();
    for engine in [EngineKind::Filestat, EngineKind::Dirstat] {
        for (stat_type, call) in
            [(StatType::Stat, Some("stat")), (StatType::Lstat, None), (StatType::Statx, Some("statx"))]
        {
            let mut spec = spec(engine);
            spec.engine_options.stat_type = stat_type;
            let result = rig(&spec).engine.operate(&link).map_err(|e| (e.func.clone(), e.errno()));
            let want = call.map(|call| (format!("{call}({})", link.display()), libc::ENOENT));
            assert_eq!(result.err(), want, "{stat_type:?}");
        }
    }
}

#[test]
fn statx_takes_paths_in_several_directories() {
    let place = TempDir::new().unwrap();
    let mut spec = spec(EngineKind::Filestat);
    spec.engine_options.stat_type = StatType::Statx;
    let mut rig = rig(&spec);
    for name in ["a/f", "b/f", "a/f"] {
        let path = place.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let missing = rig.engine.operate(&path).unwrap_err();
        assert_eq!(missing.errno(), libc::ENOENT);
        fs::write(&path, "").unwrap();
        assert!(rig.engine.operate(&path).is_ok());
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn ios_do_nothing_and_a_sync_needs_a_file_that_is_open() {
    let place = TempDir::new().unwrap();
    let mut rig = rig(&spec(EngineKind::Filecreate));
    for op in [Op::Read, Op::Write, Op::Trim] {
        assert_eq!(rig.run(op, 0, 4096), 4096, "{op:?}");
    }
    assert_eq!(rig.run(Op::Fsync, 0, 0), -i64::from(libc::EBADF));
    let fd = rig.engine.operate(&place.path().join("f")).unwrap();
    let file = OpenFile { fd: fd.map(std::sync::Arc::new), offset: 0, size: 4096 };
    rig.engine.attach_one(0, &file).unwrap();
    assert_eq!(rig.run(Op::Fsync, 0, 0), 0);
}

#[test]
fn space_is_reserved_punched_and_cut() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("f");
    fs::write(&path, [1; 8192]).unwrap();
    let open = |engine| {
        let fd = fs::OpenOptions::new().read(true).write(true).open(&path).unwrap().into();
        Rig::<FileEngine>::new(
            &spec(engine),
            FileSet::new(vec![OpenFile { fd: Some(std::sync::Arc::new(fd)), offset: 0, size: 8192 }]),
        )
        .unwrap()
    };
    let size = || fs::metadata(&path).unwrap().len();
    let mut falloc = open(EngineKind::Falloc);
    assert_eq!((falloc.run(Op::Read, 8192, 4096), size()), (4096, 8192));
    assert_eq!((falloc.run(Op::Write, 8192, 4096), size()), (4096, 12288));
    assert_eq!((falloc.run(Op::Trim, 0, 4096), size()), (4096, 12288));
    assert_eq!(fs::read(&path).unwrap()[4095..4097], [0, 1]);
    assert_eq!(falloc.run(Op::Fsync, 0, 0), 0);
    let mut ftruncate = open(EngineKind::Ftruncate);
    assert_eq!((ftruncate.run(Op::Write, 4096, 4096), size()), (4096, 4096));
    assert_eq!(ftruncate.run(Op::Read, 0, 4096), -i64::from(libc::EINVAL));
    assert_eq!(ftruncate.run(Op::Trim, 0, 4096), -i64::from(libc::EINVAL));
    assert_eq!(ftruncate.run(Op::Fdatasync, 0, 0), 0);
}

#[test]
fn fresh_memory_keeps_what_is_written() {
    let spec = ferrio_plan::testing::spec_of("[a]\nioengine=page_fault\nrw=write\nsize=64k\n");
    let mut rig = rig(&spec);
    assert_eq!(rig.read(0, 4096), [0; 4096]);
    let data = ferrio_engine::testing::content(4096);
    rig.write(61440, &data);
    assert_eq!(rig.read(61440, 4096), data);
    assert_eq!(rig.run(Op::Fsync, 0, 0), 0);
    assert_eq!(rig.run(Op::Read, 61440, 4097), -i64::from(libc::EINVAL), "beyond the end");
    assert_eq!(rig.run(Op::Trim, 0, 4096), -i64::from(libc::EINVAL));
}

#[test]
fn fresh_memory_is_for_one_file_from_its_beginning() {
    for (more, hint) in [("nrfiles=2\n", "multiple files"), ("offset=4k\n", "start_offset")] {
        let text = format!("[a]\nioengine=page_fault\nsize=64k\n{more}");
        let error = Rig::<FileEngine>::new(&ferrio_plan::testing::spec_of(&text), FileSet::default());
        let error = error.err().unwrap();
        assert!(error.to_string().contains(hint), "{error}");
    }
}
