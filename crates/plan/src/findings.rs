//! The results of planning besides the plan: refusals, which stop everything, and notes, which do not.

use std::collections::{HashMap, HashSet};

use ferrio_job::{Diagnostic, Severity};

/// Collects refusals and notes of all jobs.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Distinct,
    /// Features that this program lacks: reported after what is wrong with the jobs themselves.
    unsupported: Distinct,
    notes: Distinct,
    warnings_fatal: bool,
}

/// Diagnostics in the order they were found, each once with all the jobs it is about. There may be a hundred thousand.
#[derive(Debug, Default)]
struct Distinct {
    list: Vec<Diagnostic>,
    /// Index in `list` by what makes diagnostics the same.
    known: HashMap<Diagnostic, usize>,
    /// Pairs of an index in `list` and a job that this diagnostic names.
    named: HashSet<(usize, String)>,
}

impl Distinct {
    fn add(&mut self, key: Diagnostic, mut new: Diagnostic) {
        let jobs = std::mem::take(&mut new.jobs);
        let at = *self.known.entry(key).or_insert(self.list.len());
        if at == self.list.len() {
            self.list.push(new);
        }
        for job in jobs {
            if self.named.insert((at, job.clone())) {
                self.list[at].jobs.push(job);
            }
        }
    }

    /// A global option that is wrong for ten jobs is one problem.
    fn add_problem(&mut self, problem: Diagnostic) {
        debug_assert!(problem.code != "invalid-job", "no code of its own: {}", problem.message);
        self.add(Diagnostic { jobs: Vec::new(), ..problem.clone() }, problem);
    }
}

impl Findings {
    pub(crate) fn new(warnings_fatal: bool) -> Self {
        Findings { warnings_fatal, ..Findings::default() }
    }

    /// Refuses the run.
    pub(crate) fn refuse(&mut self, problem: Diagnostic) {
        self.problems.add_problem(problem);
    }

    /// Refuses the run because of something this program does not have.
    pub(crate) fn refuse_unsupported(&mut self, problem: Diagnostic) {
        self.unsupported.add_problem(problem);
    }

    /// A refusal under `--warnings-fatal`, else a note.
    pub(crate) fn warn(&mut self, note: Diagnostic) {
        if self.warnings_fatal {
            let problem = Diagnostic::error(note.message, note.origin).code("fatal-warning");
            let problem = Diagnostic { jobs: note.jobs, ..problem };
            self.refuse(problem.help("warnings are fatal (--warnings-fatal)"));
        } else {
            self.note(note);
        }
    }

    /// Adds a note. Notes with the same message are one, with the place of the first.
    pub(crate) fn note(&mut self, note: Diagnostic) {
        debug_assert!(
            note.severity == Severity::Note && note.code != "note",
            "no code of its own: {}",
            note.message
        );
        self.notes.add(Diagnostic::note(&note.message), note);
    }

    /// True while nothing has been refused.
    pub(crate) fn is_fine(&self) -> bool {
        self.problems.list.is_empty() && self.unsupported.list.is_empty()
    }

    /// All notes, in the order they were found.
    pub(crate) fn into_notes(self) -> Vec<Diagnostic> {
        self.notes.list
    }

    /// All refusals: first what is wrong with the jobs, then what this program lacks.
    pub(crate) fn into_problems(self) -> Vec<Diagnostic> {
        let mut problems = self.problems.list;
        problems.extend(self.unsupported.list);
        problems
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, problems_of};
    use ferrio_job::Diagnostic;

    fn jobs(diagnostics: &[Diagnostic]) -> Vec<Vec<&str>> {
        diagnostics.iter().map(|one| one.jobs.iter().map(String::as_str).collect()).collect()
    }

    #[test]
    fn a_mistake_in_globals_is_refused_once_and_names_all_its_jobs() {
        let job = "ioengine=null\nsize=64k\n";
        let problems = problems_of(&format!("[global]\n{job}rate=1m\nrate_iops=9\n[a]\n[b]\n[a]\n"));
        assert_eq!(jobs(&problems), [["a", "b"]]);
        let problems = problems_of(
            "[global]\nioengine=io_uring\nsize=64k\n[a]\nverify_bytchk=1\n[b]\nverify_bytchk=1\n",
        );
        assert_eq!(jobs(&problems), [["a"], ["b"]], "each has its place");
    }

    #[test]
    fn notes_with_the_same_text_are_one() {
        let text = "[global]\nioengine=null\nsize=64k\nbsrange=4k-8k\n[a]\nbs_unaligned\ndirect=1\n[b]\nbs_unaligned\ndirect=1\n";
        assert_eq!(jobs(&plan_of(text).unwrap().diagnostics), [["a", "b"]]);
    }
}
