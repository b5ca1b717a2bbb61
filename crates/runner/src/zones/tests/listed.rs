//! Zones in the place of a device, for tests: a file with the lines of `blkzone report`, which resets and finishes change.

use std::path::PathBuf;
use std::{fs, io};

use ferrio_engine::zones::{ZoneCondition, ZoneReport, ZoneType};

/// The file with the list.
#[derive(Debug)]
pub(crate) struct ListedZones(pub(crate) PathBuf);

const CONDITIONS: [(ZoneCondition, &str); 6] = [
    (ZoneCondition::NoPointer, "0(nw)"),
    (ZoneCondition::Empty, "1(em)"),
    (ZoneCondition::Active, "2(oi)"),
    (ZoneCondition::ReadOnly, "13(ro)"),
    (ZoneCondition::Full, "14(fu)"),
    (ZoneCondition::Offline, "15(ol)"),
];

const TYPES: [(ZoneType, &str); 3] = [
    (ZoneType::Conventional, "1(CONVENTIONAL)"),
    (ZoneType::SequentialRequired, "2(SEQ_WRITE_REQUIRED)"),
    (ZoneType::SequentialPreferred, "3(SEQ_WRITE_PREFERRED)"),
];

impl ListedZones {
    /// Zones from byte `from` on, at most two, so that several calls are needed.
    pub(crate) fn report(&self, from: u64) -> io::Result<Vec<ZoneReport>> {
        Ok(self.read()?.into_iter().filter(|zone| zone.start + zone.len > from).take(2).collect())
    }

    /// Changes the zone at `start`, as a command would.
    pub(crate) fn change(&self, start: u64, change: impl FnOnce(&mut ZoneReport)) -> io::Result<()> {
        let mut zones = self.read()?;
        let zone = zones.iter_mut().find(|zone| zone.start == start).ok_or(io::ErrorKind::InvalidInput)?;
        if matches!(
            zone.condition,
            ZoneCondition::Offline | ZoneCondition::ReadOnly | ZoneCondition::NoPointer
        ) {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        change(zone);
        fs::write(&self.0, zones.iter().map(line).collect::<String>())
    }

    /// All zones.
    pub(crate) fn read(&self) -> io::Result<Vec<ZoneReport>> {
        Ok(fs::read_to_string(&self.0)?.lines().map(zone).collect())
    }
}

/// `  start: 0x000000800, len 0x000800, cap 0x000600, wptr 0x000008 reset:0 non-seq:0, zcond: 2(oi) [type: 2(SEQ_WRITE_REQUIRED)]`
fn zone(line: &str) -> ZoneReport {
    let after = |name: &str| line.split_once(name).unwrap().1.trim_start();
    let bytes = |name: &str| {
        let number = after(name).trim_start_matches("0x");
        let end = number.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(number.len());
        u64::from_str_radix(&number[..end], 16).unwrap() * 512
    };
    let start = bytes("start:");
    let condition = after("zcond:");
    let kind = after("[type:");
    ZoneReport {
        start,
        len: bytes(", len"),
        capacity: bytes(", cap"),
        // Relative to the start of the zone.
        write_pointer: start + bytes(", wptr"),
        kind: TYPES.iter().find(|(_, text)| kind.starts_with(text)).unwrap().0,
        condition: CONDITIONS.iter().find(|(_, text)| condition.starts_with(text)).unwrap().0,
    }
}

fn line(zone: &ZoneReport) -> String {
    let sectors = |bytes: u64| format!("{:#08x}", bytes / 512);
    let kind = TYPES.iter().find(|(kind, _)| *kind == zone.kind).unwrap().1;
    let condition = CONDITIONS.iter().find(|(condition, _)| *condition == zone.condition).unwrap().1;
    format!(
        "  start: {}, len {}, cap {}, wptr {} reset:0 non-seq:0, zcond:{condition} [type: {kind}]\n",
        sectors(zone.start),
        sectors(zone.len),
        sectors(zone.capacity),
        sectors(zone.write_pointer - zone.start),
    )
}
