use hdrhistogram::Histogram;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::Recorder;
use crate::latency::FIO_BUCKETS;

const PERCENTS: [f64; 22] = [
    1e-12, 0.01, 1.0, 5.0, 10.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 90.0, 95.0, 99.0,
    99.5, 99.9, 99.95, 99.99, 100.0,
];

fn of(samples: &[u64]) -> Latency {
    let mut latency = Latency::new();
    samples.iter().for_each(|&ns| latency.record(ns));
    latency
}

/// The sample of the rank that a percentage asks for, percentages in hundredths of a percent to stay in integers.
fn sorted_at(sorted: &[u64], hundredths: u64) -> u64 {
    let rank = (sorted.len() as u64 * hundredths).div_ceil(10_000).max(1);
    sorted[rank as usize - 1]
}

#[test]
fn every_hdr_bucket_lies_in_one_of_fios() {
    // Two neighbours fall into one HDR bucket exactly if their lowest equivalents agree; borders are where a bucket begins.
    let histogram = Histogram::<u64>::new_with_max(1 << 62, 2).unwrap();
    let mut low = 0;
    while low < 1 << 61 {
        let next = histogram.next_non_equivalent(low);
        assert_eq!(fio_bucket(low), fio_bucket(next - 1), "{low}..{next}");
        assert!((next - low).is_power_of_two() && low % (next - low) == 0);
        low = next;
    }
}

#[test]
fn every_bucket_border_of_fio_counts_where_fio_counts_it() {
    for index in 0..FIO_BUCKETS {
        // The lowest value of the bucket: exact to 127, then 64 buckets to a doubling.
        let low = match index {
            0..128 => index as u64,
            _ => (64 + index as u64 % 64) << (index / 64 - 1),
        };
        let middle = fio_bucket_value(index as u64);
        assert_eq!(of(&[low]).fio_bins(), [(middle, 1)]);
        if low > 0 {
            let before = fio_bucket_value(index as u64 - 1);
            assert_eq!(of(&[low - 1, low]).fio_bins(), [(before, 1), (middle, 1)]);
        }
    }
    let last = fio_bucket_value(FIO_BUCKETS as u64 - 1);
    assert_eq!(last, 17_112_760_320);
    assert_eq!(of(&[(1 << 34) - 1, 1 << 34, 1 << 40, 1 << 62]).fio_bins(), [(last, 4)]);
}

#[test]
fn the_error_of_a_lone_value_between_two_others_is_bounded_and_the_bound_is_met() {
    for buckets in [Buckets::Hdr, Buckets::Fio] {
        let bound = quantile_error(buckets);
        let mut worst = 0.0f64;
        for octave in 7..34 {
            for part in (0..64u64).step_by(7) {
                let ns = (1u64 << octave) + (part << octave >> 6);
                let got = of(&[0, ns, u64::MAX >> 2]).percentiles(buckets, &[50.0])[0].1;
                worst = worst.max(got.abs_diff(ns) as f64 / ns as f64);
            }
        }
        assert!(worst <= bound, "{buckets:?}: {worst}");
        assert_eq!(worst, bound, "{buckets:?}: the bound is no looser than it must be");
    }
    assert!(quantile_error(Buckets::Hdr) < 0.004 && quantile_error(Buckets::Fio) < 0.008);
}

#[test]
fn small_values_are_exact() {
    let all: Vec<u64> = (0..256).collect();
    let latency = of(&all);
    for ns in 0..256u64 {
        let percent = (ns as f64 + 0.5) / 256.0 * 100.0;
        assert_eq!(latency.percentiles(Buckets::Hdr, &[percent])[0].1, ns);
    }
}

#[test]
fn exact_ranks_are_found_without_rounding_errors() {
    let ranks = |count| [30.0, 50.5, 99.0, 99.9, 99.95, 99.99].map(|percent| rank(percent, count));
    assert_eq!(ranks(1000), [300, 505, 990, 999, 1000, 1000]);
    assert_eq!(ranks(2000), [600, 1010, 1980, 1998, 1999, 2000]);
    assert_eq!(ranks(10_000), [3000, 5050, 9900, 9990, 9995, 9999]);
    assert_eq!((rank(55.0, 700), rank(7.0, 100), rank(28.0, 100)), (385, 7, 28));
    assert_eq!((rank(33.333_333_333_333_336, 3), rank(33.333_333_333_333_33, 3)), (2, 1));
    assert_eq!(rank(99.9, u64::MAX), (u128::from(u64::MAX) * 999).div_ceil(1000) as u64);
}

#[test]
fn fios_ranks_take_the_percentage_for_the_nearest_double() {
    // What fio 3.33 printed for this number of I/Os.
    let of = |count| [30.0, 50.5, 99.9, 99.95, 99.99].map(|percent| fio_rank(percent, count));
    assert_eq!(of(100), [30, 51, 100, 100, 100]);
    assert_eq!(of(1000), [300, 505, 1000, 1000, 1000]);
    assert_eq!(of(2000), [600, 1010, 1999, 2000, 2000]);
    assert_eq!(of(10_000), [3000, 5050, 9991, 9996, 9999]);
    assert_eq!((fio_rank(55.0, 700), fio_rank(7.0, 100), fio_rank(28.0, 100)), (385, 7, 28));
}

#[test]
fn extreme_percentages_give_the_first_and_the_last_sample() {
    for rank in [rank, fio_rank] {
        for percent in [0.0, -1.0, f64::MIN_POSITIVE, 5e-324, 1e-300, 1e-30, f64::NAN] {
            assert_eq!(rank(percent, 1000), 1, "{percent}");
        }
        for percent in [100.0, 100.5, 1e6, 1e15] {
            assert_eq!(rank(percent, 1000), 1000, "{percent}");
        }
    }
    let latency = of(&[1003, 5007, 1 << 35, 77_777_777_777]);
    assert_eq!((latency.percentile(1e-9), latency.percentile(100.0)), (1003, 77_777_777_777));
    assert_eq!(latency.percentiles(Buckets::Fio, &[100.0])[0].1, 17_112_760_320);
}

#[test]
fn without_samples_there_are_no_percentiles() {
    assert_eq!(
        (Latency::new().percentile(50.0), Latency::new().percentiles(Buckets::Fio, &[50.0])),
        (0, vec![])
    );
}

#[test]
fn minutes_do_not_clip() {
    let latency = of(&[599_000_000_000, 600_000_000_000, 3_000_000_000_000]);
    assert!(latency.percentile(50.0).abs_diff(600_000_000_000) < 600_000_000_000 / 256);
    assert_eq!(of(&[600_000_000_000]).percentile(99.0), 600_000_000_000);
}

/// Latencies of one kind of run, perhaps one repeated.
fn samples() -> impl Strategy<Value = Vec<u64>> {
    let exponential = (0.0f64..9.0).prop_map(|power| 10f64.powf(power) as u64);
    prop_oneof![
        vec(0u64..100_000_000, 1..400),
        vec(exponential, 1..400),
        (0u64..1 << 40, 1usize..200).prop_map(|(ns, count)| std::vec::from_elem(ns, count)),
        vec(0u64..1 << 62, 1..8),
        vec((1u64 << 34)..1 << 42, 1..200),
        vec(0u64..600, 1..400),
    ]
}

fn recorded(samples: &[u64]) -> Latency {
    let mut recorder = Recorder::new();
    samples.iter().for_each(|&ns| recorder.record(ns));
    recorder.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn quantiles_are_near_the_sample_of_their_rank(mut samples in samples()) {
        let latency = recorded(&samples);
        samples.sort_unstable();
        let list: Vec<f64> = PERCENTS.into();
        let got = latency.percentiles(Buckets::Hdr, &list);
        for &(percent, ns) in &got {
            let exact = sorted_at(&samples, (percent * 100.0).round() as u64);
            prop_assert!(latency.min() <= ns && ns <= latency.max());
            let error = ns.abs_diff(exact) as f64;
            prop_assert!(error <= exact as f64 * quantile_error(Buckets::Hdr), "{percent}: {ns}, sample {exact}");
        }
        prop_assert!(got.is_sorted_by_key(|&(_, ns)| ns));
        prop_assert_eq!((got[0].1, got[got.len() - 1].1), (samples[0], samples[samples.len() - 1]));
    }

    #[test]
    fn fios_quantiles_are_its_bucket_of_the_sample_of_their_rank(mut samples in samples()) {
        let latency = recorded(&samples);
        samples.sort_unstable();
        for (percent, ns) in latency.percentiles(Buckets::Fio, &PERCENTS) {
            let sample = samples[fio_rank(percent, samples.len() as u64) as usize - 1];
            prop_assert_eq!(ns, fio_bucket_value(fio_bucket(sample) as u64));
            if sample < 1 << 34 {
                prop_assert!(ns.abs_diff(sample) as f64 <= sample as f64 * quantile_error(Buckets::Fio));
            }
        }
    }

    #[test]
    fn fios_buckets_count_every_sample_where_it_belongs(samples in samples()) {
        let mut counted = vec![0u64; FIO_BUCKETS];
        samples.iter().for_each(|&ns| counted[fio_bucket(ns)] += 1);
        let wanted: Vec<(u64, u64)> = (0u64..).map(fio_bucket_value).zip(counted).filter(|&(_, count)| count > 0).collect();
        prop_assert_eq!(recorded(&samples).fio_bins(), wanted);
    }

    #[test]
    fn a_rank_is_the_least_that_reaches_the_share(hundredths in 1u64..=10_000, count in 1u64..1_000_000_000) {
        let percent: f64 = format!("{}.{:02}", hundredths / 100, hundredths % 100).parse().unwrap();
        let wanted = (u128::from(hundredths) * u128::from(count)).div_ceil(10_000) as u64;
        prop_assert_eq!(rank(percent, count), wanted);
        prop_assert!(fio_rank(percent, count).abs_diff(wanted) <= 1);
    }
}
