//! The contents and memory of I/O buffers.

use crate::differences::row::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "iomem-align",
        fio: "`iomem_align=A` moves the first buffer A bytes past the start of a page; the others follow at intervals of the block size",
        ferrio: "every buffer starts at a multiple of A, which must be a power of two, and with `direct=1` also at the start of a page",
        why: "this is what the name says and what devices need",
    },
    Row {
        id: "mem-file-length",
        fio: "`mem=mmap:FILE` truncates a longer file to the size of the buffers; `mem=mmapshared:FILE` crashes with a new or short file",
        ferrio: "a file that is too short grows, and a longer one keeps its length",
        why: "a file that existed before must not lose data",
    },
    Row {
        id: "mmaphuge-file",
        fio: "`mem=mmaphuge:FILE` maps any file, with ordinary pages if it is not on a hugetlbfs",
        ferrio: "a file that is not on a hugetlbfs is an error; on a hugetlbfs, its page size is used",
        why: "a request for huge pages is either met or refused",
    },
    Row {
        id: "hugepage-size",
        fio: "`hugepage-size` rounds the size of the buffers, but the pages have the system's default size",
        ferrio: "the kernel is asked for pages of this size",
        why: "a machine can have both 2 MiB and 1 GiB pages",
    },
    Row {
        id: "dedupe-size-percent",
        fio: "with `size` as a percentage, the working set of `dedupe_mode=working_set` is a single block",
        ferrio: "the set is a share of the resulting size",
        why: "one distinct block cannot be what was meant",
    },
    Row {
        id: "dedupe-global-seeds",
        fio: "`dedupe_global` affects the random seeds of jobs with `randrepeat=0`",
        ferrio: "it is refused while another job of the run has `randrepeat=0` without `randseed`",
        why: "plans do not depend on chance, and a `randseed` has the same effect",
    },
];
