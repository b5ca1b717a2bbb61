//! Which of two meanings a value has that fio reads in a way nobody can have meant.

use std::str::FromStr;

/// How values are read.
///
/// fio makes something of nearly every text: `runtime=10sec` is 10 µs to it, `size=1.5g` one byte. `docs/differences.md` lists the
/// values that the two read differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reading {
    /// A value means what it says, or is refused with an explanation.
    #[default]
    Ferrio,
    /// A value means what fio makes of it, however odd.
    Fio,
}

/// The word is no reading's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid reading {0}: there are fio and ferrio")]
pub struct UnknownReading(String);

impl FromStr for Reading {
    type Err = UnknownReading;

    fn from_str(word: &str) -> Result<Reading, UnknownReading> {
        match word {
            "ferrio" => Ok(Reading::Ferrio),
            "fio" => Ok(Reading::Fio),
            _ => Err(UnknownReading(word.to_owned())),
        }
    }
}
