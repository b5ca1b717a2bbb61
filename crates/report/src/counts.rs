//! Sums of counts that come from documents and logs. These may be damaged: a sum that is too large is the largest number.

/// The sum of counts.
pub fn total(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Adds a count to a sum.
pub fn add_to(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}
