use std::time::{Duration, Instant};

use ferrio_engine::Op;
use ferrio_engine::testing::{Rig, content, file_with, open};
use ferrio_engine_psync::{Psync, Sync};

use super::*;
use ferrio_plan::testing::default_job;

fn spec(engine: EngineKind, iodepth: u32) -> JobSpec {
    let mut spec = default_job("offload");
    spec.engine = engine;
    spec.depth.iodepth = iodepth;
    spec.offload = true;
    spec
}

/// Threads of this program that belong to job `number`.
fn threads_of(number: u32) -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
        // A thread may end while it is looked at.
        std::fs::read_to_string(task.ok()?.path().join("comm")).ok()
    });
    names.filter(|name| name.starts_with(&format!("{number}-"))).count()
}

#[test]
fn every_unit_reads_its_own_block_whatever_the_others_do() {
    for engine in [EngineKind::Psync, EngineKind::Sync] {
        let file = file_with(&content(64 << 10));
        let files = open(&file, libc::O_RDONLY).unwrap();
        let mut done = Vec::with_capacity(8);
        let read = |buffers: &mut Buffers| {
            (0..8).for_each(|unit| {
                let at = unit as usize * 4096;
                assert_eq!(
                    buffers.fill(unit, 4096),
                    &content(64 << 10)[at..at + 4096],
                    "{engine:?}, unit {unit}"
                );
            });
        };
        let issue = |rig: &mut dyn FnMut(u32) -> Submit| {
            (0..8).for_each(|unit| assert_eq!(rig(unit), Submit::Queued));
        };
        if engine == EngineKind::Psync {
            let mut rig = Rig::<Offload<Psync>>::new(&spec(engine, 8), files).unwrap();
            issue(&mut |unit| {
                let request = rig.request(unit, Op::Read, u64::from(unit) * 4096, 4096);
                rig.engine.submit(&request)
            });
            assert_eq!(rig.engine.flush().unwrap(), 8);
            rig.engine.reap(8, 8, &mut done).unwrap();
            read(&mut rig.buffers);
        } else {
            let mut rig = Rig::<Offload<Sync>>::new(&spec(engine, 8), files).unwrap();
            issue(&mut |unit| {
                let request = rig.request(unit, Op::Read, u64::from(unit) * 4096, 4096);
                rig.engine.submit(&request)
            });
            rig.engine.reap(8, 8, &mut done).unwrap();
            read(&mut rig.buffers);
        }
        assert!(done.iter().all(|completion| completion.result == 4096));
        let mut units: Vec<_> = done.iter().map(|completion| completion.unit).collect();
        units.sort_unstable();
        assert_eq!(units, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn errors_and_short_transfers_come_back_as_results() {
    let file = file_with(&content(6144));
    let mut rig =
        Rig::<Offload<Psync>>::new(&spec(EngineKind::Psync, 2), open(&file, libc::O_RDONLY).unwrap())
            .unwrap();
    assert_eq!(rig.run(Op::Read, 4096, 4096), 2048);
    assert_eq!(rig.run(Op::Write, 0, 4096), -i64::from(libc::EBADF));
    assert_eq!(rig.run(Op::Fsync, 0, 0), 0);
    let times = rig.engine.execution_times(0).unwrap();
    assert!(times.began_ago >= times.ended_ago);
}

#[test]
fn threads_end_with_the_engine() {
    let mut job = spec(EngineKind::Psync, 5);
    job.number = 4711;
    let file = file_with(&content(4096));
    let rig = Rig::<Offload<Psync>>::new(&job, open(&file, libc::O_RDONLY).unwrap()).unwrap();
    assert_eq!(threads_of(4711), 5);
    drop(rig);
    // The kernel shows a thread that has been joined a moment longer.
    let began = Instant::now();
    while threads_of(4711) > 0 {
        assert!(began.elapsed() < Duration::from_secs(20), "{} threads are left", threads_of(4711));
        std::thread::yield_now();
    }
}

/// Panics when it is asked for anything.
struct Broken;

impl Engine for Broken {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Broken)
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Err(EngineError::new("attach", io::Error::from_raw_os_error(libc::ENXIO)))
    }

    fn submit(&mut self, _: &Request) -> Submit {
        panic!("a bug");
    }
}

#[test]
fn a_panic_in_a_thread_is_an_error_of_its_request_and_a_refusal_one_of_the_engine() {
    let buffers = Buffers::new(2, 4096, true).unwrap();
    let mut engine = Offload::<Broken>::open(&spec(EngineKind::Null, 2), &buffers).unwrap();
    let refused = engine.attach(&FileSet::new(vec![OpenFile { fd: None, offset: 0, size: 0 }])).unwrap_err();
    assert_eq!(refused.errno(), libc::ENXIO);
    let request =
        Request { op: Op::Read, unit: 1, file: 0, len: 1, offset: 0, priority: 0, buffer: buffers.slot(1) };
    assert_eq!(engine.submit(&request), Submit::Queued);
    let mut done = Vec::with_capacity(1);
    engine.reap(1, 1, &mut done).unwrap();
    assert_eq!(done, [Completion { unit: 1, result: -i64::from(libc::EFAULT) }]);
}
