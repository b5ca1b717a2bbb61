//! Whether the random maps of a job fit the memory, asked before they are made: an allocation that fails ends the program.

use ferrio_plan::JobSpec;

use crate::candidates::{has_map, map_unit, room};
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
    if regions.iter().any(|region| blocks(region) > MOST) || !can_have(all) {
        return Err(WorkloadError::MapTooLarge { blocks: all });
    }
    Ok(())
}

/// Whether there is memory for the maps of so many blocks. It is reserved and given back, no page of it is touched.
fn can_have(blocks: u64) -> bool {
    // One bit for each block, and one for 64 of these, and so on.
    let bytes = (blocks / 8).saturating_add(blocks / 504);
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_cannot_be_had() {
        assert!(can_have(1 << 20));
        assert!(!can_have(1 << 62));
        assert!(!can_have(u64::MAX));
    }
}
