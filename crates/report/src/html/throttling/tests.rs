use super::super::tracks::{TrackDirection, tracks};
use super::*;
use crate::model::{DirectionSeries, JobReport, Pairs, Series};

const SEEDS: std::ops::Range<u64> = 1..100;

/// Numbers from -1 to 1 that look random; the same for the same seed (splitmix64).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// I/Os of rows of half a second; `of` has those of each row, to which up to this part of noise is added.
fn noisy(rows: usize, part: f64, seed: u64, of: impl Fn(usize) -> f64) -> Vec<u64> {
    let mut noise = Noise(seed);
    (0..rows).map(|row| (of(row) * (1.0 + part * noise.next())).max(0.0).round() as u64).collect()
}

fn entry(ios: &[u64]) -> Series {
    let read = DirectionSeries {
        ios: ios.to_vec(),
        bytes: ios.iter().map(|ios| ios * 4096).collect(),
        ..DirectionSeries::default()
    };
    Series {
        jobname: "a".to_owned(),
        interval_ms: 500,
        time_ms: (1..=ios.len() as u64).map(|row| row * 500).collect(),
        iodepth_mean: vec![Some(8.0); ios.len()],
        read: Some(read),
        ..Series::default()
    }
}

/// The falls of the rates of a run with these entries.
fn falls_of(entries: &[Series], change: impl Fn(&mut RunReport)) -> Vec<RateFall> {
    let ferrio = FerrioReport { series: entries.to_vec(), ..FerrioReport::default() };
    let job = JobReport { jobname: "a".to_owned(), ..JobReport::default() };
    let mut report = RunReport { jobs: vec![job], ferrio: Some(ferrio), ..RunReport::default() };
    change(&mut report);
    let found = rate_falls(&report, report.ferrio.as_ref().unwrap(), &tracks(entries));
    found.into_iter().map(|(_, fall)| fall).collect()
}

fn falls(ios: &[u64]) -> Vec<RateFall> {
    falls_of(&[entry(ios)], |_| {})
}

fn step(at: usize, before: f64, after: f64) -> impl Fn(usize) -> f64 {
    move |row| if row < at { before } else { after }
}

#[test]
fn a_rate_that_falls_and_stays_low_is_found_where_it_falls() {
    for seed in SEEDS {
        for (rows, at) in [(20, 5), (20, 15), (60, 20), (240, 30), (480, 400)] {
            for (after, part) in [(0.17, 0.2), (0.5, 0.12), (0.6, 0.05)] {
                let found = falls(&noisy(rows, part, seed, step(at, 1500.0, 1500.0 * after)));
                let [RateFall { ms, iops, bandwidth }] = &found[..] else {
                    panic!("{found:?}: {rows} rows, {at}, {after}, seed {seed}")
                };
                assert_eq!(ms, &[0, at as u64 * 500, rows as u64 * 500], "seed {seed}");
                assert!(
                    (iops[0] - 3000.0).abs() < 3000.0 * part
                        && (iops[1] - 3000.0 * after).abs() < 3000.0 * part
                );
                assert!((bandwidth[1] - iops[1] * 4096.0).abs() < 1.0);
            }
        }
    }
    let text = falls(&noisy(60, 0.0, 1, step(20, 1500.0, 255.0)))[0].text();
    let wanted = "the rate fell from 3.000k to 510 I/Os per second (11.72 MiB/s to 1.992 MiB/s) and stayed there, as with a \
         burst limit or a full cache";
    assert_eq!(text, wanted);
}

#[test]
fn a_few_rows_on_the_other_side_do_not_hide_a_fall() {
    for seed in SEEDS {
        let mut ios = noisy(100, 0.1, seed, step(40, 2000.0, 300.0));
        (ios[10], ios[70], ios[71]) = (0, 2000, 1900);
        assert_eq!(falls(&ios).iter().map(|fall| fall.ms[1]).collect::<Vec<_>>(), [20_000], "seed {seed}");
    }
}

#[test]
fn noise_drift_stalls_dips_and_rises_are_no_falls() {
    type Shape = Box<dyn Fn(usize) -> f64>;
    let shapes: Vec<(&str, Shape)> = vec![
        ("constant", Box::new(|_| 1000.0)),
        ("small fall", Box::new(step(50, 1000.0, 800.0))),
        ("rise", Box::new(step(50, 300.0, 1000.0))),
        ("drift", Box::new(|row| 1000.0 - 8.0 * row as f64)),
        ("steep drift", Box::new(|row| 1000.0 - 9.9 * row as f64)),
        ("decay", Box::new(|row| 1000.0 * (-(row as f64) / 50.0).exp())),
        ("long stall", Box::new(|row| if (40..60).contains(&row) { 0.0 } else { 1000.0 })),
        ("slow for a while", Box::new(|row| if (40..70).contains(&row) { 200.0 } else { 1000.0 })),
        ("stall to the end", Box::new(step(70, 1000.0, 0.0))),
        ("dips", Box::new(|row| if row % 10 < 2 { 100.0 } else { 1000.0 })),
        ("long dips", Box::new(|row| if row % 30 < 12 { 100.0 } else { 1000.0 })),
        ("waves", Box::new(|row| 1000.0 + 700.0 * (row as f64 / 8.0).sin())),
        ("slow at the end only", Box::new(step(96, 1000.0, 100.0))),
        ("fast at first only", Box::new(step(4, 1000.0, 100.0))),
    ];
    for seed in SEEDS {
        for (name, shape) in &shapes {
            for part in [0.0, 0.1, 0.5] {
                assert_eq!(falls(&noisy(100, part, seed, shape)), [], "{name}, noise {part}, seed {seed}");
            }
        }
        let wild = noisy(100, 1.0, seed, |_| 1000.0);
        assert_eq!(falls(&wild), [], "seed {seed}");
        // A random walk, as that of a device which collects garbage.
        for rows in [30, 100, 480] {
            let (mut noise, mut level) = (Noise(seed), 100_000.0_f64);
            let next = |_| {
                level = (level * (1.0 + 0.05 * noise.next())).max(1.0);
                level as u64
            };
            assert_eq!(falls(&(0..rows).map(next).collect::<Vec<_>>()), [], "{rows} rows, seed {seed}");
        }
    }
    assert_eq!(falls(&noisy(19, 0.1, 1, step(8, 1000.0, 100.0))), [], "too few rows");
    assert_eq!(falls(&[]), []);
    assert_eq!(falls(&[0; 50]), []);
}

#[test]
fn the_ramp_is_not_part_of_it() {
    let mut ramped = entry(&noisy(60, 0.1, 3, step(30, 1000.0, 200.0)));
    ramped.ramp_until_ms = 10_000;
    assert_eq!(falls_of(&[ramped.clone()], |_| {})[0].ms, [10_000, 15_000, 30_000]);
    ramped.ramp_until_ms = 15_000;
    assert_eq!(falls_of(&[ramped], |_| {}), []);
}

#[test]
fn jobs_with_a_pace_of_their_own_do_not_count() {
    let one = entry(&noisy(60, 0.1, 3, step(30, 1000.0, 200.0)));
    let with = |name: &str, own: bool| {
        let options = Pairs(vec![(name.to_owned(), "1".to_owned())]);
        falls_of(std::slice::from_ref(&one), |report| {
            if own {
                report.jobs[0].job_options = options.clone()
            } else {
                report.global_options = options.clone()
            }
        })
        .len()
    };
    assert_eq!((with("bs", true), with("bs", false)), (1, 1));
    for name in PACING_OPTIONS {
        assert_eq!((with(name, true), with(name, false)), (0, 0), "{name}");
    }
}

#[test]
fn jobs_that_begin_or_end_explain_a_lower_rate() {
    let ios = noisy(60, 0.1, 3, step(30, 1000.0, 200.0));
    // Another job begins and takes its part of the device.
    let other = Series { jobname: "b".to_owned(), start_ms: 15_000, time_ms: vec![30_000], ..entry(&[5]) };
    assert_eq!(falls_of(&[entry(&ios), other.clone()], |_| {}), []);
    // Long before, it explains nothing.
    let early = Series { start_ms: 2000, ..other };
    assert_eq!(falls_of(&[entry(&ios), early], |_| {})[0].ms, [2000, 15_000, 30_000]);
    // Clones that end one after the other, and those that end with the fall.
    let clones: Vec<Series> =
        (1..=5).map(|one| entry(&noisy(12 * one, 0.1, one as u64, |_| 500.0))).collect();
    assert_eq!(falls_of(&clones, |_| {}), []);
    let (short, long) = (entry(&noisy(30, 0.1, 1, |_| 800.0)), entry(&noisy(60, 0.1, 2, |_| 200.0)));
    assert_eq!(falls_of(&[short, long], |_| {}), []);
    // As one entry, they have fewer I/Os in flight.
    let mut grouped = entry(&ios);
    grouped.iodepth_mean[30..].fill(Some(1.6));
    assert_eq!(falls_of(&[grouped.clone()], |_| {}), []);
    grouped.iodepth_mean.fill(None);
    assert_eq!(falls_of(&[grouped], |_| {}).len(), 1, "where nothing is known of them");
}

#[test]
fn other_work_is_not_a_slower_device() {
    // After writes, reads that verify them.
    let written = noisy(60, 0.1, 3, step(30, 1000.0, 0.0));
    let read = noisy(60, 0.1, 4, step(30, 0.0, 400.0));
    let mut verifying = entry(&read);
    verifying.write = entry(&written).read;
    assert_eq!(falls_of(&[verifying], |_| {}), []);
    // Larger blocks, as many bytes; and smaller blocks, as many I/Os.
    let ios = noisy(60, 0.1, 3, step(30, 1000.0, 200.0));
    for (same_bytes, ios, bytes) in [(true, &ios, &written), (false, &written, &ios)] {
        let mut entry = entry(ios);
        let read = entry.read.as_mut().unwrap();
        read.bytes =
            if same_bytes { vec![4_096_000; 60] } else { bytes.iter().map(|ios| ios * 4096).collect() };
        if !same_bytes {
            read.ios = vec![1000; 60];
        }
        assert_eq!(falls_of(&[entry], |_| {}), [], "same bytes: {same_bytes}");
    }
}

#[test]
fn throttled_cpus_explain_a_fall() {
    let one = entry(&noisy(60, 0.1, 3, step(30, 1000.0, 200.0)));
    let with = |from_ms, to_ms| {
        let period = ThrottlingPeriod { from_ms, to_ms, cause: ThrottlingCause::Heat, throttled_ms: None };
        let found = falls_of(std::slice::from_ref(&one), |report| {
            report.ferrio.as_mut().unwrap().throttling = vec![period.clone()];
        });
        found.len()
    };
    assert_eq!((with(15_000, 30_000), with(0, 15_000), with(20_000, 21_000)), (0, 1, 1));
}

#[test]
fn throttled_cpus_are_events_of_all_jobs() {
    let text = |cause, throttled_ms| {
        cpu_text(&ThrottlingPeriod { cause, throttled_ms, ..ThrottlingPeriod::default() })
    };
    let (cgroup, heat) = (ThrottlingCause::Cgroup, ThrottlingCause::Heat);
    assert_eq!(
        text(cgroup, Some(2100)),
        "the CPU limit of the cgroup stopped threads for 2.100 s, added over CPUs"
    );
    assert_eq!(text(cgroup, None), "the CPU limit of the cgroup stopped threads");
    assert_eq!(text(heat, Some(90)), "heat slowed down the CPUs for 90 ms");
    assert_eq!(text(heat, None), "heat slowed down the CPUs");
}

#[test]
fn a_track_without_figures_has_no_rate() {
    let track =
        Track { edges: vec![0, 500], directions: vec![TrackDirection::default()], ..Track::default() };
    assert_eq!(fall(&track, [0, 500]), None);
}
