//! Random jobs for property tests.

use ferrio_job::{
    AccessZone, BlockShare, BlockSizes, Direction, Distribution, FileService, Generator, JobSpec,
    PerDirection, RandomOrder, ReadWrite, RwPostfix, Seeding, Sequencer, Skew, SkewShape,
};
use proptest::prelude::*;

use super::support::{job, set_block};
use crate::{Region, Workload};

const KINDS: [ReadWrite; 10] = [
    ReadWrite::Read,
    ReadWrite::Write,
    ReadWrite::Trim,
    ReadWrite::RandRead,
    ReadWrite::RandWrite,
    ReadWrite::RandTrim,
    ReadWrite::Mixed,
    ReadWrite::RandMixed,
    ReadWrite::TrimWrite,
    ReadWrite::RandTrimWrite,
];

/// Files of 0 to 200 sectors, some in larger files.
fn any_regions() -> impl Strategy<Value = Vec<Region>> {
    let region = (0u64..40, 0u64..200, 0u64..20, 0u64..512).prop_map(|(offset, size, beyond, odd)| {
        let (offset, size) = (offset * 512, size * 512 + odd);
        Region { offset, size, real_size: offset + size + beyond * 512 }
    });
    prop::collection::vec(region, 1..4)
}

/// Jobs of every kind with small blocks, over `regions`.
pub(crate) fn any_job() -> impl Strategy<Value = (JobSpec, Vec<Region>)> {
    let kind = prop::sample::select(&KINDS[..]);
    let blocks = (1u64..9, 0u64..9, any::<bool>(), any::<bool>());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), 0u32..4);
    let numbers = (0u32..=100, 1u32..4, any::<u64>(), 1u32..3, -6i64..6);
    (kind, blocks, flags, numbers, any_regions()).prop_map(|(rw, blocks, flags, numbers, regions)| {
        let (min, more, unequal, aligned) = blocks;
        let (map, wide, fixed_seed, fsync) = flags;
        let (percent, every, seed, loops, hole) = numbers;
        let mut spec = job();
        spec.rw = rw;
        set_block(&mut spec, min * 512, (min + more) * 512);
        if unequal {
            spec.block[Direction::Write] = BlockSizes { min: 512, max: 512 * min, align: 512 };
        }
        if aligned && !map {
            spec.block[Direction::Read].align = 512;
        }
        if hole == 5 {
            let shares = vec![
                BlockShare { bytes: (min + more) * 512, percent: 1 + percent / 2 },
                BlockShare { bytes: min * 512, percent: 60 },
            ];
            spec.split = PerDirection([shares.clone(), Vec::new(), shares]);
        }
        spec.bs_unaligned = hole == 4;
        spec.random_map = map;
        spec.generator = if wide { Generator::Tausworthe64 } else { Generator::Tausworthe32 };
        spec.seeding = if fixed_seed { Seeding::Fixed(seed) } else { Seeding::Repeatable };
        spec.durability.fsync = fsync;
        spec.rwmixread = percent;
        spec.rw_postfix = match (rw.is_random(), every, hole) {
            (true, 2.., _) => RwPostfix::Every(every),
            (false, _, 1..) => RwPostfix::Hole(hole * 512),
            (false, _, -6..-4) => RwPostfix::Hole(hole * 512),
            _ => RwPostfix::None,
        };
        spec.sequencer = if hole > 0 { Sequencer::Identical } else { Sequencer::Sequential };
        spec.limits.size = regions.iter().map(|r| r.size).sum();
        spec.limits.loops = loops;
        (spec, regions)
    })
}

fn any_distribution() -> impl Strategy<Value = Distribution> {
    let shape = prop_oneof![
        (0.0f64..3.0).prop_filter("1 is no theta", |theta| *theta != 1.0).prop_map(SkewShape::Zipf),
        (0.01f64..0.99).prop_map(SkewShape::Pareto),
        (0.0f64..99.0).prop_map(SkewShape::Normal),
    ];
    let zones = |size: u64| {
        let zone = |accesses, size| AccessZone { accesses, size };
        (0u32..=100, 0..size, 0..size)
            .prop_map(move |(share, one, two)| vec![zone(share, one), zone(100 - share, two)])
    };
    let skew = (shape, prop::option::of(0.0f64..=1.0)).prop_map(|(shape, center)| Skew { shape, center });
    let lists = |list: Vec<AccessZone>| PerDirection([list.clone(), list, Vec::new()]);
    prop_oneof![
        Just(Distribution::Uniform),
        skew.prop_map(Distribution::Skewed),
        zones(50).prop_map(move |list| Distribution::Zoned(lists(list))),
        zones(20_000).prop_map(move |list| Distribution::ZonedAbs(lists(list))),
        (prop::collection::vec(0u64..30, 1..9), any::<bool>())
            .prop_map(|(blocks, stride)| Distribution::Sequence { blocks, stride }),
    ]
}

/// Random jobs over one to three files, with some seed the shift register can begin with.
pub(crate) fn any_random_job() -> impl Strategy<Value = (JobSpec, Vec<Region>)> {
    let kind = prop::sample::select(&[ReadWrite::RandRead, ReadWrite::RandWrite, ReadWrite::RandMixed][..]);
    let order = prop::sample::select(&[RandomOrder::Drawn, RandomOrder::Lfsr, RandomOrder::Permute][..]);
    let region = (0u64..40, 1u64..200, 0u64..20).prop_map(|(offset, size, beyond)| {
        let (offset, size) = (offset * 512, size * 512);
        Region { offset, size, real_size: offset + size + beyond * 512 }
    });
    let blocks = (1u64..5, 0u64..4, any::<bool>());
    let numbers = (0u32..=100, 1u32..4, 1u32..3, 0u64..1 << 40);
    let files = prop::collection::vec(region, 1..4);
    (kind, order, any_distribution(), blocks, numbers, files).prop_filter_map(
        "the register cannot begin",
        |(rw, order, distribution, (min, more, by_kind), (percent, every, loops, seed), regions)| {
            let mut spec = job();
            spec.rw = rw;
            set_block(&mut spec, min * 512, (min + more) * 512);
            spec.random_order = order;
            spec.distribution = distribution;
            spec.random_map = false;
            spec.percentage_random = PerDirection([percent, 100 - percent / 2, 100]);
            spec.rw_postfix = if every > 1 { RwPostfix::Every(every) } else { RwPostfix::None };
            spec.bs_is_seq_rand = by_kind;
            spec.seeding = if seed % 2 == 0 { Seeding::Fixed(seed) } else { Seeding::Repeatable };
            spec.number = 1 + (seed % 5) as u32;
            spec.limits.loops = loops;
            spec.limits.size = regions.iter().map(|region| region.size).sum();
            Workload::new(&spec, &regions, [0; 24]).is_ok().then_some((spec, regions))
        },
    )
}

/// Ways to choose among files.
pub(crate) fn any_service() -> impl Strategy<Value = FileService> {
    let shape = prop_oneof![
        (0.1f64..0.9).prop_map(SkewShape::Zipf),
        (0.1f64..0.9).prop_map(SkewShape::Pareto),
        (0.0f64..90.0).prop_map(SkewShape::Normal)
    ];
    prop_oneof![
        (1u32..5).prop_map(|ios| FileService::RoundRobin { ios }),
        (1u32..5).prop_map(|ios| FileService::Random { ios }),
        Just(FileService::Sequential),
        (shape, prop::option::of(0.0f64..1.0))
            .prop_map(|(shape, center)| FileService::Skewed(Skew { shape, center })),
    ]
}
