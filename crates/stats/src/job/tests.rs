use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::DirectionRecorder;

mod since;

fn job(synchronous: bool, ns: u64) -> JobStats {
    let mut stats = JobStats::default();
    let mut read = DirectionRecorder::new(true, true, true, synchronous);
    read.ios = 1;
    read.bytes = 4096;
    if synchronous {
        read.record_synchronous(ns);
    } else {
        read.record_submissions(&[1]);
        read.record_completions(&[ns], &[ns + 1]);
    }
    stats.directions[0] = read.finish(ns);
    stats
}

fn lat(stats: &JobStats) -> (u64, u64, u64) {
    let lat = stats.directions[0].lat().unwrap();
    (lat.count(), lat.min(), lat.max())
}

#[test]
fn one_histogram_serves_clat_and_lat_of_synchronous_jobs() {
    let mut group = JobStats::default();
    group.merge(&job(true, 10));
    group.merge(&job(true, 30));
    assert_eq!(lat(&group), (2, 10, 30));
    assert_eq!(group.directions[0].clat.as_ref().unwrap().count(), 2);
    assert_eq!((group.directions[0].bytes, group.directions[0].runtime_ms), (8192, 30));
}

#[test]
fn copies_share_latencies_and_keep_them_when_others_are_added() {
    let mut sum = job(true, 10);
    let copy = sum.clone();
    let [shared, own] = [&copy, &sum].map(|stats| stats.directions[0].completion().unwrap());
    assert!(Arc::ptr_eq(shared, own));
    sum.merge(&job(true, 30));
    assert_eq!((lat(&copy), lat(&sum)), ((1, 10, 10), (2, 10, 30)));
}

#[test]
fn response_times_merge_over_jobs_and_directions_and_are_none_without_a_schedule() {
    let scheduled = |ns: u64| {
        let mut recorder = DirectionRecorder::new(true, true, true, true).with_response();
        (recorder.ios, recorder.bytes) = (1, 4096);
        recorder.record_synchronous(1);
        recorder.record_response(ns);
        recorder.finish(1)
    };
    let mut group = JobStats::default();
    group.directions[0] = scheduled(50);
    let mut other = job(true, 10);
    group.merge(&other);
    assert_eq!(group.directions[0].response.as_ref().unwrap().count(), 1);
    assert_eq!(group.directions[0].lat().unwrap().count(), 2);
    other.directions[1] = scheduled(70);
    assert!(other.directions[0].response.is_none());
    group.merge(&other);
    let mixed = group.mixed();
    let response = mixed.response.as_ref().unwrap();
    assert_eq!((response.count(), response.min(), response.max()), (2, 50, 70));
    let mut unlimited = DirectionRecorder::new(true, true, true, true);
    unlimited.record_response(5);
    assert!(unlimited.finish(1).response.is_none());
}

#[test]
fn directions_mix_as_jobs_do() {
    let mut stats = job(true, 10);
    let mut write = DirectionRecorder::new(true, true, true, true);
    (write.ios, write.bytes) = (1, 512);
    write.record_synchronous(30);
    stats.directions[1] = write.finish(7);
    stats.directions[0].bw.record(5);
    stats.directions[1].bw.record(2);
    let mixed = stats.mixed();
    assert_eq!((mixed.ios, mixed.bytes, mixed.runtime_ms), (2, 4608, 10));
    let lat = mixed.lat().unwrap();
    assert_eq!((lat.count(), lat.min(), lat.max()), (2, 10, 30));
    assert_eq!((mixed.bw.samples, mixed.bw.mean), (2, 7.0));
}

#[test]
fn mixed_groups_keep_the_two_latencies_apart_in_either_order() {
    for (first, second) in [(true, false), (false, true)] {
        let mut group = JobStats::default();
        group.merge(&job(first, 10));
        group.merge(&job(second, 10));
        assert_eq!(lat(&group), (2, 10, 11));
        assert_eq!(group.directions[0].clat.as_ref().unwrap().max(), 10);
    }
}

/// N, smallest, largest, mean and deviation of samples, straight from their definitions.
fn pooled(samples: &[u64]) -> (u64, u64, u64, f64, f64) {
    let n = samples.len() as f64;
    let mean = samples.iter().map(|&ns| u128::from(ns)).sum::<u128>() as f64 / n;
    let squares: f64 = samples.iter().map(|&ns| (ns as f64 - mean).powi(2)).sum();
    let stddev = if samples.len() < 2 { 0.0 } else { (squares / (n - 1.0)).sqrt() };
    let extremes = (samples.iter().min().copied(), samples.iter().max().copied());
    (samples.len() as u64, extremes.0.unwrap_or(0), extremes.1.unwrap_or(0), mean, stddev)
}

/// A job that did `samples` in one direction, by a synchronous engine or another (where lat is clat and 7 ns more).
fn job_of(direction: usize, synchronous: bool, samples: &[u64]) -> JobStats {
    let mut recorder = DirectionRecorder::new(true, true, true, synchronous);
    recorder.ios = samples.len() as u64;
    for &ns in samples {
        if synchronous {
            recorder.record_synchronous(ns);
        } else {
            recorder.record_submissions(&[7]);
            recorder.record_completions(&[ns], &[ns + 7]);
        }
    }
    let mut stats = JobStats::default();
    stats.directions[direction] = recorder.finish(1);
    stats
}

fn assert_pooled(latency: &Latency, samples: &[u64]) {
    let (n, min, max, mean, stddev) = pooled(samples);
    assert_eq!((latency.count(), latency.min(), latency.max()), (n, min, max));
    assert!((latency.mean() - mean).abs() <= mean * 1e-12, "{} is not {mean}", latency.mean());
    // The definition itself rounds each term; the integers do not.
    let tolerance = stddev * 1e-9 + max as f64 * 1e-12;
    assert!((latency.stddev() - stddev).abs() <= tolerance, "{} is not {stddev}", latency.stddev());
    let mut all = Latency::new();
    samples.iter().for_each(|&ns| all.record(ns));
    assert_eq!(latency.fio_bins(), all.fio_bins());
    assert_eq!(
        (latency.mean(), latency.stddev()),
        (all.mean(), all.stddev()),
        "merging changes nothing at all"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_group_has_the_figures_of_all_samples_together(
        jobs in vec((any::<bool>(), vec(0u64..1 << 41, 1..50)), 1..6),
    ) {
        let mut group = JobStats::default();
        jobs.iter().for_each(|(synchronous, samples)| group.merge(&job_of(0, *synchronous, samples)));
        let clat: Vec<u64> = jobs.iter().flat_map(|(_, samples)| samples).copied().collect();
        let lat: Vec<u64> = jobs
            .iter()
            .flat_map(|(synchronous, samples)| samples.iter().map(|ns| ns + if *synchronous { 0 } else { 7 }))
            .collect();
        let read = &group.directions[0];
        assert_pooled(read.clat.as_deref().unwrap(), &clat);
        assert_pooled(read.lat().unwrap(), &lat);
        let slat = read.slat.as_deref().map_or(0, Latency::count);
        prop_assert_eq!(slat, jobs.iter().filter(|(sync, _)| !sync).map(|(_, s)| s.len() as u64).sum::<u64>());
    }

    #[test]
    fn all_directions_together_have_the_figures_of_all_samples(
        directions in [vec(0u64..1 << 41, 1..50), vec(0u64..1000, 1..50), vec(0u64..1 << 30, 1..50)],
    ) {
        let mut stats = JobStats::default();
        for (direction, samples) in directions.iter().enumerate() {
            stats.merge(&job_of(direction, true, samples));
        }
        assert_pooled(stats.mixed().lat().unwrap(), &directions.concat());
    }
}

#[test]
fn large_latencies_with_a_small_deviation_keep_it() {
    // An hour each, differing by a nanosecond: doubles of the squares would not see the difference.
    let hour = 3_600_000_000_000;
    let mut group = job_of(0, true, &[hour; 500]);
    group.merge(&job_of(0, true, &[hour + 1; 500]));
    let lat = group.directions[0].lat().unwrap();
    assert!((lat.stddev() - (1000.0f64 / 999.0 / 4.0).sqrt()).abs() < 1e-12, "{}", lat.stddev());
    assert_eq!(lat.mean(), hour as f64 + 0.5);
}

#[test]
fn sums_beyond_64_bits_do_not_wrap() {
    let long = 1 << 61;
    let mut group = JobStats::default();
    (0..40).for_each(|_| group.merge(&job_of(0, true, &[long])));
    let lat = group.directions[0].lat().unwrap();
    assert_eq!((lat.count(), lat.mean(), lat.max()), (40, long as f64, long));
}

#[test]
fn syncs_of_a_group_are_pooled_too() {
    let mut group = JobStats::default();
    for samples in [[1000, 3000], [500, 9000]] {
        let mut job = JobStats::default();
        job.sync.ios = 2;
        samples.iter().for_each(|&ns| job.sync.record(ns));
        group.merge(&job);
    }
    assert_eq!(group.sync.ios, 4);
    assert_pooled(group.sync.latency.as_deref().unwrap(), &[1000, 3000, 500, 9000]);
}
