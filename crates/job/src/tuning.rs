//! `tuning`: whether a job takes the cheaper ways that Linux offers, which change the conditions of the measurement.

use std::fmt;
use std::ops::BitOr;

use crate::choice::choices;

choices! {
    /// `tuning=`: which conditions a job measures under.
    pub enum Tuning default Lean {
        Fio: "fio", "The conditions of fio: what costs less only if options ask for it";
        Lean: "lean", "What costs less, wherever no option forbids it and the kernel allows it";
    }
}

/// What a job does because of [`Tuning::Lean`], and would not do as fio. A job may use less than it tries, because the kernel
/// refuses it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TuningUse(u8);

impl TuningUse {
    /// Nothing: what all jobs begin with.
    pub const NONE: TuningUse = TuningUse(0);
    /// Files are open with O_NOATIME.
    pub const NOATIME: TuningUse = TuningUse(1);
    /// Files are registered with the ring.
    pub const REGISTERED_FILES: TuningUse = TuningUse(1 << 1);
    /// Buffers are registered with the ring.
    pub const REGISTERED_BUFFERS: TuningUse = TuningUse(1 << 2);
    /// Buffers are on huge pages, as far as the kernel has any.
    pub const HUGE_PAGES: TuningUse = TuningUse(1 << 3);

    /// Everything that there is, with its word in reports.
    const WORDS: [(TuningUse, &'static str); 4] = [
        (TuningUse::NOATIME, "noatime"),
        (TuningUse::REGISTERED_FILES, "registered-files"),
        (TuningUse::REGISTERED_BUFFERS, "registered-buffers"),
        (TuningUse::HUGE_PAGES, "huge-pages"),
    ];

    /// True if it has all of `other`.
    #[must_use]
    pub const fn has(self, other: TuningUse) -> bool {
        self.0 & other.0 == other.0
    }

    /// This, if `condition` holds.
    #[must_use]
    pub const fn when(self, condition: bool) -> TuningUse {
        if condition { self } else { TuningUse::NONE }
    }

    /// The words that reports have for it.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        TuningUse::WORDS.into_iter().filter(move |(part, _)| self.has(*part)).map(|(_, word)| word)
    }
}

impl BitOr for TuningUse {
    type Output = TuningUse;

    fn bitor(self, other: TuningUse) -> TuningUse {
        TuningUse(self.0 | other.0)
    }
}

impl fmt::Display for TuningUse {
    /// The words, separated by commas.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_adds_up_and_has_a_word_each() {
        let used =
            TuningUse::HUGE_PAGES | TuningUse::NOATIME.when(true) | TuningUse::REGISTERED_FILES.when(false);
        assert_eq!(used.to_string(), "noatime, huge-pages");
        assert!(used.has(TuningUse::NOATIME) && !used.has(TuningUse::REGISTERED_FILES | TuningUse::NOATIME));
        assert_eq!(TuningUse::NONE.to_string(), "");
    }
}
