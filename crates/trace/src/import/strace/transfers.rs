//! Calls that read, write, sync and trim.

use super::super::event::{SkipReason, TraceEvent, TraceEventKind};
use super::super::fields::whole;
use super::super::kind::check_range;
use super::arguments::{has_flag, member, members};
use super::calls::CallContext;
use super::files::FileDescription;
use super::processes::{DescriptorFile, LineContext, SharedFile, UNNUMBERED};
use crate::IoAction;

impl CallContext<'_, '_> {
    /// Records a read or write of as many bytes as the call returned.
    pub(super) fn transfer(&mut self, action: IoAction, at: Option<usize>) {
        let Some(file) = self.file(self.argument(0)) else { return };
        // An offset of -1 means that of the file (preadv2).
        let offset =
            at.and_then(|at| whole::<i64>(self.argument(at))).and_then(|offset| u64::try_from(offset).ok());
        self.record_io(&file, action, offset, self.result);
    }

    /// Records an I/O of `count` bytes at `offset`, or at the offset of the file, which advances.
    fn record_io(&mut self, file: &SharedFile, action: IoAction, offset: Option<u64>, count: u64) {
        if count == 0 {
            self.skip(if action == IoAction::Read { SkipReason::AtEnd } else { SkipReason::Empty });
            return;
        }
        let mut file = file.borrow_mut();
        let Some(target) = file.target else { return };
        let begin = match offset {
            // Linux appends with O_APPEND even if an offset is given.
            _ if file.append && action == IoAction::Write => {
                let size = self.processes.files.size(target);
                self.line.found.remarks.unknown_appends += u64::from(size.is_none());
                size.unwrap_or(0)
            }
            Some(offset) => offset,
            None => {
                self.line.found.remarks.unknown_offsets += u64::from(file.predates_trace);
                file.offset
            }
        };
        if check_range(begin, count).is_err() {
            return self.skip(SkipReason::BeyondFiles);
        }
        let end = begin + count;
        if offset.is_none() {
            file.offset = end;
        }
        if action == IoAction::Write {
            match file.append {
                true => self.processes.files.set_size(target, end),
                false => self.processes.files.grow(target, end),
            }
        }
        self.add_io(&file, action, begin, count);
    }

    pub(super) fn sync(&mut self, action: IoAction) {
        let DescriptorFile::File(file) = self.lookup(0) else {
            return match self.is_directory() {
                true => self.skip(SkipReason::SyncOfDirectory),
                false => drop(self.file(self.argument(0))),
            };
        };
        let file = file.borrow();
        if self.processes.files.is_directory(&file.path) {
            return self.skip(SkipReason::SyncOfDirectory);
        }
        self.add_io(&file, action, 0, 0);
    }

    /// Whether the first argument is the descriptor of a directory.
    fn is_directory(&self) -> bool {
        self.shared().is_some_and(|file| self.processes.files.is_directory(&file.borrow().path))
    }

    /// Records a copy: a read from one file and a write to another, each if its file is in the log.
    pub(super) fn copy(&mut self, from: usize, from_offset: Option<u64>, to: usize, to_offset: Option<u64>) {
        let (source, sink) = (self.lookup(from), self.lookup(to));
        let count = self.result;
        if count == 0 {
            return self.skip(SkipReason::AtEnd);
        }
        if !matches!(source, DescriptorFile::File(_)) && !matches!(sink, DescriptorFile::File(_)) {
            return self.skip(SkipReason::NotAFile);
        }
        if let DescriptorFile::File(file) = source {
            self.record_io(&file, IoAction::Read, from_offset, count);
        }
        if let DescriptorFile::File(file) = sink {
            self.record_io(&file, IoAction::Write, to_offset, count);
        }
    }

    /// Asynchronous I/O (libaio): `io_submit(context, 2, [{…}, {…}]) = 2`.
    pub(super) fn submit(&mut self) {
        let count = usize::try_from(self.result).unwrap_or(usize::MAX);
        self.processes.submitted(self.result);
        // Completion times are in io_getevents, which does not name the file.
        self.took_ns = None;
        let mut requests = members(self.argument(2));
        // strace abbreviates long lists.
        requests.retain(|request| request.starts_with(b"{"));
        let hidden = count.saturating_sub(requests.len()) as u64;
        self.line.found.remarks.abbreviated = self.line.found.remarks.abbreviated.saturating_add(hidden);
        for request in requests.into_iter().take(count) {
            let fields = members(request);
            let field = |name| member(&fields, name).unwrap_or_default();
            let number = |name| whole::<u64>(field(name));
            let Some(file) = self.file(field("aio_fildes")) else { continue };
            let offset = number("aio_offset");
            let length = number("aio_nbytes").unwrap_or(0);
            match field("aio_lio_opcode") {
                b"IOCB_CMD_PREAD" => self.record_io(&file, IoAction::Read, offset.or(Some(0)), length),
                b"IOCB_CMD_PWRITE" => self.record_io(&file, IoAction::Write, offset.or(Some(0)), length),
                operation @ (b"IOCB_CMD_FSYNC" | b"IOCB_CMD_FDSYNC") => {
                    let action =
                        if operation.ends_with(b"FDSYNC") { IoAction::Datasync } else { IoAction::Sync };
                    self.add_io(&file.borrow(), action, 0, 0);
                }
                b"IOCB_CMD_PREADV" | b"IOCB_CMD_PWRITEV" => {
                    let vectors = members(field("aio_buf"));
                    let length = |vector: &&[u8]| member(&members(vector), "iov_len").and_then(whole::<u64>);
                    let total = vectors.iter().filter_map(length).fold(0_u64, u64::saturating_add);
                    self.line.found.remarks.shortened += u64::from(vectors.contains(&&b"..."[..]));
                    let reads = field("aio_lio_opcode") == b"IOCB_CMD_PREADV";
                    let action = if reads { IoAction::Read } else { IoAction::Write };
                    self.record_io(&file, action, offset.or(Some(0)), total);
                }
                _ => self.skip(SkipReason::NotInLogs),
            }
        }
    }

    /// A punched hole is a trim; other allocations only change the size.
    pub(super) fn allocate(&mut self) {
        let (mode, offset, len) = (self.argument(1), self.number(2), self.number(3));
        let (Some(offset), Some(len)) = (offset, len) else { return self.skip(SkipReason::NotInLogs) };
        if has_flag(mode, "FALLOC_FL_PUNCH_HOLE") {
            return self.trim(offset, len);
        }
        if !has_flag(mode, "FALLOC_FL_KEEP_SIZE")
            && let Some(target) = self.target(0)
        {
            self.processes.files.grow(target, offset.saturating_add(len));
        }
        self.skip(SkipReason::NotInLogs);
    }

    /// Sets the size of a file, if it is one of the log.
    pub(super) fn truncate(&mut self, target: Option<u32>) {
        if let (Some(target), Some(size)) = (target, self.number(1)) {
            self.processes.files.set_size(target, size);
        }
        self.skip(SkipReason::NotInLogs);
    }

    /// `ioctl(3, BLKDISCARD, [0, 4096])`.
    pub(super) fn discard(&mut self) {
        if self.argument(1) != b"BLKDISCARD" {
            return self.skip(SkipReason::OtherCall);
        }
        let range: Vec<Option<u64>> = members(self.argument(2)).into_iter().map(whole).collect();
        match range[..] {
            [Some(offset), Some(len)] => self.trim(offset, len),
            _ => self.skip(SkipReason::NotInLogs),
        }
    }

    fn trim(&mut self, offset: u64, len: u64) {
        if len == 0 {
            return self.skip(SkipReason::Empty);
        }
        if check_range(offset, len).is_err() {
            return self.skip(SkipReason::BeyondFiles);
        }
        if let Some(file) = self.file(self.argument(0)) {
            self.add_io(&file.borrow(), IoAction::Trim, offset, len);
        }
    }

    /// Adds an I/O on an open file.
    fn add_io(&mut self, file: &FileDescription, action: IoAction, offset: u64, len: u64) {
        let Some(target) = file.target else { return };
        let LineContext { pid, time_ns, ref mut found } = self.line;
        found.remarks.direct += u64::from(file.direct);
        found.remarks.synchronous += u64::from(file.synchronous && action == IoAction::Write);
        let pid = (pid != UNNUMBERED).then_some(pid);
        let what = TraceEventKind::Io { action, offset, len };
        found.events.push(TraceEvent { time_ns, took_ns: self.took_ns, pid, target, what });
    }
}
