//! System calls that run once per I/O, without the C library: its `syscall` shifts all arguments by one register and stores the error in
//! the thread-local `errno`, which costs another load.

/// Makes a system call with up to six arguments; the rest is 0. Returns the result or the negated errno.
///
/// # Safety
/// All pointers among the arguments must stay valid while the kernel uses them.
#[inline(always)]
#[must_use]
pub unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> i64 {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: guaranteed by the caller.
    unsafe { raw(number, a, b, c, d, e, f) }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn raw(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64 {
    let answer: i64;
    // SAFETY: the registers are those of the kernel's interface; it changes rax, rcx and r11. Memory is not declared untouched.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") number => answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    answer
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn raw(number: i64, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64 {
    let answer: i64;
    // SAFETY: the registers are those of the kernel's interface, which changes x0 alone. Memory is not declared untouched.
    unsafe {
        std::arch::asm!(
            "svc 0",
            inlateout("x0") a => answer,
            in("x1") b, in("x2") c, in("x3") d, in("x4") e, in("x5") f, in("x8") number,
            options(nostack),
        );
    }
    answer
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
unsafe fn raw(number: libc::c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> i64 {
    // SAFETY: guaranteed by the caller.
    match unsafe { libc::syscall(number, a, b, c, d, e, f) } {
        -1 => -i64::from(nix::errno::Errno::last_raw()),
        answer => i64::from(answer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_arrive_in_order_and_errors_are_negative() {
        let source = *b"abcdef";
        let mut target = [0; 6];
        let mut pipe = [0; 2];
        // SAFETY: the kernel writes two descriptors.
        assert_eq!(unsafe { call(libc::SYS_pipe2, [pipe.as_mut_ptr() as usize, 0, 0, 0, 0, 0]) }, 0);
        let ends = pipe.map(|end: i32| end as usize);
        // SAFETY: both buffers are as long as is said.
        unsafe {
            assert_eq!(call(libc::SYS_write, [ends[1], source.as_ptr() as usize, 6, 0, 0, 0]), 6);
            assert_eq!(call(libc::SYS_read, [ends[0], target.as_mut_ptr() as usize, 6, 0, 0, 0]), 6);
            assert_eq!(target, source);
            // An mmap takes six arguments, the last of which must be a multiple of a page.
            let map = |offset| call(libc::SYS_mmap, [0, 4096, 1, 0x22, usize::MAX, offset]);
            assert_eq!(map(1), -i64::from(libc::EINVAL));
            let address = map(0);
            assert!(address > 0);
            assert_eq!(call(libc::SYS_munmap, [address as usize, 4096, 0, 0, 0, 0]), 0);
            for end in ends {
                assert_eq!(call(libc::SYS_close, [end, 0, 0, 0, 0, 0]), 0);
                assert_eq!(call(libc::SYS_close, [end, 0, 0, 0, 0, 0]), -i64::from(libc::EBADF));
            }
        }
    }
}
