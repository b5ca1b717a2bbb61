//! Jobs whose I/Os must not overlap, with an engine that sees what is in flight in all of them.

use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use std::thread;

use ferrio_engine_offload::Offload;
use ferrio_job::{BlockSizes, MaxLatency};
use ferrio_workload::SEEDS;

use super::*;
use crate::engine_wrapper::EngineWrapper;
use crate::overlap::SharedRanges;

/// Ranges that some [`Exclusive`] works on.
static IN_WORK: Mutex<Vec<(u64, u64)>> = Mutex::new(Vec::new());
/// Ranges that overlapped another one.
static OVERLAPPED: AtomicUsize = AtomicUsize::new(0);
/// One test at a time.
static TURN: Mutex<()> = Mutex::new(());

/// Takes its time for each I/O and looks what else is in work meanwhile.
struct Exclusive;

impl Engine for Exclusive {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Exclusive)
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        let (start, end) = (request.offset, request.offset + request.len);
        let mut in_work = IN_WORK.lock().unwrap();
        if in_work.iter().any(|&(other, other_end)| start < other_end && other < end) {
            OVERLAPPED.fetch_add(1, Relaxed);
        }
        in_work.push((start, end));
        drop(in_work);
        (0..20).for_each(|_| thread::yield_now());
        let mut in_work = IN_WORK.lock().unwrap();
        let place = in_work.iter().position(|&range| range == (start, end)).unwrap();
        in_work.swap_remove(place);
        Submit::Done(request.len.cast_signed())
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        Ok(0)
    }

    fn reap(&mut self, _: u32, _: u32, _: &mut Vec<Completion>) -> std::io::Result<()> {
        Ok(())
    }
}

/// `ios` writes of `bytes` at random places of the first `blocks` blocks of 4 KiB, four in flight.
fn writer(ios: u64, bytes: u64, blocks: u64) -> JobSpec {
    let mut spec = job(ReadWrite::RandWrite, EngineKind::Null, blocks * 4096);
    let sizes = BlockSizes { min: bytes, max: bytes, align: 4096 };
    spec.block = PerDirection([sizes.clone(), sizes.clone(), sizes]);
    spec.random_map = false;
    spec.limits.io_size = Some(ios * bytes);
    spec.limits.loops = 1;
    spec.depth.iodepth = 4;
    spec.depth.complete_max = 4;
    spec.depth.low = 4;
    spec.offload = true;
    spec.serialize_overlap = true;
    spec
}

/// Runs jobs at the same time. How many of their I/Os overlapped.
fn overlapping(jobs: &[JobSpec]) -> usize {
    let _turn = TURN.lock().unwrap();
    OVERLAPPED.store(0, Relaxed);
    let shared = SharedRanges::of(&plan(jobs.iter().cloned()));
    thread::scope(|scope| {
        for (index, spec) in jobs.iter().enumerate() {
            let shared = shared.clone();
            scope.spawn(move || {
                let control = Box::leak(Box::<JobControl>::default());
                let (_, result) = drive(spec, control, |context| {
                    run(context, |spec, buffers| {
                        let engine = Offload::<Exclusive>::open(spec, buffers)?;
                        Ok(EngineWrapper::new(engine, spec, shared, index, [0; SEEDS]))
                    });
                });
                if spec.max_latency == MaxLatency::default() {
                    assert_eq!(result.error, None);
                    assert_eq!(Some(result.stats.directions[1].bytes), spec.limits.io_size);
                } else {
                    assert_eq!(errno(&result), Some(libc::ETIMEDOUT));
                }
            });
        }
    });
    OVERLAPPED.load(Relaxed)
}

#[test]
fn what_is_in_flight_in_one_job_holds_back_what_overlaps_it_in_another() {
    assert_eq!(overlapping(&[writer(300, 4096, 12), writer(300, 12_288, 12), writer(300, 8192, 12)]), 0);
}

#[test]
fn jobs_that_want_the_same_block_all_the_time_all_get_it() {
    let jobs = [(); 3].map(|()| writer(200, 4096, 1));
    assert_eq!(overlapping(&jobs), 0);
}

#[test]
fn a_job_that_waits_for_its_schedule_gives_free_what_has_ended() {
    let mut slow = writer(100, 4096, 1);
    slow.rates.iops = PerDirection([0, 2000, 0]);
    assert_eq!(overlapping(&[slow, writer(100, 4096, 1)]), 0);
}

#[test]
fn a_job_that_fails_lets_those_go_on_who_wait_for_it() {
    let mut failing = writer(100, 4096, 2);
    failing.max_latency = PerDirection([Duration::from_nanos(1); 3]);
    assert_eq!(overlapping(&[failing, writer(100, 4096, 2)]), 0);
}
