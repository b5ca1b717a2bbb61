//! Which I/O comes next and when.

use crate::differences::row::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "lfsr-cannot-begin",
        fio: "a job with random_generator=lfsr whose seed sets all bits of the register does no I/O and counts as successful; with the default seed, this affects all jobs of 4 to 15 blocks",
        ferrio: "it does no I/O and fails; with `randrepeat=0` the seed is moved by one",
        why: "a script must notice that nothing was measured",
    },
    Row {
        id: "lfsr-in-zones",
        fio: "random_generator=lfsr leaves the zones of random_distribution=zoned and zoned_abs",
        ferrio: "with a distribution, lfsr has no effect, and a note says so",
        why: "the shares of the zones are what was asked for",
    },
    Row {
        id: "permute",
        fio: "there is no such generator",
        ferrio: "random_generator=permute visits every block once in random order, without a map (`permute.md`); --strict=fio refuses it",
        why: "the map of a large device takes gigabytes",
    },
    Row {
        id: "normal-center",
        fio: "random_distribution=normal with a center below 0.5 has its mean at a place that depends on how fio was built",
        ferrio: "the mean is at the center",
        why: "this is what a center is",
    },
    Row {
        id: "random-map-units",
        fio: "with block sizes that differ by direction, the same bit of the random map means different bytes: rw=randread bs=16k,4k,4k size=1m ends after 34 of 64 blocks",
        ferrio: "a bit means the smallest block of the directions that the job issues",
        why: "every block is visited once; the order of such a job differs from fio's",
    },
    Row {
        id: "random-map-memory",
        fio: "each file is checked on its own for whether its random map fits in memory",
        ferrio: "the maps of all files of a job are requested together; with `softrandommap`, all files have one or none has",
        why: "a job runs in one mode",
    },
    Row {
        id: "file-append-keeps",
        fio: "a job with `file_append` that reads has its file laid out again, and the content is lost",
        ferrio: "only the appended part is laid out",
        why: "appending preserves what is there",
    },
    Row {
        id: "normal-few-blocks",
        fio: "random_distribution=normal with a deviation may loop forever in a file of few blocks",
        ferrio: "a mean beyond the last block counts as the first block",
        why: "the job continues",
    },
    Row {
        id: "serialize-overlap-file",
        fio: "`serialize_overlap` compares offsets regardless of the file; with `io_submit_mode=offload`, those of all jobs that set both",
        ferrio: "it compares offsets within the same file, whatever its names; with `io_submit_mode=offload`, those of all jobs that set both",
        why: "equal offsets in two files do not overlap",
    },
    Row {
        id: "offload-syncs",
        fio: "`fsync`, `fdatasync` and `sync_file_range` do nothing with `io_submit_mode=offload`",
        ferrio: "they are issued as without it",
        why: "the job asked for them",
    },
    Row {
        id: "offload-slat",
        fio: "`io_submit_mode=offload` with a synchronous engine has no submission latency, and in 3.42 no latency at all",
        ferrio: "submission latency is the time from the hand-over to the thread's call; completion latency is the call itself",
        why: "passing an I/O to another thread is part of its time",
    },
    Row {
        id: "polling-depth",
        fio: "`iodepth_batch_complete_min=0` waits for an I/O after each submission, so the queue depth is one",
        ferrio: "it polls after each submission without waiting, so the queue fills",
        why: "this is what the manual says",
    },
];
