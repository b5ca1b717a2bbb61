//! 'Did you mean': the nearest known word.

/// The word nearest to `typed`, if one is so near that a slip of the keyboard is likely; the first of equals.
pub fn nearest<'a>(typed: &str, words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // names are short: a long text is none of them misspelt
    if typed.len() > 64 {
        return None;
    }
    let length = typed.chars().count();
    // where nothing of the word is left, it was not meant
    let allowed = length.div_ceil(3).min(length.saturating_sub(1));
    // names are ASCII, and each character too many or too few is a difference
    let possible = words.filter(|word| word.len().abs_diff(length) <= allowed);
    let distances = possible.map(|word| match typed.eq_ignore_ascii_case(word) {
        true => (0, word),
        false => (strsim::damerau_levenshtein(typed, word), word),
    });
    let best = distances.min_by_key(|&(distance, _)| distance)?;
    (best.0 <= allowed).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::nearest;
    use crate::catalogue::pool;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        for (typed, want) in [
            ("iodpeth", Some("iodepth")),
            ("siz", Some("size")),
            ("block_size", Some("blocksize")),
            ("runtimes", Some("runtime")),
            ("rwmixraed", Some("rwmixread")),
            ("BS", Some("bs")),
            ("quantum_flux", None),
            ("7", None),
            ("", None),
        ] {
            assert_eq!(nearest(typed, pool("psync")), want, "{typed}");
        }
    }
}
