//! Fills buffers: with bytes of one draw, repeated patterns, or partly random blocks, and with the small changes that distinguish two
//! writes of one buffer.

/// Golden-ratio multiplier that turns one word into the next.
pub(super) const HASH: u64 = 0x61C8_8646_80B5_83EB;

/// Unit in which scrambling changes data.
const SECTOR: usize = 512;

/// Fills with words derived from one draw, in four lanes; a rest of less than four words continues the first lane alone.
///
/// Cost: a multiplication for each word, four in flight. The lanes are single variables because compilers keep them in registers, whereas
/// they try to multiply an array with vector instructions, which have no such multiplication.
pub fn fill_random(buffer: &mut [u8], draw: u64) {
    let (mut first, mut second) = (draw, draw.wrapping_mul(2));
    let (mut third, mut fourth) = (draw.wrapping_mul(3), draw.wrapping_mul(5));
    let (groups, rest) = buffer.as_chunks_mut::<32>();
    for group in groups {
        group[..8].copy_from_slice(&first.to_le_bytes());
        group[8..16].copy_from_slice(&second.to_le_bytes());
        group[16..24].copy_from_slice(&third.to_le_bytes());
        group[24..].copy_from_slice(&fourth.to_le_bytes());
        first = first.wrapping_mul(HASH);
        second = second.wrapping_mul(HASH);
        third = third.wrapping_mul(HASH);
        fourth = fourth.wrapping_mul(HASH);
    }
    let mut lane = first;
    for word in rest.chunks_mut(8) {
        word.copy_from_slice(&lane.to_le_bytes()[..word.len()]);
        lane = lane.wrapping_mul(HASH);
    }
}

/// Number of `len` bytes that stay random if `percent` of them must compress.
pub(crate) fn compressed(len: usize, percent: u32) -> usize {
    (len as u64 * u64::from(100 - percent) / 100) as usize
}

/// Fills the first `random` bytes from the draw, and the others with `padding` from its first byte on, or with zeros if it is empty.
pub(crate) fn fill_part(buffer: &mut [u8], draw: u64, random: usize, padding: &[u8]) {
    let (random, rest) = buffer.split_at_mut(random);
    fill_random(random, draw);
    if padding.is_empty() {
        rest.fill(0);
    } else {
        repeat(padding, rest);
    }
}

/// Repeats `pattern`, which is not empty, over `buffer` from its first byte.
pub(super) fn repeat(pattern: &[u8], buffer: &mut [u8]) {
    if let [byte] = pattern {
        return buffer.fill(*byte);
    }
    // Doubling the filled part keeps the copies long.
    let mut done = pattern.len().min(buffer.len());
    buffer[..done].copy_from_slice(&pattern[..done]);
    while done < buffer.len() {
        let (filled, rest) = buffer.split_at_mut(done);
        let step = done.min(rest.len());
        rest[..step].copy_from_slice(&filled[..step]);
        done += step;
    }
}

/// Changes each whole sector of a write so that no two are alike: the offset in the file goes to a place that depends on the time, and the
/// time itself to a fixed place.
pub(super) fn scramble(buffer: &mut [u8], offset: u64, now_ns: u64) {
    let (seconds, nanoseconds) = (now_ns / 1_000_000_000, now_ns % 1_000_000_000);
    let line = 64 * ((nanoseconds ^ offset) & 7) as usize;
    let mut at = offset;
    for sector in buffer.as_chunks_mut::<SECTOR>().0 {
        sector[line..line + 8].copy_from_slice(&at.to_le_bytes());
        sector[48..56].copy_from_slice(&seconds.to_le_bytes());
        sector[56..64].copy_from_slice(&nanoseconds.to_le_bytes());
        at += SECTOR as u64;
    }
}
