//! Lines printed before the run: what each job is about to do, how many start, what is laid out.

use ferrio_job::{Direction, JobSpec, Plan};

use crate::num::{NumberUnit, Prefixes, num};

/// One header line per section of the plan; `...` stands for further clones of it.
#[must_use]
pub fn start_lines(plan: &Plan) -> String {
    let mut lines = String::new();
    for spec in plan.jobs.iter().map(|job| &job.spec).filter(|spec| spec.clone == 0) {
        lines.push_str(&header_line(spec));
        if spec.clones > 1 {
            lines.push_str("...\n");
        }
    }
    lines
}

/// `a: (g=0): rw=read, bs=(R) 4096B-4096B, ..., ioengine=psync, iodepth=1` and a newline.
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
    // Sizes of sequential and of random I/Os then stand where those of reads and writes do.
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
        spec.engine.name(),
        spec.depth.iodepth,
    )
}

/// `Starting 3 threads and 1 process` and a newline.
#[must_use]
pub fn starting_line(threads: usize, processes: usize) -> String {
    let mut parts = Vec::new();
    if threads > 0 {
        parts.push(format!("{threads} thread{}", if threads == 1 { "" } else { "s" }));
    }
    if processes > 0 {
        parts.push(format!("{processes} process{}", if processes == 1 { "" } else { "es" }));
    }
    format!("Starting {}\n", parts.join(" and "))
}

/// `a: Laying out IO file (1 file / 4MiB)` and a newline; `bytes` is shown in whole MiB, rounded down.
#[must_use]
pub fn laying_out_line(job: &str, files: usize, bytes: u64) -> String {
    let mib = bytes >> 20;
    if files > 1 {
        format!("{job}: Laying out IO files ({files} files / total {mib}MiB)\n")
    } else {
        format!("{job}: Laying out IO file ({files} file / {mib}MiB)\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_job::{BlockSizes, EngineKind, PerDirection, ReadWrite, testing::plan};

    #[test]
    fn the_header_names_group_workload_block_sizes_engine_and_depth() {
        let block = |min, max| BlockSizes { min, max, align: min };
        let mut spec = JobSpec::with_defaults("a");
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
        let mut spec = JobSpec::with_defaults("a");
        spec.bs_is_seq_rand = true;
        assert_eq!(
            start_lines(&plan(vec![spec])),
            "a: (g=0): rw=read, bs=(R) 4096B-4096B, (W) 4096B-4096B, bs_is_seq_rand, ioengine=psync, iodepth=1\n"
        );
    }

    #[test]
    fn clones_share_one_header() {
        let clone = |number| {
            let mut spec = JobSpec::with_defaults("a");
            (spec.clone, spec.clones) = (number, 3);
            spec
        };
        let mut other = JobSpec::with_defaults("b");
        other.group = 1;
        let lines = start_lines(&plan(vec![clone(0), clone(2), clone(1), other]));
        let starts: Vec<&str> = lines.lines().map(|line| line.split(": rw").next().unwrap()).collect();
        assert_eq!(starts, ["a: (g=0)", "...", "b: (g=1)"]);
    }

    #[test]
    fn threads_and_processes_are_counted_apart() {
        assert_eq!(starting_line(3, 1), "Starting 3 threads and 1 process\n");
        assert_eq!(starting_line(1, 0), "Starting 1 thread\n");
        assert_eq!(starting_line(0, 4), "Starting 4 processes\n");
    }

    #[test]
    fn layout_tells_files_and_whole_mebibytes() {
        assert_eq!(laying_out_line("a", 1, 4 << 20), "a: Laying out IO file (1 file / 4MiB)\n");
        assert_eq!(laying_out_line("a", 1, 4096), "a: Laying out IO file (1 file / 0MiB)\n");
        assert_eq!(laying_out_line("a", 3, 12 << 20), "a: Laying out IO files (3 files / total 12MiB)\n");
    }
}
