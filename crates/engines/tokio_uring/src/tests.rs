use std::fs::OpenOptions;

use ferrio_engine::testing::{Rig, content, contract, file_with, open};

use super::*;
use ferrio_plan::testing::{default_job, spec_of};

fn spec(iodepth: u32) -> JobSpec {
    let mut spec = default_job("tokio_uring");
    spec.depth.iodepth = iodepth;
    spec
}

fn rig(iodepth: u32, files: FileSet) -> Rig<TokioUring> {
    Rig::new(&spec(iodepth), files).unwrap()
}

#[test]
fn what_every_engine_promises_holds() {
    contract::holds_for::<TokioUring>(&spec_of(
        "[a]\nioengine=tokio_uring\nrw=randrw\nsize=256k\niodepth=1\n",
    ));
    contract::holds_for::<TokioUring>(&spec_of(
        "[a]\nioengine=tokio_uring\nrw=randrw\nsize=256k\niodepth=16\n",
    ));
}

#[test]
fn requests_read_back_what_they_wrote_buffered_and_direct() {
    for (iodepth, flags) in [(1, 0), (16, 0), (1, libc::O_DIRECT), (16, libc::O_DIRECT)] {
        let file = file_with(&content(65536));
        let mut rig = rig(iodepth, open(&file, libc::O_RDWR | flags).unwrap());
        assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288]);
        rig.write(4096, &[7; 4096]);
        assert_eq!(rig.read(4096, 4096), [7; 4096]);
        let mut whole = content(65536);
        whole[4096..8192].fill(7);
        assert_eq!(std::fs::read(file.path()).unwrap(), whole, "only the block written changed");
    }
}

#[test]
fn syncs_succeed_with_0_and_a_trim_of_a_regular_file_is_enotty() {
    let file = file_with(&content(65536));
    let mut rig = rig(4, open(&file, libc::O_RDWR).unwrap());
    for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
        assert_eq!(rig.run(op, 0, 4096), 0, "{op:?}");
    }
    let trim = rig.request(0, Op::Trim, 0, 4096);
    assert_eq!(rig.engine.submit(&trim), Submit::Done(-i64::from(libc::ENOTTY)));
}

#[test]
fn failed_requests_are_negated_errnos_and_do_not_stop_the_batch() {
    let file = file_with(&content(65536));
    let mut reads = rig(8, open(&file, libc::O_WRONLY).unwrap());
    let done = reads.pump(Op::Read, 16, 4096, 8, 8);
    assert_eq!(done.len(), 16);
    assert!(done.iter().all(|completion| completion.result == -i64::from(libc::EBADF)));
    let mut writes = rig(8, open(&file, libc::O_RDONLY).unwrap());
    assert_eq!(writes.run(Op::Write, 0, 4096), -i64::from(libc::EBADF));
    let mut misaligned = rig(8, open(&file, libc::O_RDONLY | libc::O_DIRECT).unwrap());
    assert_eq!(misaligned.run(Op::Read, 1, 4096), -i64::from(libc::EINVAL));
}

#[test]
fn a_full_device_is_enospc_and_a_device_that_cannot_sync_einval() {
    let full = OpenOptions::new().read(true).write(true).open("/dev/full").unwrap();
    let opened = OpenFile { fd: Some(std::sync::Arc::new(full.into())), offset: 0, size: 4096 };
    let mut rig = rig(2, FileSet::new(vec![opened]));
    assert_eq!(rig.run(Op::Write, 0, 4096), -i64::from(libc::ENOSPC));
    assert_eq!(rig.run(Op::Fsync, 0, 0), -i64::from(libc::EINVAL));
    assert_eq!(rig.read(0, 4096), [0; 4096]);
}

#[test]
fn a_deep_queue_completes_every_request_once() {
    let file = file_with(&content(1 << 20));
    for (batch, min) in [(1, 1), (16, 16), (5, 3), (1, 16), (16, 0)] {
        for direct in [0, libc::O_DIRECT] {
            let mut rig = rig(16, open(&file, libc::O_RDONLY | direct).unwrap());
            let done = rig.pump(Op::Read, 256, 4096, batch, min);
            assert_eq!(done.len(), 256);
            assert!(done.iter().all(|completion| completion.result == 4096), "batch {batch}, min {min}");
        }
    }
}

#[test]
fn every_unit_of_a_deep_queue_gets_its_own_data() {
    let file = file_with(&content(1 << 20));
    let mut rig = rig(100, open(&file, libc::O_RDONLY).unwrap());
    for unit in 0..100 {
        let request = rig.request(unit, Op::Read, u64::from(unit) * 8192, 8192);
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
    }
    assert_eq!(rig.engine.flush().unwrap(), 100);
    assert_eq!(rig.engine.flush().unwrap(), 0);
    let mut done = Vec::with_capacity(100);
    rig.engine.reap(100, 100, &mut done).unwrap();
    let mut units: Vec<_> = done.iter().map(|completion| completion.unit).collect();
    units.sort_unstable();
    assert_eq!(units, (0..100).collect::<Vec<_>>());
    for (unit, block) in content(1 << 20).chunks(8192).take(100).enumerate() {
        assert_eq!(rig.buffers.fill(unit as u32, 8192), block, "unit {unit}");
    }
}

#[test]
fn no_more_is_reaped_than_asked_for_and_the_rest_later() {
    let file = file_with(&content(65536));
    let mut rig = rig(8, open(&file, libc::O_RDONLY).unwrap());
    for unit in 0..8 {
        let request = rig.request(unit, Op::Read, 0, 4096);
        rig.engine.submit(&request);
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    rig.engine.reap(8, 3, &mut first).unwrap();
    assert_eq!(first.len(), 3);
    assert_eq!(rig.engine.flush().unwrap(), 8, "reaping spawned what still waited, and it is reported once");
    assert_eq!(rig.engine.flush().unwrap(), 0);
    rig.engine.reap(5, 8, &mut second).unwrap();
    assert_eq!(second.len(), 5);
    rig.engine.reap(1, 8, &mut second).unwrap();
    assert_eq!(second.len(), 5, "with nothing in flight reaping does not wait");
}

#[test]
fn a_full_queue_says_so_and_takes_requests_again_after_reaping() {
    let file = file_with(&content(65536));
    let mut rig = rig(2, open(&file, libc::O_RDONLY).unwrap());
    let request = rig.request(0, Op::Read, 0, 4096);
    assert_eq!(rig.engine.submit(&request), Submit::Queued);
    assert_eq!(rig.engine.submit(&rig.request(1, Op::Read, 0, 4096)), Submit::Queued);
    assert_eq!(rig.engine.submit(&request), Submit::Full);
    rig.engine.flush().unwrap();
    assert_eq!(rig.engine.submit(&request), Submit::Full);
    let mut done = Vec::with_capacity(2);
    rig.engine.reap(1, 2, &mut done).unwrap();
    assert_eq!(rig.engine.submit(&rig.request(done[0].unit, Op::Read, 0, 4096)), Submit::Queued);
}

#[test]
fn files_can_be_attached_again() {
    let (first, second) = (file_with(&[1; 4096]), file_with(&[2; 4096]));
    let mut rig = rig(1, open(&first, libc::O_RDONLY).unwrap());
    assert_eq!(rig.read(0, 4096), [1; 4096]);
    rig.files = open(&second, libc::O_RDONLY).unwrap();
    rig.engine.attach(&rig.files).unwrap();
    assert_eq!(rig.read(0, 4096), [2; 4096]);
}

#[test]
fn an_engine_dropped_with_io_in_flight_waits_for_it() {
    let file = file_with(&content(1 << 20));
    let files = open(&file, libc::O_RDONLY | libc::O_DIRECT).unwrap();
    let mut rig = rig(16, files);
    for unit in 0..16 {
        let offset = u64::from(unit) * 65536;
        let request = rig.request(unit, Op::Read, offset, 65536);
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
        if unit == 11 {
            rig.engine.flush().unwrap();
        }
    }
    let Rig { engine, buffers, files } = rig;
    drop(engine);
    let read = |unit| {
        // SAFETY: nothing is in flight any more; the slot has 65536 bytes.
        unsafe { std::slice::from_raw_parts(buffers.slot(unit), 65536) }
    };
    assert_eq!(read(11), &content(1 << 20)[11 * 65536..12 * 65536]);
    assert!(read(12).iter().all(|&byte| byte == 0), "what was never flushed never ran");
    drop(files);
}

#[test]
fn a_depth_that_no_ring_has_is_refused_with_the_limit() {
    let buffers = Buffers::new(1, 4096, true).unwrap();
    let error = TokioUring::open(&spec(1 << 20), &buffers).err().unwrap();
    assert_eq!((error.func.as_str(), error.errno()), ("io_queue_init", libc::EINVAL));
    assert!(error.to_string().contains("32768"), "{error}");
}
