//! The engines of the program: one line each. Chosen once, when a worker thread starts.

use ferrio_engine_libaio::Libaio;
use ferrio_engine_mmap::Mmap;
use ferrio_engine_null::Null;
use ferrio_engine_psync::{Psync, Pvsync, Pvsync2, Sync, Vsync};
use ferrio_engine_tokio_uring::TokioUring;
use ferrio_engine_uring::Uring;
use ferrio_plan::EngineKind;

use crate::worker::{self, Context};

/// Runs a worker with the job's engine on the calling thread.
pub(crate) fn run(context: Context<'_>) {
    match context.spec.engine {
        EngineKind::Sync => worker::run::<Sync>(context),
        EngineKind::Psync => worker::run::<Psync>(context),
        EngineKind::Vsync => worker::run::<Vsync>(context),
        EngineKind::Pvsync => worker::run::<Pvsync>(context),
        EngineKind::Pvsync2 => worker::run::<Pvsync2>(context),
        EngineKind::IoUring => worker::run::<Uring>(context),
        EngineKind::Libaio => worker::run::<Libaio>(context),
        EngineKind::Mmap => worker::run::<Mmap>(context),
        EngineKind::Null => worker::run::<Null>(context),
        EngineKind::TokioUring => worker::run::<TokioUring>(context),
    }
}
