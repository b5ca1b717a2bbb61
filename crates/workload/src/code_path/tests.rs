//! The fast paths make the choices of the general one.

use ferrio_job::{
    AccessZone, Direction, Distribution, JobSpec, PerDirection, RandomOrder, ReadWrite, RwPostfix, Skew,
    SkewShape,
};
use proptest::prelude::*;

use super::{CalledPath, CodePath};
use crate::tests::any_job;
use crate::tests::support::{job, set_block};
use crate::{Io, Region, Step, Workload};

fn any_distribution() -> impl Strategy<Value = (Distribution, RandomOrder)> {
    let skewed = |shape| Just(Distribution::Skewed(Skew { shape, center: None }));
    let zones = |sizes: [u64; 3]| {
        let zones = [50, 30, 20].into_iter().zip(sizes).map(|(accesses, size)| AccessZone { accesses, size });
        let zones: Vec<_> = zones.collect();
        PerDirection([zones.clone(), zones.clone(), zones])
    };
    let uniform = Just(Distribution::Uniform);
    let distribution = prop_oneof![
        4 => uniform,
        1 => skewed(SkewShape::Zipf(1.2)),
        1 => skewed(SkewShape::Pareto(0.3)),
        1 => skewed(SkewShape::Normal(20.0)),
        1 => Just(Distribution::Zoned(zones([5, 15, 80]))),
        1 => Just(Distribution::ZonedAbs(zones([8192, 4096, 16384]))),
        1 => Just(Distribution::Sequence { blocks: vec![3, 1, 4], stride: true }),
    ];
    let order = prop::sample::select(vec![RandomOrder::Drawn, RandomOrder::Lfsr, RandomOrder::Permute]);
    (distribution, order)
}

/// Jobs over one file, most of them simple enough for a fast path.
fn any_simple_job() -> impl Strategy<Value = (JobSpec, Region)> {
    let choices = (any_distribution(), 0u32..8, any::<[bool; 4]>(), 0u64..400);
    (any_job(), choices).prop_map(|((mut spec, regions), choices)| {
        let ((distribution, order), rare, [fixed, same, time_based, syncs], io_size) = choices;
        if fixed {
            Direction::ALL.into_iter().for_each(|d| spec.block[d].max = spec.block[d].min);
        }
        if same {
            let (min, align) = (spec.block[Direction::Read].min, spec.block[Direction::Read].align);
            Direction::ALL.into_iter().for_each(|d| {
                spec.block[d].min = min;
                spec.block[d].max = spec.block[d].max.max(min);
                spec.block[d].align = align;
            });
        }
        if !syncs {
            spec.durability.fsync = 0;
        }
        if rare > 0 && spec.rw.is_random() {
            spec.rw_postfix = RwPostfix::None;
        }
        if rare == 1 {
            spec.percentage_random = PerDirection([100, 40, 70]);
        }
        spec.random_map &= distribution == Distribution::Uniform && order == RandomOrder::Drawn;
        spec.distribution = distribution;
        spec.random_order = order;
        spec.limits.time_based = time_based;
        spec.limits.io_size = (io_size > 100).then_some(io_size * 512);
        (spec, regions[0])
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_fast_paths_choose_as_the_general_one(
        (spec, region) in any_simple_job(),
        seed in 0u64..50,
        restart in 1u32..400,
        ramp in 1u32..400,
        paced in any::<bool>(),
    ) {
        let regions = [region];
        let Ok(mut short) = Workload::new(&spec, &regions, [seed; 24]) else { return Ok(()) };
        let mut general = Workload::general(&spec, &regions, [seed; 24]);
        for step in 0..600 {
            let other = |direction| if paced && step % 7 < 2 { Direction::Write } else { direction };
            let (a, b) = (short.next_paced(other), general.next_paced(other));
            prop_assert_eq!(a, b, "step {}", step);
            if a == Step::PassEnd {
                prop_assert_eq!(short.next(), Step::PassEnd);
                prop_assert_eq!(general.next(), Step::PassEnd);
            }
            if a == Step::PassEnd || step == restart {
                short.begin_pass();
                general.begin_pass();
            }
            if step == ramp {
                short.end_ramp();
                general.end_ramp();
            }
        }
    }
}

#[test]
fn a_random_length_reaches_into_a_partial_last_block() {
    let mut spec = job();
    spec.rw = ReadWrite::RandRead;
    spec.limits.time_based = true;
    set_block(&mut spec, 3072, 3584);
    let regions = [Region { offset: 0, size: 6656, real_size: 6656 }];
    let mut short = Workload::new(&spec, &regions, [0; 24]).unwrap();
    let mut general = Workload::general(&spec, &regions, [0; 24]);
    let steps: Vec<Step> = (0..600).map(|_| short.next()).collect();
    assert_eq!(steps, (0..600).map(|_| general.next()).collect::<Vec<_>>());
    let cut = Step::Io(Io { direction: Direction::Read, file: 0, offset: 3072, len: 3584 });
    assert!(steps.contains(&cut), "the second block and what follows it");
}

#[test]
fn blocks_of_more_than_4_gib_are_the_same_on_all_paths() {
    let regions = [Region { offset: 4096, size: 800 << 30, real_size: 900 << 30 }];
    for (rw, max, with_map) in [
        (ReadWrite::Trim, 5 << 30, true),
        (ReadWrite::RandTrim, 5 << 30, true),
        (ReadWrite::RandTrim, 20 << 30, false),
        (ReadWrite::RandTrim, 20 << 30, true),
        (ReadWrite::RandMixed, 20 << 30, true),
    ] {
        let mut spec = job();
        (spec.rw, spec.random_map, spec.limits.size) = (rw, with_map, 800 << 30);
        set_block(&mut spec, if max > 5 << 30 { 1 << 30 } else { max }, max);
        let mut short = Workload::new(&spec, &regions, [1; 24]).unwrap();
        let mut general = Workload::general(&spec, &regions, [1; 24]);
        let steps: Vec<Step> = (0..300).map(|_| short.next()).collect();
        assert_eq!(steps, (0..300).map(|_| general.next()).collect::<Vec<_>>(), "{rw:?} {max}");
        let long = |step: &&Step| matches!(step, Step::Io(io) if io.len > u32::MAX.into());
        assert!(steps.iter().filter(long).count() > 10, "{rw:?} {max}");
    }
}

/// The kind of path that a job takes over a file of 1 MiB.
fn kind(change: impl FnOnce(&mut JobSpec)) -> &'static str {
    let mut spec = job();
    change(&mut spec);
    let region = Region { offset: 0, size: 1 << 20, real_size: 1 << 20 };
    match CodePath::new(&spec, &[region], [1; 24]).unwrap() {
        CodePath::Sequential(_) => "sequential",
        CodePath::Random(_) => "random",
        CodePath::Called(CalledPath::VariedRandom(_)) => "varied random",
        CodePath::Called(CalledPath::Replay(_)) => "replay",
        CodePath::Called(CalledPath::Events(_)) => "events",
        CodePath::Called(CalledPath::General(_)) => "general",
    }
}

#[test]
fn a_job_takes_the_shortest_path() {
    assert_eq!(kind(|_| ()), "sequential");
    assert_eq!(kind(|spec| spec.rw = ReadWrite::Mixed), "general");
    assert_eq!(kind(|spec| set_block(spec, 4096, 65536)), "general");
    assert_eq!(kind(|spec| spec.rw_postfix = RwPostfix::Hole(4096)), "general");
    assert_eq!(kind(|spec| spec.rw = ReadWrite::RandRead), "random");
    assert_eq!(kind(|spec| spec.rw = ReadWrite::RandMixed), "varied random");
    let random = |change: fn(&mut JobSpec)| {
        kind(|spec| {
            spec.rw = ReadWrite::RandRead;
            spec.random_map = false;
            change(spec);
        })
    };
    assert_eq!(random(|spec| set_block(spec, 4096, 65536)), "varied random");
    assert_eq!(random(|spec| spec.random_order = RandomOrder::Lfsr), "random");
    assert_eq!(random(|spec| spec.random_order = RandomOrder::Permute), "random");
    let zipf = |spec: &mut JobSpec| {
        spec.distribution = Distribution::Skewed(Skew { shape: SkewShape::Zipf(1.2), center: None });
    };
    assert_eq!(random(zipf), "random");
    assert_eq!(random(|spec| spec.percentage_random[Direction::Read] = 50), "general");
    assert_eq!(random(|spec| spec.rw_postfix = RwPostfix::Every(8)), "general");
    assert_eq!(kind(|spec| spec.rw = ReadWrite::TrimWrite), "general");
}
