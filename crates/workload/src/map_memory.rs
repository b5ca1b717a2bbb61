//! Whether what has a part for each block of a file fits the memory, asked before it is made: an allocation that fails ends the program.

use ferrio_job::JobSpec;

use crate::offset_space::{has_map, map_unit, room};
use crate::step::{Region, WorkloadError};

/// Most blocks of a file that a random map is made for (32 GiB of memory, touched as it is used).
const MOST: u64 = 1 << 38;

/// That the maps of all regions can be had at once, as far as the system tells.
///
/// # Errors
/// When they cannot.
pub(crate) fn holds_maps(spec: &JobSpec, regions: &[Region]) -> Result<(), WorkloadError> {
    if !has_map(spec) {
        return Ok(());
    }
    let unit = map_unit(spec);
    let blocks = |region: &Region| room(spec, region) / unit;
    let all = regions.iter().map(blocks).fold(0, u64::saturating_add);
    // One bit for each block, and one for 64 of these, and so on.
    let bytes = (all / 8).saturating_add(all / 504);
    if regions.iter().any(|region| blocks(region) > MOST) || !memory_is_there(bytes) {
        return Err(WorkloadError::MapTooLarge { blocks: all });
    }
    Ok(())
}

/// Whether so many bytes can be had at once, as far as the system tells. They are reserved and given back, no page is touched.
#[must_use]
pub fn memory_is_there(bytes: u64) -> bool {
    let Ok(bytes) = usize::try_from(bytes) else { return false };
    let mut probe = Vec::<u8>::new();
    let is_there = probe.try_reserve_exact(bytes).is_ok();
    // An optimiser may leave out memory that nobody looks at, and then everything would fit.
    std::hint::black_box(&probe);
    is_there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_cannot_be_had() {
        assert!(memory_is_there(1 << 20));
        assert!(!memory_is_there(1 << 60));
        assert!(!memory_is_there(u64::MAX));
    }
}
