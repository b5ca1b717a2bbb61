//! What system calls do to files, offsets and processes. Reads, writes and syncs are in `transfers`, open and the like in `descriptors`.

use super::super::event::{Found, Skip};
use super::super::fields::whole;
use super::arguments::{descriptor, has_flag, members, split, string};
use super::line::Parts;
use super::processes::{FORKS, Lookup, Processes, Shared};
use crate::IoAction;

/// A call, with what is needed to follow it.
pub struct Context<'a, 'b> {
    pub(super) processes: &'a mut Processes,
    pub(super) pid: u32,
    pub(super) arguments: &'a [&'a [u8]],
    /// What it returned.
    pub(super) result: u64,
    pub(super) result_text: &'a [u8],
    pub(super) time_ns: u64,
    pub(super) took_ns: Option<u64>,
    pub(super) found: &'b mut Found,
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
        return found.skip(if effect.is_io() { Skip::FailedCall } else { Skip::OtherCall });
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
    ListDirectory,
    /// Renames, with the place of the path if it follows a directory.
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
        b"getdents" | b"getdents64" => Effect::ListDirectory,
        b"rename" => Effect::Rename { directories: false },
        b"renameat" | b"renameat2" => Effect::Rename { directories: true },
        b"unlink" => Effect::Unlink { directory: false },
        b"unlinkat" => Effect::Unlink { directory: true },
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
                    self.processes.files.set_size(target, size);
                }
                self.found.skip(Skip::NotInLogs);
            }
            Effect::TruncatePath => {
                let path = self.path(b"AT_FDCWD", 0);
                let target = path.and_then(|path| self.processes.files.known(&path, &self.found.targets));
                if let (Some(target), Some(size)) = (target, self.number(1)) {
                    self.processes.files.set_size(target, size);
                }
                self.found.skip(Skip::NotInLogs);
            }
            Effect::SyncAll => self.found.skip(Skip::NotInLogs),
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
            Effect::ListDirectory => self.list_directory(),
            Effect::Rename { directories } => self.rename(directories),
            Effect::Unlink { directory } => self.unlink(directory),
            Effect::ChangeDirectory => {
                if let Some(path) = self.path(b"AT_FDCWD", 0) {
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

    pub(super) fn argument(&self, at: usize) -> &'a [u8] {
        self.arguments.get(at).copied().unwrap_or_default()
    }

    pub(super) fn number(&self, at: usize) -> Option<u64> {
        whole(self.argument(at))
    }

    /// The path in an argument, from the directory in another one.
    pub(super) fn path(&self, directory: &[u8], at: usize) -> Option<Vec<u8>> {
        string(self.argument(at)).map(|path| self.processes.resolve(self.pid, directory, &path))
    }

    /// The offset behind a pointer: `[4096] => [8192]`; `None` for `NULL`.
    pub(super) fn place(&self, at: usize) -> Option<u64> {
        let text = self.argument(at);
        let end = text.iter().position(|&byte| byte == b']')?;
        whole(text[..end].strip_prefix(b"[")?)
    }

    /// The file of the descriptor in an argument. What is none is counted.
    pub(super) fn file(&mut self, at: usize) -> Option<Shared> {
        match self.lookup(at) {
            Lookup::File(file) => return Some(file),
            Lookup::NotAFile => self.found.skip(Skip::NotAFile),
            Lookup::Unknown => self.found.skip(Skip::UnknownDescriptor),
        }
        None
    }

    pub(super) fn lookup(&mut self, at: usize) -> Lookup {
        let argument = self.arguments.get(at).copied().unwrap_or_default();
        self.processes.file(self.pid, argument, self.time_ns, self.found)
    }

    pub(super) fn target(&mut self, at: usize) -> Option<u32> {
        match self.lookup(at) {
            Lookup::File(file) => file.borrow().target,
            Lookup::NotAFile | Lookup::Unknown => None,
        }
    }
}
