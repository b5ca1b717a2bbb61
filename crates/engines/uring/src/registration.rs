//! Registration of files and buffers with a ring: if options ask for it, or automatically with `tuning=lean`.
//!
//! A request to a registered file does not look up the file; a request with a registered buffer does not pin its pages.

use ferrio_engine::Buffers;
use ferrio_job::{FileKind, JobSpec, Tuning};

/// Whether to register a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registration {
    /// Not registered, or refused by the kernel.
    Never,
    /// Registered automatically, unless the kernel refuses.
    IfPossible,
    /// Requested by options: a refusal is an error.
    Required,
}

impl Registration {
    fn new(is_required: bool, is_possible: bool) -> Self {
        match (is_required, is_possible) {
            (true, _) => Registration::Required,
            (false, true) => Registration::IfPossible,
            (false, false) => Registration::Never,
        }
    }
}

/// Whether to register the files of a job. Files that are opened one by one would cost an additional call each.
pub(crate) fn for_files(spec: &JobSpec) -> Registration {
    let options = &spec.engine_options;
    let required = options.ring.registerfiles || options.ring.sqthread_poll;
    Registration::new(required, is_lean(spec) && !spec.opens_on_demand())
}

/// Whether to register the buffers of a job.
///
/// Registered memory is pinned, so buffers that allocate their pages on use are not registered. The kernel does not support registered
/// buffers for some character devices and for I/O with metadata, and `nonvectored` selects another kind of request.
pub(crate) fn for_buffers(spec: &JobSpec, buffers: &Buffers) -> Registration {
    let options = &spec.engine_options;
    let has_such_requests =
        spec.files.iter().all(|file| matches!(file.kind, FileKind::Regular | FileKind::Block));
    let may = options.ring.nonvectored == -1 && options.protection.metadata_bytes == 0;
    let possible = is_lean(spec) && may && has_such_requests && buffers.is_populated_first();
    Registration::new(options.ring.fixedbufs, possible)
}

/// Passed-through commands use registration only if options ask for it.
fn is_lean(spec: &JobSpec) -> bool {
    spec.tuning == Tuning::Lean && !spec.engine.passes_through()
}

/// Advice if the kernel refuses to register files as an option asks.
pub(crate) fn advice_on_files(errno: i32) -> Option<&'static str> {
    match errno {
        libc::EMFILE => {
            Some("registered files, open or not, count against ulimit -n: raise it or remove registerfiles")
        }
        _ => None,
    }
}

/// Advice if the kernel refuses buffers that options ask for.
pub(crate) fn advice_on_buffers(errno: i32) -> Option<&'static str> {
    match errno {
        libc::ENOMEM => {
            Some("registered buffers count as locked memory: raise ulimit -l or lower iodepth or bs")
        }
        libc::EINVAL => Some("io_uring registers at most 16384 buffers: lower iodepth or remove fixedbufs"),
        libc::EFAULT | libc::EOPNOTSUPP => Some(
            "io_uring registers no buffer of more than 1 GiB, and no memory of a file on disk: use smaller blocks, mem=mmap or mem=shm, or remove fixedbufs",
        ),
        _ => None,
    }
}
