//! The engines of the program: one line each. Chosen once, when a worker thread starts.

use ferrio_engine::Engine;
use ferrio_engine_libaio::Libaio;
use ferrio_engine_mmap::Mmap;
use ferrio_engine_null::Null;
use ferrio_engine_psync::{Psync, Pvsync, Pvsync2, Sync, Vsync};
use ferrio_engine_tokio_uring::TokioUring;
use ferrio_engine_uring::Uring;
use ferrio_plan::EngineKind;

use crate::traced::{self, Traced};
use crate::worker::{self, Context};

/// Runs a worker with the job's engine on the calling thread.
pub(crate) fn run(context: Context<'_>) {
    match context.spec.engine {
        EngineKind::Sync => start::<Sync>(context),
        EngineKind::Psync => start::<Psync>(context),
        EngineKind::Vsync => start::<Vsync>(context),
        EngineKind::Pvsync => start::<Pvsync>(context),
        EngineKind::Pvsync2 => start::<Pvsync2>(context),
        EngineKind::IoUring => start::<Uring>(context),
        EngineKind::Libaio => start::<Libaio>(context),
        EngineKind::Mmap => start::<Mmap>(context),
        EngineKind::Null => start::<Null>(context),
        EngineKind::TokioUring => start::<TokioUring>(context),
    }
}

/// Runs the worker with `E`, which tells of every I/O if debugging asks for that.
fn start<E: Engine>(context: Context<'_>) {
    if traced::is_wanted() {
        worker::run::<Traced<E>>(context);
    } else {
        worker::run::<E>(context);
    }
}
