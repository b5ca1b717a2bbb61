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
        ferrio: "rows are written as they come by one thread, which runs on the CPUs that any job names in `log_compression_cpus`; a disk that is slower than the jobs slows them down. Streams of stored logs are no longer than `log_compression` or 256 KiB, shorter if there are hundreds of logs",
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
];
