//! Sizes, blocks, times and files that must fit each other.

use ferrio_jobfile::{Job, Opt};

use crate::Machine;
use crate::findings::Findings;
use crate::names::Listing;
use crate::sizes::{Extent, Sizing};
use crate::written::{asks, note, refuse};
use ferrio_job::JobSpec;

/// Rules that need the job as written only.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    a_ramp_is_in_time_or_in_bytes(job, findings);
    block_errors_are_of_one_file(job, findings);
}

/// Refusals and fix-ups of the resolved job.
pub(super) fn apply(
    job: &Job,
    spec: &mut JobSpec,
    sizing: &Sizing,
    machine: &Machine,
    findings: &mut Findings,
) {
    size_holds_a_block(job, sizing, findings);
    blocks_fit_a_request(job, spec, findings);
    buffers_fit_the_memory(job, spec, machine, findings);
    appending_needs_files_that_grow(job, spec, findings);
    time_based_needs_a_runtime(job, spec, findings);
}

fn a_ramp_is_in_time_or_in_bytes(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::RampTime) && asks(job, Opt::RampSize) {
        let message = "job rejected: cannot specify both ramp_time and ramp_size";
        refuse(
            findings,
            job,
            &[Opt::RampTime, Opt::RampSize],
            "ramp-in-time-and-bytes",
            message,
            "take one of them out",
        );
    }
}

fn block_errors_are_of_one_file(job: &Job, findings: &mut Findings) {
    if !asks(job, Opt::BlockErrorPercentiles) {
        return;
    }
    let files = Listing::new(job).count;
    if files != 1 {
        let message = format!(
            "block error histogram only available with a single file per job, but {files} files provided"
        );
        refuse(
            findings,
            job,
            &[Opt::BlockErrorPercentiles],
            "block-errors-of-several-files",
            message,
            "give each file a job of its own, or take `block_error_percentiles` out",
        );
    }
}

fn size_holds_a_block(job: &Job, sizing: &Sizing, findings: &mut Findings) {
    if let Some(Extent::Bytes(size)) = sizing.size
        && size > 0
        && size < sizing.min_block
    {
        let what = "size too small, must not be less than minimum block size";
        let message = format!("{what}: {size} < {}", sizing.min_block);
        let help = "give a larger `size`, or smaller blocks";
        refuse(findings, job, &[Opt::Size], "size-below-block-size", message, help);
    }
}

/// Bytes that a worker needs for an I/O under way besides its buffer, or more.
const UNIT: u64 = 256;

/// A job whose buffers are larger than the memory of the whole machine cannot work. Engines that touch no data leave the pages of
/// their buffers alone: they need what keeps track of I/Os only.
fn buffers_fit_the_memory(job: &Job, spec: &JobSpec, machine: &Machine, findings: &mut Findings) {
    let buffer = if spec.engine.is_diskless() { 0 } else { spec.max_buffer() };
    let bytes = u64::from(spec.units()).saturating_mul(buffer.saturating_add(UNIT));
    let memory = machine.memory_mib << 20;
    if memory > 0 && bytes > memory {
        let blocks = if buffer > 0 { format!(" with blocks of {buffer} bytes") } else { String::new() };
        let (iodepth, needed, there) = (spec.units(), bytes >> 20, machine.memory_mib);
        let message =
            format!("iodepth={iodepth}{blocks} needs {needed} MiB of memory, and the machine has {there}");
        let opt = if spec.units() > 1 { Opt::Iodepth } else { largest_block(job) };
        let help = "give a smaller `iodepth`, or smaller blocks";
        refuse(findings, job, &[opt], "buffers-exceed-memory", message, help);
    }
}

/// One request moves at most 4 GiB - 1.
fn blocks_fit_a_request(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    let largest = spec.block.0.iter().map(|block| block.max).max().unwrap_or(0);
    if largest > u64::from(u32::MAX) {
        let message = format!("block size {largest} is too large, the most is {}", u32::MAX);
        refuse(
            findings,
            job,
            &[largest_block(job)],
            "block-size-too-large",
            message,
            "one request moves less than 4 GiB",
        );
    }
}

/// The option that says how large the largest block is: a range or a split beats `bs` in either order.
fn largest_block(job: &Job) -> Opt {
    job.options.last_of(&[Opt::Bsrange, Opt::Bssplit]).map_or(Opt::Bs, |given| given.opt)
}

fn appending_needs_files_that_grow(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if asks(job, Opt::FileAppend) && spec.engine.cannot_extend() {
        let message = format!("can't append/extent with IO engine {}", spec.engine.name());
        let help = "use an engine that writes with system calls, such as psync or io_uring";
        refuse(findings, job, &[Opt::FileAppend], "engine-cannot-append", message, help);
    }
}

fn time_based_needs_a_runtime(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if spec.limits.time_based && spec.limits.runtime.is_zero() {
        let text = "time_based requires a runtime/timeout setting";
        findings.warn(note(job, &[Opt::TimeBased], "time-based-without-runtime", text));
        spec.limits.time_based = false;
    }
}

#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::rules::tests::{first_refusal, null, wrong};
    use crate::testing::{jobs_of, plan_of, problems_of, refusals, spec_of, texts};
    use ferrio_job::Origin;

    #[test]
    fn a_ramp_is_in_time_or_in_bytes() {
        let want = "job rejected: cannot specify both ramp_time and ramp_size";
        assert_eq!(first_refusal("ramp_time=1\nramp_size=4k\n"), want);
        assert!(wrong("ramp_time=0\nramp_size=4k\n").is_empty());
    }

    #[test]
    fn block_errors_are_counted_for_one_file() {
        let want = "block error histogram only available with a single file per job, but 2 files provided";
        assert_eq!(first_refusal("block_error_percentiles=1\nnrfiles=2\n"), want);
        assert_eq!(first_refusal("block_error_percentiles=1\nfilename=x:y\n"), want);
        assert!(wrong("block_error_percentiles=1\n").is_empty());
    }

    #[test]
    fn a_size_below_one_block_is_refused() {
        let want = "size too small, must not be less than minimum block size: 2048 < 4096";
        assert_eq!(refusals("[a]\nsize=2k\n"), [want]);
    }

    #[test]
    fn a_block_beyond_a_request_is_refused() {
        let want = "block size 8589934592 is too large, the most is 4294967295";
        assert_eq!(refusals("[a]\nioengine=null\nsize=16g\nbs=8g\n"), [want]);
        for bounds in ["bssplit=4k/50:8g/50\nbs=4k\n", "bsrange=4k-8g\nbs=4k\n"] {
            let problem = &problems_of(&format!("[a]\nioengine=null\nsize=16g\n{bounds}"))[0];
            assert_eq!((problem.code, problem.message.as_str()), ("block-size-too-large", want));
            assert!(
                matches!(problem.origin, Origin::File { line: 4, column: 8 | 9, .. }),
                "{:?}",
                problem.origin
            );
        }
    }

    #[test]
    fn buffers_that_no_memory_holds_are_refused() {
        let job = |engine: &str, rest: &str| format!("[a]\nioengine={engine}\nsize=1m\n{rest}");
        let problem = &problems_of(&job("io_uring", "iodepth=2147483647\n"))[0];
        assert_eq!(problem.code, "buffers-exceed-memory");
        let want = "iodepth=2147483647 with blocks of 4096 bytes needs 8912895 MiB of memory, and the machine has 1024";
        assert_eq!(problem.message, want);
        assert_eq!(refusals(&job("libaio", "iodepth=2k\nbs=1m\n")).len(), 1);
        let want = "iodepth=2147483647 needs 524287 MiB of memory, and the machine has 1024";
        assert_eq!(refusals(&job("null", "iodepth=2147483647\n")), [want]);
        let problem = &problems_of(&job("psync", "bsrange=4k-2g\n"))[0];
        assert!(matches!(problem.origin, Origin::File { line: 4, column: 9, .. }), "{:?}", problem.origin);
    }

    #[test]
    fn what_can_work_is_not_refused_for_its_buffers() {
        let job = |engine: &str, rest: &str| format!("[a]\nioengine={engine}\nsize=1m\n{rest}");
        assert!(plan_of(&job("io_uring", "iodepth=1000\nbs=1m\n")).is_ok());
        assert!(plan_of(&job("null", "iodepth=32k\nbs=1m\n")).is_ok(), "pages that nothing touches");
        let spec = spec_of(&job("psync", "iodepth=2147483647\n"));
        assert_eq!((spec.depth.iodepth, spec.units()), (2_147_483_647, 1));
    }

    #[test]
    fn mapped_files_cannot_be_appended_to() {
        let refused = refusals("[a]\nioengine=mmap\nrw=write\nsize=4k\nfile_append=1\n");
        assert_eq!(refused[0], "can't append/extent with IO engine mmap");
        assert!(wrong("rw=write\nfile_append=1\n").is_empty());
    }

    #[test]
    fn time_based_without_runtime_is_dropped_or_fatal() {
        let text = null("time_based\n");
        let plan = plan_of(&text).unwrap();
        assert!(!plan.jobs[0].spec.limits.time_based);
        assert_eq!(texts(&plan.diagnostics), ["time_based requires a runtime/timeout setting"]);
        let fatal = PlanOptions { warnings_fatal: true, ..PlanOptions::default() };
        let problems = crate::plan(&jobs_of(&text), &fatal).unwrap_err();
        assert_eq!(problems.diagnostics[0].message, "time_based requires a runtime/timeout setting");
        assert!(spec_of(&null("time_based\nruntime=1\n")).limits.time_based);
    }
}
