//! How options define a job, and how a job runs.

use crate::differences::row::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "not-there-yet",
        fio: "`lockmem`, `read_iolog` and other options with the status \"not yet\" in `options.md` take effect",
        ferrio: "they are parsed and checked, but a run is refused with the name of the option",
        why: "a job without one of its options is a different job",
    },
    Row {
        id: "exec-prerun-failing",
        fio: "a job whose `exec_prerun` fails does no I/O and counts as successful",
        ferrio: "the job fails, and so does the run",
        why: "a script must notice that nothing was measured",
    },
    Row {
        id: "absent-engine",
        fio: "private options of an engine that fio was built without are syntax errors",
        ferrio: "the job is parsed; a run is refused with what the engine needs",
        why: "the job file is correct; only the engine is missing",
    },
    Row {
        id: "engine-private-options",
        fio: "any job accepts the private options of the built-in profiles, which then do nothing",
        ferrio: "they are accepted, and a note says that they have no effect",
        why: "an option that does nothing is probably a misunderstanding",
    },
    Row {
        id: "latency-target-unmet",
        fio: "with `latency_percentile` below 100, a bad window at depth 1 lasts until it is good, however long that takes",
        ferrio: "a new window starts; if the job ends without a good one, a note says so",
        why: "one slow start does not count forever, and a target that no depth meets is a result too",
    },
    Row {
        id: "latency-target-bisection",
        fio: "a search whose largest depth is bad retries it after each smaller depth that is good, and never ends",
        ferrio: "the largest depth is treated like any other, and the search converges on the largest good one",
        why: "the search ends with the right depth",
    },
    Row {
        id: "latency-target-runtime",
        fio: "the final window of a search restarts the run time",
        ferrio: "`runtime` counts from the start of the job",
        why: "the job ends at the requested time",
    },
    Row {
        id: "latency-limits-unmeasured",
        fio: "`max_latency` and `latency_target` do nothing with `disable_lat` or `gtod_reduce`",
        ferrio: "the combination is refused",
        why: "a limit that is never checked is not a limit",
    },
    Row {
        id: "flow-started",
        fio: "jobs that have not started count in a `flow` group, so a job before a `stonewall` stops forever",
        ferrio: "jobs count while they do I/O; a job that joins later does not make up for what it missed",
        why: "a group can span several phases of a run",
    },
    Row {
        id: "flow-reaping",
        fio: "a job that must wait for its turn leaves its I/Os in flight unattended unless it sleeps (`flow_sleep`)",
        ferrio: "they are reaped when they complete",
        why: "otherwise their latencies would include the wait",
    },
    Row {
        id: "ramp-exact",
        fio: "a timer notices the end of `ramp_time` and `ramp_size` once a second",
        ferrio: "the job itself notices it before its next I/O",
        why: "a ramp of 200 ms lasts 200 ms",
    },
    Row {
        id: "number-ios-trimwrite",
        fio: "with `rw=trimwrite`, every pass over the files doubles `number_ios`",
        ferrio: "it is doubled once, because each write comes with a trim",
        why: "`loops=3` means three times as much",
    },
    Row {
        id: "trimwrite-same-block",
        fio: "rw=trimwrite with a negative hole may trim a block again without writing it in between; `trimwrite:-4k` does so forever",
        ferrio: "a write follows each trim, as with rw=randtrimwrite",
        why: "trims do not count towards the end of the job, so it would not end",
    },
    Row {
        id: "startdelay-clones",
        fio: "clones of a job with a `startdelay` range from 0 draw from a range that starts at the first clone's delay",
        ferrio: "each clone draws from the whole range",
        why: "this is the range that was written",
    },
    Row {
        id: "write-iolog-version",
        fio: "`write_iolog` writes version 3 of the format",
        ferrio: "`write_iolog_version=2`, which fio does not have, writes version 2, which has no times",
        why: "a log without times is replayed as fast as possible, and `diff` can compare two such logs",
    },
    Row {
        id: "write-iolog-waits",
        fio: "an I/O that the engine had no room for is in the log of `write_iolog` once for each attempt",
        ferrio: "it is in the log once",
        why: "it is one I/O, and a replay would repeat it",
    },
    Row {
        id: "write-iolog-full",
        fio: "a log of `write_iolog` that cannot be written completely is cut short without a message",
        ferrio: "it is an error that ends the job",
        why: "half a log is the log of a different job",
    },
    Row {
        id: "open-at-start",
        fio: "each file is opened before the first I/O to it",
        ferrio: "all files are opened at the start of a pass, unless `openfiles` is below their number or `fsync_on_close` is set",
        why: "opening does not disturb the measurement, and a file that cannot be opened fails the job before its first I/O",
    },
    Row {
        id: "open-limit",
        fio: "files that are reopened for `end_fsync` do not count towards `openfiles`",
        ferrio: "they count, and so do files that are reopened for verification",
        why: "the limit exists to be kept",
    },
    Row {
        id: "soft-limit",
        fio: "a job with more files than the soft limit of open files fails",
        ferrio: "the limit is raised as far as the hard limit allows",
        why: "the soft limit protects programs that cannot handle more",
    },
    Row {
        id: "sync-on-close-once",
        fio: "`fsync_on_close` syncs a file that is finished early when it is closed and again at the end of the pass",
        ferrio: "the file is synced once, when it is closed",
        why: "nothing is written to it in between",
    },
    Row {
        id: "files-without-room",
        fio: "with `file_service_type=zipf` and similar types, files without room for an I/O are tried forever",
        ferrio: "the pass ends after 5000 failed tries in a row",
        why: "a job that can do nothing more ends",
    },
    Row {
        id: "rate-keeps-queue",
        fio: "before a job waits for the next I/O of its `rate`, it waits until nothing is in flight",
        ferrio: "I/Os in flight continue, and are reaped when they complete",
        why: "otherwise one slow I/O would delay those that are due after it, and the queue would never be deeper than the device is fast",
    },
    Row {
        id: "response-time",
        fio: "an I/O that is issued late because of the one before has only its own latency",
        ferrio: "jobs with a `rate` also have response times, measured from the moment each I/O was due: see `response_time.md`",
        why: "a client that asks at that rate has to wait that long",
    },
    Row {
        id: "poisson-mean",
        fio: "`rate_process=poisson` truncates means and gaps to whole microseconds, which gives 5 % too many I/Os at 100 000 per second and more than twice as many at 700 000; a `rate` in bytes is treated as a rate of the smallest blocks",
        ferrio: "gaps are fio's where that costs less than 0.1 %, and otherwise the same draws in nanoseconds; bytes are counted",
        why: "the rate is what was asked for",
    },
    Row {
        id: "poisson-without-rate",
        fio: "`rate_process=poisson` with less than one block per second, or with a rate for only one of two directions, divides by zero",
        ferrio: "it is refused",
        why: "the job asks for nothing that could be done",
    },
    Row {
        id: "rate-of-split",
        fio: "`rate_iops` with `bssplit` measures gaps in whole microseconds: 300000 per second become 333333",
        ferrio: "the gaps add up to the rate",
        why: "the rate is what was asked for",
    },
    Row {
        id: "cmdprio-bssplit-numbers",
        fio: "shares, classes, levels and hints in `cmdprio_bssplit` are truncated to their ranges, and a size without a share has none",
        ferrio: "the value is refused; a size without a share fails its job, as other malformed values do in fio",
        why: "an impossible number is a mistake",
    },
    Row {
        id: "priorities-of-threads",
        fio: "`prio` and `nice` apply to the job's process, which is the parent of its `exec_prerun`",
        ferrio: "jobs are threads: both apply to the thread whose id reports show as `pid`, and to the commands that it runs",
        why: "one process with a thread per job shares files, memory and the clock",
    },
];
