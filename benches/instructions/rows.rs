//! What is counted: jobs, and generators of I/Os alone.

use std::hint::black_box;

use ferrio_job::{JobSpec, Plan};
use ferrio_jobfile::{Builder, Environment, Problems};
use ferrio_plan::PlanOptions;
use ferrio_runner::RunOptions;
use ferrio_workload::{Region, SEEDS, Step, Workload};

use crate::Outcome;

/// Bytes of an I/O of most rows.
const BLOCK: u64 = 4096;

/// What runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A worker on the null engine: loop, generator and statistics.
    Null,
    /// A worker on a file in the page cache.
    File,
    /// The choice of the next I/O, and nothing else.
    Generator,
}

/// One row.
#[derive(Debug)]
pub(crate) struct Row {
    pub name: &'static str,
    kind: Kind,
    /// What the job works on. The generators choose among more blocks, because a random map is searched longer the larger it is.
    mebibytes: u64,
    /// Passes that the longer of two runs adds to the one pass of the shorter.
    pub passes: u64,
    /// Options of the job, one per word.
    options: &'static str,
}

const fn null(name: &'static str, options: &'static str) -> Row {
    Row { name, kind: Kind::Null, mebibytes: 64, passes: 8, options }
}

const fn file(name: &'static str, options: &'static str) -> Row {
    Row { name, kind: Kind::File, mebibytes: FILE_MEBIBYTES, passes: 8, options }
}

/// A job that makes the data of its writes: that takes thousands of instructions, and the null engine would not need them.
const fn write(name: &'static str, options: &'static str) -> Row {
    Row { name, kind: Kind::File, mebibytes: FILE_MEBIBYTES, passes: 3, options }
}

const fn generator(name: &'static str, options: &'static str) -> Row {
    Row { name, kind: Kind::Generator, mebibytes: 256, passes: 2, options }
}

/// Size of the file.
pub(crate) const FILE_MEBIBYTES: u64 = 16;

/// All rows. Names are keys of the file with the figures.
pub(crate) static ALL: &[Row] = &[
    null("null-read", "rw=read"),
    null("null-randread", "rw=randread"),
    null("null-randread-qd32", "rw=randread iodepth=32"),
    file("psync-read", "ioengine=psync rw=read"),
    file("psync-randread", "ioengine=psync rw=randread"),
    file("mmap-randread", "ioengine=mmap rw=randread"),
    file("io_uring-randread-qd1", "ioengine=io_uring rw=randread"),
    file("io_uring-randread-qd32-b1", "ioengine=io_uring rw=randread iodepth=32"),
    file(
        "io_uring-randread-qd32-b16",
        "ioengine=io_uring rw=randread iodepth=32 iodepth_batch_submit=16 iodepth_batch_complete_min=16 \
         iodepth_batch_complete_max=16",
    ),
    file("libaio-randread-qd32-b1", "ioengine=libaio rw=randread iodepth=32"),
    file(
        "libaio-randread-qd32-b16",
        "ioengine=libaio rw=randread iodepth=32 iodepth_batch_submit=16 iodepth_batch_complete_min=16 \
         iodepth_batch_complete_max=16",
    ),
    generator("next-sequential", "rw=read"),
    generator("next-random-map", "rw=randread"),
    generator("next-random-norandommap", "rw=randread norandommap=1"),
    generator("next-random-lfsr", "rw=randread random_generator=lfsr"),
    generator("next-random-permute", "rw=randread random_generator=permute"),
    generator("next-zipf", "rw=randread random_distribution=zipf:1.2"),
    generator("next-zipf-exact", "rw=randread random_distribution=zipf_exact:1.2"),
    generator("next-pareto", "rw=randread random_distribution=pareto:0.2"),
    generator("next-normal", "rw=randread random_distribution=normal:20"),
    generator("next-zoned", "rw=randread random_distribution=zoned:50/10:30/20:20/70"),
    generator("next-bssplit", "rw=randread bssplit=4k/40:8k/30:16k/20:64k/10"),
    generator("next-rwmix", "rw=randrw rwmixread=70"),
    write("write-verify-crc32c", "ioengine=psync rw=randwrite verify=crc32c do_verify=0"),
    write("write-refill-buffers", "ioengine=psync rw=randwrite refill_buffers=1"),
    write("write-dedupe", "ioengine=psync rw=randwrite dedupe_percentage=30"),
    write("write-compress", "ioengine=psync rw=randwrite refill_buffers=1 buffer_compress_percentage=50"),
];

impl Row {
    pub(crate) fn needs_file(&self) -> bool {
        self.kind == Kind::File
    }

    /// Does `passes` passes and returns the number of I/Os. Files are in `directory`.
    pub(crate) fn run(&self, passes: u64, directory: &str) -> Outcome<u64> {
        let want = passes * (self.mebibytes << 20) / BLOCK;
        let plan = self.plan(passes, directory)?;
        match self.kind {
            Kind::Generator => generate(&plan.jobs.first().ok_or("no job")?.spec, want),
            Kind::Null | Kind::File => {
                let plan = Box::leak(Box::new(plan));
                let result = ferrio_runner::run(plan, &RunOptions::default(), &mut |_| {});
                let got = result.jobs.first().ok_or("the job did not run")?.stats.total_ios();
                if got != want {
                    return Err(format!("{}: {got} I/Os instead of {want}", self.name).into());
                }
                Ok(got)
            }
        }
    }

    fn plan(&self, passes: u64, directory: &str) -> Outcome<Plan> {
        let Row { mebibytes, options, .. } = *self;
        let place = match self.kind {
            Kind::File => format!("filename={directory}/data\ninvalidate=0\n"),
            Kind::Null | Kind::Generator => "ioengine=null\n".to_owned(),
        };
        let options = options.replace(' ', "\n");
        let text = format!("[job]\nbs={BLOCK}\nsize={mebibytes}m\nloops={passes}\n{place}{options}\n");
        let problems = |problems: Problems| problems.render(false);
        let mut builder = Builder::new(Environment::default());
        builder.file("row.fio", text.as_bytes());
        let set = builder.finish().map_err(problems)?;
        Ok(ferrio_plan::plan(&set, &PlanOptions::default()).map_err(problems)?)
    }
}

/// Chooses so many I/Os, in as many passes as that takes.
fn generate(spec: &JobSpec, ios: u64) -> Outcome<u64> {
    let region = |file: &ferrio_job::FileSpec| Region {
        offset: file.offset,
        size: file.size,
        real_size: file.real_size,
    };
    let regions: Vec<Region> = spec.files.iter().map(region).collect();
    let mut workload = Workload::new(spec, &regions, [0; SEEDS])?;
    let mut left = ios;
    while left > 0 {
        match workload.next() {
            // Seen as the worker sees it: a request is filled in from the parts of an I/O.
            Step::Io(io) => {
                black_box(&io);
                left -= 1;
            }
            Step::PassEnd => workload.begin_pass(),
            step => return Err(format!("no I/O but {step:?}").into()),
        }
    }
    Ok(ios)
}
