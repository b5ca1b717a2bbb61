//! Properties of all ways to choose random offsets, on random jobs.

use std::collections::HashMap;

use ferrio_job::{
    AccessZone, Direction, Distribution, JobSpec, Law, PerDirection, RandomOrder, ReadWrite, RwPostfix,
    Seeding, Skew,
};
use proptest::prelude::*;

use crate::testing::{job, set_block, steps};
use crate::{Io, Region, Step, Workload};

fn any_distribution() -> impl Strategy<Value = Distribution> {
    let law = prop_oneof![
        (0.0f64..3.0).prop_filter("1 is no theta", |theta| *theta != 1.0).prop_map(Law::Zipf),
        (0.01f64..0.99).prop_map(Law::Pareto),
        (0.0f64..99.0).prop_map(Law::Normal),
    ];
    let zones = |size: u64| {
        let zone = |accesses, size| AccessZone { accesses, size };
        (0u32..=100, 0..size, 0..size)
            .prop_map(move |(share, one, two)| vec![zone(share, one), zone(100 - share, two)])
    };
    let skew = (law, prop::option::of(0.0f64..=1.0)).prop_map(|(law, center)| Skew { law, center });
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
fn any_job() -> impl Strategy<Value = (JobSpec, Vec<Region>)> {
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

fn ios(steps: Vec<Step>) -> Vec<Io> {
    steps.into_iter().filter_map(|step| if let Step::Io(io) = step { Some(io) } else { None }).collect()
}

/// A pass, from the start of a file to the end of all.
fn pass(workload: &mut Workload) -> Vec<Io> {
    let mut pass = Vec::new();
    while let Step::Io(io) = workload.next() {
        pass.push(io);
    }
    pass
}

proptest! {
    #[test]
    fn no_choice_leaves_its_region((spec, regions) in any_job()) {
        let mut workload = Workload::new(&spec, &regions, [0; 24]).unwrap();
        for io in ios(steps(&spec, &mut workload)) {
            let region = regions[io.file as usize];
            let end = io.offset + u64::from(io.len);
            prop_assert!(io.offset >= region.offset && io.offset < region.offset + region.size, "{io:?}");
            prop_assert!(end <= region.real_size, "{io:?}");
            prop_assert!(spec.rw.does(io.direction), "{io:?}");
        }
    }

    #[test]
    fn an_order_without_map_visits_each_block_of_each_file_once_a_pass((mut spec, regions) in any_job()) {
        prop_assume!(spec.random_order != RandomOrder::Drawn);
        spec.distribution = Distribution::Uniform;
        spec.percentage_random = PerDirection([100; 3]);
        spec.rw_postfix = RwPostfix::None;
        let min = spec.block[Direction::Read].min;
        let Ok(mut workload) = Workload::new(&spec, &regions, [0; 24]) else { return Ok(()) };
        let mut passes = Vec::new();
        for _ in 0..3 {
            let pass = pass(&mut workload);
            let mut visits: HashMap<(u32, u64), u32> = HashMap::new();
            for io in &pass {
                *visits.entry((io.file, io.offset)).or_default() += 1;
            }
            let blocks: u64 = regions.iter().map(|region| region.size / min).sum();
            prop_assert_eq!(visits.len() as u64, blocks);
            prop_assert!(visits.values().all(|&count| count == 1));
            // Which file has its turn first differs from pass to pass.
            let mut order: Vec<_> = pass.iter().map(|io| (io.file, io.offset)).collect();
            order.sort_by_key(|(file, _)| *file);
            passes.push(order);
            workload.begin_pass();
        }
        if spec.random_order == RandomOrder::Permute && regions.iter().any(|region| region.size / min > 30) {
            prop_assert_eq!(passes[0] == passes[1], spec.seeding == Seeding::Repeatable);
            prop_assert_eq!(passes[1] == passes[2], spec.seeding == Seeding::Repeatable);
        }
    }

    #[test]
    fn a_time_based_order_begins_anew_without_an_end((mut spec, regions) in any_job()) {
        prop_assume!(spec.random_order != RandomOrder::Drawn);
        spec.distribution = Distribution::Uniform;
        spec.percentage_random = PerDirection([100; 3]);
        spec.rw_postfix = RwPostfix::None;
        spec.limits.time_based = true;
        let min = spec.block[Direction::Read].min;
        let regions = &regions[..1];
        prop_assume!(regions[0].size >= min);
        let Ok(mut workload) = Workload::new(&spec, regions, [0; 24]) else { return Ok(()) };
        let blocks = (regions[0].size / min) as usize;
        for _ in 0..3 {
            let mut round: Vec<_> = (0..blocks).map(|_| workload.next()).collect();
            round.sort_by_key(|step| if let Step::Io(io) = step { io.offset } else { u64::MAX });
            round.dedup_by_key(|step| if let Step::Io(io) = step { io.offset } else { u64::MAX });
            prop_assert_eq!(round.len(), blocks);
            prop_assert!(!round.contains(&Step::PassEnd));
        }
    }

    #[test]
    fn the_same_job_makes_the_same_choices_again((spec, regions) in any_job()) {
        let run = || steps(&spec, &mut Workload::new(&spec, &regions, [0; 24]).unwrap());
        prop_assert_eq!(run(), run());
    }
}
