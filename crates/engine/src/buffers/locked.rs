//! Memory that is locked to take it from the machine (`lockmem`). No I/O uses it.

use std::io;
use std::ops::Range;

use nix::errno::Errno;
use nix::unistd::{SysconfVar, sysconf};

use super::area::MappedMemory;
use crate::EngineError;

/// Memory that one call locks: the kernel clears it meanwhile, some 0.1 s, and does not look at signals that end a run.
const PIECE: usize = 128 << 20;

/// Locked memory, given back when this is dropped.
#[derive(Debug)]
pub struct LockedMemory {
    _memory: MappedMemory,
}

impl LockedMemory {
    /// Locks `bytes` of memory, page by page, or less if `stopped` becomes true meanwhile.
    ///
    /// # Errors
    /// mlock(2)'s error, with advice: ENOMEM or EPERM beyond RLIMIT_MEMLOCK, ENOMEM when there is not as much memory.
    pub fn lock(bytes: usize, stopped: impl Fn() -> bool) -> Result<Self, EngineError> {
        // The kernel would lock page after page, and end some program when there are no more.
        if machine_bytes().is_some_and(|all| bytes >= all) {
            return Err(EngineError::new("mlock", Errno::ENOMEM).hint_for(advice));
        }
        let memory = MappedMemory::anonymous(bytes, libc::MAP_NORESERVE)?;
        for start in (0..bytes).step_by(PIECE).take_while(|_| !stopped()) {
            let piece = start..bytes.min(start + PIECE);
            memory.lock(piece).map_err(|e| EngineError::new("mlock", e).hint_for(advice))?;
        }
        Ok(LockedMemory { _memory: memory })
    }
}

/// All memory of the machine.
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
    /// Locks a part, in bytes from the beginning.
    fn lock(&self, part: Range<usize>) -> io::Result<()> {
        let (start, length) = self.range();
        assert!(part.start <= part.end && part.end <= length);
        // SAFETY: the part is within the mapping that `self` owns; locking changes no contents. Unmapping unlocks it.
        if unsafe { libc::mlock(start.as_ptr().add(part.start).cast(), part.len()) } == 0 {
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
        let kib = |bytes: usize| bytes as u64 >> 10;
        for (bytes, stops_after, locked) in
            [(64 << 10, 9, 64 << 10), (PIECE + 4096, 9, PIECE + 4096), (3 * PIECE, 2, 2 * PIECE)]
        {
            let asked = Cell::new(0);
            let stopped = || asked.replace(asked.get() + 1) == stops_after;
            let memory = LockedMemory::lock(bytes, stopped).unwrap();
            assert_eq!(locked_kib(), before + kib(locked));
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
