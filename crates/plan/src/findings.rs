//! What planning has to say: refusals that stop everything, and notes that do not.

use std::collections::{HashMap, HashSet};

use ferrio_job::{Diagnostic, Severity};

/// Collects refusals and notes of all jobs.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<Diagnostic>,
    /// What this program lacks: told after what is wrong with the jobs themselves.
    missing: Vec<Diagnostic>,
    notes: Vec<Diagnostic>,
    /// What was told already: a list would have to be searched for each of a hundred thousand mistakes.
    told: HashSet<Diagnostic>,
    /// Where in `notes` a message is.
    noted: HashMap<String, usize>,
    /// Which jobs the notes at these places in `notes` name.
    named: HashSet<(usize, String)>,
    warnings_fatal: bool,
}

impl Findings {
    pub(crate) fn new(warnings_fatal: bool) -> Self {
        Findings { warnings_fatal, ..Findings::default() }
    }

    /// Nothing will run. A global option that is wrong for ten jobs is told once.
    pub(crate) fn refuse(&mut self, problem: Diagnostic) {
        debug_assert!(problem.code != "invalid-job", "no code of its own: {}", problem.message);
        if self.told.insert(problem.clone()) {
            self.problems.push(problem);
        }
    }

    /// Nothing will run because of something this program does not have.
    pub(crate) fn lack(&mut self, problem: Diagnostic) {
        debug_assert!(problem.code != "invalid-job", "no code of its own: {}", problem.message);
        if self.told.insert(problem.clone()) {
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

    /// Something to know. Several jobs with the same message share one note, which names all of them and has the place of the first.
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

    /// Whether nothing was refused so far.
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
