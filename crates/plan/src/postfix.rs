//! The number behind the colon of `rw=kind:N`.

/// A whole number with sign, `0x` and size suffixes, in bytes or a bare count.
///
/// The job file reader accepted the text; what this small grammar does not know (expressions) is `None`, never a wrong number.
pub(crate) fn number(text: &str, kb_base: u64) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.to_ascii_lowercase();
    let hex = lower.strip_prefix("0x");
    let (radix, body) = hex.map_or((10, lower.as_str()), |rest| (16, rest));
    let end = body.find(|c: char| !c.is_digit(radix)).unwrap_or(body.len());
    // A `b` after hex digits is one of them.
    let (number, unit) = body.split_at(end);
    let magnitude = i64::from_str_radix(number, radix).ok()?;
    let value = magnitude.checked_mul(factor(unit, kb_base)?)?;
    Some(if negative { -value } else { value })
}

fn factor(unit: &str, kb_base: u64) -> Option<i64> {
    let mut letters = unit.chars();
    let Some(first) = letters.next() else { return Some(1) };
    let power = match first {
        'b' if unit == "b" => return Some(1),
        'k' => 1,
        'm' => 2,
        'g' => 3,
        't' => 4,
        'p' => 5,
        _ => return None,
    };
    // With kb_base=1024 fio reads `k` as binary and `kib` as decimal; with 1000 it is the other way round.
    let base: i64 = match (letters.as_str(), kb_base == 1000) {
        ("" | "b", false) | ("ib", true) => 1024,
        ("" | "b", true) | ("ib", false) => 1000,
        _ => return None,
    };
    base.checked_pow(power)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn signs_bases_and_suffixes_are_known() {
        for (text, want) in [
            ("8", Some(8)),
            ("-4k", Some(-4096)),
            ("+1m", Some(1 << 20)),
            ("0x10k", Some(16384)),
            ("4KiB", Some(4000)),
            ("12b", Some(12)),
            ("", None),
            ("k", None),
            ("4q", None),
            ("(1+1)", None),
            ("99999999999p", None),
        ] {
            assert_eq!(number(text, 1024), want, "{text}");
        }
        assert_eq!(number("4k", 1000), Some(4000));
        assert_eq!(number("4kib", 1000), Some(4096));
    }
}
