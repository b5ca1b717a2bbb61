//! What `write_iolog` writes of engines that make I/Os come back.

use ferrio_job::{IologVersion, RecordTo};

use super::*;

#[test]
fn an_io_is_recorded_once_however_often_it_is_submitted() {
    let place = TempDir::new().unwrap();
    for iodepth in [1, 4] {
        let mut spec = job(ReadWrite::Read, EngineKind::IoUring, 16 << 10);
        spec.depth.iodepth = iodepth;
        spec.depth.low = iodepth;
        let path = place.path().join(format!("log{iodepth}"));
        spec.iolog = Some(RecordTo { path: path.clone(), version: IologVersion::Two });
        assert_eq!(work::<Stingy>(&spec).error, None);
        assert_eq!(
            std::fs::read_to_string(path).unwrap(),
            "fio version 2 iolog\nnowhere add\nnowhere open\nnowhere read 0 4096\nnowhere read 4096 4096\n\
             nowhere read 8192 4096\nnowhere read 12288 4096\nnowhere close\n",
            "iodepth={iodepth}"
        );
    }
}

#[test]
fn a_log_that_breaks_ends_its_job() {
    let mut spec = job(ReadWrite::Read, EngineKind::Null, 64 << 20);
    spec.iolog = Some(RecordTo { path: "/dev/full".into(), version: IologVersion::Three });
    let result = work::<ferrio_engine_null::Null>(&spec);
    assert_eq!(errno(&result), Some(libc::ENOSPC));
    assert!(result.stats.directions[0].bytes < 64 << 20, "the job went on");
}

#[test]
fn a_job_that_fails_leaves_the_log_of_what_it_did() {
    let place = TempDir::new().unwrap();
    let path = place.path().join("log");
    let mut spec = job(ReadWrite::Read, EngineKind::Null, 4096);
    spec.iolog = Some(RecordTo { path: path.clone(), version: IologVersion::Two });
    assert_eq!(errno(&work::<Panicking>(&spec)), Some(libc::EFAULT));
    let log = std::fs::read_to_string(path).unwrap();
    assert!(log.ends_with("nowhere open\nnowhere read 0 4096\n"), "{log}");
}
