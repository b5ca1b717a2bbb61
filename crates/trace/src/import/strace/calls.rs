//! The effects of system calls on files, offsets and processes. Reads, writes and syncs are in `transfers`, open and the like in
//! `descriptors`.

use super::super::event::{SkipReason, TraceContents};
use super::super::fields::whole;
use super::arguments::{descriptor, has_flag, members, split, string};
use super::line::CallParts;
use super::processes::{DescriptorFile, FORKS, Processes, SharedFile};
use crate::IoAction;

/// A call with the state that it affects.
pub struct CallContext<'a, 'b> {
    pub(super) processes: &'a mut Processes,
    pub(super) pid: u32,
    pub(super) arguments: &'a [&'a [u8]],
    /// The return value.
    pub(super) result: u64,
    pub(super) result_text: &'a [u8],
    pub(super) time_ns: u64,
    pub(super) took_ns: Option<u64>,
    pub(super) found: &'b mut TraceContents,
}

/// Applies the effects of a call.
pub fn apply(
    processes: &mut Processes,
    pid: u32,
    parts: &CallParts<'_>,
    time_ns: u64,
    took_ns: Option<u64>,
    found: &mut TraceContents,
) {
    let Some(effect) = effect(parts.name) else { return found.skip(SkipReason::OtherCall) };
    let Some(result) = parts.result.and_then(|result| u64::try_from(result).ok()) else {
        return found.skip(if effect.is_io() { SkipReason::FailedCall } else { SkipReason::OtherCall });
    };
    let arguments = split(parts.arguments);
    let mut context = CallContext {
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

/// The effect of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CallEffect {
    /// Reads or writes at the offset of the file, or at the one in the argument at this index.
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
    ListDirectory,
    /// Renames; the index of the path differs if it follows a directory.
    Rename {
        directories: bool,
    },
    Unlink {
        directory: bool,
    },
    ChangeDirectory,
    ChangeToDescriptor,
    Fork,
    Unshare,
    Exec,
}

impl CallEffect {
    /// Whether calls with this effect are I/Os when they succeed.
    fn is_io(self) -> bool {
        matches!(
            self,
            CallEffect::Transfer { .. }
                | CallEffect::Sync(_)
                | CallEffect::RangeSync
                | CallEffect::SendFile
                | CallEffect::CopyRange
                | CallEffect::Submit
                | CallEffect::Discard
        )
    }
}

/// The effect of the call with this name; `None` if it concerns no file.
fn effect(name: &[u8]) -> Option<CallEffect> {
    let transfer = |action, at| CallEffect::Transfer { action, at };
    Some(match name {
        b"read" | b"readv" => transfer(IoAction::Read, None),
        b"write" | b"writev" => transfer(IoAction::Write, None),
        b"pread" | b"pread64" | b"preadv" | b"preadv2" => transfer(IoAction::Read, Some(3)),
        b"pwrite" | b"pwrite64" | b"pwritev" | b"pwritev2" => transfer(IoAction::Write, Some(3)),
        b"fsync" => CallEffect::Sync(IoAction::Sync),
        b"fdatasync" => CallEffect::Sync(IoAction::Datasync),
        b"sync_file_range" => CallEffect::RangeSync,
        b"sendfile" | b"sendfile64" => CallEffect::SendFile,
        b"copy_file_range" | b"splice" => CallEffect::CopyRange,
        b"io_submit" => CallEffect::Submit,
        b"io_getevents" | b"io_pgetevents" => CallEffect::Reap,
        b"fallocate" => CallEffect::Allocate,
        b"ftruncate" | b"ftruncate64" => CallEffect::Truncate,
        b"truncate" | b"truncate64" => CallEffect::TruncatePath,
        b"sync" | b"syncfs" => CallEffect::SyncAll,
        b"ioctl" => CallEffect::Discard,
        b"io_uring_enter" => CallEffect::Ring,
        b"mmap" | b"mmap2" => CallEffect::Map,
        b"open" => CallEffect::Open { directory: false },
        b"openat" | b"openat2" => CallEffect::Open { directory: true },
        b"creat" => CallEffect::Create,
        b"close" => CallEffect::Close,
        b"close_range" => CallEffect::CloseRange,
        b"dup" => CallEffect::Dup,
        b"dup2" | b"dup3" => CallEffect::DupOnto,
        b"fcntl" | b"fcntl64" => CallEffect::Control,
        b"lseek" => CallEffect::Seek,
        b"_llseek" => CallEffect::SeekLong,
        b"fstat" | b"fstat64" | b"newfstatat" | b"statx" => CallEffect::Stat,
        b"getdents" | b"getdents64" => CallEffect::ListDirectory,
        b"rename" => CallEffect::Rename { directories: false },
        b"renameat" | b"renameat2" => CallEffect::Rename { directories: true },
        b"unlink" => CallEffect::Unlink { directory: false },
        b"unlinkat" => CallEffect::Unlink { directory: true },
        b"chdir" => CallEffect::ChangeDirectory,
        b"fchdir" => CallEffect::ChangeToDescriptor,
        b"unshare" => CallEffect::Unshare,
        b"execve" | b"execveat" => CallEffect::Exec,
        _ if FORKS.contains(&name) => CallEffect::Fork,
        _ => return None,
    })
}

impl<'a> CallContext<'a, '_> {
    fn follow(&mut self, effect: CallEffect) {
        match effect {
            CallEffect::Transfer { action, at } => self.record_transfer(action, at),
            CallEffect::Sync(action) => self.sync(action),
            CallEffect::RangeSync => {
                self.found.remarks.range_syncs += 1;
                self.sync(IoAction::Datasync);
            }
            CallEffect::SendFile => {
                let offset = self.place(2);
                self.copy(1, offset, 0, None);
            }
            CallEffect::CopyRange => {
                let (from, to) = (self.place(1), self.place(3));
                self.copy(0, from, 2, to);
            }
            CallEffect::Submit => self.submit(),
            CallEffect::Allocate => self.allocate(),
            CallEffect::Discard => self.discard(),
            CallEffect::Truncate => {
                let size = self.number(1);
                if let (Some(target), Some(size)) = (self.target(0), size) {
                    self.processes.files.set_size(target, size);
                }
                self.found.skip(SkipReason::NotInLogs);
            }
            CallEffect::TruncatePath => {
                let path = self.path(b"AT_FDCWD", 0);
                let target = path.and_then(|path| self.processes.files.known(&path, &self.found.targets));
                if let (Some(target), Some(size)) = (target, self.number(1)) {
                    self.processes.files.set_size(target, size);
                }
                self.found.skip(SkipReason::NotInLogs);
            }
            CallEffect::SyncAll => self.found.skip(SkipReason::NotInLogs),
            CallEffect::Ring => self.found.skip(SkipReason::Ring),
            CallEffect::Map => {
                let shared = has_flag(self.argument(3), "MAP_SHARED") && self.argument(4) != b"-1";
                self.found.skip(if shared { SkipReason::Mapped } else { SkipReason::OtherCall });
            }
            other => {
                self.found.skip(SkipReason::OtherCall);
                self.bookkeeping(other);
            }
        }
    }

    /// Applies calls that are no I/O but determine the meaning of later ones.
    fn bookkeeping(&mut self, effect: CallEffect) {
        let (pid, time_ns) = (self.pid, self.time_ns);
        match effect {
            CallEffect::Open { directory: true } => self.open(self.argument(0), 1, self.argument(2)),
            CallEffect::Open { directory: false } => self.open(b"AT_FDCWD", 0, self.argument(1)),
            CallEffect::Create => self.open(b"AT_FDCWD", 0, b"O_WRONLY|O_CREAT|O_TRUNC"),
            CallEffect::Reap => self.processes.reaped(self.result, self.found),
            CallEffect::Close => {
                if let Some((number, _)) = descriptor(self.argument(0)) {
                    self.processes.close(pid, number, time_ns, self.found);
                }
            }
            CallEffect::CloseRange => {
                let bound = |at| self.number(at).map(|number| i32::try_from(number).unwrap_or(i32::MAX));
                let on_exec = has_flag(self.argument(2), "CLOSE_RANGE_CLOEXEC");
                if let (Some(first), Some(last)) = (bound(0), bound(1)) {
                    self.processes.close_range(pid, first..=last, on_exec, time_ns, self.found);
                }
            }
            CallEffect::Dup => self.duplicate(false),
            CallEffect::DupOnto => self.duplicate(has_flag(self.argument(2), "O_CLOEXEC")),
            CallEffect::Control => self.control(),
            CallEffect::Seek => self.seek(self.result),
            CallEffect::SeekLong => {
                let place = members(self.argument(2)).first().and_then(|place| whole(place));
                if let Some(place) = place {
                    self.seek(place);
                }
            }
            CallEffect::Stat => self.stat(),
            CallEffect::ListDirectory => self.list_directory(),
            CallEffect::Rename { directories } => self.rename(directories),
            CallEffect::Unlink { directory } => self.unlink(directory),
            CallEffect::ChangeDirectory => {
                if let Some(path) = self.path(b"AT_FDCWD", 0) {
                    self.processes.change_directory(pid, path);
                }
            }
            CallEffect::ChangeToDescriptor => {
                let path = self.processes.resolve(pid, self.argument(0), b".");
                self.processes.change_directory(pid, path);
            }
            CallEffect::Fork => {
                if let Ok(child @ 1..) = u32::try_from(self.result) {
                    let flags = self.arguments.join(&b',');
                    self.processes.fork(pid, child, &flags);
                }
            }
            CallEffect::Unshare if has_flag(self.argument(0), "CLONE_FILES") => self.processes.unshare(pid),
            CallEffect::Exec => self.processes.exec(pid, time_ns, self.found),
            _ => {}
        }
    }

    pub(super) fn argument(&self, at: usize) -> &'a [u8] {
        self.arguments.get(at).copied().unwrap_or_default()
    }

    pub(super) fn number(&self, at: usize) -> Option<u64> {
        whole(self.argument(at))
    }

    /// The path in an argument, relative to the directory in another one.
    pub(super) fn path(&self, directory: &[u8], at: usize) -> Option<Vec<u8>> {
        string(self.argument(at)).map(|path| self.processes.resolve(self.pid, directory, &path))
    }

    /// The offset that a pointer refers to: `[4096] => [8192]`; `None` for `NULL`.
    pub(super) fn place(&self, at: usize) -> Option<u64> {
        let text = self.argument(at);
        let end = text.iter().position(|&byte| byte == b']')?;
        whole(text[..end].strip_prefix(b"[")?)
    }

    /// The file of the descriptor in an argument. Other descriptors are counted.
    pub(super) fn file(&mut self, at: usize) -> Option<SharedFile> {
        match self.lookup(at) {
            DescriptorFile::File(file) => return Some(file),
            DescriptorFile::NotAFile => self.found.skip(SkipReason::NotAFile),
            DescriptorFile::Unknown => self.found.skip(SkipReason::UnknownDescriptor),
        }
        None
    }

    pub(super) fn lookup(&mut self, at: usize) -> DescriptorFile {
        let argument = self.arguments.get(at).copied().unwrap_or_default();
        self.processes.file(self.pid, argument, self.time_ns, self.found)
    }

    pub(super) fn target(&mut self, at: usize) -> Option<u32> {
        match self.lookup(at) {
            DescriptorFile::File(file) => file.borrow().target,
            DescriptorFile::NotAFile | DescriptorFile::Unknown => None,
        }
    }
}
