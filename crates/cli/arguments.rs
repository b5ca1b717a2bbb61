//! Takes the command line apart from left to right, by the rules of `getopt_long_only(3)`.
//!
//! Options may be abbreviated, begin with one dash or two, and stand in any order among job files. What a word means may depend
//! on the engine chosen to its left. Values are not looked at here: job options go to the job file reader, the others to clap.

use ferrio_jobfile::{ArgOrigin, Kind, Opt, canonical_engine, pool};

/// One thing on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An option of the program itself, by its long name.
    Program {
        /// Long name.
        name: String,
        /// Its value.
        value: Option<String>,
    },
    /// An option of a job; `name` begins a new one.
    Job {
        /// Name or alias, in full.
        name: String,
        /// Its value.
        value: Option<String>,
        /// Where it stands.
        origin: ArgOrigin,
    },
    /// A job file; `-` is standard input.
    File(String),
}

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Never.
    Nothing,
    /// Only behind `=`.
    Optional,
    /// Behind `=` or as the next argument.
    Value,
}

/// An option of the program as the scanner needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramOption {
    /// Long name.
    pub name: String,
    /// Single letter.
    pub letter: Option<char>,
    /// Whether it takes a value.
    pub takes: Takes,
    /// What follows it does not count.
    pub ends_scan: bool,
}

/// Why a command line cannot be read; the rest of it is not looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// No option has that name.
    #[error("unrecognized option '{text}'{}", remedy(.help))]
    Unknown {
        /// As typed.
        text: String,
        /// What to do.
        help: Option<String>,
    },
    /// An abbreviation of several options.
    #[error("option '{text}' is ambiguous; possibilities: {}", quoted(.possible))]
    Ambiguous {
        /// As typed.
        text: String,
        /// Names it may mean.
        possible: Vec<String>,
    },
    /// A value is missing.
    #[error("option '{text}' requires an argument")]
    Missing {
        /// As typed.
        text: String,
    },
    /// A value for an option that takes none.
    #[error("option '{text}' doesn't allow an argument")]
    Unwanted {
        /// As typed.
        text: String,
    },
    /// Nothing behind `=`.
    #[error("option {name} requires an argument")]
    Empty {
        /// Name of the option.
        name: String,
    },
}

fn remedy(help: &Option<String>) -> String {
    help.as_ref().map(|help| format!("\n  = help: {help}")).unwrap_or_default()
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("'--{name}'")).collect::<Vec<_>>().join(" ")
}

/// Takes `arguments` (without the program's name) apart.
///
/// # Errors
/// The first argument that makes no sense.
pub fn scan(arguments: &[String], program: &[ProgramOption]) -> Result<Vec<Item>, ArgumentError> {
    let mut scanner = Scanner { arguments, program, at: 0, items: Vec::new(), engines: Engines::default() };
    while let Some(argument) = scanner.next() {
        if argument == "--" {
            let files = arguments[scanner.at..].iter().cloned().map(Item::File);
            scanner.items.extend(files);
            break;
        }
        let ends = if let Some(body) = argument.strip_prefix("--") {
            scanner.long(argument, body)?
        } else if let Some(body) = argument.strip_prefix('-').filter(|body| !body.is_empty()) {
            scanner.dashed(argument, body)?
        } else {
            scanner.items.push(Item::File(argument.to_owned()));
            false
        };
        if ends {
            break;
        }
    }
    Ok(scanner.items)
}

struct Scanner<'a> {
    arguments: &'a [String],
    program: &'a [ProgramOption],
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

    fn learn(&mut self, name: &str, value: Option<&str>) {
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

/// What a name stands for.
enum Meaning<'a> {
    Program(&'a ProgramOption),
    Job(&'static str, Opt),
}

/// What became of looking a name up.
enum Lookup<'a> {
    Found(Meaning<'a>),
    Ambiguous(Vec<String>),
    Unknown,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let argument = self.arguments.get(self.at)?;
        self.at += 1;
        Some(argument)
    }

    /// `--opt`, `--opt=value`. True when the rest of the line does not count.
    fn long(&mut self, argument: &str, body: &str) -> Result<bool, ArgumentError> {
        match self.look_up(body) {
            Lookup::Found(meaning) => self.option(argument, body, &meaning),
            Lookup::Ambiguous(possible) => {
                Err(ArgumentError::Ambiguous { text: argument.to_owned(), possible })
            }
            Lookup::Unknown => Err(self.unknown(argument, body)),
        }
    }

    /// `-opt` is a long option with one dash, else a row of letters; a single letter that means something is that.
    fn dashed(&mut self, argument: &str, body: &str) -> Result<bool, ArgumentError> {
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

    /// `-Px name` is `-P -x name`; a value may be glued to its letter.
    fn letters(&mut self, argument: &str, body: &str) -> Result<bool, ArgumentError> {
        for (at, letter) in body.char_indices() {
            let Some(option) = self.program.iter().find(|option| option.letter == Some(letter)) else {
                return Err(ArgumentError::Unknown { text: argument.to_owned(), help: None });
            };
            let glued = Some(&body[at + letter.len_utf8()..]).filter(|rest| !rest.is_empty());
            let value = match option.takes {
                Takes::Nothing => None,
                Takes::Optional => glued.map(str::to_owned),
                Takes::Value => Some(match glued {
                    Some(value) => value.to_owned(),
                    None => self.following(&format!("-{letter}"))?,
                }),
            };
            self.items.push(Item::Program { name: option.name.clone(), value });
            if option.ends_scan {
                return Ok(true);
            }
            if option.takes != Takes::Nothing {
                break;
            }
        }
        Ok(false)
    }

    fn option(&mut self, argument: &str, body: &str, meaning: &Meaning<'_>) -> Result<bool, ArgumentError> {
        let index = u32::try_from(self.at).unwrap_or(u32::MAX);
        let takes = match meaning {
            Meaning::Program(option) => option.takes,
            Meaning::Job(_, opt) if opt.row().kind == Kind::Flag => Takes::Optional,
            Meaning::Job(..) => Takes::Value,
        };
        let written = body.split_once('=').map(|(_, value)| value.to_owned());
        let mut text = argument.to_owned();
        let value = match (written, takes) {
            (Some(_), Takes::Nothing) => {
                let name = argument.split_once('=').map_or(argument, |(name, _)| name);
                return Err(ArgumentError::Unwanted { text: name.to_owned() });
            }
            (None, Takes::Value) => {
                let value = self.following(argument)?;
                text = format!("{argument} {value}");
                Some(value)
            }
            (written, _) => written,
        };
        match meaning {
            Meaning::Program(option) => {
                self.items.push(Item::Program { name: option.name.clone(), value });
                Ok(option.ends_scan)
            }
            Meaning::Job(name, _) => {
                if takes == Takes::Value && value.as_deref() == Some("") {
                    return Err(ArgumentError::Empty { name: (*name).to_owned() });
                }
                self.engines.learn(name, value.as_deref());
                let origin = ArgOrigin { index, text };
                self.items.push(Item::Job { name: (*name).to_owned(), value, origin });
                Ok(false)
            }
        }
    }

    fn following(&mut self, text: &str) -> Result<String, ArgumentError> {
        let missing = || ArgumentError::Missing { text: text.to_owned() };
        self.next().map(str::to_owned).ok_or_else(missing)
    }

    /// A full name, else the one option that begins so.
    fn look_up(&self, body: &str) -> Lookup<'a> {
        let name = body.split_once('=').map_or(body, |(name, _)| name);
        if name.is_empty() {
            return Lookup::Unknown;
        }
        let program: &'a [ProgramOption] = self.program;
        if let Some(option) = program.iter().find(|option| option.name == name) {
            return Lookup::Found(Meaning::Program(option));
        }
        let engine = self.engines.current();
        let options = program.iter().filter(|option| option.name.starts_with(name)).map(Meaning::Program);
        let known = pool(engine).filter_map(|full| Some((full, Opt::from_name(full, engine)?)));
        let mut found: Vec<Meaning<'a>> = options.collect();
        for (full, opt) in known.filter(|(full, _)| full.starts_with(name)) {
            if full == name {
                return Lookup::Found(Meaning::Job(full, opt));
            }
            // Two names of one option are no ambiguity.
            if !found.iter().any(|other| matches!(other, Meaning::Job(_, known) if *known == opt)) {
                found.push(Meaning::Job(full, opt));
            }
        }
        let full = |meaning: &Meaning<'_>| match meaning {
            Meaning::Program(option) => option.name.clone(),
            Meaning::Job(full, _) => (*full).to_owned(),
        };
        match found.len() {
            0 => Lookup::Unknown,
            1 => Lookup::Found(found.swap_remove(0)),
            _ => Lookup::Ambiguous(found.iter().map(full).collect()),
        }
    }

    /// An unknown option with the likeliest reason.
    fn unknown(&self, argument: &str, body: &str) -> ArgumentError {
        let name = body.split_once('=').map_or(body, |(name, _)| name);
        let engines = Opt::named(name).iter().find_map(|opt| match opt.row().scope {
            ferrio_jobfile::Scope::Engines(engines) => engines.first(),
            _ => None,
        });
        let help = match engines {
            Some(engine) => Some(format!("write it behind --ioengine={engine}, whose option it is")),
            None => self.nearest(name).map(|near| format!("did you mean `--{near}`?")),
        };
        ArgumentError::Unknown { text: argument.to_owned(), help }
    }

    /// The name that a slip of the keyboard most likely missed.
    fn nearest(&self, name: &str) -> Option<String> {
        let allowed = name.chars().count().div_ceil(3);
        let known = self.program.iter().map(|option| option.name.as_str());
        let known = known.chain(pool(self.engines.current()).map(|full| -> &str { full }));
        let distances = known.map(|known| (strsim::damerau_levenshtein(name, known), known));
        let (distance, near) = distances.min_by_key(|&(distance, _)| distance)?;
        (distance <= allowed && name.len() <= 64).then(|| near.to_owned())
    }
}

#[cfg(test)]
#[path = "arguments_tests.rs"]
mod tests;
