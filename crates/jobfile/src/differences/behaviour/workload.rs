//! Which I/O comes next, and when.

use crate::differences::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "lfsr-cannot-begin",
        fio: "a job with random_generator=lfsr whose seed sets all bits of the register does no I/O and counts as good: with the default seed all jobs of 4 to 15 blocks",
        ferrio: "it does no I/O and has failed; with `randrepeat=0` the seed is moved by one",
        why: "a script must notice that nothing was measured",
    },
    Row {
        id: "lfsr-in-zones",
        fio: "random_generator=lfsr reaches beyond the zones of random_distribution=zoned and zoned_abs",
        ferrio: "beside a distribution lfsr has no effect, and a note says so",
        why: "the shares of the zones are what was asked for",
    },
    Row {
        id: "permute",
        fio: "there is no such generator",
        ferrio: "random_generator=permute visits every block once in random order, without a map (`permute.md`); --strict=fio refuses it",
        why: "a map of a large device takes gigabytes",
    },
    Row {
        id: "normal-center",
        fio: "random_distribution=normal with a center below 0.5 has its middle at a place that depends on how fio was built",
        ferrio: "the middle is at the center",
        why: "that is what a center is",
    },
    Row {
        id: "random-map-units",
        fio: "with block sizes that differ by direction the same bit of the random map stands for different bytes: rw=randread bs=16k,4k,4k size=1m ends after 34 of 64 blocks",
        ferrio: "a bit stands for as many bytes as the smallest block of the directions that the job issues",
        why: "every block is visited once; the order of such a job differs from fio's",
    },
    Row {
        id: "random-map-memory",
        fio: "whether a random map fits is found out file by file",
        ferrio: "it is asked for the maps of all files of a job at once; with `softrandommap` all or none have one",
        why: "a job runs in one way or the other",
    },
    Row {
        id: "file-append-keeps",
        fio: "a job with `file_append` that reads has its file laid out anew, and what was in it is lost",
        ferrio: "only what is appended is laid out",
        why: "to append is to keep what is there",
    },
    Row {
        id: "normal-few-blocks",
        fio: "random_distribution=normal with a deviation may stop for ever in a file of few blocks",
        ferrio: "a mean beyond the last block counts as the first",
        why: "the job goes on",
    },
    Row {
        id: "serialize-overlap-file",
        fio: "`serialize_overlap` compares offsets whatever the file; with `io_submit_mode=offload`, those of all jobs that set both",
        ferrio: "offsets of the same file are compared, whatever its names; with `io_submit_mode=offload`, those of all jobs that set both",
        why: "equal offsets of two files do not overlap",
    },
    Row {
        id: "offload-syncs",
        fio: "`fsync`, `fdatasync` and `sync_file_range` do nothing with `io_submit_mode=offload`",
        ferrio: "they are issued as without it",
        why: "the job asked for them",
    },
    Row {
        id: "offload-slat",
        fio: "`io_submit_mode=offload` with a synchronous engine has no submission latency, and 3.42 no latency at all",
        ferrio: "submission latency is the time from hand-over to the thread's call, completion latency the call itself",
        why: "the way to another thread is part of what an I/O takes",
    },
    Row {
        id: "polling-depth",
        fio: "`iodepth_batch_complete_min=0` waits for an I/O after each submission: the queue is one deep",
        ferrio: "it asks without waiting after each submission, so that the queue fills up",
        why: "that is what the manual says",
    },
];
