//! Properties of every job, checked on random ones, and the comparison with the slow model.

use std::collections::{HashMap, HashSet};

use ferrio_job::{
    BlockSizes, Direction, Distribution, FileKind, FileSpec, Generator, PerDirection, RandomOrder, ReadWrite,
    RwPostfix, Seeding,
};
use proptest::prelude::*;

use super::jobs::{any_job, any_random_job, any_service};
use super::reference::Reference;
use super::support::{job, set_block, steps};
use crate::{Io, Region, Step, Workload};

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

/// A file of an engine without files.
fn pretend(region: &Region) -> FileSpec {
    let &Region { offset, size, real_size } = region;
    let (path, kind) = ("a".into(), FileKind::Pretend);
    FileSpec {
        path,
        kind,
        offset,
        size,
        real_size,
        found: None,
        extend: false,
        missing_device: false,
        run: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn steps_are_those_of_the_reference(
        blocks in prop_oneof![
            prop::collection::vec(0u64..6, 2..100),
            prop::collection::vec(0u64..60, 2..6),
            prop::collection::vec(1u64..700, 1),
        ],
        service in any_service(),
        most_open in prop::option::of(1usize..99),
        align in prop::sample::select(vec![512u64, 1024, 4096]),
        [random, map, wide, time_based, shares] in any::<[bool; 5]>(),
        seed in prop::option::of(any::<u64>()),
        offset in 0u64..10,
    ) {
        // Files that never finish need room for something.
        prop_assume!(!service.never_finishes() || blocks.iter().all(|&blocks| blocks > 0));
        let mut spec = job();
        spec.rw = if random { ReadWrite::RandRead } else { ReadWrite::Read };
        spec.random_map = map;
        spec.generator = if wide { Generator::Tausworthe64 } else { Generator::Tausworthe32 };
        spec.seeding = seed.map_or(Seeding::Repeatable, Seeding::Fixed);
        spec.limits.time_based = random && time_based;
        spec.compat.shares_files = shares;
        spec.file_service = service;
        let min = if map || !random { align } else { 4096 };
        let align = if random { align } else { min };
        spec.block = PerDirection([(); 3].map(|()| BlockSizes { min, max: min, align }));
        let offset = offset * 512;
        let region = |&blocks: &u64| Region { offset, size: blocks * min, real_size: offset + blocks * min };
        let regions: Vec<_> = blocks.iter().map(region).collect();
        spec.files = regions.iter().map(pretend).collect();
        if let Some(most_open) = most_open && blocks.len() > 1 {
            spec.opening.openfiles = 1 + (most_open % (blocks.len() - 1)) as u32;
        }
        let mut workload = Workload::new(&spec, &regions, [0; 24]).unwrap();
        let mut reference = Reference::new(&spec, &regions);
        for number in 0..2000 {
            let step = workload.next();
            prop_assert_eq!(step, reference.next(), "step {}", number);
            if step == Step::PassEnd {
                prop_assert_eq!(workload.next(), Step::PassEnd);
                break;
            }
        }
    }
}

proptest! {
    #[test]
    fn no_io_leaves_its_region_or_its_bounds((spec, regions) in any_job()) {
        let mut workload = Workload::new(&spec, &regions, [7; 24]).unwrap();
        for io in ios(steps(&spec, &mut workload)) {
            let region = regions[io.file as usize];
            let block = &spec.block[io.direction];
            let end = io.offset + io.len;
            prop_assert!(spec.rw.does(io.direction), "{io:?}");
            let pairs = spec.rw == ReadWrite::RandTrimWrite && io.direction == Direction::Write;
            if !pairs {
                prop_assert!((block.min..=block.max).contains(&io.len), "{io:?}");
            }
            prop_assert!(io.offset >= region.offset && io.offset < region.offset + region.size, "{io:?}");
            prop_assert!(end <= region.real_size, "{io:?}");
            if block.min != block.max && !pairs {
                prop_assert!(end <= region.offset + region.size, "{io:?}");
            }
        }
    }

    #[test]
    fn with_a_map_no_byte_is_used_twice_in_a_pass((mut spec, regions) in any_job()) {
        spec.random_map = true;
        spec.rw_postfix = RwPostfix::None;
        prop_assume!(spec.rw.is_random() && Direction::ALL.iter().all(|&d| spec.block[d].align == spec.block[d].min));
        let mut workload = Workload::new(&spec, &regions, [7; 24]).unwrap();
        let mut used = HashSet::new();
        let mut covered = 0;
        while let step @ (Step::Io(_) | Step::Sync { .. }) = workload.next() {
            if let Step::Io(io) = step && (io.direction != Direction::Write || !spec.rw.is_trimwrite()) {
                for sector in 0..io.len / 512 {
                    let sector = io.offset - regions[io.file as usize].offset + sector * 512;
                    prop_assert!(used.insert((io.file, sector)), "{io:?}");
                }
                // A largest size that is no multiple of the smallest uses up the block it ends in; the last I/O may reach into what
                // is less than a block.
                let (region, min) = (&regions[io.file as usize], spec.block[io.direction].min);
                let behind = region.size / min * min - (io.offset - region.offset);
                covered += io.len.next_multiple_of(min).min(behind);
            }
        }
        let equal = spec.rw.is_trimwrite() || spec.block[Direction::Read] == spec.block[Direction::Write];
        if !spec.rw.is_mixed() || equal {
            // One smallest size: the pass covers every whole block.
            let direction = Direction::ALL.into_iter().rev().find(|&d| spec.rw.does(d)).unwrap();
            let min = if spec.rw.is_trimwrite() { crate::offset_space::map_unit(&spec) } else { spec.block[direction].min };
            let whole: u64 = regions.iter().map(|r| r.size / min * min).sum();
            if spec.block[Direction::Trim].min == min {
                prop_assert_eq!(covered, whole);
            }
        }
    }

    #[test]
    fn a_sequential_pass_covers_its_files_once((mut spec, regions) in any_job()) {
        prop_assume!(!spec.rw.is_random() && !spec.rw.is_mixed() && !spec.rw.is_trimwrite());
        spec.rw_postfix = RwPostfix::None;
        let mut workload = Workload::new(&spec, &regions, [7; 24]).unwrap();
        let mut ends: Vec<u64> = regions.iter().map(|r| r.offset).collect();
        loop {
            match workload.next() {
                Step::Io(io) => {
                    prop_assert_eq!(io.offset, ends[io.file as usize]);
                    ends[io.file as usize] += io.len;
                }
                Step::Sync { .. }
| Step::Open { .. } | Step::Close { .. } | Step::AwaitReplayTime { .. } | Step::AwaitProgramTime { .. } | Step::AwaitLog | Step::EventEnd | Step::Compute { .. } | Step::Commit | Step::AwaitWriteBack | Step::AwaitWork | Step::WrittenBack { .. } => {}
                Step::PassEnd => break,
            }
        }
        let smallest = Direction::ALL.map(|d| if spec.rw.does(d) { spec.block[d].min } else { u64::MAX });
        let smallest = smallest.into_iter().min().unwrap();
        for (end, region) in ends.iter().zip(&regions) {
            prop_assert!(end + smallest > region.real_size.min(region.offset + region.size), "{region:?} ended at {end}");
        }
    }
}

proptest! {
    #[test]
    fn no_choice_leaves_its_region((spec, regions) in any_random_job()) {
        let mut workload = Workload::new(&spec, &regions, [0; 24]).unwrap();
        for io in ios(steps(&spec, &mut workload)) {
            let region = regions[io.file as usize];
            let end = io.offset + io.len;
            prop_assert!(io.offset >= region.offset && io.offset < region.offset + region.size, "{io:?}");
            prop_assert!(end <= region.real_size, "{io:?}");
            prop_assert!(spec.rw.does(io.direction), "{io:?}");
        }
    }

    #[test]
    fn an_order_without_map_visits_each_block_of_each_file_once_a_pass((mut spec, regions) in any_random_job()) {
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
    fn a_time_based_order_begins_anew_without_an_end((mut spec, regions) in any_random_job()) {
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
    fn the_same_job_makes_the_same_choices_again((spec, regions) in any_random_job()) {
        let run = || steps(&spec, &mut Workload::new(&spec, &regions, [0; 24]).unwrap());
        prop_assert_eq!(run(), run());
    }
}

#[test]
fn a_mix_lets_its_pacer_choose_and_others_do_not() {
    let mut spec = job();
    spec.rw = ReadWrite::Mixed;
    let region = Region { offset: 0, size: 1 << 20, real_size: 1 << 20 };
    let mut workload = Workload::new(&spec, &[region], [0; 24]).unwrap();
    for block in 0..256 {
        let expected = Io { direction: Direction::Write, file: 0, offset: block * 4096, len: 4096 };
        assert_eq!(workload.next_paced(|_| Direction::Write), Step::Io(expected));
    }
    spec.rw = ReadWrite::RandRead;
    let mut workload = Workload::new(&spec, &[region], [0; 24]).unwrap();
    let mut asked = 0;
    let step = workload.next_paced(|direction| {
        assert_eq!(direction, Direction::Read);
        asked += 1;
        Direction::Write
    });
    assert!(matches!(step, Step::Io(Io { direction: Direction::Read, .. })));
    assert_eq!(asked, 1);
}

#[test]
fn unusable_jobs_are_refused_with_their_numbers() {
    let region = Region { offset: 0, size: 1 << 20, real_size: 1 << 20 };
    let mut spec = job();
    set_block(&mut spec, 8192, 4096);
    let error = Workload::new(&spec, &[region], [0; 24]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "read block sizes 8192-4096 aligned to 8192 cannot be used: they must be at least 1 and below 4 EiB, smallest first"
    );
    let spec = job();
    let beyond = Region { offset: u64::MAX - 5, size: 10, real_size: 10 };
    assert!(Workload::new(&spec, &[beyond], [0; 24]).is_err());
    let mut spec = job();
    spec.rw = ReadWrite::RandRead;
    let huge = Region { offset: 0, size: 1 << 62, real_size: 1 << 62 };
    let error = Workload::new(&spec, &[huge], [0; 24]).unwrap_err();
    assert!(error.to_string().contains("1125899906842624 blocks"), "{error}");
    spec.soft_random_map = true;
    let mut workload = Workload::new(&spec, &[huge], [0; 24]).unwrap();
    assert!(workload.lost_its_map() && matches!(workload.next(), Step::Io(_)));
}

#[test]
fn a_job_without_files_ends_at_once() {
    assert_eq!(Workload::new(&job(), &[], [0; 24]).unwrap().next(), Step::PassEnd);
}
