//! The next offset of a sequential job: after the end of the last I/O, with holes, wrapping where fio wraps.

use ferrio_job::{Direction, JobSpec, RwPostfix};

use crate::step::Region;

/// The rules of sequential progression that all files of a job share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sequential {
    /// Bytes added between two I/Os; negative walks backwards.
    pub(crate) hole: i64,
    /// Whether the walk starts over at the end of the region instead of finishing the file.
    pub(crate) wraps: WrapRules,
}

/// The reasons why the end of a region is not the end of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WrapRules {
    /// `time_based` with one file.
    pub(crate) time_based: bool,
    /// A writer with `io_size` above `size`.
    pub(crate) rewrites: bool,
}

impl WrapRules {
    /// Whether a walk starts over at the end of its region.
    #[inline]
    pub(crate) fn any(self) -> bool {
        self.time_based || self.rewrites
    }
}

impl Sequential {
    /// The rules of a job over these regions.
    pub(crate) fn new(spec: &JobSpec, regions: &[Region]) -> Self {
        let beyond_size = spec.limits.io_size.is_some_and(|n| n > spec.limits.size);
        let wraps = WrapRules {
            time_based: spec.limits.time_based && regions.len() == 1,
            rewrites: spec.rw.does(Direction::Write) && beyond_size,
        };
        match spec.rw_postfix {
            RwPostfix::Hole(hole) if !spec.rw.is_random() => Sequential { hole, wraps },
            _ => Sequential { hole: 0, wraps },
        }
    }

    /// Position of the next I/O relative to the start of the region if the last one of its direction ended at `last_end` (absolute). `None`
    /// if the file has no more blocks. May be beyond the region: the caller checks. `end` is the position at which the walk starts over if
    /// it does: that of the region, unless the region is a zone.
    #[inline]
    pub(crate) fn next(&self, region: &Region, mut last_end: u64, end: u64) -> Option<u64> {
        if last_end >= end && self.wraps.any() {
            last_end = region.offset;
        }
        if last_end >= region.real_size {
            return None;
        }
        let end = region.size.min(region.real_size);
        if self.hole < 0 && last_end == region.offset && region.offset > 0 {
            // fio compares an absolute position with a length here; kept, because sequences are compared.
            last_end = end;
        }
        let mut position = last_end.wrapping_sub(region.offset);
        if position != 0 && self.hole != 0 {
            position = position.wrapping_add_signed(self.hole);
            if position >= region.real_size {
                position = if self.hole > 0 { region.offset } else { end.wrapping_add_signed(self.hole) };
            }
        }
        Some(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First `count` block numbers of a walk in 4 KiB blocks.
    fn walk(region: Region, hole: i64, count: usize) -> Vec<u64> {
        let rules = Sequential { hole, wraps: WrapRules::default() };
        let mut last_end = region.offset;
        let positions = std::iter::from_fn(|| {
            let position =
                rules.next(&region, last_end, region.offset + region.size).filter(|&p| p < region.size)?;
            last_end = region.offset + position + 4096;
            Some((region.offset + position) / 4096)
        });
        positions.take(count).collect()
    }

    #[test]
    fn a_backward_walk_with_an_offset_starts_at_the_length_of_the_region() {
        let region = Region { offset: 16 << 10, size: 64 << 10, real_size: 80 << 10 };
        assert_eq!(walk(region, -8192, 16), [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 18, 17, 16, 15, 14]);
    }

    #[test]
    fn a_backward_walk_of_one_block_repeats_the_first() {
        let region = Region { offset: 0, size: 64 << 10, real_size: 64 << 10 };
        assert_eq!(walk(region, -4096, 4), [0, 0, 0, 0]);
    }

    #[test]
    fn a_forward_walk_with_an_offset_ends_instead_of_wrapping() {
        let region = Region { offset: 64 << 10, size: 64 << 10, real_size: 128 << 10 };
        assert_eq!(walk(region, 4096, 100), [16, 18, 20, 22, 24, 26, 28, 30]);
    }
}
