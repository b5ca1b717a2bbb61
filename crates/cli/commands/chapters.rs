//! The chapters of the manual page that are not generated from tables.

/// A section of the page.
pub struct Chapter {
    pub heading: &'static str,
    pub paragraphs: &'static [Paragraph],
}

/// A paragraph of a section.
pub enum Paragraph {
    /// Running text.
    Text(&'static str),
    /// A term and its meaning.
    Item(&'static str, &'static str),
    /// Literal lines.
    Example(&'static str),
}

use Paragraph::{Example, Item, Text};

pub const NAME: Chapter = Chapter {
    heading: "NAME",
    paragraphs: &[Text("ferrio - measure disks and file systems with fio's job files")],
};

pub const DESCRIPTION: Chapter = Chapter {
    heading: "DESCRIPTION",
    paragraphs: &[
        Text(
            "ferrio reads fio's job files and command line, does the same I/O and prints the same reports. It \
                 refuses unknown or unsupported options and values, with their place and a suggestion, and never ignores them.",
        ),
        Text(
            "Jobs are described in job files or on the command line, where --name=NAME begins a job and the options after it belong to \
                 that job. Options before the first --name apply to all jobs of the command line and of the first job file. \
                 Command-line options are read strictly from left to right.",
        ),
        Text(
            "Options begin with one dash or two and may be abbreviated as long as they stay unambiguous. A value follows an equals sign \
                 or is the next argument; an optional value must follow an equals sign. -- ends the options. The job file - is \
                 standard input.",
        ),
    ],
};

/// The chapters between the program's options and those of jobs.
pub const JOB_FILES: &[Chapter] = &[Chapter {
    heading: "JOB FILES",
    paragraphs: &[
        Text(
            "A job file consists of sections, each of which begins with a line [name]. A section is a job of that name; a section whose \
             name begins with global sets defaults for the jobs below it. The lines of a section are options: key=value, or the \
             key alone for flags.",
        ),
        Text(
            "A semicolon or # begins a comment. Blanks around lines and equals signs are ignored. include FILE inserts the lines of \
             another file.",
        ),
        Text(
            "${NAME} is replaced by the environment variable NAME. $pagesize, $mb_memory and $ncpus are the machine's page size, \
             memory in MiB and number of CPUs, and may be used in expressions: size=$mb_memory*2.",
        ),
        Item(
            "Sizes",
            "Bytes. The suffixes k, m, g, t and p multiply by powers of 1024; kib, mib and so on multiply by powers of 1000, as \
             in fio, although these names usually mean powers of 1024. \
             kb_base=1000 swaps the two.",
        ),
        Item(
            "Times",
            "A number with the suffix d, h, m, s, ms or us; without a suffix, the option's own unit applies.",
        ),
        Item(
            "Lists",
            "Up to three values, separated by commas, apply to reads, writes and trims: bs=4k,64k.",
        ),
        Item("Expressions", "Arithmetic is written in parentheses: size=(4*16m)."),
        Text(
            "Jobs run concurrently, except that the jobs of each further job file wait until those of the files before it have ended. \
             stonewall makes a job wait for the end of all jobs before it. numjobs=N runs N copies of a job.",
        ),
    ],
}];

/// The chapter before the options of profiles.
pub const PROFILES: Chapter = Chapter {
    heading: "PROFILES",
    paragraphs: &[
        Text(
            "--profile=NAME runs a built-in set of jobs. The options below are written on the command line beside it, and have no effect \
             in job files. Options of jobs are also accepted, and override those that the profile gives to all of its jobs; other jobs and \
             job files are not.",
        ),
        Item(
            "act",
            "Tests whether SSDs are fast enough for a key-value store. For each device, one job reads small records at a fixed rate and \
             another writes large blocks. Their data is overwritten; run once with --prep first. In each hour, at most 5 % of the reads may \
             take longer than 1 ms, 1 % longer than 8 ms and 0.1 % longer than 64 ms. A table and PASSED or FAILED precede the report, or go to \
             stderr if there is no text report; the exit status after FAILED is 1.",
        ),
        Item(
            "tiobench",
            "Writes four files sequentially and at random, then reads them sequentially and at random, one job after the other, by direct \
             I/O and for at most 10 minutes each. The files .fio.tio.1 to .fio.tio.4 stay in the directory.",
        ),
        Example(
            "ferrio --profile=act --device-names=/dev/nvme0n1 --prep\nferrio --profile=act --device-names=/dev/nvme0n1 --load=4 --test-duration=1h\n\
             ferrio --profile=tiobench --dir=/mnt/data --size=1g --threads=4",
        ),
    ],
};

/// The chapter before the options of the sysbench front end.
pub const SYSBENCH: Chapter = Chapter {
    heading: "SYSBENCH",
    paragraphs: &[
        Text(
            "ferrio sysbench, or a link to the program with the name sysbench, takes the command line of sysbench 1.0.20, does what it \
             does, and prints what it prints. The tests are fileio, cpu, memory, threads and mutex. Tests of databases and scripts are refused.",
        ),
        Example(
            "ferrio sysbench fileio --file-total-size=4G prepare\n\
             ferrio sysbench fileio --file-total-size=4G --file-test-mode=rndrw --threads=8 --time=60 run\n\
             ferrio sysbench fileio --file-total-size=4G cleanup\nferrio sysbench cpu --threads=4 run",
        ),
        Text(
            "Options begin with two dashes and may be anywhere on the line; values follow an equals sign. The files are test_file.0 and so \
             on in the current directory. The exit status is 1 after an error, 2 after --forced-shutdown, 128 + N after a signal, and 0 \
             otherwise.",
        ),
    ],
};

/// The chapters after all options.
pub const BACK: &[Chapter] = &[
    Chapter {
        heading: "EXIT STATUS",
        paragraphs: &[
            Item("0", "All jobs succeeded, or the requested information was printed."),
            Item(
                "1",
                "An error in the command line or a job file, in which case nothing was run; or one job failed; or a report could not be \
                 written; or a log, a verify state or the interval report is missing or incomplete; or the profile act found the devices \
                 too slow; or a threshold of --fail-if could not be judged.",
            ),
            Item("3", "Nothing failed, and a figure exceeds a threshold of --fail-if."),
            Item("N", "N jobs failed; at most 127."),
            Item("128 + N", "A signal ended the run early; N jobs failed."),
        ],
    },
    Chapter {
        heading: "SIGNALS",
        paragraphs: &[
            Item("INT, TERM", "All jobs end, and the report is written."),
            Item("USR1", "A report of the run so far is written, as with --status-interval."),
        ],
    },
    Chapter {
        heading: "ENVIRONMENT",
        paragraphs: &[
            Item(
                "TMPDIR, TEMP",
                "The directory of fio-dump-status: the first of the two that is set, or else /tmp.",
            ),
            Item(
                "FERRIO_AS",
                "ferrio or fio: behave as this program, whatever name the program is called by. --as overrides it.",
            ),
            Item(
                "NO_COLOR",
                "If set and not empty, text on a terminal has no colours. --color overrides this and the next two.",
            ),
            Item("CLICOLOR_FORCE", "If set, not empty and not 0, text has colours even without a terminal."),
            Item("TERM", "If it is dumb, text on a terminal has no colours."),
        ],
    },
    Chapter {
        heading: "FILES",
        paragraphs: &[
            Item(
                "NAME.CLONE.FILE",
                "Files of a job without filename, in the job's directory or else in the current one.",
            ),
            Item(
                "PREFIX_bw.N.log",
                "Logs of job N: bw, iops, lat, clat, slat and clat_hist. Compressed logs, which --inflate-log reads, end in .fz.",
            ),
            Item(
                "PREFIX-read_bw.log",
                "Read bandwidth of all jobs together, from --bandwidth-log; also for write and trim.",
            ),
            Item(
                "ferrio-results-YYYYMMDD-HHMMSS",
                "The reports of the runs of --repeat and --sweep, unless --results names another directory.",
            ),
            Item(
                "fio-dump-status",
                "When this file appears in the directory for temporary files, ferrio removes it and reports the run so far.",
            ),
            Item("/proc/diskstats, /sys/block", "The source of the disk utilisation in reports."),
        ],
    },
    Chapter {
        heading: "EXAMPLES",
        paragraphs: &[
            Text("Random reads of 4 KiB for ten seconds, 32 at a time, past the page cache:"),
            Example(
                "ferrio --name=reads --rw=randread --bs=4k --size=1g --direct=1 \\\n    \
                 --ioengine=io_uring --iodepth=32 --time_based --runtime=10s",
            ),
            Text("The same as a job file:"),
            Example(
                "[global]\ndirect=1\nioengine=io_uring\ntime_based\nruntime=10s\n\n[reads]\nrw=randread\nbs=4k\nsize=1g\niodepth=32",
            ),
            Text("Check a job file; print it as a command line:"),
            Example("ferrio --parse-only jobs.fio\nferrio --showcmd jobs.fio"),
            Text("The report as JSON in a file:"),
            Example("ferrio --output-format=json --output=report.json jobs.fio"),
            Text("Enable completions in the current bash:"),
            Example("source <(ferrio completions bash)"),
        ],
    },
    Chapter { heading: "SEE ALSO", paragraphs: &[Text("fio(1), io_uring(7)")] },
];
