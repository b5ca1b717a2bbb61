//! What planning reports: refusals, which stop everything, and notes, which do not.

use std::collections::{HashMap, HashSet};

use ferrio_job::{Diagnostic, Severity};

/// Collects refusals and notes of all jobs.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<Diagnostic>,
    /// What this program lacks: reported after what is wrong with the jobs themselves.
    missing: Vec<Diagnostic>,
    notes: Vec<Diagnostic>,
    /// What has been reported; a set, because there may be a hundred thousand mistakes.
    reported: HashSet<Diagnostic>,
    /// Index in `notes` of each message.
    noted: HashMap<String, usize>,
    /// Pairs of an index in `notes` and a job that this note names.
    named: HashSet<(usize, String)>,
    warnings_fatal: bool,
}

impl Findings {
    pub(crate) fn new(warnings_fatal: bool) -> Self {
        Findings { warnings_fatal, ..Findings::default() }
    }

    /// Refuses the run. A global option that is wrong for ten jobs is reported once.
    pub(crate) fn refuse(&mut self, problem: Diagnostic) {
        debug_assert!(problem.code != "invalid-job", "no code of its own: {}", problem.message);
        if self.reported.insert(problem.clone()) {
            self.problems.push(problem);
        }
    }

    /// Refuses the run because of something this program does not have.
    pub(crate) fn lack(&mut self, problem: Diagnostic) {
        debug_assert!(problem.code != "invalid-job", "no code of its own: {}", problem.message);
        if self.reported.insert(problem.clone()) {
            self.missing.push(problem);
        }
    }

    /// A refusal under `--warnings-fatal`, else a note.
    pub(crate) fn warn(&mut self, note: Diagnostic) {
        if self.warnings_fatal {
            let problem = Diagnostic::error(note.message, note.origin).code("fatal-warning");
            self.refuse(problem.help("warnings are fatal (--warnings-fatal)"));
        } else {
            self.note(note);
        }
    }

    /// Adds a note. Jobs with the same message share one note, which names all of them and has the place of the first.
    pub(crate) fn note(&mut self, note: Diagnostic) {
        debug_assert!(
            note.severity == Severity::Note && note.code != "note",
            "no code of its own: {}",
            note.message
        );
        let Some(&known) = self.noted.get(&note.message) else {
            let next = self.notes.len();
            self.named.extend(note.jobs.iter().map(|job| (next, job.clone())));
            self.noted.insert(note.message.clone(), next);
            self.notes.push(note);
            return;
        };
        for job in note.jobs {
            if self.named.insert((known, job.clone())) {
                self.notes[known].jobs.push(job);
            }
        }
    }

    /// True while nothing has been refused.
    pub(crate) fn is_fine(&self) -> bool {
        self.problems.is_empty() && self.missing.is_empty()
    }

    /// All notes, in the order they were found.
    pub(crate) fn into_notes(self) -> Vec<Diagnostic> {
        self.notes
    }

    /// All refusals: first what is wrong with the jobs, then what this program lacks.
    pub(crate) fn into_problems(self) -> Vec<Diagnostic> {
        let mut problems = self.problems;
        problems.extend(self.missing);
        problems
    }
}
