//! Words for kinds of I/O in traces.

use super::event::{LineError, SkipReason};
use crate::IoAction;

/// The meaning of a word, or of the flags of a block request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestKind {
    /// The read, write or trim.
    data: Option<IoAction>,
    /// Whether the cache of the device is flushed before.
    flush: bool,
    /// Whether it manages a zone.
    zone: bool,
}

impl RequestKind {
    /// A read.
    pub const READ: RequestKind = RequestKind { data: Some(IoAction::Read), flush: false, zone: false };
    /// A write.
    pub const WRITE: RequestKind = RequestKind { data: Some(IoAction::Write), flush: false, zone: false };

    /// Parses words such as `Read`, `w` and `discard`, and the kernel's letters for a block request.
    #[must_use]
    pub fn from_word(word: &[u8]) -> Option<RequestKind> {
        let data = |action| Some(RequestKind { data: Some(action), ..RequestKind::default() });
        match word.to_ascii_lowercase().as_slice() {
            b"read" => data(IoAction::Read),
            b"write" => data(IoAction::Write),
            b"trim" | b"discard" | b"unmap" => data(IoAction::Trim),
            b"flush" | b"sync" | b"fsync" => Some(RequestKind { flush: true, ..RequestKind::default() }),
            _ if word.len() == 1 => RequestKind::from_letters(&word.to_ascii_uppercase()),
            _ => RequestKind::from_letters(word),
        }
    }

    /// Parses the kernel's letters for a block request (RWBS): `WS`, `RA`, `FWFS`, `DS`. `None` if there are others.
    #[must_use]
    pub fn from_letters(letters: &[u8]) -> Option<RequestKind> {
        let known = |byte: &u8| b"RWDFNASMVEZPUCO".contains(byte);
        if letters.is_empty() || letters.len() > 8 || !letters.iter().all(known) {
            return None;
        }
        let has = |letter| letters.contains(&letter);
        // A leading F flushes before the data is written; a later one writes it through (FUA).
        let flush = letters[0] == b'F';
        // The letter after Z is the operation on a zone. An append is a write; all others write no data: reset, open, close, finish.
        if let Some(at) = letters.iter().position(|&letter| letter == b'Z') {
            let appends = letters.get(at + 1) == Some(&b'A');
            return Some(RequestKind { data: appends.then_some(IoAction::Write), flush, zone: !appends });
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
        Some(RequestKind { data, flush, zone: false })
    }

    /// The reason why a request of this kind without I/Os is skipped.
    #[must_use]
    pub fn skip(self) -> SkipReason {
        if self.zone { SkipReason::ZoneManagement } else { SkipReason::Empty }
    }

    /// The I/Os of a request of this kind and length, with the length of each.
    #[must_use]
    pub fn actions(self, len: u64) -> [Option<(IoAction, u64)>; 2] {
        let flush = self.flush.then_some((IoAction::Sync, 0));
        [flush, self.data.filter(|_| len > 0).map(|action| (action, len))]
    }
}

/// Refuses offsets beyond the size of any file.
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
        let actions = |letters: &[u8], len| RequestKind::from_letters(letters).unwrap().actions(len);
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
            assert_eq!(RequestKind::from_letters(letters).unwrap().skip(), SkipReason::ZoneManagement);
        }
        assert_eq!(actions(b"W", 0), [None, None]);
        for letters in [&b""[..], b"X", b"Read", b"RWRWRWRWR"] {
            assert_eq!(RequestKind::from_letters(letters), None);
        }
    }

    #[test]
    fn words_are_read_in_any_case() {
        assert_eq!(RequestKind::from_word(b"Read"), Some(RequestKind::READ));
        assert_eq!(RequestKind::from_word(b"w"), Some(RequestKind::WRITE));
        assert_eq!(RequestKind::from_word(b"WRITE"), Some(RequestKind::WRITE));
        assert_eq!(RequestKind::from_word(b"copy"), None);
    }

    #[test]
    fn no_file_has_more_than_2_63_bytes() {
        assert!(check_range(i64::MAX as u64 - 1, 1).is_ok());
        assert!(check_range(i64::MAX as u64, 1).is_err() && check_range(u64::MAX, 1).is_err());
    }
}
