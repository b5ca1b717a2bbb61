//! Splits the command line into options and job files, from left to right, by the rules of `getopt_long_only(3)`.
//!
//! Options may be abbreviated, begin with one dash or two, and mix with job files. The meaning of a name may depend on the engine
//! chosen to its left. Values are read elsewhere: those of job options by the job file reader, the others by clap.

mod item;

use std::ffi::OsString;

use ferrio_job::{ArgOrigin, Choice as _, Compat, Diagnostic, FioWords};
use ferrio_jobfile::{Opt, ValueKind, canonical_engine, engines_with_option, masked, nearest, option_names};

use crate::error::Error;
use crate::options::{ProgramOption, ProgramOptionRow, Takes};

pub use item::{Item, files_of, values_of};

/// A command line as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    /// The options and job files that could be read.
    pub items: Vec<Item>,
    /// All mistakes, from left to right.
    pub mistakes: Vec<Diagnostic>,
    /// Whether the call behaves as ferrio or as fio, which decides which job options there are.
    pub compat: Compat,
}

impl CommandLine {
    /// The options and job files.
    ///
    /// # Errors
    /// All mistakes.
    pub fn into_items(self) -> Result<Vec<Item>, Error> {
        if self.mistakes.is_empty() { Ok(self.items) } else { Err(self.mistakes.into()) }
    }
}

/// Splits the program's `arguments` (without its name). The first has the number `first`, which is above 1 after the name of a
/// sub-command. The compatibility of the `process` holds unless they ask for another by `--as`, of which the last decides.
pub fn read(
    arguments: &[OsString],
    first: u32,
    program: &'static [ProgramOptionRow],
    process: Compat,
) -> CommandLine {
    let line = read_as(arguments, first, program, process);
    // A word that does not exist is refused when the value is read, like that of any option.
    let asked_for = values_of(&line.items, ProgramOption::As).rev().find_map(Compat::from_word);
    match asked_for {
        Some(compat) if compat != process => read_as(arguments, first, program, compat),
        _ => line,
    }
}

fn read_as(
    arguments: &[OsString],
    first: u32,
    program: &'static [ProgramOptionRow],
    compat: Compat,
) -> CommandLine {
    let mut not_utf8 = Vec::new();
    let text = |(index, argument): (u32, &OsString)| {
        let text = argument.to_string_lossy().into_owned();
        if argument.to_str().is_none() {
            let message = format!("argument {index} is not valid UTF-8: {text}");
            let origin = ArgOrigin { index, text: text.clone() };
            not_utf8.push(Diagnostic::error(message, origin.origin()).code("not-utf-8"));
        }
        text
    };
    let texts: Vec<String> = (first..).zip(arguments).map(text).collect();
    let line = scan(&texts, first, program, compat);
    // Other mistakes may be due to the conversion.
    if not_utf8.is_empty() { line } else { CommandLine { mistakes: not_utf8, ..line } }
}

/// Splits `arguments`, the first of which has the number `first`.
pub fn scan(
    arguments: &[String],
    first: u32,
    program: &'static [ProgramOptionRow],
    compat: Compat,
) -> CommandLine {
    let engines = Engines::default();
    let mut scanner =
        Scanner { arguments, first, program, compat, current: 0, at: 0, items: Vec::new(), engines };
    let mut mistakes = Vec::new();
    while let Some(argument) = scanner.next() {
        if argument == "--" {
            let files = arguments[scanner.at..].iter().cloned().map(Item::File);
            scanner.items.extend(files);
            break;
        }
        scanner.current = scanner.at - 1;
        let outcome = if let Some(body) = argument.strip_prefix("--") {
            scanner.long(argument, body)
        } else if let Some(body) = argument.strip_prefix('-').filter(|body| !body.is_empty()) {
            scanner.dashed(argument, body)
        } else {
            scanner.items.push(Item::File(argument.to_owned()));
            Ok(false)
        };
        match outcome {
            Ok(true) => break,
            Ok(false) => {}
            Err(mistake) => mistakes.push(*mistake),
        }
    }
    CommandLine { items: scanner.items, mistakes, compat }
}

struct Scanner<'a> {
    arguments: &'a [String],
    /// Number of the first of them.
    first: u32,
    program: &'static [ProgramOptionRow],
    /// Whose job options there are.
    compat: Compat,
    /// The option that is being read.
    current: usize,
    /// The next argument.
    at: usize,
    items: Vec<Item>,
    engines: Engines,
}

/// The engine chosen so far, by the globals and by the job being described.
struct Engines {
    global: String,
    job: Option<String>,
}

impl Default for Engines {
    fn default() -> Self {
        Engines { global: "psync".to_owned(), job: None }
    }
}

impl Engines {
    fn current(&self) -> &str {
        self.job.as_deref().unwrap_or(&self.global)
    }

    fn update(&mut self, name: &str, value: Option<&str>) {
        match (name, value) {
            ("name", Some(job)) if job.starts_with("global") => self.job = None,
            ("name", Some(_)) => self.job = Some(self.global.clone()),
            ("ioengine", Some(engine)) => {
                let engine = canonical_engine(engine).to_owned();
                match &mut self.job {
                    Some(job) => *job = engine,
                    None => self.global = engine,
                }
            }
            _ => {}
        }
    }
}

/// The option that a name means.
enum Meaning {
    Program(&'static ProgramOptionRow),
    Job(&'static str, Opt),
}

/// The result of looking up a name.
enum Lookup {
    Found(Meaning),
    Ambiguous(Vec<String>),
    Unknown,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let argument = self.arguments.get(self.at)?;
        self.at += 1;
        Some(argument)
    }

    /// The place of the current option; `text` includes its value.
    fn origin(&self, text: String) -> ArgOrigin {
        let index = u32::try_from(self.current).unwrap_or(u32::MAX).saturating_add(self.first);
        ArgOrigin { index, text }
    }

    /// An error at the name of the current option.
    fn mistake(&self, message: String, code: &'static str, label: impl Into<String>) -> Diagnostic {
        let origin = self.origin(self.arguments[self.current].clone());
        Diagnostic::error(message, origin.name_origin()).code(code).label(label)
    }

    /// `--opt`, `--opt=value`. True if the rest of the line is ignored.
    fn long(&mut self, argument: &str, body: &str) -> Result<bool, Box<Diagnostic>> {
        match self.look_up(body) {
            Lookup::Found(meaning) => self.option(argument, body, &meaning),
            Lookup::Ambiguous(possible) => {
                let names: Vec<_> = possible.iter().map(|name| format!("`--{name}`")).collect();
                let message = format!("option '{argument}' is ambiguous");
                let quoted: Vec<_> = possible.iter().map(|name| format!("'--{name}'")).collect();
                let line = format!("fio: {message}; possibilities: {}", quoted.join(" "));
                let mistake = self.mistake(message, "ambiguous-option", "begins several options");
                let mistake = mistake.in_fio(FioWords::Lines(vec![line]));
                Err(mistake.help(format!("possibilities are {}", names.join(", "))).into())
            }
            Lookup::Unknown => Err(self.unknown(argument, body).into()),
        }
    }

    /// `-opt` is a long option with one dash or else several letters; a single known letter is always a letter.
    fn dashed(&mut self, argument: &str, body: &str) -> Result<bool, Box<Diagnostic>> {
        let is_letter = |letter: char| self.program.iter().any(|option| option.letter == Some(letter));
        let first = body.chars().next().unwrap_or('-');
        if body.chars().count() == 1 && is_letter(first) {
            return self.letters(argument, body);
        }
        match self.look_up(body) {
            Lookup::Unknown if is_letter(first) => self.letters(argument, body),
            _ => self.long(argument, body),
        }
    }

    /// `-Px name` is `-P -x name`; a value may follow its letter directly.
    fn letters(&mut self, argument: &str, body: &str) -> Result<bool, Box<Diagnostic>> {
        for (at, letter) in body.char_indices() {
            let Some(option) = self.program.iter().find(|option| option.letter == Some(letter)) else {
                let message = format!("unrecognized option '{argument}'");
                let mistake = self.mistake(message, "unknown-option", "no such option");
                return Err(mistake.in_fio(FioWords::Unrecognized).into());
            };
            let attached = Some(&body[at + letter.len_utf8()..]).filter(|rest| !rest.is_empty());
            let value = match option.takes {
                Takes::Nothing => None,
                Takes::Optional => attached.map(str::to_owned),
                Takes::Value => Some(match attached {
                    Some(value) => value.to_owned(),
                    None => self.next_value(&format!("-{letter}"))?,
                }),
            };
            let text = match &value {
                Some(following) if attached.is_none() => format!("{argument} {following}"),
                _ => argument.to_owned(),
            };
            let origin = self.origin(text);
            self.items.push(Item::Program { option: option.option, value, origin });
            if option.ends_scan {
                return Ok(true);
            }
            if option.takes != Takes::Nothing {
                break;
            }
        }
        Ok(false)
    }

    fn option(&mut self, argument: &str, body: &str, meaning: &Meaning) -> Result<bool, Box<Diagnostic>> {
        let takes = match meaning {
            Meaning::Program(option) => option.takes,
            Meaning::Job(_, opt) if opt.row().kind == ValueKind::Flag => Takes::Optional,
            Meaning::Job(..) => Takes::Value,
        };
        let written = body.split_once('=').map(|(_, value)| value.to_owned());
        let mut text = argument.to_owned();
        let value = match (written, takes) {
            (Some(value), Takes::Nothing) => {
                let name = argument.split_once('=').map_or(argument, |(name, _)| name);
                let place = self.origin(text).value_origin(&value);
                let mistake = Diagnostic::error(format!("option '{name}' doesn't allow an argument"), place);
                return Err(mistake.code("unwanted-value").label("takes no value").suggest(name).into());
            }
            (None, Takes::Value) => {
                let value = self.next_value(argument)?;
                text = format!("{argument} {value}");
                Some(value)
            }
            (written, _) => written,
        };
        let origin = self.origin(text);
        match meaning {
            Meaning::Program(option) => {
                self.items.push(Item::Program { option: option.option, value, origin });
                Ok(option.ends_scan)
            }
            Meaning::Job(name, _) => {
                if takes == Takes::Value && value.as_deref() == Some("") {
                    let message = format!("option {name} requires an argument");
                    return Err(self.mistake(message, "empty-value", "a value must follow the `=`").into());
                }
                self.engines.update(name, value.as_deref());
                self.items.push(Item::Job { name: (*name).to_owned(), value, origin });
                Ok(false)
            }
        }
    }

    /// The next argument, as the value of `text`.
    fn next_value(&mut self, text: &str) -> Result<String, Box<Diagnostic>> {
        let value = self.next().map(str::to_owned);
        let message = || format!("option '{text}' requires an argument");
        value.ok_or_else(|| self.mistake(message(), "missing-value", "a value must follow").into())
    }

    /// The option with that full name, or else the only one whose name begins so.
    fn look_up(&self, body: &str) -> Lookup {
        let name = body.split_once('=').map_or(body, |(name, _)| name);
        if name.is_empty() {
            return Lookup::Unknown;
        }
        let program = self.program;
        if let Some(option) =
            program.iter().find(|option| option.name == name && option.exists_for(self.compat))
        {
            return Lookup::Found(Meaning::Program(option));
        }
        let engine = self.engines.current();
        let compat = self.compat;
        let options = program.iter().filter(|option| option.exists_for(compat));
        let options = options.filter(|option| option.name.starts_with(name)).map(Meaning::Program);
        let known = option_names(engine, compat)
            .filter_map(|full| Some((full, Opt::from_name(full, engine, compat)?)));
        let mut found: Vec<Meaning> = options.collect();
        for (full, opt) in known.filter(|(full, _)| full.starts_with(name)) {
            if full == name {
                return Lookup::Found(Meaning::Job(full, opt));
            }
            // Two names of the same option are not ambiguous.
            if !found.iter().any(|other| matches!(other, Meaning::Job(_, known) if *known == opt)) {
                found.push(Meaning::Job(full, opt));
            }
        }
        let full = |meaning: &Meaning| match meaning {
            Meaning::Program(option) => option.name.to_owned(),
            Meaning::Job(full, _) => (*full).to_owned(),
        };
        match found.len() {
            0 => Lookup::Unknown,
            1 => Lookup::Found(found.swap_remove(0)),
            _ => Lookup::Ambiguous(found.iter().map(full).collect()),
        }
    }

    /// The error for an unknown option, with the most likely reason.
    fn unknown(&mut self, argument: &str, body: &str) -> Diagnostic {
        let (name, value) = body.split_once('=').map_or((body, None), |(name, value)| (name, Some(value)));
        let message = format!("unrecognized option '{}'", masked(argument));
        let owners = engines_with_option(name);
        if let Some(owner) = owners.first() {
            let engine = self.engines.current();
            let label = format!("an option of {}; the engine here is {engine}", owners.join(", "));
            let mistake = self.mistake(message, "option-of-other-engine", label);
            return mistake.help(format!("write it after --ioengine={owner}"));
        }
        let known = self.program.iter().filter(|option| option.exists_for(self.compat));
        let known = known.map(|option| option.name);
        let of_jobs = option_names(self.engines.current(), self.compat);
        let near = nearest(name, known.chain(of_jobs.map(|name| -> &str { name })));
        let Some(near) = near.map(|name| format!("--{name}")) else {
            return self.mistake(message, "unknown-option", "no such option").in_fio(FioWords::Unrecognized);
        };
        // Later options may depend on the engine that this one was meant to choose.
        self.engines.update(&near[2..], value);
        let mistake = self.mistake(message, "unknown-option", format!("did you mean `{near}`?"));
        mistake.suggest(near).in_fio(FioWords::Unrecognized)
    }
}

#[cfg(test)]
mod tests;
