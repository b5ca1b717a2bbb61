//! Jobs over several files, against sequences of an independent model of fio, and against a slow model.

use ferrio_job::{FileService, JobSpec, RandomOrder, ReadWrite, Seeding, Skew, SkewShape};

use crate::tests::support::{job, notation, regions, sequence, steps};
use crate::{Io, Region, Step, Workload};

fn files(rw: ReadWrite, kib: u64, count: u64, service: FileService) -> JobSpec {
    let mut spec = job();
    spec.rw = rw;
    spec.limits.size = kib * 1024;
    spec.file_service = service;
    let name = |number| ferrio_job::FileSpec {
        path: format!("a.0.{number}").into(),
        kind: ferrio_job::FileKind::Pretend,
        offset: 0,
        size: spec.limits.size / count,
        real_size: spec.limits.size / count,
        found: None,
        extend: false,
        missing_device: false,
        run: None,
    };
    spec.files = (0..count).map(name).collect();
    spec
}

fn all(spec: &JobSpec) -> Vec<Step> {
    let regions = regions(spec, spec.files.len() as u64);
    steps(spec, &mut Workload::new(spec, &regions, [0; 24]).unwrap())
}

/// Everything but opens and closes.
fn run(spec: &JobSpec) -> String {
    let steps = all(spec);
    let io = |step: &Step| !matches!(step, Step::Open { .. } | Step::Close { .. });
    notation(&steps.into_iter().filter(io).collect::<Vec<_>>(), 4096)
}

#[test]
fn a_register_that_reaches_beyond_any_offset_ends_its_pass() {
    let mut spec = job();
    spec.rw = ReadWrite::RandRead;
    spec.random_order = RandomOrder::Lfsr;
    spec.random_map = false;
    // Not one of the fast paths.
    spec.bs_is_seq_rand = true;
    spec.limits.size = 7 << 60;
    spec.block.0.iter_mut().for_each(|block| (block.min, block.max, block.align) = (1, 1, 4096));
    let inside = |io: &Io| io.offset.is_multiple_of(4096) && io.offset < spec.limits.size;
    let ios = sequence(&spec);
    assert!(ios.iter().all(inside), "{ios:?}");
}

#[test]
fn files_are_served_in_turn_each_for_so_many_ios() {
    let served = |service| run(&files(ReadWrite::Read, 64, 4, service));
    assert_eq!(
        served(FileService::RoundRobin { ios: 1 }),
        "r0 1:0 2:0 3:0 1 1:1 2:1 3:1 2 1:2 2:2 3:2 3 1:3 2:3 3:3"
    );
    assert_eq!(
        served(FileService::RoundRobin { ios: 2 }),
        "r0 1 1:0 1:1 2:0 2:1 3:0 3:1 2 3 1:2 1:3 2:2 2:3 3:2 3:3"
    );
    assert_eq!(served(FileService::Sequential), "r0 1 2 3 1:0 1:1 1:2 1:3 2:0 2:1 2:2 2:3 3:0 3:1 3:2 3:3");
}

#[test]
fn files_are_served_at_random() {
    let served = |service| run(&files(ReadWrite::Read, 64, 4, service));
    assert_eq!(
        served(FileService::Random { ios: 1 }),
        "r3:0 3:1 0 1 2:0 2 2:1 3:2 2:2 3:3 1:0 1:1 2:3 3 1:2 1:3"
    );
    assert_eq!(
        served(FileService::Random { ios: 3 }),
        "r3:0 3:1 3:2 3:3 0 1 2 3 2:0 2:1 2:2 2:3 1:0 1:1 1:2 1:3"
    );
}

#[test]
fn only_so_many_files_are_open_and_the_next_one_waits_for_an_end() {
    let mut spec = files(ReadWrite::Read, 32, 4, FileService::default());
    spec.opening.openfiles = 2;
    assert_eq!(run(&spec), "r0 1:0 1 1:1 2:0 3:0 2:1 3:1");
    assert_eq!(
        notation(&all(&spec), 4096),
        "open0 r0 open1 1:0 1 1:1 close0 close1 open2 2:0 open3 3:0 2:1 3:1"
    );
    let mut spec = files(ReadWrite::RandRead, 64, 4, FileService::Random { ios: 2 });
    spec.opening.openfiles = 2;
    assert_eq!(run(&spec), "r3:3 3:0 3:2 3:1 2 3 0 1 2:3 2:2 2:0 2:1 1:0 1:2 1:3 1:1");
}

#[test]
fn the_choice_of_files_runs_on_over_passes_with_a_seed_of_its_own() {
    let mut spec = files(ReadWrite::Read, 64, 4, FileService::Random { ios: 2 });
    spec.limits.loops = 2;
    spec.seeding = Seeding::Fixed(7);
    spec.opening.openfiles = 3;
    assert_eq!(
        run(&spec),
        "r3:0 3:1 1:0 1:1 3:2 3:3 2:0 2:1 2:2 2:3 1:2 1:3 0 1 2 3 \
         0 1 3:0 3:1 3:2 3:3 1:0 1:1 2 3 1:2 1:3 2:0 2:1 2:2 2:3"
    );
}

#[test]
fn a_file_that_was_kept_is_left_when_a_pass_ends() {
    let mut spec = files(ReadWrite::Write, 24, 3, FileService::RoundRobin { ios: 4 });
    spec.limits.loops = 2;
    spec.limits.number_ios = 5;
    assert_eq!(run(&spec), "w0 1 1:0 1:1 2:0 2:1 0 1 1:0 1:1");
}

#[test]
fn a_distribution_of_files_never_finishes_one() {
    let skewed = |shape, center| FileService::Skewed(Skew { shape, center });
    let mut spec = files(ReadWrite::RandMixed, 64, 4, skewed(SkewShape::Zipf(1.2), None));
    (spec.opening.openfiles, spec.compat.shares_files) = (1, false);
    assert_eq!(run(&spec), "r3:3 3:0 3:2 w3:1 r3:3 3:0 w3:1 3:2 3:2 r3:3 w3:0 r3:1 w3:2 r3:3 3:1 3:0");
    let mut spec = files(ReadWrite::RandRead, 64, 4, skewed(SkewShape::Pareto(0.4), None));
    spec.limits.loops = 2;
    assert_eq!(
        run(&spec),
        "r2:3 3:3 3:2 1:2 3:0 1:3 2:0 0 2:1 2:2 2 3:1 1:0 2:0 3:3 1 \
         1:1 3 3:0 1:1 3:2 1:2 1:0 3:1 2:1 1:3 3 3:2 1:3 2:2 3:1 1:2"
    );
    let mut spec = files(ReadWrite::RandRead, 64, 4, skewed(SkewShape::Normal(20.0), None));
    (spec.opening.openfiles, spec.compat.shares_files) = (2, false);
    crate::tests::support::set_block(&mut spec, 4096, 8192);
    assert_eq!(run(&spec), "r1:3 2:3 1:2 1:0 2:2 1:1 1:0 2:1 1:3 2:0 2:3 1:1 1:2 2:2 2:0+2");
    let mut spec = files(ReadWrite::Read, 48, 3, skewed(SkewShape::Zipf(0.9), Some(0.5)));
    spec.limits.io_size = Some(100 << 10);
    assert_eq!(
        run(&spec),
        "r2:0 1:0 1:1 1:2 1:3 0 1:0 1 2:1 1:1 1:2 1:3 2 1:0 1:1 1:2 1:3 1:0 2:2 1:1 1:2 3 2:3 1:3 1:0"
    );
}

/// How many of the first `count` I/Os of a pass go to each of the files.
fn ios_of_files(spec: &JobSpec, regions: &[Region], count: usize) -> Vec<usize> {
    let mut workload = Workload::new(spec, regions, [0; 24]).unwrap();
    let mut ios = vec![0; regions.len()];
    while ios.iter().sum::<usize>() < count {
        match workload.next() {
            Step::Io(io) => ios[io.file as usize] += 1,
            Step::PassEnd => break,
            _ => {}
        }
    }
    ios
}

#[test]
fn random_jobs_come_to_every_file_however_few_may_be_open() {
    let services = [
        FileService::RoundRobin { ios: 1 },
        FileService::RoundRobin { ios: 7 },
        FileService::Random { ios: 1 },
        FileService::Sequential,
    ];
    for (service, random_map, openfiles) in services
        .into_iter()
        .flat_map(|service| [(service, true, 1), (service, false, 1), (service, false, 2)])
    {
        let mut spec = files(ReadWrite::RandWrite, 3 * 32, 3, service);
        spec.opening.openfiles = openfiles;
        spec.random_map = random_map;
        spec.limits.time_based = random_map;
        let regions = regions(&spec, 3);
        assert_eq!(ios_of_files(&spec, &regions, 240), [80, 80, 80], "{service:?} {random_map} {openfiles}");
        spec.compat.shares_files = false;
        let of_fio = ios_of_files(&spec, &regions, 240);
        assert_eq!(
            of_fio.iter().filter(|&&ios| ios == 0).count(),
            if service == FileService::Sequential { 2 } else { 3 - openfiles as usize },
            "{of_fio:?}"
        );
    }
}

#[test]
fn popular_files_are_opened_more_often_than_others() {
    let skew = Skew { shape: SkewShape::ZipfExact(1.0), center: Some(0.0) };
    let mut spec = files(ReadWrite::RandRead, 3 * 16, 3, FileService::Skewed(skew));
    spec.opening.openfiles = 1;
    let ios = ios_of_files(&spec, &regions(&spec, 3), 1200);
    assert!(ios[0] > ios[1] && ios[1] > ios[2] && ios[2] > 0, "{ios:?}");
    assert!(ios.iter().all(|ios| ios.is_multiple_of(4)), "whole files: {ios:?}");
}

#[test]
fn a_file_without_room_gets_no_share() {
    let mut spec = files(ReadWrite::RandWrite, 3 * 8, 3, FileService::default());
    spec.opening.openfiles = 1;
    spec.limits.time_based = true;
    crate::tests::support::set_block(&mut spec, 8192, 8192);
    let mut regions = regions(&spec, 3);
    regions[1].size = 4096;
    assert_eq!(ios_of_files(&spec, &regions, 20), [10, 0, 10]);
    regions.iter_mut().for_each(|region| region.size = 4096);
    assert_eq!(ios_of_files(&spec, &regions, 20), [0, 0, 0]);
}

#[test]
fn a_distribution_over_files_without_room_ends() {
    let mut spec =
        files(ReadWrite::Read, 8, 4, FileService::Skewed(Skew { shape: SkewShape::Zipf(1.2), center: None }));
    assert_eq!(all(&spec), []);
    spec.opening.openfiles = 2;
    let mut open = 0;
    for step in all(&spec) {
        match step {
            Step::Open { .. } => open += 1,
            Step::Close { .. } => open -= 1,
            other => panic!("{other:?}"),
        }
        assert!(open <= 2);
    }
}

#[test]
fn a_hundred_thousand_files_are_served_to_their_end() {
    let mut spec = job();
    spec.limits.size = 4096 * 150_000;
    let region = |blocks: u64| Region { offset: 0, size: blocks * 4096, real_size: blocks * 4096 };
    // Turns go on among the last few while nearly all files are finished.
    let mut regions = vec![region(1); 100_000];
    regions[70_000] = region(25_000);
    regions[99_999] = region(25_000);
    let mut workload = Workload::new(&spec, &regions, [0; 24]).unwrap();
    let mut served = vec![0u32; regions.len()];
    while let Step::Io(io) = workload.next() {
        served[io.file as usize] += 1;
    }
    assert!(served.iter().zip(&regions).all(|(&ios, region)| u64::from(ios) * 4096 == region.size));
}
