//! The grammar of job files.

use crate::differences::row::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "include-missing",
        fio: "a missing include file cuts its section short, and the run continues",
        ferrio: "it is an error",
        why: "half a job measures something else",
    },
    Row {
        id: "include-word",
        fio: "any line that starts with the letters `include` is an include",
        ferrio: "a blank or `=` must follow the word",
        why: "`includexf` is a misspelled option",
    },
    Row {
        id: "section-trailing",
        fio: "`[a] trailing` is a job named `a] trailin`",
        ferrio: "text after the `]` is an error, and so is a missing `]`",
        why: "nobody names a job like that",
    },
    Row {
        id: "long-lines",
        fio: "a line longer than 8191 bytes is split, and the rest becomes a line of its own",
        ferrio: "a longer line is an error, unless it is a comment",
        why: "half a value is not what was meant",
    },
    Row {
        id: "byte-order-mark",
        fio: "a byte order mark before the first line is reported as an option outside a section",
        ferrio: "the message names the byte order mark",
        why: "the mark is invisible, and fio could not read the file either",
    },
    Row {
        id: "keyword-arithmetic",
        fio: "values with `$ncpus` and similar keywords are computed by the program `bc`",
        ferrio: "ferrio computes them itself, and only for options whose value is a number",
        why: "no other program is needed, and paths may contain keywords",
    },
    Row {
        id: "error-messages",
        fio: "one line per problem, without its place",
        ferrio: "file, line and column, the line itself and a remedy; all problems of all sections at once",
        why: "a job file can be corrected in one go",
    },
    Row {
        id: "byte-zero",
        fio: "text that is not UTF-8 or contains a NUL byte is accepted as it is",
        ferrio: "it is an error, except in comments",
        why: "such a file is not a job file, or it names files that do not exist",
    },
    Row {
        id: "global-in-capitals",
        fio: "`[Global]` is a job, without a warning",
        ferrio: "it is a job, with a warning",
        why: "its options were meant for all jobs",
    },
    Row {
        id: "values-looked-at",
        fio: "`--parse-only` and `--showcmd` do not check `cpus_allowed`, `verify_async_cpus`, `ignore_error`, `replay_skip` and some others",
        ferrio: "every value is checked",
        why: "a check that passes is of no use if the run then fails",
    },
    Row {
        id: "headers-before-errors",
        fio: "header lines of jobs before the first mistake are printed",
        ferrio: "only the mistakes are printed",
        why: "no job runs, so none is announced",
    },
];
