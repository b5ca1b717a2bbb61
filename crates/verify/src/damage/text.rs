//! Writes the explanation on one line.

use std::fmt;
use std::ops::Range;

use ferrio_job::counted;

use super::{Damage, DamageKind, DamagedPart, FoundWrite, WrongByte};

/// Units of devices and of the page cache, with their names.
const UNITS: [(u64, &str); 2] = [(4096, "page"), (512, "sector")];

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stretch = self.stretch();
        let part = match self.part {
            DamagedPart::Header => ", in the header",
            DamagedPart::Data => ", in the data",
            DamagedPart::Both => "",
        };
        match self.kind {
            DamageKind::BitFlip => {
                let Some(byte) = self.byte else { return f.write_str("a bit flip") };
                let (bit, is) = (byte.bit(), byte.found >> byte.bit() & 1);
                write!(f, "a bit flip: bit {bit} of byte {} is {is}, {}{part}", byte.at, self.bytes(&byte))
            }
            DamageKind::FewBytes => {
                let differing = self.differing.unwrap_or_default();
                let bytes = self.byte.map_or_else(String::new, |byte| self.bytes(&byte));
                match differing {
                    1 => write!(f, "a damaged byte: {stretch} is {bytes}{part}"),
                    _ => write!(f, "{differing} damaged bytes: {stretch}, the first is {bytes}{part}"),
                }
            }
            DamageKind::Zeros if self.is_whole() => {
                f.write_str("a block that was never written, or was trimmed: all of it is zeros")
            }
            DamageKind::Zeros => write!(f, "zeros in place of {stretch}"),
            DamageKind::Ones if self.is_whole() => f.write_str("an erased block: all bytes are ff"),
            DamageKind::Ones => write!(f, "bytes ff in place of {stretch}"),
            DamageKind::OtherFill => {
                write!(f, "bytes {:02x} in place of {stretch}", self.fill.unwrap_or_default())
            }
            DamageKind::OlderVersion => {
                write!(f, "a lost write: {stretch} {} an older version{}", self.holds(), self.numbers())
            }
            DamageKind::NewerVersion => {
                write!(f, "a later write: {stretch} {} a newer version{}", self.holds(), self.numbers())
            }
            DamageKind::TornWrite => {
                write!(f, "a torn write: {stretch} {} another version{}", self.holds(), self.numbers())?;
                self.boundary(f)
            }
            DamageKind::LostTrim => {
                write!(f, "a lost trim: {stretch} {} data that was trimmed{}", self.holds(), self.numbers())
            }
            DamageKind::OtherBlock => {
                write!(f, "a misdirected write: {stretch} {} data ", self.holds())?;
                match self.found.and_then(|found| found.offset) {
                    Some(offset) => write!(f, "of the block at offset {offset}{}", self.numbers()),
                    None => write!(f, "of another block{}", self.numbers()),
                }
            }
            DamageKind::OtherJob => {
                write!(f, "data of another job, which wrote {stretch}{}", self.numbers())
            }
            DamageKind::OtherRun => {
                write!(f, "data of another run, or of a job with other seeds: {stretch}{}", self.numbers())
            }
            DamageKind::Shifted => {
                let bytes = self.shift.unwrap_or_default();
                let direction = if bytes > 0 { "higher" } else { "lower" };
                let bytes = bytes.unsigned_abs();
                write!(
                    f,
                    "shifted data: {stretch} {} {} ",
                    if self.is_singular() { "is" } else { "are" },
                    counted(bytes, "byte")
                )?;
                write!(f, "too far towards {direction} offsets")
            }
            DamageKind::Header => write!(f, "a damaged header: {stretch}; everything else is right"),
            DamageKind::WrongPart => {
                write!(f, "contents of unknown origin in place of {stretch}; the rest is right")
            }
            DamageKind::NoHeader => {
                f.write_str("data of fio or ferrio without a header: was it written without verify?")
            }
            DamageKind::OtherOptions => {
                let options = self.options.as_deref().unwrap_or_default();
                write!(f, "sound data that was written with other options: {options}")
            }
            DamageKind::Unknown => f.write_str("nothing that fio or ferrio wrote"),
        }?;
        match self.unexplained_bytes {
            0 => Ok(()),
            1 => f.write_str("; 1 more byte is wrong"),
            unexplained_bytes => write!(f, "; {} are wrong", counted(unexplained_bytes, "more byte")),
        }
    }
}

impl Damage {
    /// Whether all of the block is damaged.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.range == (0..self.len)
    }

    /// The range, with its size in pages or sectors if it consists of them.
    fn stretch(&self) -> String {
        let Range { start, end } = self.range;
        if self.is_whole() {
            return "all of the block".to_owned();
        }
        if end == start + 1 {
            return format!("byte {start}");
        }
        let (from, len) = (self.offset + start, end - start);
        let unit = UNITS.iter().find(|(bytes, _)| from.is_multiple_of(*bytes) && len.is_multiple_of(*bytes));
        let size =
            unit.map_or_else(String::new, |(bytes, name)| format!(" ({})", counted(len / bytes, name)));
        format!("bytes {start} to {}{size}", end.saturating_sub(1))
    }

    /// Whether the stretch is one thing, not several bytes.
    fn is_singular(&self) -> bool {
        self.is_whole() || self.range.end - self.range.start == 1
    }

    /// The verb for the stretch.
    fn holds(&self) -> &'static str {
        if self.is_singular() { "holds" } else { "hold" }
    }

    /// A wrong byte.
    fn bytes(&self, byte: &WrongByte) -> String {
        let &WrongByte { at, found, wanted } = byte;
        let file_offset = self.offset + at;
        format!("{found:02x} instead of {wanted:02x} (file offset {file_offset})")
    }

    /// The write that was found and the one that should be there, in parentheses.
    fn numbers(&self) -> String {
        let FoundWrite { number, job, .. } =
            self.found.unwrap_or(FoundWrite { offset: None, number: None, job: None });
        let found = number.map(|number| format!("write number {number}"));
        let job = job.map(|job| format!("job {job}"));
        let found = match (found, job) {
            (Some(found), Some(job)) => Some(format!("{found} of {job}")),
            (found, job) => found.or(job),
        };
        let wanted = self.wanted_number.map(|number| format!("number {number} should be here"));
        let words: Vec<String> = found.into_iter().chain(wanted).collect();
        if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
    }

    /// The boundary between the two versions of a torn write.
    fn boundary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let boundary = if self.range.start > 0 { self.range.start } else { self.range.end };
        let file_offset = self.offset + boundary;
        let unit = UNITS.iter().find(|(bytes, _)| file_offset.is_multiple_of(*bytes));
        match unit {
            Some((_, name)) => write!(f, "; the boundary at byte {boundary} is that of a {name}"),
            None => write!(f, "; the boundary at byte {boundary} is not that of a sector"),
        }
    }
}
