//! `tuning`: whether a job uses optimisations that Linux offers, which change the conditions of the measurement.

use std::fmt;
use std::ops::BitOr;

use serde::{Deserialize, Serialize};

use crate::choice::choices;

choices! {
    /// `tuning=`: which conditions a job measures under.
    #[derive(Serialize, Deserialize)]
    pub enum Tuning default Lean {
        Fio: "fio", "The conditions of fio: what costs less only if options ask for it";
        Lean: "lean", "What costs less, wherever no option forbids it and the kernel allows it";
    }
}

/// Optimisations that a job uses because of [`Tuning::Lean`], and would not use as fio. They may be fewer than it tries, because the kernel
/// refuses some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Optimisations(u8);

impl Optimisations {
    /// No optimisation, with which all jobs begin.
    pub const NONE: Optimisations = Optimisations(0);
    /// Files are open with O_NOATIME.
    pub const NOATIME: Optimisations = Optimisations(1);
    /// Files are registered with the ring.
    pub const REGISTERED_FILES: Optimisations = Optimisations(1 << 1);
    /// Buffers are registered with the ring.
    pub const REGISTERED_BUFFERS: Optimisations = Optimisations(1 << 2);
    /// Buffers are on huge pages, as far as the kernel has any.
    pub const HUGE_PAGES: Optimisations = Optimisations(1 << 3);

    /// All of them, with their words in reports.
    const WORDS: [(Optimisations, &'static str); 4] = [
        (Optimisations::NOATIME, "noatime"),
        (Optimisations::REGISTERED_FILES, "registered-files"),
        (Optimisations::REGISTERED_BUFFERS, "registered-buffers"),
        (Optimisations::HUGE_PAGES, "huge-pages"),
    ];

    /// True if it has all of `other`.
    #[must_use]
    pub const fn has(self, other: Optimisations) -> bool {
        self.0 & other.0 == other.0
    }

    /// This, if `condition` holds.
    #[must_use]
    pub const fn when(self, condition: bool) -> Optimisations {
        if condition { self } else { Optimisations::NONE }
    }

    /// The words that reports have for it.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        Optimisations::WORDS.into_iter().filter(move |(part, _)| self.has(*part)).map(|(_, word)| word)
    }
}

impl BitOr for Optimisations {
    type Output = Optimisations;

    fn bitor(self, other: Optimisations) -> Optimisations {
        Optimisations(self.0 | other.0)
    }
}

impl fmt::Display for Optimisations {
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
        let used = Optimisations::HUGE_PAGES
            | Optimisations::NOATIME.when(true)
            | Optimisations::REGISTERED_FILES.when(false);
        assert_eq!(used.to_string(), "noatime, huge-pages");
        assert!(
            used.has(Optimisations::NOATIME)
                && !used.has(Optimisations::REGISTERED_FILES | Optimisations::NOATIME)
        );
        assert_eq!(Optimisations::NONE.to_string(), "");
    }
}
