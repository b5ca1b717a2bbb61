//! `--memcpytest`: how fast memory is copied in several ways and sizes.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use super::{asks_for_names, bytes, chosen, speed};
use crate::messages::Messages;

/// One way to copy within `memory`: `length` bytes from the start of its second half to its start.
struct Way {
    name: &'static str,
    copy: fn(memory: &mut [u8], length: usize),
}

const WAYS: [Way; 4] = [
    Way { name: "memcpy", copy: apart },
    Way { name: "memmove", copy: perhaps_overlapping },
    Way { name: "simple", copy: byte_by_byte },
    Way { name: "hybrid", copy: by_length },
];

/// Lengths in bytes, unless others are named.
const LENGTHS: [usize; 11] = [8, 16, 96, 128, 256, 512, 2048, 8192, 131_072, 262_144, 524_288];

/// Longest length that may be named, in bytes.
const LONGEST: usize = 1 << 30;

/// Time for each way and length.
const SPAN: Duration = Duration::from_millis(10);

/// Up to this length a loop beats a call.
const SHORT: usize = 64;

/// Measures the ways and lengths of the comma list, or all. False if names were asked for or nothing is known.
///
/// # Errors
/// `out` cannot be written to.
pub fn copies(list: Option<&str>, out: &mut dyn Write, messages: Messages) -> io::Result<bool> {
    let words = chosen(list);
    if asks_for_names(&words) {
        return names(out).map(|()| false);
    }
    let lengths: Vec<usize> = words.iter().filter_map(|word| length(word)).collect();
    let named: Vec<&Way> = WAYS.iter().filter(|way| words.contains(&way.name)).collect();
    let nothing = lengths.is_empty() && named.is_empty() && !words.is_empty();
    for word in
        words.iter().filter(|word| length(word).is_none() && !WAYS.iter().any(|way| way.name == **word))
    {
        messages
            .not_found(format!("unknown way to copy `{word}`.{}", if nothing { " Available:" } else { "" }));
    }
    if nothing {
        return names(out).map(|()| false);
    }
    let ways = if named.is_empty() { WAYS.iter().collect() } else { named };
    let lengths = if lengths.is_empty() { LENGTHS.to_vec() } else { lengths };
    let longest = lengths.iter().copied().max().unwrap_or_default();
    let mut memory = bytes(2 * longest);
    for way in ways {
        writeln!(out, "{}", way.name)?;
        for &length in &lengths {
            let speed = speed(length, SPAN, || (way.copy)(black_box(&mut memory), black_box(length)));
            writeln!(out, "\t{length} bytes:\t{speed:8.2} MiB/sec")?;
            out.flush()?;
        }
    }
    Ok(true)
}

fn names(out: &mut dyn Write) -> io::Result<()> {
    WAYS.iter().try_for_each(|way| writeln!(out, "{}", way.name))
}

/// `4096`, `4k`, `1m`.
fn length(word: &str) -> Option<usize> {
    let digits = word.trim_end_matches(['k', 'K', 'm', 'M']);
    let unit = match word[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        _ => return None,
    };
    let length: usize = digits.parse().ok()?;
    length.checked_mul(unit).filter(|length| (1..=LONGEST).contains(length))
}

fn apart(memory: &mut [u8], length: usize) {
    let (to, from) = memory.split_at_mut(memory.len() / 2);
    to[..length].copy_from_slice(&from[..length]);
}

fn perhaps_overlapping(memory: &mut [u8], length: usize) {
    let from = memory.len() / 2;
    memory.copy_within(from..from + length, 0);
}

fn byte_by_byte(memory: &mut [u8], length: usize) {
    let (to, from) = memory.split_at_mut(memory.len() / 2);
    for (to, from) in to[..length].iter_mut().zip(&from[..length]) {
        // Else the compiler makes a call of memcpy of it.
        *to = black_box(*from);
    }
}

fn by_length(memory: &mut [u8], length: usize) {
    if length <= SHORT { byte_by_byte(memory, length) } else { apart(memory, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(list: &str) -> (String, bool) {
        let mut out = Vec::new();
        let good = copies(Some(list), &mut out, Messages::default()).unwrap();
        (String::from_utf8(out).unwrap(), good)
    }

    #[test]
    fn every_way_copies() {
        for way in &WAYS {
            for length in [0, 1, 63, 64, 65, 100] {
                let mut memory: Vec<u8> = (0..200).collect();
                (way.copy)(&mut memory, length);
                let moved: Vec<u8> = (100..100 + length as u8).collect();
                assert_eq!(memory[..length], moved, "{}", way.name);
                assert_eq!(memory[length], if length < 100 { length as u8 } else { 100 }, "{}", way.name);
            }
        }
    }

    #[test]
    fn ways_and_lengths_are_chosen_by_name() {
        let (text, good) = told("memmove,512,4k,nosuch");
        let heads: Vec<&str> = text.lines().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert!(good);
        assert_eq!(heads, ["memmove", "\t512 bytes", "\t4096 bytes"]);
    }

    #[test]
    fn names_are_listed_and_that_is_no_success() {
        assert_eq!(told("help"), ("memcpy\nmemmove\nsimple\nhybrid\n".to_owned(), false));
        assert_eq!(told("nosuch"), told("list"));
    }

    #[test]
    fn lengths_have_units_and_limits() {
        assert_eq!([length("8"), length("4K"), length("1m")], [Some(8), Some(4096), Some(1 << 20)]);
        assert_eq!([length("0"), length("2000m"), length("k"), length("4kk"), length("é")], [None; 5]);
    }
}
