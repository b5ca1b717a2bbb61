//! Choices: options whose values are words of a closed list.
//!
//! `choices!` makes an enum and its list of words from one table. Parsing, help, suggestions, the manual page and the resolved job all
//! read that table, so a word is written once.

/// One word that an option accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub word: &'static str,
    /// The main spelling of which this is an alias; `None` for a main spelling.
    pub same_as: Option<&'static str>,
    /// The meaning in one line; empty for an alias and for a self-explanatory word.
    pub help: &'static str,
}

impl Word {
    /// The spelling that reports print.
    #[must_use]
    pub const fn main(&self) -> &'static str {
        match self.same_as {
            Some(main) => main,
            None => self.word,
        }
    }
}

/// An enum whose values are written as words.
pub trait Choice: Copy + 'static {
    /// All words in the order that help lists them.
    const WORDS: &'static [Word];
    /// The word of the default, empty if the option has none.
    const DEFAULT: &'static str;

    /// The value of a word in any spelling; `None` for a word that is unknown or has no variant.
    fn from_word(word: &str) -> Option<Self>;
}

/// Makes an enum of option words. A line is one of
///
/// ```text
/// Variant: "word", "help";            a variant and its word
/// = Variant: "word";                  another spelling of a variant's word
/// = Variant: "word", "help";          a second main word with its own help, for the same variant
/// ! "word", "help";                   a word without a variant: off, or not available here
/// ~ Variant: "word", "help";          a variant that options cannot select, and the word that reports print for it
/// ```
macro_rules! choices {
    (
        $(#[$outer:meta])*
        pub enum $name:ident $(default $default:ident)? {
            $(
                $($(#[$inner:meta])* $variant:ident: $word:literal, $help:literal)?
                $(= $of:ident: $other:literal $(, $other_help:literal)?)?
                $(! $absent:literal, $absent_help:literal)?
                $(~ $(#[$hidden_doc:meta])* $hidden:ident: $printed:literal, $hidden_help:literal)?
                ;
            )+
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[doc = $help] $(#[$inner])* $variant,)? $(#[doc = $hidden_help] $(#[$hidden_doc])* $hidden,)?)+
        }

        impl $name {
            /// All values that options can select, in the order of their words.
            pub const ALL: &'static [$name] = &[$($($name::$variant,)?)+];

            /// The word for it, in its main spelling.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $($($name::$variant => $word,)? $($name::$hidden => $printed,)?)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl $crate::Choice for $name {
            const WORDS: &'static [$crate::Word] = &[$(
                $($crate::Word { word: $word, same_as: None, help: $help },)?
                $($crate::choice::other_spelling($other, $name::$of.word(), concat!("" $(, $other_help)?)),)?
                $($crate::Word { word: $absent, same_as: None, help: $absent_help },)?
            )+];
            const DEFAULT: &'static str = [$($name::$default.word(),)? ""][0];

            fn from_word(word: &str) -> Option<Self> {
                match word {
                    $(
                        $($word => Some($name::$variant),)?
                        $($other => Some($name::$of),)?
                        $($absent => None,)?
                    )+
                    _ => None,
                }
            }
        }

        $(
            impl Default for $name {
                fn default() -> Self {
                    $name::$default
                }
            }
        )?
    };
}
pub(crate) use choices;

/// Another word for the variant of `main`: an alias, or a main spelling if it has its own help.
pub(crate) const fn other_spelling(word: &'static str, main: &'static str, help: &'static str) -> Word {
    Word { word, same_as: if help.is_empty() { Some(main) } else { None }, help }
}

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// An example.
        pub enum Drink default Tea {
            ! "none", "Nothing";
            Tea: "tea", "Leaves";
            = Tea: "chai";
            Coffee: "coffee", "Beans";
            = Coffee: "espresso", "Beans, pressed";
        }
    }

    #[test]
    fn words_lead_to_variants_and_back() {
        for &drink in Drink::ALL {
            assert_eq!(Drink::from_word(drink.word()), Some(drink));
        }
        assert_eq!(Drink::from_word("chai"), Some(Drink::Tea));
        assert_eq!(Drink::from_word("espresso"), Some(Drink::Coffee));
        assert_eq!([Drink::from_word("none"), Drink::from_word("Tea")], [None, None]);
        assert_eq!((Drink::DEFAULT, Drink::default()), ("tea", Drink::Tea));
    }

    #[test]
    fn another_spelling_names_the_main_one_unless_it_has_its_own_help() {
        let main: Vec<_> = Drink::WORDS.iter().map(|word| (word.word, word.main())).collect();
        let want = [
            ("none", "none"),
            ("tea", "tea"),
            ("chai", "tea"),
            ("coffee", "coffee"),
            ("espresso", "espresso"),
        ];
        assert_eq!(main, want);
    }
}
