//! Tests of the machine that need no jobs: the speed of checksums and of copying memory, and the CPUs' clocks.
//!
//! Lines have the form of fio's, so that scripts read both programs.

mod checksums;
mod clocks;
mod copies;

use std::hint::black_box;
use std::time::{Duration, Instant};

pub use checksums::checksums;
pub use clocks::clocks;
pub use copies::copies;

/// The words of a comma list; nothing chosen means everything.
fn chosen(list: Option<&str>) -> Vec<&str> {
    list.unwrap_or_default().split(',').filter(|word| !word.is_empty()).collect()
}

fn asks_for_names(words: &[&str]) -> bool {
    words.iter().any(|word| ["help", "list"].contains(word))
}

/// MiB per second of `work`, which handles `bytes` each time, done again and again for at least `span`.
fn speed(bytes: usize, span: Duration, mut work: impl FnMut()) -> f64 {
    // Once without looking at the clock: caches and pages become warm.
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
        // Short work must not be measured together with the clock.
        batch = (batch * 2).min(1 << 16);
    }
}

/// `length` bytes that no optimiser knows.
fn bytes(length: usize) -> Vec<u8> {
    black_box((0..length).map(|at| (at.wrapping_mul(0x9e37_79b9) >> 13) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_counts_what_was_done() {
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
    fn lists_leave_empty_words_out() {
        assert_eq!(chosen(Some("a,,b,")), ["a", "b"]);
        assert!(chosen(None).is_empty() && chosen(Some("")).is_empty());
    }
}
