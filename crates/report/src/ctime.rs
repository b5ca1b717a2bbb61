//! Wall-clock time in the form of C's ctime(3): `Sat Nov  7 02:10:07 2026`.

use jiff::Zoned;

/// The local form of `time`, without a newline; days below 10 are padded with a blank.
#[must_use]
pub fn ctime(time: &Zoned) -> String {
    time.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::{Timestamp, tz::TimeZone};

    #[test]
    fn days_are_padded_with_a_blank() {
        let time = |second| Timestamp::from_second(second).unwrap().to_zoned(TimeZone::UTC);
        assert_eq!(ctime(&time(0)), "Thu Jan  1 00:00:00 1970");
        assert_eq!(ctime(&time(1_795_227_009)), "Sat Nov 21 02:10:09 2026");
    }

    #[test]
    fn another_zone_shows_its_own_wall_clock() {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(ctime(&Timestamp::UNIX_EPOCH.to_zoned(east)), "Thu Jan  1 02:00:00 1970");
    }
}
