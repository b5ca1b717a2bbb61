//! Makes the files of a job durable: when one is closed in a pass, and when a pass ends.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::{fs, io};

use ferrio_engine::{Engine, Op, Submit};
use ferrio_job::{Direction, FileSpec};
use ferrio_machine::{open_file, retry_interrupted};
use ferrio_results::JobState;
use nix::errno::Errno;
use nix::fcntl::OFlag;

use super::IoLoop;
use crate::failure::Failure;
use crate::open;

impl<E: Engine> IoLoop<'_, E> {
    /// `end_fsync`, `fsync_on_close` and `end_syncfs`: after each pass of a job that writes, unless its last operation was a sync
    /// already. The time is part of the run time.
    pub(crate) fn sync_at_end(&mut self) -> Result<(), Failure> {
        let durability = &self.spec.durability;
        let wanted = durability.end_fsync || durability.fsync_on_close || durability.end_syncfs;
        let nothing_written = !self.spec.rw.does(Direction::Write) || self.spec.only_verifies();
        if !wanted || nothing_written || self.last_was_sync {
            return Ok(());
        }
        self.context.control.set_state(JobState::Fsyncing);
        self.meter.timing.loop_began(self.meter.clock.now());
        let result = if durability.end_syncfs {
            self.sync_file_systems()
        } else {
            (0..self.spec.files.len()).try_for_each(|index| self.sync_closed_or_open(index))
        };
        self.meter.timing.loop_ended(self.meter.clock.now());
        self.context.control.set_state(JobState::Running);
        self.last_was_sync = true;
        self.workload.synced();
        if let (Ok(()), Some(verification)) = (&result, &mut self.hooks.verification) {
            verification.synced_all();
            if verification.saves_at_syncs {
                self.save_state();
            }
        }
        result
    }

    /// The final sync of one file, which may have to be opened for it.
    fn sync_closed_or_open(&mut self, index: usize) -> Result<(), Failure> {
        // Nothing was written to a file after it was closed.
        if self.files.synced.get(index).is_some_and(|&synced| synced) {
            return Ok(());
        }
        let spec = self.spec;
        let closed = self.files.on_demand && self.files.set.files[index].fd.is_none();
        if closed && open::has_something_to_sync(spec, index) {
            self.make_room()?;
            let fd = open::open_to_sync(spec, index, self.files.open as usize)?;
            self.files.set.files[index].fd = fd.map(Arc::new);
        }
        if let Some(iolog) = &mut self.hooks.iolog {
            let unit = self.slots.free.last().copied().unwrap_or(0);
            iolog.final_sync(index as u32, unit)?;
        }
        let result = self.sync_file(index, "end_fsync");
        if closed {
            self.files.set.files[index].fd = None;
            self.record_close(index)?;
        }
        result
    }

    /// Writes what is cached of a file, which some engines do in ways of their own; nothing for one that has no descriptor.
    pub(super) fn sync_file(&mut self, index: usize, option: &str) -> Result<(), Failure> {
        let synced = match &self.files.set.files[index].fd {
            _ if self.spec.engine.keeps_data_itself() => self.sync_by_engine(index).map_err(Into::into),
            Some(fd) => retry_interrupted(|| nix::unistd::fsync(fd)),
            None => Ok(()),
        };
        synced.map_err(|e| failed(&e, "fsync", option, &self.spec.files[index]))
    }

    /// An fsync through the engine, when nothing is in flight.
    fn sync_by_engine(&mut self, index: usize) -> nix::Result<()> {
        let unit = self.slots.free.last().copied().unwrap_or(0);
        let request = self.request(Op::Fsync, unit, index as u32, 0, 0);
        let errno = |e: io::Error| Errno::from_raw(e.raw_os_error().unwrap_or(libc::EIO));
        let result = match self.engine.submit(&request) {
            Submit::Done(result) => result,
            Submit::Full => return Err(Errno::EAGAIN),
            Submit::Queued => {
                self.slots.completions.clear();
                self.engine.flush().map_err(errno)?;
                self.engine.reap(1, 1, &mut self.slots.completions).map_err(errno)?;
                self.slots.completions.first().map_or(-i64::from(libc::EIO), |completion| completion.result)
            }
        };
        if result < 0 { Err(Errno::from_raw(i32::try_from(-result).unwrap_or(libc::EIO))) } else { Ok(()) }
    }

    /// Writes what is cached of every file system that has a file of the job.
    fn sync_file_systems(&mut self) -> Result<(), Failure> {
        let mut seen = HashSet::new();
        for index in 0..self.spec.files.len() {
            let file = &self.spec.files[index];
            if !open::has_something_to_sync(self.spec, index) {
                continue;
            }
            // The engine may have removed the file, but not its directory.
            let path = if self.spec.engine.operates_on_files() { file.directory() } else { &file.path };
            let failure = |e: &io::Error| Failure::from_io(e, format!("stat({})", path.display()));
            if !seen.insert(fs::metadata(path).map_err(|e| failure(&e))?.dev()) {
                continue;
            }
            let result = match &self.files.set.files[index].fd {
                Some(fd) => retry_interrupted(|| nix::unistd::syncfs(fd)),
                None => {
                    self.make_room()?;
                    let opened = open_file(path, OFlag::O_RDONLY, 0)
                        .map_err(|e| Failure::from_io(&e, format!("open({})", path.display())))?;
                    retry_interrupted(|| nix::unistd::syncfs(&opened))
                }
            };
            result.map_err(|e| failed(&e, "syncfs", "end_syncfs", file))?;
        }
        Ok(())
    }
}

fn failed(error: &io::Error, func: &str, option: &str, file: &FileSpec) -> Failure {
    Failure::from_io(error, func)
        .note("file-not-synced", format!("{option} failed for file {}", file.path.display()))
}
