//! Buffer contents, extra trim ranges and placement of data.

use ferrio_jobfile::{Job, Opt};

use crate::findings::Findings;
use crate::names::Listing;
use crate::spec::Direction;
use crate::written::{asks, int_or, refuse, rw, word};

/// Engines that can ask for untorn writes.
const ATOMIC: [&str; 3] = ["pvsync2", "libaio", "io_uring"];
/// Engine that can trim several ranges with one command.
const RANGES: &str = "io_uring_cmd";

/// All rules about what is written, and where a device puts it.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::DedupePercentage) && word(job, Opt::DedupeMode) == Some("working_set") {
        a_working_set_is_a_part_of_a_known_size(job, findings);
        a_working_set_is_of_one_file(job, findings);
        a_working_set_leaves_room_for_duplicates(job, findings);
    }
    trimwrite_has_one_range(job, findings);
    several_ranges_need_an_engine(job, findings);
    atomic_writes_need_an_engine(job, findings);
    fdp_is_a_placement_of_its_own(job, findings);
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
