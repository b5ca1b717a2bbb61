//! The local time of day.

use std::{env, io};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::interruptions::bytes_of_file;

/// The time zone of the machine, as localtime(5) describes it.
const LOCALTIME: &str = "/etc/localtime";

/// The current time in the time zone of `TZ` or of the machine; UTC if `/etc/localtime` exists but cannot be read.
#[must_use]
pub fn local_now() -> Zoned {
    // jiff finds a zone by its name, and first lists the hundreds of files of all zones. The name is not needed.
    let of_machine = || match bytes_of_file(LOCALTIME) {
        Ok(bytes) => TimeZone::tzif("local", &bytes).ok(),
        // Without /etc/localtime, jiff looks elsewhere.
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(TimeZone::UTC),
    };
    let zone = if env::var_os("TZ").is_some() { None } else { of_machine() };
    Timestamp::now().to_zoned(zone.unwrap_or_else(TimeZone::system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_is_that_of_the_zone_with_its_name() {
        let now = local_now();
        assert_eq!(now.offset(), TimeZone::system().to_offset(now.timestamp()));
    }
}
