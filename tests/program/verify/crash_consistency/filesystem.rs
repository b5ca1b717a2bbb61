//! A file system of one file whose data is in memory until it is synced. It kills the program at a write, and then loses its power.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::{io, thread};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::one_file::{Content, Mounted, UNCACHED, piece};

/// The fault of the file system, and its time. Writes are named by the numbers in the headers of their blocks.
#[derive(Clone, Debug, Default)]
pub struct Habits {
    /// These never reach the disk, although a sync says so.
    pub drops: BTreeSet<u64>,
    /// The program is killed at the write after this many.
    pub kills_after: usize,
}

/// The mounted file system. It is unmounted when this is dropped.
pub struct Disk {
    mounted: Mounted,
    file: Arc<Volatile>,
}

#[derive(Default)]
struct State {
    habits: Habits,
    /// Data that survives.
    disk: Vec<u8>,
    /// Writes since the last sync.
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
        let state = Mutex::new(State { habits, disk: vec![0; size], ..State::default() });
        let file = Arc::new(Volatile { state });
        Ok(Disk { mounted: Mounted::new(Arc::clone(&file), directory, "disk", UNCACHED)?, file })
    }

    pub fn path(&self) -> &str {
        self.mounted.path()
    }

    /// Names the program to kill. Until then the fatal write waits.
    pub fn kills(&self, program: Pid) {
        self.file.state.lock().unwrap().program = Some(program);
    }

    /// Forgets what is not on disk, and serves what is.
    pub fn lose_power(&self) {
        let mut state = self.file.state.lock().unwrap();
        assert!(state.is_killed, "the program ended before its last write");
        state.cache.clear();
    }

    /// Where each write went that a sync has acknowledged; by number.
    pub fn synced(&self) -> BTreeMap<u64, u64> {
        self.file.state.lock().unwrap().synced.clone()
    }
}

/// The number in the header of a block.
fn number(block: &[u8]) -> u64 {
    assert_eq!(block[..2], [0xca, 0xac], "a block without a header");
    u64::from_le_bytes(block[32..40].try_into().unwrap())
}

struct Volatile {
    state: Mutex<State>,
}

impl Volatile {
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

impl Content for Volatile {
    fn size(&self) -> u64 {
        self.state.lock().unwrap().disk.len() as u64
    }

    fn read(&self, offset: u64, size: u32) -> Result<Vec<u8>, Errno> {
        Ok(piece(&self.state.lock().unwrap().disk, offset, size))
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<u32, Errno> {
        let mut state = self.state.lock().unwrap();
        if state.is_killed {
            return Err(Errno::EIO);
        }
        state.writes += 1;
        if state.writes > state.habits.kills_after {
            drop(state);
            self.kill();
            return Err(Errno::EIO);
        }
        state.cache.push((offset, data.to_vec()));
        Ok(data.len() as u32)
    }

    fn sync(&self) -> Result<(), Errno> {
        let mut guard = self.state.lock().unwrap();
        let state = &mut *guard;
        if state.is_killed {
            return Err(Errno::EIO);
        }
        for (offset, data) in state.cache.drain(..) {
            let write = number(&data);
            state.synced.insert(write, offset);
            if !state.habits.drops.contains(&write) {
                state.disk[offset as usize..][..data.len()].copy_from_slice(&data);
            }
        }
        Ok(())
    }
}
