//! The mixing step of splitmix64.

/// Added to a number before it is mixed; its multiples are spread over all 64-bit numbers.
pub(crate) const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A number whose bits depend on all bits of the given one: neighbouring numbers become unrelated.
pub(crate) fn scramble(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(GOLDEN_GAMMA);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
