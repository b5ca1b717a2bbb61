//! What is registered with a ring: files and buffers, because options ask for it, or by itself in a lean job (`tuning=lean`).
//!
//! A request to a registered file does not look up and hold the file, one with a registered buffer does not pin its pages.

use ferrio_engine::Buffers;
use ferrio_job::{FileKind, JobSpec, Tuning};

/// Whether something is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registration {
    /// No, or not any more, because the kernel has refused it.
    Never,
    /// By itself, unless the kernel refuses it.
    IfPossible,
    /// Options ask for it: a refusal is an error.
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

/// Whether the files of a job are registered. Files that are opened one by one would cost one more call each.
pub(crate) fn of_files(spec: &JobSpec) -> Registration {
    let options = &spec.engine_options;
    let required = options.registerfiles || options.sqthread_poll;
    Registration::new(required, is_lean(spec) && !spec.opens_on_demand())
}

/// Whether the buffers of a job are registered.
///
/// Registered memory is pinned, so buffers that get their pages only as they are used stay out of it. The kernel has no such requests for
/// some character devices, and other requests for I/O with metadata; and `nonvectored` selects requests of another kind.
pub(crate) fn of_buffers(spec: &JobSpec, buffers: &Buffers) -> Registration {
    let options = &spec.engine_options;
    let has_such_requests =
        spec.files.iter().all(|file| matches!(file.kind, FileKind::Regular | FileKind::Block));
    let may = options.nonvectored == -1 && options.protection.metadata_bytes == 0;
    let possible = is_lean(spec) && may && has_such_requests && buffers.is_populated_first();
    Registration::new(options.fixedbufs, possible)
}

/// Commands that are passed through are registered only where options ask for it.
fn is_lean(spec: &JobSpec) -> bool {
    spec.tuning == Tuning::Lean && !spec.engine.passes_through()
}

/// What to do when the kernel refuses files that options ask for.
pub(crate) fn advice_on_files(errno: i32) -> Option<&'static str> {
    match errno {
        libc::EMFILE => {
            Some("registered files, open or not, count against ulimit -n: raise it or remove registerfiles")
        }
        _ => None,
    }
}

/// What to do when the kernel refuses buffers that options ask for.
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
