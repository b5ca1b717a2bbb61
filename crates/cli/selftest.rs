//! Tests of the machine without jobs: the speed of checksums (`--crctest`), the speed of copying memory (`--memcpytest`), and the CPUs'
//! clocks (`--cpuclock-test`).
//!
//! The output has fio's format, so that scripts can read both.

mod clocks;

use std::hint::black_box;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use ferrio_verify::{Digest, VerifyMethod};

use crate::messages::Messages;
pub use clocks::clocks;

/// Checksum functions in the order of measurement.
const CHECKSUMS: [VerifyMethod; 14] = [
    VerifyMethod::Md5,
    VerifyMethod::Crc64,
    VerifyMethod::Crc32,
    VerifyMethod::Crc32c,
    VerifyMethod::Crc16,
    VerifyMethod::Crc7,
    VerifyMethod::Sha1,
    VerifyMethod::Sha256,
    VerifyMethod::Sha512,
    VerifyMethod::Xxhash,
    VerifyMethod::Sha3_224,
    VerifyMethod::Sha3_256,
    VerifyMethod::Sha3_384,
    VerifyMethod::Sha3_512,
];

/// Hashes that fio also measures, although no `verify=` method uses them.
const NOT_VERIFY_METHODS: [&str; 3] = ["murmur3", "jhash", "fnv"];

/// Bytes hashed per call, the size of a large block.
const BLOCK_BYTES: usize = 128 << 10;

/// Minimum time spent on each checksum function.
const CHECKSUM_TIME: Duration = Duration::from_millis(100);

/// A way to copy `length` bytes from the start of the second half of `memory` to its start.
struct CopyMethod {
    name: &'static str,
    copy: fn(memory: &mut [u8], length: usize),
}

const COPY_METHODS: [CopyMethod; 4] = [
    CopyMethod { name: "memcpy", copy: without_overlap },
    CopyMethod { name: "memmove", copy: with_overlap },
    CopyMethod { name: "simple", copy: byte_by_byte },
    CopyMethod { name: "hybrid", copy: hybrid },
];

/// Default lengths in bytes.
const LENGTHS: [usize; 11] = [8, 16, 96, 128, 256, 512, 2048, 8192, 131_072, 262_144, 524_288];

/// Largest length accepted.
const MAX_BYTES: usize = 1 << 30;

/// Minimum time spent on each copy method and length.
const COPY_TIME: Duration = Duration::from_millis(10);

/// Length up to which `hybrid` copies in a loop, which is faster than a call.
const MAX_LOOP_BYTES: usize = 64;

/// Measures the checksum functions in the comma-separated list, or all without a list. Returns false if the list asks for names or has no
/// known name.
///
/// # Errors
/// `out` cannot be written to.
pub fn checksums(list: Option<&str>, out: &mut dyn Write, messages: Messages) -> io::Result<bool> {
    let names = CHECKSUMS.map(VerifyMethod::word);
    let unknown = |word: &str| {
        if NOT_VERIFY_METHODS.contains(&word) {
            return Some(format!("hash `{word}` is not implemented: no verify method uses it."));
        }
        (!names.contains(&word)).then(|| format!("unknown hash `{word}`."))
    };
    let Some(words) = known_words(list, &names, unknown, out, messages)? else { return Ok(false) };
    let data = bytes(BLOCK_BYTES);
    for method in CHECKSUMS.into_iter().filter(|method| words.is_empty() || words.contains(&method.word())) {
        let speed = speed(BLOCK_BYTES, CHECKSUM_TIME, || {
            black_box(Digest::compute(method, black_box(&data)));
        });
        writeln!(out, "{}", checksum_line(method.word(), speed))?;
        out.flush()?;
    }
    Ok(true)
}

/// A result line of `--crctest`; tabs align the numbers.
fn checksum_line(name: &str, speed: f64) -> String {
    let tabs = if name.len() < 7 { "\t\t" } else { "\t" };
    format!("{name}:{tabs}{speed:8.2} MiB/sec")
}

/// Measures the copy methods and lengths in the comma-separated list, or all without a list. Returns false if the list asks for names or
/// has no known word.
///
/// # Errors
/// `out` cannot be written to.
pub fn copies(list: Option<&str>, out: &mut dyn Write, messages: Messages) -> io::Result<bool> {
    let names = COPY_METHODS.each_ref().map(|method| method.name);
    let unknown = |word: &str| {
        let known = names.contains(&word) || length(word).is_some();
        (!known).then(|| format!("unknown copy method `{word}`."))
    };
    let Some(words) = known_words(list, &names, unknown, out, messages)? else { return Ok(false) };
    let every_method = !words.iter().any(|word| names.contains(word));
    let mut lengths: Vec<usize> = words.iter().filter_map(|word| length(word)).collect();
    if lengths.is_empty() {
        lengths.extend(LENGTHS);
    }
    let mut memory = bytes(2 * lengths.iter().copied().max().unwrap_or_default());
    for method in COPY_METHODS.iter().filter(|method| every_method || words.contains(&method.name)) {
        writeln!(out, "{}", method.name)?;
        for &length in &lengths {
            let speed = speed(length, COPY_TIME, || (method.copy)(black_box(&mut memory), black_box(length)));
            writeln!(out, "\t{length} bytes:\t{speed:8.2} MiB/sec")?;
            out.flush()?;
        }
    }
    Ok(true)
}

/// The words of a comma-separated list, of which at least one must be known; an empty list selects everything. If the list asks for the
/// `names` or has only unknown words, prints the names and returns `None`. `unknown` returns the message about an unknown word.
fn known_words<'a>(
    list: Option<&'a str>,
    names: &[&str],
    unknown: impl Fn(&str) -> Option<String>,
    out: &mut dyn Write,
    messages: Messages,
) -> io::Result<Option<Vec<&'a str>>> {
    let words: Vec<&str> = list.unwrap_or_default().split(',').filter(|word| !word.is_empty()).collect();
    let asks_for_names = words.iter().any(|word| ["help", "list"].contains(word));
    let complaints: Vec<String> = words.iter().filter_map(|word| unknown(word)).collect();
    let nothing_known = !words.is_empty() && complaints.len() == words.len();
    if !asks_for_names {
        let end = if nothing_known { " Available:" } else { "" };
        complaints.into_iter().for_each(|complaint| messages.not_found(complaint + end));
    }
    if asks_for_names || nothing_known {
        names.iter().try_for_each(|name| writeln!(out, "{name}"))?;
        return Ok(None);
    }
    Ok(Some(words))
}

/// Parses `4096`, `4k`, `1m`.
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

/// MiB per second of `work`, which processes `bytes` per call and is repeated for at least `span`.
fn speed(bytes: usize, span: Duration, mut work: impl FnMut()) -> f64 {
    // Not measured: warms up caches and pages.
    work();
    let began = Instant::now();
    let mut rounds = 0u64;
    let mut batch = 1u64;
    loop {
        for _ in 0..batch {
            work();
        }
        rounds += batch;
        let elapsed = began.elapsed();
        if elapsed >= span {
            return rounds as f64 * bytes as f64 / f64::from(1 << 20) / elapsed.as_secs_f64();
        }
        // Larger batches make the cost of the clock negligible.
        batch = (batch * 2).min(1 << 16);
    }
}

/// `length` bytes that the optimiser cannot predict.
fn bytes(length: usize) -> Vec<u8> {
    black_box((0..length).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checksums_output(list: Option<&str>) -> (String, bool) {
        let mut out = Vec::new();
        let good = checksums(list, &mut out, Messages::default()).unwrap();
        (String::from_utf8(out).unwrap(), good)
    }

    #[test]
    fn lines_have_fios_form() {
        assert_eq!(checksum_line("crc7", 243.817), "crc7:\t\t  243.82 MiB/sec");
        assert_eq!(checksum_line("crc32c", 12345.6), "crc32c:\t\t12345.60 MiB/sec");
        assert_eq!(checksum_line("sha3-224", 1.0), "sha3-224:\t    1.00 MiB/sec");
    }

    #[test]
    fn a_list_of_checksums_is_a_failure() {
        let (text, good) = checksums_output(Some("help"));
        assert!(!good && text.lines().eq(CHECKSUMS.iter().map(|method| method.word())));
        assert_eq!(checksums_output(Some("nosuch")), (text.clone(), false));
        assert_eq!(checksums_output(Some("murmur3")), (text, false));
    }

    #[test]
    fn named_checksums_are_measured_in_fixed_order_and_unknown_names_skipped() {
        let (text, good) = checksums_output(Some("crc7,nosuch,md5"));
        let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
        assert!(good);
        assert_eq!(names, ["md5", "crc7"]);
    }

    fn copies_output(list: &str) -> (String, bool) {
        let mut out = Vec::new();
        let good = copies(Some(list), &mut out, Messages::default()).unwrap();
        (String::from_utf8(out).unwrap(), good)
    }

    #[test]
    fn every_method_copies() {
        for method in &COPY_METHODS {
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
        let (text, good) = copies_output("memmove,512,4k,nosuch");
        let heads: Vec<&str> = text.lines().map(|line| line.split(':').next().unwrap_or_default()).collect();
        assert!(good);
        assert_eq!(heads, ["memmove", "\t512 bytes", "\t4096 bytes"]);
    }

    #[test]
    fn a_list_of_copy_methods_is_a_failure() {
        assert_eq!(copies_output("help"), ("memcpy\nmemmove\nsimple\nhybrid\n".to_owned(), false));
        assert_eq!(copies_output("nosuch"), copies_output("list"));
    }

    #[test]
    fn lengths_have_units_and_limits() {
        assert_eq!([length("8"), length("4K"), length("1m")], [Some(8), Some(4096), Some(1 << 20)]);
        assert_eq!([length("0"), length("2000m"), length("k"), length("4kk"), length("é")], [None; 5]);
    }

    #[test]
    fn speed_is_work_per_time() {
        let mut done = 0u64;
        let began = Instant::now();
        let speed = speed(1 << 20, Duration::from_millis(20), || {
            done += 1;
            std::thread::yield_now();
        });
        let least = (done - 1) as f64 / began.elapsed().as_secs_f64();
        assert!(speed >= least * 0.999, "{speed} MiB/s, {least} rounds a second");
    }

    #[test]
    fn empty_words_of_a_list_are_skipped() {
        let words = |list| {
            let unknown = |_: &str| None;
            known_words(list, &[], unknown, &mut Vec::new(), Messages::default()).unwrap().unwrap()
        };
        assert_eq!(words(Some("a,,b,")), ["a", "b"]);
        assert!(words(None).is_empty() && words(Some("")).is_empty());
    }
}
