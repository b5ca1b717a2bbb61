//! The kinds of damage, in one table.

use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($variant:ident: $word:literal $(| $alias:literal)*, $meaning:literal, $cause:literal;)+) => {
        /// The kind of damage to a block.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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

            /// Names of the kind in the message about a damaged block, joined by dashes, where they differ from the word in reports.
            #[must_use]
            pub const fn aliases(self) -> &'static [&'static str] {
                match self {
                    $(DamageKind::$variant => &[$($alias),*]),+
                }
            }

            /// The contents of the block.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(DamageKind::$variant => $meaning),+
                }
            }

            /// The possible cause.
            #[must_use]
            pub const fn cause(self) -> &'static str {
                match self {
                    $(DamageKind::$variant => $cause),+
                }
            }
        }
    };
}

kinds! {
    BitFlip: "bit-flip", "one bit differs, in the header, the digest or the data",
        "memory, a cable or the medium";
    FewBytes: "few-bytes" | "damaged-byte" | "damaged-bytes", "up to 8 bytes differ",
        "memory, or a program that wrote to the file";
    Zeros: "zeros" | "never-written", "zeros in place of the block or of a part of it",
        "a write that was lost, a trim, or a hole in the file";
    Ones: "ones" | "erased-block", "bytes ff, as erased flash memory has them",
        "a write that was lost on flash memory";
    OtherFill: "other-fill", "another byte, repeated, in place of the block or of a part of it",
        "a program or a device that initialised the block";
    OlderVersion: "older-version" | "lost-write", "all of the block is from an earlier write to the same place",
        "a write that was acknowledged and lost: a cache, firmware or the file system";
    NewerVersion: "newer-version" | "later-write", "all of the block is from a later write to the same place",
        "writes that were reordered";
    TornWrite: "torn-write", "a part of the block is from another write to this place",
        "a write that was cut off, for example by a power cut";
    LostTrim: "lost-trim", "data in place of the zeros that a trim leaves (`trim_verify_zero`)",
        "a device that ignores trims, or returns old data after them";
    OtherBlock: "other-block" | "misdirected-write", "data that belongs at another place",
        "a write, or this read, that went to the wrong place";
    OtherJob: "other-job", "data that another job wrote to this place",
        "jobs that share a file";
    OtherRun: "other-run", "data of another run, or of a job with another `randseed`",
        "a write that was lost, or a check with the options of another run";
    Shifted: "shifted" | "shifted-data", "the right data at the wrong place in the block",
        "a driver or a device that transferred the wrong bytes";
    Header: "header" | "damaged-header", "the header is damaged and the data is right",
        "a program that wrote to the file";
    WrongPart: "wrong-part", "contents of unknown origin in a part of the block",
        "a program that wrote to the file, or stale memory";
    NoHeader: "no-header", "random data as fio and ferrio write it, but no header",
        "a job that wrote the file without `verify`";
    OtherOptions: "other-options", "correct data that was written with other `verify` options",
        "a check with other options than the job that wrote";
    Unknown: "unknown", "none of these",
        "a program that wrote to the file, or a file that no job has written";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_different() {
        let all =
            || DamageKind::ALL.iter().flat_map(|kind| kind.aliases().iter().copied().chain([kind.word()]));
        let mut words: Vec<_> = all().collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), all().count());
    }
}
