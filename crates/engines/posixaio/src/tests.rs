use ferrio_engine::testing::{Rig, content, contract, file_with, open};
use ferrio_job::EngineKind;
use ferrio_plan::testing::{default_job, spec_of};

use super::*;

fn spec(iodepth: u32) -> JobSpec {
    let mut spec = default_job("aio");
    spec.engine = EngineKind::Posixaio;
    spec.depth.iodepth = iodepth;
    spec
}

#[test]
fn what_every_engine_promises_holds() {
    contract::holds_for::<PosixAio>(&spec_of("[a]\nioengine=posixaio\nrw=randrw\nsize=256k\niodepth=1\n"));
    contract::holds_for::<PosixAio>(&spec_of("[a]\nioengine=posixaio\nrw=randrw\nsize=256k\niodepth=16\n"));
}

#[test]
fn data_is_read_back_as_it_was_written_and_every_sync_is_an_fsync() {
    let file = file_with(&content(65536));
    for flags in [0, libc::O_DIRECT] {
        let mut rig = Rig::<PosixAio>::new(&spec(4), open(&file, libc::O_RDWR | flags).unwrap()).unwrap();
        rig.write(4096, &[7; 4096]);
        assert_eq!(rig.read(4096, 4096), [7; 4096]);
        assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288]);
        assert_eq!(rig.run(Op::Read, 65536, 4096), 0, "a read at the end moves nothing");
        // sync_file_range(2) would refuse these flags.
        for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(u8::MAX)] {
            assert_eq!(rig.run(op, 4096, 4096), 0, "{op:?}");
        }
    }
}

#[test]
fn failed_requests_complete_with_their_error() {
    let file = file_with(&content(65536));
    let mut rig = Rig::<PosixAio>::new(&spec(8), open(&file, libc::O_WRONLY).unwrap()).unwrap();
    let done = rig.pump(Op::Read, 16, 4096, 8, 8);
    assert!(done.len() == 16 && done.iter().all(|done| done.result == -i64::from(libc::EBADF)), "{done:?}");
    rig.write(0, &[1; 512]);
}

#[test]
fn requests_of_a_file_run_in_the_order_of_their_submission() {
    let file = file_with(&[0; 4096]);
    let mut rig = Rig::<PosixAio>::new(&spec(64), open(&file, libc::O_RDWR).unwrap()).unwrap();
    for unit in 0..63 {
        rig.buffers.fill(unit, 4096).fill(unit as u8);
        let request = rig.request(unit, Op::Write, 0, 4096);
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
    }
    let last = rig.request(63, Op::Read, 0, 4096);
    assert_eq!(rig.engine.submit(&last), Submit::Queued);
    let mut done = Vec::with_capacity(64);
    rig.engine.reap(64, 64, &mut done).unwrap();
    assert_eq!(done.iter().map(|done| done.unit).collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
    assert_eq!(rig.buffers.fill(63, 4096).to_vec(), [62; 4096]);
}

#[test]
fn a_trim_waits_until_nothing_is_in_flight_and_runs_in_the_call() {
    let file = file_with(&content(65536));
    let mut rig = Rig::<PosixAio>::new(&spec(4), open(&file, libc::O_RDWR).unwrap()).unwrap();
    let (read, trim) = (rig.request(0, Op::Read, 0, 4096), rig.request(1, Op::Trim, 0, 4096));
    assert_eq!(rig.engine.submit(&read), Submit::Queued);
    assert_eq!(rig.engine.submit(&trim), Submit::Full);
    rig.engine.reap(1, 4, &mut Vec::with_capacity(4)).unwrap();
    assert_eq!(rig.engine.submit(&trim), Submit::Done(-i64::from(libc::ENOTTY)));
}

#[test]
fn a_wait_with_a_limit_takes_what_completes_and_waits_for_nothing_else() {
    let file = file_with(&content(65536));
    let long = Duration::from_secs(3600);
    let mut rig = Rig::<PosixAio>::new(&spec(4), open(&file, libc::O_RDONLY).unwrap()).unwrap();
    let mut done = Vec::with_capacity(4);
    assert!(rig.engine.reap_within(long, 4, &mut done).unwrap(), "nothing is in flight");
    for unit in 0..4 {
        let request = rig.request(unit, Op::Read, u64::from(unit) * 4096, 4096);
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
    }
    while done.len() < 4 {
        assert!(rig.engine.reap_within(long, 4 - done.len() as u32, &mut done).unwrap());
    }
    assert!(done.iter().all(|completion| completion.result == 4096), "{done:?}");
}

#[test]
fn an_engine_that_is_dropped_leaves_no_request_at_work() {
    let file = file_with(&content(1 << 20));
    let mut rig = Rig::<PosixAio>::new(&spec(16), open(&file, libc::O_RDWR).unwrap()).unwrap();
    for unit in 0..16 {
        let request = rig.request(unit, Op::Read, u64::from(unit) * 65536, 65536);
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
    }
    let Rig { engine, mut buffers, files } = rig;
    drop(engine);
    (0..16).for_each(|unit| buffers.fill(unit, 65536).fill(3));
    assert!((0..16).all(|unit| buffers.fill(unit, 65536).iter().all(|&byte| byte == 3)));
    drop(files);
}

#[test]
fn threads_are_as_many_as_can_work_and_their_usage_is_that_of_the_engine() {
    let job = spec_of("[a]\nioengine=posixaio\nsize=1m\nnrfiles=64\niodepth=32\n");
    let buffers = Buffers::new(1, 4096, true).unwrap();
    let mut engine = PosixAio::open(&job, &buffers).unwrap();
    assert_eq!(engine.pool.threads(), MAX_THREADS);
    assert_eq!(PosixAio::open(&spec(32), &buffers).unwrap().pool.threads(), 1);
    let usage = engine.usage();
    assert!(usage.minor_faults > 0, "{usage:?}: threads have stacks");
}
