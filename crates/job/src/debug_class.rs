//! The classes of debug messages (`--debug`), and the targets that mark messages as theirs.
//!
//! All crates write `log::debug!(target: debug_class::FILE, job = number; ...)`: the target names the class, `job` the number of the
//! job whose worker sends the message.

use crate::Compat;

/// A class of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugClass {
    /// The word for it in `--debug`, which is also the target of its messages.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// False for classes of fio in which ferrio has no messages.
    pub has_messages: bool,
    /// The target of messages in the form of fio, which a program that is called `fio` prints instead of those with the target `name`.
    pub fio_target: Option<&'static str>,
}

impl DebugClass {
    /// The target that messages are printed with.
    #[must_use]
    pub fn target(&self, compat: Compat) -> &'static str {
        match compat {
            Compat::Fio => self.fio_target.unwrap_or(self.name),
            Compat::Ferrio => self.name,
        }
    }
}

/// Start and end of jobs.
pub const PROCESS: &str = "process";
/// Layout, opens and removal of files.
pub const FILE: &str = "file";
/// Single I/Os.
pub const IO: &str = "io";
/// Single I/Os, in the form of fio.
pub const FIO_IO: &str = "fio:io";
/// Buffers.
pub const MEM: &str = "mem";
/// Random offsets.
pub const RANDOM: &str = "random";
/// Random numbers, in the form of fio.
pub const FIO_RANDOM: &str = "fio:random";
/// Options.
pub const PARSE: &str = "parse";
/// Options, in the form of fio.
pub const FIO_PARSE: &str = "fio:parse";
/// The class that chooses a job instead of messages.
pub const JOB: &str = "job";
/// The clock.
pub const TIME: &str = "time";
/// Zones of files and devices.
pub const ZBD: &str = "zbd";
/// The passes of `sprandom`.
pub const SPRANDOM: &str = "sprandom";
/// Messages between the engine http and its server: no class, but what the jobs with `http_verbose` print.
pub const HTTP: &str = "http";
/// Requests of events, and why no further event begins, in the words of sysbench: no class, but what its option `--debug` prints.
pub const EVENTS: &str = "events";
/// The class that stands for all others.
pub const ALL: &str = "all";

const fn class(name: &'static str, help: &'static str) -> DebugClass {
    DebugClass { name, help, has_messages: true, fio_target: None }
}

const fn class_of_two(name: &'static str, fio_target: &'static str, help: &'static str) -> DebugClass {
    DebugClass { name, help, has_messages: true, fio_target: Some(fio_target) }
}

const fn silent(name: &'static str) -> DebugClass {
    DebugClass { name, help: "no messages", has_messages: false, fio_target: None }
}

/// All classes, in the order in which they are listed.
pub const CLASSES: [DebugClass; 21] = [
    class(PROCESS, "start and end of jobs"),
    class(FILE, "which files are laid out, opened and removed"),
    class_of_two(IO, FIO_IO, "every I/O: submitted, completed, handed to the kernel"),
    class(MEM, "the buffers of the jobs"),
    silent("blktrace"),
    silent("verify"),
    class_of_two(RANDOM, FIO_RANDOM, "the offset of every I/O of random jobs"),
    class_of_two(PARSE, FIO_PARSE, "the options that were read"),
    silent("diskutil"),
    class(JOB, "job:N: of the jobs' own messages only those of job N, counted from 1"),
    silent("mutex"),
    silent("profile"),
    class(TIME, "the clock"),
    silent("net"),
    silent("rate"),
    silent("compress"),
    silent("steadystate"),
    silent("helperthread"),
    class(ZBD, "zones that are examined, reset, finished and repaired"),
    class(SPRANDOM, "what `sprandom` writes: sizes, the share of each region, every write"),
    class(ALL, "every class"),
];
