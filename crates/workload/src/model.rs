//! Properties of every job, checked on random ones, and a slow model that shares no code with the short paths.

use std::collections::HashSet;

use ferrio_job::{
    BlockShare, BlockSizes, Direction, Generator, JobSpec, PerDirection, ReadWrite, RwPostfix, Seeding,
    Sequencer,
};
use proptest::prelude::*;

use crate::random::{T88, T258};
use crate::seeds::{OFFSET, thread_seeds};
use crate::testing::{job, set_block, steps};
use crate::{Io, Region, Step, Workload};

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

fn ios(steps: Vec<Step>) -> Vec<Io> {
    steps.into_iter().filter_map(|s| if let Step::Io(io) = s { Some(io) } else { None }).collect()
}

/// Uniform random choices over one file of whole blocks by the plainest means: draw, look, search upward.
fn plain_uniform(spec: &JobSpec, region: Region, count: usize) -> Vec<u64> {
    let seed = thread_seeds(spec, [0; 24])[OFFSET];
    let (mut narrow, mut wide) = (T88::new(seed), T258::new(seed));
    let block = &spec.block[Direction::Read];
    let blocks = region.size / block.align - (block.min - block.align) / block.align;
    let mut used = HashSet::new();
    let mut offsets = Vec::new();
    while offsets.len() < count {
        let unit = match spec.generator {
            Generator::Tausworthe32 => f64::from(narrow.draw()) / 2f64.powi(32),
            Generator::Tausworthe64 => wide.draw() as f64 / 2f64.powi(64),
        };
        let mut chosen = (blocks as f64 * unit).floor() as u64;
        if spec.random_map {
            if used.len() as u64 == blocks {
                if !spec.limits.time_based {
                    break;
                }
                used.clear();
                continue;
            }
            while !used.insert(chosen) {
                chosen = (chosen + 1) % blocks;
            }
        }
        offsets.push(region.offset + chosen * block.align);
    }
    offsets
}

proptest! {
    #[test]
    fn no_io_leaves_its_region_or_its_bounds((spec, regions) in any_job()) {
        let mut workload = Workload::new(&spec, &regions, [7; 24]).unwrap();
        for io in ios(steps(&spec, &mut workload)) {
            let region = regions[io.file as usize];
            let block = &spec.block[io.direction];
            let end = io.offset + u64::from(io.len);
            prop_assert!(spec.rw.does(io.direction), "{io:?}");
            let pairs = spec.rw == ReadWrite::RandTrimWrite && io.direction == Direction::Write;
            if !pairs {
                prop_assert!((block.min..=block.max).contains(&u64::from(io.len)), "{io:?}");
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
                for sector in 0..u64::from(io.len) / 512 {
                    let sector = io.offset - regions[io.file as usize].offset + sector * 512;
                    prop_assert!(used.insert((io.file, sector)), "{io:?}");
                }
                // A largest size that is no multiple of the smallest uses up the block it ends in; the last I/O may reach into what
                // is less than a block.
                let (region, min) = (&regions[io.file as usize], spec.block[io.direction].min);
                let behind = region.size / min * min - (io.offset - region.offset);
                covered += u64::from(io.len).next_multiple_of(min).min(behind);
            }
        }
        let equal = spec.rw.is_trimwrite() || spec.block[Direction::Read] == spec.block[Direction::Write];
        if !spec.rw.is_mixed() || equal {
            // One smallest size: the pass covers every whole block.
            let direction = Direction::ALL.into_iter().rev().find(|&d| spec.rw.does(d)).unwrap();
            let min = if spec.rw.is_trimwrite() { crate::candidates::map_unit(&spec) } else { spec.block[direction].min };
            let whole: u64 = regions.iter().map(|r| r.size / min * min).sum();
            if spec.block[Direction::Trim].min == min {
                prop_assert_eq!(covered, whole);
            }
        }
    }

    #[test]
    fn uniform_choices_agree_with_a_plain_model(
        blocks in 1u64..700,
        align in prop::sample::select(vec![512u64, 1024, 4096]),
        flags in any::<[bool; 3]>(),
        seed: u64,
        offset in 0u64..10,
    ) {
        let [map, wide, time_based] = flags;
        let mut spec = job();
        spec.rw = ReadWrite::RandRead;
        spec.random_map = map;
        spec.generator = if wide { Generator::Tausworthe64 } else { Generator::Tausworthe32 };
        spec.seeding = Seeding::Fixed(seed);
        spec.limits.time_based = time_based;
        let min = if map { align } else { 4096 };
        spec.block = PerDirection([(); 3].map(|()| BlockSizes { min, max: min, align }));
        let size = blocks * min;
        let region = Region { offset: offset * 512, size, real_size: offset * 512 + size };
        let mut workload = Workload::new(&spec, &[region], [0; 24]).unwrap();
        for expected in plain_uniform(&spec, region, 1500) {
            let Step::Io(io) = workload.next() else { panic!("ended early") };
            prop_assert_eq!(io.offset, expected);
        }
        if map && !time_based {
            prop_assert_eq!(workload.next(), Step::PassEnd);
            prop_assert_eq!(workload.next(), Step::PassEnd);
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
                    ends[io.file as usize] += u64::from(io.len);
                }
                Step::Sync { .. } | Step::Open { .. } | Step::Close { .. } => {}
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
        "read block sizes 8192-4096 aligned to 8192 cannot be used: they must be 1..=4294967295, smallest first"
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
