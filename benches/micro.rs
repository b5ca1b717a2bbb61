//! Micro-benchmarks of the parts that decide what ferrio costs: reading jobs, planning them, choosing an I/O, taking a time stamp,
//! filling and checking blocks that are verified, recording it; and the whole worker loop on the null engine, where nothing but these parts
//! is left.
//!
//! Each part is fed through its public interface with jobs that come from text by way of the job-file reader and the planner, so
//! that what is timed is what a run does. Figures are per element: a job for the readers, a byte for digests and blocks, an I/O for
//! everything else.
//!
//!     cargo bench --bench micro -- workload

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use ferrio_job::{JobSpec, Plan};
use ferrio_jobfile::{Builder, Environment, JobSet};
use ferrio_plan::PlanOptions;
use ferrio_runner::RunOptions;
use ferrio_stats::{Clock, DirectionRecorder, JobStats, Latency, LatencyBuckets, Recorder};
use ferrio_verify::{Digest, ExpectedHeader, Verifier, VerifyMethod, VerifySpec, WriteStamp};
use ferrio_workload::{BlockBody, Io, Region, SEEDS, Step, Workload};

/// Jobs in the large job file.
const MANY: usize = 1000;

/// What people write: a global section and two jobs.
const SMALL_FILE: &str = "\
; mixed load on one file
[global]
ioengine=null
size=1g
bs=4k
runtime=30s
time_based

[readers]
rw=randread
iodepth=32
numjobs=4
group_reporting

[writer]
stonewall
rw=write
bs=64k
rate=100m
";

criterion_group! {
    name = parts;
    config = Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(3));
    targets = jobfile, planning, workload, replay, digests, verified_blocks, statistics, clock
}
criterion_group! {
    // Last: a run of the runner leaves SIGINT and SIGTERM blocked in its thread, as the program wants it.
    name = whole;
    config = Criterion::default().sample_size(20).measurement_time(Duration::from_secs(5));
    targets = worker_loop
}
criterion_main!(parts, whole);

fn jobfile(c: &mut Criterion) {
    let mut group = c.benchmark_group("jobfile");
    let many = many_sections();
    for (name, text, jobs) in [("small", SMALL_FILE, 2), ("1000_sections", many.as_str(), MANY)] {
        group.throughput(Throughput::Elements(jobs as u64));
        group.bench_function(name, |b| b.iter(|| read(black_box(text))));
    }
    // What a user waits for before the first job starts.
    group.bench_function("parse+plan 1000 sections", |b| {
        b.iter_with_large_drop(|| plan(&read(black_box(&many))))
    });
    group.finish();
}

fn planning(c: &mut Criterion) {
    let mut group = c.benchmark_group("plan");
    group.throughput(Throughput::Elements(MANY as u64));
    let clones = format!("[job]\nioengine=null\nsize=1m\nnumjobs={MANY}\n");
    for (name, text) in [("1000_sections", many_sections()), ("numjobs_1000", clones)] {
        let set = read(&text);
        group.bench_function(name, |b| b.iter_with_large_drop(|| plan(black_box(&set))));
    }
    group.finish();
}

/// The next I/O, averaged over whole passes: a random map is searched longer the fuller it is.
fn workload(c: &mut Criterion) {
    let mut group = c.benchmark_group("workload");
    group.throughput(Throughput::Elements(1));
    const SPLIT: &str = "bssplit=4k/40:8k/30:16k/20:64k/10";
    let split = |rw: &str| format!("{rw}\n{SPLIT}");
    for (name, options) in [
        ("sequential", "rw=read".to_owned()),
        ("random_with_map", "rw=randread".to_owned()),
        ("random_without_map", "rw=randread\nnorandommap".to_owned()),
        ("lfsr", "rw=randread\nrandom_generator=lfsr".to_owned()),
        ("permute", "rw=randread\nrandom_generator=permute".to_owned()),
        ("zipf", "rw=randread\nrandom_distribution=zipf:1.2".to_owned()),
        ("split_sequential", split("rw=read")),
        ("split_random_with_map", split("rw=randread")),
        ("split_random_without_map", split("rw=randread\nnorandommap")),
        ("range_sequential", "rw=read\nbsrange=4k-64k".to_owned()),
        ("random_lengths", "rw=randread\nbsrange=4k-64k".to_owned()),
        ("mixed_sequential", "rw=rw".to_owned()),
        ("mixed_random", "rw=randrw\nrwmixread=70".to_owned()),
        ("percentage_random", "rw=randread\npercentage_random=50".to_owned()),
        ("four_files_sequential", "rw=read\nnrfiles=4".to_owned()),
        ("four_files_random", "rw=randread\nnrfiles=4".to_owned()),
    ] {
        let spec = spec(&format!("[job]\nioengine=null\nsize=256m\n{options}\n"));
        let mut workload = generator(&spec);
        group.bench_function(name, |b| {
            b.iter(|| {
                // Seen as the worker sees it: a request is filled in from the parts of an I/O.
                black_box(&next_io(&mut workload));
            });
        });
    }
    group.finish();
}

/// A log of 100,000 reads and writes: its next I/O, and what a user waits for before it is replayed, per line.
fn replay(c: &mut Criterion) {
    const IOS: u64 = 100_000;
    let log = std::env::temp_dir().join(format!("ferrio-bench-{}.log", std::process::id()));
    let ios: String = (0..IOS)
        .map(|at| {
            format!("{at} d {} {} 4096\n", if at % 3 == 0 { "write" } else { "read" }, at * 7919 % IOS * 4096)
        })
        .collect();
    if let Err(error) = std::fs::write(&log, format!("fio version 3 iolog\n1 d add\n2 d open\n{ios}")) {
        panic!("{}: {error}", log.display());
    }
    let set = read(&format!("[job]\nioengine=null\nread_iolog={}\nreplay_no_stall=1\n", log.display()));
    let mut group = c.benchmark_group("replay");
    group.throughput(Throughput::Elements(IOS));
    group.bench_function("parse+plan", |b| b.iter_with_large_drop(|| plan(black_box(&set))));
    group.throughput(Throughput::Elements(1));
    let mut workload = generator(&plan(&set).jobs.swap_remove(0).spec);
    group.bench_function("next_io", |b| {
        b.iter(|| {
            black_box(&next_io(&mut workload));
        });
    });
    group.finish();
    let _ = std::fs::remove_file(log);
}

/// The next I/O, over as many passes as it takes.
#[inline(always)]
fn next_io(workload: &mut Workload) -> Io {
    loop {
        match workload.next() {
            Step::Io(io) => return io,
            Step::Sync { .. }
            | Step::Open { .. }
            | Step::Close { .. }
            | Step::AwaitReplayTime { .. }
            | Step::AwaitProgramTime { .. }
            | Step::AwaitLog
            | Step::EventEnd
            | Step::Compute { .. }
            | Step::Commit
            | Step::AwaitWriteBack
            | Step::AwaitWork
            | Step::WrittenBack { .. } => {}
            Step::PassEnd => workload.begin_pass(),
        }
    }
}

/// The digests of all methods, of a block of 64 KiB.
fn digests(c: &mut Criterion) {
    let mut group = c.benchmark_group("digest");
    let mut block = vec![0; 64 << 10];
    BlockBody::new(&spec("[a]\nioengine=null\nsize=1m\n")).fill(&mut block, 46_386_204_153_304_124);
    group.throughput(Throughput::Bytes(block.len() as u64));
    for &method in VerifyMethod::ALL.iter().filter(|method| method.has_digest()) {
        group.bench_function(method.word(), |b| b.iter(|| Digest::compute(method, black_box(&block))));
    }
    group.finish();
}

/// What a verifying job does with each block: body, header and digest of a write, and the check of a read.
fn verified_blocks(c: &mut Criterion) {
    let mut group = c.benchmark_group("verified_block");
    for options in ["meta", "crc32c", "md5", "pattern\nverify_pattern=0x5aa5c3"] {
        for size in ["4k", "64k", "1m"] {
            let spec = spec(&format!("[a]\nioengine=null\nsize=1m\nrw=write\nbs={size}\nverify={options}\n"));
            let verify = spec.verify.as_ref().unwrap_or_else(|| panic!("{options} verifies"));
            let verifier = VerifySpec::of(&spec, verify).and_then(Verifier::new);
            let verifier = verifier.unwrap_or_else(|why| panic!("{why}"));
            let body = BlockBody::new(&spec);
            let mut block = vec![0; spec.max_buffer() as usize];
            let stamp =
                WriteStamp { offset: 0, seed: 46_386_204_153_304_124, number: 0, time: Duration::ZERO };
            let method = verify.method.word();
            group.throughput(Throughput::Bytes(block.len() as u64));
            group.bench_function(format!("{method}_{size}_write"), |b| {
                b.iter(|| verifier.fill(&mut block, &stamp, |block, seed| body.fill(block, seed)));
            });
            let expected = ExpectedHeader { seed: Some(stamp.seed), number: Some(0) };
            group.bench_function(format!("{method}_{size}_check"), |b| {
                b.iter(|| verifier.check(&mut block, 0, &expected));
            });
        }
    }
    group.finish();
}

fn statistics(c: &mut Criterion) {
    let mut group = c.benchmark_group("stats");
    group.throughput(Throughput::Elements(1));
    let samples = latencies();
    let mut next = samples.iter().copied().cycle();
    let mut sample = move || next.next().unwrap_or_default();

    let mut latency = Latency::new();
    group.bench_function("latency", |b| b.iter(|| latency.record(sample())));
    let mut recorder = Recorder::default();
    group.bench_function("recorder", |b| b.iter(|| recorder.record(sample())));
    let mut buckets = LatencyBuckets::default();
    group.bench_function("latency_buckets", |b| b.iter(|| buckets.record(sample())));
    black_box((&latency, &recorder, &buckets));

    let (mut read, mut stats) = (DirectionRecorder::new(true, true, true, true), JobStats::default());
    group.bench_function("synchronous_io", |b| {
        b.iter(|| record_synchronous(&mut read, &mut stats, sample()));
    });
    black_box((&read, &stats));
    let (mut read, mut stats) = (DirectionRecorder::new(true, true, true, false), JobStats::default());
    group.bench_function("asynchronous_io", |b| {
        b.iter(|| record_asynchronous(&mut read, &mut stats, sample()));
    });
    black_box((&read, &stats));
    group.finish();
}

fn clock(c: &mut Criterion) {
    let mut group = c.benchmark_group("clock");
    group.throughput(Throughput::Elements(1));
    let clock = Clock::calibrate();
    group.bench_function("read", |b| b.iter(|| clock.now()));
    group.bench_function("read_and_convert", |b| {
        let start = clock.now();
        b.iter(|| clock.between(start, clock.now()));
    });
    let kernel = Clock::monotonic();
    group.bench_function("read_clock_gettime", |b| b.iter(|| kernel.now()));
    group.finish();
}

/// A worker on the null engine with all latencies measured. An iteration is an I/O: a job of as many I/Os as criterion asks for is
/// run, and its regression over jobs of different length leaves out what starting and ending one costs.
fn worker_loop(c: &mut Criterion) {
    let mut group = c.benchmark_group("worker_loop_null");
    group.throughput(Throughput::Elements(1)).sampling_mode(SamplingMode::Linear);
    for (name, options) in [
        ("sequential", "rw=read"),
        ("random_with_map", "rw=randread"),
        ("random_without_map", "rw=randread\nnorandommap"),
        ("random_qd32", "rw=randread\niodepth=32"),
        (
            "random_qd32_batch16",
            "rw=randread\niodepth=32\niodepth_batch=16\niodepth_batch_complete_min=16\niodepth_batch_complete_max=16",
        ),
        ("gtod_reduce", "rw=read\ngtod_reduce=1"),
    ] {
        group.bench_function(name, |b| b.iter_custom(|ios| run_job(options, ios)));
    }
    group.finish();
}

/// Time that the runner takes for a job of `ios` I/Os.
fn run_job(options: &str, ios: u64) -> Duration {
    let io_size = ios * 4096;
    let plan = plan(&read(&format!("[job]\nioengine=null\nbs=4k\nsize=1g\nio_size={io_size}\n{options}\n")));
    let began = Instant::now();
    let result = ferrio_runner::run(Box::leak(Box::new(plan)), &RunOptions::default(), &mut |_| {});
    let elapsed = began.elapsed();
    assert_eq!(result.jobs[0].stats.total_ios(), ios);
    elapsed
}

/// What the worker notes about one I/O of a synchronous engine.
#[inline]
fn record_synchronous(read: &mut DirectionRecorder, stats: &mut JobStats, ns: u64) {
    read.ios += 1;
    read.bytes += 4096;
    read.record_synchronous(ns);
    stats.latency_buckets.record(ns);
}

/// What it notes about one I/O of an asynchronous engine, submitted and reaped alone.
#[inline]
fn record_asynchronous(read: &mut DirectionRecorder, stats: &mut JobStats, ns: u64) {
    read.ios += 1;
    read.record_submissions(&[ns / 8]);
    stats.submit.record(1);
    stats.depth.record(32, 1);
    stats.complete.record(1);
    read.bytes += 4096;
    read.record_completions(&[ns], &[ns + ns / 8]);
    stats.latency_buckets.record(ns);
}

/// Latencies as a fast disk shows them: most near 80 us, a tail up to some ms; the same ones in every run.
fn latencies() -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    (0..4096)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let tail = if state.is_multiple_of(64) { 1 << ((state >> 58) % 7) } else { 1 };
            (70_000 + (state >> 20) % 20_000) * tail
        })
        .collect()
}

fn many_sections() -> String {
    (0..MANY)
        .map(|i| format!("[job{i}]\nioengine=null\nrw=randread\nbs=4k\nsize=1m\niodepth=8\n\n"))
        .collect()
}

fn read(text: &str) -> JobSet {
    let mut builder = Builder::new(Environment::default());
    builder.file("bench.fio", text.as_bytes());
    builder.finish().unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

fn plan(set: &JobSet) -> Plan {
    ferrio_plan::plan(set, &PlanOptions::default())
        .unwrap_or_else(|problems| panic!("{}", problems.render(false)))
}

fn spec(text: &str) -> JobSpec {
    plan(&read(text)).jobs.swap_remove(0).spec
}

fn generator(spec: &JobSpec) -> Workload {
    let regions: Vec<Region> = spec
        .files
        .iter()
        .map(|f| Region { offset: f.offset, size: f.size, real_size: f.real_size })
        .collect();
    Workload::new(spec, &regions, [0; SEEDS]).unwrap_or_else(|error| panic!("{error}"))
}
