//! Sums of counts read from documents and logs. A damaged file can contain any number, so these sums saturate at [`u64::MAX`].

/// The saturating sum of counts.
pub fn saturating_total(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Adds a count to a sum, saturating.
pub fn saturating_add_to(sum: &mut u64, count: u64) {
    *sum = sum.saturating_add(count);
}
