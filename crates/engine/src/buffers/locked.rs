//! Memory that is locked to simulate a machine with less of it (`lockmem`). No I/O uses it.

use std::io;
use std::ops::Range;

use nix::errno::Errno;
use nix::unistd::{SysconfVar, sysconf};

use super::area::MappedMemory;
use crate::EngineError;

/// Bytes that one mlock(2) locks. The kernel clears them, which takes about 0.1 s; a signal can end the run only between two calls.
const BYTES_PER_CALL: usize = 128 << 20;

/// Locked memory, freed on drop.
#[derive(Debug)]
pub struct LockedMemory {
    _memory: MappedMemory,
}

impl LockedMemory {
    /// Locks `bytes` of memory, a piece at a time. Once `stopped` returns true, returns with the pieces locked so far.
    ///
    /// # Errors
    /// mlock(2)'s error, with advice: ENOMEM or EPERM beyond RLIMIT_MEMLOCK, ENOMEM when memory is short.
    pub fn lock(bytes: usize, stopped: impl Fn() -> bool) -> Result<Self, EngineError> {
        // Otherwise the kernel would lock all memory and then kill some program.
        if machine_bytes().is_some_and(|all| bytes >= all) {
            return Err(EngineError::new("mlock", Errno::ENOMEM).hint_for(advice));
        }
        let memory = MappedMemory::anonymous(bytes, libc::MAP_NORESERVE)?;
        memory
            .lock_in_pieces(BYTES_PER_CALL, stopped)
            .map_err(|e| EngineError::new("mlock", e).hint_for(advice))?;
        Ok(LockedMemory { _memory: memory })
    }
}

/// Total memory of the machine in bytes.
fn machine_bytes() -> Option<usize> {
    let value = |what| sysconf(what).ok().flatten().and_then(|value| usize::try_from(value).ok());
    value(SysconfVar::_PHYS_PAGES)?.checked_mul(value(SysconfVar::PAGE_SIZE)?)
}

fn advice(errno: i32) -> Option<&'static str> {
    let beyond_the_limit = [libc::ENOMEM, libc::EPERM, libc::EAGAIN].contains(&errno);
    beyond_the_limit.then_some(
        "each job with lockmem locks that much memory: raise the limit of locked memory (`ulimit -l unlimited`), free \
         memory, or use a smaller lockmem",
    )
}

impl MappedMemory {
    /// Locks the mapping from its start, until `stopped` returns true.
    fn lock_in_pieces(&self, piece: usize, stopped: impl Fn() -> bool) -> io::Result<()> {
        let (_, length) = self.range();
        let mut starts = (0..length).step_by(piece).take_while(|_| !stopped());
        starts.try_for_each(|start| self.lock_range(start..length.min(start + piece)))
    }

    /// Locks a range of bytes of the mapping.
    fn lock_range(&self, range: Range<usize>) -> io::Result<()> {
        let (start, length) = self.range();
        assert!(range.start <= range.end && range.end <= length);
        // SAFETY: the range is within the mapping that `self` owns; locking changes no contents. Unmapping unlocks it.
        if unsafe { libc::mlock(start.as_ptr().add(range.start).cast(), range.len()) } == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Locked memory of this process, KiB.
    fn locked_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }

    #[test]
    fn memory_is_locked_until_it_is_dropped() {
        let before = locked_kib();
        let memory = LockedMemory::lock(64 << 10, || false).unwrap();
        assert_eq!(locked_kib(), before + 64);
        drop(memory);
        // Pieces of 16 KiB, the last of them shorter.
        for (stops_after, locked) in [(9, 40), (2, 32), (0, 0)] {
            let memory = MappedMemory::anonymous(40 << 10, libc::MAP_NORESERVE).unwrap();
            let asked = Cell::new(0);
            memory.lock_in_pieces(16 << 10, || asked.replace(asked.get() + 1) == stops_after).unwrap();
            assert_eq!(locked_kib(), before + locked);
            drop(memory);
            assert_eq!(locked_kib(), before);
        }
    }

    #[test]
    fn more_than_the_machine_has_is_an_error_with_advice() {
        for bytes in [machine_bytes().unwrap(), 1 << 50] {
            let error = LockedMemory::lock(bytes, || false).unwrap_err();
            assert_eq!(error.errno(), libc::ENOMEM);
            assert!(error.hint.unwrap().contains("smaller lockmem"));
        }
    }
}
