//! Builds jobs from the command line and job files.
//!
//! The command line comes first, from left to right, then the job files. Its globals apply to the first file only: each
//! further file starts without globals.

mod overrides;

use std::collections::HashSet;
use std::sync::Arc;

use ferrio_job::{ArgOrigin, Compat, Diagnostic, Origin, Severity};

use crate::catalogue::Opt;
use crate::diagnostic::Problems;
use crate::document::Assignment;
use crate::environment::Environment;
use crate::evaluate::{self, ValueContext, unknown};
use crate::jobs::{Job, JobSet, ListedSection};
use crate::options::{GivenOption, InheritedOptions, Options};
use crate::sections::{FileSection, Library, SectionEnd, is_global};
use crate::value::Value;
use overrides::Override;

/// Collects jobs: first the command line from left to right, then the job files.
#[derive(Default)]
pub struct Builder {
    environment: Environment,
    library: Library,
    diagnostics: Vec<Diagnostic>,
    /// The globals of the command line and the first file, then those of each further file.
    scopes: Vec<Globals>,
    drafts: Vec<JobDraft>,
    /// The target of the next command-line option.
    target: OptionTarget,
    /// Sections to keep; all if empty.
    wanted: Vec<WantedSection>,
    /// The sections of each file.
    files: Vec<Vec<ListedSection>>,
    /// Options that all jobs get, whatever they say (`--set`).
    overrides: Vec<Override>,
}

/// Global assignments and the settings after them.
#[derive(Default)]
struct Globals {
    list: Vec<GivenOption>,
    setting: ValueContext,
    /// Whether one of their include files is missing.
    fails_after_first_io: bool,
}

/// A job whose globals are not complete yet.
#[derive(Default)]
struct JobDraft {
    name: String,
    own: Vec<GivenOption>,
    /// Options that `--set` overrides, in place of all other assignments.
    overridden: Vec<Opt>,
    setting: ValueContext,
    /// Index of its globals, and the number of inherited ones.
    scope: usize,
    inherited: usize,
    from_command_line: bool,
    first_of_file: bool,
    fails_after_first_io: bool,
    origin: Origin,
}

/// A name given to `--section`.
struct WantedSection {
    name: String,
    origin: Origin,
    /// Whether a job of that name was found.
    is_found: bool,
}

#[derive(Default)]
enum OptionTarget {
    #[default]
    Globals,
    Job(usize),
    Nothing,
}

impl Builder {
    /// A builder without jobs.
    pub fn new(environment: Environment) -> Builder {
        Builder { environment, scopes: vec![Globals::default()], ..Builder::default() }
    }

    /// Adds a job option of the command line; `name` is complete and has no dashes. It belongs to the job begun last, or
    /// to the globals if there is none. Unlike options of job files, it takes effect at once.
    pub fn command_option(&mut self, name: &str, value: Option<&str>, argument: ArgOrigin) {
        if name == Opt::Name.row().name
            && let Some(job) = value
        {
            return self.begin_job(job, argument);
        }
        let (list, setting) = match self.target {
            OptionTarget::Globals => {
                let Globals { list, setting, .. } = &mut self.scopes[0];
                (list, setting)
            }
            OptionTarget::Job(at) => {
                let JobDraft { own, setting, .. } = &mut self.drafts[at];
                (own, setting)
            }
            OptionTarget::Nothing => return,
        };
        let line = Assignment {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            origin: argument.origin(),
            value_origin: argument.value_origin(value.unwrap_or("")),
            literal: value.is_some_and(|value| argument.text.ends_with(value)),
            ..Assignment::default()
        };
        let line = line.with_host(&self.environment);
        let compat = self.environment.compat;
        let Some(opt) = Opt::from_name(name, &setting.engine, compat) else {
            self.diagnostics.push(unknown(&line, &setting.engine, compat, true));
            return;
        };
        list.extend(evaluate::assignment(opt, &line, setting, &self.environment, &mut self.diagnostics));
    }

    /// `--name=`: begins a job, or returns to the globals if the name begins with `global`.
    pub fn begin_job(&mut self, name: &str, argument: ArgOrigin) {
        if name.is_empty() {
            let diagnostic = Diagnostic::error("option `name` has an empty value", argument.origin());
            self.problem(diagnostic.code("empty-value").label("a job's name is expected"));
            return;
        }
        if is_global(name) {
            self.target = OptionTarget::Globals;
            return;
        }
        if !self.wants(name) {
            return self.skip(name, &argument);
        }
        let given = GivenOption {
            opt: Opt::Name,
            name: Opt::Name.row().name,
            text: name.to_owned(),
            value: Value::Text(name.to_owned()),
            origin: argument.origin(),
            value_origin: argument.value_origin(name),
        };
        self.target = OptionTarget::Job(self.drafts.len());
        self.drafts.push(JobDraft {
            name: name.to_owned(),
            own: vec![given],
            setting: self.scopes[0].setting.clone(),
            inherited: self.scopes[0].list.len(),
            from_command_line: true,
            origin: argument.origin(),
            ..JobDraft::default()
        });
    }

    /// `--set`: `OPTION=VALUE` for all jobs, or `JOB:OPTION=VALUE` for those of one name, whatever job files and command line say.
    pub fn set(&mut self, text: &str, argument: &ArgOrigin) {
        match Override::read(text, argument) {
            Ok(one) => self.overrides.push(one),
            Err(diagnostic) => self.diagnostics.push(*diagnostic),
        }
    }

    /// `--section=`: selects the sections and the jobs begun from here on with this name, and those with the names of other calls; globals
    /// always apply. Jobs begun before are kept.
    pub fn section(&mut self, name: &str, argument: &ArgOrigin) {
        let origin = argument.value_origin(name);
        self.wanted.push(WantedSection { name: name.to_owned(), origin, is_found: false });
    }

    /// Whether jobs of this name are selected; without a selection all are.
    fn wants(&mut self, name: &str) -> bool {
        let mut found = self.wanted.is_empty();
        for section in self.wanted.iter_mut().filter(|section| section.name == name) {
            section.is_found = true;
            found = true;
        }
        found
    }

    /// Skips a job of the command line. Its options are dropped; fio treats them as globals.
    fn skip(&mut self, name: &str, argument: &ArgOrigin) {
        if self.environment.compat == Compat::Fio {
            self.target = OptionTarget::Globals;
            return;
        }
        self.target = OptionTarget::Nothing;
        let message = format!("the job `{name}` is left out: `--section` before it does not name it");
        let warning = Diagnostic::warning(message, argument.origin()).code("job-left-out");
        let help = format!("to run it, name it before `--section`, or add `--section={name}`");
        self.problem(warning.help(help));
    }

    /// Warns of names that no job has, unless there are no jobs at all.
    fn warn_of_absent_sections(&mut self) {
        if self.drafts.is_empty() {
            return;
        }
        for section in self.wanted.iter().filter(|section| !section.is_found) {
            let message = format!("no job has the name `{}`, which `--section` asks for", section.name);
            let warning = Diagnostic::warning(message, section.origin.clone()).code("section-not-found");
            self.diagnostics.push(warning.label("not found"));
        }
    }

    /// Adds a job file.
    pub fn file(&mut self, name: &str, text: &[u8]) {
        let scope = self.files.len();
        if scope > 0 {
            self.scopes.push(Globals::default());
        }
        let source = self.library.sources.add(name, text);
        // fio forgets the names after the first file.
        if scope > 0 && self.environment.compat == Compat::Fio {
            self.wanted.clear();
        }
        let names: HashSet<&str> = self.wanted.iter().map(|section| section.name.as_str()).collect();
        let wanted = |name: &str| names.is_empty() || names.contains(name);
        let sections = self.library.sections(source, &self.environment, &wanted, &mut self.diagnostics);
        let mut shown = Vec::new();
        let mut first_of_file = true;
        for mut section in sections {
            self.diagnostics.append(&mut section.wrong);
            if is_global(&section.name) {
                self.globals(section, scope);
                shown.push(ListedSection::Globals(self.scopes[scope].list.len()));
            } else {
                self.wants(&section.name);
                self.warn_of_name(&section);
                shown.push(ListedSection::Job(self.drafts.len()));
                self.job(section, scope, std::mem::take(&mut first_of_file));
            }
        }
        self.files.push(shown);
    }

    /// Adds another problem, for example a job file that cannot be read, in its place among the rest.
    pub fn problem(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The jobs of all files, with warnings about them.
    ///
    /// # Errors
    /// All mistakes in the files and on the command line, including warnings.
    pub fn finish(mut self) -> Result<JobSet, Problems> {
        self.warn_of_absent_sections();
        overrides::apply(&self.overrides, &mut self.drafts, &self.environment, &mut self.diagnostics);
        let mut seen = HashSet::new();
        let mut diagnostics = self.diagnostics;
        // A file that is included several times has the same mistakes each time.
        diagnostics.retain(|diagnostic| seen.insert(diagnostic.clone()));
        if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return Err(Problems { diagnostics, sources: self.library.sources });
        }
        let lists: Vec<Arc<[GivenOption]>> =
            self.scopes.into_iter().map(|globals| globals.list.into()).collect();
        let jobs = assemble(self.drafts, &lists, personal_options(self.environment.compat));
        Ok(JobSet {
            files: lists.iter().cloned().zip(self.files).collect(),
            jobs,
            globals: lists.last().map_or_else(Vec::new, |globals| globals.to_vec()),
            host: self.environment.host,
            warnings: diagnostics,
            sources: self.library.sources,
        })
    }

    fn globals(&mut self, section: FileSection, scope: usize) {
        let globals = &mut self.scopes[scope];
        let before = self.diagnostics.len();
        let given =
            evaluate::section(&section.lines, &mut globals.setting, &self.environment, &mut self.diagnostics);
        globals.list.extend(given);
        globals.fails_after_first_io |= section.cut == Some(SectionEnd::MissingFile);
        self.note_dropped(before, section);
    }

    fn job(&mut self, section: FileSection, scope: usize, first_of_file: bool) {
        let mut setting = self.scopes[scope].setting.clone();
        let before = self.diagnostics.len();
        let own = evaluate::section(&section.lines, &mut setting, &self.environment, &mut self.diagnostics);
        self.drafts.push(JobDraft {
            name: section.name.clone(),
            own,
            setting,
            scope,
            inherited: self.scopes[scope].list.len(),
            first_of_file,
            fails_after_first_io: self.scopes[scope].fails_after_first_io
                || section.cut == Some(SectionEnd::MissingFile),
            origin: section.origin.clone(),
            ..JobDraft::default()
        });
        self.note_dropped(before, section);
    }

    /// Warns of a section that looks like globals but is a job.
    fn warn_of_name(&mut self, section: &FileSection) {
        if section.name.eq_ignore_ascii_case("global") {
            let message = format!("section [{}] is a job", section.name);
            let warning = Diagnostic::warning(message, section.origin.clone()).code("global-in-capitals");
            let label = "only `[global]` in lower case sets defaults for other jobs";
            self.diagnostics.push(warning.label(label).suggest("[global]"));
        }
    }

    /// Notes that a job is dropped if there are errors after the first `before` diagnostics.
    fn note_dropped(&mut self, before: usize, section: FileSection) {
        if self.diagnostics[before..].iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            let message = format!("job {} dropped", section.name);
            let note = Diagnostic { origin: section.origin, ..Diagnostic::note(message) };
            self.diagnostics.push(note.code("job-dropped"));
        }
    }
}

/// Options that jobs do not inherit from the globals. A job is named by its section; `uid` and `gid` are lost in fio only.
fn personal_options(compat: Compat) -> &'static [Opt] {
    match compat {
        Compat::Ferrio => &[Opt::Name],
        Compat::Fio => &[Opt::Name, Opt::Uid, Opt::Gid],
    }
}

/// Adds the inherited options to the jobs. Jobs that inherit the same options share them.
fn assemble(drafts: Vec<JobDraft>, lists: &[Arc<[GivenOption]>], personal: &'static [Opt]) -> Vec<Job> {
    let mut shared: Option<(usize, usize, Arc<InheritedOptions>)> = None;
    let mut jobs = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let inherited = match &shared {
            Some((scope, count, inherited)) if (*scope, *count) == (draft.scope, draft.inherited) => {
                Arc::clone(inherited)
            }
            before => {
                let nothing = InheritedOptions::default();
                let shorter = before
                    .as_ref()
                    .filter(|(scope, ..)| *scope == draft.scope)
                    .map_or(&nothing, |(.., all)| all);
                Arc::new(InheritedOptions::extend(shorter, &lists[draft.scope], draft.inherited))
            }
        };
        shared = Some((draft.scope, draft.inherited, Arc::clone(&inherited)));
        let own: Arc<[GivenOption]> = draft.own.into();
        jobs.push(Job {
            name: draft.name,
            options: Options::new(
                inherited,
                Arc::clone(&own),
                draft.setting.engine.into(),
                draft.overridden.into(),
                personal,
            ),
            own,
            from_command_line: draft.from_command_line,
            file_number: draft.scope,
            first_of_file: draft.first_of_file,
            fails_after_first_io: draft.fails_after_first_io,
            server: None,
            origin: draft.origin,
        });
    }
    jobs
}

#[cfg(test)]
mod tests;
