//! `--debug`: messages about the program's own work, by class, one line each, printed to the program's output.
//!
//! [`ferrio_job::debug_class`] lists the classes. With debugging off, a call of `log::debug!` is one relaxed load.

use std::sync::OnceLock;

use ferrio_job::debug_class::{ALL, CLASSES, HTTP, JOB};
use ferrio_job::{Compat, Diagnostic};
use log::kv::Key;
use log::{LevelFilter, Log, Metadata, Record};

/// The classes and the job that `--debug` selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DebugOptions {
    /// One bit per class.
    classes: u32,
    job: Option<u32>,
    compat: Compat,
    notes: Vec<Diagnostic>,
}

impl DebugOptions {
    /// Parses comma-separated lists of class words. A word selects the class that it begins with; an invalid one is reported and skipped.
    #[must_use]
    pub fn parse<S: AsRef<str>>(lists: &[S], compat: Compat) -> Self {
        let mut options = DebugOptions { compat, ..DebugOptions::default() };
        let words = lists.iter().flat_map(|list| list.as_ref().split(','));
        for word in words.filter(|word| !word.is_empty()) {
            options.choose(word);
        }
        options
    }

    fn choose(&mut self, word: &str) {
        let Some((bit, class)) = CLASSES.iter().enumerate().find(|(_, class)| word.starts_with(class.name))
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

    /// True if any class is selected.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.classes != 0
    }

    /// Diagnostics about the lists.
    #[must_use]
    pub fn notes(&self) -> &[Diagnostic] {
        &self.notes
    }

    /// The name of the class of messages with this target, if it is selected.
    fn wanted(&self, target: &str) -> Option<&'static str> {
        // Jobs that are not selected send no messages.
        if target == HTTP {
            return Some(HTTP);
        }
        let at = CLASSES.iter().position(|class| class.target(self.compat) == target)?;
        (self.classes >> at & 1 == 1).then(|| CLASSES[at].name)
    }
}

/// All words of `--debug`, separated by commas.
#[must_use]
pub fn debug_words() -> String {
    CLASSES.map(|class| class.name).join(",")
}

/// Writes one line.
pub type WriteLine = Box<dyn Fn(String) + Send + Sync>;

/// Starts printing messages of the selected classes. Each line is one call of `write`, so that lines of several workers do not mix. Only
/// the first call of a process has an effect.
pub fn start_debug(options: &DebugOptions, write: WriteLine) {
    static PRINTER: OnceLock<Printer> = OnceLock::new();
    let printer = PRINTER.get_or_init(|| Printer { options: options.clone(), write });
    if log::set_logger(printer).is_ok() && printer.options.classes != 0 {
        log::set_max_level(LevelFilter::Debug);
    }
}

/// Also prints the messages between jobs and servers (`http_verbose`).
pub fn show_traffic() {
    log::set_max_level(LevelFilter::Debug);
}

struct Printer {
    options: DebugOptions,
    write: WriteLine,
}

impl Log for Printer {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.options.wanted(metadata.target()).is_some()
    }

    fn log(&self, record: &Record<'_>) {
        if let Some(line) = line(&self.options, record) {
            (self.write)(line);
        }
    }

    fn flush(&self) {}
}

/// The line of a message; `None` if its class is not selected.
fn line(options: &DebugOptions, record: &Record<'_>) -> Option<String> {
    let class = options.wanted(record.target())?;
    let job = record.key_values().get(Key::from_str("job")).and_then(|value| value.to_u64());
    if let (Some(wanted), Some(job)) = (options.job, job)
        && u64::from(wanted) != job
    {
        return None;
    }
    Some(format!("{class:<8} {:<5} {}\n", nix::unistd::gettid(), record.args()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(options: &DebugOptions) -> Vec<String> {
        options.notes().iter().map(|note| note.line(Compat::Fio)).collect()
    }

    #[test]
    fn a_word_chooses_the_class_it_begins_with() {
        let options = DebugOptions::parse(&["parsefoo,io", "file"], Compat::Ferrio);
        let wants = |target| options.wanted(target).is_some();
        assert!(wants("parse") && wants("io") && wants("file"));
        assert!(!wants("process") && !wants("ferrio_job"));
        let want = ["fio: set debug option parse", "fio: set debug option io", "fio: set debug option file"];
        assert_eq!(notes(&options), want);
    }

    #[test]
    fn all_is_every_class() {
        let options = DebugOptions::parse(&["all"], Compat::Ferrio);
        assert!(CLASSES.iter().all(|class| options.wanted(class.name) == Some(class.name)));
        assert_eq!(notes(&options), ["fio: set all debug options"]);
    }

    #[test]
    fn wrong_words_and_silent_classes_have_notes() {
        let options = DebugOptions::parse(&["nosuch,,job,job:x,verify"], Compat::Ferrio);
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
        let options = DebugOptions::parse(&["io,job:2"], Compat::Ferrio);
        let tid = nix::unistd::gettid();
        assert_eq!(reported(&options, "io", 2), Some(format!("io       {tid:<5} text\n")));
        assert_eq!(reported(&options, "io", 1), None, "of another job");
        assert_eq!(reported(&options, "file", 2), None, "of another class");
        let untagged = Record::builder().target("io").args(format_args!("of main")).build();
        assert!(line(&options, &untagged).is_some());
    }

    #[test]
    fn called_fio_some_classes_have_the_form_of_fio() {
        let fio = DebugOptions::parse(&["io,file"], Compat::Fio);
        assert_eq!(
            ["io", "fio:io", "file", "fio:file", "fio:parse"].map(|target| fio.wanted(target).is_some()),
            [false, true, true, false, false]
        );
        let ferrio = DebugOptions::parse(&["io"], Compat::Ferrio);
        assert_eq!(["io", "fio:io"].map(|target| ferrio.wanted(target).is_some()), [true, false]);
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
