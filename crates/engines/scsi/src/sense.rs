//! Error reports of devices in words: statuses and sense data, as the standards SAM and SPC define them.

use std::fmt::Write as _;

/// The result of a command, as the kernel returns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScsiStatus {
    /// Status of the device.
    pub device: u8,
    /// Status of the kernel and the adapter.
    pub host: u16,
    /// Status of the driver.
    pub driver: u16,
    /// Number of bytes that were not transferred.
    pub residual: i32,
}

impl ScsiStatus {
    /// True if the command succeeded.
    #[must_use]
    pub fn is_good(self) -> bool {
        // CONDITION MET is the success status of some commands. The suggestions of drivers add nothing.
        matches!(self.device & 0x7e, 0x00 | 0x04) && self.host == 0 && self.driver & 0x0f == 0
    }
}

/// Describes a failed command in one line: statuses, sense data and the command.
#[must_use]
pub fn failure(status: ScsiStatus, sense: &[u8], cdb: &[u8]) -> String {
    let mut text = String::new();
    if status.host != 0 {
        let _ = write!(text, "SCSI host status {:#04x} ({}); ", status.host, host_words(status.host));
    }
    if status.driver & 0x0f != 0 {
        let _ = write!(text, "SCSI driver status {:#04x}; ", status.driver);
    }
    if status.device != 0 {
        let _ = write!(text, "SCSI status {:#04x} ({}); ", status.device, status_words(status.device));
    }
    if let Some(sense) = Sense::parse(sense) {
        let _ = write!(text, "{}; ", sense.words());
    }
    if status.residual != 0 {
        let _ = write!(text, "{} bytes not transferred; ", status.residual);
    }
    text.push_str("command");
    cdb.iter().for_each(|byte| {
        let _ = write!(text, " {byte:02x}");
    });
    text
}

fn status_words(status: u8) -> &'static str {
    match status & 0x7e {
        0x02 => "check condition",
        0x04 => "condition met",
        0x08 => "busy",
        0x18 => "reservation conflict",
        0x28 => "task set full",
        0x30 => "ACA active",
        0x40 => "task aborted",
        _ => "unknown",
    }
}

fn host_words(status: u16) -> &'static str {
    match status {
        0x01 => "no connection",
        0x02 => "bus busy",
        0x03 => "timeout",
        0x04 => "bad target",
        0x05 => "aborted",
        0x06 => "parity error",
        0x07 => "error of the adapter",
        0x08 => "reset",
        0x09 => "unexpected interrupt",
        0x0a => "passthrough refused",
        0x0b => "soft error",
        0x0c => "retry at once",
        0x0d => "to be queued again",
        0x0e => "transport disrupted",
        0x0f => "transport failed",
        0x10 => "target failed",
        0x11 => "reserved by another",
        0x12 => "no space",
        0x13 => "medium error",
        _ => "unknown",
    }
}

/// The fields of sense data that describe the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sense {
    key: u8,
    code: u8,
    qualifier: u8,
    /// Command-specific information, usually a block number.
    information: Option<u64>,
}

impl Sense {
    /// Parses fixed and descriptor format; `None` for anything else.
    fn parse(sense: &[u8]) -> Option<Self> {
        let at = |index: usize| sense.get(index).copied().unwrap_or(0);
        match at(0) & 0x7f {
            0x70 | 0x71 if sense.len() > 2 => {
                let valid = at(0) & 0x80 != 0;
                let information = (3..7).fold(0, |sum, index| sum << 8 | u64::from(at(index)));
                Some(Sense {
                    key: at(2) & 0x0f,
                    code: at(12),
                    qualifier: at(13),
                    information: valid.then_some(information),
                })
            }
            0x72 | 0x73 if sense.len() > 3 => Some(Sense {
                key: at(1) & 0x0f,
                code: at(2),
                qualifier: at(3),
                information: descriptors(sense).find_map(|descriptor| match descriptor {
                    [0x00, _, flags, _, information @ ..] if flags & 0x80 != 0 && information.len() >= 8 => {
                        Some(information[..8].iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte)))
                    }
                    _ => None,
                }),
            }),
            _ => None,
        }
    }

    fn words(self) -> String {
        let Sense { key, code, qualifier, information } = self;
        let mut text = format!("sense key {key:#x} ({})", key_words(key));
        let _ = write!(text, ", asc {code:#04x}, ascq {qualifier:#04x}");
        if let Some(words) = code_words(code, qualifier) {
            let _ = write!(text, " ({words})");
        }
        if let Some(block) = information {
            let _ = write!(text, " at block {block}");
        }
        text
    }
}

/// The descriptors of sense data in descriptor format.
fn descriptors(sense: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = sense.get(8..).unwrap_or_default();
    std::iter::from_fn(move || {
        let len = usize::from(*rest.get(1)?) + 2;
        let (descriptor, after) = rest.split_at_checked(len)?;
        rest = after;
        Some(descriptor)
    })
}

fn key_words(key: u8) -> &'static str {
    match key {
        0x0 => "no sense",
        0x1 => "recovered error",
        0x2 => "not ready",
        0x3 => "medium error",
        0x4 => "hardware error",
        0x5 => "illegal request",
        0x6 => "unit attention",
        0x7 => "data protect",
        0x8 => "blank check",
        0x9 => "vendor specific",
        0xa => "copy aborted",
        0xb => "aborted command",
        0xd => "volume overflow",
        0xe => "miscompare",
        0xf => "completed",
        _ => "reserved",
    }
}

/// The additional codes that reads, writes, trims and syncs of disks can return. The standards define some hundreds more.
fn code_words(code: u8, qualifier: u8) -> Option<&'static str> {
    Some(match (code, qualifier) {
        (0x04, 0x00) => "logical unit not ready",
        (0x04, 0x01) => "logical unit is becoming ready",
        (0x04, 0x02) => "logical unit needs to be started",
        (0x04, 0x03) => "logical unit needs manual intervention",
        (0x04, 0x04) => "logical unit is being formatted",
        (0x04, 0x0a..=0x0c) => "logical unit not accessible by this path",
        (0x08, _) => "communication with the logical unit failed",
        (0x0c, 0x00) => "write error",
        (0x0c, 0x02) => "write error, reallocation failed",
        (0x10, _) => "protection information does not match",
        (0x11, 0x00) => "unrecovered read error",
        (0x11, _) => "read error",
        (0x1a, 0x00) => "parameter list of a wrong length",
        (0x1d, 0x00) => "data on the medium is other than the data that was sent",
        (0x20, 0x00) => "the device does not know this command",
        (0x21, 0x00) => "logical block out of range",
        (0x21, 0x04) => "write is not at the write pointer of its zone",
        (0x21, 0x06) => "read crosses the border of a zone",
        (0x24, 0x00) => "the device does not know this field of the command",
        (0x25, 0x00) => "logical unit not supported",
        (0x26, _) => "invalid field in the parameter list",
        (0x27, 0x00) => "write protected",
        (0x27, 0x07) => "no space left in the thin provisioning pool",
        (0x28, 0x00) => "the medium may have changed",
        (0x29, _) => "power on or reset",
        (0x2a, 0x09) => "the capacity has changed",
        (0x2c, 0x0e | 0x12) => "too many zones are open",
        (0x3a, _) => "no medium",
        (0x3e, _) => "logical unit failed",
        (0x3f, 0x0e) => "the logical units have changed",
        (0x44, _) => "internal failure of the target",
        (0x47, _) => "transmission error",
        (0x4e, _) => "overlapping commands",
        (0x55, _) => "no resources left in the device",
        (0x5d, _) => "a failure is predicted",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: ScsiStatus = ScsiStatus { device: 2, host: 0, driver: 8, residual: 0 };

    #[test]
    fn a_good_end_has_no_status_of_any_kind() {
        let of = |device, host, driver| ScsiStatus { device, host, driver, residual: 512 }.is_good();
        assert!(of(0, 0, 0) && of(4, 0, 0) && of(0, 0, 0x10));
        assert!(!of(2, 0, 0) && !of(8, 0, 0) && !of(0, 3, 0) && !of(0, 0, 6));
    }

    #[test]
    fn sense_data_of_the_fixed_format_has_key_code_and_block() {
        let mut sense = [0; 18];
        sense[0] = 0xf0;
        sense[2] = 0x03;
        sense[3..7].copy_from_slice(&[0, 0, 0x12, 0x34]);
        sense[7] = 10;
        (sense[12], sense[13]) = (0x11, 0x00);
        let text = failure(CHECK, &sense, &[0x28, 0, 0, 0, 0x12, 0x34, 0, 0, 8, 0]);
        let want = "SCSI driver status 0x08; SCSI status 0x02 (check condition); sense key 0x3 (medium error), asc 0x11, \
                    ascq 0x00 (unrecovered read error) at block 4660; command 28 00 00 00 12 34 00 00 08 00";
        assert_eq!(text, want);
        sense[0] = 0x70;
        assert!(!failure(CHECK, &sense, &[]).contains("at block"), "the block is not valid");
    }

    #[test]
    fn sense_data_of_the_descriptor_format_has_them_too() {
        let sense = [
            0x72, 0x05, 0x21, 0x00, 0, 0, 0, 20, //
            0x02, 0x06, 0, 0, 0x80, 0, 0, 0, // sense key specific: passed over
            0x00, 0x0a, 0x80, 0, 0, 0, 0, 1, 0, 0, 0, 5,
        ];
        let parsed = Sense::parse(&sense).unwrap();
        assert_eq!(parsed, Sense { key: 5, code: 0x21, qualifier: 0, information: Some(0x1_0000_0005) });
        let want = "sense key 0x5 (illegal request), asc 0x21, ascq 0x00 (logical block out of range) at block 4294967301";
        assert_eq!(parsed.words(), want);
    }

    #[test]
    fn sense_data_that_is_short_or_unknown_does_no_harm() {
        assert_eq!(Sense::parse(&[]), None);
        assert_eq!(Sense::parse(&[0x70, 0]), None);
        assert_eq!(Sense::parse(&[0x7f; 18]), None);
        let short = Sense::parse(&[0x70, 0, 0x06]).unwrap();
        assert_eq!(short.words(), "sense key 0x6 (unit attention), asc 0x00, ascq 0x00");
        let cut = [0x72, 0x03, 0x0c, 0x02, 0, 0, 0, 12, 0x00, 0x0a, 0x80];
        assert_eq!(Sense::parse(&cut).unwrap().information, None);
        assert_eq!(
            Sense::parse(&cut).unwrap().words(),
            "sense key 0x3 (medium error), asc 0x0c, ascq 0x02 (write error, reallocation failed)"
        );
    }

    #[test]
    fn statuses_have_words() {
        let text = failure(ScsiStatus { host: 3, residual: 512, ..ScsiStatus::default() }, &[], &[0x35]);
        assert_eq!(text, "SCSI host status 0x03 (timeout); 512 bytes not transferred; command 35");
        let text = failure(ScsiStatus { device: 0x18, ..ScsiStatus::default() }, &[], &[0x2a]);
        assert_eq!(text, "SCSI status 0x18 (reservation conflict); command 2a");
    }
}
