//! A file system of one file that misbehaves on request.
//!
//! The kernel caches nothing of it, unless the file is mounted for mappings.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fuser::FopenFlags;
use nix::errno::Errno;

use crate::one_file::{Content, Mounted, UNCACHED, piece};

/// The fault of a call.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// The call fails.
    Error(Errno),
    /// The call moves only this many bytes.
    Short(usize),
    /// The call succeeds after this time, to within microseconds.
    Late(Duration),
    /// The call does not end before the file system is dropped.
    Never,
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
    mounted: Mounted,
    file: Arc<Faulty>,
}

impl FaultyFile {
    /// Mounts a file system below `directory` whose only file has this content.
    pub fn mount(directory: &Path, content: Vec<u8>, rules: &[Rule]) -> io::Result<FaultyFile> {
        Self::mount_as(UNCACHED, directory, content, rules)
    }

    /// Mounts a file that can be mapped, so that its pages are cached.
    pub fn mount_cached(directory: &Path, content: Vec<u8>, rules: &[Rule]) -> io::Result<FaultyFile> {
        Self::mount_as(FopenFlags::empty(), directory, content, rules)
    }

    fn mount_as(
        open_flags: FopenFlags,
        directory: &Path,
        content: Vec<u8>,
        rules: &[Rule],
    ) -> io::Result<FaultyFile> {
        let state = Mutex::new(State { content, rules: rules.to_vec() });
        let file = Arc::new(Faulty {
            state,
            reads: Mutex::default(),
            hanging: AtomicUsize::default(),
            over: Mutex::default(),
            ends: Condvar::default(),
        });
        let mounted = Mounted::new(Arc::clone(&file), directory, "faulty", open_flags)?;
        Ok(FaultyFile { mounted, file })
    }

    /// All reads so far, in the order in which they ended.
    pub fn reads(&self) -> Vec<ServedRead> {
        self.file.reads.lock().unwrap().clone()
    }

    /// Number of calls so far that never end.
    pub fn hanging(&self) -> usize {
        self.file.hanging.load(SeqCst)
    }

    /// The path of the file.
    pub fn path(&self) -> &str {
        self.mounted.path()
    }
}

impl Drop for FaultyFile {
    /// Calls that never end do so now.
    fn drop(&mut self) {
        *self.file.over.lock().unwrap() = true;
        self.file.ends.notify_all();
    }
}

struct State {
    content: Vec<u8>,
    rules: Vec<Rule>,
}

struct Faulty {
    state: Mutex<State>,
    reads: Mutex<Vec<ServedRead>>,
    /// Calls that do not end before the file system is dropped.
    hanging: AtomicUsize,
    /// The file system is dropped.
    over: Mutex<bool>,
    ends: Condvar,
}

/// A late call that is nearly due is waited for without sleep.
const TIMER_SLACK: Duration = Duration::from_millis(1);

impl Faulty {
    fn wait_for_end(&self) {
        self.hanging.fetch_add(1, SeqCst);
        let over = self.over.lock().unwrap();
        drop(self.ends.wait_while(over, |over| !*over).unwrap());
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

impl Content for Faulty {
    fn size(&self) -> u64 {
        self.state.lock().unwrap().content.len() as u64
    }

    fn resize(&self, size: u64) {
        self.state.lock().unwrap().content.resize(size as usize, 0);
    }

    fn read(&self, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        let began = Instant::now();
        let fault = self.fault(Call::Read, offset..offset + u64::from(size));
        let mut data = piece(&self.state.lock().unwrap().content, offset, size);
        match fault {
            Some(Fault::Error(error)) => return Err(error),
            Some(Fault::Short(bytes)) => data.truncate(bytes),
            Some(Fault::Late(time)) => wait(time),
            Some(Fault::Never) => self.wait_for_end(),
            Some(Fault::FlippedBit { at, bit }) => data[(at - offset) as usize] ^= 1 << bit,
            Some(Fault::Torn(_) | Fault::Misdirected(_)) | None => {}
        }
        self.reads.lock().unwrap().push(ServedRead { began, ended: Instant::now() });
        Ok(data)
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<u32, Errno> {
        let (mut stored, mut at) = (None, offset as usize);
        let data = match self.fault(Call::Write, offset..offset + data.len() as u64) {
            Some(Fault::Error(error)) => return Err(error),
            Some(Fault::Short(bytes)) => &data[..bytes],
            Some(Fault::Late(time)) => {
                wait(time);
                data
            }
            Some(Fault::Never) => {
                self.wait_for_end();
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
        Ok(data.len() as u32)
    }

    fn sync(&self) -> Result<(), Errno> {
        match self.fault(Call::Fsync, 0..1) {
            Some(Fault::Error(error)) => return Err(error),
            Some(Fault::Late(time)) => wait(time),
            Some(Fault::Never) => self.wait_for_end(),
            _ => {}
        }
        Ok(())
    }
}
