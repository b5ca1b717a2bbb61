use ferrio_engine::testing::{Rig, content, contract, file_with, open};

use super::*;
use ferrio_plan::testing::{default_job, spec_of};

#[test]
fn what_every_engine_promises_holds() {
    contract::holds_for::<Sync>(&spec_of("[a]\nioengine=sync\nrw=randrw\nsize=256k\niodepth=1\n"));
    contract::holds_for::<Psync>(&spec_of("[a]\nioengine=psync\nrw=randrw\nsize=256k\niodepth=1\n"));
    contract::holds_for::<Vsync>(&spec_of("[a]\nioengine=vsync\nrw=randrw\nsize=256k\niodepth=1\n"));
    contract::holds_for::<Vsync>(&spec_of("[a]\nioengine=vsync\nrw=randrw\nsize=256k\niodepth=16\n"));
    contract::holds_for::<Pvsync>(&spec_of("[a]\nioengine=pvsync\nrw=randrw\nsize=256k\niodepth=1\n"));
    contract::holds_for::<Pvsync2>(&spec_of("[a]\nioengine=pvsync2\nrw=randrw\nsize=256k\niodepth=1\n"));
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
    spec.engine_options.calls.nowait = true;
    let mut rig = Rig::<Pvsync2>::new(&spec, open(&file, libc::O_RDWR).unwrap()).unwrap();
    // Buffered writes without waiting are not supported by every file system; reads of cached pages are.
    let written = rig.run(Op::Write, 0, 4096);
    assert!([4096, -i64::from(libc::EOPNOTSUPP), -i64::from(libc::EAGAIN)].contains(&written), "{written}");
    let read = rig.run(Op::Read, 0, 4096);
    assert!([4096, -i64::from(libc::EAGAIN)].contains(&read), "{read}");
}
