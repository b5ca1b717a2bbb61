//! io_uring for jobs that trim or whose I/Os have metadata. Kept apart from [`Uring`] so that other jobs do not pay for it.

use std::io;
use std::time::Duration;

use ferrio_engine::{Buffers, Completion, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit};
use ferrio_job::{JobSpec, Optimisations};

use crate::Uring;
use crate::integrity::Integrity;

/// `ioengine=io_uring` with trims and metadata.
pub struct FullUring {
    /// First, because dropping it waits for all I/O, which still uses the metadata.
    uring: Uring,
    integrity: Option<Integrity>,
    /// True if trims are submitted to the ring. Not all devices and kernels support this: after the first failure they run in `submit`.
    queues_trims: bool,
    /// Indexed by unit: trims in the ring, and reads whose metadata has to be checked.
    waiting: Box<[Option<Request>]>,
    /// Indexed by unit: details of the last failure.
    details: Box<[Option<String>]>,
}

impl FullUring {
    fn queue_trim(&mut self, request: &Request) -> Submit {
        let entry = self.uring.entries.discard(request);
        // SAFETY: the entry points to no memory.
        let answer = unsafe { self.uring.push(entry) };
        if answer == Submit::Queued {
            self.waiting[request.unit as usize] = Some(*request);
        }
        answer
    }

    fn queue_with_metadata(&mut self, request: &Request) -> Submit {
        let (Some(integrity), Some(mut entry)) = (&mut self.integrity, self.uring.entries.entry(request))
        else {
            return Submit::Done(-i64::from(libc::EINVAL));
        };
        if let Err(errno) = integrity.add(request, &mut entry) {
            return Submit::Done(-i64::from(errno as i32));
        }
        // SAFETY: as in `Uring::queue`; the metadata belongs to `integrity`, which is dropped after the ring.
        let answer = unsafe { self.uring.push(entry) };
        if answer == Submit::Queued && request.op == Op::Read {
            self.waiting[request.unit as usize] = Some(*request);
        }
        answer
    }

    /// Replaces the kernel's results of trims and checked reads by final ones.
    fn settle(&mut self, done: &mut [Completion]) {
        for completion in done {
            let Some(request) = self.waiting[completion.unit as usize].take() else { continue };
            if request.op == Op::Trim {
                completion.result = self.trim_result(&request, completion.result);
            } else if completion.result == request.len.cast_signed()
                && let Some(integrity) = &self.integrity
                && let Err(mismatch) = integrity.check(&request)
            {
                self.details[completion.unit as usize] =
                    Some(format!("{}: {mismatch}", integrity.name(&request)));
                completion.result = -i64::from(libc::EIO);
            }
        }
    }

    fn trim_result(&mut self, request: &Request, answer: i64) -> i64 {
        if answer == 0 {
            return request.len.cast_signed();
        }
        self.queues_trims = false;
        self.uring.run_now(request)
    }
}

impl Engine for FullUring {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        let units = spec.depth.iodepth.max(1) as usize;
        Ok(FullUring {
            uring: Uring::open(spec, buffers)?,
            integrity: Integrity::new(spec),
            // A polled ring has no such command.
            queues_trims: !spec.engine_options.calls.hipri,
            waiting: vec![None; units].into_boxed_slice(),
            details: vec![None; units].into_boxed_slice(),
        })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        if let Some(integrity) = &mut self.integrity {
            integrity.attach(files)?;
        }
        self.uring.attach(files)
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        if let Some(integrity) = &mut self.integrity {
            integrity.attach_one(index, file.raw_fd())?;
        }
        self.uring.attach_one(index, file)
    }

    fn submit(&mut self, request: &Request) -> Submit {
        if request.op == Op::Trim && self.queues_trims {
            return self.queue_trim(request);
        }
        if request.op.moves_data() && self.integrity.is_some() {
            return self.queue_with_metadata(request);
        }
        self.uring.submit(request)
    }

    fn flush(&mut self) -> io::Result<u32> {
        self.uring.flush()
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let before = done.len();
        self.uring.reap(min, max, done)?;
        self.settle(&mut done[before..]);
        Ok(())
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        let before = done.len();
        let waited = self.uring.reap_within(timeout, max, done)?;
        self.settle(&mut done[before..]);
        Ok(waited)
    }

    fn optimisations(&self) -> Optimisations {
        self.uring.optimisations()
    }

    fn failure_details(&self, unit: u32) -> Option<String> {
        self.details[unit as usize].clone()
    }
}
