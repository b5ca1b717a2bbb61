use ferrio_engine::testing::{Rig, content, contract, file_with, open};
use ferrio_job::EngineOptions;
use ferrio_plan::testing::{default_job, spec_of};

use super::*;

const BACKENDS: [LibaioBackend; 2] = [LibaioBackend::Kernel, LibaioBackend::IoUring];

fn spec(iodepth: u32, backend: LibaioBackend, change: impl FnOnce(&mut EngineOptions)) -> JobSpec {
    let mut spec = default_job("libaio");
    spec.depth.iodepth = iodepth;
    spec.engine_options.libaio.backend = backend;
    change(&mut spec.engine_options);
    spec
}

fn round_trip(spec: &JobSpec, flags: i32) {
    let file = file_with(&content(65536));
    let mut rig = Rig::<Libaio>::new(spec, open(&file, libc::O_RDWR | flags).unwrap()).unwrap();
    assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288]);
    rig.write(4096, &[7; 4096]);
    assert_eq!(rig.read(4096, 4096), [7; 4096]);
    assert_eq!(rig.run(Op::Read, 65536, 4096), 0, "a read at the end moves nothing");
    for op in [Op::Fsync, Op::Fdatasync, Op::SyncFileRange(2)] {
        assert_eq!(rig.run(op, 4096, 4096), 0, "{op:?}");
    }
    assert_eq!(rig.run(Op::Trim, 0, 4096), -i64::from(libc::ENOTTY));
    assert_eq!(rig.read(8192, 4096), content(65536)[8192..12288], "requests after a sync are whole again");
}

#[test]
fn what_every_engine_promises_holds() {
    contract::holds_for::<Libaio>(&spec_of("[a]\nioengine=libaio\nrw=randrw\nsize=256k\niodepth=1\n"));
    contract::holds_for::<Libaio>(&spec_of("[a]\nioengine=libaio\nrw=randrw\nsize=256k\niodepth=16\n"));
}

#[test]
fn both_backends_read_back_what_they_wrote() {
    for backend in BACKENDS {
        for flags in [0, libc::O_DIRECT] {
            round_trip(&spec(1, backend, |_| ()), flags);
            round_trip(&spec(4, backend, |o| o.libaio.vectored = true), flags);
        }
    }
}

#[test]
fn a_deep_queue_completes_every_request_once() {
    let file = file_with(&content(1 << 20));
    for backend in BACKENDS {
        for (batch, min) in [(1, 1), (4, 4), (5, 3), (32, 0)] {
            let files = open(&file, libc::O_RDONLY | libc::O_DIRECT).unwrap();
            let mut rig = Rig::<Libaio>::new(&spec(32, backend, |_| ()), files).unwrap();
            let done = rig.pump(Op::Read, 256, 4096, batch, min);
            assert_eq!(done.len(), 256);
            assert!(
                done.iter().all(|completion| completion.result == 4096),
                "{backend:?} batch {batch}, min {min}"
            );
        }
    }
}

#[test]
fn completions_are_taken_from_the_shared_ring_over_its_end() {
    let file = file_with(&content(1 << 20));
    for complete_min in [0, 1] {
        let mut spec = spec(4, LibaioBackend::Kernel, |o| o.libaio.userspace_reap = true);
        spec.depth.complete_min = complete_min;
        let files = open(&file, libc::O_RDONLY | libc::O_DIRECT).unwrap();
        let mut rig = Rig::<Libaio>::new(&spec, files).unwrap();
        let done = rig.pump(Op::Read, 1000, 1024, 2, complete_min);
        assert!(done.len() == 1000 && done.iter().all(|completion| completion.result == 1024));
    }
}

#[test]
fn failed_requests_complete_with_their_error_and_do_not_stop_the_batch() {
    let file = file_with(&content(65536));
    for backend in BACKENDS {
        let files = open(&file, libc::O_WRONLY).unwrap();
        let mut rig = Rig::<Libaio>::new(&spec(8, backend, |_| ()), files).unwrap();
        let done = rig.pump(Op::Read, 16, 4096, 8, 8);
        assert_eq!(done.len(), 16);
        assert!(done.iter().all(|completion| completion.result == -i64::from(libc::EBADF)), "{backend:?}");
        rig.write(0, &[1; 512]);
    }
}

#[test]
fn a_refused_request_between_good_ones_is_the_only_one_that_fails() {
    let file = file_with(&content(65536));
    let mut rig =
        Rig::<Libaio>::new(&spec(4, LibaioBackend::Kernel, |_| ()), open(&file, libc::O_RDONLY).unwrap())
            .unwrap();
    for (unit, op) in [(0, Op::Read), (1, Op::Write), (2, Op::Read)] {
        let request = rig.request(unit, op, 0, 4096);
        assert_eq!(rig.engine.submit(&request), Submit::Queued);
    }
    assert_eq!(rig.engine.flush().unwrap(), 3);
    let mut done = Vec::with_capacity(3);
    rig.engine.reap(3, 3, &mut done).unwrap();
    done.sort_by_key(|completion| completion.unit);
    assert_eq!(done.iter().map(|c| c.result).collect::<Vec<_>>(), [4096, -i64::from(libc::EBADF), 4096]);
}

#[test]
fn nowait_reaches_the_kernel() {
    let file = file_with(&content(4096));
    for backend in BACKENDS {
        let files = open(&file, libc::O_RDONLY | libc::O_DIRECT).unwrap();
        let mut rig = Rig::<Libaio>::new(&spec(1, backend, |o| o.calls.nowait = true), files).unwrap();
        let result = rig.run(Op::Read, 0, 4096);
        assert!([4096, -i64::from(libc::EAGAIN), -i64::from(libc::EOPNOTSUPP)].contains(&result), "{result}");
    }
}

#[test]
fn more_requests_than_the_system_allows_name_the_limit() {
    let limit: u64 = std::fs::read_to_string("/proc/sys/fs/aio-max-nr").unwrap().trim().parse().unwrap();
    let Ok(iodepth) = u32::try_from(limit + 1) else { return };
    let mut job = spec(1, LibaioBackend::Kernel, |_| ());
    let buffers = Buffers::new(1, 4096, true).unwrap();
    job.depth.iodepth = iodepth;
    let error = Libaio::open(&job, &buffers).err().unwrap();
    assert_eq!((error.func.as_str(), error.errno()), ("io_queue_init", libc::EAGAIN));
    assert!(error.to_string().contains("/proc/sys/fs/aio-max-nr"), "{error}");
}

#[test]
fn an_engine_dropped_with_io_in_flight_waits_for_it() {
    let file = file_with(&content(1 << 20));
    for backend in BACKENDS {
        let files = open(&file, libc::O_RDONLY | libc::O_DIRECT).unwrap();
        let mut rig = Rig::<Libaio>::new(&spec(16, backend, |_| ()), files).unwrap();
        for unit in 0..16 {
            let offset = u64::from(unit) * 65536;
            let request = rig.request(unit, Op::Read, offset, 65536);
            assert_eq!(rig.engine.submit(&request), Submit::Queued);
        }
        rig.engine.flush().unwrap();
        let Rig { engine, buffers, files } = rig;
        drop(engine);
        // SAFETY: nothing is in flight any more; the slot has 65536 bytes.
        let last = unsafe { std::slice::from_raw_parts(buffers.slot(15), 65536) };
        assert_eq!(last, &content(1 << 20)[15 * 65536..], "{backend:?}");
        drop(files);
    }
}

#[test]
fn a_wait_with_a_limit_takes_what_completes_and_waits_for_nothing_else() {
    let file = file_with(&content(65536));
    let long = Duration::from_secs(3600);
    for backend in BACKENDS {
        let files = open(&file, libc::O_RDONLY | libc::O_DIRECT).unwrap();
        let mut rig = Rig::<Libaio>::new(&spec(4, backend, |_| ()), files).unwrap();
        let mut done = Vec::with_capacity(4);
        assert!(rig.engine.reap_within(long, 4, &mut done).unwrap(), "nothing is in flight");
        for unit in 0..4 {
            let request = rig.request(unit, Op::Read, u64::from(unit) * 4096, 4096);
            assert_eq!(rig.engine.submit(&request), Submit::Queued);
        }
        rig.engine.flush().unwrap();
        while done.len() < 4 {
            assert!(rig.engine.reap_within(long, 4 - done.len() as u32, &mut done).unwrap());
        }
        assert!(done.iter().all(|completion| completion.result == 4096), "{backend:?}: {done:?}");
        assert!(rig.engine.reap_within(long, 4, &mut done).unwrap(), "all are reaped");
        assert_eq!(done.len(), 4);
    }
}

#[test]
fn blocking_syncs_are_over_when_the_call_returns() {
    let file = file_with(&content(8192));
    for backend in BACKENDS {
        for blocking in [false, true] {
            let spec = spec(2, backend, |options| options.libaio.blocking_syncs = blocking);
            let mut rig = Rig::<Libaio>::new(&spec, open(&file, libc::O_RDWR).unwrap()).unwrap();
            let request = rig.request(0, Op::Fdatasync, 0, 0);
            let want = if blocking { Submit::Done(0) } else { Submit::Queued };
            assert_eq!(rig.engine.submit(&request), want, "{backend:?}");
        }
    }
}
