//! The job's files while it runs: all opened for a pass, or each when the workload picks it and closed when it is finished.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

use ferrio_engine::{Engine, FileSet};
use ferrio_job::{Diagnostic, Direction, debug_class};
use ferrio_workload::LayoutContent;
use log::debug;

use super::IoLoop;
use super::slots::InFlightIo;
use crate::failure::Failure;
use crate::layout::{FileLayout, LayoutEnd};
use crate::{close, layout, open, pre_read};

/// Held while a job removes its files, lays them out again and opens them.
static REPLACING_FILES: Mutex<()> = Mutex::new(());

impl<E: Engine> IoLoop<'_, E> {
    /// Opens the files that are open when a pass begins, and shows them to the engine.
    pub(crate) fn open(&mut self, note: &mut dyn FnMut(Diagnostic)) -> Result<(), Failure> {
        let files = &mut self.files;
        files.set = match self.context.events.as_ref().and_then(|group| group.files()) {
            Some(shared) => open::use_shared(shared),
            None if files.on_demand => open::unopened_files(self.spec),
            None => open::open_files(self.spec, note)?,
        };
        files.open = files.set.files.iter().filter(|file| file.fd.is_some()).count() as u32;
        files.synced.fill(false);
        files.read_back.clear();
        (0..files.set.files.len()).for_each(|index| files.note_tuning(self.spec, index));
        self.engine.attach(&files.set).map_err(|e| Failure::from_engine(&e))?;
        self.publish_open_files();
        Ok(())
    }

    /// Closes and opens the files.
    pub(crate) fn open_again(&mut self, note: &mut dyn FnMut(Diagnostic)) -> Result<(), Failure> {
        if let Some(iolog) = &mut self.hooks.iolog {
            iolog.closed_all()?;
        }
        if self.spec.engine.is_diskless() && !self.files.on_demand {
            return Ok(());
        }
        self.close_all()?;
        self.open(note)
    }

    /// Closes and opens the files between two passes, when nothing is in flight. If the job asks for it, they are removed before, and laid
    /// out again if the job needs their data. False if it was stopped meanwhile.
    pub(super) fn reopen_between_passes(
        &mut self,
        note: &mut dyn FnMut(Diagnostic),
    ) -> Result<bool, Failure> {
        if !self.spec.layout.unlink_each_loop {
            return self.open_again(note).map(|()| true);
        }
        let lays_out = layout::is_needed_again(self.spec);
        // Jobs may share files: each opens the ones that it has laid out before another one removes them.
        let _turn = lays_out.then(|| REPLACING_FILES.lock().unwrap_or_else(PoisonError::into_inner));
        self.close_all()?;
        open::unlink(self.spec, note)?;
        if lays_out && !self.lay_out_again(note)? {
            return Ok(false);
        }
        self.open_again(note).map(|()| true)
    }

    /// False if the job was stopped, or its time was over, before the files were complete.
    #[cold]
    #[inline(never)]
    fn lay_out_again(&self, note: &mut dyn FnMut(Diagnostic)) -> Result<bool, Failure> {
        let (spec, meter) = (self.spec, &self.meter);
        let stop = || self.context.control.stop_requested() || meter.timing.is_over(meter.clock.now());
        let mut content =
            LayoutContent::new(spec, self.context.entropy).map_err(|e| Failure::from_workload(&e))?;
        let mut layout = FileLayout { spec, content: &mut content, stop: &stop, note };
        if layout.lay_out_again()? == LayoutEnd::Stopped {
            return Ok(false);
        }
        if pre_read::is_wanted(spec) {
            pre_read::pre_read(spec, &stop)?;
        }
        Ok(true)
    }

    /// Closing before opening keeps a job with many files below the limit of open files.
    fn close_all(&mut self) -> Result<(), Failure> {
        if self.spec.engine.maps_files() {
            for index in 0..self.files.set.files.len() {
                let fd = self.files.set.files[index].fd.take();
                self.attach_one(index)?;
                fd.map_or(Ok(()), |fd| close::close_shared(self.spec, fd, &self.spec.files[index].path))?;
            }
        }
        close::close_all(self.spec, self.take_files())
    }

    /// Hands the open files out, to be closed when nothing uses them any more.
    pub(crate) fn take_files(&mut self) -> FileSet {
        std::mem::take(&mut self.files.set)
    }

    fn publish_open_files(&self) {
        self.context.control.open_files.store(self.files.open.max(1), Relaxed);
    }

    /// The workload picked a closed file in the middle of a pass.
    #[cold]
    #[inline(never)]
    pub(super) fn open_file(&mut self, file: u32) {
        if self.files.set.files[file as usize].fd.is_some()
            && let Some(at) = self.files.read_back.iter().position(|&open| open == file)
        {
            // A check has opened it already.
            self.files.read_back.remove(at);
            return;
        }
        let context = self.context;
        let index = file as usize;
        let open = self.files.open as usize;
        let opened = if self.spec.engine.operates_on_files() {
            self.operate(index)
        } else {
            open::open_one(self.spec, index, open, &mut |note| context.note(note))
        };
        let opened = opened.and_then(|fd| {
            self.files.set.files[index].fd = fd.map(Arc::new);
            self.files.note_tuning(self.spec, index);
            self.attach_one(index)
        });
        match opened {
            Ok(()) => self.files.open += 1,
            Err(failure) => self.fail(failure),
        }
        self.publish_open_files();
    }

    /// Does to a file what the engine measures: the latency of this is a sample of the job, and a row of its logs.
    fn operate(&mut self, index: usize) -> Result<Option<OwnedFd>, Failure> {
        let (spec, file) = (self.spec, &self.spec.files[index]);
        let direction = Direction::ALL.into_iter().find(|&d| spec.rw.does(d)).unwrap_or(Direction::Read);
        debug!(target: debug_class::FILE, job = spec.number; "{} {}", spec.engine.word(), file.path.display());
        let start = self.meter.clock.now();
        let done = self.engine.operate(&file.path);
        let ns = self.meter.record_operation(direction, start);
        let fd = done.map_err(|e| Failure::from_engine(&e))?;
        let request = self.request(super::op(direction), 0, index as u32, file.offset, file.size);
        let unit = InFlightIo { request, direction: direction as usize, start, issued: start };
        self.meter.log_io(&unit, None, ns);
        Ok(fd)
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
        self.publish_open_files();
    }

    /// Makes sure that the file is open that unit `unit`, the top of the free stack, is going to read back. A file that was used
    /// before may have to be closed for it.
    #[cold]
    #[inline(never)]
    pub(super) fn open_to_read_back(&mut self, file: u32, unit: u32) {
        if self.files.set.files[file as usize].fd.is_some() || !self.spec.engine.moves_data() {
            return;
        }
        // The workload does not know of files that are opened for checks while it runs: there is one at a time.
        let in_phase = self.meter.read_back.began != u64::MAX;
        if (!in_phase || self.files.open >= self.spec.opening.openfiles)
            && let Some(oldest) = self.files.read_back.pop_front()
        {
            self.settle(oldest);
            // Requests for the file may still wait: it stays open until the engine has ended them.
            if self.failure.is_some() {
                self.files.read_back.push_front(oldest);
                return;
            }
            // What was reaped lies on top of the unit now.
            self.slots.use_next(unit);
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

    /// Closes a file if as many are open as may be. Nothing is in flight and nothing will be in this pass.
    pub(super) fn make_room(&mut self) -> Result<(), Failure> {
        if self.files.open < self.spec.opening.openfiles {
            return Ok(());
        }
        let Some(index) = self.files.set.files.iter().rposition(|file| file.fd.is_some()) else {
            return Ok(());
        };
        self.files.open -= 1;
        self.let_go(index)
    }

    /// Closes a descriptor after the engine has let go of it.
    pub(super) fn let_go(&mut self, index: usize) -> Result<(), Failure> {
        let fd = self.files.set.files[index].fd.take();
        if fd.is_some() {
            debug!(target: debug_class::FILE, job = self.spec.number; "close {}", self.spec.files[index].path.display());
        }
        self.record_close(index)?;
        let attached = self.attach_one(index);
        let closed = fd.map_or(Ok(()), |fd| close::close_shared(self.spec, fd, &self.spec.files[index].path));
        attached.and(closed)
    }

    fn attach_one(&mut self, index: usize) -> Result<(), Failure> {
        let file = &self.files.set.files[index];
        self.engine.attach_one(index, file).map_err(|e| Failure::from_engine(&e))
    }

    /// Waits until nothing of a file is in flight or waits to be submitted.
    fn settle(&mut self, file: u32) {
        while self.failure.is_none() && self.slots.has_request_to(file) {
            if self.slots.submitted() > 0 {
                self.reap_once();
            } else {
                self.submit_retry();
            }
        }
    }

    /// Adds to the I/O log that a file is closed while others are in use.
    pub(super) fn record_close(&mut self, file: usize) -> Result<(), Failure> {
        self.hooks.iolog.as_mut().map_or(Ok(()), |iolog| iolog.closed(file as u32))
    }

    /// Ends the I/O log: all files are closed.
    pub(crate) fn end_iolog(&mut self) -> Result<(), Failure> {
        self.hooks.iolog.take().map_or(Ok(()), |iolog| iolog.finish())
    }

    /// The buffers are not needed any more, unless a request never ended.
    pub(crate) fn end_buffers(&self) -> Result<(), Failure> {
        let removed = self.buffers.remove_file();
        let removed = if self.spec.compat.cleaning_up_may_fail { removed } else { Ok(()) };
        self.buffers.check().and(removed).map_err(|e| Failure::from_engine(&e))
    }
}
