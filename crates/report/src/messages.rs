//! Job names, lines before the run, and messages about errors and signals, worded as tools expect them.

use ferrio_job::{Diagnostic, Direction, JobSpec, Origin, Plan, counted, strerror};
use ferrio_results::JobError;

use crate::num::{NumberUnit, Prefixes, num};

/// Length to which fio truncates job names.
const NAME_BYTES: usize = 127;

/// A job's name as shown in reports.
pub(crate) fn report_name(spec: &JobSpec) -> &str {
    truncated(&spec.name, NAME_BYTES)
}

/// Names of jobs by index, without duplicates, in order.
pub(crate) fn job_names(plan: &Plan, jobs: impl Iterator<Item = usize>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in jobs.filter_map(|job| Some(&plan.jobs.get(job)?.spec.name)) {
        // Clones are adjacent.
        if names.last() != Some(name) && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// The longest prefix of `text` that fits into `bytes` bytes without splitting a character.
fn truncated(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    &text[..end]
}

/// One header line per section of the plan, followed by `...` for its clones.
#[must_use]
pub fn start_lines(plan: &Plan) -> String {
    let mut lines = String::new();
    // A job without I/O has nothing to show in a header.
    for section in plan.sections.iter().filter(|section| plan.jobs[section.jobs.start].spec.engine.does_io())
    {
        lines.push_str(&header_line(&plan.jobs[section.jobs.start].spec));
        if section.jobs.len() > 1 {
            lines.push_str("...\n");
        }
    }
    lines
}

/// Formats `a: (g=0): rw=read, bs=(R) 4096B-4096B, ..., ioengine=psync, iodepth=1` and a newline.
fn header_line(spec: &JobSpec) -> String {
    let size = |bytes| {
        num(
            bytes,
            spec.units.significant_figures,
            Prefixes::of_kb_base(spec.units.kb_base),
            NumberUnit::Bytes,
        )
    };
    let range = |direction| {
        let block = &spec.block[direction];
        format!("{}-{}", size(block.min), size(block.max))
    };
    // Sizes of sequential and random I/Os replace those of reads and writes in this case.
    let third = match spec.bs_is_seq_rand {
        true => "bs_is_seq_rand".to_owned(),
        false => format!("(T) {}", range(Direction::Trim)),
    };
    format!(
        "{}: (g={}): rw={}, bs=(R) {}, (W) {}, {third}, ioengine={}, iodepth={}\n",
        spec.name,
        spec.group,
        spec.rw.word(),
        range(Direction::Read),
        range(Direction::Write),
        spec.engine.word(),
        spec.depth.iodepth,
    )
}

/// Formats `Starting 3 threads and 1 process` and a newline.
#[must_use]
pub fn starting_line(threads: usize, processes: usize) -> String {
    let mut parts = Vec::new();
    if threads > 0 {
        parts.push(counted(threads as u64, "thread"));
    }
    if processes > 0 {
        parts.push(counted(processes as u64, "process"));
    }
    format!("Starting {}\n", parts.join(" and "))
}

/// Formats `a: Laying out IO file (1 file / 4MiB)` and a newline; `bytes` is rounded down to MiB.
#[must_use]
pub fn laying_out_line(job: &str, files: usize, bytes: u64) -> String {
    let mib = bytes >> 20;
    if files > 1 {
        format!("{job}: Laying out IO files ({files} files / total {mib}MiB)\n")
    } else {
        format!("{job}: Laying out IO file ({files} file / {mib}MiB)\n")
    }
}

/// An error with its location: `file:worker.rs:88, func=io_u error, error=No space left on device`.
#[must_use]
pub fn error_message(error: &JobError) -> String {
    let JobError { errno, func, file, line, .. } = error;
    format!("file:{file}:{line}, func={func}, error={}", strerror(*errno))
}

/// The diagnostic for a job that ended with an error.
#[must_use]
pub fn job_failed(job: &str, pid: u32, error: &JobError) -> Diagnostic {
    let message = format!("pid={pid}, err={}/{}", error.errno, error_message(error));
    Diagnostic::error(message, Origin::Builtin).code("job-failed").job(job)
}

/// The diagnostic for a signal that ends the run.
#[must_use]
pub fn terminating(signal: i32) -> Diagnostic {
    let message = format!("terminating on signal {signal}");
    Diagnostic::warning(message, Origin::Builtin).code("terminating")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_job::{BlockSizes, EngineKind, PerDirection, ReadWrite};
    use ferrio_plan::testing::{default_job, plan};

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(truncated("abc", 127), "abc");
        assert_eq!(truncated(&"n".repeat(200), 127).len(), 127);
        assert_eq!(truncated("aéé", 4), "aé");
    }

    #[test]
    fn the_header_names_group_workload_block_sizes_engine_and_depth() {
        let block = |min, max| BlockSizes { min, max, align: min };
        let mut spec = default_job("a");
        spec.rw = ReadWrite::RandMixed;
        spec.engine = EngineKind::IoUring;
        spec.depth.iodepth = 32;
        spec.block = PerDirection([block(4096, 65_536), block(8192, 8192), block(16_384, 16_384)]);
        assert_eq!(
            start_lines(&plan(vec![spec])),
            "a: (g=0): rw=randrw, bs=(R) 4096B-64.0KiB, (W) 8192B-8192B, (T) 16.0KiB-16.0KiB, ioengine=io_uring, iodepth=32\n"
        );
    }

    #[test]
    fn sizes_by_kind_of_offset_have_no_third_range() {
        let mut spec = default_job("a");
        spec.bs_is_seq_rand = true;
        assert_eq!(
            start_lines(&plan(vec![spec])),
            "a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, bs_is_seq_rand, ioengine=psync, iodepth=1\n"
        );
    }

    #[test]
    fn clones_share_one_header() {
        let clone = |number| {
            let mut spec = default_job("a");
            (spec.clone, spec.clones) = (number, 3);
            spec
        };
        let mut other = default_job("b");
        other.group = 1;
        let lines = start_lines(&plan(vec![clone(0), clone(2), clone(1), other]));
        let starts: Vec<&str> = lines.lines().map(|line| line.split(": rw").next().unwrap()).collect();
        assert_eq!(starts, ["a: (g=0)", "...", "b: (g=1)"]);
    }

    #[test]
    fn threads_and_processes_are_counted_separately() {
        assert_eq!(starting_line(3, 1), "Starting 3 threads and 1 process\n");
        assert_eq!(starting_line(1, 0), "Starting 1 thread\n");
        assert_eq!(starting_line(0, 4), "Starting 4 processes\n");
    }

    #[test]
    fn layout_shows_files_and_whole_mebibytes() {
        assert_eq!(laying_out_line("a", 1, 4 << 20), "a: Laying out IO file (1 file / 4MiB)\n");
        assert_eq!(laying_out_line("a", 1, 4096), "a: Laying out IO file (1 file / 0MiB)\n");
        assert_eq!(laying_out_line("a", 3, 12 << 20), "a: Laying out IO files (3 files / total 12MiB)\n");
    }

    #[test]
    fn a_failed_job_names_thread_errno_place_and_reason() {
        let error = JobError {
            errno: 28,
            func: "io_u error".into(),
            file: "worker.rs".into(),
            line: 88,
            event: None,
        };
        let failed = job_failed("a", 31_862, &error);
        let want = "fio: pid=31862, err=28/file:worker.rs:88, func=io_u error, error=No space left on device";
        assert_eq!(
            (failed.line(ferrio_job::Compat::Fio).as_str(), &failed.jobs[..]),
            (want, &["a".to_owned()][..])
        );
    }
}
