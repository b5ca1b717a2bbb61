//! The chapters of the manual page that no table knows.

/// A section of the page.
pub struct Chapter {
    /// Its heading.
    pub heading: &'static str,
    /// Its paragraphs.
    pub paragraphs: &'static [Paragraph],
}

/// A paragraph of a section.
pub enum Paragraph {
    /// Running text.
    Text(&'static str),
    /// A term and what it means.
    Item(&'static str, &'static str),
    /// Lines as they are typed.
    Example(&'static str),
}

use Paragraph::{Example, Item, Text};

/// What the program is.
pub const NAME: Chapter = Chapter {
    heading: "NAME",
    paragraphs: &[Text("ferrio - measure disks and file systems with fio's job files")],
};

/// How it is used.
pub const DESCRIPTION: Chapter = Chapter {
    heading: "DESCRIPTION",
    paragraphs: &[
        Text(
            "ferrio reads fio's job files and command line, does the same I/O and prints the same reports. What it does not \
                 understand completely it refuses, with the place and a suggestion; no option is ignored.",
        ),
        Text(
            "Jobs stand in job files, or on the command line: --name=NAME begins a job, the options behind it are its own. \
                 Options before the first --name hold for all jobs of the command line and of the first job file. Command-line \
                 options count strictly from left to right.",
        ),
        Text(
            "Options begin with one dash or two and may be cut short while they stay unambiguous. A value follows behind an \
                 equals sign or as the next argument; options whose value is optional take it behind an equals sign only. -- ends \
                 the options. A job file named - is standard input.",
        ),
    ],
};

/// Between the program's options and those of jobs.
pub const JOB_FILES: &[Chapter] = &[Chapter {
    heading: "JOB FILES",
    paragraphs: &[
        Text(
            "A job file has sections. A line [name] begins one; each is a job of that name, but sections whose name begins with \
             global set defaults for the jobs below them. The lines of a section are options, key=value, or the key alone for \
             options that switch something on.",
        ),
        Text(
            "Everything behind ; or # is a comment. Blanks around lines and equals signs do not count. include FILE \
             inserts the lines of another file.",
        ),
        Text(
            "${NAME} stands for the environment variable NAME. $pagesize, $mb_memory and $ncpus stand for the machine's figures, \
             and a number with one of them may be an expression: size=$mb_memory*2.",
        ),
        Item(
            "Sizes",
            "Bytes; k, m, g, t and p multiply by powers of 1024, kib, mib and so on by powers of 1000. kb_base=1000 turns \
             that round.",
        ),
        Item(
            "Times",
            "A number with d, h, m, s, ms or us behind it; without one the option's own unit counts.",
        ),
        Item("Lists", "Up to three values, joined by commas, are for reads, writes and trims: bs=4k,64k."),
        Item("Sums", "Arithmetic stands in parentheses: size=(4*16m)."),
        Text(
            "Jobs run at the same time. stonewall makes a job wait until all before it have ended; the first job of the second and \
             every later file waits so, too. numjobs=N runs N copies of a job.",
        ),
    ],
}];

/// Behind all options.
pub const BACK: &[Chapter] = &[
    Chapter {
        heading: "EXIT STATUS",
        paragraphs: &[
            Item("0", "All jobs ended well, or a question was answered."),
            Item(
                "1",
                "The command line or a job file is wrong; nothing was run. Or one job failed, or a report could not be written.",
            ),
            Item("N", "N jobs failed, up to 127."),
            Item("128 + N", "A signal ended the run early; N jobs failed."),
        ],
    },
    Chapter {
        heading: "SIGNALS",
        paragraphs: &[
            Item("INT, TERM", "All jobs end, and the report is written."),
            Item("USR1", "A report of the run so far is written, as by --status-interval."),
        ],
    },
    Chapter {
        heading: "ENVIRONMENT",
        paragraphs: &[
            Item("TMPDIR, TEMP", "The directory of fio-dump-status, the first one that is set; else /tmp."),
            Item("NO_COLOR", "If it is set to anything, text on a terminal has no colours."),
            Item("TERM", "Colours are not used on a terminal that is called dumb."),
        ],
    },
    Chapter {
        heading: "FILES",
        paragraphs: &[
            Item(
                "NAME.CLONE.FILE",
                "The files of a job that names none, in the current directory or the job's directory.",
            ),
            Item(
                "PREFIX_bw.N.log",
                "Logs of job N: bw, iops, lat, clat, slat and clat_hist; compressed ones, for --inflate-log, end in .fz.",
            ),
            Item(
                "PREFIX-read_bw.log",
                "Bandwidth of all jobs together, of --bandwidth-log; also write and trim.",
            ),
            Item(
                "fio-dump-status",
                "Asks for a report of the run so far when it appears in the directory for temporary files, and is removed.",
            ),
            Item("/proc/diskstats, /sys/block", "Where the report's lines on disk utilisation come from."),
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
            Text("Check a job file, and see it as a command line:"),
            Example("ferrio --parse-only jobs.fio\nferrio --showcmd jobs.fio"),
            Text("The report as JSON in a file:"),
            Example("ferrio --output-format=json --output=report.json jobs.fio"),
            Text("Completions for the running bash:"),
            Example("source <(ferrio completions bash)"),
        ],
    },
    Chapter { heading: "SEE ALSO", paragraphs: &[Text("fio(1), io_uring(7)")] },
];
