//! Grammar of job files.

use crate::differences::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "include-missing",
        fio: "a missing include file shortens its section and the run goes on",
        ferrio: "it is an error",
        why: "half a job measures something else",
    },
    Row {
        id: "include-word",
        fio: "any line that begins with the letters `include` is one",
        ferrio: "a blank or `=` must follow",
        why: "`includexf` is a misspelt option",
    },
    Row {
        id: "section-trailing",
        fio: "`[a] trailing` names a job `a] trailin`",
        ferrio: "text behind the `]` is an error, a missing `]` too",
        why: "nobody names a job like that",
    },
    Row {
        id: "long-lines",
        fio: "a line of more than 8191 bytes is cut, the rest becomes a line of its own",
        ferrio: "a longer line is an error, comments not counted",
        why: "half a value and half a comment are not what was meant",
    },
    Row {
        id: "byte-order-mark",
        fio: "a byte order mark before the first line is an option outside of a section",
        ferrio: "it is an error of its own, which names it",
        why: "it is invisible, and fio could not read the file",
    },
    Row {
        id: "keyword-arithmetic",
        fio: "values with `$ncpus` and the like are worked out by the program `bc`",
        ferrio: "they are worked out within, and only for options that are numbers",
        why: "no further program is needed, and paths may hold keywords",
    },
    Row {
        id: "error-messages",
        fio: "one line per problem, without its place",
        ferrio: "file, line and column, the line itself and what to do; all problems of all sections at once",
        why: "a job file can then be put right in one go",
    },
    Row {
        id: "byte-zero",
        fio: "text that is not UTF-8, or has a byte 0, is taken as it is",
        ferrio: "it is an error, except in comments",
        why: "such a file is no job file, or names files that do not exist",
    },
    Row {
        id: "global-in-capitals",
        fio: "`[Global]` is a job without a word about it",
        ferrio: "it is a job, with a warning",
        why: "its options were meant for all jobs",
    },
    Row {
        id: "values-looked-at",
        fio: "`--parse-only` and `--showcmd` do not look at `cpus_allowed`, `verify_async_cpus`, `ignore_error`, `replay_skip` and some others",
        ferrio: "every value is looked at",
        why: "a check that passes and a run that fails are no help",
    },
    Row {
        id: "headers-before-errors",
        fio: "jobs before the first mistake have their header lines printed",
        ferrio: "nothing is printed but what is wrong",
        why: "no job is run, so none is announced",
    },
];
