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
        id: "terse-numbers",
        fio: "a terse line of a job without I/O has `-nan%` among its latency buckets",
        ferrio: "it has `0.00%`",
        why: "readers expect a number",
    },
];
