//! When a job submits, commits and reaps, call by call, with an engine whose I/Os end as soon as they are committed.

use super::*;
use crate::engine_wrapper::EngineWrapper;

thread_local! {
    /// Calls of a [`Scribe`].
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn call(text: impl Into<String>) {
    CALLS.with_borrow_mut(|calls| calls.push(text.into()));
}

/// Writes down what it is asked for: `Q` for a request, `C` for a commit, `Rm=k` for a reap of at least m that got k. Who asks
/// without waiting gets nothing the first `LATE` times.
#[derive(Default)]
struct Scribe<const LATE: u32> {
    polled: u32,
    queued: Vec<Completion>,
    ended: VecDeque<Completion>,
}

impl<const LATE: u32> Engine for Scribe<LATE> {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Scribe::default())
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        call("Q");
        self.queued.push(Completion { unit: request.unit, result: request.len.cast_signed() });
        Submit::Queued
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        call("C");
        let count = self.queued.len() as u32;
        self.ended.extend(self.queued.drain(..));
        Ok(count)
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        self.polled += u32::from(min == 0);
        let late = min == 0 && self.polled <= LATE;
        let count = if late { 0 } else { self.ended.len().min(max as usize) };
        assert!(count >= min as usize, "{min} wanted, {count} there");
        call(format!("R{min}={count}"));
        done.extend(self.ended.drain(..count));
        Ok(())
    }
}

/// A job of `ios` I/Os of 4 KiB with this queue: iodepth, batch, least and most completions, low mark.
fn queue(ios: u64, [iodepth, batch, complete_min, complete_max, low]: [u32; 5]) -> JobSpec {
    let mut spec = job(ReadWrite::Write, EngineKind::Libaio, ios * 4096);
    spec.depth = ferrio_job::Depth { iodepth, batch, complete_min, complete_max, low };
    spec
}

fn calls<E: Engine>(spec: &JobSpec) -> String {
    CALLS.take();
    let result = work::<E>(spec);
    assert_eq!(result.error, None);
    CALLS.take().join(" ")
}

#[test]
fn one_io_is_reaped_for_each_that_is_submitted_to_a_full_queue() {
    let want = "Q C Q C Q C Q C R1=1 Q C R1=1 Q C R1=1 R3=3";
    assert_eq!(calls::<Scribe<0>>(&queue(6, [4, 1, 1, 1, 4])), want);
}

#[test]
fn a_batch_is_committed_when_it_is_complete_or_something_is_reaped() {
    let want = "Q Q Q Q C R1=1 Q C R1=1 Q C R1=1 R3=3";
    assert_eq!(calls::<Scribe<0>>(&queue(6, [4, 4, 1, 1, 4])), want);
    let want = "Q Q Q Q C R4=4 Q Q Q Q C R4=4";
    assert_eq!(calls::<Scribe<0>>(&queue(8, [4, 4, 4, 4, 4])), want);
    let want = format!("{}C R1=8", "Q ".repeat(8));
    assert_eq!(calls::<Scribe<0>>(&queue(8, [8, 8, 1, 8, 8])), want);
}

#[test]
fn a_full_queue_is_emptied_to_the_low_mark() {
    let (fill, empty, refill) = ("Q C ".repeat(8), "R1=1 ".repeat(6), "Q C ".repeat(6));
    let want = format!("{fill}{empty}{refill}{empty}R2=2");
    assert_eq!(calls::<Scribe<0>>(&queue(14, [8, 1, 1, 1, 2])), want);
}

#[test]
fn a_job_that_polls_asks_without_waiting_after_each_submission() {
    let spec = queue(3, [4, 1, 0, 0, 4]);
    assert_eq!(calls::<Scribe<0>>(&spec), "Q C R0=1 Q C R0=1 Q C R0=1");
    assert_eq!(calls::<Scribe<2>>(&spec), "Q C R0=0 Q C R0=0 Q C R0=1 R2=2");
}

#[test]
fn called_fio_a_job_that_polls_has_one_io_in_flight() {
    let spec =
        JobSpec { compat: ferrio_job::CompatRules::of(ferrio_job::Compat::Fio), ..queue(3, [4, 1, 0, 0, 4]) };
    assert_eq!(calls::<Scribe<2>>(&spec), "Q C R0=0 R0=0 R0=1 Q C R0=1 Q C R0=1");
}

/// Accepts nothing while something can be reaped, as the null engine does: `F` for a request that it refused.
struct OneBatch(Scribe<0>);

impl Engine for OneBatch {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(OneBatch(Scribe::open(spec, buffers)?))
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.0.attach(files)
    }

    fn is_full(&self) -> bool {
        !self.0.ended.is_empty()
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if self.is_full() {
            call("F");
            return Submit::Full;
        }
        self.0.submit(request)
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        self.0.flush()
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        self.0.reap(min, max, done)
    }
}

#[test]
fn an_engine_that_says_that_it_is_full_is_reaped_before_the_next_request() {
    assert_eq!(calls::<OneBatch>(&queue(3, [4, 1, 1, 1, 4])), "Q C R1=1 Q C R1=1 Q C R1=1");
    assert_eq!(calls::<OneBatch>(&queue(5, [4, 2, 2, 4, 4])), "Q Q C R2=2 Q Q C R2=2 Q C R1=1");
}

#[test]
fn histograms_show_depth_and_sizes_of_batches() {
    let spec = queue(16, [4, 4, 4, 4, 4]);
    let stats = work::<Scribe<0>>(&spec).stats;
    assert_eq!(stats.depth.0, [0, 0, 16, 0, 0, 0, 0]);
    assert_eq!((stats.submit.0[1], stats.complete.0[1]), (4, 4));
}

#[test]
fn what_overlaps_an_io_in_flight_waits_for_one_reap_and_is_tried_again() {
    let mut spec = queue(4, [4, 1, 1, 1, 4]);
    // All of them at one place.
    spec.limits.size = 4096;
    spec.limits.io_size = Some(4 * 4096);
    spec.files[0].size = 4096;
    spec.files[0].real_size = 4096;
    assert_eq!(calls::<EngineWrapper<Scribe<0>>>(&spec), "Q C Q C Q C Q C R1=1 R3=3", "off");
    spec.serialize_overlap = true;
    assert_eq!(calls::<EngineWrapper<Scribe<0>>>(&spec), "Q C R1=1 Q C R1=1 Q C R1=1 Q C R1=1");
}
