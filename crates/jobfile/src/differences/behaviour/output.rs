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
];
