//! Buffer contents, extra trim ranges and placement of data.

use ferrio_jobfile::{Job, JobSet, Opt};

use crate::Machine;
use crate::findings::Findings;
use crate::names::Listing;
use crate::resolve::seeding;
use crate::written::{asks, int_or, refuse, rw, word};
use ferrio_job::{Direction, JobSpec, Seeding};

/// Engines that can ask for untorn writes.
const ATOMIC: [&str; 3] = ["pvsync2", "libaio", "io_uring"];
/// Engine that can trim several ranges with one command.
const RANGES: &str = "io_uring_cmd";

/// All rules about what is written, and where a device puts it.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    if has_working_set(job) {
        a_working_set_is_a_part_of_a_known_size(job, findings);
        a_working_set_is_of_one_file(job, findings);
        a_working_set_leaves_room_for_duplicates(job, findings);
    }
    trimwrite_has_one_range(job, findings);
    several_ranges_need_an_engine(job, findings);
    atomic_writes_need_an_engine(job, findings);
    fdp_is_a_placement_of_its_own(job, findings);
}

fn has_working_set(job: &Job) -> bool {
    asks(job, Opt::DedupePercentage) && word(job, Opt::DedupeMode) == Some("working_set")
}

fn a_working_set_is_a_part_of_a_known_size(job: &Job, findings: &mut Findings) {
    if !job.options.is_given(Opt::Size) {
        let message = "pregenerated dedupe working set requires size to be set";
        refuse(findings, job, &[Opt::DedupeMode], "dedupe-without-size", message, "give `size`");
    }
}

fn a_working_set_is_of_one_file(job: &Job, findings: &mut Findings) {
    let files = Listing::new(job).count;
    if files != 1 {
        let message =
            format!("dedupe working set mode supported with single file per job, but {files} files provided");
        refuse(
            findings,
            job,
            &[Opt::DedupeMode],
            "dedupe-of-several-files",
            message,
            "give each file a job of its own",
        );
    }
}

fn a_working_set_leaves_room_for_duplicates(job: &Job, findings: &mut Findings) {
    let duplicates = int_or(job, Opt::DedupePercentage, 0);
    let unique = int_or(job, Opt::DedupeWorkingSetPercentage, 5);
    if duplicates + unique > 100 {
        let message = format!(
            "impossible to reach expected dedupe percentage {duplicates} since {unique} percentage of size is \
             reserved to dedupe working set (those are unique pages)"
        );
        let opts = [Opt::DedupePercentage, Opt::DedupeWorkingSetPercentage];
        refuse(
            findings,
            job,
            &opts,
            "dedupe-above-100-percent",
            message,
            "the two percentages may make 100 at most",
        );
    }
}

/// The set is a table of generators in memory, one for each of its blocks.
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
            "a dedupe working set of {blocks} blocks needs {} MiB of memory, and the machine has {}",
            bytes >> 20,
            machine.memory_mib
        );
        let opts = [Opt::DedupeMode, Opt::DedupeWorkingSetPercentage, Opt::Size];
        let help = "give a smaller `dedupe_working_set_percentage` or `size`, or larger blocks";
        refuse(findings, job, &opts, "dedupe-exceeds-memory", message, help);
    }
}

/// Duplicates of what other jobs write are made from the seeds of those.
pub(crate) fn global_duplicates_need_known_seeds(set: &JobSet, findings: &mut Findings) {
    let shares = |job: &&Job| has_working_set(job) && asks(job, Opt::DedupeGlobal);
    let unknown = set.jobs.iter().find(|job| seeding(&job.options) == Seeding::FromSystem);
    if let (Some(job), Some(unknown)) = (set.jobs.iter().find(shares), unknown) {
        let name = unknown.options.text(Opt::Name).unwrap_or(&unknown.name);
        let message =
            format!("dedupe_global needs seeds that can be known, and randrepeat=0 of job {name} has none");
        let help = "give that job a `randseed`, or take `randrepeat` out";
        refuse(findings, job, &[Opt::DedupeGlobal], "dedupe-global-without-seed", message, help);
    }
}

fn trimwrite_has_one_range(job: &Job, findings: &mut Findings) {
    if int_or(job, Opt::NumRange, 1) > 1 && rw(job).is_trimwrite() {
        let message = "trimwrite cannot be used with multiple ranges";
        refuse(findings, job, &[Opt::NumRange], "trimwrite-with-ranges", message, "take `num_range` out");
    }
}

fn several_ranges_need_an_engine(job: &Job, findings: &mut Findings) {
    let engine = job.options.engine();
    if int_or(job, Opt::NumRange, 1) > 1 && rw(job).does(Direction::Trim) && engine != RANGES {
        let message = format!("can't use multiple ranges with IO engine {engine}");
        refuse(findings, job, &[Opt::NumRange], "engine-without-ranges", message, "take `num_range` out");
    }
}

fn atomic_writes_need_an_engine(job: &Job, findings: &mut Findings) {
    let engine = job.options.engine();
    if asks(job, Opt::Atomic) && !ATOMIC.contains(&engine) {
        let help = format!("engines with atomic writes are {}", ATOMIC.join(", "));
        let message = "engine does not support atomic writes";
        refuse(findings, job, &[Opt::Atomic], "engine-without-atomic-writes", message, &help);
    }
}

fn fdp_is_a_placement_of_its_own(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::Fdp) && matches!(word(job, Opt::Dataplacement), Some("streams" | "none")) {
        let message = "fdp=1 is not compatible with dataplacement={streams, none}";
        refuse(
            findings,
            job,
            &[Opt::Fdp, Opt::Dataplacement],
            "fdp-with-other-placement",
            message,
            "give dataplacement=fdp alone",
        );
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::{first_refusal, wrong, wrong_in};

    #[test]
    fn a_dedupe_working_set_is_a_part_of_one_file_of_known_size() {
        let working_set = "rw=write\ndedupe_mode=working_set\ndedupe_percentage=50\n";
        let want = "dedupe working set mode supported with single file per job, but 2 files provided";
        assert_eq!(first_refusal(&format!("{working_set}nrfiles=2\n")), want);
        let want = "impossible to reach expected dedupe percentage 50 since 60 percentage of size is reserved to \
                    dedupe working set (those are unique pages)";
        assert_eq!(first_refusal(&format!("{working_set}dedupe_working_set_percentage=60\n")), want);
        assert!(wrong(&format!("{working_set}dedupe_working_set_percentage=50\n")).is_empty());
        let unsized_job = crate::testing::refusals(&format!("[a]\nioengine=null\n{working_set}"));
        assert_eq!(unsized_job[0], "pregenerated dedupe working set requires size to be set");
        assert!(wrong("dedupe_mode=working_set\nnrfiles=2\n").is_empty(), "off without a percentage");
    }

    #[test]
    fn a_working_set_larger_than_the_memory_is_refused() {
        let text = "[a]\nioengine=null\nrw=write\ndedupe_mode=working_set\ndedupe_percentage=5\nsize=8t\n";
        let want =
            "a dedupe working set of 107374182 blocks needs 1228 MiB of memory, and the machine has 1024";
        assert_eq!(crate::testing::refusals(text), [want]);
        assert!(crate::testing::plan_of(&text.replace("8t", "2t")).is_ok());
    }

    #[test]
    fn global_duplicates_of_a_job_without_a_seed_are_refused() {
        let text = "[global]\nioengine=null\nsize=1m\nrw=write\n[a]\ndedupe_percentage=50\ndedupe_mode=working_set\n\
                    dedupe_global=1\n[b]\nrandrepeat=0\n";
        let want = "dedupe_global needs seeds that can be known, and randrepeat=0 of job b has none";
        assert_eq!(crate::testing::refusals(text), [want]);
        assert!(crate::testing::plan_of(&format!("{text}randseed=3\n")).is_ok());
        assert!(crate::testing::plan_of(&text.replace("dedupe_global=1", "")).is_ok());
    }

    #[test]
    fn several_ranges_are_for_trims_of_an_engine_that_can() {
        let want = "can't use multiple ranges with IO engine null";
        assert_eq!(first_refusal("rw=randtrim\nnum_range=4\n"), want);
        let want = ["trimwrite cannot be used with multiple ranges", want];
        assert_eq!(wrong("rw=trimwrite\nnum_range=4\n"), want);
        assert!(wrong("rw=trim\nnum_range=1\n").is_empty() && wrong("rw=read\nnum_range=4\n").is_empty());
    }

    #[test]
    fn atomic_writes_are_refused_by_engines_without_them() {
        let want = "engine does not support atomic writes";
        assert_eq!(first_refusal("atomic=1\ndirect=1\nrw=write\n"), want);
        assert!(wrong_in("[a]\nioengine=libaio\natomic=1\nrw=write\n").is_empty());
    }

    #[test]
    fn fdp_excludes_other_placements() {
        let want = "fdp=1 is not compatible with dataplacement={streams, none}";
        assert_eq!(first_refusal("fdp=1\ndataplacement=streams\n"), want);
        assert_eq!(first_refusal("fdp=1\ndataplacement=none\n"), want);
        assert!(wrong("fdp=1\n").is_empty() && wrong("fdp=1\ndataplacement=fdp\n").is_empty());
    }
}
