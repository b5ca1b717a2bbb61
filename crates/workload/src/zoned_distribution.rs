//! `random_distribution=zoned` and `zoned_abs`: parts of a file with their shares of accesses.
//!
//! One draw selects the zone by a table, another the block within it.

use ferrio_job::{AccessZone, BlockSizes, Direction, Distribution, PerDirection};

use crate::random::{Generator, Scale, Stream};

/// The zones of a job.
#[derive(Clone, Debug)]
pub(crate) struct ZonedChoice {
    zones: PerDirection<Option<AccessZoneTable>>,
    shares: Stream,
    hundred: Scale,
}

/// The zones of a direction.
#[derive(Clone, Debug)]
struct AccessZoneTable {
    /// The zone of each hundredth of the accesses.
    by_percent: Vec<u8>,
    spans: Vec<ZoneSpan>,
}

/// The range of a zone.
#[derive(Clone, Copy, Debug)]
enum ZoneSpan {
    /// Percent of the file's blocks.
    Percent { start: u64, size: u64 },
    /// Blocks of the file.
    Blocks { start: u64, end: u64 },
}

impl ZonedChoice {
    /// The zones of a distribution that has them. Zones in bytes are divided into blocks by the alignment of `block`.
    pub(crate) fn new(
        distribution: &Distribution,
        block: &PerDirection<BlockSizes>,
        seed: u64,
    ) -> Option<Self> {
        let (lists, in_bytes) = match distribution {
            Distribution::Zoned(lists) => (lists, false),
            Distribution::ZonedAbs(lists) => (lists, true),
            _ => return None,
        };
        let zones = |d: Direction| {
            let unit = if in_bytes { Some(block[d].align) } else { None };
            (!lists[d].is_empty()).then(|| AccessZoneTable::new(&lists[d], unit))
        };
        let shares = Stream::new(Generator::Tausworthe32, seed);
        Some(ZonedChoice {
            zones: PerDirection(Direction::ALL.map(zones)),
            hundred: shares.scale(100),
            shares,
        })
    }

    /// The next block of a direction among `n`, drawn from `offsets` within its zone. `None` if the zone ends beyond them.
    #[inline]
    pub(crate) fn next(&mut self, direction: Direction, n: u64, offsets: &mut Stream) -> Option<u64> {
        let Some(zones) = &self.zones[direction] else {
            return Some(offsets.below(offsets.scale(n)));
        };
        let percent = self.shares.below(self.hundred);
        let (start, count) = match zones.spans[usize::from(zones.by_percent[percent as usize])] {
            ZoneSpan::Percent { start, size } => (percent_of(n, start), percent_of(n, size)),
            ZoneSpan::Blocks { start, end } if end <= n => (start, end - start),
            ZoneSpan::Blocks { .. } => return None,
        };
        Some(start + offsets.below(offsets.scale(count)))
    }

    /// Restarts the stream that selects zones.
    pub(crate) fn reseed(&mut self, seed: u64) {
        self.shares.reseed(seed);
    }
}

impl AccessZoneTable {
    /// `unit` is that of zones in bytes.
    fn new(list: &[AccessZone], unit: Option<u64>) -> Self {
        let mut before = 0_u64;
        let mut zones =
            AccessZoneTable { by_percent: Vec::with_capacity(100), spans: Vec::with_capacity(list.len()) };
        for (number, zone) in (0..=u8::MAX).zip(list) {
            zones.by_percent.extend(std::iter::repeat_n(number, zone.accesses as usize));
            // Zones in bytes may add up to more than the size of the file.
            let after = before.saturating_add(zone.size);
            zones.spans.push(match unit {
                None => ZoneSpan::Percent { start: before, size: zone.size },
                Some(unit) => ZoneSpan::Blocks { start: before / unit, end: after / unit },
            });
            before = after;
        }
        debug_assert_eq!(zones.by_percent.len(), 100);
        zones
    }
}

/// `percent` of `n`, rounded down.
#[inline]
fn percent_of(n: u64, percent: u64) -> u64 {
    if n <= u64::MAX / 100 { n * percent / 100 } else { (u128::from(n) * u128::from(percent) / 100) as u64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Tausworthe32;

    fn zone(accesses: u32, size: u64) -> AccessZone {
        AccessZone { accesses, size }
    }

    fn blocks(align: u64) -> PerDirection<BlockSizes> {
        PerDirection([(); 3].map(|()| BlockSizes { min: 4096, max: 4096, align }))
    }

    /// Zones whose accesses add up to 100 and sizes to at most that.
    fn any_zones() -> impl Strategy<Value = Vec<AccessZone>> {
        prop::collection::vec((0u32..40, 0u64..20), 1..6).prop_map(|mut list| {
            let rest = |list: &[(u32, u64)]| 100u32.saturating_sub(list.iter().map(|zone| zone.0).sum());
            while rest(&list) == 0 {
                list.pop();
            }
            list.push((rest(&list), 3));
            list.truncate(256);
            list.into_iter().map(|(accesses, size)| zone(accesses, size.min(14))).collect()
        })
    }

    proptest! {
        #[test]
        fn zones_are_found_as_by_adding_up_shares(list in any_zones(), in_bytes: bool, n in 1u64..5000, seed: u32) {
            let lists = PerDirection([list.clone(), Vec::new(), list.clone()]);
            let distribution = if in_bytes { Distribution::ZonedAbs(lists) } else { Distribution::Zoned(lists) };
            let mut zoned = ZonedChoice::new(&distribution, &blocks(3), u64::from(seed)).unwrap();
            let mut offsets = Stream::new(Generator::Tausworthe32, 9);
            let (mut shares, mut places) = (Tausworthe32::new(u64::from(seed)), Tausworthe32::new(9));
            let unit = |draws: &mut Tausworthe32| f64::from(draws.draw()) / 4_294_967_296.0;
            for _ in 0..50 {
                let drawn = 1 + (100.0 * unit(&mut shares)) as u32;
                let (mut accesses, mut before) = (0, 0);
                let chosen = list.iter().find(|zone| {
                    accesses += zone.accesses;
                    before += zone.size;
                    drawn <= accesses
                });
                let size = chosen.unwrap().size;
                before -= size;
                let (start, count) = if in_bytes {
                    (before / 3, (before + size) / 3 - before / 3)
                } else {
                    (before * n / 100, n * size / 100)
                };
                let got = zoned.next(Direction::Trim, n, &mut offsets);
                if in_bytes && start + count > n {
                    prop_assert_eq!(got, None);
                } else {
                    prop_assert_eq!(got, Some(start + (count as f64 * unit(&mut places)) as u64));
                }
            }
        }
    }

    #[test]
    fn a_direction_without_zones_is_uniform_and_draws_no_zone() {
        let lists = PerDirection([vec![zone(100, 1)], Vec::new(), Vec::new()]);
        let mut zoned = ZonedChoice::new(&Distribution::Zoned(lists), &blocks(4096), 1).unwrap();
        let mut offsets = Stream::new(Generator::Tausworthe32, 1);
        let writes: Vec<_> =
            (0..200).filter_map(|_| zoned.next(Direction::Write, 1000, &mut offsets)).collect();
        assert!(writes.iter().any(|&block| block > 900));
        let reads: Vec<_> =
            (0..200).filter_map(|_| zoned.next(Direction::Read, 1000, &mut offsets)).collect();
        assert!(reads.len() == 200 && reads.iter().all(|&block| block < 10));
    }

    #[test]
    fn zones_that_add_up_to_more_than_any_file_has_are_never_chosen() {
        let lists =
            PerDirection([vec![zone(1, 4096), zone(49, u64::MAX), zone(50, u64::MAX)], vec![], vec![]]);
        let mut zoned = ZonedChoice::new(&Distribution::ZonedAbs(lists), &blocks(4096), 1).unwrap();
        let mut offsets = Stream::new(Generator::Tausworthe32, 1);
        let chosen: Vec<_> =
            (0..500).filter_map(|_| zoned.next(Direction::Read, 1000, &mut offsets)).collect();
        assert!(!chosen.is_empty() && chosen.iter().all(|&block| block == 0), "{chosen:?}");
    }

    #[test]
    fn shares_of_very_many_blocks_do_not_overflow() {
        assert_eq!(percent_of(1 << 62, 50), 1 << 61);
        assert_eq!(percent_of(u64::MAX, 100), u64::MAX);
    }
}
