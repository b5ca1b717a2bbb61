//! What the speed tests share: their list of names, their data and the measurement.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// The words of a comma-separated list; an empty list selects everything.
pub fn list_words(list: Option<&str>) -> Vec<&str> {
    list.unwrap_or_default().split(',').filter(|word| !word.is_empty()).collect()
}

/// True if `help` or `list` is among the words.
pub fn asks_for_names(words: &[&str]) -> bool {
    words.iter().any(|word| ["help", "list"].contains(word))
}

/// MiB per second of `work`, which processes `bytes` per call and is repeated for at least `span`.
pub fn speed(bytes: usize, span: Duration, mut work: impl FnMut()) -> f64 {
    // Unmeasured, to warm up caches and pages.
    work();
    let began = Instant::now();
    let mut rounds = 0u64;
    let mut batch = 1u64;
    loop {
        for _ in 0..batch {
            work();
        }
        rounds += batch;
        let elapsed = began.elapsed();
        if elapsed >= span {
            return rounds as f64 * bytes as f64 / f64::from(1 << 20) / elapsed.as_secs_f64();
        }
        // Larger batches keep the cost of the clock out of the result.
        batch = (batch * 2).min(1 << 16);
    }
}

/// `length` bytes that the optimiser cannot predict.
pub fn bytes(length: usize) -> Vec<u8> {
    black_box((0..length).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_work_per_time() {
        let mut done = 0u64;
        let began = Instant::now();
        let speed = speed(1 << 20, Duration::from_millis(20), || {
            done += 1;
            std::thread::yield_now();
        });
        let least = (done - 1) as f64 / began.elapsed().as_secs_f64();
        assert!(speed >= least * 0.999, "{speed} MiB/s, {least} rounds a second");
    }

    #[test]
    fn empty_words_of_a_list_are_skipped() {
        assert_eq!(list_words(Some("a,,b,")), ["a", "b"]);
        assert!(list_words(None).is_empty() && list_words(Some("")).is_empty());
    }
}
