//! The engines of the program: one line each. Chosen once, when a worker thread starts.

mod any_engine;

use ferrio_engine::{Buffers, Engine, EngineError};
use ferrio_engine_external::ExternalEngine;
use ferrio_engine_file::FileEngine;
#[cfg(feature = "http")]
use ferrio_engine_http::Http;
use ferrio_engine_libaio::Libaio;
use ferrio_engine_mmap::{Mmap, PersistentMemory};
use ferrio_engine_mtd::Mtd;
use ferrio_engine_nbd::Nbd;
use ferrio_engine_net::Net;
use ferrio_engine_null::Null;
use ferrio_engine_offload::Offload;
use ferrio_engine_posixaio::PosixAio;
use ferrio_engine_psync::{Psync, Pvsync, Pvsync2, Sync, Vsync};
use ferrio_engine_scsi::Sg;
use ferrio_engine_splice::Splice;
use ferrio_engine_tokio_uring::TokioUring;
use ferrio_engine_uring::{FullUring, Uring, UringCmd};
use ferrio_engine_work::Work;
use ferrio_job::{EngineKind, JobSpec};
#[cfg(not(feature = "http"))]
use nix::errno::Errno;

use self::any_engine::AnyEngine;
use crate::context::Context;
use crate::engine_wrapper::{self, EngineWrapper};
use crate::worker;
use crate::worker_job::WorkerJobHandle;

/// Runs a worker with the job's engine on the calling thread.
///
/// The engines that people measure fast devices with have a copy of the loop each. All others share one, which calls its engine
/// through a pointer, and so do jobs whose engine is inside another.
pub(crate) fn run(context: Context<'_>) {
    let spec = context.spec;
    if spec.offload || is_wrapped(spec) {
        return run_shared(context);
    }
    match spec.engine {
        EngineKind::Sync => worker::run(context, Sync::open),
        EngineKind::Psync => worker::run(context, Psync::open),
        EngineKind::Pvsync => worker::run(context, Pvsync::open),
        EngineKind::Pvsync2 => worker::run(context, Pvsync2::open),
        EngineKind::Mmap => worker::run(context, Mmap::open),
        EngineKind::Libaio => worker::run(context, Libaio::open),
        EngineKind::Null => worker::run(context, Null::open),
        EngineKind::IoUring if !needs_full_ring(spec) => worker::run(context, Uring::open),
        _ => run_shared(context),
    }
}

/// Opens the job's engine for the shared loop, or for a thread of an offloaded job.
pub(crate) fn open<'a>(spec: &JobSpec, buffers: &Buffers) -> Result<AnyEngine<'a>, EngineError> {
    Ok(match spec.engine {
        EngineKind::External => AnyEngine::of(ExternalEngine::open(spec, buffers)?),
        EngineKind::Sync => AnyEngine::of(Sync::open(spec, buffers)?),
        EngineKind::Psync => AnyEngine::of(Psync::open(spec, buffers)?),
        EngineKind::Vsync => AnyEngine::of(Vsync::open(spec, buffers)?),
        EngineKind::Pvsync => AnyEngine::of(Pvsync::open(spec, buffers)?),
        EngineKind::Pvsync2 => AnyEngine::of(Pvsync2::open(spec, buffers)?),
        EngineKind::Mmap => AnyEngine::of(Mmap::open(spec, buffers)?),
        EngineKind::DevDax | EngineKind::Libpmem => AnyEngine::of(PersistentMemory::open(spec, buffers)?),
        EngineKind::Splice => AnyEngine::of(Splice::open(spec, buffers)?),
        EngineKind::Libaio => AnyEngine::of(Libaio::open(spec, buffers)?),
        EngineKind::Null => AnyEngine::of(Null::open(spec, buffers)?),
        EngineKind::IoUring if needs_full_ring(spec) => AnyEngine::of(FullUring::open(spec, buffers)?),
        EngineKind::IoUring => AnyEngine::of(Uring::open(spec, buffers)?),
        EngineKind::IoUringCmd => AnyEngine::of(UringCmd::open(spec, buffers)?),
        EngineKind::Posixaio => AnyEngine::of(PosixAio::open(spec, buffers)?),
        EngineKind::Cpuio | EngineKind::Exec => AnyEngine::of(Work::open(spec, buffers)?),
        #[cfg(feature = "http")]
        EngineKind::Http => AnyEngine::of(Http::open(spec, buffers)?),
        // Planning refuses it.
        #[cfg(not(feature = "http"))]
        EngineKind::Http => return Err(EngineError::new("http", Errno::ENOSYS)),
        EngineKind::Mtd => AnyEngine::of(Mtd::open(spec, buffers)?),
        EngineKind::Nbd => AnyEngine::of(Nbd::open(spec, buffers)?),
        EngineKind::Sg => AnyEngine::of(Sg::open(spec, buffers)?),
        EngineKind::Net | EngineKind::Netsplice => AnyEngine::of(Net::open(spec, buffers)?),
        EngineKind::TokioUring => AnyEngine::of(TokioUring::open(spec, buffers)?),
        EngineKind::Dircreate
        | EngineKind::Dirdelete
        | EngineKind::Dirstat
        | EngineKind::E4defrag
        | EngineKind::Falloc
        | EngineKind::Filecreate
        | EngineKind::Filedelete
        | EngineKind::Filestat
        | EngineKind::Ftruncate
        | EngineKind::PageFault => AnyEngine::of(FileEngine::open(spec, buffers)?),
    })
}

/// True when requests of io_uring are more than reads, writes and syncs of data.
fn needs_full_ring(spec: &JobSpec) -> bool {
    spec.trims() || spec.engine_options.protection.metadata_bytes > 0
}

/// True when single I/Os are reported, or several that are in flight must not overlap.
fn is_wrapped(spec: &JobSpec) -> bool {
    engine_wrapper::is_traced() || spec.serialize_overlap && !spec.is_sync()
}

/// Runs the worker with any engine: in threads of its own if the job is offloaded, wrapped if it has to be.
fn run_shared(context: Context<'_>) {
    let spec = context.spec;
    let job = (!spec.engine.does_io()).then(|| WorkerJobHandle::new(&context));
    let control = context.control;
    let (index, overlaps, entropy) = (context.index, context.overlaps.clone(), context.entropy);
    worker::run(context, |spec, buffers| {
        let engine = match job {
            Some(job) => AnyEngine::of(Work::new(spec, Box::new(job))),
            None if spec.offload => AnyEngine::of(Offload::<AnyEngine<'static>>::open(spec, buffers)?),
            // A server may never answer: the engine asks how long to wait.
            None if spec.engine == EngineKind::Nbd => {
                AnyEngine::of(Nbd::new(spec, Box::new(|| control.stop_request()))?)
            }
            None => open(spec, buffers)?,
        };
        if is_wrapped(spec) {
            return Ok(AnyEngine::of(EngineWrapper::new(engine, spec, overlaps, index, entropy)));
        }
        Ok(engine)
    });
}
