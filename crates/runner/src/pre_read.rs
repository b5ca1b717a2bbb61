//! `pre_read`: reads the files of a job into the page cache before its clock starts.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};

use ferrio_job::{Direction, FileKind, FileSpec, JobSpec, debug_class};
use log::debug;

use crate::failure::Failure;

/// Reads the region of each file once, a block of the largest read size at a time, until `stop` returns true. Files that do not exist
/// yet are skipped, and so are character devices, which have no page cache.
///
/// # Errors
/// A file cannot be read.
pub(crate) fn pre_read(spec: &JobSpec, stop: &dyn Fn() -> bool) -> Result<(), Failure> {
    let block = usize::try_from(spec.block[Direction::Read].max.max(1)).unwrap_or(usize::MAX);
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(block).map_err(|_| Failure::new(libc::ENOMEM, "malloc"))?;
    buffer.resize(block, 0);
    let is_cacheable =
        |file: &&FileSpec| matches!(file.kind, FileKind::Regular | FileKind::Block) && file.size > 0;
    for file in spec.files.iter().filter(is_cacheable) {
        debug!(target: debug_class::FILE, job = spec.number; "pre-read {}", file.path.display());
        let failed = |e: &std::io::Error, func: &str| {
            Failure::from_io(e, format!("{func}({})", file.path.display()))
                .note("file-not-read-ahead", format!("pre_read cannot read {}", file.path.display()))
        };
        // Without the flags of the job: direct I/O would bypass the cache.
        let mut opened = match File::open(&file.path) {
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            result => result.map_err(|e| failed(&e, "open"))?,
        };
        opened.seek(SeekFrom::Start(file.offset)).map_err(|e| failed(&e, "lseek"))?;
        let mut left = file.size;
        while left > 0 && !stop() {
            let now = usize::try_from(left).map_or(block, |left| left.min(block));
            match opened.read(&mut buffer[..now]) {
                Ok(0) => break,
                Ok(count) => left -= count as u64,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(failed(&e, "pre_read")),
            }
        }
    }
    Ok(())
}
