//! The engines of the program: one line each. Chosen once, when a worker thread starts.

use ferrio_engine::Engine;
use ferrio_engine_external::External;
use ferrio_engine_file::FileEngine;
use ferrio_engine_libaio::Libaio;
use ferrio_engine_mmap::Mmap;
use ferrio_engine_net::Net;
use ferrio_engine_null::Null;
use ferrio_engine_offload::Offload;
use ferrio_engine_posixaio::PosixAio;
use ferrio_engine_psync::{Psync, Pvsync, Pvsync2, Sync, Vsync};
use ferrio_engine_splice::Splice;
use ferrio_engine_tokio_uring::TokioUring;
use ferrio_engine_uring::Uring;
use ferrio_engine_work::Work;
use ferrio_job::EngineKind;

use crate::context::Context;
use crate::duty::WorkerDuty;
use crate::worker;
use crate::wrapped::{self, Wrapped};

/// Runs a worker with the job's engine on the calling thread.
pub(crate) fn run(context: Context<'_>) {
    match context.spec.engine {
        EngineKind::External => start_here::<External>(context),
        EngineKind::Sync => start::<Sync>(context),
        EngineKind::Psync => start::<Psync>(context),
        EngineKind::Vsync => start::<Vsync>(context),
        EngineKind::Pvsync => start::<Pvsync>(context),
        EngineKind::Pvsync2 => start::<Pvsync2>(context),
        EngineKind::Mmap => start::<Mmap>(context),
        EngineKind::Splice => start::<Splice>(context),
        EngineKind::Libaio => start::<Libaio>(context),
        EngineKind::Null => start::<Null>(context),
        // Planning refuses to offload these: they have queues of their own.
        EngineKind::IoUring => start_here::<Uring>(context),
        EngineKind::Posixaio => start_here::<PosixAio>(context),
        EngineKind::Cpuio | EngineKind::Exec => start_work(context),
        // There is one connection, and one thread that uses it.
        EngineKind::Net | EngineKind::Netsplice => start_here::<Net>(context),
        EngineKind::TokioUring => start_here::<TokioUring>(context),
        // Planning refuses these too: nothing of theirs would be in flight, or each thread would have a memory of its own.
        EngineKind::Dircreate
        | EngineKind::Dirdelete
        | EngineKind::Dirstat
        | EngineKind::Falloc
        | EngineKind::Filecreate
        | EngineKind::Filedelete
        | EngineKind::Filestat
        | EngineKind::Ftruncate
        | EngineKind::PageFault => start_here::<FileEngine>(context),
    }
}

/// Runs the worker with `E`, in threads of its own if the job is offloaded.
fn start<E: Engine + 'static>(context: Context<'_>) {
    // Threads cost more than idle wrappings.
    if context.spec.offload { start_wrapped::<Offload<E>>(context) } else { start_here::<E>(context) }
}

/// Runs the worker with `E`, wrapped if single I/Os are reported, or several that are in flight must not overlap.
fn start_here<E: Engine>(context: Context<'_>) {
    let spec = context.spec;
    if wrapped::is_traced() || spec.serialize_overlap && !spec.is_sync() {
        start_wrapped::<E>(context);
    } else {
        worker::run(context, E::open);
    }
}

/// Runs the worker with an engine that does no I/O, so that there is nothing to report of single I/Os.
fn start_work(context: Context<'_>) {
    let duty = Box::new(WorkerDuty::new(&context));
    worker::run(context, |spec, _| Ok(Work::new(spec, duty)));
}

fn start_wrapped<E: Engine>(context: Context<'_>) {
    let (index, overlaps, entropy) = (context.index, context.overlaps.clone(), context.entropy);
    worker::run(context, |spec, buffers| {
        Ok(Wrapped::new(E::open(spec, buffers)?, spec, overlaps, index, entropy))
    });
}
