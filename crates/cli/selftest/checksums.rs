//! `--crctest`: how fast the checksums of `verify=` are on this machine.

use std::hint::black_box;
use std::io::{self, Write};
use std::time::Duration;

use ferrio_verify::{Digest, VerifyMethod};

use super::measure::{asks_for_names, bytes, list_words, speed};
use crate::messages::Messages;

/// Checksum functions in the order of measurement.
const METHODS: [VerifyMethod; 14] = [
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

/// Hashes that fio measures too, although no `verify=` method uses them.
const NOT_VERIFY_METHODS: [&str; 3] = ["murmur3", "jhash", "fnv"];

/// Bytes hashed per call: a large block.
const BLOCK_BYTES: usize = 128 << 10;

/// Time spent on each function, at least.
const MIN_TIME: Duration = Duration::from_millis(100);

/// Measures the functions in the comma-separated list, or all without one. False if the list asks for names or has no known one.
///
/// # Errors
/// `out` cannot be written to.
pub fn checksums(list: Option<&str>, out: &mut dyn Write, messages: Messages) -> io::Result<bool> {
    let words = list_words(list);
    if asks_for_names(&words) {
        return names(out).map(|()| false);
    }
    let wanted = |method: &VerifyMethod| words.is_empty() || words.contains(&method.word());
    let methods: Vec<VerifyMethod> = METHODS.into_iter().filter(wanted).collect();
    for word in words.iter().filter(|word| !METHODS.iter().any(|method| method.word() == **word)) {
        if NOT_VERIFY_METHODS.contains(word) {
            messages.not_found(format!("hash `{word}` is not implemented: no verify method uses it"));
        } else if methods.is_empty() {
            messages.not_found(format!("unknown hash `{word}`. Available:"));
        } else {
            messages.not_found(format!("unknown hash `{word}`"));
        }
    }
    if methods.is_empty() {
        return names(out).map(|()| false);
    }
    let data = bytes(BLOCK_BYTES);
    for method in methods {
        let speed = speed(BLOCK_BYTES, MIN_TIME, || {
            black_box(Digest::compute(method, black_box(&data)));
        });
        writeln!(out, "{}", line(method.word(), speed))?;
        out.flush()?;
    }
    Ok(true)
}

fn names(out: &mut dyn Write) -> io::Result<()> {
    METHODS.iter().try_for_each(|method| writeln!(out, "{}", method.word()))
}

/// A line of the result; tabs align the numbers.
fn line(name: &str, speed: f64) -> String {
    let tabs = if name.len() < 7 { "\t\t" } else { "\t" };
    format!("{name}:{tabs}{speed:8.2} MiB/sec")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(list: Option<&str>) -> (String, bool) {
        let mut out = Vec::new();
        let good = checksums(list, &mut out, Messages::default()).unwrap();
        (String::from_utf8(out).unwrap(), good)
    }

    #[test]
    fn lines_have_fios_form() {
        assert_eq!(line("crc7", 243.817), "crc7:\t\t  243.82 MiB/sec");
        assert_eq!(line("crc32c", 12345.6), "crc32c:\t\t12345.60 MiB/sec");
        assert_eq!(line("sha3-224", 1.0), "sha3-224:\t    1.00 MiB/sec");
    }

    #[test]
    fn a_list_of_names_is_a_failure() {
        let (text, good) = output(Some("help"));
        assert!(!good && text.lines().eq(METHODS.iter().map(|method| method.word())));
        assert_eq!(output(Some("nosuch")), (text.clone(), false));
        assert_eq!(output(Some("murmur3")), (text, false));
    }

    #[test]
    fn named_functions_are_measured_in_fixed_order_and_unknown_names_skipped() {
        let (text, good) = output(Some("crc7,nosuch,md5"));
        let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
        assert!(good);
        assert_eq!(names, ["md5", "crc7"]);
    }
}
