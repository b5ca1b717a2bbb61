//! The libaio engine: the kernel's asynchronous I/O (io_submit(2) and related calls), called directly, without the library libaio. If the
//! kernel lacks these calls, the engine uses io_uring instead and reports that in a note.
//!
//! As with the kernel's AIO, every kind of sync is an fsync, and trims run in `submit`.

mod abi;
mod context;
mod user_ring;

use std::io;
use std::time::Duration;

use context::{AioContext, AioOptions};
use ferrio_engine::ring::{Addressing, EntryBuilder, Ring, RingSetup};
use ferrio_engine::{
    Buffers, Completion, Descriptors, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::{Diagnostic, JobSpec, LibaioBackend, Prefix};

/// `ioengine=libaio`
pub struct Libaio {
    backend: Backend,
    fds: Descriptors,
    /// True if syncs run in `submit` and wait.
    blocking_syncs: bool,
    notes: Vec<Diagnostic>,
}

/// The kernel interface in use; the same for all I/Os of a job, so that the branch is always predicted.
enum Backend {
    Kernel(AioContext),
    /// The ring comes first, as dropping it waits for all I/O.
    IoUring(Ring, EntryBuilder),
}

impl Backend {
    fn kernel(spec: &JobSpec) -> Result<Self, EngineError> {
        let polling = spec.depth.complete_min == 0;
        let takes_from_ring = polling || spec.compat.reads_ring_first;
        let options = AioOptions {
            read_flags: sync_ops::rw_flags(spec).cast_unsigned(),
            write_flags: sync_ops::write_flags(spec).cast_unsigned(),
            vectored: spec.engine_options.libaio.vectored,
            userspace_reap: spec.engine_options.libaio.userspace_reap && takes_from_ring,
            polling,
            priority: spec.priorities.own_bits(),
        };
        AioContext::new(spec.depth.iodepth, options).map(Backend::Kernel)
    }

    fn io_uring(spec: &JobSpec) -> Result<Self, EngineError> {
        let iodepth = spec.depth.iodepth;
        let ring = Ring::new(&RingSetup { iodepth, ..RingSetup::default() })?;
        let style =
            if spec.engine_options.libaio.vectored { Addressing::Vectored } else { Addressing::Plain };
        let entries =
            EntryBuilder::new(style, sync_ops::rw_flags(spec), sync_ops::write_flags(spec), iodepth);
        Ok(Backend::IoUring(ring, entries))
    }
}

impl Engine for Libaio {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let mut notes = Vec::new();
        let backend = match spec.engine_options.libaio.backend {
            LibaioBackend::Kernel => Backend::kernel(spec)?,
            LibaioBackend::IoUring => Backend::io_uring(spec)?,
            LibaioBackend::Auto => match Backend::kernel(spec) {
                Err(error) if error.errno() == libc::ENOSYS => {
                    let message = "this kernel has no AIO (io_setup): libaio uses io_uring";
                    notes.push(Diagnostic::note(message).code("engine-fallback").prefix(Prefix::Job));
                    Backend::io_uring(spec)?
                }
                other => other?,
            },
        };
        let blocking_syncs = spec.engine_options.libaio.blocking_syncs;
        Ok(Libaio { backend, fds: Descriptors::default(), blocking_syncs, notes })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.fds.attach(files);
        if let Backend::IoUring(_, entries) = &mut self.backend {
            entries.use_descriptors(self.fds.all());
        }
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.fds.attach_one(index, file);
        if let Backend::IoUring(_, entries) = &mut self.backend {
            entries.use_descriptor(index, file.raw_fd());
        }
        Ok(())
    }

    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        let fd = self.fds.of(request.file);
        if !request.op.moves_data() && (request.op == Op::Trim || self.blocking_syncs) {
            return Submit::Done(sync_ops::run(fd, request));
        }
        let queued = match &mut self.backend {
            // SAFETY: by the contract of Request, the buffer is valid until the completion is reaped. The worker owns it longer than this
            // engine, whose context waits for all I/O when dropped.
            Backend::Kernel(context) => unsafe { context.push(fd, request) },
            Backend::IoUring(ring, entries) => {
                let op = if request.op.moves_data() { request.op } else { Op::Fsync };
                match entries.entry(&Request { op, ..*request }) {
                    // SAFETY: as above; segments of vectored requests belong to `entries`, which is dropped after the ring.
                    Some(entry) => unsafe { ring.push(&entry) },
                    None => return Submit::Done(-i64::from(libc::EINVAL)),
                }
            }
        };
        if queued { Submit::Queued } else { Submit::Full }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<u32> {
        match &mut self.backend {
            Backend::Kernel(context) => context.submit(),
            Backend::IoUring(ring, _) => ring.submit(),
        }
    }

    #[inline]
    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        match &mut self.backend {
            Backend::Kernel(context) => context.reap(min, max, done),
            Backend::IoUring(ring, _) => ring.reap(min, max, done),
        }
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        match &mut self.backend {
            Backend::Kernel(context) => context.reap_within(timeout, max, done).map(|()| true),
            Backend::IoUring(ring, _) => ring.reap_within(timeout, max, done),
        }
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notes)
    }
}

#[cfg(test)]
mod tests;
