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
        id: "terse-numbers",
        fio: "a terse line of a job without I/O has `-nan%` among its latency buckets",
        ferrio: "it has `0.00%`",
        why: "readers expect a number",
    },
];
