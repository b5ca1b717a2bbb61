//! What planning has to say: refusals that stop everything, and notes that do not.

use std::collections::HashSet;

use ferrio_job::{Diagnostic, Origin};

/// Collects refusals and notes of all jobs.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<Diagnostic>,
    /// What this program lacks: told after what is wrong with the jobs themselves.
    missing: Vec<Diagnostic>,
    pub(crate) notes: Vec<String>,
    /// What was told already: a list would have to be searched for each of a hundred thousand mistakes.
    told: HashSet<Diagnostic>,
    noted: HashSet<String>,
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
    pub(crate) fn warn(&mut self, message: &str, origin: &Origin) {
        if self.warnings_fatal {
            self.refuse(
                Diagnostic::error(message, origin.clone())
                    .code("fatal-warning")
                    .help("warnings are fatal (--warnings-fatal)"),
            );
        } else {
            self.note(message.to_owned());
        }
    }

    /// Something to know; said once however many jobs it concerns.
    pub(crate) fn note(&mut self, line: String) {
        if !self.noted.contains(&line) {
            self.noted.insert(line.clone());
            self.notes.push(line);
        }
    }

    /// Whether nothing was refused so far.
    pub(crate) fn is_fine(&self) -> bool {
        self.problems.is_empty() && self.missing.is_empty()
    }

    /// All refusals: first what is wrong with the jobs, then what this program lacks.
    pub(crate) fn into_problems(self) -> Vec<Diagnostic> {
        let mut problems = self.problems;
        problems.extend(self.missing);
        problems
    }
}
