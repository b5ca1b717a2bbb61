use ferrio_engine::testing::{Rig, content, contract, file_with, open};
use ferrio_plan::testing::{default_job, spec_of};

use super::*;

fn rig(size: usize, flags: i32) -> (tempfile::NamedTempFile, Rig<Splice>) {
    let file = file_with(&content(size));
    let files = open(&file, flags).unwrap();
    let rig = Rig::<Splice>::new(&default_job("splice"), files).unwrap();
    (file, rig)
}

#[test]
fn what_every_engine_promises_holds() {
    contract::holds_for::<Splice>(&spec_of("[a]\nioengine=splice\nrw=randrw\nsize=256k\niodepth=1\n"));
}

#[test]
fn data_is_read_back_as_it_was_written() {
    for flags in [0, libc::O_DIRECT] {
        let (file, mut rig) = rig(262_144, libc::O_RDWR | flags);
        assert_eq!(rig.read(65536, 65536), content(262_144)[65536..131_072]);
        rig.write(4096, &[7; 12288]);
        assert_eq!(rig.read(4096, 12288), [7; 12288]);
        assert_eq!(std::fs::read(file.path()).unwrap()[16384..], content(262_144)[16384..]);
        for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
            assert_eq!(rig.run(op, 4096, 4096), 0, "{op:?}");
        }
        assert_eq!(rig.run(Op::Trim, 0, 4096), -i64::from(libc::ENOTTY));
    }
}

#[test]
fn offsets_and_lengths_need_no_alignment() {
    let (file, mut rig) = rig(262_144, libc::O_RDWR);
    assert_eq!(rig.read(12_345, 54_321), content(262_144)[12_345..66_666]);
    rig.write(1, &[9; 65535]);
    let now = std::fs::read(file.path()).unwrap();
    assert_eq!((now[0], now[65536]), (content(1)[0], content(65_537)[65536]));
    assert!(now[1..65536].iter().all(|&byte| byte == 9));
}

#[test]
fn a_failed_request_leaves_nothing_in_the_pipe_for_the_next_one() {
    let (file, mut rig) = rig(65536, libc::O_RDONLY);
    rig.buffers.fill(0, 4096).fill(1);
    assert_eq!(rig.run(Op::Write, 0, 4096), -i64::from(libc::EBADF));
    let files = open(&file, libc::O_RDWR).unwrap();
    rig.engine.attach(&files).unwrap();
    rig.write(8192, &[5; 4096]);
    assert_eq!(rig.read(0, 8192), content(65536)[..8192]);
    assert_eq!(rig.read(8192, 4096), [5; 4096]);
}

#[test]
fn a_kernel_that_copies_from_a_pipe_by_read_only_is_served_by_it() {
    let (_file, mut rig) = rig(65536, libc::O_RDONLY);
    rig.engine.pipe.use_read();
    assert_eq!(rig.read(4096, 61440), content(65536)[4096..]);
}
