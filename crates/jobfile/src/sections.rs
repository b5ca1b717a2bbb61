//! The sections of a job file with their lines, including those of included files.

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use ferrio_job::{Diagnostic, FioWords, Origin, Prefix, reason};

use crate::document::{Assignment, LineEntry, entries};
use crate::environment::Environment;
use crate::sources::Sources;
use crate::value::Dialect;

/// A section and its lines in the order written.
#[derive(Debug, Clone)]
pub(crate) struct FileSection {
    /// The name between the brackets.
    pub(crate) name: String,
    /// The line with the brackets.
    pub(crate) origin: Origin,
    /// The lines.
    pub(crate) lines: Vec<Assignment>,
    /// Errors found before its lines are evaluated.
    pub(crate) wrong: Vec<Diagnostic>,
    /// The reason why it ends before the next header.
    pub(crate) cut: Option<SectionEnd>,
}

impl FileSection {
    fn new(name: String, origin: Origin) -> FileSection {
        FileSection { name, origin, lines: Vec::new(), wrong: Vec::new(), cut: None }
    }
}

/// A reason why fio ends a section at an `include` and continues with the next header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionEnd {
    /// The file cannot be opened. The jobs of the section fail when they run.
    MissingFile,
    /// The file has a header of its own.
    Header,
}

/// Whether a section of this name sets defaults for later sections.
pub(crate) fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// Maximum nesting of included files.
const MAX_DEPTH: usize = 16;

/// Most lines from included files, including `include` lines. Files that include others several times could otherwise exceed the memory.
const MAX_INCLUDED_LINES: usize = 1 << 20;

/// Reads job files and the files that they include.
#[derive(Default)]
pub(crate) struct Library {
    /// The texts read so far.
    pub(crate) sources: Sources,
    /// Included files by path, with their number.
    included: HashMap<String, (u32, Rc<[LineEntry]>)>,
    /// Lines from included files so far.
    spliced: usize,
}

impl Library {
    /// The sections of text number `source` whose names are `wanted`, and the global ones. Errors before the first
    /// section go to `wrong`; lines of other sections are ignored.
    pub(crate) fn sections(
        &mut self,
        source: u32,
        environment: &Environment,
        wanted: &dyn Fn(&str) -> bool,
        wrong: &mut Vec<Diagnostic>,
    ) -> Vec<FileSection> {
        let mut sections: Vec<FileSection> = Vec::new();
        let is_open = |section: &&mut FileSection| section.cut.is_none();
        let mut skipping = false;
        for entry in entries(&self.sources, source, environment) {
            match entry {
                LineEntry::Section(name, origin) => {
                    skipping = !is_global(&name) && !wanted(&name);
                    if !skipping {
                        sections.push(FileSection::new(name, origin));
                    }
                }
                LineEntry::Broken(diagnostic, section) => {
                    if let Some(name) = section {
                        // Otherwise its lines would be errors as well.
                        sections.push(FileSection::new(name, diagnostic.origin.clone()));
                        skipping = false;
                    }
                    if !skipping {
                        sections
                            .last_mut()
                            .map_or(&mut *wrong, |section| &mut section.wrong)
                            .push(*diagnostic);
                    }
                }
                _ if skipping => {}
                LineEntry::Include(name, origin) => match sections.last_mut().filter(is_open) {
                    Some(section) => {
                        let FileSection { lines, wrong, cut, .. } = section;
                        let mut splice =
                            IncludeReader { library: self, environment, wrong, stack: vec![source] };
                        *cut = splice.include(&name, origin, lines).err();
                    }
                    None => wrong.push(outside(&format!("include {name}"), self.line_of(origin))),
                },
                LineEntry::Assignment(line) => match sections.last_mut().filter(is_open) {
                    Some(section) => section.lines.push(line),
                    None => {
                        let value = line.value.map(|value| format!("={value}")).unwrap_or_default();
                        wrong.push(outside(&format!("{}{value}", line.name), line.origin));
                    }
                },
            }
        }
        sections
    }

    /// The place from the start of its line.
    fn line_of(&self, place: Origin) -> Origin {
        match place {
            Origin::File { source, line, column, length } => {
                let blanks = |sign: &char| sign.is_whitespace();
                let indent = self.sources.line(source, line).chars().take_while(blanks).count() as u32;
                let length = (column + length).saturating_sub(indent + 1);
                Origin::File { source, line, column: indent + 1, length }
            }
            place => place,
        }
    }
}

/// Inserts included files into one section.
struct IncludeReader<'a> {
    library: &'a mut Library,
    environment: &'a Environment,
    wrong: &'a mut Vec<Diagnostic>,
    /// Numbers of the texts that are being read, innermost last.
    stack: Vec<u32>,
}

impl IncludeReader<'_> {
    fn include(&mut self, name: &str, origin: Origin, lines: &mut Vec<Assignment>) -> Result<(), SectionEnd> {
        let like_fio = self.environment.dialect == Dialect::Fio;
        if name.is_empty() && !like_fio {
            let diagnostic = Diagnostic::error("`include` without a file name", origin);
            self.wrong.push(diagnostic.code("missing-value").label("write `include file`"));
            return Ok(());
        }
        let (source, entries) = match self.find(name) {
            Ok(found) => found,
            Err(why) if like_fio => {
                let name = &self.beside(name).unwrap_or_else(|| name.to_owned());
                let message = format!("unable to open '{name}' job file");
                let help = "its section ends here, and its jobs fail";
                let warning = Diagnostic::warning(message, origin).code("unreadable-include");
                self.wrong.push(warning.label(reason(&why)).help(help));
                return Err(self.cut(name, SectionEnd::MissingFile));
            }
            Err(why) => {
                let message = format!("cannot read the include file `{name}`");
                let diagnostic = Diagnostic::error(message, origin).code("unreadable-include");
                let beside = self.beside(name).map(|path| format!("`{path}` was tried as well"));
                let diagnostic = diagnostic.label(reason(&why));
                self.wrong.push(Diagnostic { help: beside, ..diagnostic });
                return Ok(());
            }
        };
        self.library.spliced += 1 + entries.len();
        let name_of = |source| self.library.sources.name(source);
        let refusal = if self.stack.iter().any(|&outer| name_of(outer) == name_of(source)) {
            Some(("circular-include", "includes itself".to_owned()))
        } else if self.stack.len() > MAX_DEPTH {
            Some(("deep-include", format!("is nested too deeply: the limit is {MAX_DEPTH} levels")))
        } else if self.library.spliced > MAX_INCLUDED_LINES {
            let why = format!("exceeds the limit of {MAX_INCLUDED_LINES} lines from included files");
            Some(("endless-include", why))
        } else {
            None
        };
        if let Some((code, why)) = refusal {
            let diagnostic = Diagnostic::error(format!("the include file `{name}` {why}"), origin).code(code);
            self.wrong.push(diagnostic.label("not read").help(self.chain(source)));
            return Ok(());
        }
        self.stack.push(source);
        let outcome = self.splice(&entries, lines);
        self.stack.pop();
        outcome.map_err(|cut| self.cut(name, cut))
    }

    fn splice(&mut self, entries: &[LineEntry], lines: &mut Vec<Assignment>) -> Result<(), SectionEnd> {
        for entry in entries.iter().cloned() {
            match entry {
                LineEntry::Assignment(line) => lines.push(line),
                // One error about too many lines is enough.
                LineEntry::Include(..) if self.library.spliced > MAX_INCLUDED_LINES => {}
                LineEntry::Include(name, origin) => self.include(&name, origin, lines)?,
                LineEntry::Broken(diagnostic, _) => self.wrong.push(*diagnostic),
                LineEntry::Section(_, origin) if self.environment.dialect == Dialect::Fio => {
                    let message = "No new sections in included files";
                    let warning = Diagnostic::warning(message, origin).code("section-in-include");
                    let warning = warning.prefix(Prefix::None).label("the including section ends here");
                    self.wrong.push(warning);
                    return Err(SectionEnd::Header);
                }
                LineEntry::Section(name, origin) => {
                    let message = format!("no new sections in included files, found `[{name}]`");
                    let diagnostic = Diagnostic::error(message, origin).code("section-in-include");
                    self.wrong.push(diagnostic.label("an included file holds options only"));
                    break;
                }
            }
        }
        Ok(())
    }

    /// Reports in the words of fio that the file `name` ends a section.
    fn cut(&mut self, name: &str, cut: SectionEnd) -> SectionEnd {
        let note = Diagnostic::note(format!("Error 1 while parsing include file {name}"));
        self.wrong.push(note.code("unreadable-include").prefix(Prefix::None));
        cut
    }

    /// The chain of includes that leads to the file `source`.
    fn chain(&self, source: u32) -> String {
        let name = |source: &u32| format!("`{}`", self.library.sources.name(*source));
        let names: Vec<String> = self.stack.iter().chain([&source]).map(name).collect();
        names.join(" includes ")
    }

    /// Finds a file by its name, otherwise in the directory of the including file.
    fn find(&mut self, name: &str) -> std::io::Result<(u32, Rc<[LineEntry]>)> {
        let first = self.read(name.to_owned());
        match (first, self.beside(name)) {
            (Err(_), Some(path)) => self.read(path),
            (first, _) => first,
        }
    }

    /// The path of a file in the directory of the one that includes it.
    fn beside(&self, name: &str) -> Option<String> {
        let includer = self.stack.last().map_or("", |&source| self.library.sources.name(source));
        includer.rsplit_once('/').map(|(directory, _)| format!("{directory}/{name}"))
    }

    fn read(&mut self, path: String) -> std::io::Result<(u32, Rc<[LineEntry]>)> {
        if let Some(found) = self.library.included.get(&path) {
            return Ok(found.clone());
        }
        let text = (self.environment.read_file)(Path::new(&path))?;
        let source = self.library.sources.add(&path, &text);
        let found = (source, Rc::from(entries(&self.library.sources, source, self.environment)));
        self.library.included.insert(path, found.clone());
        Ok(found)
    }
}

fn outside(line: &str, origin: Origin) -> Diagnostic {
    Diagnostic::error(format!("option `{line}` outside of a [] job section"), origin)
        .code("outside-section")
        .in_fio(FioWords::OutsideSection)
        .label("no section has begun yet")
        .help("begin a section first: `[global]` for defaults, any other name for a job")
}
