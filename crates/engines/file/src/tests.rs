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
    Rig::new(spec, FileSet { files: vec![OpenFile { fd: None, offset: 0, size: 4096 }] }).unwrap()
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
    let file = OpenFile { fd, offset: 0, size: 4096 };
    rig.engine.attach_one(0, &file).unwrap();
    assert_eq!(rig.run(Op::Fsync, 0, 0), 0);
}
