//! The effects of system calls on files, offsets and processes. Reads, writes and syncs are in `transfers`, open and the like in
//! `descriptors`.

use super::super::event::SkipReason;
use super::super::fields::whole;
use super::arguments::{descriptor, has_flag, members, split, string};
use super::line::CallParts;
use super::processes::{DescriptorFile, FORKS, LineContext, Processes, SharedFile};
use crate::IoAction;

/// A call with the state that it affects.
pub struct CallContext<'a, 'b> {
    pub(super) processes: &'a mut Processes,
    /// The line in which the call begins.
    pub(super) line: LineContext<'b>,
    pub(super) arguments: &'a [&'a [u8]],
    /// The return value.
    pub(super) result: u64,
    pub(super) result_text: &'a [u8],
    pub(super) took_ns: Option<u64>,
}

/// The effect of a call that has succeeded.
enum CallEffect {
    /// It is an I/O.
    Io(ApplyCall),
    /// It is no I/O, and is counted for a reason of its own.
    Counted(ApplyCall),
    /// It is no I/O, but may determine the meaning of later calls.
    State(ApplyCall),
}

type ApplyCall = fn(&mut CallContext<'_, '_>);

/// Applies the effects of a call.
pub fn apply(processes: &mut Processes, line: LineContext<'_>, parts: &CallParts<'_>, took_ns: Option<u64>) {
    let found = &mut *line.found;
    let Some(effect) = effect(parts.name) else { return found.skip(SkipReason::OtherCall) };
    let Some(result) = parts.result.and_then(|result| u64::try_from(result).ok()) else {
        let is_io = matches!(effect, CallEffect::Io(_));
        return found.skip(if is_io { SkipReason::FailedCall } else { SkipReason::OtherCall });
    };
    let arguments = split(parts.arguments);
    let result_text = parts.result_text;
    let mut call = CallContext { processes, line, arguments: &arguments, result, result_text, took_ns };
    match effect {
        CallEffect::Io(apply) | CallEffect::Counted(apply) => apply(&mut call),
        CallEffect::State(apply) => {
            call.skip(SkipReason::OtherCall);
            apply(&mut call);
        }
    }
}

/// The effect of the call with this name; `None` if it concerns no file.
fn effect(name: &[u8]) -> Option<CallEffect> {
    use CallEffect::{Counted, Io, State};
    Some(match name {
        b"read" | b"readv" => Io(|call| call.transfer(IoAction::Read, None)),
        b"write" | b"writev" => Io(|call| call.transfer(IoAction::Write, None)),
        b"pread" | b"pread64" | b"preadv" | b"preadv2" => Io(|call| call.transfer(IoAction::Read, Some(3))),
        b"pwrite" | b"pwrite64" | b"pwritev" | b"pwritev2" => {
            Io(|call| call.transfer(IoAction::Write, Some(3)))
        }
        b"fsync" => Io(|call| call.sync(IoAction::Sync)),
        b"fdatasync" => Io(|call| call.sync(IoAction::Datasync)),
        b"sync_file_range" => Io(|call| {
            call.line.found.remarks.range_syncs += 1;
            call.sync(IoAction::Datasync);
        }),
        b"sendfile" | b"sendfile64" => Io(|call| call.copy(1, call.place(2), 0, None)),
        b"copy_file_range" | b"splice" => Io(|call| call.copy(0, call.place(1), 2, call.place(3))),
        b"io_submit" => Io(|call| call.submit()),
        b"ioctl" => Io(|call| call.discard()),
        b"fallocate" => Counted(|call| call.allocate()),
        b"ftruncate" | b"ftruncate64" => Counted(|call| {
            let target = call.target(0);
            call.truncate(target);
        }),
        b"truncate" | b"truncate64" => Counted(|call| {
            let path = call.path(b"AT_FDCWD", 0);
            let files = &call.processes.files;
            call.truncate(path.and_then(|path| files.known(&path, &call.line.found.targets)));
        }),
        b"sync" | b"syncfs" => Counted(|call| call.skip(SkipReason::NotInLogs)),
        b"io_uring_enter" => Counted(|call| call.skip(SkipReason::Ring)),
        b"mmap" | b"mmap2" => Counted(|call| {
            let shared = has_flag(call.argument(3), "MAP_SHARED") && call.argument(4) != b"-1";
            call.skip(if shared { SkipReason::Mapped } else { SkipReason::OtherCall });
        }),
        b"io_getevents" | b"io_pgetevents" => {
            State(|call| call.processes.reaped(call.result, call.line.found))
        }
        b"open" => State(|call| call.open(b"AT_FDCWD", 0, call.argument(1))),
        b"openat" | b"openat2" => State(|call| call.open(call.argument(0), 1, call.argument(2))),
        b"creat" => State(|call| call.open(b"AT_FDCWD", 0, b"O_WRONLY|O_CREAT|O_TRUNC")),
        b"close" => State(|call| {
            if let Some((number, _)) = descriptor(call.argument(0)) {
                call.processes.close(number, &mut call.line);
            }
        }),
        b"close_range" => State(|call| call.close_range()),
        b"dup" => State(|call| call.duplicate(false)),
        b"dup2" | b"dup3" => State(|call| call.duplicate(has_flag(call.argument(2), "O_CLOEXEC"))),
        b"fcntl" | b"fcntl64" => State(|call| call.control()),
        b"lseek" => State(|call| call.seek(call.result)),
        b"_llseek" => State(|call| {
            if let Some(place) = members(call.argument(2)).first().and_then(|place| whole(place)) {
                call.seek(place);
            }
        }),
        b"fstat" | b"fstat64" | b"newfstatat" | b"statx" => State(|call| call.stat()),
        b"getdents" | b"getdents64" => State(|call| call.list_directory()),
        b"rename" => State(|call| call.rename(call.path(b"AT_FDCWD", 0), call.path(b"AT_FDCWD", 1))),
        b"renameat" | b"renameat2" => {
            State(|call| call.rename(call.path(call.argument(0), 1), call.path(call.argument(2), 3)))
        }
        b"unlink" => State(|call| call.unlink(call.path(b"AT_FDCWD", 0))),
        b"unlinkat" => State(|call| call.unlink(call.path(call.argument(0), 1))),
        b"chdir" => State(|call| {
            if let Some(path) = call.path(b"AT_FDCWD", 0) {
                call.processes.change_directory(call.line.pid, path);
            }
        }),
        b"fchdir" => State(|call| {
            let path = call.processes.resolve(call.line.pid, call.argument(0), b".");
            call.processes.change_directory(call.line.pid, path);
        }),
        b"unshare" => State(|call| {
            if has_flag(call.argument(0), "CLONE_FILES") {
                call.processes.unshare(call.line.pid);
            }
        }),
        b"execve" | b"execveat" => State(|call| call.processes.exec(&mut call.line)),
        _ if FORKS.contains(&name) => State(|call| {
            if let Ok(child @ 1..) = u32::try_from(call.result) {
                call.processes.fork(call.line.pid, child, &call.arguments.join(&b','));
            }
        }),
        _ => return None,
    })
}

impl<'a> CallContext<'a, '_> {
    pub(super) fn skip(&mut self, why: SkipReason) {
        self.line.found.skip(why);
    }

    pub(super) fn argument(&self, at: usize) -> &'a [u8] {
        self.arguments.get(at).copied().unwrap_or_default()
    }

    pub(super) fn number(&self, at: usize) -> Option<u64> {
        whole(self.argument(at))
    }

    /// The path in an argument, relative to the directory in another one.
    pub(super) fn path(&self, directory: &[u8], at: usize) -> Option<Vec<u8>> {
        string(self.argument(at)).map(|path| self.processes.resolve(self.line.pid, directory, &path))
    }

    /// The offset that a pointer refers to: `[4096] => [8192]`; `None` for `NULL`.
    fn place(&self, at: usize) -> Option<u64> {
        let text = self.argument(at);
        let end = text.iter().position(|&byte| byte == b']')?;
        whole(text[..end].strip_prefix(b"[")?)
    }

    /// The file of the descriptor in an argument. Other descriptors are counted.
    pub(super) fn file(&mut self, argument: &[u8]) -> Option<SharedFile> {
        match self.processes.file(argument, &mut self.line) {
            DescriptorFile::File(file) => return Some(file),
            DescriptorFile::NotAFile => self.skip(SkipReason::NotAFile),
            DescriptorFile::Unknown => self.skip(SkipReason::UnknownDescriptor),
        }
        None
    }

    pub(super) fn lookup(&mut self, at: usize) -> DescriptorFile {
        self.processes.file(self.argument(at), &mut self.line)
    }

    pub(super) fn target(&mut self, at: usize) -> Option<u32> {
        match self.lookup(at) {
            DescriptorFile::File(file) => file.borrow().target,
            DescriptorFile::NotAFile | DescriptorFile::Unknown => None,
        }
    }

    /// The open file of the descriptor in the first argument, be it in the log or not.
    pub(super) fn shared(&self) -> Option<SharedFile> {
        let (number, _) = descriptor(self.argument(0))?;
        self.processes.shared(self.line.pid, number)
    }
}
