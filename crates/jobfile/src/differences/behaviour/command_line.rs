//! The command line.

use crate::differences::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
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
    Row {
        id: "eta-words",
        fio: "a word that `--eta` does not know leaves it as it was",
        ferrio: "it is refused, with the words there are",
        why: "`--eta=nevr` was meant to be something",
    },
    Row {
        id: "unknown-options",
        fio: "the first option that is not known is told, twice, and its value counts when a suggestion is looked for",
        ferrio: "all of them are told once, each with the name that is nearest",
        why: "a command line can then be put right in one go",
    },
    Row {
        id: "version-text",
        fio: "`--version` prints the line that reports and documents have",
        ferrio: "it prints `ferrio` and its own version beside fio's, unless the program is called `fio`; reports have fio's line either way",
        why: "scripts that run `fio` find the version they look for, people see what they run",
    },
    Row {
        id: "version-first",
        fio: "of `--version`, `--help` and others the first one is answered",
        ferrio: "`--version` wins over other questions and over options that are refused",
        why: "scripts ask for the version to find out what else they may ask",
    },
    Row {
        id: "usage-on-stderr",
        fio: "without jobs the usage text is printed on standard output",
        ferrio: "it is printed on standard error, and only if no job file and no `--section` was named; else it is said what they lack",
        why: "standard output is the report",
    },
    Row {
        id: "empty-values",
        fio: "`--output=` tries to open a file without name",
        ferrio: "empty values of `--output`, `--output-format`, `--section`, `--trigger-file` and `--inflate-log` are refused as such",
        why: "a variable in a script was empty",
    },
    Row {
        id: "refused-values",
        fio: "there is no option that is not available",
        ferrio: "an option that is refused has its value read first, and a wrong value is told as such",
        why: "messages stay the same when the option comes to work",
    },
    Row {
        id: "debug-lines",
        fio: "`--debug` prints among the report, with addresses of its own objects",
        ferrio: "it prints on standard error in words of its own, and says of classes that have nothing to tell that they have not",
        why: "the report stays readable by programs",
    },
    Row {
        id: "crctest-names",
        fio: "`--crctest` passes over wrong names that stand next to a good one; it knows murmur3, jhash and fnv",
        ferrio: "wrong names are told, and these three are missing",
        why: "no method of `verify` uses the three",
    },
    Row {
        id: "memcpytest-names",
        fio: "`--memcpytest` measures the C library's ways of copying",
        ferrio: "it measures memcpy, memmove and two loops of its own",
        why: "there is no other C library in the program",
    },
    Row {
        id: "cmdhelp-text",
        fio: "`--cmdhelp` prints `(null)` for some types; that an option does not exist is printed on standard output",
        ferrio: "all types have a name, units and directions have lines of their own, and what does not exist is told on standard error",
        why: "help can be read and filtered",
    },
    Row {
        id: "server-client",
        fio: "`--server` and `--client` run jobs on other machines; a bad address of a server ends with status 0",
        ferrio: "both are refused with status 1",
        why: "they are not implemented",
    },
    Row {
        id: "commands",
        fio: "every word without dashes is a job file",
        ferrio: "`check`, `completions` and `man` are commands where they stand first; job files of such names are given as `./man`",
        why: "they need no options of their own",
    },
    Row {
        id: "message-format",
        fio: "there is no such option",
        ferrio: "`--message-format=json` makes each message on standard error one JSON object",
        why: "programs can show mistakes where they are",
    },
    Row {
        id: "quiet",
        fio: "there is no such option",
        ferrio: "`--quiet` leaves out warnings about figures and notes on options, on standard error; errors are told as ever",
        why: "some scripts take any text on standard error for a failure",
    },
];
