//! The status of a failed command: a type and a code.

use std::fmt;

/// The status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Status code type.
    pub kind: u8,
    /// Status code.
    pub code: u8,
}

impl Status {
    /// Converts the positive result of a passed-through command.
    #[must_use]
    pub const fn of(result: u32) -> Self {
        Status { kind: (result >> 8) as u8 & 7, code: result as u8 }
    }

    /// The name of the status in the specifications, for statuses of I/O commands.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        Some(match (self.kind, self.code) {
            (0, 0x01) => "Invalid Command Opcode",
            (0, 0x02) => "Invalid Field in Command",
            (0, 0x04) => "Data Transfer Error",
            (0, 0x06) => "Internal Error",
            (0, 0x07) => "Command Abort Requested",
            (0, 0x0b) => "Invalid Namespace or Format",
            (0, 0x15) => "Operation Denied",
            (0, 0x20) => "Namespace is Write Protected",
            (0, 0x80) => "LBA Out of Range",
            (0, 0x81) => "Capacity Exceeded",
            (0, 0x82) => "Namespace Not Ready",
            (0, 0x83) => "Reservation Conflict",
            (1, 0x80) => "Conflicting Attributes",
            (1, 0x81) => "Invalid Protection Information",
            (1, 0x82) => "Attempted Write to Read Only Range",
            (1, 0xb8) => "Zoned Boundary Error",
            (1, 0xb9) => "Zone Is Full",
            (1, 0xba) => "Zone Is Read Only",
            (1, 0xbb) => "Zone Is Offline",
            (1, 0xbc) => "Zone Invalid Write",
            (1, 0xbd) => "Too Many Active Zones",
            (1, 0xbe) => "Too Many Open Zones",
            (1, 0xbf) => "Invalid Zone State Transition",
            (2, 0x80) => "Write Fault",
            (2, 0x81) => "Unrecovered Read Error",
            (2, 0x82) => "End-to-end Guard Check Error",
            (2, 0x83) => "End-to-end Application Tag Check Error",
            (2, 0x84) => "End-to-end Reference Tag Check Error",
            (2, 0x85) => "Compare Failure",
            (2, 0x86) => "Access Denied",
            (2, 0x87) => "Deallocated or Unwritten Logical Block",
            _ => return None,
        })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cq entry status (sct=0x{:02x}; sc=0x{:02x})", self.kind, self.code)?;
        match self.name() {
            Some(name) => write!(f, ": {name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_told_in_numbers_and_in_words() {
        assert_eq!(Status::of(0x80).to_string(), "cq entry status (sct=0x00; sc=0x80): LBA Out of Range");
        assert_eq!(Status::of(0x4285), Status { kind: 2, code: 0x85 }, "bits above are not part of it");
        assert_eq!(Status::of(0x285).name(), Some("Compare Failure"));
        assert_eq!(Status::of(0x7ff).to_string(), "cq entry status (sct=0x07; sc=0xff)");
    }
}
