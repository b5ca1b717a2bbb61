//! Where the memory of the I/O buffers comes from, as the options say it.

use ferrio_jobfile::{Opt, Options};

use ferrio_job::{Memory, MemoryKind};

/// The memory options of a job.
pub(crate) fn memory(options: &Options) -> Memory {
    let base = Memory::default();
    Memory {
        kind: kind(options),
        align: options.int(Opt::IomemAlign).and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0),
        huge_page: options.size(Opt::HugepageSize).unwrap_or(base.huge_page),
    }
}

fn kind(options: &Options) -> MemoryKind {
    let Some(choice) = options.word(Opt::Mem) else { return MemoryKind::Malloc };
    let file = choice.argument.filter(|path| !path.is_empty()).map(Into::into);
    match (choice.word, file) {
        ("shm", _) => MemoryKind::Shm,
        ("shmhuge", _) => MemoryKind::ShmHuge,
        ("mmap", Some(path)) => MemoryKind::MmapFile(path),
        ("mmapshared", Some(path)) => MemoryKind::MmapShared(path),
        ("mmap" | "mmapshared", None) => MemoryKind::Mmap,
        ("mmaphuge", file) => MemoryKind::MmapHuge(file),
        _ => MemoryKind::Malloc,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::spec_of;

    fn of(options: &str) -> Memory {
        spec_of(&format!("[a]\nioengine=null\nsize=4k\n{options}")).memory
    }

    #[test]
    fn each_word_is_a_kind_and_a_file_belongs_to_mappings() {
        assert_eq!(of(""), Memory::default());
        assert_eq!(of("mem=shm\n").kind, MemoryKind::Shm);
        assert_eq!(of("iomem=shmhuge\n").kind, MemoryKind::ShmHuge);
        assert_eq!(of("mem=mmap\n").kind, MemoryKind::Mmap);
        assert_eq!(of("mem=mmapshared\n").kind, MemoryKind::Mmap);
        assert_eq!(of("mem=mmap:/x\n").kind, MemoryKind::MmapFile("/x".into()));
        assert_eq!(of("mem=mmapshared:y/x\n").kind, MemoryKind::MmapShared("y/x".into()));
        assert_eq!(of("mem=mmaphuge\n").kind, MemoryKind::MmapHuge(None));
        assert_eq!(of("mem=mmaphuge:/huge/x\n").kind, MemoryKind::MmapHuge(Some("/huge/x".into())));
    }

    #[test]
    fn alignment_and_huge_page_size_are_bytes() {
        assert_eq!(of("iomem_align=8k\nhugepage-size=1g\nmem=mmaphuge\n").huge_page, 1 << 30);
        assert_eq!(of("mem_align=8k\n").align, 8192);
    }
}
