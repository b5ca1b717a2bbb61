//! The declared defaults of options, read once.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::LazyLock;

use super::model::Value;
use super::parse::parse;
use crate::catalogue::{OptionRow, rows};

impl OptionRow {
    /// The value that holds when the option is not given, if one is declared.
    pub fn default_value(&self) -> Option<&'static Value> {
        DEFAULTS[self.opt as usize].as_ref()
    }
}

/// What the declared defaults mean, in table order. A test makes sure that all of them can be read.
static DEFAULTS: LazyLock<Vec<Option<Value>>> = LazyLock::new(|| {
    let no_file = |_: &Path| Err(ErrorKind::NotFound.into());
    let read = |row| parse(row, Some(row.default), 1024, &no_file).ok();
    rows().iter().map(|row| Some(row).filter(|row| !row.default.is_empty()).and_then(read)).collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::OptionStatus;

    fn read(row: &'static OptionRow, text: &str) -> Result<Value, String> {
        let no_file = |_: &Path| Err(ErrorKind::NotFound.into());
        parse(row, Some(text), 1024, &no_file).map_err(|fault| format!("{}={text}: {fault}", row.name))
    }

    #[test]
    fn every_default_is_a_value_of_its_own_option() {
        for row in rows().iter().filter(|row| !row.default.is_empty()) {
            assert!(read(row, row.default).is_ok(), "{:?}", read(row, row.default));
        }
    }

    #[test]
    fn every_choice_is_accepted_or_wants_its_argument() {
        for row in rows() {
            for choice in row.choices {
                match read(row, choice.word) {
                    Ok(Value::Word(main, _)) => {
                        assert_eq!(main, choice.main(), "{}={}", row.name, choice.word);
                    }
                    Ok(_) => {}
                    Err(why) => assert!(why.ends_with("expected") || why.ends_with("needs nodes"), "{why}"),
                }
            }
        }
    }

    #[test]
    fn values_said_to_change_nothing_are_values() {
        for row in rows() {
            if let OptionStatus::OnlyOff(texts) = row.status {
                assert!(!texts.is_empty(), "{}", row.name);
                for text in texts {
                    assert!(read(row, text).is_ok(), "{:?}", read(row, text));
                }
            }
        }
    }
}
