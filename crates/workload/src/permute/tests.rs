//! That an order is a permutation, and that it looks like one drawn at random. Seeds are fixed, so the figures are, too; limits
//! are those that one in ten thousand random orders exceeds.

use proptest::prelude::*;

use super::Permute;

/// How far from the mean, in standard deviations, a figure may lie.
const FAR: f64 = 3.9;

fn order(blocks: u64, seed: u64) -> Vec<u64> {
    let mut permute = Permute::new(blocks, seed, 0);
    std::iter::from_fn(|| permute.next()).collect()
}

/// Chi-square of counts that are all expected to be `expected`, in standard deviations from its mean.
fn chi_square(counts: &[u64], expected: f64, freedom: f64) -> f64 {
    let sum: f64 = counts.iter().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
    (sum - freedom) / (2.0 * freedom).sqrt()
}

proptest! {
    #[test]
    fn each_block_comes_once(blocks in 0u64..20_000, seed: u64, file in 0usize..5) {
        let mut permute = Permute::new(blocks, seed, file);
        for _ in 0..2 {
            let mut order: Vec<_> = std::iter::from_fn(|| permute.next()).collect();
            prop_assert_eq!(permute.next(), None);
            order.sort_unstable();
            prop_assert!(order.into_iter().eq(0..blocks));
            permute.rewind();
        }
    }

    #[test]
    fn no_two_places_of_a_huge_file_meet(blocks in 1u64 << 32..=1 << 63, seed: u64) {
        let mut permute = Permute::new(blocks, seed, 0);
        let mut some: Vec<_> = (0..1000).map(|_| permute.next().unwrap()).collect();
        prop_assert!(some.iter().all(|&block| block < blocks));
        some.sort_unstable();
        some.dedup();
        prop_assert_eq!(some.len(), 1000);
    }
}

#[test]
fn every_small_number_of_blocks_works() {
    for blocks in 0..300 {
        let mut order = order(blocks, 1);
        order.sort_unstable();
        assert!(order.into_iter().eq(0..blocks), "{blocks}");
    }
}

#[test]
fn orders_differ_by_seed_by_file_and_by_round_and_can_begin_again() {
    let of = |permute: &mut Permute| -> Vec<u64> { std::iter::from_fn(|| permute.next()).collect() };
    let mut permute = Permute::new(100, 1, 0);
    let first = of(&mut permute);
    permute.rewind();
    let second = of(&mut permute);
    permute.restart();
    assert_eq!(of(&mut permute), first);
    permute.rewind();
    assert_eq!(of(&mut permute), second);
    let others = [of(&mut Permute::new(100, 2, 0)), of(&mut Permute::new(100, 1, 1)), second];
    assert!(others.iter().all(|other| *other != first));
}

#[test]
fn every_block_is_equally_likely_at_every_place() {
    for blocks in [2u64, 3, 5, 7, 10, 16, 31, 100] {
        let seeds = 4_000;
        let mut counts = vec![0; (blocks * blocks) as usize];
        for seed in 0..seeds {
            for (place, block) in (0..).zip(order(blocks, seed)) {
                counts[(place * blocks + block) as usize] += 1;
            }
        }
        // Each row and each column of this table adds up to the number of seeds, so cells vary less than by themselves.
        let (n, mean) = (blocks as f64, seeds as f64 / blocks as f64);
        let sum: f64 = counts.iter().map(|&count: &u64| (count as f64 - mean).powi(2)).sum();
        let freedom = (n - 1.0).powi(2);
        let far = (sum * (n - 1.0) / seeds as f64 - freedom) / (2.0 * freedom).sqrt();
        assert!(far.abs() < FAR, "{blocks} blocks: {far}");
    }
}

#[test]
fn every_order_of_four_blocks_is_equally_likely() {
    let mut counts = vec![0u64; 256];
    for seed in 0..9_600 {
        let number = order(4, seed).into_iter().fold(0, |number, block| number * 4 + block);
        counts[number as usize] += 1;
    }
    counts.retain(|&count| count > 0);
    assert_eq!(counts.len(), 24);
    let far = chi_square(&counts, 400.0, 23.0);
    assert!(far.abs() < FAR, "{far}");
}

/// Sizes of the orders that figures are taken of: a square, a power of two, a prime, a number in between.
const SIZES: [u64; 4] = [250_000, 262_144, 300_007, 123_456];

#[test]
fn every_stretch_of_time_sees_all_parts_of_the_file_alike() {
    for blocks in SIZES {
        let order = order(blocks, 42);
        for parts in [8, 32, 100] {
            let mut counts = vec![0; (parts * parts) as usize];
            for (time, block) in (0..).zip(order.iter()) {
                counts[(time * parts / blocks * parts + block * parts / blocks) as usize] += 1;
            }
            let expected = blocks as f64 / (parts * parts) as f64;
            let far = chi_square(&counts, expected, ((parts - 1) * (parts - 1)) as f64);
            assert!(far.abs() < FAR, "{blocks} blocks, {parts} parts: {far}");
        }
    }
}

#[test]
fn neighbours_in_time_are_not_correlated() {
    for blocks in SIZES {
        let order: Vec<f64> = order(blocks, 42).into_iter().map(|block| block as f64).collect();
        let n = blocks as f64;
        let mean = (n - 1.0) / 2.0;
        let variance = (n * n - 1.0) / 12.0;
        for lag in [1, 2, 3, 8, 64, blocks.isqrt() as usize] {
            let pairs = order.iter().zip(&order[lag..]);
            let sum: f64 = pairs.map(|(a, b)| (a - mean) * (b - mean)).sum();
            let correlation = sum / variance / (n - lag as f64);
            let far = (correlation + 1.0 / n) * (n - lag as f64).sqrt();
            assert!(far.abs() < FAR, "{blocks} blocks, lag {lag}: {far}");
        }
    }
}

#[test]
fn rises_and_falls_alternate_as_in_a_random_order() {
    for blocks in SIZES {
        let order = order(blocks, 42);
        let n = blocks as f64;
        let runs = 1 + order.windows(3).filter(|w| (w[0] < w[1]) != (w[1] < w[2])).count();
        let far = (runs as f64 - (2.0 * n - 1.0) / 3.0) / ((16.0 * n - 29.0) / 90.0).sqrt();
        assert!(far.abs() < FAR, "{blocks} blocks: {far}");
    }
}

#[test]
fn steps_from_block_to_block_have_the_lengths_of_a_random_order() {
    for blocks in SIZES {
        let order = order(blocks, 42);
        let parts = 64;
        // Steps around the end of the file count as steps forward: then all lengths but 0 are equally likely.
        let mut counts = vec![0; parts as usize];
        let (mut adjacent, mut same_row) = (0, 0);
        let width = blocks.isqrt();
        for pair in order.windows(2) {
            let step = (pair[1] + blocks - pair[0]) % blocks;
            counts[((step - 1) * parts / (blocks - 1)) as usize] += 1;
            adjacent += u32::from(step == 1 || step == blocks - 1);
            same_row += u32::from(pair[0] / width == pair[1] / width);
        }
        let far = chi_square(&counts, (blocks - 1) as f64 / parts as f64, (parts - 1) as f64);
        assert!(far.abs() < FAR, "{blocks} blocks: {far}");
        // Two in the whole order on average, by the Poisson distribution.
        assert!(adjacent <= 11, "{blocks} blocks: {adjacent} steps to a neighbour");
        let expected = (blocks - 1) as f64 * (width - 1) as f64 / (blocks - 1) as f64;
        let far = (f64::from(same_row) - expected) / expected.sqrt();
        assert!(far.abs() < FAR, "{blocks} blocks: {far}");
    }
}
