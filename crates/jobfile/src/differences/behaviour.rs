//! Differences of grammar, command line and course of a run.

use super::BehaviourDifference as Row;

/// All of them. Add yours anywhere; `docs/differences.md` keeps this order.
#[rustfmt::skip]
pub const BEHAVIOUR: &[Row] = &[
    // job files
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
        ferrio: "it is an error that says so",
        why: "the mark is invisible, so the line looks right",
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
    // jobs
    Row {
        id: "engine-private-options",
        fio: "private options of the built-in profiles are taken by any job and do nothing",
        ferrio: "they are taken, and a note says that they have no effect",
        why: "an option that does nothing is probably a misunderstanding",
    },
    // command line
    Row {
        id: "strict",
        fio: "there is no such option",
        ferrio: "`--strict=fio` reads values as fio does, `--strict=ferrio` is the default",
        why: "scripts that rely on odd readings keep working",
    },
    Row {
        id: "abbreviations",
        fio: "an option's alias, or an option of a profile that has the same name, makes an abbreviation ambiguous: `--siz`, `--disable_b`",
        ferrio: "only different options do",
        why: "whichever is meant, it is the same option",
    },
    Row {
        id: "eta-auto",
        fio: "`--eta=auto` leaves an earlier `--eta=never` in force",
        ferrio: "the last one counts",
        why: "as with every other option",
    },
    Row {
        id: "position-of-switches",
        fio: "`--readonly`, `--parse-only` and the like act on what stands behind them only",
        ferrio: "they act on the whole command line",
        why: "a `--readonly` that does not protect is dangerous",
    },
    Row {
        id: "section-of-all-files",
        fio: "`--section` is forgotten after the first job file, and options of a `--name` it skips become globals",
        ferrio: "it counts for all files, and skipped jobs take their options with them",
        why: "what was not asked for is not run",
    },
    // output
    Row {
        id: "notes",
        fio: "notes and some errors are printed among the report on standard output",
        ferrio: "standard output has the report only, everything else goes to standard error",
        why: "reports can be read by programs",
    },
];
