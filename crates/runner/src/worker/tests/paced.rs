//! Jobs with a rate: what is in flight goes on while the next I/O is waited for, and response times count from when I/Os were due.

use std::time::Instant;

use ferrio_job::{BlockShare, Think};
use ferrio_stats::{DirectionStats, Latency};

use super::*;

/// So many reads a second at this depth, 4 KiB each.
fn rated(iops: u64, blocks: u64, iodepth: u32) -> JobSpec {
    let engine = if iodepth > 1 { EngineKind::IoUring } else { EngineKind::Psync };
    let mut spec = job(ReadWrite::Read, engine, blocks * 4096);
    spec.rates.iops = PerDirection([iops, 0, 0]);
    spec.depth.iodepth = iodepth;
    spec.depth.low = iodepth;
    spec
}

fn lat(direction: &DirectionStats) -> &Latency {
    direction.lat().unwrap()
}

fn response(direction: &DirectionStats) -> &Latency {
    direction.response.as_ref().unwrap()
}

/// No part of the distribution of response times is below that of the latencies.
fn assert_above_latency(direction: &DirectionStats) {
    let (lat, response) = (lat(direction), response(direction));
    assert_eq!(lat.count(), response.count());
    assert!(response.min() >= lat.min() && response.max() >= lat.max() && response.mean() >= lat.mean());
    for percent in [1.0, 10.0, 50.0, 90.0, 99.0, 99.9] {
        assert!(response.percentile(percent) >= lat.percentile(percent), "{percent}");
    }
}

/// Share of samples below `ns`, in percent, to one in a thousand.
fn percent_below(latency: &Latency, ns: u64) -> f64 {
    (0..=1000).map(|n| f64::from(n) / 10.0).take_while(|&p| latency.percentile(p) < ns).last().unwrap_or(0.0)
}

/// Completes every I/O at once but the first one, and that only after it took five more. Whether it can wait with a limit is `LIMIT`.
#[derive(Default)]
struct KeepsTheFirst<const LIMIT: bool> {
    first: Option<Completion>,
    queued: u32,
    submitted: u32,
    ready: Vec<Completion>,
}

impl<const LIMIT: bool> Engine for KeepsTheFirst<LIMIT> {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(KeepsTheFirst::default())
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        let done = Completion { unit: request.unit, result: request.len.cast_signed() };
        self.queued += 1;
        self.submitted += 1;
        match self.submitted {
            1 => self.first = Some(done),
            6 => self.ready.extend([done].into_iter().chain(self.first.take())),
            _ => self.ready.push(done),
        }
        Submit::Queued
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        Ok(std::mem::take(&mut self.queued))
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        assert!(self.ready.len() >= min as usize, "the job waits for an I/O that takes longer than others");
        let count = self.ready.len().min(max as usize);
        done.extend(self.ready.drain(..count));
        Ok(())
    }

    fn reap_within(
        &mut self,
        limit: Duration,
        max: u32,
        done: &mut Vec<Completion>,
    ) -> std::io::Result<bool> {
        if LIMIT && self.ready.is_empty() {
            std::thread::sleep(limit);
        } else if LIMIT {
            self.reap(0, max, done)?;
        }
        Ok(LIMIT)
    }
}

#[test]
fn a_slow_io_holds_back_none_that_are_due_while_there_is_room() {
    for result in
        [work::<KeepsTheFirst<false>>(&rated(1000, 12, 4)), work::<KeepsTheFirst<true>>(&rated(1000, 12, 4))]
    {
        assert_eq!(result.error, None);
        let read = &result.stats.directions[0];
        assert_eq!((read.ios, read.bytes), (12, 12 * 4096));
        assert!(read.runtime_ms >= 11, "the schedule is kept: {} ms", read.runtime_ms);
        // From when it was due: a busy machine may issue it late.
        let first = response(read).max();
        assert!(first >= 4_900_000, "the first waits for the one that is due after 5 ms: {first} ns");
        assert_above_latency(read);
    }
}

#[test]
fn an_engine_short_of_everything_keeps_a_schedule_and_each_block_has_one_response_time() {
    let mut spec = rated(2000, 16, 4);
    spec.depth.batch = 2;
    let result = work::<Stingy>(&spec);
    let read = &result.stats.directions[0];
    assert_eq!(result.error, None);
    assert_eq!((read.bytes, read.short, response(read).count()), (64 << 10, 16, 16));
    // The rest of a block is an I/O with latencies of its own, but nobody asked for it later than for the block.
    assert_above_latency(read);
}

/// Synchronous; its fifth I/O takes `STALL`.
struct Stalling(u32);

const STALL: Duration = Duration::from_millis(40);

impl Engine for Stalling {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Stalling(0))
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        self.0 += 1;
        if self.0 == 5 {
            std::thread::sleep(STALL);
        }
        Submit::Done(request.len.cast_signed())
    }
}

#[test]
fn every_io_that_was_due_in_a_stall_has_its_part_of_the_stall_in_its_response_time() {
    let result = work::<Stalling>(&rated(1000, 100, 1));
    let read = &result.stats.directions[0];
    assert_eq!((result.error.as_ref(), response(read).count()), (None, 100));
    assert_above_latency(read);
    // The stall begins at 4 ms at the earliest. The I/Os due at 5, 6, ... 24 ms end behind it, 20 ms late and more: 20 of 100,
    // and the one that stalled. Latencies know of that one only.
    let late = 100.0 - percent_below(response(read), 19_500_000);
    assert!(late >= 20.0, "{late} %");
    assert!(lat(read).max() >= 40_000_000 && response(read).max() >= 40_000_000);
}

#[test]
fn random_arrivals_have_response_times_too() {
    let mut spec = rated(2000, 50, 1);
    spec.rates.poisson = true;
    let read = &work::<Stalling>(&spec).stats.directions[0];
    assert_above_latency(read);
}

#[test]
fn only_directions_with_a_rate_have_response_times_whatever_a_mix_switches_to() {
    let mut spec = rated(0, 200, 1);
    spec.rw = ReadWrite::Mixed;
    spec.rates.iops = PerDirection([4000, 0, 0]);
    let stats = work::<Stalling>(&spec).stats;
    let [read, write, _] = &stats.directions;
    assert_above_latency(read);
    assert!(write.ios > 0 && write.response.is_none());
    spec.rates.iops = PerDirection([4000, 2000, 0]);
    let stats = work::<Stalling>(&spec).stats;
    stats.directions[..2].iter().for_each(assert_above_latency);
    let [read, write, _] = &stats.directions;
    assert_eq!(response(&stats.mixed()).count(), read.ios + write.ios);
}

#[test]
fn a_schedule_begins_anew_when_the_ramp_ends_and_forgets_how_late_it_was() {
    // Far behind before the ramp is over: this engine is slower than the rate.
    let mut spec = rated(100_000, 1 << 20, 2);
    spec.limits.time_based = true;
    spec.limits.ramp_time = Duration::from_millis(120);
    spec.limits.runtime = Duration::from_millis(30);
    let began = Instant::now();
    let stats = work::<Slow<4096, 1>>(&spec).stats;
    let (all_ms, read) = (began.elapsed().as_millis() as u64, &stats.directions[0]);
    assert_above_latency(read);
    let ramp_ms = all_ms - stats.job_runtime_ms.min(all_ms);
    assert!(ramp_ms >= 100, "{ramp_ms}");
    // What was in flight when the ramp ended keeps its own time: two I/Os here. All others were due after it.
    let typical = response(read).percentile(50.0) / 1_000_000;
    assert!(typical <= stats.job_runtime_ms, "{typical} ms of {} ms", stats.job_runtime_ms);
}

#[test]
fn a_pause_that_is_not_caught_up_with_is_no_response_time() {
    let mut spec = rated(1000, 4, 1);
    spec.think = Think { time: Duration::from_millis(250), blocks: Some(1), ..Think::default() };
    let late = |spec: &JobSpec| response(&work::<Attached>(spec).stats.directions[0]).percentile(50.0);
    assert!(late(&spec) >= 249_000_000, "the second I/O was due 249 ms before its pause ended");
    spec.rates.ignore_thinktime = true;
    assert!(late(&spec) < 200_000_000);
}

#[test]
fn reading_back_is_not_on_the_schedule() {
    let directory = TempDir::new().unwrap();
    let mut spec = on_file(job(ReadWrite::Write, EngineKind::Psync, 16 * 4096), &directory.path().join("f"));
    spec.files[0].extend = true;
    spec.layout.create_serialize = false;
    spec.verify = Some(crc32c());
    spec.rates.iops = PerDirection([2000, 2000, 0]);
    let result = work::<ferrio_engine_psync::Sync>(&spec);
    let [read, write, _] = &result.stats.directions;
    assert_eq!(result.error, None);
    assert_eq!((read.ios, read.response.is_none()), (16, true));
    assert_eq!(response(write).count(), 16);
}

#[test]
fn ios_of_a_split_and_jobs_without_latencies_are_paced_as_well() {
    let mut spec = rated(4000, 64, 1);
    spec.split.0[0] = [4096, 8192].map(|bytes| BlockShare { bytes, percent: 50 }).to_vec();
    spec.block[Direction::Read].max = 8192;
    assert_above_latency(&work::<Attached>(&spec).stats.directions[0]);
    spec.measure.lat = false;
    let read = &work::<Attached>(&spec).stats.directions[0];
    assert!(read.response.is_none() && read.runtime_ms >= 9, "{}", read.runtime_ms);
}
