//! The contents of the I/O buffers. Options affect each other in the order given.
//!
//! `verify` makes fio refill buffers. That changes nothing here: the verification method fills the whole block.

use std::sync::Arc;

use ferrio_job::{
    BufferContent, Choice as _, ContentSeed, Dedupe, DedupeMode, Direction, EngineKind, JobSpec, PlannedJob,
    ReadWrite, Seeding, VerifyMethod, WorkingSet, layout_of,
};
use ferrio_jobfile::{Amount, Job, JobSet, Opt, Options, Value};
use ferrio_random::{DEFAULT_SEED, job_seeds, purpose};

use crate::Machine;
use crate::as_written::{asks, chooses, inert, name, refuse, verifies};
use crate::direction::{never_writes, rw};
use crate::file_names::FileNames;
use crate::findings::Findings;
use crate::random::{known_seed, seeding};

inert! {
    RefillBuffers:
        never_writes; "the job does not write";
    ZeroBuffers BufferPattern BufferCompressPercentage DedupePercentage:
        |job| never_writes(job) && !is_laid_out(job); "nothing is written: neither by the job nor to lay out its files";
    DedupeGlobal DedupeMode DedupeWorkingSetPercentage:
        |job| !asks(job, Opt::DedupePercentage); "there are no duplicates without `dedupe_percentage`";
    DedupeGlobal DedupeWorkingSetPercentage:
        |job| !chooses(job, Opt::DedupeMode, DedupeMode::WorkingSet); "it applies only to dedupe_mode=working_set";
    DedupePercentage DedupeGlobal DedupeMode DedupeWorkingSetPercentage:
        |job| verifies(job) && job.options.chosen(Opt::Verify) != Some(VerifyMethod::Null)
            && !rw(job).does(Direction::Read) && !asks(job, Opt::Overwrite);
        "blocks that are verified are all different";
    BufferCompressChunk:
        |job| !asks(job, Opt::BufferCompressPercentage) && !asks(job, Opt::DedupePercentage);
        "buffers are not compressible without `buffer_compress_percentage`";
}

/// Options of contents that matter to the layout of files that are only read.
pub(crate) const LAYOUT_CONTENTS: &[Opt] = &[
    Opt::ZeroBuffers,
    Opt::BufferPattern,
    Opt::BufferCompressPercentage,
    Opt::BufferCompressChunk,
    Opt::DedupePercentage,
    Opt::DedupeGlobal,
    Opt::DedupeMode,
    Opt::DedupeWorkingSetPercentage,
];

/// The reason why they have no effect in a job that [`writes_nothing`].
pub(crate) const NOTHING_TO_LAY_OUT: &str =
    "the job only reads, and its files are complete or devices, so that nothing is written to lay them out";

/// True when no clone of a job writes, nor fills its files before.
pub(crate) fn writes_nothing(clones: &[PlannedJob]) -> bool {
    let leaves_files = |spec: &JobSpec| {
        let layout = layout_of(spec);
        // Files that are counted were not all looked at.
        !layout.fills || !spec.files.iter().any(|file| file.run.is_some() || layout.applies_to(file))
    };
    let only_reads = |spec: &JobSpec| {
        let does = |direction| spec.rw.does(direction);
        let others = spec.replay.is_some() || spec.events.is_some() || spec.verify.is_some();
        does(Direction::Read) && !does(Direction::Write) && !does(Direction::Trim) && !others
    };
    let is_idle =
        |job: &PlannedJob| job.setup_error.is_none() && only_reads(&job.spec) && leaves_files(&job.spec);
    !clones.is_empty() && clones.iter().all(is_idle)
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if !has_working_set(job) {
        return;
    }
    if !job.options.is_given(Opt::Size) {
        let message = "pregenerated dedupe working set requires size to be set";
        refuse(findings, job, &[Opt::DedupeMode], "dedupe-without-size", message, "set `size`");
    }
    let files = FileNames::new(job).count;
    if files != 1 {
        let message =
            format!("dedupe working set mode supported with single file per job, but {files} files provided");
        let help = "give each file a job of its own";
        refuse(findings, job, &[Opt::DedupeMode], "dedupe-of-several-files", message, help);
    }
    let duplicates: u32 = job.options.value(Opt::DedupePercentage);
    let unique: u32 = job.options.value(Opt::DedupeWorkingSetPercentage);
    if duplicates + unique > 100 {
        let message = format!(
            "impossible to reach expected dedupe percentage {duplicates} since {unique} percentage of size is \
             reserved to dedupe working set (those are unique pages)"
        );
        let opts = [Opt::DedupePercentage, Opt::DedupeWorkingSetPercentage];
        let help = "the two percentages must not add up to more than 100";
        refuse(findings, job, &opts, "dedupe-above-100-percent", message, help);
    }
}

/// True when files that are missing or too short may get data before the job begins.
fn is_laid_out(job: &Job) -> bool {
    let uses_files = EngineKind::from_word(job.options.engine()).is_none_or(|engine| {
        engine.uses_files()
            && !engine.is_diskless()
            && !engine.operates_on_files()
            && !engine.has_objects()
            && !engine.has_export()
            && !engine.is_stream()
    });
    uses_files && rw(job).does(Direction::Read)
}

/// The effect of the options read so far.
#[derive(Default)]
struct ContentBuilder {
    content: BufferContent,
    dedupe: u32,
    scramble_asked_for: bool,
    refill_given: bool,
    /// An option of compression or duplicates was given, even with 0.
    shaped: bool,
}

/// The content options of a job, in the order they were given.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let unset = Options::default();
    let mut content = ContentBuilder {
        content: BufferContent {
            scramble: unset.value(Opt::ScrambleBuffers),
            chunk: job.options.value(Opt::BufferCompressChunk),
            ..BufferContent::default()
        },
        ..ContentBuilder::default()
    };
    let mut reads = unset.choice::<ReadWrite>(Opt::Rw).does(Direction::Read);
    for given in job.options.all() {
        match (given.opt, &given.value) {
            (Opt::Rw, Value::Word(kind, _)) => {
                reads = ReadWrite::from_word(kind).is_some_and(|kind| kind.does(Direction::Read));
            }
            (opt, value) => content.take(opt, value, reads),
        }
    }
    spec.buffer = content.finish(job);
}

impl ContentBuilder {
    fn take(&mut self, opt: Opt, value: &Value, reads: bool) {
        let content = &mut self.content;
        match (opt, value) {
            (Opt::ZeroBuffers, Value::Switch(on)) => content.zero = *on,
            (Opt::RefillBuffers, Value::Switch(on)) => {
                content.refill = *on;
                self.refill_given = true;
            }
            (Opt::ScrambleBuffers, Value::Switch(on)) => {
                content.scramble = *on;
                self.scramble_asked_for = *on;
            }
            (Opt::BufferPattern, Value::Pattern(pattern)) => {
                content.pattern.clone_from(&pattern.bytes);
                content.scramble = false;
                content.zero = false;
                content.refill = reads || content.compress > 0;
            }
            (Opt::BufferCompressPercentage, Value::Int(percent)) => {
                content.compress = share(*percent);
                self.shaped = true;
            }
            (Opt::DedupePercentage, Value::Int(percent)) => {
                self.dedupe = share(*percent);
                content.refill = true;
                self.shaped = true;
            }
            _ => {}
        }
    }

    fn finish(self, job: &Job) -> BufferContent {
        let mut content = self.content;
        if content.compress == 100 {
            content.compress = 0;
            content.zero = true;
        } else if content.compress > 0 && !self.refill_given {
            content.refill = true;
        }
        if self.dedupe > 0 {
            content.dedupe = Some(Dedupe { percent: self.dedupe, working_set: working_set(job) });
        }
        // New content for every write needs no scrambling. Zeros stay zeros unless scrambling was requested. Scrambling would
        // undo compression and duplicates.
        content.scramble &= !content.refill && !self.shaped && (!content.zero || self.scramble_asked_for);
        content.zero &= content.pattern.is_empty() && content.compress == 0 && content.dedupe.is_none();
        content
    }
}

/// A percentage; the catalogue limits it to 100.
fn share(percent: i64) -> u32 {
    percent.clamp(0, 100) as u32
}

fn working_set(job: &Job) -> Option<WorkingSet> {
    let options = &job.options;
    if !chooses(job, Opt::DedupeMode, DedupeMode::WorkingSet) {
        return None;
    }
    let size = match options.if_given(Opt::Size) {
        Some(Amount::Bytes(size)) if size > 0 => Some(size),
        _ => None,
    };
    let pool: Option<Arc<[ContentSeed]>> = options.value::<bool>(Opt::DedupeGlobal).then(|| Arc::from([]));
    Some(WorkingSet { percent: options.value(Opt::DedupeWorkingSetPercentage), size, pool })
}

/// Gives jobs with `dedupe_global` the content seeds of all jobs of the run.
pub(crate) fn share_seeds(jobs: &mut [PlannedJob]) {
    let shares = |spec: &JobSpec| pool(&spec.buffer).is_some();
    if !jobs.iter().any(|job| shares(&job.spec)) {
        return;
    }
    let seeds: Arc<[ContentSeed]> = jobs.iter().map(|job| content_seed(&job.spec)).collect();
    for job in jobs.iter_mut().filter(|job| shares(&job.spec)) {
        if let Some(set) = job.spec.buffer.dedupe.as_mut().and_then(|dedupe| dedupe.working_set.as_mut()) {
            set.pool = Some(seeds.clone());
        }
    }
}

fn pool(content: &BufferContent) -> Option<&Arc<[ContentSeed]>> {
    content.dedupe.as_ref()?.working_set.as_ref()?.pool.as_ref()
}

/// Jobs seeded by the system are refused together with a job that has `dedupe_global`.
fn content_seed(spec: &JobSpec) -> ContentSeed {
    let randseed = known_seed(spec).unwrap_or(DEFAULT_SEED);
    ContentSeed { generator: spec.generator, seed: job_seeds(randseed, spec.number)[purpose::CONTENT] }
}

fn has_working_set(job: &Job) -> bool {
    asks(job, Opt::DedupePercentage) && chooses(job, Opt::DedupeMode, DedupeMode::WorkingSet)
}

/// The working set is a table in memory: one generator for each block.
pub(crate) fn working_set_fits_the_memory(
    job: &Job,
    spec: &JobSpec,
    machine: &Machine,
    findings: &mut Findings,
) {
    let (bytes, memory) = (spec.working_set_memory(), machine.memory_mib << 20);
    if memory > 0 && bytes > memory / 2 {
        let blocks = spec.working_set_blocks();
        let message = format!(
            "a dedupe working set of {blocks} blocks needs {} MiB of memory, but the machine has {}",
            bytes >> 20,
            machine.memory_mib
        );
        let opts = [Opt::DedupeMode, Opt::DedupeWorkingSetPercentage, Opt::Size];
        let help = "use a smaller `dedupe_working_set_percentage`, a smaller `size` or larger blocks";
        refuse(findings, job, &opts, "dedupe-exceeds-memory", message, help);
    }
}

/// Duplicates of what other jobs write are made from the seeds of those jobs.
pub(crate) fn global_duplicates_need_known_seeds(set: &JobSet, findings: &mut Findings) {
    let shares = |job: &&Job| has_working_set(job) && asks(job, Opt::DedupeGlobal);
    let unknown = set.jobs.iter().find(|job| seeding(&job.options) == Seeding::FromSystem);
    if let (Some(job), Some(unknown)) = (set.jobs.iter().find(shares), unknown) {
        let name = name(unknown);
        let message =
            format!("dedupe_global needs known seeds, but randrepeat=0 gives job {name} random ones");
        let help = "set `randseed` in that job, or remove its `randrepeat=0`";
        refuse(findings, job, &[Opt::DedupeGlobal], "dedupe-global-without-seed", message, help);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{first_refusal, plan_of, refusals, spec_of, wrong};

    fn buffer(options: &str) -> (bool, bool, bool) {
        let content = spec_of(&format!("[a]\nioengine=null\nsize=4k\n{options}")).buffer;
        (content.zero, content.refill, content.scramble)
    }

    #[test]
    fn scrambling_is_on_unless_content_is_new_or_zero() {
        assert_eq!(buffer(""), (false, false, true));
        assert_eq!(buffer("scramble_buffers=0\n"), (false, false, false));
        assert_eq!(buffer("refill_buffers\n"), (false, true, false));
        assert_eq!(buffer("zero_buffers\n"), (true, false, false));
        assert_eq!(buffer("zero_buffers\nscramble_buffers=1\n"), (true, false, true));
    }

    #[test]
    fn a_pattern_refills_unless_the_job_was_known_to_only_write() {
        assert_eq!(buffer("buffer_pattern=0xff\nrw=write\n"), (false, true, false));
        assert_eq!(buffer("rw=write\nbuffer_pattern=0xff\n"), (false, false, false));
        assert_eq!(buffer("rw=randrw\nbuffer_pattern=0xff\n"), (false, true, false));
        assert_eq!(buffer("rw=trimwrite\nbuffer_pattern=0xff\n"), (false, false, false));
        assert_eq!(buffer("rw=write\nbuffer_pattern=0xff\nrefill_buffers=1\n"), (false, true, false));
        assert_eq!(buffer("zero_buffers\nbuffer_pattern=0xff\n"), (false, true, false));
    }

    #[test]
    fn the_pattern_is_kept() {
        let spec = spec_of("[a]\nioengine=null\nsize=4k\nrw=write\nbuffer_pattern=0xdeadbeef\n");
        assert_eq!(
            spec.buffer,
            BufferContent {
                scramble: false,
                pattern: vec![0xde, 0xad, 0xbe, 0xef],
                chunk: 512,
                ..BufferContent::default()
            }
        );
    }

    #[test]
    fn compression_and_duplicates_refill_unless_refill_buffers_is_off_and_never_scramble() {
        assert_eq!(buffer("rw=write\nbuffer_compress_percentage=50\n"), (false, true, false));
        assert_eq!(
            buffer("rw=write\nbuffer_compress_percentage=50\nrefill_buffers=0\n"),
            (false, false, false)
        );
        assert_eq!(
            buffer("rw=write\nrefill_buffers=0\nbuffer_compress_percentage=50\n"),
            (false, false, false)
        );
        assert_eq!(buffer("rw=write\ndedupe_percentage=50\nscramble_buffers=1\n"), (false, true, false));
        assert_eq!(buffer("rw=write\nrefill_buffers=0\ndedupe_percentage=50\n"), (false, true, false));
        assert_eq!(buffer("rw=write\ndedupe_percentage=50\nrefill_buffers=0\n"), (false, false, false));
    }

    #[test]
    fn a_share_of_zero_still_switches_scrambling_off_as_in_fio() {
        assert_eq!(buffer("buffer_compress_percentage=0\nscramble_buffers=1\n"), (false, false, false));
        assert_eq!(buffer("dedupe_percentage=0\n"), (false, true, false));
        assert_eq!(buffer("dedupe_percentage=0\nrefill_buffers=0\n"), (false, false, false));
    }

    #[test]
    fn contents_that_compress_wholly_are_zeroes() {
        assert_eq!(buffer("rw=write\nbuffer_compress_percentage=100\n"), (true, false, false));
        assert_eq!(
            buffer("rw=write\nbuffer_compress_percentage=100\nbuffer_pattern=0xab\n"),
            (false, true, false)
        );
        let spec = spec_of(
            "[a]\nioengine=null\nsize=4k\nrw=write\nbuffer_compress_percentage=100\ndedupe_percentage=9\n",
        );
        assert_eq!((spec.buffer.compress, spec.buffer.zero), (0, false));
    }

    #[test]
    fn a_pattern_refills_a_job_that_was_known_to_compress_or_says_nothing_about_refilling() {
        let text = "rw=write\nbuffer_compress_percentage=50\nbuffer_pattern=0xab\n";
        assert_eq!(buffer(text), (false, true, false));
        let text = "rw=write\nbuffer_pattern=0xab\nbuffer_compress_percentage=50\n";
        assert_eq!(buffer(text), (false, true, false));
        let text = "rw=write\ndedupe_percentage=50\nbuffer_pattern=0xab\n";
        assert_eq!(buffer(text), (false, false, false));
    }

    fn blocks(options: &str) -> u64 {
        let text = format!("[a]\nioengine=null\ndedupe_percentage=50\ndedupe_mode=working_set\n{options}");
        spec_of(&text).working_set_blocks()
    }

    #[test]
    fn a_working_set_is_a_share_of_the_size_in_smallest_writes_and_never_empty() {
        assert_eq!(blocks("size=1m\n"), 12);
        assert_eq!(blocks("size=1m\ndedupe_working_set_percentage=10\nbs=4k,8k\n"), 12);
        assert_eq!(blocks("size=64k\n"), 1);
        assert_eq!(blocks("size=1m\ndedupe_working_set_percentage=0\n"), 1);
    }

    #[test]
    fn global_duplicates_know_the_seeds_of_all_jobs() {
        let text = "[global]\nioengine=null\nsize=4k\ndedupe_percentage=50\ndedupe_mode=working_set\n\
                    [a]\ndedupe_global=1\nnumjobs=2\n[b]\nrandseed=5\nrandom_generator=tausworthe64\n";
        let plan = plan_of(text).unwrap();
        let seeds = pool(&plan.jobs[1].spec.buffer).unwrap();
        let first = ferrio_random::Generator::Tausworthe32;
        assert_eq!(seeds[0], ContentSeed { generator: first, seed: 15_955_825_128_535_949_458 });
        assert_eq!(seeds[2].seed, job_seeds(5, 3)[purpose::CONTENT]);
        assert_eq!((seeds.len(), seeds[2].generator), (3, ferrio_random::Generator::Tausworthe64));
        assert_eq!(pool(&plan.jobs[2].spec.buffer), None);
    }

    #[test]
    fn a_dedupe_working_set_is_a_part_of_one_file_of_known_size() {
        let working_set = "rw=write\ndedupe_mode=working_set\ndedupe_percentage=50\n";
        let want = "dedupe working set mode supported with single file per job, but 2 files provided";
        assert_eq!(first_refusal(&format!("{working_set}nrfiles=2\n")), want);
        let want = "impossible to reach expected dedupe percentage 50 since 60 percentage of size is reserved to \
                    dedupe working set (those are unique pages)";
        assert_eq!(first_refusal(&format!("{working_set}dedupe_working_set_percentage=60\n")), want);
        assert!(wrong(&format!("{working_set}dedupe_working_set_percentage=50\n")).is_empty());
        let unsized_job = refusals(&format!("[a]\nioengine=null\n{working_set}"));
        assert_eq!(unsized_job[0], "pregenerated dedupe working set requires size to be set");
        assert!(wrong("dedupe_mode=working_set\nnrfiles=2\n").is_empty(), "off without a percentage");
    }

    #[test]
    fn a_working_set_larger_than_the_memory_is_refused() {
        let text = "[a]\nioengine=null\nrw=write\ndedupe_mode=working_set\ndedupe_percentage=5\nsize=8t\n";
        let want =
            "a dedupe working set of 107374182 blocks needs 1228 MiB of memory, but the machine has 1024";
        assert_eq!(refusals(text), [want]);
        assert!(plan_of(&text.replace("8t", "2t")).is_ok());
    }

    #[test]
    fn global_duplicates_of_a_job_without_a_seed_are_refused() {
        let text = "[global]\nioengine=null\nsize=1m\nrw=write\n[a]\ndedupe_percentage=50\ndedupe_mode=working_set\n\
                    dedupe_global=1\n[b]\nrandrepeat=0\n";
        let want = "dedupe_global needs known seeds, but randrepeat=0 gives job b random ones";
        assert_eq!(refusals(text), [want]);
        assert!(plan_of(&format!("{text}randseed=3\n")).is_ok());
        assert!(plan_of(&text.replace("dedupe_global=1", "")).is_ok());
    }
}
