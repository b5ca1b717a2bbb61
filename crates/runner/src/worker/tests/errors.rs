//! Errors that a job lives with, and those that end it.

use super::*;

/// Fails every fourth write with `ERRNO`, in the call or later.
#[derive(Default)]
struct Flaky<const ERRNO: i64, const LATER: bool> {
    writes: u32,
    kernel: Vec<Completion>,
}

impl<const ERRNO: i64, const LATER: bool> Engine for Flaky<ERRNO, LATER> {
    fn open(_: &JobSpec, _: &Buffers) -> Result<Self, EngineError> {
        Ok(Self::default())
    }

    fn attach(&mut self, _: &FileSet) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        self.writes += u32::from(request.op == Op::Write);
        FLAKY_WRITES.set(FLAKY_WRITES.get() + u64::from(request.op == Op::Write));
        let fails = request.op == Op::Write && self.writes.is_multiple_of(4);
        let result = if fails { -ERRNO } else { request.len.cast_signed() };
        if !LATER {
            return Submit::Done(result);
        }
        self.kernel.push(Completion { unit: request.unit, result });
        Submit::Queued
    }

    fn flush(&mut self) -> std::io::Result<u32> {
        Ok(self.kernel.len() as u32)
    }

    fn reap(&mut self, _: u32, _: u32, done: &mut Vec<Completion>) -> std::io::Result<()> {
        done.append(&mut self.kernel);
        Ok(())
    }
}

/// 16 blocks are written, four of them in vain; what was written is read back.
fn flaky_job(later: bool) -> JobSpec {
    let mut spec = job(ReadWrite::Write, EngineKind::Null, 16 * 4096);
    spec.verify = Some(crc32c());
    spec.tolerance.write = vec![libc::EIO];
    if later {
        spec.depth.iodepth = 4;
        spec.depth.low = 4;
    }
    spec
}

#[test]
fn a_tolerated_error_is_counted_and_its_block_neither_counts_nor_is_read_back() {
    let results = [work::<Flaky<5, false>>(&flaky_job(false)), work::<Flaky<5, true>>(&flaky_job(true))];
    for result in results {
        let [read, write, _] = &result.stats.directions;
        assert_eq!((result.error, result.stats.total_errors, result.stats.first_error), (None, 4, libc::EIO));
        assert_eq!((write.ios, write.bytes, write.clat.as_ref().unwrap().count()), (16, 12 * 4096, 12));
        assert_eq!((read.ios, read.bytes), (12, 12 * 4096));
    }
}

#[test]
fn an_error_that_is_not_in_the_list_ends_the_job() {
    for result in [work::<Flaky<28, false>>(&flaky_job(false)), work::<Flaky<28, true>>(&flaky_job(true))] {
        assert_eq!((errno(&result), result.stats.total_errors), (Some(libc::ENOSPC), 0));
        assert!(result.stats.directions[1].ios < 16);
    }
}

#[test]
fn errors_are_counted_from_the_start_of_the_ramp() {
    let mut spec = job(ReadWrite::Write, EngineKind::Null, 4 * 4096);
    spec.limits.ramp_time = Duration::from_millis(1);
    spec.limits.time_based = true;
    spec.limits.runtime = Duration::from_nanos(1);
    spec.tolerance.write = vec![libc::EIO];
    let before = FLAKY_WRITES.get();
    let result = work::<Flaky<5, false>>(&spec);
    assert_eq!(result.stats.total_errors, (FLAKY_WRITES.get() - before) / 4);
}
