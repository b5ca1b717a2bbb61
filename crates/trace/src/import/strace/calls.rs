//! What system calls do to files, offsets and processes.

use super::super::event::{Found, Skip};
use super::super::fields::whole;
use super::super::kind::check_range;
use super::arguments::{AT_FDCWD, descriptor, has_flag, member, members, signed, split, string, unescaped};
use super::line::Parts;
use super::processes::{FORKS, Lookup, OpenFile, Processes, Shared, is_file};
use crate::IoAction;

/// A call, with what is needed to follow it.
struct Context<'a, 'b> {
    processes: &'a mut Processes,
    pid: u32,
    arguments: &'a [&'a [u8]],
    /// What it returned.
    result: u64,
    result_text: &'a [u8],
    time_ns: u64,
    took_ns: Option<u64>,
    found: &'b mut Found,
}

/// Follows a call of a process.
pub fn apply(
    processes: &mut Processes,
    pid: u32,
    parts: &Parts<'_>,
    time_ns: u64,
    took_ns: Option<u64>,
    found: &mut Found,
) {
    let Some(effect) = effect(parts.name) else { return found.skip(Skip::OtherCall) };
    let Some(result) = parts.result.and_then(|result| u64::try_from(result).ok()) else {
        return found.skip(if effect.is_io() { Skip::Failed } else { Skip::OtherCall });
    };
    let arguments = split(parts.arguments);
    let mut context = Context {
        processes,
        pid,
        arguments: &arguments,
        result,
        result_text: parts.result_text,
        time_ns,
        took_ns,
        found,
    };
    context.follow(effect);
}

/// What a call does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Reads or writes where the file is, or where the last argument but this many says.
    Transfer {
        action: IoAction,
        at: Option<usize>,
    },
    Sync(IoAction),
    RangeSync,
    SendFile,
    CopyRange,
    Submit,
    Reap,
    Allocate,
    Truncate,
    TruncatePath,
    SyncAll,
    Discard,
    Ring,
    Map,
    Open {
        directory: bool,
    },
    Create,
    Close,
    CloseRange,
    Dup,
    DupOnto,
    Control,
    Seek,
    SeekLong,
    Stat,
    ChangeDirectory,
    ChangeToDescriptor,
    Fork,
    Unshare,
    Exec,
}

impl Effect {
    /// True for calls that are I/Os when they succeed.
    fn is_io(self) -> bool {
        matches!(
            self,
            Effect::Transfer { .. }
                | Effect::Sync(_)
                | Effect::RangeSync
                | Effect::SendFile
                | Effect::CopyRange
                | Effect::Submit
                | Effect::Discard
        )
    }
}

/// What the call of this name does; `None` if it concerns no file.
fn effect(name: &[u8]) -> Option<Effect> {
    let transfer = |action, at| Effect::Transfer { action, at };
    Some(match name {
        b"read" | b"readv" => transfer(IoAction::Read, None),
        b"write" | b"writev" => transfer(IoAction::Write, None),
        b"pread" | b"pread64" | b"preadv" | b"preadv2" => transfer(IoAction::Read, Some(3)),
        b"pwrite" | b"pwrite64" | b"pwritev" | b"pwritev2" => transfer(IoAction::Write, Some(3)),
        b"fsync" => Effect::Sync(IoAction::Sync),
        b"fdatasync" => Effect::Sync(IoAction::Datasync),
        b"sync_file_range" => Effect::RangeSync,
        b"sendfile" | b"sendfile64" => Effect::SendFile,
        b"copy_file_range" | b"splice" => Effect::CopyRange,
        b"io_submit" => Effect::Submit,
        b"io_getevents" | b"io_pgetevents" => Effect::Reap,
        b"fallocate" => Effect::Allocate,
        b"ftruncate" | b"ftruncate64" => Effect::Truncate,
        b"truncate" | b"truncate64" => Effect::TruncatePath,
        b"sync" | b"syncfs" => Effect::SyncAll,
        b"ioctl" => Effect::Discard,
        b"io_uring_enter" => Effect::Ring,
        b"mmap" | b"mmap2" => Effect::Map,
        b"open" => Effect::Open { directory: false },
        b"openat" | b"openat2" => Effect::Open { directory: true },
        b"creat" => Effect::Create,
        b"close" => Effect::Close,
        b"close_range" => Effect::CloseRange,
        b"dup" => Effect::Dup,
        b"dup2" | b"dup3" => Effect::DupOnto,
        b"fcntl" | b"fcntl64" => Effect::Control,
        b"lseek" => Effect::Seek,
        b"_llseek" => Effect::SeekLong,
        b"fstat" | b"fstat64" | b"newfstatat" | b"statx" => Effect::Stat,
        b"chdir" => Effect::ChangeDirectory,
        b"fchdir" => Effect::ChangeToDescriptor,
        b"unshare" => Effect::Unshare,
        b"execve" | b"execveat" => Effect::Exec,
        _ if FORKS.contains(&name) => Effect::Fork,
        _ => return None,
    })
}

impl<'a> Context<'a, '_> {
    fn follow(&mut self, effect: Effect) {
        match effect {
            Effect::Transfer { action, at } => self.transfer(action, at),
            Effect::Sync(action) => self.sync(action),
            Effect::RangeSync => {
                self.found.remarks.range_syncs += 1;
                self.sync(IoAction::Datasync);
            }
            Effect::SendFile => {
                let offset = self.place(2);
                self.copy(1, offset, 0, None);
            }
            Effect::CopyRange => {
                let (from, to) = (self.place(1), self.place(3));
                self.copy(0, from, 2, to);
            }
            Effect::Submit => self.submit(),
            Effect::Allocate => self.allocate(),
            Effect::Discard => self.discard(),
            Effect::Truncate => {
                let size = self.number(1);
                if let (Some(target), Some(size)) = (self.target(0), size) {
                    self.processes.set_size(target, size);
                }
                self.found.skip(Skip::NoWord);
            }
            Effect::TruncatePath | Effect::SyncAll => self.found.skip(Skip::NoWord),
            Effect::Ring => self.found.skip(Skip::Ring),
            Effect::Map => {
                let shared = has_flag(self.argument(3), "MAP_SHARED") && self.argument(4) != b"-1";
                self.found.skip(if shared { Skip::Mapped } else { Skip::OtherCall });
            }
            other => {
                self.found.skip(Skip::OtherCall);
                self.bookkeeping(other);
            }
        }
    }

    /// Calls that are no I/O but decide what later ones mean.
    fn bookkeeping(&mut self, effect: Effect) {
        let (pid, time_ns) = (self.pid, self.time_ns);
        match effect {
            Effect::Open { directory: true } => self.open(self.argument(0), 1, self.argument(2)),
            Effect::Open { directory: false } => self.open(b"AT_FDCWD", 0, self.argument(1)),
            Effect::Create => self.open(b"AT_FDCWD", 0, b"O_WRONLY|O_CREAT|O_TRUNC"),
            Effect::Reap => self.processes.reaped(self.result, self.found),
            Effect::Close => {
                if let Some((number, _)) = descriptor(self.argument(0)) {
                    self.processes.close(pid, number, time_ns, self.found);
                }
            }
            Effect::CloseRange => {
                let bound = |at| self.number(at).map(|number| i32::try_from(number).unwrap_or(i32::MAX));
                let on_exec = has_flag(self.argument(2), "CLOSE_RANGE_CLOEXEC");
                if let (Some(first), Some(last)) = (bound(0), bound(1)) {
                    self.processes.close_range(pid, first..=last, on_exec, time_ns, self.found);
                }
            }
            Effect::Dup => self.duplicate(false),
            Effect::DupOnto => self.duplicate(has_flag(self.argument(2), "O_CLOEXEC")),
            Effect::Control => self.control(),
            Effect::Seek => self.seek(self.result),
            Effect::SeekLong => {
                let place = members(self.argument(2)).first().and_then(|place| whole(place));
                if let Some(place) = place {
                    self.seek(place);
                }
            }
            Effect::Stat => self.stat(),
            Effect::ChangeDirectory => {
                if let Some(path) = string(self.argument(0)) {
                    let path = self.processes.resolve(pid, b"AT_FDCWD", &path);
                    self.processes.change_directory(pid, path);
                }
            }
            Effect::ChangeToDescriptor => {
                let path = self.processes.resolve(pid, self.argument(0), b".");
                self.processes.change_directory(pid, path);
            }
            Effect::Fork => {
                if let Ok(child @ 1..) = u32::try_from(self.result) {
                    let flags = self.arguments.join(&b',');
                    self.processes.fork(pid, child, &flags);
                }
            }
            Effect::Unshare if has_flag(self.argument(0), "CLONE_FILES") => self.processes.unshare(pid),
            Effect::Exec => self.processes.exec(pid, time_ns, self.found),
            _ => {}
        }
    }

    fn argument(&self, at: usize) -> &'a [u8] {
        self.arguments.get(at).copied().unwrap_or_default()
    }

    fn number(&self, at: usize) -> Option<u64> {
        whole(self.argument(at))
    }

    /// The offset behind a pointer: `[4096] => [8192]`; `None` for `NULL`.
    fn place(&self, at: usize) -> Option<u64> {
        let text = self.argument(at);
        let end = text.iter().position(|&byte| byte == b']')?;
        whole(text[..end].strip_prefix(b"[")?)
    }

    /// The file of the descriptor in an argument. What is none is counted.
    fn file(&mut self, at: usize) -> Option<Shared> {
        match self.lookup(at) {
            Lookup::File(file) => return Some(file),
            Lookup::NotAFile => self.found.skip(Skip::NotAFile),
            Lookup::Unknown => self.found.skip(Skip::UnknownDescriptor),
        }
        None
    }

    fn lookup(&mut self, at: usize) -> Lookup {
        let argument = self.arguments.get(at).copied().unwrap_or_default();
        self.processes.file(self.pid, argument, self.time_ns, self.found)
    }

    fn target(&mut self, at: usize) -> Option<u32> {
        match self.lookup(at) {
            Lookup::File(file) => file.borrow().target,
            Lookup::NotAFile | Lookup::Unknown => None,
        }
    }

    /// Reads or writes as many bytes as the call returned.
    fn transfer(&mut self, action: IoAction, at: Option<usize>) {
        let Some(file) = self.file(0) else { return };
        // An offset of -1 means that of the file (preadv2).
        let place = at.and_then(|at| signed(self.argument(at))).and_then(|place| u64::try_from(place).ok());
        self.move_bytes(&file, action, place, self.result);
    }

    /// Adds an I/O of `count` bytes at `place`, or where the file is, and moves the file's offset on.
    fn move_bytes(&mut self, file: &Shared, action: IoAction, place: Option<u64>, count: u64) {
        if count == 0 {
            self.found.skip(if action == IoAction::Read { Skip::AtEnd } else { Skip::Empty });
            return;
        }
        let mut file = file.borrow_mut();
        let Some(target) = file.target else { return };
        let begin = match place {
            // Linux appends with O_APPEND even if an offset is given.
            _ if file.append && action == IoAction::Write => {
                let size = self.processes.size(target);
                self.found.remarks.unknown_appends += u64::from(size.is_none());
                size.unwrap_or(0)
            }
            Some(place) => place,
            None => file.offset,
        };
        if check_range(begin, count).is_err() {
            return self.found.skip(Skip::Failed);
        }
        let end = begin + count;
        if place.is_none() {
            file.offset = end;
        }
        if action == IoAction::Write {
            match file.append {
                true => self.processes.set_size(target, end),
                false => self.processes.grow(target, end),
            }
        }
        self.processes.io(&file, self.pid, self.time_ns, self.took_ns, action, begin, count, self.found);
    }

    fn sync(&mut self, action: IoAction) {
        if let Some(file) = self.file(0) {
            let file = file.borrow();
            self.processes.io(&file, self.pid, self.time_ns, self.took_ns, action, 0, 0, self.found);
        }
    }

    /// Reads from one file and writes to another, as far as they are files.
    fn copy(&mut self, from: usize, from_place: Option<u64>, to: usize, to_place: Option<u64>) {
        let (source, sink) = (self.lookup(from), self.lookup(to));
        let count = self.result;
        if count == 0 {
            return self.found.skip(Skip::AtEnd);
        }
        if !matches!(source, Lookup::File(_)) && !matches!(sink, Lookup::File(_)) {
            return self.found.skip(Skip::NotAFile);
        }
        if let Lookup::File(file) = source {
            self.move_bytes(&file, IoAction::Read, from_place, count);
        }
        if let Lookup::File(file) = sink {
            self.move_bytes(&file, IoAction::Write, to_place, count);
        }
    }

    /// Asynchronous I/O (libaio): `io_submit(context, 2, [{…}, {…}]) = 2`.
    fn submit(&mut self) {
        let (pid, time_ns) = (self.pid, self.time_ns);
        let count = usize::try_from(self.result).unwrap_or(usize::MAX);
        self.processes.submitted(self.result);
        // When they end is in io_getevents, without the name of the file.
        self.took_ns = None;
        for request in members(self.argument(2)).into_iter().take(count) {
            let fields = members(request);
            let field = |name| member(&fields, name).unwrap_or_default();
            let number = |name| whole::<u64>(field(name));
            let file = match self.processes.file(pid, field("aio_fildes"), time_ns, self.found) {
                Lookup::File(file) => file,
                Lookup::NotAFile => {
                    self.found.skip(Skip::NotAFile);
                    continue;
                }
                Lookup::Unknown => {
                    self.found.skip(Skip::UnknownDescriptor);
                    continue;
                }
            };
            let place = number("aio_offset");
            let length = number("aio_nbytes").unwrap_or(0);
            match field("aio_lio_opcode") {
                b"IOCB_CMD_PREAD" => self.move_bytes(&file, IoAction::Read, place.or(Some(0)), length),
                b"IOCB_CMD_PWRITE" => self.move_bytes(&file, IoAction::Write, place.or(Some(0)), length),
                operation @ (b"IOCB_CMD_FSYNC" | b"IOCB_CMD_FDSYNC") => {
                    let action =
                        if operation.ends_with(b"FDSYNC") { IoAction::Datasync } else { IoAction::Sync };
                    self.processes.io(&file.borrow(), pid, time_ns, None, action, 0, 0, self.found);
                }
                b"IOCB_CMD_PREADV" | b"IOCB_CMD_PWRITEV" => {
                    let vectors = members(field("aio_buf"));
                    let length = |vector: &&[u8]| member(&members(vector), "iov_len").and_then(whole::<u64>);
                    let total = vectors.iter().filter_map(length).fold(0_u64, u64::saturating_add);
                    let reads = field("aio_lio_opcode") == b"IOCB_CMD_PREADV";
                    let action = if reads { IoAction::Read } else { IoAction::Write };
                    self.move_bytes(&file, action, place.or(Some(0)), total);
                }
                _ => self.found.skip(Skip::NoWord),
            }
        }
    }

    /// A punched hole is a trim; other allocations only change the size.
    fn allocate(&mut self) {
        let (mode, offset, len) = (self.argument(1), self.number(2), self.number(3));
        let (Some(offset), Some(len)) = (offset, len) else { return self.found.skip(Skip::NoWord) };
        if has_flag(mode, "FALLOC_FL_PUNCH_HOLE") {
            return self.trim(offset, len);
        }
        if !has_flag(mode, "FALLOC_FL_KEEP_SIZE")
            && let Some(target) = self.target(0)
        {
            self.processes.grow(target, offset.saturating_add(len));
        }
        self.found.skip(Skip::NoWord);
    }

    /// `ioctl(3, BLKDISCARD, [0, 4096])`.
    fn discard(&mut self) {
        if self.argument(1) != b"BLKDISCARD" {
            return self.found.skip(Skip::OtherCall);
        }
        let range: Vec<Option<u64>> = members(self.argument(2)).into_iter().map(whole).collect();
        match range[..] {
            [Some(offset), Some(len)] => self.trim(offset, len),
            _ => self.found.skip(Skip::NoWord),
        }
    }

    fn trim(&mut self, offset: u64, len: u64) {
        if len == 0 || check_range(offset, len).is_err() {
            return self.found.skip(Skip::Empty);
        }
        if let Some(file) = self.file(0) {
            let file = file.borrow();
            self.processes.io(
                &file,
                self.pid,
                self.time_ns,
                self.took_ns,
                IoAction::Trim,
                offset,
                len,
                self.found,
            );
        }
    }

    /// Opens the path in an argument, from a directory.
    fn open(&mut self, directory: &[u8], path: usize, flags: &[u8]) {
        // With -y the result shows the path.
        let Some((number, shown)) = descriptor(self.result_text) else { return };
        let path = match (shown.and_then(unescaped), string(self.argument(path))) {
            (Some(shown), _) => shown,
            (None, Some(path)) => self.processes.resolve(self.pid, directory, &path),
            (None, None) => return,
        };
        let is = |flag| has_flag(flags, flag);
        let is_file = is_file(&path) && !is("O_DIRECTORY") && !is("O_PATH");
        let target = is_file.then(|| self.found.targets.number(&path));
        if let Some(target) = target.filter(|_| is("O_TRUNC") || is("O_EXCL") || is("O_TMPFILE")) {
            self.processes.set_size(target, 0);
        }
        let file = OpenFile {
            target,
            path,
            offset: 0,
            append: is("O_APPEND"),
            direct: is("O_DIRECT"),
            synchronous: is("O_SYNC") || is("O_DSYNC"),
        };
        self.processes.install(self.pid, number, file, is("O_CLOEXEC"), self.time_ns, self.found);
    }

    /// Makes the descriptor that the call returned one more of the file in the first argument.
    fn duplicate(&mut self, close_on_exec: bool) {
        let Some((old, _)) = descriptor(self.argument(0)) else { return };
        let Ok(new) = i32::try_from(self.result) else { return };
        if old == new {
            return;
        }
        match self.processes.shared(self.pid, old) {
            Some(file) => self.processes.share(self.pid, new, file, close_on_exec, self.time_ns, self.found),
            None => self.processes.close(self.pid, new, self.time_ns, self.found),
        }
    }

    fn control(&mut self) {
        let Some((number, _)) = descriptor(self.argument(0)) else { return };
        match self.argument(1) {
            b"F_DUPFD" => self.duplicate(false),
            b"F_DUPFD_CLOEXEC" => self.duplicate(true),
            b"F_SETFD" => {
                let on = has_flag(self.argument(2), "FD_CLOEXEC");
                self.processes.set_close_on_exec(self.pid, number, on);
            }
            b"F_SETFL" => {
                let flags = self.argument(2);
                if let Some(file) = self.processes.shared(self.pid, number) {
                    let mut file = file.borrow_mut();
                    file.append = has_flag(flags, "O_APPEND");
                    file.direct = has_flag(flags, "O_DIRECT");
                }
            }
            _ => {}
        }
    }

    /// The file's offset is now `place`.
    fn seek(&mut self, place: u64) {
        let Lookup::File(file) = self.lookup(0) else { return };
        let from_end = self.arguments.contains(&&b"SEEK_END"[..]);
        let distance = signed(self.argument(1));
        let mut file = file.borrow_mut();
        file.offset = place;
        if let (true, Some(distance), Some(target)) = (from_end, distance, file.target)
            && let Some(size) = i64::try_from(place).ok().and_then(|place| place.checked_sub(distance))
        {
            self.processes.set_size(target, u64::try_from(size).unwrap_or(0));
        }
    }

    /// The size and type of the file of a descriptor.
    fn stat(&mut self) {
        let Some((number, _)) = descriptor(self.argument(0)).filter(|(number, _)| *number != AT_FDCWD) else {
            return;
        };
        // A path is relative to the descriptor, which is that of a directory.
        if self.arguments.get(1).is_some_and(|path| path.len() > 2 && path.starts_with(b"\"")) {
            return;
        }
        let Some(status) = self.arguments.iter().find(|argument| argument.starts_with(b"{")) else { return };
        let fields = members(status);
        let field = |long, short| member(&fields, long).or_else(|| member(&fields, short));
        let Some(file) = self.processes.shared(self.pid, number) else { return };
        let mut file = file.borrow_mut();
        let kind = field("st_mode", "stx_mode").unwrap_or_default();
        if ["S_IFDIR", "S_IFIFO", "S_IFSOCK", "S_IFCHR"].iter().any(|other| has_flag(kind, other)) {
            file.target = None;
        }
        if let (Some(target), Some(size)) = (file.target, field("st_size", "stx_size").and_then(whole)) {
            self.processes.set_size(target, size);
        }
    }
}
