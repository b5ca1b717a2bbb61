//! `pre_read`: reads the files of a job into the page cache before its clock starts.

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use ferrio_job::{Direction, FileKind, FileSpec, JobSpec, debug_class};
use ferrio_machine::{InterruptionLimit, open_file};
use log::debug;
use nix::fcntl::OFlag;

use crate::close::close;
use crate::failure::Failure;

/// True if the job reads files before its clock starts.
pub(crate) fn is_wanted(spec: &JobSpec) -> bool {
    spec.opening.pre_read || log_of_partial_pages(spec).is_some()
}

/// The log of a database whose appends begin or end within pages of the page cache. If these were not in memory, an append would wait until
/// the rest of its page is read, which does not happen to a database: the end of its log is in memory. The first session reads it for all.
fn log_of_partial_pages(spec: &JobSpec) -> Option<usize> {
    let part = spec.events.as_ref().filter(|part| part.thread == 0)?;
    let (database, _) = part.database()?;
    let is_partial =
        !database.log.direct && u64::from(database.log.block) % ferrio_machine::page_bytes() != 0;
    is_partial.then_some(database.log_file() as usize)
}

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
    let files = match log_of_partial_pages(spec).filter(|_| !spec.opening.pre_read) {
        Some(log) => spec.files.get(log..=log).unwrap_or_default(),
        None => &spec.files[..],
    };
    for file in files.iter().filter(is_cacheable) {
        debug!(target: debug_class::FILE, job = spec.number; "pre-read {}", file.path.display());
        let failed = |e: &std::io::Error, func: &str| {
            Failure::from_io(e, format!("{func}({})", file.path.display()))
                .note("file-not-read-ahead", format!("pre_read cannot read {}", file.path.display()))
        };
        // Without the flags of the job: direct I/O would bypass the cache.
        let mut opened = match open_file(&file.path, OFlag::O_RDONLY, 0) {
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            result => result.map_err(|e| failed(&e, "open"))?,
        };
        opened.seek(SeekFrom::Start(file.offset)).map_err(|e| failed(&e, "lseek"))?;
        let mut left = file.size;
        let mut interrupted = InterruptionLimit::default();
        while left > 0 && !stop() {
            let now = usize::try_from(left).map_or(block, |left| left.min(block));
            match opened.read(&mut buffer[..now]) {
                Ok(0) => break,
                Ok(count) => {
                    left -= count as u64;
                    interrupted = InterruptionLimit::default();
                }
                Err(e) if e.kind() == ErrorKind::Interrupted && interrupted.should_retry() => {}
                Err(e) => return Err(failed(&e, "pre_read")),
            }
        }
        close(spec, opened, &file.path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_plan::testing::good_plan;
    use ferrio_plan::testing::jobs_of;

    #[test]
    fn one_session_reads_a_log_whose_appends_end_within_pages() {
        let wanted = |options: &str| {
            let text = format!("[a]\nworkload=etcd\nsize=1m\nlog_size=1m\nruntime=1\nnumjobs=2\n{options}");
            let plan = good_plan(&jobs_of(&text));
            plan.jobs.iter().map(|job| log_of_partial_pages(&job.spec)).collect::<Vec<_>>()
        };
        assert_eq!(wanted(""), [Some(1), None, None]);
        assert_eq!(wanted("log_block=64k\n"), [None; 3]);
        assert_eq!(wanted("log_block=512\nlog_direct=1\n"), [None; 3]);
    }
}
