//! Builds jobs from the command line and job files.
//!
//! The command line comes first, from left to right, then the job files. Its globals apply to the first file only: each
//! further file starts without globals.

mod overrides;

use std::collections::HashSet;
use std::sync::Arc;

use ferrio_job::{ArgOrigin, Character, Diagnostic, Origin, Severity};

use crate::catalogue::Opt;
use crate::diagnostic::Problems;
use crate::document::Assignment;
use crate::environment::Environment;
use crate::evaluate::{self, ValueContext, unknown};
use crate::jobs::{Job, JobSet, Shown};
use crate::options::{Given, Inherited, Options};
use crate::sections::{Cut, Library, Section, is_global};
use crate::value::{Reading, Value};
use overrides::Override;

/// Collects jobs: first the command line from left to right, then the job files.
pub struct Builder {
    environment: Environment,
    library: Library,
    diagnostics: Vec<Diagnostic>,
    /// The globals of the command line and the first file, then those of each further file.
    scopes: Vec<Globals>,
    drafts: Vec<JobDraft>,
    /// What the next command-line option belongs to.
    target: Target,
    /// Sections to keep; all if empty.
    wanted: Vec<String>,
    /// The sections of each file.
    files: Vec<Vec<Shown>>,
    /// What all jobs get, whatever they say.
    overrides: Vec<Override>,
}

/// Global assignments and the settings after them.
#[derive(Default)]
struct Globals {
    list: Vec<Given>,
    setting: ValueContext,
    /// Whether an include file of theirs is missing.
    cut_short: bool,
}

/// A job whose globals are not complete yet.
struct JobDraft {
    name: String,
    own: Vec<Given>,
    /// Options that `--set` gives it, in place of all other assignments.
    overridden: Vec<Opt>,
    setting: ValueContext,
    /// Number of its globals, and how many of them it inherited.
    scope: usize,
    inherited: usize,
    from_command_line: bool,
    first_of_file: bool,
    cut_short: bool,
    origin: Origin,
}

enum Target {
    Globals,
    Job(usize),
    Nothing,
}

impl Builder {
    /// A builder without jobs.
    pub fn new(environment: Environment) -> Builder {
        Builder {
            environment,
            library: Library::default(),
            diagnostics: Vec::new(),
            scopes: vec![Globals::default()],
            drafts: Vec::new(),
            target: Target::Globals,
            wanted: Vec::new(),
            files: Vec::new(),
            overrides: Vec::new(),
        }
    }

    /// Sets how lines and values are read; must be called before the first option or file.
    pub fn reading(&mut self, reading: Reading) {
        self.environment.reading = reading;
    }

    /// Sets whose options jobs have; must be called before the first option or file.
    pub fn character(&mut self, character: Character) {
        self.environment.character = character;
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
            Target::Globals => {
                let Globals { list, setting, .. } = &mut self.scopes[0];
                (list, setting)
            }
            Target::Job(at) => {
                let JobDraft { own, setting, .. } = &mut self.drafts[at];
                (own, setting)
            }
            Target::Nothing => return,
        };
        let line = Assignment {
            name: name.to_owned(),
            value: value.map(str::to_owned),
            origin: argument.origin(),
            value_origin: argument.value_origin(value.unwrap_or("")),
            literal: value.is_some_and(|value| argument.text.ends_with(value)),
            ..Assignment::default()
        };
        let character = self.environment.character;
        let Some(opt) = Opt::from_name(name, &setting.engine, character) else {
            self.diagnostics.push(unknown(&line, &setting.engine, character, true));
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
            self.target = Target::Globals;
            return;
        }
        if !wants(&self.wanted, name) {
            self.target = Target::Nothing;
            return;
        }
        let given = Given {
            opt: Opt::Name,
            name: Opt::Name.row().name,
            text: name.to_owned(),
            value: Value::Text(name.to_owned()),
            origin: argument.origin(),
            value_origin: argument.value_origin(name),
        };
        self.target = Target::Job(self.drafts.len());
        self.drafts.push(JobDraft {
            name: name.to_owned(),
            own: vec![given],
            overridden: Vec::new(),
            setting: self.scopes[0].setting.clone(),
            scope: 0,
            inherited: self.scopes[0].list.len(),
            from_command_line: true,
            first_of_file: false,
            cut_short: false,
            origin: argument.origin(),
        });
    }

    /// `--set`: `OPTION=VALUE` for all jobs, or `JOB:OPTION=VALUE` for those of one name, whatever job files and command line say.
    pub fn set(&mut self, text: &str, argument: &ArgOrigin) {
        match Override::read(text, argument) {
            Ok(one) => self.overrides.push(one),
            Err(diagnostic) => self.diagnostics.push(*diagnostic),
        }
    }

    /// `--section=`: selects the sections and jobs with these names; globals always apply.
    pub fn sections(&mut self, names: Vec<String>) {
        self.wanted.extend(names);
    }

    /// Adds a job file.
    pub fn file(&mut self, name: &str, text: &[u8]) {
        let scope = self.files.len();
        if scope > 0 {
            self.scopes.push(Globals::default());
        }
        let source = self.library.sources.add(name, text);
        let wanted = |name: &str| wants(&self.wanted, name);
        let sections = self.library.sections(source, &self.environment, &wanted, &mut self.diagnostics);
        let mut shown = Vec::new();
        let mut first_of_file = true;
        for mut section in sections {
            self.diagnostics.append(&mut section.wrong);
            if is_global(&section.name) {
                self.globals(section, scope);
                shown.push(Shown::Globals(self.scopes[scope].list.len()));
            } else {
                self.warn_of_name(&section);
                shown.push(Shown::Job(self.drafts.len()));
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
    /// Everything that is wrong in the files and on the command line, warnings included.
    pub fn finish(mut self) -> Result<JobSet, Problems> {
        overrides::apply(&self.overrides, &mut self.drafts, &self.environment, &mut self.diagnostics);
        let mut seen = HashSet::new();
        let mut diagnostics = self.diagnostics;
        // A file that is included several times has the same mistakes each time.
        diagnostics.retain(|diagnostic| seen.insert(diagnostic.clone()));
        if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return Err(Problems { diagnostics, sources: self.library.sources });
        }
        let lists: Vec<Arc<[Given]>> = self.scopes.into_iter().map(|globals| globals.list.into()).collect();
        let jobs = assemble(self.drafts, &lists);
        Ok(JobSet {
            files: lists.iter().cloned().zip(self.files).collect(),
            jobs,
            globals: lists.last().map_or_else(Vec::new, |globals| globals.to_vec()),
            warnings: diagnostics,
            sources: self.library.sources,
        })
    }

    fn globals(&mut self, section: Section, scope: usize) {
        let globals = &mut self.scopes[scope];
        let before = self.diagnostics.len();
        let given =
            evaluate::section(&section.lines, &mut globals.setting, &self.environment, &mut self.diagnostics);
        globals.list.extend(given);
        globals.cut_short |= section.cut == Some(Cut::MissingFile);
        self.note_dropped(before, section);
    }

    fn job(&mut self, section: Section, scope: usize, first_of_file: bool) {
        let mut setting = self.scopes[scope].setting.clone();
        let before = self.diagnostics.len();
        let own = evaluate::section(&section.lines, &mut setting, &self.environment, &mut self.diagnostics);
        self.drafts.push(JobDraft {
            name: section.name.clone(),
            own,
            overridden: Vec::new(),
            setting,
            scope,
            inherited: self.scopes[scope].list.len(),
            from_command_line: false,
            first_of_file,
            cut_short: self.scopes[scope].cut_short || section.cut == Some(Cut::MissingFile),
            origin: section.origin.clone(),
        });
        self.note_dropped(before, section);
    }

    /// Warns of a section that looks like globals but is a job.
    fn warn_of_name(&mut self, section: &Section) {
        if section.name.eq_ignore_ascii_case("global") {
            let message = format!("section [{}] is a job", section.name);
            let warning = Diagnostic::warning(message, section.origin.clone()).code("global-in-capitals");
            let label = "only `[global]` in lower case sets defaults for other jobs";
            self.diagnostics.push(warning.label(label).suggest("[global]"));
        }
    }

    /// Notes that a job is dropped if there are errors after the first `before` diagnostics.
    fn note_dropped(&mut self, before: usize, section: Section) {
        if self.diagnostics[before..].iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            let message = format!("job {} dropped", section.name);
            let note = Diagnostic { origin: section.origin, ..Diagnostic::note(message) };
            self.diagnostics.push(note.code("job-dropped"));
        }
    }
}

/// Whether jobs of this name are selected; without a selection all are.
fn wants(wanted: &[String], name: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|wanted| wanted == name)
}

/// Adds the inherited options to the jobs. Jobs that inherit the same options share them.
fn assemble(drafts: Vec<JobDraft>, lists: &[Arc<[Given]>]) -> Vec<Job> {
    let mut shared: Option<(usize, usize, Arc<Inherited>)> = None;
    let mut jobs = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let inherited = match &shared {
            Some((scope, count, inherited)) if (*scope, *count) == (draft.scope, draft.inherited) => {
                Arc::clone(inherited)
            }
            before => {
                let nothing = Inherited::default();
                let shorter = before
                    .as_ref()
                    .filter(|(scope, ..)| *scope == draft.scope)
                    .map_or(&nothing, |(.., all)| all);
                Arc::new(Inherited::extend(shorter, &lists[draft.scope], draft.inherited))
            }
        };
        shared = Some((draft.scope, draft.inherited, Arc::clone(&inherited)));
        let own: Arc<[Given]> = draft.own.into();
        jobs.push(Job {
            name: draft.name,
            options: Options::new(inherited, Arc::clone(&own), draft.setting.engine.into())
                .overriding(draft.overridden),
            own,
            from_command_line: draft.from_command_line,
            file_number: draft.scope,
            first_of_file: draft.first_of_file,
            cut_short: draft.cut_short,
            origin: draft.origin,
        });
    }
    jobs
}

#[cfg(test)]
mod tests;
