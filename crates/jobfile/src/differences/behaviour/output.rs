//! Reports and messages.

use crate::differences::row::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "notes",
        fio: "notes and some errors are printed within the report on stdout",
        ferrio: "stdout has only the report; everything else goes to stderr",
        why: "programs can read the report",
    },
    Row {
        id: "percentiles",
        fio: "percentiles come from 64 buckets per power of two: up to 0.8 % off and possibly above the maximum; latencies of 17 s and more share one bucket; 99.9 % of 1000 samples are 1000",
        ferrio: "there are 128 buckets per power of two: at most 0.4 % off the sample at that rank, never outside the range of the samples, up to 146 years; 99.9 % of 1000 samples are 999. With `--fio-bins`, and with json+, which lists fio's buckets, the whole report has fio's values",
        why: "percentiles can be trusted, and compared with fio's where needed",
    },
    Row {
        id: "stats-off",
        fio: "`stats=0` leaves an entry without a name, in group 4294967295, in JSON and terse reports",
        ferrio: "the job has no entry",
        why: "an empty entry misleads readers",
    },
    Row {
        id: "block-errors",
        fio: "`block_error_percentiles` aborts when it reports on a job that trims",
        ferrio: "the states of all blocks are counted, and for failed blocks the trims that they survived",
        why: "this is what fio's manual describes",
    },
    Row {
        id: "latency-switches",
        fio: "`disable_lat` makes the submission latencies of asynchronous engines meaningless; `disable_clat`, `disable_slat` and `disable_bw` together do the same to the total latencies",
        ferrio: "whatever remains enabled is measured correctly",
        why: "wrong figures are worse than none",
    },
    Row {
        id: "ferrio-object",
        fio: "a JSON document ends with `jobs`, `disk_util` or `cpu_idleness`",
        ferrio: "it ends with one more key, `ferrio`: host, device, clock, warnings and more",
        why: "figures mean little without them; [json.md](json.md) describes the object",
    },
    Row {
        id: "warnings",
        fio: "a report does not say whether its figures can be trusted",
        ferrio: "warnings about misleading figures follow the report on stderr and are in the `ferrio` object",
        why: "a run of 3 ms, or one that measured the page cache, looks like any other",
    },
    Row {
        id: "errors-in-output-file",
        fio: "with `--output`, errors are also written to the file of the report, even before a JSON document",
        ferrio: "the file has only the report; errors go to stderr",
        why: "the document can be read as it is",
    },
    Row {
        id: "json-escapes",
        fio: "control characters and invalid UTF-8 are copied into a JSON document, and numbers can be `nan`",
        ferrio: "control characters are escaped, invalid bytes are replaced, and such a number is 0",
        why: "the document is valid JSON with any job name",
    },
    Row {
        id: "mixed-units",
        fio: "with `unified_rw_reporting=both`, bandwidths of the `mixed` line have no unit: `BW=4000Mi (4194M)`",
        ferrio: "they have the same unit as all others",
        why: "a number without its unit means nothing",
    },
    Row {
        id: "group-of-mixed-and-apart",
        fio: "if one job of a group has `unified_rw_reporting=1`, all lines of the group are named `MIXED`",
        ferrio: "each direction has its own line, and unified jobs have the `MIXED` line",
        why: "each line says what it counts",
    },
    Row {
        id: "steadystate-units",
        fio: "the second bandwidth of a `steadystate` line is the number of KiB labelled kB; its latency is in `knsec`",
        ferrio: "the second bandwidth is the first one in the other unit; the latency is in `nsec`, `usec` or `msec`",
        why: "both figures agree",
    },
    Row {
        id: "depths-of-rests",
        fio: "I/Os that wait for a batch and are submitted before it is full are missing from `IO depths`",
        ferrio: "they are counted at the depth at which they were submitted, so the shares add up to 100 %",
        why: "each I/O had a depth",
    },
    Row {
        id: "disk-activity-at-the-end",
        fio: "disk counters are read four times a second while files are open, so a short job's activity is missing",
        ferrio: "they are read once more at the end of the run",
        why: "jobs shorter than 250 ms have disk statistics too",
    },
    Row {
        id: "no-percentiles",
        fio: "a `percentile_list` without a percentile leaves an empty `percentile` object in JSON",
        ferrio: "the object is left out, as when percentiles are disabled",
        why: "it holds nothing to read",
    },
    Row {
        id: "terse-numbers",
        fio: "a terse line of a job without I/O has `-nan%` in its latency buckets",
        ferrio: "it has `0.00%`",
        why: "readers expect a number",
    },
    Row {
        id: "log-histogram-rest",
        fio: "a histogram log ends with the last full `log_hist_msec`; later I/Os are in no row",
        ferrio: "they are in a last row with the time of the job's end and the size of the last of them",
        why: "the counts of all rows add up to the I/Os of the job",
    },
    Row {
        id: "log-histogram-compressed",
        fio: "with `log_compression` or `log_store_compressed`, a histogram log has memory addresses instead of counts",
        ferrio: "it has the counts, as text in a `.log` file, because compressed records have no room for them",
        why: "the counts are what was asked for",
    },
    Row {
        id: "log-in-memory",
        fio: "a job's log is kept in memory, which `log_compression` makes smaller, and written at the end of the job; `log_compression_cpus` sets where that job's log is compressed",
        ferrio: "one thread writes rows as they arrive; it runs on the CPUs that any job names in `log_compression_cpus`. A disk slower than the jobs slows them down. Once a signal or anything else is to end the jobs, a disk that accepts nothing for 10 s is given up, with a message. Streams of stored logs are no longer than `log_compression` or 256 KiB, and shorter with hundreds of logs",
        why: "memory does not grow with the length of a run, and an interrupted run loses nothing",
    },
    Row {
        id: "log-disk-full",
        fio: "on a full disk, a log is cut short without a message",
        ferrio: "a message says so once per file; the jobs continue, and the exit status is that of the jobs, as in fio",
        why: "the report's figures are right without the log, but users of the log must know",
    },
    Row {
        id: "inflate-log",
        fio: "`--inflate-log` accepts a truncated log and complains about an empty one",
        ferrio: "it prints the rows of a truncated log, reports the truncation and ends with a non-zero status; an empty log has no rows. It also reads logs of fio before 3.38, whose records are shorter",
        why: "the submission log of a synchronous engine is empty, and half a log is not a whole one",
    },
    Row {
        id: "interval-report",
        fio: "there is no such option; figures per interval exist only as averages in logs, each figure in a file of its own",
        ferrio: "`--interval-report=TIME` writes all figures of each job and interval as lines of JSON: see `interval_report.md`",
        why: "a dashboard can follow a run",
    },
    Row {
        id: "interim-log-rates",
        fio: "with a bandwidth or IOPS log of every I/O, reports of a running job have the rates of its I/Os in the lines `bw` and `iops`",
        ferrio: "while the job runs, these lines have the samples of every half second; the last report has the rates of the I/Os",
        why: "the rows of the log are already on their way to the disk and are not read back before the end",
    },
    Row {
        id: "eta-of-jobs-to-come",
        fio: "in the first three seconds, the live line of a run with jobs after a stonewall estimates `49710d:06h:28m:14s`",
        ferrio: "nothing is estimated in the first three seconds",
        why: "the estimate is the sum of two placeholders for unknown",
    },
    Row {
        id: "eta-decimal",
        fio: "with `kb_base=1000`, rates in the live line are numbers of KiB labelled kB",
        ferrio: "they are kB, as in the report",
        why: "a number matches its unit",
    },
];
