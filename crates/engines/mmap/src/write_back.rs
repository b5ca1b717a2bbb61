//! CPU instructions that write data from the caches to persistent memory.
//!
//! A store is durable when its cache line has been written back and a barrier has waited for that. Stores that bypass the caches only need
//! the barrier.

use std::ptr;

/// The way this CPU writes a cache line back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriteBack {
    instruction: Instruction,
    /// Cache line size in bytes, a power of two.
    line: usize,
}

/// The address of each line that these bytes touch.
fn lines(start: usize, len: usize, line: usize) -> impl Iterator<Item = usize> {
    let first = start & !(line - 1);
    let end = if len == 0 { first } else { start + len };
    (first..end).step_by(line)
}

impl WriteBack {
    /// Starts writing back the lines of these bytes, in any order; [`drain`] waits for the end.
    ///
    /// # Safety
    /// The bytes must be readable. If a page of them is missing, SIGBUS is handled.
    pub(crate) unsafe fn write_back(self, start: *const u8, len: usize) {
        for line in lines(start.addr(), len, self.line) {
            // SAFETY: the line contains at least one of the bytes, and `detect` found that this CPU has the instruction.
            unsafe { self.instruction.run(start.with_addr(line)) };
        }
    }

    /// Copies `len` bytes past the caches where this CPU can, and writes back the others; [`drain`] waits for both.
    ///
    /// # Safety
    /// See [`ptr::copy_nonoverlapping`]. If a page at `to` is missing, SIGBUS is handled.
    pub(crate) unsafe fn copy_past_caches(self, from: *const u8, to: *mut u8, len: usize) {
        let (head, whole) = whole_lines(to.addr(), len, self.line);
        let tail = head + whole;
        // SAFETY: the three parts together are `len` bytes of both sides; the middle part is whole lines of `to`. The first and last parts
        // are written back after the copy and can be read.
        unsafe {
            ptr::copy_nonoverlapping(from, to, head);
            self.write_back(to, head);
            stream(from.add(head), to.add(head), whole, self);
            ptr::copy_nonoverlapping(from.add(tail), to.add(tail), len - tail);
            self.write_back(to.add(tail), len - tail);
        }
    }
}

/// The number of bytes before the first whole line of a range, and of its whole lines.
fn whole_lines(start: usize, len: usize, line: usize) -> (usize, usize) {
    let head = (start.wrapping_neg() & (line - 1)).min(len);
    (head, (len - head) & !(line - 1))
}

#[cfg(target_arch = "x86_64")]
use x86_64::{Instruction, stream};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{detect, drain};

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::asm;
    use std::arch::x86_64::{
        __cpuid, __cpuid_count, __m128i, _mm_clflush, _mm_loadu_si128, _mm_sfence, _mm_stream_si128,
    };

    use super::WriteBack;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Instruction {
        /// Keeps the line in the cache.
        Clwb,
        /// Evicts the line; several run at once.
        ClflushOpt,
        /// Evicts the line; one at a time. Every CPU has it.
        Clflush,
    }

    /// Cache line size of all x86-64 CPUs made so far.
    const LINE_BYTES: usize = 64;

    /// The best instruction of this CPU.
    pub(crate) fn detect() -> Option<WriteBack> {
        Some(WriteBack { instruction: Instruction::of_this_cpu()[0], line: LINE_BYTES })
    }

    impl Instruction {
        /// The instructions of this CPU, best first.
        pub(super) fn of_this_cpu() -> Vec<Instruction> {
            let features = if __cpuid(0).eax >= 7 { __cpuid_count(7, 0).ebx } else { 0 };
            let mut found = Vec::with_capacity(3);
            if features & 1 << 24 != 0 {
                found.push(Instruction::Clwb);
            }
            if features & 1 << 23 != 0 {
                found.push(Instruction::ClflushOpt);
            }
            found.push(Instruction::Clflush);
            found
        }

        /// # Safety
        /// This CPU must have the instruction, and the line at `line` must be readable.
        #[inline]
        pub(super) unsafe fn run(self, line: *const u8) {
            // SAFETY: none of the three changes the contents of memory.
            unsafe {
                match self {
                    Instruction::Clwb => asm!("clwb [{}]", in(reg) line, options(nostack, preserves_flags)),
                    Instruction::ClflushOpt => {
                        asm!("clflushopt [{}]", in(reg) line, options(nostack, preserves_flags));
                    }
                    Instruction::Clflush => _mm_clflush(line),
                }
            }
        }
    }

    /// Waits until all data written back, or stored past the caches, has arrived.
    #[inline]
    pub(crate) fn drain() {
        // SAFETY: every x86-64 CPU has the instruction.
        unsafe { _mm_sfence() };
    }

    /// Stores whole lines past the caches.
    ///
    /// # Safety
    /// See [`std::ptr::copy_nonoverlapping`]; `to` and `len` must be multiples of the line size.
    #[inline]
    pub(super) unsafe fn stream(from: *const u8, to: *mut u8, len: usize, _: WriteBack) {
        for at in (0..len).step_by(size_of::<__m128i>()) {
            // SAFETY: 16 bytes of both sides begin at `at`; those of `to` are aligned, as lines are.
            unsafe { _mm_stream_si128(to.add(at).cast(), _mm_loadu_si128(from.add(at).cast())) };
        }
    }
}

#[cfg(target_arch = "aarch64")]
use aarch64::{Instruction, stream};
#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{detect, drain};

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use std::arch::{asm, is_aarch64_feature_detected};

    use super::WriteBack;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Instruction {
        /// DC CVAP: to the point of persistence.
        ToPersistence,
        /// DC CVAC: to the point of coherency, the most that older CPUs can do.
        ToCoherency,
    }

    /// The best instruction of this CPU.
    pub(crate) fn detect() -> Option<WriteBack> {
        let kind: u64;
        // SAFETY: Linux lets programs read the cache type register, and reading has no effect.
        unsafe { asm!("mrs {}, ctr_el0", out(reg) kind, options(nomem, nostack, preserves_flags)) };
        // DminLine: the smallest line of all data caches, as a power of two of words.
        let line = 4 << ((kind >> 16) & 0xf);
        Some(WriteBack { instruction: Instruction::of_this_cpu()[0], line })
    }

    impl Instruction {
        /// The instructions of this CPU, best first.
        pub(super) fn of_this_cpu() -> Vec<Instruction> {
            if is_aarch64_feature_detected!("dpb") {
                return vec![Instruction::ToPersistence, Instruction::ToCoherency];
            }
            vec![Instruction::ToCoherency]
        }

        /// # Safety
        /// This CPU must have the instruction, and the line at `line` must be readable.
        #[inline]
        pub(super) unsafe fn run(self, line: *const u8) {
            // SAFETY: neither changes the contents of memory, and Linux lets programs use both. They are written as system instructions
            // because assemblers for the first ARMv8 do not know the name of the first.
            unsafe {
                match self {
                    Instruction::ToPersistence => {
                        asm!("sys #3, c7, c12, #1, {}", in(reg) line, options(nostack, preserves_flags));
                    }
                    Instruction::ToCoherency => {
                        asm!("dc cvac, {}", in(reg) line, options(nostack, preserves_flags));
                    }
                }
            }
        }
    }

    /// Waits until all data written back has arrived.
    #[inline]
    pub(crate) fn drain() {
        // SAFETY: a barrier waits and changes nothing.
        unsafe { asm!("dsb sy", options(nostack, preserves_flags)) };
    }

    /// Copies whole lines and writes them back: this CPU has no stores that reliably bypass its caches.
    ///
    /// # Safety
    /// See [`std::ptr::copy_nonoverlapping`].
    #[inline]
    pub(super) unsafe fn stream(from: *const u8, to: *mut u8, len: usize, how: WriteBack) {
        // SAFETY: by the contract of this function.
        unsafe {
            std::ptr::copy_nonoverlapping(from, to, len);
            how.write_back(to, len);
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use other::{Instruction, stream};
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use other::{detect, drain};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod other {
    use super::WriteBack;

    /// No instruction is known.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Instruction {}

    impl Instruction {
        pub(super) unsafe fn run(self, _: *const u8) {
            match self {}
        }
    }

    /// No instruction of these CPUs is known to make data durable.
    pub(crate) fn detect() -> Option<WriteBack> {
        None
    }

    pub(crate) fn drain() {}

    pub(super) unsafe fn stream(_: *const u8, _: *mut u8, _: usize, how: WriteBack) {
        match how.instruction {}
    }
}

#[cfg(test)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_all_lines_that_it_touches_and_no_other() {
        let all = |start, len| lines(start, len, 64).collect::<Vec<_>>();
        assert_eq!(all(0, 64), [0]);
        assert_eq!(all(128, 128), [128, 192]);
        assert_eq!(all(100, 1), [64]);
        assert_eq!(all(127, 2), [64, 128]);
        assert_eq!(all(100, 200), [64, 128, 192, 256]);
        assert!(all(100, 0).is_empty() && all(128, 0).is_empty());
    }

    #[test]
    fn whole_lines_are_those_that_a_range_covers() {
        assert_eq!(whole_lines(128, 256, 64), (0, 256));
        assert_eq!(whole_lines(100, 256, 64), (28, 192));
        assert_eq!(whole_lines(127, 64, 64), (1, 0));
        assert_eq!(whole_lines(127, 65, 64), (1, 64));
        assert_eq!(whole_lines(65, 10, 64), (10, 0), "the range ends before a line begins");
        assert_eq!(whole_lines(64, 0, 64), (0, 0));
    }

    #[test]
    fn every_instruction_of_this_cpu_leaves_the_bytes_as_they_are() {
        let line = detect().unwrap().line;
        assert!(line.is_power_of_two());
        let from: Vec<u8> = (0..1024).map(|at| (at * 7) as u8).collect();
        for instruction in Instruction::of_this_cpu() {
            let how = WriteBack { instruction, line };
            for (start, len) in (0..70).flat_map(|start| [0, 1, 63, 64, 65, 300].map(|len| (start, len))) {
                let mut to = vec![0xee_u8; 1024];
                // SAFETY: both have more than 370 bytes, and none in common.
                unsafe {
                    how.copy_past_caches(from.as_ptr().add(5), to.as_mut_ptr().add(start), len);
                    how.write_back(to.as_ptr().add(start), len);
                }
                drain();
                assert_eq!(to[start..start + len], from[5..5 + len], "{instruction:?} {start} {len}");
                let untouched = to[..start].iter().chain(&to[start + len..]).all(|&byte| byte == 0xee);
                assert!(untouched, "{instruction:?} {start} {len}");
            }
        }
    }
}
