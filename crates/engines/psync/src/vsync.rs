//! The engine vsync: collects adjacent requests to one file and moves them by one readv(2) or writev(2).
//!
//! At depth 1 there is nothing to collect, and a request completes when `submit` returns. Otherwise requests wait for
//! [`flush`](Engine::flush), which moves them and knows the results; `reap` only returns these.

use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use ferrio_engine::sync_ops::{self, outcome};
use ferrio_engine::{
    Buffers, Completion, Descriptors, Engine, EngineError, ExecutionTimes, FileSet, Op, OpenFile, Request,
    Submit,
};
use ferrio_job::JobSpec;

/// Most segments of one call (`IOV_MAX`).
const MAX_SEGMENTS: usize = 1024;

/// `ioengine=vsync`: lseek(2), then readv(2) or writev(2) of adjacent I/Os.
pub struct Vsync {
    fds: Descriptors,
    /// True if requests complete when `submit` returns.
    in_call: bool,
    /// Collected and not moved yet. Each request is adjacent to the previous one.
    batch: Vec<Request>,
    segments: Vec<libc::iovec>,
    /// Time at which the first request of `batch` was collected.
    batch_began: Instant,
    /// Moved and not reaped yet.
    ended: Vec<Completion>,
    /// Requests moved while reaping and not yet counted in a result of `flush`.
    unreported: u32,
    /// Times at which the request of each unit was collected and moved.
    execution_times: Box<[(Instant, Instant)]>,
    reaped: Instant,
}

impl Vsync {
    /// True if the request is adjacent to the batch, so that one call can move both.
    fn continues(&self, request: &Request) -> bool {
        self.batch.last().is_none_or(|last| {
            self.batch.len() < MAX_SEGMENTS
                && (last.op, last.file) == (request.op, request.file)
                && last.offset.checked_add(last.len) == Some(request.offset)
        })
    }

    /// Moves the collected requests. If a call moves only a part, another one follows for the requests that it did not reach.
    fn move_batch(&mut self) {
        let (moved, mut next) = (self.batch.len(), 0);
        if moved == 0 {
            return;
        }
        while next < moved {
            let rest = &self.batch[next..];
            let answer = transfer(self.fds.of(rest[0].file), rest, &mut self.segments);
            if answer < 0 && rest.len() > 1 {
                // One of the requests is invalid: run them one by one, so that only that one fails.
                for request in rest {
                    let own = std::slice::from_ref(request);
                    let result = transfer(self.fds.of(request.file), own, &mut self.segments);
                    self.ended.push(Completion { unit: request.unit, result });
                }
                break;
            }
            next += share_out(answer, rest, &mut self.ended);
        }
        let now = Instant::now();
        for request in self.batch.drain(..) {
            self.execution_times[request.unit as usize] = (self.batch_began, now);
        }
        self.unreported += moved as u32;
    }
}

/// Distributes the bytes that one call moved over the requests. Returns how many requests the call reached, at least one.
fn share_out(answer: i64, requests: &[Request], ended: &mut Vec<Completion>) -> usize {
    let mut left = answer;
    for (index, request) in requests.iter().enumerate() {
        let result = left.min(request.len.cast_signed());
        ended.push(Completion { unit: request.unit, result });
        left -= result;
        if left <= 0 {
            return index + 1;
        }
    }
    requests.len()
}

/// Moves one or more adjacent requests by one system call. Returns bytes moved or a negated errno; nothing is retried.
fn transfer(fd: RawFd, requests: &[Request], segments: &mut Vec<libc::iovec>) -> i64 {
    let first = &requests[0];
    // SAFETY: the call takes plain numbers and touches no memory of this process.
    let sought = outcome(unsafe { libc::lseek(fd, first.offset.cast_signed(), libc::SEEK_SET) });
    if sought < 0 {
        return sought;
    }
    segments.clear();
    segments
        .extend(requests.iter().map(|r| libc::iovec { iov_base: r.buffer.cast(), iov_len: r.len as usize }));
    let call = if first.op == Op::Read { libc::SYS_readv } else { libc::SYS_writev };
    // SAFETY: the segments live until the call returns, their buffers by the contract of Request.
    outcome(unsafe { libc::syscall(call, fd, segments.as_ptr(), segments.len()) })
}

impl Engine for Vsync {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let iodepth = spec.depth.iodepth.max(1) as usize;
        let now = Instant::now();
        Ok(Vsync {
            fds: Descriptors::default(),
            in_call: iodepth == 1,
            batch: Vec::with_capacity(iodepth),
            segments: Vec::with_capacity(iodepth.min(MAX_SEGMENTS)),
            batch_began: now,
            ended: Vec::with_capacity(iodepth),
            unreported: 0,
            execution_times: vec![(now, now); iodepth].into_boxed_slice(),
            reaped: now,
        })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.fds.attach(files);
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.fds.attach_one(index, file);
        Ok(())
    }

    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        let fd = self.fds.of(request.file);
        if !request.op.moves_data() {
            // Earlier writes must be done before a sync.
            return if self.batch.is_empty() {
                Submit::Done(sync_ops::run(fd, request))
            } else {
                Submit::Full
            };
        }
        if self.in_call {
            return Submit::Done(transfer(fd, std::slice::from_ref(request), &mut self.segments));
        }
        if !self.continues(request) {
            return Submit::Full;
        }
        if self.batch.is_empty() {
            self.batch_began = Instant::now();
        }
        self.batch.push(*request);
        Submit::Queued
    }

    fn flush(&mut self) -> io::Result<u32> {
        self.move_batch();
        Ok(std::mem::take(&mut self.unreported))
    }

    /// Returns all completions, to make room for as many adjacent requests.
    fn reap(&mut self, min: u32, _max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        if self.ended.len() < min as usize {
            self.move_batch();
        }
        done.append(&mut self.ended);
        self.reaped = Instant::now();
        Ok(())
    }

    fn execution_times(&self, unit: u32) -> Option<ExecutionTimes> {
        if self.in_call {
            return None;
        }
        let (began, ended) = self.execution_times[unit as usize];
        let ago = |at| self.reaped.saturating_duration_since(at);
        Some(ExecutionTimes { began_ago: ago(began), ended_ago: ago(ended) })
    }

    fn reap_within(&mut self, _timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        self.reap(1, max, done).map(|()| true)
    }
}

#[cfg(test)]
mod tests {
    use ferrio_engine::testing::{Rig, content, file_with, open};
    use ferrio_plan::testing::default_job;
    use tempfile::NamedTempFile;

    use super::*;

    const BLOCK: u64 = 4096;

    fn rig(file: &NamedTempFile, iodepth: u32) -> Rig<Vsync> {
        let mut spec = default_job("vsync");
        spec.depth.iodepth = iodepth;
        Rig::new(&spec, open(file, libc::O_RDWR).unwrap()).unwrap()
    }

    /// Submits reads of one block at these blocks of the file, as units 0, 1, ...; what the engine says to each.
    fn submit(rig: &mut Rig<Vsync>, blocks: &[u64]) -> Vec<Submit> {
        let requests = (0..).zip(blocks);
        let requests: Vec<_> =
            requests.map(|(unit, block)| rig.request(unit, Op::Read, block * BLOCK, BLOCK)).collect();
        requests.iter().map(|request| rig.engine.submit(request)).collect()
    }

    fn results(rig: &mut Rig<Vsync>) -> Vec<i64> {
        rig.engine.flush().unwrap();
        let mut done = Vec::with_capacity(8);
        rig.engine.reap(1, 8, &mut done).unwrap();
        done.sort_by_key(|completion| completion.unit);
        done.iter().map(|completion| completion.result).collect()
    }

    #[test]
    fn only_a_request_that_continues_the_batch_is_taken() {
        let file = file_with(&content(65536));
        let mut rig = rig(&file, 8);
        rig.files.files.push(rig.files.files[0].duplicated().unwrap());
        rig.engine.attach(&rig.files).unwrap();
        assert_eq!(submit(&mut rig, &[4, 5, 6, 8, 7]), {
            use Submit::{Full, Queued};
            [Queued, Queued, Queued, Full, Queued]
        });
        let end = BLOCK * 8;
        assert_eq!(rig.engine.submit(&rig.request(5, Op::Write, end, BLOCK)), Submit::Full);
        assert_eq!(rig.engine.submit(&rig.request(5, Op::Fsync, 0, 0)), Submit::Full);
        let of_another_file = Request { file: 1, ..rig.request(5, Op::Read, end, BLOCK) };
        assert_eq!(rig.engine.submit(&of_another_file), Submit::Full);
        assert_eq!(rig.engine.flush().unwrap(), 4);
        assert_eq!(rig.engine.submit(&rig.request(5, Op::Fsync, 0, 0)), Submit::Done(0));
    }

    #[test]
    fn each_request_gets_its_part_of_the_file() {
        let file = file_with(&content(65536));
        let mut rig = rig(&file, 4);
        submit(&mut rig, &[3, 4, 5, 6]);
        assert_eq!(results(&mut rig), [4096; 4]);
        for unit in 0..4 {
            let at = (3 + unit as usize) * 4096;
            assert_eq!(rig.buffers.fill(unit, 4096), &content(65536)[at..at + 4096], "unit {unit}");
        }
    }

    #[test]
    fn a_batch_over_the_end_of_the_file_is_short_where_the_file_ends() {
        let file = file_with(&content(6000));
        let mut rig = rig(&file, 4);
        submit(&mut rig, &[0, 1, 2, 3]);
        assert_eq!(results(&mut rig), [4096, 1904, 0, 0]);
    }

    #[test]
    fn an_error_is_that_of_the_request_at_fault() {
        let file = file_with(&content(65536));
        let mut rig = rig(&file, 3);
        let mut requests: Vec<_> =
            (0..3).map(|unit| rig.request(unit, Op::Write, u64::from(unit) * BLOCK, BLOCK)).collect();
        // The kernel can write the first request and, were it asked for it alone, the last.
        requests[1].buffer = std::ptr::without_provenance_mut(8);
        for request in &requests {
            assert_eq!(rig.engine.submit(request), Submit::Queued);
        }
        let fault = -i64::from(libc::EFAULT);
        assert_eq!(results(&mut rig), [4096, fault, 4096]);
    }

    #[test]
    fn a_queue_of_one_completes_in_the_call() {
        let file = file_with(&content(8192));
        let mut rig = rig(&file, 1);
        assert_eq!(submit(&mut rig, &[1]), [Submit::Done(4096)]);
        assert_eq!(rig.engine.execution_times(0), None);
    }

    #[test]
    fn what_was_not_flushed_is_moved_by_a_reap_that_waits() {
        let file = file_with(&content(8192));
        let mut rig = rig(&file, 2);
        submit(&mut rig, &[0, 1]);
        let mut done = Vec::with_capacity(2);
        rig.engine.reap(0, 2, &mut done).unwrap();
        assert_eq!(done, []);
        rig.engine.reap(1, 1, &mut done).unwrap();
        assert_eq!((done.len(), rig.engine.flush().unwrap()), (2, 2));
        let times = rig.engine.execution_times(1).unwrap();
        assert!(times.began_ago >= times.ended_ago);
    }
}
