//! `--memcpytest`: the speed of several ways to copy memory, for several lengths.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use super::measure::{asks_for_names, bytes, list_words, speed};
use crate::messages::Messages;

/// A way to copy `length` bytes from the start of the second half of `memory` to its start.
struct CopyMethod {
    name: &'static str,
    copy: fn(memory: &mut [u8], length: usize),
}

const METHODS: [CopyMethod; 4] = [
    CopyMethod { name: "memcpy", copy: without_overlap },
    CopyMethod { name: "memmove", copy: with_overlap },
    CopyMethod { name: "simple", copy: byte_by_byte },
    CopyMethod { name: "hybrid", copy: hybrid },
];

/// Default lengths in bytes.
const LENGTHS: [usize; 11] = [8, 16, 96, 128, 256, 512, 2048, 8192, 131_072, 262_144, 524_288];

/// Largest length accepted.
const MAX_BYTES: usize = 1 << 30;

/// Time spent on each method and length, at least.
const MIN_TIME: Duration = Duration::from_millis(10);

/// Up to this length `hybrid` copies in a loop, which is faster than a call.
const MAX_LOOP_BYTES: usize = 64;

/// Measures the methods and lengths in the comma-separated list, or all without one. False if the list asks for names or has no known word.
///
/// # Errors
/// `out` cannot be written to.
pub fn copies(list: Option<&str>, out: &mut dyn Write, messages: Messages) -> io::Result<bool> {
    let words = list_words(list);
    if asks_for_names(&words) {
        return names(out).map(|()| false);
    }
    let lengths: Vec<usize> = words.iter().filter_map(|word| length(word)).collect();
    let named: Vec<&CopyMethod> = METHODS.iter().filter(|method| words.contains(&method.name)).collect();
    let nothing = lengths.is_empty() && named.is_empty() && !words.is_empty();
    for word in words
        .iter()
        .filter(|word| length(word).is_none() && !METHODS.iter().any(|method| method.name == **word))
    {
        messages
            .not_found(format!("unknown copy method `{word}`.{}", if nothing { " Available:" } else { "" }));
    }
    if nothing {
        return names(out).map(|()| false);
    }
    let methods = if named.is_empty() { METHODS.iter().collect() } else { named };
    let lengths = if lengths.is_empty() { LENGTHS.to_vec() } else { lengths };
    let longest = lengths.iter().copied().max().unwrap_or_default();
    let mut memory = bytes(2 * longest);
    for method in methods {
        writeln!(out, "{}", method.name)?;
        for &length in &lengths {
            let speed = speed(length, MIN_TIME, || (method.copy)(black_box(&mut memory), black_box(length)));
            writeln!(out, "\t{length} bytes:\t{speed:8.2} MiB/sec")?;
            out.flush()?;
        }
    }
    Ok(true)
}

fn names(out: &mut dyn Write) -> io::Result<()> {
    METHODS.iter().try_for_each(|method| writeln!(out, "{}", method.name))
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
    length.checked_mul(unit).filter(|length| (1..=MAX_BYTES).contains(length))
}

fn without_overlap(memory: &mut [u8], length: usize) {
    let (to, from) = memory.split_at_mut(memory.len() / 2);
    to[..length].copy_from_slice(&from[..length]);
}

fn with_overlap(memory: &mut [u8], length: usize) {
    let from = memory.len() / 2;
    memory.copy_within(from..from + length, 0);
}

fn byte_by_byte(memory: &mut [u8], length: usize) {
    let (to, from) = memory.split_at_mut(memory.len() / 2);
    for (to, from) in to[..length].iter_mut().zip(&from[..length]) {
        // Keeps the compiler from turning the loop into a call of memcpy.
        *to = black_box(*from);
    }
}

fn hybrid(memory: &mut [u8], length: usize) {
    if length <= MAX_LOOP_BYTES { byte_by_byte(memory, length) } else { without_overlap(memory, length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(list: &str) -> (String, bool) {
        let mut out = Vec::new();
        let good = copies(Some(list), &mut out, Messages::default()).unwrap();
        (String::from_utf8(out).unwrap(), good)
    }

    #[test]
    fn every_method_copies() {
        for method in &METHODS {
            for length in [0, 1, 63, 64, 65, 100] {
                let mut memory: Vec<u8> = (0..200).collect();
                (method.copy)(&mut memory, length);
                let moved: Vec<u8> = (100..100 + length as u8).collect();
                assert_eq!(memory[..length], moved, "{}", method.name);
                assert_eq!(memory[length], if length < 100 { length as u8 } else { 100 }, "{}", method.name);
            }
        }
    }

    #[test]
    fn methods_and_lengths_are_selected_by_name() {
        let (text, good) = output("memmove,512,4k,nosuch");
        let heads: Vec<&str> = text.lines().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert!(good);
        assert_eq!(heads, ["memmove", "\t512 bytes", "\t4096 bytes"]);
    }

    #[test]
    fn a_list_of_names_is_a_failure() {
        assert_eq!(output("help"), ("memcpy\nmemmove\nsimple\nhybrid\n".to_owned(), false));
        assert_eq!(output("nosuch"), output("list"));
    }

    #[test]
    fn lengths_have_units_and_limits() {
        assert_eq!([length("8"), length("4K"), length("1m")], [Some(8), Some(4096), Some(1 << 20)]);
        assert_eq!([length("0"), length("2000m"), length("k"), length("4kk"), length("é")], [None; 5]);
    }
}
