//! Reconstructs seeds from the random body of a block: each row of 32 bytes is four multiples of one value, and that value is the seed of
//! the block times a power of a constant. So a row in its place reveals the seed without any header.

/// From one row to the next, every word is multiplied by this.
const FACTOR: u64 = 0x61C8_8646_80B5_83EB;
/// The inverse of `FACTOR` modulo 2^64.
const INVERSE: u64 = inverse(FACTOR);
/// Bytes of a row.
pub(super) const ROW: usize = 32;

/// By Newton's method, which doubles the number of correct bits in each step; three are correct at the start.
const fn inverse(odd: u64) -> u64 {
    let mut result = odd;
    let mut steps = 0;
    while steps < 5 {
        result = result.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(result)));
        steps += 1;
    }
    result
}

/// The seed of the body in which `bytes` is the row with this index; `None` if it cannot be such a row. Zeros cannot.
pub(super) fn seed_of_row(bytes: &[u8], row: usize) -> Option<u64> {
    let words = bytes.first_chunk::<ROW>()?.as_chunks::<8>().0;
    let value = u64::from_le_bytes(words[0]);
    let is_multiple =
        |word: usize, factor: u64| u64::from_le_bytes(words[word]) == value.wrapping_mul(factor);
    let is_row = value != 0 && is_multiple(1, 2) && is_multiple(2, 3) && is_multiple(3, 5);
    is_row.then(|| value.wrapping_mul(power(INVERSE, row as u64)))
}

/// Corrects a seed that was derived from row numbers which are too low by `rows`.
pub(super) fn moved_seed(seed: u64, rows: i64) -> u64 {
    let base = if rows < 0 { FACTOR } else { INVERSE };
    seed.wrapping_mul(power(base, rows.unsigned_abs()))
}

/// The seeds of the rows of a block, the most frequent first, at most `max_seeds`. `begins` is the position of the first byte of `bytes` in
/// the body.
pub(super) fn seeds_in(bytes: &[u8], begins: usize, max_seeds: usize) -> Vec<u64> {
    let mut seeds: Vec<(u64, usize)> = Vec::new();
    let first = begins.next_multiple_of(ROW);
    for (index, row) in bytes.get(first - begins..).unwrap_or_default().chunks_exact(ROW).enumerate() {
        let Some(seed) = seed_of_row(row, first / ROW + index) else { continue };
        // Rows of one seed are adjacent: the previous one is nearly always the right one.
        match seeds.iter().rposition(|&(known, _)| known == seed) {
            Some(at) => seeds[at].1 += 1,
            // A block with more seeds than this has no random body, only data that resembles rows.
            None if seeds.len() < 16 * max_seeds => seeds.push((seed, 1)),
            None => {}
        }
    }
    seeds.sort_by_key(|&(_, rows)| std::cmp::Reverse(rows));
    seeds.into_iter().map(|(seed, _)| seed).take(max_seeds).collect()
}

/// The index of the row with this value in the body of `seed`, if it is among the first `rows`.
///
/// The index is the logarithm of their quotient to the base [`FACTOR`]. Modulo 2^64 it is found bit by bit, however many rows there are.
pub(super) fn row_of(value: u64, seed: u64, rows: usize) -> Option<usize> {
    let zeros = seed.trailing_zeros();
    if value.trailing_zeros() != zeros {
        return None;
    }
    // Both are odd multiples of this power of two, so that only the bits above it tell powers apart.
    let bits = u64::BITS - zeros;
    let (Some(value), Some(seed)) = (value.checked_shr(zeros), seed.checked_shr(zeros)) else {
        return (rows > 0).then_some(0);
    };
    let mut rest = value.wrapping_mul(inverse(seed));
    let (mut row, mut step) = (0u64, INVERSE);
    // The lowest bit above bit 0 that is set in the factor is bit 1. In its square it is bit 3, and with each further squaring the next one.
    for bit in [1].into_iter().chain(3..bits).take_while(|&bit| bit < bits) {
        if rest >> bit & 1 == 1 {
            rest = rest.wrapping_mul(step);
            row |= 1 << bit.saturating_sub(2);
        }
        step = step.wrapping_mul(step);
    }
    let is_power = rest & (u64::MAX >> zeros) == 1;
    usize::try_from(row).ok().filter(|&row| is_power && row < rows)
}

fn power(base: u64, exponent: u64) -> u64 {
    let (mut result, mut square, mut left) = (1u64, base, exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(square);
        }
        square = square.wrapping_mul(square);
        left >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verifier::tests::body;

    #[test]
    fn every_row_gives_the_seed_and_anything_else_gives_none() {
        assert_eq!(FACTOR.wrapping_mul(INVERSE), 1);
        for seed in [46_386_204_153_304_124, 1, u64::MAX] {
            let mut block = vec![0; 4096];
            body(&mut block, seed);
            for (index, row) in block.chunks(ROW).enumerate() {
                assert_eq!(seed_of_row(row, index), Some(seed));
                let value = seed_of_row(row, 0).expect("a row");
                assert_eq!((row_of(value, seed, 128), row_of(value, seed, index)), (Some(index), None));
            }
            block[100] ^= 1;
            assert_eq!(seed_of_row(&block[96..], 3), None);
        }
        assert_eq!(seed_of_row(&[0; 32], 0), None);
        assert_eq!(seed_of_row(&[1; 31], 0), None);
    }

    #[test]
    fn a_row_is_found_without_a_walk_to_it() {
        let far = (1 << 40) + 5;
        for seed in [46_386_204_153_304_124, 1, 6, u64::MAX] {
            let value = seed.wrapping_mul(power(FACTOR, far));
            assert_eq!(row_of(value, seed, usize::MAX), Some(far as usize));
            assert_eq!(row_of(value, seed, far as usize), None);
            // All powers of the factor are 1 or 3 modulo 8.
            assert_eq!(row_of(value.wrapping_mul(5), seed, usize::MAX), None);
        }
    }

    #[test]
    fn rows_of_a_seed_with_few_bits_left_repeat_and_the_first_is_found() {
        for zeros in 56..64 {
            let seed = 1u64 << zeros;
            let walk = |value: u64| (0..1000).find(|&row| seed.wrapping_mul(power(FACTOR, row)) == value);
            for high in 0..1u64 << (64 - zeros) {
                let value = high << zeros;
                assert_eq!(row_of(value, seed, 1000).map(|row| row as u64), walk(value), "{value} of {seed}");
            }
        }
        assert_eq!((row_of(0, 0, 1), row_of(0, 0, 0), row_of(1, 0, 9)), (Some(0), None, None));
    }

    #[test]
    fn seeds_come_in_the_order_of_their_share() {
        let mut block = vec![0; 4096];
        body(&mut block, 7);
        let mut other = vec![0; 4096];
        body(&mut other, 9);
        block[1024..].copy_from_slice(&other[1024..]);
        assert_eq!(seeds_in(&block, 0, 8), [9, 7]);
        assert_eq!(seeds_in(&block[40..], 40, 1), [9]);
    }
}
