//! 64-bit divisions.
#![allow(unsafe_code)]

/// The smallest divisor of `number` between 2 and its square root.
#[inline]
pub(crate) fn least_divisor(number: u32) -> Option<u64> {
    // C compilers turn sysbench's first division, by 2, into a test of one bit.
    if number.is_multiple_of(2) {
        return (number >= 4).then_some(2);
    }
    // SAFETY: the root of a 32-bit number is finite and has 17 bits at most. A checked conversion costs 1 %.
    let last = unsafe { f64::from(number).sqrt().to_int_unchecked::<i64>() } as u64;
    let number = u64::from(number);
    let mut divisor = 3_u64;
    while divisor <= last {
        // SAFETY: the divisor is at least 3.
        if unsafe { remainder(number, divisor) } == 0 {
            return Some(divisor);
        }
        divisor += 1;
    }
    None
}

/// The remainder of a 64-bit division. LLVM compiles `%` to a branch with a 32-bit division for operands that fit in 32 bits, which would
/// be different work from sysbench's.
///
/// # Safety
/// `divisor` must not be 0.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn remainder(number: u64, divisor: u64) -> u64 {
    let remainder: u64;
    // SAFETY: neither of the two faults of `div` happens: the divisor is not 0, and with a high half of 0 the quotient fits.
    unsafe {
        std::arch::asm!(
            "div {divisor}",
            divisor = in(reg) divisor,
            inout("rax") number => _,
            inout("rdx") 0_u64 => remainder,
            options(pure, nomem, nostack),
        );
    }
    remainder
}

/// The remainder of a 64-bit division.
///
/// # Safety
/// `divisor` must not be 0.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
unsafe fn remainder(number: u64, divisor: u64) -> u64 {
    number % divisor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remainders_have_64_bits() {
        for (number, divisor) in
            [(17, 5), (0, 3), (u64::MAX, 10), (u64::MAX, u64::MAX), (1 << 40, (1 << 33) + 1)]
        {
            // SAFETY: none of them is 0.
            assert_eq!(unsafe { remainder(number, divisor) }, number % divisor);
        }
    }

    #[test]
    fn the_least_divisor_is_at_most_the_root() {
        let numbers = [0, 2, 3, 4, 8, 9, 25, 35, 49, 97, u32::MAX, u32::MAX - 4];
        let least =
            [None, None, None, Some(2), Some(2), Some(3), Some(5), Some(5), Some(7), None, Some(3), None];
        assert_eq!(numbers.map(least_divisor), least);
    }
}
