//! Reports and messages.

use crate::differences::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "notes",
        fio: "notes and some errors are printed among the report on standard output",
        ferrio: "standard output has the report only, everything else goes to standard error",
        why: "reports can be read by programs",
    },
    Row {
        id: "percentiles",
        fio: "percentiles are read from 64 buckets to a doubling, up to 0.8 % off and perhaps above the maximum; latencies of 17 s \
              and more share one bucket; 99.9 % of 1000 samples are 1000",
        ferrio: "128 buckets to a doubling, at most 0.4 % off the sample of the rank, never beyond the smallest and largest sample, \
                 up to 146 years; 99.9 % of 1000 samples are 999. With `--fio-bins`, and with json+, which lists fio's buckets, the \
                 whole report has fio's values",
        why: "percentiles can be trusted, and compared with fio's where that is the question",
    },
    Row {
        id: "stats-off",
        fio: "`stats=0` leaves an entry without a name, of group 4294967295, in JSON and terse reports",
        ferrio: "the job has no entry",
        why: "an entry of nothing misleads readers",
    },
    Row {
        id: "block-errors",
        fio: "`block_error_percentiles` aborts at the report of a job that trims",
        ferrio: "states of all blocks are counted, and how many trims the blocks that failed had survived",
        why: "this is what its manual describes",
    },
    Row {
        id: "latency-switches",
        fio: "`disable_lat` makes the submission latencies of asynchronous engines meaningless; `disable_clat`, `disable_slat` and \
              `disable_bw` together those of lat",
        ferrio: "what is left switched on is measured correctly",
        why: "wrong figures are worse than none",
    },
    Row {
        id: "ferrio-object",
        fio: "a JSON document ends with `jobs`, `disk_util` or `cpu_idleness`",
        ferrio: "it ends with one more key, `ferrio`: host, device, clock, warnings and the like",
        why: "figures are worth little without them; [json.md](json.md) describes it",
    },
    Row {
        id: "warnings",
        fio: "a report says nothing about whether its figures can be trusted",
        ferrio: "what speaks against them is told on standard error behind the report, and in the `ferrio` object",
        why: "a run of 3 ms, or one that measured the page cache, looks like any other",
    },
    Row {
        id: "errors-in-output-file",
        fio: "with `--output` errors are written into the file of the report as well, in front of a JSON document too",
        ferrio: "the file has the report only, standard error has the errors",
        why: "the document can be read as it is",
    },
    Row {
        id: "json-escapes",
        fio: "control characters and bytes that are no UTF-8 stand in a JSON document as they are, and numbers can be `nan`",
        ferrio: "characters are escaped, such bytes replaced, and the number is 0",
        why: "the document is valid JSON, whatever a job is called",
    },
    Row {
        id: "mixed-units",
        fio: "bandwidths of the `mixed` line have no unit with `unified_rw_reporting=both`: `BW=4000Mi (4194M)`",
        ferrio: "they have the unit that all others have",
        why: "a number without its unit means nothing",
    },
    Row {
        id: "group-of-mixed-and-apart",
        fio: "where one job of a group has `unified_rw_reporting=1`, all lines of the group are called `MIXED`",
        ferrio: "each direction has the line of its name, and what is reported as one has the `MIXED` line",
        why: "the lines say what they count",
    },
    Row {
        id: "steadystate-units",
        fio: "the second bandwidth of a `steadystate` line is the count of KiB called kB; its latency is in `knsec`",
        ferrio: "the second bandwidth is the first in the other unit; the latency is in `nsec`, `usec` or `msec`",
        why: "both figures say the same",
    },
    Row {
        id: "depths-of-rests",
        fio: "I/Os that wait for a batch to fill, and are submitted before it is full, are missing from `IO depths`",
        ferrio: "they are counted with the depth they were submitted at, so that the shares make 100 %",
        why: "each I/O had a depth",
    },
    Row {
        id: "disk-activity-at-the-end",
        fio: "counters of disks are read four times a second while files are open: what a short job does is missing",
        ferrio: "they are read once more when the run is over",
        why: "jobs of less than 250 ms have disk statistics too",
    },
    Row {
        id: "no-percentiles",
        fio: "a `percentile_list` without a percentile leaves an empty `percentile` object in JSON",
        ferrio: "the object is left out, as where percentiles are switched off",
        why: "there is nothing to read in it",
    },
    Row {
        id: "terse-numbers",
        fio: "a terse line of a job without I/O has `-nan%` among its latency buckets",
        ferrio: "it has `0.00%`",
        why: "readers expect a number",
    },
    Row {
        id: "log-histogram-rest",
        fio: "a log of histograms ends with the last full `log_hist_msec`; I/Os after that are in no row",
        ferrio: "they are in a last row with the time of the job's end and the size of the last of them",
        why: "the counts of all rows add up to the I/Os of the job",
    },
    Row {
        id: "log-histogram-compressed",
        fio: "with `log_compression` or `log_store_compressed` the log of histograms has addresses of memory instead of counts",
        ferrio: "it has the counts, as text in a `.log` file: compressed records have no room for them",
        why: "the counts are what was asked for",
    },
    Row {
        id: "log-in-memory",
        fio: "a job's log is kept in memory, which `log_compression` makes smaller, and written at its end; `log_compression_cpus` is where that job's log is compressed",
        ferrio: "rows are written as they come by one thread, which runs on the CPUs that any job names in `log_compression_cpus`; a disk that is slower than the jobs slows them down; one that takes nothing for 10 s after a signal or anything else was to end the jobs is not waited for, which is told. Streams of stored logs are no longer than `log_compression` or 256 KiB, shorter if there are hundreds of logs",
        why: "memory does not grow with the length of a run, and nothing is lost when it is cut short",
    },
    Row {
        id: "log-disk-full",
        fio: "a log on a full disk is cut without a word",
        ferrio: "that is told, once for each file; the jobs go on, and the status is that of the jobs as in fio",
        why: "the figures of the report are right without the log; who needs the log must know",
    },
    Row {
        id: "inflate-log",
        fio: "`--inflate-log` is content with a log that is cut off and complains of one that is empty",
        ferrio: "it prints the rows that are there, complains and ends with a status that is not 0 if the log is cut off; an empty log has no rows. Logs of fio before 3.38, whose records are shorter, are printed too",
        why: "the log of submissions of a synchronous engine is empty; half a log is not a whole one",
    },
    Row {
        id: "interval-report",
        fio: "there is no such option; figures of intervals are for averages of logs only, each figure in a file of its own",
        ferrio: "`--interval-report=TIME` tells all figures of each job and interval, as lines of JSON: see `interval_report.md`",
        why: "a dashboard can follow a run",
    },
    Row {
        id: "interim-log-rates",
        fio: "with a bandwidth or IOPS log of every I/O, reports of a running job have the rates of its I/Os in the lines `bw` and `iops`",
        ferrio: "while the job runs they have the samples of every half second; the last report has the rates of the I/Os",
        why: "the rows of the log are on their way to the disk and not looked at again before the end",
    },
    Row {
        id: "eta-of-jobs-to-come",
        fio: "in the first three seconds the live line of a run with jobs behind a stonewall estimates `49710d:06h:28m:14s`",
        ferrio: "nothing is estimated before three seconds have passed",
        why: "it is the sum of two numbers that stand for unknown",
    },
    Row {
        id: "eta-decimal",
        fio: "rates in the live line of a run with `kb_base=1000` are counts of KiB called kB",
        ferrio: "they are kB, as in the report",
        why: "a number is in the unit behind it",
    },
];
