//! The kinds of damage, in one table.

macro_rules! kinds {
    ($($(#[$docs:meta])* $variant:ident: $word:literal, $meaning:literal;)+) => {
        /// What a damaged block looks like.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DamageKind {
            $(#[doc = $meaning] $variant),+
        }

        impl DamageKind {
            /// All kinds, in the order of reports.
            pub const ALL: &[DamageKind] = &[$(DamageKind::$variant),+];

            /// The word in reports.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(DamageKind::$variant => $word),+
                }
            }

            /// What the word means, in a few words.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(DamageKind::$variant => $meaning),+
                }
            }
        }
    };
}

kinds! {
    BitFlip: "bit-flip", "one bit differs";
    FewBytes: "few-bytes", "a few bytes differ";
    Zeros: "zeros", "zeros in place of the block or of a part of it";
    Ones: "ones", "bytes ff in place of the block or of a part of it";
    OtherFill: "other-fill", "another byte, repeated, in place of the block or of a part of it";
    OlderVersion: "older-version", "an older version of the same block: a lost write";
    NewerVersion: "newer-version", "a newer version of the same block";
    TornWrite: "torn-write", "part of one version of the block, part of another";
    OtherBlock: "other-block", "data that belongs at another place: a misdirected write";
    OtherJob: "other-job", "data that another job wrote to this place";
    OtherRun: "other-run", "data of another run, or of a job with other seeds";
    Shifted: "shifted", "the right data at the wrong place in the block";
    Header: "header", "a damaged header over the right data";
    WrongPart: "wrong-part", "a part with contents of unknown origin";
    NoHeader: "no-header", "data of fio or ferrio that was written without verify";
    OtherOptions: "other-options", "data that was written with other options of verify";
    Unknown: "unknown", "nothing that fio or ferrio has written";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_different() {
        let mut words: Vec<_> = DamageKind::ALL.iter().map(|kind| kind.word()).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), DamageKind::ALL.len());
    }
}
