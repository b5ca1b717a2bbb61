//! The io_uring engine: requests are entries of a submission queue, submitted to the kernel in batches.
//!
//! The ring itself is [`ferrio_engine::ring`]; this crate translates the job's options into registrations and request flags. Syncs of a
//! polled ring (which has no such requests on older kernels) run in `submit`. [`FullUring`] adds trims in the ring and metadata, which few
//! jobs need.

mod full;
mod integrity;
mod passthrough;
mod protection;
mod registration;

pub use full::FullUring;
pub use passthrough::UringCmd;

use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

use ferrio_engine::ring::{Addressing, EntryBuilder, Ring, RingSetup};
use ferrio_engine::{
    Buffers, Completion, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::{EngineOptions, JobSpec, Optimisations, Tuning};
use io_uring::squeue::{Entry, Flags};
use io_uring::{Probe, cqueue, opcode, squeue};
use nix::errno::Errno;
use registration::Registration;

/// `ioengine=io_uring`
pub struct Uring {
    /// First, because dropping it waits for all I/O, which still uses the memory of `entries`.
    ring: Ring,
    entries: EntryBuilder,
    fds: Vec<RawFd>,
    files: Registration,
    /// True if buffers are registered because of `tuning=lean`.
    lean_buffers: bool,
    iopoll: bool,
    force_async: EveryNth,
}

impl Uring {
    /// Runs a request that has no entry type; `None` if it has one.
    fn run_without_entry(&self, request: &Request) -> Option<i64> {
        let no_entry = request.op == Op::Trim || self.iopoll;
        no_entry.then(|| self.run_now(request))
    }

    /// Runs a sync or a trim in the calling thread.
    fn run_now(&self, request: &Request) -> i64 {
        sync_ops::run(self.fds[request.file as usize], request)
    }

    #[inline]
    fn queue(&mut self, request: &Request) -> Submit {
        let Some(entry) = self.entries.entry(request) else {
            return Submit::Done(-i64::from(libc::EINVAL));
        };
        // SAFETY: by the contract of Request, the buffer is valid until the completion is reaped. The worker owns it longer than this
        // engine, whose ring waits for all completions when dropped. The segment of a vectored request belongs to `entries`, which is
        // dropped after the ring.
        unsafe { self.push(entry) }
    }

    /// Appends an entry to the ring.
    ///
    /// # Safety
    /// See [`Ring::push`].
    #[inline(always)]
    unsafe fn push(&mut self, mut entry: Entry) -> Submit {
        if self.force_async.is_due() {
            entry = entry.flags(Flags::ASYNC);
        }
        // SAFETY: guaranteed by the caller.
        if unsafe { self.ring.push(&entry) } { Submit::Queued } else { Submit::Full }
    }
}

impl Engine for Uring {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        let options = &spec.engine_options;
        let iodepth = spec.depth.iodepth;
        if options.ring.registerfiles
            && spec.compat.opens_registered_files_at_once
            && (spec.opening.openfiles as usize) < spec.files.len()
        {
            return Err(EngineError::new("io_uring_register_files", Errno::EPERM).hint(
                "io_uring registered files require nr_files to be identical to open_files: raise openfiles, or start the \
                 program as ferrio, which registers files as they are opened",
            ));
        }
        let (ring, style) = new_ring(spec, buffers)?;
        Ok(Uring {
            ring,
            entries: EntryBuilder::new(style, sync_ops::rw_flags(spec), sync_ops::write_flags(spec), iodepth),
            fds: Vec::new(),
            files: registration::for_files(spec),
            lean_buffers: style == Addressing::Fixed && !options.ring.fixedbufs,
            iopoll: options.calls.hipri,
            force_async: EveryNth::new(options.ring.force_async),
        })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.fds = files.files.iter().map(|file| file.raw_fd()).collect();
        if self.files == Registration::Never {
            self.entries.use_descriptors(&self.fds);
            return Ok(());
        }
        match self.ring.register_files(&self.fds) {
            Ok(()) => self.entries.use_registered(self.fds.len()),
            Err(_) if self.files == Registration::IfPossible => {
                self.files = Registration::Never;
                self.entries.use_descriptors(&self.fds);
            }
            Err(error) => return Err(error.hint_for(registration::advice_on_files)),
        }
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        let fd = file.raw_fd();
        self.fds[index] = fd;
        if self.files == Registration::Never {
            self.entries.use_descriptor(index, fd);
            return Ok(());
        }
        let update = self.ring.submitter().register_files_update(index as u32, &[fd]);
        update.map(drop).map_err(|e| EngineError::new("io_uring_register_files_update", e))
    }

    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        if !request.op.moves_data()
            && let Some(result) = self.run_without_entry(request)
        {
            return Submit::Done(result);
        }
        self.queue(request)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<u32> {
        self.ring.submit()
    }

    #[inline]
    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        self.ring.reap(min, max, done)
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        self.ring.reap_within(timeout, max, done)
    }

    fn optimisations(&self) -> Optimisations {
        let lean_files = self.files == Registration::IfPossible;
        Optimisations::REGISTERED_FILES.when(lean_files)
            | Optimisations::REGISTERED_BUFFERS.when(self.lean_buffers)
    }
}

/// Creates a ring with the options of a job, and registers the buffers if the options ask for it.
fn new_ring<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    spec: &JobSpec,
    buffers: &Buffers,
) -> Result<(Ring<S, C>, Addressing), EngineError> {
    let options = &spec.engine_options;
    let mut ring = Ring::new(&RingSetup {
        iodepth: spec.depth.iodepth,
        iopoll: options.calls.hipri,
        sqpoll: options.ring.sqthread_poll,
        sqpoll_cpu: options.ring.sqthread_poll_cpu,
        // fio does not do this.
        unregisters_on_drop: spec.tuning == Tuning::Lean,
    })?;
    match registration::for_buffers(spec, buffers) {
        Registration::Required => {
            register_buffers(&mut ring, buffers).map_err(|e| e.hint_for(registration::advice_on_buffers))?;
            Ok((ring, Addressing::Fixed))
        }
        Registration::IfPossible if register_buffers(&mut ring, buffers).is_ok() => {
            Ok((ring, Addressing::Fixed))
        }
        Registration::IfPossible | Registration::Never => {
            let style = style(&ring, options);
            Ok((ring, style))
        }
    }
}

fn style<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    ring: &Ring<S, C>,
    options: &EngineOptions,
) -> Addressing {
    let plain = match options.ring.nonvectored {
        -1 => {
            let mut probe = Probe::new();
            ring.submitter().register_probe(&mut probe).is_ok()
                && probe.is_supported(opcode::Read::CODE)
                && probe.is_supported(opcode::Write::CODE)
        }
        value => value != 0,
    };
    if plain { Addressing::Plain } else { Addressing::Vectored }
}

fn register_buffers<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    ring: &mut Ring<S, C>,
    buffers: &Buffers,
) -> Result<(), EngineError> {
    let slots: Vec<libc::iovec> = (0..buffers.count())
        .map(|unit| libc::iovec { iov_base: buffers.slot(unit).cast(), iov_len: buffers.stride() })
        .collect();
    // SAFETY: the slots are parts of the worker's buffers, which outlive this engine and with it the ring; the kernel pins them.
    unsafe { ring.register_buffers(&slots) }
}

/// A countdown that selects every N-th event.
struct EveryNth {
    every: u32,
    left: u32,
}

impl EveryNth {
    /// 0 means never.
    fn new(every: u32) -> Self {
        EveryNth { every, left: every }
    }

    #[inline]
    fn is_due(&mut self) -> bool {
        if self.every == 0 {
            return false;
        }
        self.left -= 1;
        if self.left > 0 {
            return false;
        }
        self.left = self.every;
        true
    }
}

#[cfg(test)]
mod tests;
