//! How long an interval is: the piece of a block that carries one header.

/// The interval of a job in bytes, from `verify_interval` and the smallest and largest block sizes of writes and, if the job reads
/// too, of reads.
///
/// A reader must come to the same interval as the writer. The choice is fio's: an interval that does not fit the block sizes is
/// replaced, not refused. Block sizes lie between 1 byte and the largest `u32`, as every I/O does.
#[must_use]
pub fn resolve_interval(option: Option<u32>, writes: (u64, u64), reads: Option<(u64, u64)>) -> u32 {
    let (min, max) = writes;
    let mut interval = option.map_or(if min == max { 0 } else { min }, u64::from);
    if interval > min {
        interval = min;
    } else if let Some((read_min, _)) = reads
        && interval > read_min
    {
        interval = read_min;
    }
    if interval == 0 || min % interval != 0 || max % interval != 0 {
        interval = greatest_common_divisor(min, max);
    }
    u32::try_from(interval).unwrap_or(u32::MAX)
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_block_size_is_one_interval() {
        assert_eq!(resolve_interval(None, (4096, 4096), None), 4096);
    }

    #[test]
    fn an_interval_that_divides_all_sizes_is_kept() {
        assert_eq!(resolve_interval(Some(512), (4096, 8192), Some((4096, 4096))), 512);
    }

    #[test]
    fn an_odd_interval_becomes_the_common_divisor() {
        assert_eq!(resolve_interval(Some(1000), (4096, 4096), None), 4096);
        assert_eq!(resolve_interval(Some(1000), (4096, 6144), None), 2048);
    }

    #[test]
    fn varying_sizes_use_the_smallest_that_divides() {
        assert_eq!(resolve_interval(None, (4096, 16384), None), 4096);
        assert_eq!(resolve_interval(None, (4096, 6144), None), 2048);
    }

    #[test]
    fn an_interval_beyond_a_block_is_cut() {
        assert_eq!(resolve_interval(Some(65536), (4096, 4096), None), 4096);
        assert_eq!(resolve_interval(Some(4096), (8192, 8192), Some((2048, 2048))), 2048);
    }
}
