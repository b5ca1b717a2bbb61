//! A file system with one file, mounted with FUSE and served by the test's process. What the file does is up to the test.
//!
//! Unless the file is cached, each read and write of the program reaches it, one call for one I/O.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use nix::errno::Errno as Error;

/// A file whose reads and writes reach the file system as they are.
pub const UNCACHED: FopenFlags = FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);

/// The behaviour of the file. Calls come from several threads at once.
pub trait Content: Send + Sync + 'static {
    /// Size of the file in bytes.
    fn size(&self) -> u64;

    /// Makes it this long.
    fn resize(&self, _size: u64) {}

    /// The answer to a read.
    fn read(&self, offset: u64, size: u32) -> Result<Vec<u8>, Error>;

    /// Takes data, and returns how much of it is written.
    fn write(&self, _offset: u64, _data: &[u8]) -> Result<u32, Error> {
        Err(Error::EROFS)
    }

    fn sync(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// The answer of a sound file to a read.
pub fn piece(data: &[u8], offset: u64, size: u32) -> Vec<u8> {
    let begin = data.len().min(offset as usize);
    let end = data.len().min(begin + size as usize);
    data[begin..end].to_vec()
}

/// The mounted file system. It is unmounted when this is dropped.
pub struct Mounted {
    _session: BackgroundSession,
    path: PathBuf,
}

impl Mounted {
    /// Mounts a file system with this name below `directory`.
    pub fn new(
        content: Arc<impl Content>,
        directory: &Path,
        name: &str,
        open_flags: FopenFlags,
    ) -> io::Result<Mounted> {
        let mountpoint = directory.join(name);
        std::fs::create_dir(&mountpoint)?;
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName(name.to_owned()), MountOption::NoAtime];
        // So that late calls do not wait for each other.
        config.n_threads = Some(4);
        let session = fuser::spawn_mount(OneFile { content, open_flags }, &mountpoint, &config)?;
        Ok(Mounted { _session: session, path: mountpoint.join("file") })
    }

    /// The path of the file.
    pub fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

impl Drop for Mounted {
    /// The session leaves a file system mounted that is still in use at this moment. Detached, it goes with its last user.
    fn drop(&mut self) {
        let mountpoint = self.path.with_file_name("");
        let _ = Command::new("umount").arg("-l").arg(mountpoint).stderr(Stdio::null()).status();
    }
}

struct OneFile<C> {
    content: Arc<C>,
    open_flags: FopenFlags,
}

const FILE: INodeNo = INodeNo(2);
/// How long the kernel may remember attributes: not at all.
const ATTRIBUTE_TIMEOUT: Duration = Duration::ZERO;

impl<C: Content> OneFile<C> {
    fn attributes(&self, ino: INodeNo) -> FileAttr {
        let (kind, perm, size) = match ino {
            FILE => (FileType::RegularFile, 0o666, self.content.size()),
            _ => (FileType::Directory, 0o777, 0),
        };
        FileAttr {
            ino,
            size,
            blocks: size.div_ceil(512),
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink: 1,
            uid: nix::unistd::getuid().as_raw(),
            gid: nix::unistd::getgid().as_raw(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

fn number(error: Error) -> Errno {
    Errno::from_i32(error as i32)
}

impl<C: Content> Filesystem for OneFile<C> {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match name.to_str() {
            Some("file") => reply.entry(&ATTRIBUTE_TIMEOUT, &self.attributes(FILE), Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&ATTRIBUTE_TIMEOUT, &self.attributes(ino));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if let Some(size) = size {
            self.content.resize(size);
        }
        reply.attr(&ATTRIBUTE_TIMEOUT, &self.attributes(ino));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), self.open_flags);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.content.read(offset, size) {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(number(error)),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.content.write(offset, data) {
            Ok(written) => reply.written(written),
            Err(error) => reply.error(number(error)),
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.content.sync() {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(number(error)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }
}
