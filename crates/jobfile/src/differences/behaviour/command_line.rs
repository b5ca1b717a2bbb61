//! The command line.

use crate::differences::row::BehaviourDifference as Row;

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    Row {
        id: "strict",
        fio: "there is no such option",
        ferrio: "`--strict=fio` reads values as fio does; `--strict=ferrio` is the default",
        why: "scripts that rely on unusual readings keep working",
    },
    Row {
        id: "abbreviations",
        fio: "an abbreviation is ambiguous even if its candidates are an option and its alias, or an option of a profile with the same name: `--siz`, `--disable_b`",
        ferrio: "it is ambiguous only between different options",
        why: "all candidates mean the same option",
    },
    Row {
        id: "eta-auto",
        fio: "`--eta=auto` does not override an earlier `--eta=never`",
        ferrio: "the last one counts",
        why: "every other option works this way",
    },
    Row {
        id: "position-of-switches",
        fio: "`--readonly`, `--parse-only` and similar options apply only to what follows them",
        ferrio: "they apply to the whole command line",
        why: "a `--readonly` that does not protect is dangerous",
    },
    Row {
        id: "section-of-all-files",
        fio: "`--section` applies to the first job file only, and options of a `--name` that it skips become globals",
        ferrio: "it applies to all files, and the options of a skipped job are skipped with it",
        why: "only what was asked for runs",
    },
    Row {
        id: "eta-words",
        fio: "`--eta` ignores a word that it does not know",
        ferrio: "the word is refused, and the message lists the valid words",
        why: "`--eta=nevr` was meant to have an effect",
    },
    Row {
        id: "unknown-options",
        fio: "only the first unknown option is reported, twice, and its value affects the suggestion",
        ferrio: "all unknown options are reported once, each with the nearest name",
        why: "a command line can be corrected in one go",
    },
    Row {
        id: "version-text",
        fio: "`--version` prints the same line as reports and documents",
        ferrio: "it prints `ferrio` and its own version beside fio's, unless the program is called `fio`; reports have fio's line in both cases",
        why: "scripts that run `fio` find the version they look for, and people see which program they run",
    },
    Row {
        id: "version-first",
        fio: "of `--version`, `--help` and similar options, the first one is answered",
        ferrio: "`--version` takes precedence over the others and over refused options",
        why: "scripts ask for the version to find out what else is supported",
    },
    Row {
        id: "usage-on-stderr",
        fio: "without jobs, the usage text is printed on stdout",
        ferrio: "it is printed on stderr, and only if neither a job file nor `--section` was given; otherwise the message says what they lack",
        why: "stdout is for the report",
    },
    Row {
        id: "empty-values",
        fio: "`--output=` tries to open a file with an empty name",
        ferrio: "empty values of `--output`, `--output-format`, `--section`, `--trigger-file` and `--inflate-log` are refused as empty",
        why: "the usual cause is an empty variable in a script",
    },
    Row {
        id: "refused-values",
        fio: "every option is available",
        ferrio: "the value of a refused option is read first, and an invalid value is reported as such",
        why: "the messages stay the same when the option is implemented",
    },
    Row {
        id: "debug-lines",
        fio: "`--debug` prints its lines within the report, with addresses of internal objects",
        ferrio: "it prints on stderr in its own words, and notes which of the given classes never print anything",
        why: "programs can still read the report",
    },
    Row {
        id: "crctest-names",
        fio: "`--crctest` skips invalid names if a valid one is given too; it knows murmur3, jhash and fnv",
        ferrio: "invalid names are reported, and these three are missing",
        why: "no method of `verify` uses the three",
    },
    Row {
        id: "memcpytest-names",
        fio: "`--memcpytest` measures the copy routines of the C library",
        ferrio: "it measures memcpy, memmove and two loops of its own",
        why: "the program contains no other copy routines of a C library",
    },
    Row {
        id: "cmdhelp-text",
        fio: "`--cmdhelp` prints `(null)` for some types, and reports an unknown option on stdout",
        ferrio: "every type has a name, units and directions have their own lines, and an unknown option is reported on stderr",
        why: "the help can be read and filtered",
    },
    Row {
        id: "server-client",
        fio: "`--server` and `--client` run jobs on other machines; an invalid server address ends with status 0",
        ferrio: "both are refused with status 1",
        why: "they are not implemented",
    },
    Row {
        id: "commands",
        fio: "every word without dashes is a job file",
        ferrio: "`check`, `completions` and `man` are commands if they come first; write `./man` for a job file of that name",
        why: "they need no options of their own",
    },
    Row {
        id: "message-format",
        fio: "there is no such option",
        ferrio: "`--message-format=json` prints each message on stderr as one JSON object",
        why: "editors and other programs can show a mistake where it is",
    },
    Row {
        id: "quiet",
        fio: "there is no such option",
        ferrio: "`--quiet` silences warnings about figures and notes about options on stderr; errors are still reported",
        why: "some scripts treat any text on stderr as a failure",
    },
];
