//! Sums of `(1/i)^theta`, which zipf needs: exact, as they come out when the terms are added one by one.
//!
//! Ten million terms take a tenth of a second, and a job may have thousands of files, and clones: so the sums on the way are kept
//! at regular steps and shared by all that have the same theta. What is kept depends on nothing but theta.

use std::sync::{Mutex, PoisonError};

/// Most terms that are added.
const MOST: u64 = 10_000_000;
/// Terms between two sums that are kept.
const STEP: u64 = 1024;

/// Each theta (its bits) with the sums of its first 0, 1024, 2048, ... terms, as far as anyone has needed them.
static SUMS: Mutex<Vec<(u64, Vec<f64>)>> = Mutex::new(Vec::new());

/// The sum of the first `n` terms, of the first ten million if there are more.
pub(super) fn zeta(theta: f64, n: u64) -> f64 {
    let n = n.min(MOST);
    let whole = n / STEP;
    let start = kept(theta, whole as usize);
    add(start, theta, whole * STEP, n)
}

/// The sum of the first `steps * STEP` terms. Whoever needs the same theta meanwhile waits rather than adding as well.
fn kept(theta: f64, steps: usize) -> f64 {
    // A panic elsewhere cannot leave a wrong sum: sums are only ever appended whole.
    let mut all = SUMS.lock().unwrap_or_else(PoisonError::into_inner);
    let at = all.iter().position(|(bits, _)| *bits == theta.to_bits()).unwrap_or_else(|| {
        all.push((theta.to_bits(), vec![0.0]));
        all.len() - 1
    });
    let sums = &mut all[at].1;
    while sums.len() <= steps {
        let done = (sums.len() as u64 - 1) * STEP;
        let sum = add(sums[sums.len() - 1], theta, done, done + STEP);
        sums.push(sum);
    }
    sums[steps]
}

/// Adds terms number `from + 1` to `to`.
fn add(mut sum: f64, theta: f64, from: u64, to: u64) -> f64 {
    for i in from + 1..=to {
        sum += (1.0 / i as f64).powf(theta);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_the_same_in_whatever_order_sums_are_asked_for() {
        for n in [5000, 1, 0, 1024, 1023, 2048, 70_000, 1025, 6000] {
            assert_eq!(zeta(1.37, n), add(0.0, 1.37, 0, n), "{n}");
        }
    }
}
