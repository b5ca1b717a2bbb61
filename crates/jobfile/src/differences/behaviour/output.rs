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
];
