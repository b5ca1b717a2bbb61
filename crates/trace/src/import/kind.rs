//! The words for kinds of I/O in traces.

use super::event::{LineError, Skip};
use crate::IoAction;

/// What a word, or the flags of a block request, ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// Read, write or trim.
    data: Option<IoAction>,
    /// The cache of the device is flushed before.
    flush: bool,
    /// It manages a zone.
    zone: bool,
}

impl Kind {
    /// A read.
    pub const READ: Kind = Kind { data: Some(IoAction::Read), flush: false, zone: false };
    /// A write.
    pub const WRITE: Kind = Kind { data: Some(IoAction::Write), flush: false, zone: false };

    /// The meaning of `Read`, `w`, `discard` and the like, or of the kernel's letters for a block request.
    #[must_use]
    pub fn from_word(word: &[u8]) -> Option<Kind> {
        let data = |action| Some(Kind { data: Some(action), ..Kind::default() });
        match word.to_ascii_lowercase().as_slice() {
            b"read" => data(IoAction::Read),
            b"write" => data(IoAction::Write),
            b"trim" | b"discard" | b"unmap" => data(IoAction::Trim),
            b"flush" | b"sync" | b"fsync" => Some(Kind { flush: true, ..Kind::default() }),
            _ if word.len() == 1 => Kind::from_letters(&word.to_ascii_uppercase()),
            _ => Kind::from_letters(word),
        }
    }

    /// The meaning of the letters that the kernel writes for a block request (RWBS): `WS`, `RA`, `FWFS`, `DS`. `None` if there are
    /// others.
    #[must_use]
    pub fn from_letters(letters: &[u8]) -> Option<Kind> {
        let known = |byte: &u8| b"RWDFNASMVEZPUCO".contains(byte);
        if letters.is_empty() || letters.len() > 8 || !letters.iter().all(known) {
            return None;
        }
        let has = |letter| letters.contains(&letter);
        // A leading F flushes before the data is written; a later one writes it through (FUA).
        let flush = letters[0] == b'F';
        // The letter after Z is what is done to a zone. An append is a write; all others write no data: reset, open, close, finish.
        if let Some(at) = letters.iter().position(|&letter| letter == b'Z') {
            let appends = letters.get(at + 1) == Some(&b'A');
            return Some(Kind { data: appends.then_some(IoAction::Write), flush, zone: !appends });
        }
        let data = if has(b'D') || (has(b'E') && !has(b'W')) {
            Some(IoAction::Trim)
        } else if has(b'W') {
            Some(IoAction::Write)
        } else if has(b'R') {
            Some(IoAction::Read)
        } else {
            None
        };
        Some(Kind { data, flush, zone: false })
    }

    /// Why a request of this kind without I/Os has none.
    #[must_use]
    pub fn skip(self) -> Skip {
        if self.zone { Skip::ZoneManagement } else { Skip::Empty }
    }

    /// The I/Os of a request of this kind and length, with the length of each.
    #[must_use]
    pub fn actions(self, len: u64) -> [Option<(IoAction, u64)>; 2] {
        let flush = self.flush.then_some((IoAction::Sync, 0));
        [flush, self.data.filter(|_| len > 0).map(|action| (action, len))]
    }
}

/// Refuses offsets that no file can have.
pub fn check_range(offset: u64, len: u64) -> Result<(), LineError> {
    match offset.checked_add(len) {
        Some(end) if i64::try_from(end).is_ok() => Ok(()),
        _ => Err(format!("{len} bytes at offset {offset} are beyond the end of any file").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_the_kernel_are_flushes_and_data() {
        let actions = |letters: &[u8], len| Kind::from_letters(letters).unwrap().actions(len);
        assert_eq!(actions(b"WS", 8), [None, Some((IoAction::Write, 8))]);
        assert_eq!(actions(b"RA", 8), [None, Some((IoAction::Read, 8))]);
        assert_eq!(actions(b"D", 8), [None, Some((IoAction::Trim, 8))]);
        assert_eq!(actions(b"FWFSM", 8), [Some((IoAction::Sync, 0)), Some((IoAction::Write, 8))]);
        assert_eq!(actions(b"WFS", 8), [None, Some((IoAction::Write, 8))], "a late F is no flush");
        assert_eq!(actions(b"FF", 0), [Some((IoAction::Sync, 0)), None]);
        assert_eq!(actions(b"FN", 0), [Some((IoAction::Sync, 0)), None]);
        assert_eq!(actions(b"N", 0), [None, None]);
        assert_eq!(actions(b"ZAS", 8), [None, Some((IoAction::Write, 8))], "an append is no read-ahead");
        for letters in [&b"ZR"[..], b"ZRA", b"ZRS", b"ZO", b"ZC", b"ZF"] {
            assert_eq!(actions(letters, 8), [None, None]);
            assert_eq!(Kind::from_letters(letters).unwrap().skip(), Skip::ZoneManagement);
        }
        assert_eq!(actions(b"W", 0), [None, None]);
        for letters in [&b""[..], b"X", b"Read", b"RWRWRWRWR"] {
            assert_eq!(Kind::from_letters(letters), None);
        }
    }

    #[test]
    fn words_are_read_in_any_case() {
        assert_eq!(Kind::from_word(b"Read"), Some(Kind::READ));
        assert_eq!(Kind::from_word(b"w"), Some(Kind::WRITE));
        assert_eq!(Kind::from_word(b"WRITE"), Some(Kind::WRITE));
        assert_eq!(Kind::from_word(b"copy"), None);
    }

    #[test]
    fn no_file_has_more_than_2_63_bytes() {
        assert!(check_range(i64::MAX as u64 - 1, 1).is_ok());
        assert!(check_range(i64::MAX as u64, 1).is_err() && check_range(u64::MAX, 1).is_err());
    }
}
