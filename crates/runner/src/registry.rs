//! The engines of the program: one line each. Chosen once, when a worker thread starts.

use ferrio_engine::Engine;
use ferrio_engine_libaio::Libaio;
use ferrio_engine_mmap::Mmap;
use ferrio_engine_null::Null;
use ferrio_engine_offload::Offload;
use ferrio_engine_psync::{Psync, Pvsync, Pvsync2, Sync, Vsync};
use ferrio_engine_tokio_uring::TokioUring;
use ferrio_engine_uring::Uring;
use ferrio_job::EngineKind;

use crate::context::Context;
use crate::serialized::Serialized;
use crate::traced::{self, Traced};
use crate::worker;

/// Runs a worker with the job's engine on the calling thread.
pub(crate) fn run(context: Context<'_>) {
    if context.spec.offload {
        return run_offloaded(context);
    }
    match context.spec.engine {
        EngineKind::Sync => start::<Sync>(context),
        EngineKind::Psync => start::<Psync>(context),
        EngineKind::Vsync => start::<Vsync>(context),
        EngineKind::Pvsync => start::<Pvsync>(context),
        EngineKind::Pvsync2 => start::<Pvsync2>(context),
        EngineKind::Mmap => start::<Mmap>(context),
        EngineKind::IoUring => start_queued::<Uring>(context),
        EngineKind::Libaio => start_queued::<Libaio>(context),
        EngineKind::Null => start_queued::<Null>(context),
        EngineKind::TokioUring => start_queued::<TokioUring>(context),
    }
}

/// Runs the worker with `E` in threads of its own. They cost more than what could be saved by leaving out idle wrappers.
fn run_offloaded(context: Context<'_>) {
    match context.spec.engine {
        EngineKind::Sync => start_wrapped::<Offload<Sync>>(context),
        EngineKind::Psync => start_wrapped::<Offload<Psync>>(context),
        EngineKind::Vsync => start_wrapped::<Offload<Vsync>>(context),
        EngineKind::Pvsync => start_wrapped::<Offload<Pvsync>>(context),
        EngineKind::Pvsync2 => start_wrapped::<Offload<Pvsync2>>(context),
        EngineKind::Mmap => start_wrapped::<Offload<Mmap>>(context),
        EngineKind::Libaio => start_wrapped::<Offload<Libaio>>(context),
        EngineKind::Null => start_wrapped::<Offload<Null>>(context),
        // Planning refuses these: they have queues of their own. They run without the threads.
        EngineKind::IoUring => start_wrapped::<Uring>(context),
        EngineKind::TokioUring => start_wrapped::<TokioUring>(context),
    }
}

/// Runs the worker with `E`, an engine that can have several I/Os in flight.
fn start_queued<E: Engine>(context: Context<'_>) {
    if context.spec.serialize_overlap { start_wrapped::<E>(context) } else { start::<E>(context) }
}

/// Runs the worker with `E` in all wrappers, each of which does nothing unless it is asked for.
fn start_wrapped<E: Engine>(context: Context<'_>) {
    let (index, overlaps) = (context.index, context.overlaps.clone());
    worker::run_with(context, |spec, buffers| {
        let engine = Serialized::sharing(E::open(spec, buffers)?, spec, overlaps, index);
        Ok(Traced::new(engine, spec))
    });
}

/// Runs the worker with `E`, which tells of every I/O if debugging asks for that.
fn start<E: Engine>(context: Context<'_>) {
    if traced::is_wanted() {
        worker::run::<Traced<E>>(context);
    } else {
        worker::run::<E>(context);
    }
}
