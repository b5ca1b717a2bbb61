//! Contents and memory of I/O buffers.

use crate::differences::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "iomem-align",
        fio: "`iomem_align=A` moves the first buffer A bytes behind the beginning of a page; the others follow at block size",
        ferrio: "every buffer begins at a multiple of A, which must be a power of two; with `direct=1` also at that of a page",
        why: "that is what the name says, and what devices ask for",
    },
    Row {
        id: "mem-file-length",
        fio: "`mem=mmap:FILE` cuts a longer file to the size of the buffers; `mem=mmapshared:FILE` with a new or short one crashes",
        ferrio: "a file that is too short grows, a longer one is left as long as it is",
        why: "a file that was there before is not ours to cut",
    },
    Row {
        id: "mmaphuge-file",
        fio: "`mem=mmaphuge:FILE` maps any file, of ordinary pages where it is not on a hugetlbfs",
        ferrio: "a file elsewhere is an error; on a hugetlbfs its page size counts",
        why: "who asks for huge pages wants them or an answer",
    },
    Row {
        id: "hugepage-size",
        fio: "`hugepage-size` rounds the size of the buffers, the pages are of the system's default size",
        ferrio: "the kernel is asked for pages of this size",
        why: "a machine may have pages of 2 MiB and of 1 GiB",
    },
    Row {
        id: "dedupe-size-percent",
        fio: "with `size` in percent the working set of `dedupe_mode=working_set` is one single block",
        ferrio: "the set is a share of the size that this comes to",
        why: "so few different blocks cannot have been meant",
    },
    Row {
        id: "dedupe-global-seeds",
        fio: "`dedupe_global` takes part in the random seeds of jobs with `randrepeat=0`",
        ferrio: "it is refused while another job of the run has `randrepeat=0` without `randseed`",
        why: "plans do not depend on chance; a `randseed` does the same",
    },
];
