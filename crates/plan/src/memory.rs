//! Where the memory of the I/O buffers comes from: `mem`, `iomem_align`, `hugepage-size`.

use ferrio_job::{JobSpec, Memory, MemoryType};
use ferrio_jobfile::{Job, Opt, Options};

use crate::Machine;
use crate::as_written::{chooses, inert, refuse};
use crate::block_sizes::largest_block;
use crate::findings::Findings;

inert! {
    HugepageSize:
        |job| !job.options.choice::<MemoryType>(Opt::Mem).is_huge();
        "buffers have no huge pages without mem=mmaphuge or mem=shmhuge";
    GpuDevId:
        |job| !chooses(job, Opt::Mem, MemoryType::CudaMalloc); "buffers are in the memory of a GPU only with mem=cudamalloc";
}

/// Bytes that a worker needs for an I/O in flight besides its buffer: an upper bound.
const UNIT: u64 = 256;

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    let memory = memory(&job.options);
    let (align, size) = (memory.align, memory.huge_page);
    if align > 0 && !align.is_power_of_two() {
        let message = format!("iomem_align={align} is not a power of two");
        let help = "use a power of two such as 512 or 4k: each buffer begins at a multiple of it";
        refuse(findings, job, &[Opt::IomemAlign], "alignment-not-a-power-of-two", message, help);
    }
    let has_size = memory.kind.is_huge() && job.options.is_given(Opt::HugepageSize);
    if has_size && (!size.is_power_of_two() || size < 4096) {
        let message = format!("hugepage-size={size} is not a page size of this machine");
        let help = "/sys/kernel/mm/hugepages lists the available sizes, usually 2m and 1g";
        refuse(findings, job, &[Opt::HugepageSize], "not-a-page-size", message, help);
    }
}

/// The memory options of a job.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.memory = memory(&job.options);
}

/// Rules about the resolved job.
///
/// Buffers must fit in the memory of the machine. Engines that touch no data never populate the pages of their buffers; they need
/// memory only to keep track of I/Os.
pub(crate) fn apply_rules(job: &Job, spec: &JobSpec, machine: &Machine, findings: &mut Findings) {
    let buffer = if spec.engine.moves_data() { spec.max_buffer() } else { 0 };
    let bytes = u64::from(spec.units()).saturating_mul(buffer.saturating_add(UNIT));
    let memory = machine.memory_mib << 20;
    if memory > 0 && bytes > memory {
        let blocks = if buffer > 0 { format!(" with blocks of {buffer} bytes") } else { String::new() };
        let (iodepth, needed, there) = (spec.units(), bytes >> 20, machine.memory_mib);
        let message =
            format!("iodepth={iodepth}{blocks} needs {needed} MiB of memory, but the machine has {there}");
        let opt = if spec.units() > 1 { Opt::Iodepth } else { largest_block(job) };
        let help = "use a smaller `iodepth` or smaller blocks";
        refuse(findings, job, &[opt], "buffers-exceed-memory", message, help);
    }
}

fn memory(options: &Options) -> Memory {
    Memory {
        kind: options.choice(Opt::Mem),
        file: options.if_given(Opt::Mem),
        align: options.value(Opt::IomemAlign),
        huge_page: options.value(Opt::HugepageSize),
        transparent_huge: false,
        one_for_all: false,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::testing::{first_refusal, plan_of, problems_of, refusals, spec_of, wrong};
    use ferrio_job::Origin;

    fn of(options: &str) -> Memory {
        spec_of(&format!("[a]\nioengine=null\nsize=4k\n{options}")).memory
    }

    #[test]
    fn each_word_is_a_kind_and_a_file_belongs_to_mappings() {
        assert_eq!(of(""), Memory { huge_page: 2 << 20, ..Memory::default() });
        let memory = |text: &str| (of(text).kind, of(text).file);
        let file = |path: &str| Some(PathBuf::from(path));
        assert_eq!(memory("mem=shm\n"), (MemoryType::Shm, None));
        assert_eq!(memory("iomem=shmhuge\n"), (MemoryType::ShmHuge, None));
        assert_eq!(memory("mem=mmap\n"), (MemoryType::Mmap, None));
        assert_eq!(memory("mem=mmapshared\n"), (MemoryType::MmapShared, None));
        assert_eq!(memory("mem=mmap:/x\n"), (MemoryType::Mmap, file("/x")));
        assert_eq!(memory("mem=mmapshared:y/x\n"), (MemoryType::MmapShared, file("y/x")));
        assert_eq!(memory("mem=mmaphuge\n"), (MemoryType::MmapHuge, None));
        assert_eq!(memory("mem=mmaphuge:/huge/x\n"), (MemoryType::MmapHuge, file("/huge/x")));
    }

    #[test]
    fn alignment_and_huge_page_size_are_bytes() {
        assert_eq!(of("iomem_align=8k\nhugepage-size=1g\nmem=mmaphuge\n").huge_page, 1 << 30);
        assert_eq!(of("mem_align=8k\n").align, 8192);
    }

    #[test]
    fn alignments_are_powers_of_two() {
        assert_eq!(first_refusal("iomem_align=1000\n"), "iomem_align=1000 is not a power of two");
        assert!(wrong("iomem_align=512\n").is_empty() && wrong("iomem_align=0\n").is_empty());
    }

    #[test]
    fn a_huge_page_has_the_size_of_a_page() {
        assert_eq!(
            first_refusal("mem=mmaphuge\nhugepage-size=3m\n"),
            "hugepage-size=3145728 is not a page size of this machine"
        );
        assert!(wrong("mem=shmhuge\nhugepage-size=2m\n").is_empty());
        assert!(wrong("hugepage-size=3m\n").is_empty(), "without effect");
    }

    #[test]
    fn buffers_that_no_memory_holds_are_refused() {
        let job = |engine: &str, rest: &str| format!("[a]\nioengine={engine}\nsize=1m\n{rest}");
        let problem = &problems_of(&job("io_uring", "iodepth=2147483647\n"))[0];
        assert_eq!(problem.code, "buffers-exceed-memory");
        let want = "iodepth=2147483647 with blocks of 4096 bytes needs 8912895 MiB of memory, but the machine has 1024";
        assert_eq!(problem.message, want);
        assert_eq!(refusals(&job("libaio", "iodepth=2k\nbs=1m\n")).len(), 1);
        let want = "iodepth=2147483647 needs 524287 MiB of memory, but the machine has 1024";
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
}
