//! `--debug`: messages about the program's own work by class, one line each, where the program prints them.
//!
//! Other crates write `log::debug!(target: "file", job = number; ...)`: the target is the class, `job` the number of the job
//! whose worker sends the message. With debugging off such a call is one relaxed load. Messages of the classes in `LIKE_FIO` have a
//! second form, with the target `fio:io`, which a program that is called `fio` prints instead.

use std::sync::OnceLock;

use ferrio_job::{Character, Diagnostic};
use log::kv::Key;
use log::{LevelFilter, Log, Metadata, Record};

/// A class of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugClass {
    /// Its word in `--debug`, and the target of its messages.
    pub name: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// False for classes of fio in which ferrio has no messages.
    pub has_messages: bool,
}

const fn class(name: &'static str, help: &'static str) -> DebugClass {
    DebugClass { name, help, has_messages: true }
}

const fn silent(name: &'static str) -> DebugClass {
    DebugClass { name, help: "no messages", has_messages: false }
}

/// All classes, in the order in which they are listed. `job` chooses a job, `all` stands for every other class.
pub const DEBUG_CLASSES: [DebugClass; 21] = [
    class("process", "start and end of jobs"),
    class("file", "which files are laid out, opened and removed"),
    class("io", "every I/O: submitted, completed, handed to the kernel"),
    class("mem", "the buffers of the jobs"),
    silent("blktrace"),
    silent("verify"),
    class("random", "the offset of every I/O of random jobs"),
    class("parse", "the options that were read"),
    silent("diskutil"),
    class("job", "job:N: of the jobs' own messages only those of job N, counted from 1"),
    silent("mutex"),
    silent("profile"),
    class("time", "the clock"),
    silent("net"),
    silent("rate"),
    silent("compress"),
    silent("steadystate"),
    silent("helperthread"),
    silent("zbd"),
    silent("sprandom"),
    class("all", "every class"),
];

/// Classes whose lines a program that is called `fio` writes as fio does.
const LIKE_FIO: [&str; 3] = ["io", "parse", "random"];

/// Before the class, in targets of messages in the form of fio.
const FIO: &str = "fio:";

const ALL: &str = "all";
const JOB: &str = "job";

/// The choice of `--debug`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugOptions {
    /// One bit per class.
    classes: u32,
    job: Option<u32>,
    character: Character,
    notes: Vec<Diagnostic>,
}

impl DebugOptions {
    /// Reads comma lists of class words. A word means the class it begins with; a wrong one is reported and skipped.
    #[must_use]
    pub fn parse<S: AsRef<str>>(lists: &[S], character: Character) -> Self {
        let mut options = DebugOptions { character, ..DebugOptions::default() };
        let words = lists.iter().flat_map(|list| list.as_ref().split(','));
        for word in words.filter(|word| !word.is_empty()) {
            options.choose(word);
        }
        options
    }

    fn choose(&mut self, word: &str) {
        let Some((bit, class)) =
            DEBUG_CLASSES.iter().enumerate().find(|(_, class)| word.starts_with(class.name))
        else {
            self.add("no-debug-class", format!("debug mask {word} not found"));
            return;
        };
        match class.name {
            ALL => {
                self.classes = u32::MAX;
                self.note("set all debug options");
            }
            JOB => match word.strip_prefix("job:").map(str::parse) {
                Some(Ok(number)) => {
                    self.job = Some(number);
                    self.note(format!("set debug jobno {number}"));
                }
                Some(Err(_)) => self.add("no-debug-class", format!("bad job number: {word}")),
                None => self.add("no-debug-class", "missing job number"),
            },
            name => {
                self.classes |= 1 << bit;
                self.note(format!("set debug option {name}"));
                if !class.has_messages {
                    self.add("silent-debug-class", format!("no messages in debug class {name}"));
                }
            }
        }
    }

    fn note(&mut self, message: impl Into<String>) {
        self.add("debug", message);
    }

    fn add(&mut self, code: &'static str, message: impl Into<String>) {
        self.notes.push(Diagnostic::note(message).code(code));
    }

    /// True if messages of any class are wanted.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.classes != 0
    }

    /// Notes about the choice itself.
    #[must_use]
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    fn wants(&self, target: &str) -> bool {
        let class = class_of(target);
        let is_fios = class.len() < target.len();
        if is_fios != (self.character == Character::Fio && LIKE_FIO.contains(&class)) {
            return false;
        }
        DEBUG_CLASSES
            .iter()
            .position(|known| known.name == class)
            .is_some_and(|bit| self.classes >> bit & 1 == 1)
    }
}

/// The class of a target.
fn class_of(target: &str) -> &str {
    target.strip_prefix(FIO).unwrap_or(target)
}

/// All words of `--debug`, joined by commas.
#[must_use]
pub fn debug_words() -> String {
    DEBUG_CLASSES.map(|class| class.name).join(",")
}

/// Prints messages of the chosen classes from now on, each line with one call of `write`, so that lines of several workers do not mix.
/// Only the first call of a process counts.
pub fn start_debug(options: &DebugOptions, write: fn(String)) {
    static PRINTER: OnceLock<Printer> = OnceLock::new();
    let printer = PRINTER.get_or_init(|| Printer { options: options.clone(), write });
    if printer.options.classes != 0 && log::set_logger(printer).is_ok() {
        log::set_max_level(LevelFilter::Debug);
    }
}

struct Printer {
    options: DebugOptions,
    write: fn(String),
}

impl Log for Printer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.options.wants(metadata.target())
    }

    fn log(&self, record: &Record<'_>) {
        if let Some(line) = line(&self.options, record) {
            (self.write)(line);
        }
    }

    fn flush(&self) {}
}

/// The line of a message, `None` if it is not wanted.
fn line(options: &DebugOptions, record: &Record<'_>) -> Option<String> {
    if !options.wants(record.target()) {
        return None;
    }
    let job = record.key_values().get(Key::from_str("job")).and_then(|value| value.to_u64());
    if let (Some(wanted), Some(job)) = (options.job, job)
        && u64::from(wanted) != job
    {
        return None;
    }
    Some(format!("{:<8} {:<5} {}\n", class_of(record.target()), nix::unistd::gettid(), record.args()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(options: &DebugOptions) -> Vec<String> {
        options.notes().iter().map(|note| note.line(Character::Fio)).collect()
    }

    #[test]
    fn a_word_chooses_the_class_it_begins_with() {
        let options = DebugOptions::parse(&["parsefoo,io", "file"], Character::Ferrio);
        assert!(options.wants("parse") && options.wants("io") && options.wants("file"));
        assert!(!options.wants("process") && !options.wants("ferrio_job"));
        let want = ["fio: set debug option parse", "fio: set debug option io", "fio: set debug option file"];
        assert_eq!(notes(&options), want);
    }

    #[test]
    fn all_is_every_class() {
        let options = DebugOptions::parse(&["all"], Character::Ferrio);
        assert!(DEBUG_CLASSES.iter().all(|class| options.wants(class.name)));
        assert_eq!(notes(&options), ["fio: set all debug options"]);
    }

    #[test]
    fn wrong_words_and_silent_classes_have_notes() {
        let options = DebugOptions::parse(&["nosuch,,job,job:x,verify"], Character::Ferrio);
        assert_eq!(
            notes(&options),
            [
                "fio: debug mask nosuch not found",
                "fio: missing job number",
                "fio: bad job number: job:x",
                "fio: set debug option verify",
                "fio: no messages in debug class verify",
            ]
        );
    }

    #[test]
    fn a_line_has_class_thread_and_text() {
        let reported = |options: &DebugOptions, class: &str, job: u32| {
            let pair = ("job", job);
            line(
                options,
                &Record::builder().target(class).args(format_args!("text")).key_values(&pair).build(),
            )
        };
        let options = DebugOptions::parse(&["io,job:2"], Character::Ferrio);
        let tid = nix::unistd::gettid();
        assert_eq!(reported(&options, "io", 2), Some(format!("io       {tid:<5} text\n")));
        assert_eq!(reported(&options, "io", 1), None, "of another job");
        assert_eq!(reported(&options, "file", 2), None, "of another class");
        let untagged = Record::builder().target("io").args(format_args!("of main")).build();
        assert!(line(&options, &untagged).is_some());
    }

    #[test]
    fn called_fio_some_classes_have_the_form_of_fio() {
        let fio = DebugOptions::parse(&["io,file"], Character::Fio);
        assert_eq!(
            ["io", "fio:io", "file", "fio:file", "fio:parse"].map(|target| fio.wants(target)),
            [false, true, true, false, false]
        );
        let ferrio = DebugOptions::parse(&["io"], Character::Ferrio);
        assert_eq!(["io", "fio:io"].map(|target| ferrio.wants(target)), [true, false]);
        let record = Record::builder().target("fio:io").args(format_args!("text")).build();
        assert!(line(&fio, &record).unwrap().starts_with("io       "));
    }

    #[test]
    fn the_words_are_listed_in_order() {
        assert!(
            debug_words().starts_with("process,file,io,mem,") && debug_words().ends_with(",sprandom,all")
        );
    }
}
