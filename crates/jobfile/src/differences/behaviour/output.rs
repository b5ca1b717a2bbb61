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
];
