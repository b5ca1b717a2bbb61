//! `sprandom`: a pass that brings an SSD to the state of long random writing, and the model behind it.
//!
//! The device is written once in random order, as much as its physical capacity, region by region. Of each region, some blocks are
//! written again soon after, so that they are invalid on flash, in the share that blocks of that age have when the device has been
//! written at random for a long time. The model is that of P. Desnoyers, "Analytic Models of SSD Write Performance", ACM Transactions on
//! Storage 8(2), 2012.

use std::sync::Arc;

/// `sprandom` of a job whose file is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Sprandom {
    /// `spr_op`: spare space of the device as a share of its logical capacity, above 0 and below 1.
    pub over_provisioning: f64,
    /// `spr_cs`: cache of the device in bytes. A block is written again only when more than this was written after it.
    pub cache_bytes: u64,
    /// Length of each write in bytes.
    pub block_bytes: u64,
    /// Logical capacity in blocks: each of them is written at least once.
    pub logical_blocks: u64,
    /// Physical capacity in blocks: what the job writes, repetitions included.
    pub physical_blocks: u64,
    /// Blocks of each region.
    pub region_blocks: u64,
    /// The share of each region's writes that are invalidated by the next region, in [`Sprandom::WHOLE`]ths, in the order written.
    pub invalid_shares: Arc<[u16]>,
}

impl Sprandom {
    /// The unit of shares: they are kept in 1/10000.
    pub const WHOLE: u16 = 10_000;
    /// Most regions. More do not differ in their shares.
    pub const MAX_REGIONS: u32 = 1_000_000;

    /// The pass over `logical_bytes`, in writes of `block_bytes`, of a device with this over-provisioning, above 0 and below 1. There may
    /// be more regions than blocks; regions then have no blocks.
    #[must_use]
    pub fn new(
        logical_bytes: u64,
        block_bytes: u64,
        regions: u32,
        over_provisioning: f64,
        cache_bytes: u64,
    ) -> Self {
        let block_bytes = block_bytes.max(1);
        let spare = (logical_bytes as f64 * over_provisioning).ceil() as u64;
        let physical_bytes = logical_bytes.saturating_add(spare);
        let physical_blocks = physical_bytes / block_bytes;
        Sprandom {
            over_provisioning,
            cache_bytes,
            block_bytes,
            logical_blocks: logical_bytes / block_bytes,
            physical_blocks,
            region_blocks: physical_blocks / u64::from(regions.max(1)),
            invalid_shares: invalid_shares(regions.max(1), over_provisioning),
        }
    }

    /// Bytes that the job writes if chance does not deviate from the model: each block once, and the repetitions of all regions but the
    /// last.
    #[must_use]
    pub fn expected_bytes(&self) -> u64 {
        let followed = self.invalid_shares.len().saturating_sub(1);
        let shares: u64 = self.invalid_shares[..followed].iter().map(|&share| u64::from(share)).sum();
        let repeated = u128::from(self.region_blocks) * u128::from(shares) / u128::from(Self::WHOLE);
        let repeated = u64::try_from(repeated).unwrap_or(u64::MAX);
        self.logical_blocks.saturating_add(repeated).saturating_mul(self.block_bytes)
    }

    /// Bytes that the flash writes for each byte of long random writing, by the model.
    #[must_use]
    pub fn write_amplification(&self) -> f64 {
        write_amplification(self.over_provisioning)
    }

    /// Blocks to keep memory for: the repetitions of the region that has most, and six standard deviations more.
    #[must_use]
    pub fn most_repetitions(&self) -> u64 {
        let share = self.invalid_shares.iter().copied().max().unwrap_or(0);
        let share = f64::from(share) / f64::from(Self::WHOLE);
        let blocks = self.region_blocks as f64;
        let most = blocks * share + 6.0 * (blocks * share * (1.0 - share)).sqrt();
        (most.ceil() as u64).min(self.region_blocks)
    }

    /// Bytes of each region.
    #[must_use]
    pub fn region_bytes(&self) -> u64 {
        self.region_blocks.saturating_mul(self.block_bytes)
    }

    /// Bytes of the physical capacity.
    #[must_use]
    pub fn physical_bytes(&self) -> u64 {
        self.physical_blocks.saturating_mul(self.block_bytes)
    }
}

fn write_amplification(over_provisioning: f64) -> f64 {
    0.5 / over_provisioning + 0.7
}

/// The invalid share of each of `regions` regions, the first one written first: the share of the blocks that the device would erase next,
/// down to none.
fn invalid_shares(regions: u32, over_provisioning: f64) -> Arc<[u16]> {
    let count = regions as usize;
    let erased_next = 1.0 - 1.0 / write_amplification(over_provisioning);
    let steps = f64::from(regions.saturating_sub(1).max(1));
    // At steady state, blocks of each validity between the two ends take space in inverse proportion to it.
    let validity: Vec<f64> =
        (0..regions).map(|at| 1.0 - (1.0 - erased_next) * f64::from(at) / steps).collect();
    let space: Vec<f64> = validity
        .iter()
        .scan(0.0, |sum, valid| {
            *sum += 1.0 / valid;
            Some(*sum)
        })
        .collect();
    let (first, last) = (space[0], space[count - 1]);
    let mut below = 0;
    let mut shares: Vec<u16> = (0..regions)
        .map(|at| {
            let wanted = first + (last - first) * f64::from(at) / steps;
            while below + 2 < count && space[below + 1] < wanted {
                below += 1;
            }
            let valid = match (space.get(below + 1), validity.get(below + 1)) {
                (Some(end), Some(then)) => {
                    let part = ((wanted - space[below]) / (end - space[below])).clamp(0.0, 1.0);
                    validity[below] + (then - validity[below]) * part
                }
                _ => validity[below],
            };
            ((1.0 - valid) * f64::from(Sprandom::WHOLE)).round() as u16
        })
        .collect();
    shares.reverse();
    shares.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(regions: u32, over_provisioning: f64) -> Vec<u16> {
        invalid_shares(regions, over_provisioning).to_vec()
    }

    /// Computed apart from this code, from the description of the model.
    #[test]
    fn shares_follow_the_model() {
        assert_eq!(shares(1, 0.15), [0]);
        assert_eq!(shares(2, 0.25), [3704, 0]);
        assert_eq!(shares(4, 0.15), [2479, 1730, 906, 0]);
        assert_eq!(shares(5, 0.5), [5882, 4852, 3611, 2020, 0]);
        assert_eq!(shares(10, 0.07), [1275, 1142, 1007, 869, 730, 588, 445, 299, 150, 0]);
        let default = shares(100, 0.15);
        assert_eq!(default[..5], [2479, 2458, 2436, 2414, 2392]);
        assert_eq!((default[50], &default[97..]), (1315, &[57, 29, 0][..]));
        assert_eq!(default.iter().map(|&share| u32::from(share)).sum::<u32>(), 129_793);
    }

    #[test]
    fn write_amplification_follows_from_the_spare_space() {
        let of = |op: f64| Sprandom::new(1 << 30, 4096, 100, op, 0).write_amplification();
        assert!((of(0.15) - 4.033_333).abs() < 1e-6, "{}", of(0.15));
        assert!((of(0.28) - 2.485_714).abs() < 1e-6, "{}", of(0.28));
    }

    #[test]
    fn capacities_are_whole_blocks() {
        // 1 GiB and 161061273.6 bytes, rounded up, are 301465 blocks and a rest.
        let pass = Sprandom::new(1 << 30, 4096, 100, 0.15, 0);
        assert_eq!((pass.logical_blocks, pass.physical_blocks, pass.region_blocks), (262_144, 301_465, 3014));
        assert_eq!((pass.physical_bytes(), pass.region_bytes()), (1_234_800_640, 12_345_344));
        // 262144 blocks, and 3014 times the 129793 ten-thousandths of the regions.
        assert_eq!(pass.expected_bytes(), (262_144 + 39_119) * 4096);
        // The first region has 747 repetitions, with a standard deviation of 23.7.
        assert_eq!(pass.most_repetitions(), 890);
    }

    #[test]
    fn there_may_be_too_many_regions() {
        assert_eq!(Sprandom::new(64 << 10, 4096, 19, 0.15, 0).region_blocks, 0);
        assert_eq!(Sprandom::new(64 << 10, 4096, 18, 0.15, 0).region_blocks, 1);
        assert_eq!(Sprandom::new(0, 4096, 4, 0.15, 0).expected_bytes(), 0);
    }
}
