//! The hash of a file name, which seeds the file's own random choices: Bob Jenkins' lookup3, read byte by byte as fio does.

/// Start of all three words, before the length is added.
const START: u32 = 0x61C8_8647;

pub(crate) fn name_hash(name: &[u8]) -> u32 {
    let start = START.wrapping_add(name.len() as u32);
    let [mut a, mut b, mut c] = [start; 3];
    let mut rest = name;
    // One byte, not one word, is added per word of the state: fio's files are seeded in this way.
    while rest.len() > 12 {
        a = a.wrapping_add(u32::from(rest[0]));
        b = b.wrapping_add(u32::from(rest[4]));
        c = c.wrapping_add(u32::from(rest[8]));
        mix(&mut a, &mut c, 4, b);
        mix(&mut b, &mut a, 6, c);
        mix(&mut c, &mut b, 8, a);
        mix(&mut a, &mut c, 16, b);
        mix(&mut b, &mut a, 19, c);
        mix(&mut c, &mut b, 4, a);
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    let word =
        |at: usize| rest.iter().skip(at).take(4).rev().fold(0u32, |word, &byte| word << 8 | u32::from(byte));
    a = a.wrapping_add(word(0));
    b = b.wrapping_add(word(4));
    c = c.wrapping_add(word(8));
    finish(&mut c, b, 14);
    finish(&mut a, c, 11);
    finish(&mut b, a, 25);
    finish(&mut c, b, 16);
    finish(&mut a, c, 4);
    finish(&mut b, a, 14);
    finish(&mut c, b, 24);
    c
}

/// One round between blocks of twelve bytes.
fn mix(x: &mut u32, y: &mut u32, turn: u32, z: u32) {
    *x = x.wrapping_sub(*y) ^ y.rotate_left(turn);
    *y = y.wrapping_add(z);
}

/// One step after the last block.
fn finish(x: &mut u32, y: u32, turn: u32) {
    *x = (*x ^ y).wrapping_sub(y.rotate_left(turn));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hash_as_with_fio() {
        assert_eq!(name_hash(b"a.0.0"), 0xa027_5764);
        assert_eq!(name_hash(b"abcdefghijklmnop"), 0xcb12_9c69);
    }

    #[test]
    fn a_name_of_nothing_keeps_the_start() {
        assert_eq!(name_hash(b""), START);
    }
}
