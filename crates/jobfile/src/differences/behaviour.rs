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
    // jobs
    Row {
        id: "not-there-yet",
        fio: "`latency_target`, `read_iolog` and other options of `options.md` that are \"not yet\" act",
        ferrio: "they are parsed and checked; a run is refused, and says which option it is for",
        why: "a job without one of its options is another job",
    },
    Row {
        id: "exec-prerun-failing",
        fio: "a job whose `exec_prerun` fails does no I/O and counts as good",
        ferrio: "it has failed, and so has the run",
        why: "a script must notice that nothing was measured",
    },
    Row {
        id: "absent-engine",
        fio: "a job with private options of an engine it was built without is a syntax error",
        ferrio: "such a job is parsed; a run is refused with what the engine needs",
        why: "the job file is right, it is the engine that is missing",
    },
    Row {
        id: "engine-private-options",
        fio: "private options of the built-in profiles are taken by any job and do nothing",
        ferrio: "they are taken, and a note says that they have no effect",
        why: "an option that does nothing is probably a misunderstanding",
    },
    Row {
        id: "write-iolog-version",
        fio: "`write_iolog` writes version 3 of the format",
        ferrio: "`write_iolog_version=2` writes version 2, which has no times; there is no such option in fio",
        why: "a log without times is replayed as fast as possible, and two logs can be compared by `diff`",
    },
    Row {
        id: "write-iolog-waits",
        fio: "an I/O that the engine had no room for is in the log of `write_iolog` each time it is tried",
        ferrio: "it is there once",
        why: "it is one I/O, and a replay would do it several times",
    },
    Row {
        id: "write-iolog-full",
        fio: "a log of `write_iolog` that cannot be written to its end is cut without a word",
        ferrio: "it is an error that ends the job",
        why: "half a log is the log of another job",
    },
    Row {
        id: "open-at-start",
        fio: "each file is opened when the first I/O goes to it",
        ferrio: "all files are opened when a pass begins, unless `openfiles` is below their number or `fsync_on_close` is set",
        why: "opening does not disturb what is measured, and a file that cannot be opened fails the job before its first I/O",
    },
    Row {
        id: "open-limit",
        fio: "files that are opened once more for `end_fsync` come on top of `openfiles`",
        ferrio: "`openfiles` holds for them, and for blocks that are read back, as well",
        why: "it is there to keep within a limit",
    },
    Row {
        id: "soft-limit",
        fio: "more files than the soft limit of open files fail",
        ferrio: "the limit is raised as far as the hard one allows",
        why: "it is there for programs that cannot take more",
    },
    Row {
        id: "sync-on-close-once",
        fio: "`fsync_on_close` syncs a file that is finished early when it closes, and again at the end of the pass",
        ferrio: "it is synced once, when it closes",
        why: "nothing is written to it in between",
    },
    Row {
        id: "files-without-room",
        fio: "with `file_service_type=zipf` and the like, files that have no room for an I/O are tried for ever",
        ferrio: "the pass is over after 5000 tries in a row",
        why: "a job that cannot do anything ends",
    },
    Row {
        id: "rate-keeps-queue",
        fio: "before a job waits for the next I/O of its `rate` it waits until nothing is in flight",
        ferrio: "what is in flight goes on, and is reaped when it completes",
        why: "one slow I/O would hold back those that are due behind it, and the queue would never be deeper than the device is quick",
    },
    Row {
        id: "response-time",
        fio: "an I/O that goes late because the one before was slow has the latency of its own slowness only",
        ferrio: "jobs with a `rate` have response times as well, from the moment each I/O was due: see `response_time.md`",
        why: "who asks at that rate has to wait that long",
    },
    Row {
        id: "poisson-mean",
        fio: "`rate_process=poisson` cuts means and gaps to whole microseconds, which makes 5 % too many I/Os at 100 000 a second and more than twice as many at 700 000; a `rate` in bytes is taken for one of the smallest blocks",
        ferrio: "gaps are fio's where that costs less than 0.1 %, else the same draws in nanoseconds; bytes are counted",
        why: "the rate is what was asked for",
    },
    Row {
        id: "poisson-without-rate",
        fio: "`rate_process=poisson` with less than a block a second, or a rate for one of two directions, ends in a division by zero",
        ferrio: "it is refused",
        why: "nothing was asked for that could be done",
    },
    Row {
        id: "rate-of-split",
        fio: "`rate_iops` with `bssplit` counts a gap in whole microseconds: 300000 a second become 333333",
        ferrio: "the gaps add up to the rate",
        why: "the rate is what was asked for",
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
        ferrio: "empty values of `--output`, `--output-format`, `--section` and `--trigger-file` are refused as such",
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
        id: "serialize-overlap-file",
        fio: "`serialize_overlap` compares offsets whatever the file; with `io_submit_mode=offload`, those of all jobs that set both",
        ferrio: "offsets of the same file are compared, those of the job itself",
        why: "equal offsets of two files do not overlap; who has jobs write to one file can give each its own region",
    },
    Row {
        id: "offload-syncs",
        fio: "`fsync`, `fdatasync` and `sync_file_range` do nothing with `io_submit_mode=offload`",
        ferrio: "they are issued as without it",
        why: "the job asked for them",
    },
    Row {
        id: "offload-slat",
        fio: "`io_submit_mode=offload` with a synchronous engine has no submission latency, and 3.42 no latency at all",
        ferrio: "submission latency is the time from hand-over to the thread's call, completion latency the call itself",
        why: "the way to another thread is part of what an I/O takes",
    },
    Row {
        id: "polling-depth",
        fio: "`iodepth_batch_complete_min=0` waits for an I/O after each submission: the queue is one deep",
        ferrio: "it asks without waiting after each submission, so that the queue fills up",
        why: "that is what the manual says",
    },
    // output
    Row {
        id: "notes",
        fio: "notes and some errors are printed among the report on standard output",
        ferrio: "standard output has the report only, everything else goes to standard error",
        why: "reports can be read by programs",
    },
];
