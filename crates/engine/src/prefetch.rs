//! Prefetching memory that is needed soon.

/// Asks the processor to fetch the words at these indices into its caches, without waiting. Indices beyond the end are ignored, and so are
/// words in pages that were never touched.
#[inline]
pub fn prefetch_words(words: &[u64], indices: &[u64]) {
    for &index in indices {
        if let Some(word) = usize::try_from(index).ok().and_then(|index| words.get(index)) {
            prefetch(word);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn prefetch(word: &u64) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint: it changes no memory and raises no fault, and every x86-64 processor has it.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast()) };
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn prefetch(_word: &u64) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_beyond_the_end_are_ignored() {
        let words = vec![7; 100];
        prefetch_words(&words, &[0, 99, 100, u64::MAX]);
        prefetch_words(&[], &[0]);
        assert_eq!(words, [7; 100]);
    }
}
