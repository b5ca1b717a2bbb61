//! Closes files and reports errors: network file systems and FUSE may report only then that data was not stored.
//!
//! Called `fio`, the program ignores these errors as fio does.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use ferrio_engine::FileSet;
use ferrio_job::JobSpec;

use crate::failure::Failure;

/// Closes the files of the job `spec`, except those that other workers still use: the last worker closes them.
///
/// # Errors
/// The first error; all files are closed anyway.
pub(crate) fn close_all(spec: &JobSpec, files: FileSet) -> Result<(), Failure> {
    let FileSet { files, shared } = files;
    let shared = shared.and_then(Arc::into_inner).map(|shared| shared.files).unwrap_or_default();
    let mut first = Ok(());
    // A shared descriptor is in both lists; it is closed with the second one.
    for (file, open) in spec.files.iter().zip(files).chain(spec.files.iter().zip(shared)) {
        let closed = open.fd.map_or(Ok(()), |fd| close_shared(spec, fd, &file.path));
        first = first.and(closed);
    }
    first
}

/// Closes a descriptor that workers may share, unless another worker still has it.
///
/// # Errors
/// Those of [`close`].
pub(crate) fn close_shared(spec: &JobSpec, fd: Arc<OwnedFd>, path: &Path) -> Result<(), Failure> {
    Arc::into_inner(fd).map_or(Ok(()), |fd| close(spec, fd, path))
}

/// Closes a descriptor.
///
/// # Errors
/// The kernel reports that data was lost. The descriptor is closed anyway.
pub(crate) fn close(spec: &JobSpec, fd: impl Into<OwnedFd>, path: &Path) -> Result<(), Failure> {
    match nix::unistd::close(fd.into()) {
        Err(errno) if spec.compat.cleaning_up_may_fail => {
            Err(Failure::from_io(&errno.into(), format!("close({})", path.display())))
        }
        _ => Ok(()),
    }
}
