//! Requested block sizes that were never issued.

use ferrio_job::RoundedSizes;

use super::run_view::{Finding, RunView};
use crate::grouped;

/// Warns about sizes of `bssplit` and `bsrange` that are not multiples of the smallest.
pub(super) fn rounded(run: &RunView<'_>) -> Vec<Finding> {
    let did_io = run.reported().filter(|(_, _, result)| result.stats.total_ios() > 0);
    let found = did_io.flat_map(|(index, spec, _)| {
        spec.rounded_sizes().into_iter().map(move |sizes| (sizes.to_string(), index))
    });
    let finding = |(text, jobs): (String, Vec<usize>)| {
        let message = format!("{}: {text}", run.who(&jobs));
        Finding { jobs, message, help: RoundedSizes::ADVICE }
    };
    grouped(found).into_iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use ferrio_job::{BlockSizes, JobSpec};

    use super::super::testing::{TestRun, reading};

    #[test]
    fn a_range_that_ends_between_two_multiples_is_one_warning_for_all_jobs() {
        let range = |spec: &mut JobSpec| {
            spec.block.0[0] = BlockSizes { min: 6144, max: 10240, align: 6144 };
        };
        let run =
            TestRun::new().job_with("a", reading(9, 1000), range).job_with("b", reading(9, 1000), range);
        let warnings = run.warnings("sizes-rounded");
        let want = "2 jobs (a, b): reads have a multiple of 6144 bytes, the smallest size, or 10240 bytes, and no other size between the two";
        assert_eq!((warnings.len(), warnings[0].message.as_str()), (1, want));
        let unaligned = |spec: &mut JobSpec| {
            range(spec);
            spec.bs_unaligned = true;
        };
        assert!(
            TestRun::new().job_with("a", reading(9, 1000), unaligned).warnings("sizes-rounded").is_empty()
        );
    }
}
