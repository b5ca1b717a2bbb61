use ferrio_engine::testing::{Rig, content, file_with, open};

use super::*;
use ferrio_plan::testing::default_job;

fn round_trip<E: Engine>(spec: &JobSpec) {
    let file = file_with(&content(65536));
    let mut rig = Rig::<E>::new(spec, open(&file, libc::O_RDWR).unwrap()).unwrap();
    assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288]);
    rig.write(4096, &[7; 4096]);
    assert_eq!(rig.read(4096, 4096), [7; 4096]);
    assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288]);
    assert_eq!(rig.run(Op::Read, 65536 - 100, 4096), 100, "a read over the end is short");
    assert_eq!(rig.run(Op::Read, 65536, 4096), 0, "a read at the end moves nothing");
    for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
        assert_eq!(rig.run(op, 0, 4096), 0);
    }
    assert_eq!(rig.run(Op::Trim, 0, 4096), -i64::from(libc::ENOTTY));
}

#[test]
fn every_engine_reads_back_what_it_wrote() {
    let spec = default_job("round trip");
    round_trip::<Psync>(&spec);
    round_trip::<Sync>(&spec);
    round_trip::<Vsync>(&spec);
    round_trip::<Pvsync>(&spec);
    round_trip::<Pvsync2>(&spec);
    let queue = JobSpec { depth: ferrio_job::Depth { iodepth: 4, ..spec.depth }, ..spec };
    round_trip::<Vsync>(&queue);
}

#[test]
fn errors_are_results() {
    fn read_of_a_write_only_file<E: Engine>() -> i64 {
        let file = file_with(&[1; 4096]);
        let files = open(&file, libc::O_WRONLY).unwrap();
        Rig::<E>::new(&default_job("errors"), files).unwrap().run(Op::Read, 0, 4096)
    }
    let refused = -i64::from(libc::EBADF);
    assert_eq!(read_of_a_write_only_file::<Psync>(), refused);
    assert_eq!(read_of_a_write_only_file::<Sync>(), refused);
    assert_eq!(read_of_a_write_only_file::<Vsync>(), refused);
    assert_eq!(read_of_a_write_only_file::<Pvsync>(), refused);
    assert_eq!(read_of_a_write_only_file::<Pvsync2>(), refused);
}

#[test]
fn sync_keeps_the_position_of_each_file_and_starts_at_0_after_a_reopen() {
    let file = file_with(&content(16384));
    let mut rig = Rig::<Sync>::new(&default_job("seek"), open(&file, libc::O_RDWR).unwrap()).unwrap();
    assert_eq!(rig.read(0, 4096), content(16384)[..4096]);
    assert_eq!(rig.read(4096, 4096), content(16384)[4096..8192]);
    let reopened = open(&file, libc::O_RDWR).unwrap();
    rig.engine.attach(&reopened).unwrap();
    assert_eq!(rig.read(0, 4096), content(16384)[..4096]);
    assert_eq!(rig.read(12288, 4096), content(16384)[12288..]);
}

#[test]
fn sync_seeks_only_when_the_offset_is_not_the_position() {
    let file = file_with(&content(16384));
    let files = open(&file, libc::O_RDWR).unwrap();
    let fd = files.files[0].raw_fd();
    let mut rig = Rig::<Sync>::new(&default_job("seek"), files).unwrap();
    // Moving the position without the engine's knowledge shows whether it seeks.
    // SAFETY: plain numbers.
    unsafe { libc::lseek(fd, 8192, libc::SEEK_SET) };
    assert_eq!(rig.read(0, 4096), content(16384)[8192..12288], "believed to be at 0 already");
    assert_eq!(rig.read(0, 4096), content(16384)[..4096], "believed to be at 4096");
}

#[test]
fn flags_reach_the_kernel() {
    let file = file_with(&content(4096));
    let mut spec = default_job("nowait");
    spec.engine_options.nowait = true;
    let mut rig = Rig::<Pvsync2>::new(&spec, open(&file, libc::O_RDWR).unwrap()).unwrap();
    // Buffered writes without waiting are not supported by every file system; reads of cached pages are.
    let written = rig.run(Op::Write, 0, 4096);
    assert!([4096, -i64::from(libc::EOPNOTSUPP), -i64::from(libc::EAGAIN)].contains(&written), "{written}");
    let read = rig.run(Op::Read, 0, 4096);
    assert!([4096, -i64::from(libc::EAGAIN)].contains(&read), "{read}");
}
