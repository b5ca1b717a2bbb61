//! The job's files while it runs: all opened for a pass, or each when the workload picks it and closed when it is finished; what
//! makes them durable when they close and when a pass ends.

use std::collections::{HashSet, VecDeque};
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering::Relaxed;

use ferrio_engine::{Engine, FileSet};
use ferrio_job::{Diagnostic, Direction, FileSpec, JobSpec};
use log::debug;

use super::Issuer;
use crate::event::JobState;
use crate::failure::Failure;
use crate::open;

/// The files of a job and which of them are open.
#[derive(Debug)]
pub(super) struct Files {
    /// In the order of the job's files.
    set: FileSet,
    /// Files are opened one by one.
    on_demand: bool,
    /// Files open now, as the workload counts them: those of an engine without files as well.
    open: u32,
    /// Synced when they were closed in this pass; empty unless closing syncs.
    synced: Vec<bool>,
    /// Open files in the order they were opened while blocks are read back, when no workload says which is finished.
    read_back: VecDeque<u32>,
}

impl Files {
    pub(super) fn new(spec: &JobSpec) -> Self {
        let on_demand = spec.opens_on_demand();
        let syncs = on_demand && spec.durability.fsync_on_close && spec.rw.does(Direction::Write);
        Files {
            set: FileSet::default(),
            on_demand,
            open: 0,
            synced: if syncs { vec![false; spec.files.len()] } else { Vec::new() },
            read_back: VecDeque::new(),
        }
    }
}

impl<E: Engine> Issuer<'_, E> {
    /// Opens the files that are open when a pass begins, and shows them to the engine.
    pub(crate) fn open(&mut self, note: &mut dyn FnMut(Diagnostic)) -> Result<(), Failure> {
        let files = &mut self.files;
        files.set =
            if files.on_demand { open::closed_files(self.spec) } else { open::open_files(self.spec, note)? };
        files.open = files.set.files.iter().filter(|file| file.fd.is_some()).count() as u32;
        files.synced.fill(false);
        files.read_back.clear();
        self.engine.attach(&files.set).map_err(|e| Failure::from_engine(&e))?;
        self.tell_open();
        Ok(())
    }

    /// Closes and opens everything again for a further pass.
    pub(crate) fn reopen(&mut self, note: &mut dyn FnMut(Diagnostic)) -> Result<(), Failure> {
        self.workload.begin_pass();
        if let Some(priorities) = &mut self.priorities {
            priorities.begin_pass();
        }
        if let Some(paced) = &mut self.paced {
            paced.begin_pass();
        }
        if let Some(verification) = &mut self.verification {
            verification.begin_pass();
        }
        if let Some(content) = &mut self.content {
            content.begin_pass();
        }
        self.open_again(note)
    }

    /// Closes and opens the files.
    pub(crate) fn open_again(&mut self, note: &mut dyn FnMut(Diagnostic)) -> Result<(), Failure> {
        if let Some(recorder) = &mut self.recorder {
            recorder.closed_all()?;
        }
        if self.spec.engine.is_diskless() && !self.files.on_demand {
            return Ok(());
        }
        // Nothing is in flight. Closing first keeps a job with many files below the limit of open files.
        self.files.set = FileSet::default();
        self.open(note)
    }

    /// Hands the open files out, to be closed when nothing uses them any more.
    pub(crate) fn take_files(&mut self) -> FileSet {
        std::mem::take(&mut self.files.set)
    }

    fn tell_open(&self) {
        self.context.control.open_files.store(self.files.open.max(1), Relaxed);
    }

    /// The workload picked a closed file in the middle of a pass.
    #[cold]
    #[inline(never)]
    pub(super) fn open_file(&mut self, file: u32) {
        let context = self.context;
        let index = file as usize;
        let open = self.files.open as usize;
        let opened = open::open_one(self.spec, index, open, &mut |note| context.note(note)).and_then(|fd| {
            self.files.set.files[index].fd = fd;
            self.attach_one(index)
        });
        match opened {
            Ok(()) => self.files.open += 1,
            Err(failure) => self.fail(failure),
        }
        self.tell_open();
    }

    /// The workload finished a file in the middle of a pass. What is in flight to it ends first.
    #[cold]
    #[inline(never)]
    pub(super) fn close_file(&mut self, file: u32) {
        self.settle(file);
        if self.failure.is_some() {
            return;
        }
        let index = file as usize;
        let synced = if self.files.synced.is_empty() || self.last_was_sync {
            Ok(())
        } else {
            self.files.synced[index] = true;
            self.sync_file(index, "fsync_on_close")
        };
        if let Err(failure) = synced.and_then(|()| self.let_go(index)) {
            self.fail(failure);
        }
        self.files.open -= 1;
        self.tell_open();
    }

    /// Makes sure that the file is open that unit `unit`, the top of the free stack, is going to read back. A file that was used
    /// before may have to be closed for it.
    #[cold]
    #[inline(never)]
    pub(super) fn open_to_read_back(&mut self, file: u32, unit: u32) {
        if self.files.set.files[file as usize].fd.is_some() || self.spec.engine.is_diskless() {
            return;
        }
        if self.files.open >= self.spec.openfiles
            && let Some(oldest) = self.files.read_back.pop_front()
        {
            self.settle(oldest);
            // What was reaped lies on top of the unit now.
            if let Some(at) = self.free.iter().position(|&free| free == unit) {
                self.free.remove(at);
                self.free.push(unit);
            }
            if let Err(failure) = self.let_go(oldest as usize) {
                self.fail(failure);
            }
            self.files.open -= 1;
        }
        if self.failure.is_none() {
            self.open_file(file);
            self.files.read_back.push_back(file);
        }
    }

    /// True when blocks that are read back may be in closed files.
    pub(super) fn opens_on_demand(&self) -> bool {
        self.files.on_demand
    }

    /// `end_fsync`, `fsync_on_close` and `end_syncfs`: after each pass of a job that writes, unless its last operation was a sync
    /// already. The time is part of the run time.
    pub(crate) fn sync_at_end(&mut self) -> Result<(), Failure> {
        let durability = &self.spec.durability;
        let wanted = durability.end_fsync || durability.fsync_on_close || durability.end_syncfs;
        if !wanted || !self.spec.rw.does(Direction::Write) || self.last_was_sync {
            return Ok(());
        }
        self.context.control.set_state(JobState::Fsyncing);
        self.timing.loop_began(self.clock.now());
        let result = if durability.end_syncfs {
            self.sync_file_systems()
        } else {
            (0..self.spec.files.len()).try_for_each(|index| self.sync_closed_or_open(index))
        };
        self.timing.loop_ended(self.clock.now());
        self.context.control.set_state(JobState::Running);
        self.last_was_sync = true;
        self.workload.synced();
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
        if closed && open::is_opened(&spec.files[index]) {
            self.make_room()?;
            self.files.set.files[index].fd = Some(open::open_file(spec, index, self.files.open as usize)?);
        }
        self.record_final_sync(index)?;
        let result = self.sync_file(index, "end_fsync");
        if closed {
            self.files.set.files[index].fd = None;
            self.record_close(index)?;
        }
        result
    }

    /// Closes a file if as many are open as may be. Nothing is in flight and nothing will be in this pass.
    fn make_room(&mut self) -> Result<(), Failure> {
        if self.files.open < self.spec.openfiles {
            return Ok(());
        }
        let Some(index) = self.files.set.files.iter().rposition(|file| file.fd.is_some()) else {
            return Ok(());
        };
        self.files.open -= 1;
        self.let_go(index)
    }

    /// Writes what is cached of a file; nothing for one that has no descriptor.
    fn sync_file(&mut self, index: usize, option: &str) -> Result<(), Failure> {
        let Some(fd) = &self.files.set.files[index].fd else { return Ok(()) };
        nix::unistd::fsync(fd).map_err(|e| failed(e, "fsync", option, &self.spec.files[index]))
    }

    /// Writes what is cached of every file system that has a file of the job.
    fn sync_file_systems(&mut self) -> Result<(), Failure> {
        let mut seen = HashSet::new();
        for index in 0..self.spec.files.len() {
            let file = &self.spec.files[index];
            if !open::is_opened(file) {
                continue;
            }
            let told = |e: &std::io::Error| Failure::from_io(e, format!("stat({})", file.path.display()));
            if !seen.insert(fs::metadata(&file.path).map_err(|e| told(&e))?.dev()) {
                continue;
            }
            let result = match &self.files.set.files[index].fd {
                Some(fd) => nix::unistd::syncfs(fd),
                None => {
                    self.make_room()?;
                    let opened = File::open(&file.path)
                        .map_err(|e| Failure::from_io(&e, format!("open({})", file.path.display())))?;
                    nix::unistd::syncfs(&opened)
                }
            };
            result.map_err(|e| failed(e, "syncfs", "end_syncfs", file))?;
        }
        Ok(())
    }

    /// Closes a descriptor after the engine has let go of it.
    fn let_go(&mut self, index: usize) -> Result<(), Failure> {
        let fd = self.files.set.files[index].fd.take();
        if fd.is_some() {
            debug!(target: "file", job = self.spec.number; "close {}", self.spec.files[index].path.display());
        }
        self.record_close(index)?;
        let result = self.attach_one(index);
        drop(fd);
        result
    }

    fn attach_one(&mut self, index: usize) -> Result<(), Failure> {
        let file = &self.files.set.files[index];
        self.engine.attach_one(index, file).map_err(|e| Failure::from_engine(&e))
    }

    /// Waits until nothing of a file is in flight or waits to be submitted.
    fn settle(&mut self, file: u32) {
        while self.failure.is_none() && self.is_busy(file) {
            if self.depth_in_use() > 0 {
                self.reap_once();
            } else {
                self.submit_retry();
            }
        }
    }

    fn is_busy(&self, file: u32) -> bool {
        self.free.len() < self.depth as usize && self.busy_units().any(|unit| unit.request.file == file)
    }
}

fn failed(errno: nix::errno::Errno, func: &str, option: &str, file: &FileSpec) -> Failure {
    Failure::new(errno as i32, func)
        .note("file-not-synced", format!("{option} failed for file {}", file.path.display()))
}
