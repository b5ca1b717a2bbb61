//! A file system of one file that misbehaves on request. It lives in the test's process and is mounted with FUSE.
//!
//! Every read and write of the file reaches it, one call for one I/O: the kernel caches nothing, unless the file is mounted for mappings.

use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry,
    ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

/// What goes wrong.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// The call fails.
    Error(nix::errno::Errno),
    /// The call moves only this many bytes.
    Short(usize),
    /// The call succeeds after this time, to within microseconds.
    Late(Duration),
    /// A read gets the right data with this bit of the byte at this offset flipped.
    FlippedBit { at: u64, bit: u8 },
    /// A write succeeds, and only this many of its bytes arrive.
    Torn(usize),
    /// A write succeeds, and its bytes arrive at this offset.
    Misdirected(u64),
}

/// Which calls a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Read,
    Write,
    Fsync,
}

/// When a call is hit.
#[derive(Clone, Copy, Debug)]
pub enum When {
    Always,
    /// The first call for the byte here, and no other.
    OnceAt(u64),
    /// Every call for the byte here.
    At(u64),
}

/// One way to misbehave.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub call: Call,
    pub when: When,
    pub fault: Fault,
}

/// A read that was served, by the clock of the file system. The program's own call began before and ended after.
#[derive(Clone, Copy, Debug)]
pub struct ServedRead {
    pub began: Instant,
    pub ended: Instant,
}

impl ServedRead {
    /// How long the file system kept it.
    pub fn took(&self) -> Duration {
        self.ended - self.began
    }
}

/// The mounted file system. It is unmounted when this is dropped.
pub struct FaultyFile {
    _session: BackgroundSession,
    path: PathBuf,
    reads: Arc<Mutex<Vec<ServedRead>>>,
}

impl FaultyFile {
    /// Mounts a file system below `directory` whose only file has this content.
    pub fn mount(directory: &Path, content: Vec<u8>, rules: &[Rule]) -> io::Result<FaultyFile> {
        let uncached = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        Self::mount_as(uncached, directory, content, rules)
    }

    /// The same with a file that can be mapped, so that its pages are cached.
    pub fn mount_cached(directory: &Path, content: Vec<u8>, rules: &[Rule]) -> io::Result<FaultyFile> {
        Self::mount_as(FopenFlags::empty(), directory, content, rules)
    }

    fn mount_as(
        open_flags: FopenFlags,
        directory: &Path,
        content: Vec<u8>,
        rules: &[Rule],
    ) -> io::Result<FaultyFile> {
        let mountpoint = directory.join("faulty");
        std::fs::create_dir(&mountpoint)?;
        let state = State { content, rules: rules.to_vec() };
        let reads = Arc::default();
        let file = OneFile { open_flags, state: Mutex::new(state), reads: Arc::clone(&reads) };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("faulty".to_owned()), MountOption::NoAtime];
        // So that late calls do not wait for each other.
        config.n_threads = Some(4);
        let session = fuser::spawn_mount(file, &mountpoint, &config)?;
        Ok(FaultyFile { _session: session, path: mountpoint.join("file"), reads })
    }

    /// All reads so far, in the order in which they ended.
    pub fn reads(&self) -> Vec<ServedRead> {
        self.reads.lock().unwrap().clone()
    }

    /// The path of the file.
    pub fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

struct State {
    content: Vec<u8>,
    rules: Vec<Rule>,
}

struct OneFile {
    open_flags: FopenFlags,
    state: Mutex<State>,
    reads: Arc<Mutex<Vec<ServedRead>>>,
}

const FILE: INodeNo = INodeNo(2);
const UNCACHED: Duration = Duration::ZERO;
/// A late call that is nearly due is waited for without sleep.
const TIMER_SLACK: Duration = Duration::from_millis(1);

impl OneFile {
    fn attributes(&self, ino: INodeNo) -> FileAttr {
        let (kind, perm, size) = match ino {
            FILE => (FileType::RegularFile, 0o666, self.state.lock().unwrap().content.len() as u64),
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

    /// The fault that hits a call for these bytes, if any.
    fn fault(&self, call: Call, bytes: Range<u64>) -> Option<Fault> {
        let mut state = self.state.lock().unwrap();
        let hit = |rule: &Rule| match rule.when {
            When::Always => rule.call == call,
            When::OnceAt(at) | When::At(at) => rule.call == call && bytes.contains(&at),
        };
        let at = state.rules.iter().position(hit)?;
        match state.rules[at].when {
            When::OnceAt(_) => Some(state.rules.remove(at).fault),
            _ => Some(state.rules[at].fault),
        }
    }
}

/// Makes a call late.
fn wait(time: Duration) {
    let began = Instant::now();
    // A timer may fire later by more than what a test measures.
    thread::sleep(time.saturating_sub(TIMER_SLACK));
    while began.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn number(error: nix::errno::Errno) -> Errno {
    Errno::from_i32(error as i32)
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
        size: Option<u64>,
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
        if let Some(size) = size {
            self.state.lock().unwrap().content.resize(size as usize, 0);
        }
        reply.attr(&UNCACHED, &self.attributes(ino));
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
        let began = Instant::now();
        let fault = self.fault(Call::Read, offset..offset + u64::from(size));
        let mut data = {
            let state = self.state.lock().unwrap();
            let begin = state.content.len().min(offset as usize);
            let end = state.content.len().min(begin + size as usize);
            state.content[begin..end].to_vec()
        };
        match fault {
            Some(Fault::Error(error)) => return reply.error(number(error)),
            Some(Fault::Short(bytes)) => data.truncate(bytes),
            Some(Fault::Late(time)) => wait(time),
            Some(Fault::FlippedBit { at, bit }) => data[(at - offset) as usize] ^= 1 << bit,
            Some(Fault::Torn(_) | Fault::Misdirected(_)) | None => {}
        }
        self.reads.lock().unwrap().push(ServedRead { began, ended: Instant::now() });
        reply.data(&data);
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
        let (mut stored, mut at) = (None, offset as usize);
        let data = match self.fault(Call::Write, offset..offset + data.len() as u64) {
            Some(Fault::Error(error)) => return reply.error(number(error)),
            Some(Fault::Short(bytes)) => &data[..bytes],
            Some(Fault::Late(time)) => {
                wait(time);
                data
            }
            Some(Fault::Torn(bytes)) => {
                stored = Some(bytes);
                data
            }
            Some(Fault::Misdirected(to)) => {
                at = to as usize;
                data
            }
            Some(Fault::FlippedBit { .. }) | None => data,
        };
        let mut state = self.state.lock().unwrap();
        let arrived = &data[..stored.unwrap_or(data.len())];
        let end = at + arrived.len();
        if state.content.len() < end {
            state.content.resize(end, 0);
        }
        state.content[at..end].copy_from_slice(arrived);
        reply.written(data.len() as u32);
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.fault(Call::Fsync, 0..1) {
            Some(Fault::Error(error)) => reply.error(number(error)),
            Some(Fault::Late(time)) => {
                wait(time);
                reply.ok();
            }
            _ => reply.ok(),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }
}
