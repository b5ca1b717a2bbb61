//! A file system of one file whose data is in memory until it is synced. It kills the program at a write, and then loses its power.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};
use std::{io, thread};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const FILE: INodeNo = INodeNo(2);
const UNCACHED: Duration = Duration::ZERO;

/// What the file system does wrong, and when. Writes are named by the numbers in the headers of their blocks.
#[derive(Clone, Debug, Default)]
pub struct Habits {
    /// These never reach the disk, although a sync says so.
    pub drops: BTreeSet<u64>,
    /// The program is killed at the write after this many.
    pub kills_after: usize,
}

/// The mounted file system. It is unmounted when this is dropped.
pub struct Disk {
    _session: BackgroundSession,
    path: PathBuf,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    habits: Habits,
    /// What survives.
    disk: Vec<u8>,
    /// What was written since the last sync.
    cache: Vec<(u64, Vec<u8>)>,
    writes: usize,
    /// The program to kill.
    program: Option<Pid>,
    is_killed: bool,
    /// Where each write went that the disk has, or that a sync has dropped; by number.
    synced: BTreeMap<u64, u64>,
}

impl Disk {
    /// Mounts a file system below `directory` whose only file has this many bytes.
    pub fn mount(directory: &Path, size: usize, habits: Habits) -> io::Result<Disk> {
        let mountpoint = directory.join("disk");
        std::fs::create_dir(&mountpoint)?;
        let state = Arc::new(Mutex::new(State { habits, disk: vec![0; size], ..State::default() }));
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("volatile".to_owned()), MountOption::NoAtime];
        config.n_threads = Some(4);
        let session = fuser::spawn_mount(OneFile { state: Arc::clone(&state) }, &mountpoint, &config)?;
        Ok(Disk { _session: session, path: mountpoint.join("file"), state })
    }

    pub fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Names the program to kill. Until then the fatal write waits.
    pub fn kills(&self, program: Pid) {
        self.state.lock().unwrap().program = Some(program);
    }

    /// Forgets what is not on disk, and serves what is.
    pub fn lose_power(&self) {
        let mut state = self.state.lock().unwrap();
        assert!(state.is_killed, "the program ended before its last write");
        state.cache.clear();
    }

    /// Where each write went that a sync has acknowledged; by number.
    pub fn synced(&self) -> BTreeMap<u64, u64> {
        self.state.lock().unwrap().synced.clone()
    }
}

/// The number in the header of a block.
fn number(block: &[u8]) -> u64 {
    assert_eq!(block[..2], [0xca, 0xac], "a block without a header");
    u64::from_le_bytes(block[32..40].try_into().unwrap())
}

struct OneFile {
    state: Arc<Mutex<State>>,
}

impl OneFile {
    fn attributes(&self, ino: INodeNo) -> FileAttr {
        let (kind, perm, size) = match ino {
            FILE => (FileType::RegularFile, 0o666, self.state.lock().unwrap().disk.len() as u64),
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

    /// Kills the program. Whatever of it still arrives is ignored.
    fn kill(&self) {
        loop {
            let mut state = self.state.lock().unwrap();
            if state.is_killed {
                return;
            }
            if let Some(program) = state.program {
                state.is_killed = true;
                kill(program, Signal::SIGKILL).unwrap();
                return;
            }
            drop(state);
            thread::yield_now();
        }
    }
}

impl Filesystem for OneFile {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match name.to_str() {
            Some("file") => reply.entry(&UNCACHED, &self.attributes(FILE), Generation(0)),
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&UNCACHED, &self.attributes(ino));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<std::time::SystemTime>,
        _: Option<FileHandle>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<std::time::SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        reply.attr(&UNCACHED, &self.attributes(ino));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let uncached = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), uncached);
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
        let state = self.state.lock().unwrap();
        let begin = state.disk.len().min(offset as usize);
        let end = state.disk.len().min(begin + size as usize);
        reply.data(&state.disk[begin..end]);
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
        let mut state = self.state.lock().unwrap();
        if state.is_killed {
            return reply.error(Errno::EIO);
        }
        state.writes += 1;
        if state.writes > state.habits.kills_after {
            drop(state);
            self.kill();
            return reply.error(Errno::EIO);
        }
        state.cache.push((offset, data.to_vec()));
        drop(state);
        reply.written(data.len() as u32);
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let mut guard = self.state.lock().unwrap();
        let state = &mut *guard;
        if state.is_killed {
            return reply.error(Errno::EIO);
        }
        for (offset, data) in state.cache.drain(..) {
            let write = number(&data);
            state.synced.insert(write, offset);
            if !state.habits.drops.contains(&write) {
                state.disk[offset as usize..][..data.len()].copy_from_slice(&data);
            }
        }
        drop(guard);
        reply.ok();
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }
}
