//! Skewed choices against sums and formulas written out without preparation.

use ferrio_job::{Skew, SkewShape};
use proptest::prelude::*;

use super::{SPREAD, SkewedChoice};
use crate::random::{BATCH, Tausworthe32};

/// The same choices by formulas alone.
fn plain(skew: &Skew, n: u64, seed: u64, hashed: bool, count: usize) -> Vec<u64> {
    let mut draws = Tausworthe32::new(seed);
    let size = n as f64;
    let mut shift = 0;
    if !matches!(skew.shape, SkewShape::Normal(_)) {
        shift = u64::from(draws.draw());
        if let Some(center) = skew.center {
            shift = (size * center) as u64;
        }
    } else if let Some(center) = skew.center {
        let away = (size * (center - 0.5)) as i64;
        shift = if away < 0 { n - away.unsigned_abs() } else { away as u64 };
    }
    let mut rank = || match skew.shape {
        SkewShape::Zipf(theta) => {
            let zetan: f64 = (1..=n.min(10_000_000)).map(|i| (1.0 / i as f64).powf(theta)).sum();
            let u = f64::from(draws.draw()) / 4_294_967_295.0;
            let zeta2 = 1.0 + 0.5f64.powf(theta);
            let eta = (1.0 - (2.0 / size).powf(1.0 - theta)) / (1.0 - zeta2 / zetan);
            if u * zetan < 1.0 {
                0
            } else if u * zetan < zeta2 {
                1
            } else {
                (size * (eta * u - eta + 1.0).powf(1.0 / (1.0 - theta))).floor() as u64
            }
        }
        SkewShape::ZipfExact(_) => unreachable!("fio has no such distribution"),
        SkewShape::Pareto(h) => {
            let u = f64::from(draws.draw()) / 4_294_967_295.0;
            ((n - 1) as f64 * u.powf(h.ln() / (1.0 - h).ln())).floor() as u64
        }
        SkewShape::Normal(deviation) => {
            let sum: u64 = (0..12).map(|_| u64::from(draws.draw()) % (n + 1)).sum();
            let mean = (sum as i128 + 11) / 12;
            let width = ((size * deviation / 100.0).ceil() as i128).min(i128::from(n / 2));
            if width == 0 {
                return mean as u64;
            }
            let mut away = width * i128::from(draws.draw()) / (1 << 32) - width / 2;
            while away != 0 && !(0..i128::from(n)).contains(&(mean + away)) {
                away /= 2;
            }
            (mean + away) as u64
        }
    };
    let place = |rank: u64| if hashed { rank.wrapping_mul(SPREAD) } else { rank };
    (0..count).map(|_| place(rank()).wrapping_add(shift) % n).collect()
}

fn any_skew() -> impl Strategy<Value = Skew> {
    let shape = prop_oneof![
        (0.0f64..4.0).prop_filter("1 is no theta", |theta| *theta != 1.0).prop_map(SkewShape::Zipf),
        (0.001f64..0.999).prop_map(SkewShape::Pareto),
        (0.0f64..100.0).prop_map(SkewShape::Normal),
        Just(SkewShape::Normal(0.0)),
    ];
    (shape, prop::option::of(0.0f64..=1.0)).prop_map(|(shape, center)| Skew { shape, center })
}

proptest! {
    #[test]
    fn prepared_choices_are_those_of_the_formulas(skew in any_skew(), n in 1u64..3000, seed: u64, hashed: bool) {
        let mut skewed = SkewedChoice::new(&skew, n, seed, hashed);
        let got: Vec<_> = (0..40).map(|_| skewed.next()).collect();
        prop_assert_eq!(&got, &plain(&skew, n, seed, hashed, 40));
        prop_assert!(got.iter().all(|&choice| choice < n));
    }

    #[test]
    fn choices_among_very_many_things_stay_below_their_number(skew in any_skew(), n in 1u64 << 40..1 << 60, seed: u64) {
        // Millions of terms are added by a test of their own.
        prop_assume!(!matches!(skew.shape, SkewShape::Zipf(_)));
        let mut skewed = SkewedChoice::new(&skew, n, seed, true);
        prop_assert!((0..40).all(|_| skewed.next() < n));
    }
}

#[test]
fn the_popular_blocks_of_zipf_are_few() {
    let mut skewed =
        SkewedChoice::new(&Skew { shape: SkewShape::Zipf(1.2), center: Some(0.5) }, 1000, 7, false);
    let mut hits = vec![0; 1000];
    (0..100_000).for_each(|_| hits[skewed.next() as usize] += 1);
    assert_eq!(hits.iter().max(), Some(&hits[500]), "rank 0 lies at the center");
    hits.sort_unstable();
    let hottest: u32 = hits.iter().rev().take(10).sum();
    assert!((55_000..65_000).contains(&hottest), "{hottest}");
}

#[test]
fn a_seed_makes_the_choices_of_fio() {
    let choices = |shape, center, hashed| {
        let mut skewed = SkewedChoice::new(&Skew { shape, center }, 1000, 12_345, hashed);
        std::array::from_fn::<_, 8, _>(|_| skewed.next())
    };
    assert_eq!(choices(SkewShape::Zipf(1.2), None, true), [146, 385, 969, 15, 808, 277, 146, 969]);
    assert_eq!(choices(SkewShape::Zipf(0.8), Some(0.25), false), [252, 426, 492, 715, 467, 260, 251, 490]);
    assert_eq!(choices(SkewShape::Pareto(0.3), None, true), [146, 376, 691, 229, 930, 346, 146, 45]);
    assert_eq!(choices(SkewShape::Pareto(0.2), Some(0.7), false), [700, 735, 767, 940, 754, 700, 700, 766]);
    assert_eq!(choices(SkewShape::Normal(20.0), None, true), [766, 244, 568, 391, 814, 444, 14, 915]);
    assert_eq!(choices(SkewShape::Normal(15.0), Some(0.75), false), [996, 754, 618, 604, 733, 893, 614, 450]);
    assert_eq!(choices(SkewShape::Normal(0.0), None, true), [982, 260, 460, 653, 152, 67, 237, 929]);
}

/// Theta, number of blocks and number of I/Os for which fio's approximation misses half of the blocks.
const MISSED: (f64, u64, u32) = (0.8, 102_400, 1_024_000);

fn hits(shape: SkewShape, center: Option<f64>) -> Vec<u32> {
    let (_, n, ios) = MISSED;
    let mut skewed = SkewedChoice::new(&Skew { shape, center }, n, 0x89, true);
    let mut hits = vec![0; n as usize];
    (0..ios).for_each(|_| hits[skewed.next() as usize] += 1);
    hits
}

fn touched(hits: &[u32]) -> f64 {
    hits.iter().filter(|&&hits| hits > 0).count() as f64
}

#[test]
fn an_exact_zipf_touches_as_many_blocks_as_the_law_says() {
    let (theta, n, ios) = MISSED;
    let all: f64 = (1..=n).map(|k| (k as f64).powf(-theta)).sum();
    let share = |k: u64| (k as f64).powf(-theta) / all;
    let missed = |k| (1.0 - share(k)).powf(f64::from(ios));
    let expected: f64 = (1..=n).map(|k| 1.0 - missed(k)).sum();
    // Blocks take I/Os from one another, so that independent ones would differ more.
    let sigma: f64 = (1..=n).map(|k| missed(k) * (1.0 - missed(k))).sum::<f64>().sqrt();
    assert!((0.96..0.97).contains(&(expected / n as f64)), "{expected}");

    let exact = hits(SkewShape::ZipfExact(theta), Some(0.5));
    let found = touched(&exact);
    assert!((found - expected).abs() < 4.0 * sigma, "{found} of {expected} +- {sigma}");
    // Rank 1 lies at the center, the others one step after the other from there.
    let step = super::coprime_step(n);
    for k in [1, 2, 3, 10, 100, 1000] {
        let found = f64::from(exact[((n / 2 + (k - 1) * step) % n) as usize]);
        let (mean, sigma) = (share(k) * f64::from(ios), (share(k) * f64::from(ios)).sqrt());
        assert!((found - mean).abs() < 4.0 * sigma, "rank {k}: {found} of {mean} +- {sigma}");
    }

    let approximated = touched(&hits(SkewShape::Zipf(theta), Some(0.5))) / n as f64;
    assert!((0.46..0.48).contains(&approximated), "docs/distributions.md says 47 %, not {approximated}");
}

#[test]
fn an_exact_zipf_follows_its_seed_and_is_the_same_in_batches() {
    let skew = Skew { shape: SkewShape::ZipfExact(1.0), center: None };
    for hashed in [false, true] {
        let of_seed = |seed| {
            let mut skewed = SkewedChoice::new(&skew, 1000, seed, hashed);
            (0..BATCH).map(|_| skewed.next()).collect::<Vec<_>>()
        };
        let mut batch = [0; BATCH];
        SkewedChoice::new(&skew, 1000, 7, hashed).fill(&mut batch);
        assert_eq!(of_seed(7), batch);
        assert_ne!(of_seed(7), of_seed(8));
    }
}

#[test]
fn an_exact_zipf_has_its_most_popular_file_at_the_center() {
    let mut skewed =
        SkewedChoice::new(&Skew { shape: SkewShape::ZipfExact(1.2), center: Some(0.25) }, 8, 7, false);
    let mut hits = [0; 8];
    (0..10_000).for_each(|_| hits[skewed.next() as usize] += 1);
    assert!(hits[2] > hits[3] && hits[3] > hits[4] && hits[4] > hits[5], "{hits:?}");
}
