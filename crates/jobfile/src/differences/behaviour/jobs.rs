//! What options make of a job, and the course of a run.

use crate::differences::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "not-there-yet",
        fio: "`lockmem`, `read_iolog` and other options of `options.md` that are \"not yet\" act",
        ferrio: "they are parsed and checked; a run is refused, and says which option it is for",
        why: "a job without one of its options is another job",
    },
    Row {
        id: "exec-prerun-failing",
        fio: "a job whose `exec_prerun` fails does no I/O and counts as good",
        ferrio: "it has failed, and so has the run",
        why: "a script must notice that nothing was measured",
    },
    Row {
        id: "absent-engine",
        fio: "a job with private options of an engine it was built without is a syntax error",
        ferrio: "such a job is parsed; a run is refused with what the engine needs",
        why: "the job file is right, it is the engine that is missing",
    },
    Row {
        id: "engine-private-options",
        fio: "private options of the built-in profiles are taken by any job and do nothing",
        ferrio: "they are taken, and a note says that they have no effect",
        why: "an option that does nothing is probably a misunderstanding",
    },
    Row {
        id: "latency-target-unmet",
        fio: "with `latency_percentile` below 100 a bad window at depth 1 goes on until it is good, however long that takes",
        ferrio: "a new window begins; a job that ends without a good one says so in a note",
        why: "one slow start does not count for ever, and a target that no depth meets is a result too",
    },
    Row {
        id: "latency-target-bisection",
        fio: "a search whose largest depth is bad tries it again after each smaller depth that is good, and never ends",
        ferrio: "the largest depth is bad like any other: the search closes in on the largest good one",
        why: "the search ends, and with the right depth",
    },
    Row {
        id: "latency-target-runtime",
        fio: "the final window of a search begins the run time anew",
        ferrio: "`runtime` counts from the start of the job",
        why: "the job ends when it was told to",
    },
    Row {
        id: "latency-limits-unmeasured",
        fio: "`max_latency` and `latency_target` do nothing where `disable_lat` or `gtod_reduce` is in force",
        ferrio: "both together are refused",
        why: "a limit that nobody looks at is none",
    },
    Row {
        id: "flow-started",
        fio: "jobs that have not started count in a `flow` group: one in front of a `stonewall` stops for ever",
        ferrio: "jobs count while they do I/O; one that joins later does not catch up with what it missed",
        why: "a group may span several phases of a run",
    },
    Row {
        id: "flow-reaping",
        fio: "a job whose turn it is not leaves its I/Os in flight alone unless it sleeps (`flow_sleep`)",
        ferrio: "they are reaped when they complete",
        why: "their latencies would grow by the time of waiting",
    },
    Row {
        id: "ramp-exact",
        fio: "the end of `ramp_time` and `ramp_size` is noticed by a timer once a second",
        ferrio: "the job itself notices it, before the next I/O",
        why: "a ramp of 200 ms lasts 200 ms",
    },
    Row {
        id: "number-ios-trimwrite",
        fio: "`number_ios` of `rw=trimwrite` is doubled by every pass over the files",
        ferrio: "it is doubled once: each write comes with a trim",
        why: "`loops=3` means three times as much",
    },
    Row {
        id: "trimwrite-same-block",
        fio: "rw=trimwrite with a negative hole may trim a block again without writing it in between, `trimwrite:-4k` for ever",
        ferrio: "a write follows each trim, as with rw=randtrimwrite",
        why: "trims do not count for the end of the job: it would not end",
    },
    Row {
        id: "startdelay-clones",
        fio: "clones of a job with a `startdelay` range from 0 draw from a range that begins with the first one's delay",
        ferrio: "each clone draws from the whole range",
        why: "the range is the one that was written",
    },
    Row {
        id: "write-iolog-version",
        fio: "`write_iolog` writes version 3 of the format",
        ferrio: "`write_iolog_version=2` writes version 2, which has no times; there is no such option in fio",
        why: "a log without times is replayed as fast as possible, and two logs can be compared by `diff`",
    },
    Row {
        id: "write-iolog-waits",
        fio: "an I/O that the engine had no room for is in the log of `write_iolog` each time it is tried",
        ferrio: "it is there once",
        why: "it is one I/O, and a replay would do it several times",
    },
    Row {
        id: "write-iolog-full",
        fio: "a log of `write_iolog` that cannot be written to its end is cut without a word",
        ferrio: "it is an error that ends the job",
        why: "half a log is the log of another job",
    },
    Row {
        id: "open-at-start",
        fio: "each file is opened when the first I/O goes to it",
        ferrio: "all files are opened when a pass begins, unless `openfiles` is below their number or `fsync_on_close` is set",
        why: "opening does not disturb what is measured, and a file that cannot be opened fails the job before its first I/O",
    },
    Row {
        id: "open-limit",
        fio: "files that are opened once more for `end_fsync` come on top of `openfiles`",
        ferrio: "`openfiles` holds for them, and for blocks that are read back, as well",
        why: "it is there to keep within a limit",
    },
    Row {
        id: "soft-limit",
        fio: "more files than the soft limit of open files fail",
        ferrio: "the limit is raised as far as the hard one allows",
        why: "it is there for programs that cannot take more",
    },
    Row {
        id: "sync-on-close-once",
        fio: "`fsync_on_close` syncs a file that is finished early when it closes, and again at the end of the pass",
        ferrio: "it is synced once, when it closes",
        why: "nothing is written to it in between",
    },
    Row {
        id: "files-without-room",
        fio: "with `file_service_type=zipf` and the like, files that have no room for an I/O are tried for ever",
        ferrio: "the pass is over after 5000 tries in a row",
        why: "a job that cannot do anything ends",
    },
    Row {
        id: "rate-keeps-queue",
        fio: "before a job waits for the next I/O of its `rate` it waits until nothing is in flight",
        ferrio: "what is in flight goes on, and is reaped when it completes",
        why: "one slow I/O would hold back those that are due behind it, and the queue would never be deeper than the device is quick",
    },
    Row {
        id: "response-time",
        fio: "an I/O that goes late because the one before was slow has the latency of its own slowness only",
        ferrio: "jobs with a `rate` have response times as well, from the moment each I/O was due: see `response_time.md`",
        why: "who asks at that rate has to wait that long",
    },
    Row {
        id: "poisson-mean",
        fio: "`rate_process=poisson` cuts means and gaps to whole microseconds, which makes 5 % too many I/Os at 100 000 a second and more than twice as many at 700 000; a `rate` in bytes is taken for one of the smallest blocks",
        ferrio: "gaps are fio's where that costs less than 0.1 %, else the same draws in nanoseconds; bytes are counted",
        why: "the rate is what was asked for",
    },
    Row {
        id: "poisson-without-rate",
        fio: "`rate_process=poisson` with less than a block a second, or a rate for one of two directions, ends in a division by zero",
        ferrio: "it is refused",
        why: "nothing was asked for that could be done",
    },
    Row {
        id: "rate-of-split",
        fio: "`rate_iops` with `bssplit` counts a gap in whole microseconds: 300000 a second become 333333",
        ferrio: "the gaps add up to the rate",
        why: "the rate is what was asked for",
    },
    Row {
        id: "cmdprio-bssplit-numbers",
        fio: "shares, classes, levels and hints in `cmdprio_bssplit` are cut to their ranges, and a size without a share has none",
        ferrio: "the value is refused; a size without a share fails its job, as other wrong forms do in fio",
        why: "a number that is not possible is a slip",
    },
    Row {
        id: "priorities-of-threads",
        fio: "`prio` and `nice` are those of the job's process, the parent of its `exec_prerun`",
        ferrio: "jobs are threads: they are those of the thread whose id reports have as `pid`, and of the commands it runs",
        why: "one process with a thread for each job shares files, memory and the clock",
    },
];
