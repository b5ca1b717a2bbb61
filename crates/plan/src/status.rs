//! Options that do nothing here: those that cannot matter in this job are told of, all others are refused; never ignored.

use std::collections::HashSet;

use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::{Given, Job, Opt, Row, Scope, Status, Value, absent_word};

use crate::engine::ENGINES;
use crate::findings::Findings;
use crate::without_effect::reason;
use crate::written::{is_zero, name};

/// Assignments that change nothing in any of the jobs they hold for, to be told once at the end.
///
/// A global option that matters in one job and not in another is no reason for a note.
#[derive(Debug, Default)]
pub(crate) struct Idle<'a> {
    found: Vec<(&'a Job, &'a Given, &'static str)>,
    used: HashSet<(Opt, &'a Origin)>,
}

impl Idle<'_> {
    /// Notes what has no effect anywhere.
    pub(crate) fn tell(&self, findings: &mut Findings) {
        for (job, given, reason) in &self.found {
            if !self.used.contains(&(given.opt, &given.origin)) {
                let message = format!("option `{}` has no effect here: {reason}", given.opt.row().name);
                let note = Diagnostic::note(message).code("option-without-effect");
                findings.note(note.at(given.origin.clone()).job(name(job)));
            }
        }
    }
}

/// Looks at everything in force for a job.
pub(crate) fn check<'a>(job: &'a Job, idle: &mut Idle<'a>, findings: &mut Findings) {
    for given in job.options.all() {
        if is_private_to_a_missing_engine(job, given.opt.row()) {
            // The engine itself is refused, with one reason for all its options.
        } else if let Some(reason) = reason(job, given) {
            idle.found.push((job, given, reason));
        } else {
            idle.used.insert((given.opt, &given.origin));
            let why = absent_choice(given).or_else(|| refusal(given).filter(|_| !is_off(given)));
            if let Some(why) = why {
                findings.lack(why);
            }
        }
    }
}

fn is_private_to_a_missing_engine(job: &Job, row: &Row) -> bool {
    matches!(row.scope, Scope::Engines(_))
        && !ENGINES.iter().any(|engine| engine.name() == job.options.engine())
}

/// True for a value that asks for nothing: off, zero, or what would hold anyway.
pub(crate) fn asks_for_nothing(given: &Given) -> bool {
    is_off(given) || is_zero(&given.value) || is_default(given.opt.row(), given)
}

/// True for a value that is as good as none of an option that is not there.
fn is_off(given: &Given) -> bool {
    let row = given.opt.row();
    let text = given.text.trim();
    match row.status {
        Status::OnlyOff(off) => off.contains(&text) || (off.contains(&"0") && is_zero(&given.value)),
        Status::Unavailable(_) => is_default(row, given),
        _ => false,
    }
}

/// The declared default; 0 where none is declared.
fn is_default(row: &Row, given: &Given) -> bool {
    match row.default {
        "" | "0" => is_zero(&given.value),
        default => given.text.trim() == default,
    }
}

/// A word that cannot be used here, of an option that can.
fn absent_choice(given: &Given) -> Option<Diagnostic> {
    let Value::Word(word, _) = &given.value else { return None };
    let reason = absent_word(given.opt, word)?;
    let message = format!("option `{}={word}` is not available: {reason}", given.opt.row().name);
    Some(
        Diagnostic::error(message, given.value_origin.clone())
            .code("unavailable-value")
            .help("choose another word, or take the option out"),
    )
}

/// Why an option cannot do here what it does in fio: what that is, and what to do.
fn refusal(given: &Given) -> Option<Diagnostic> {
    const WITHOUT: &str = "take the option out to run the job without it";
    let row = given.opt.row();
    let (code, message, origin, help) = match row.status {
        Status::Works | Status::NoEffect(_) => return None,
        Status::OnlyOff(off) => {
            let allowed: Vec<_> = off.iter().map(|word| format!("`{word}`")).collect();
            let help = format!("{WITHOUT}; only {} is accepted", allowed.join(", "));
            let message = format!("option `{}` is not implemented yet", row.name);
            ("unimplemented-value", message, &given.value_origin, help)
        }
        Status::NotYet => {
            let message = format!("option `{}` is not implemented yet", row.name);
            ("unimplemented-option", message, &given.origin, WITHOUT.to_owned())
        }
        Status::Unavailable(reason) => {
            let message = format!("option `{}` is not available: {reason}", row.name);
            ("unavailable-option", message, &given.origin, WITHOUT.to_owned())
        }
    };
    let label = format!("it asks for: {}", row.help);
    Some(Diagnostic::error(message, origin.clone()).code(code).label(label).help(help))
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, problems_of, refusals, texts};

    #[test]
    fn an_option_without_implementation_is_refused_once_however_many_jobs_inherit_it() {
        let text = "[global]\nioengine=null\nsize=4k\nioscheduler=none\n[a]\n[b]\n";
        assert_eq!(refusals(text), ["option `ioscheduler` is not implemented yet"]);
    }

    #[test]
    fn a_refusal_says_what_the_option_would_have_done_and_what_to_do() {
        let problem = &problems_of("[a]\nioengine=null\nsize=4k\nlockmem=1m\n")[0];
        assert_eq!(problem.message, "option `lockmem` is not implemented yet");
        assert_eq!(
            problem.label,
            "it asks for: Pin this much memory in each worker, to simulate a smaller machine"
        );
        let want = "take the option out to run the job without it; only `0` is accepted";
        assert_eq!(problem.help.as_deref(), Some(want));
    }

    #[test]
    fn what_cannot_be_here_is_refused_with_the_reason() {
        let problem = &problems_of("[a]\nioengine=io_uring\nsize=4k\npi_chk=GUARD\n")[0];
        assert!(problem.message.starts_with("option `pi_chk` is not available: "), "{}", problem.message);
    }

    #[test]
    fn a_word_that_cannot_be_used_is_refused_with_the_reason() {
        let refused = refusals("[a]\nioengine=null\nsize=4k\nmem=cudamalloc\n");
        let want = "option `mem=cudamalloc` is not available: buffers in the memory of a GPU need CUDA, which this \
                    program is not linked with";
        assert_eq!(refused, [want]);
    }

    #[test]
    fn an_off_value_of_an_option_without_implementation_passes() {
        assert!(plan_of("[a]\nioengine=null\nsize=4k\nverify=0\natomic=0\nzonemode=none\n").is_ok());
        assert!(
            plan_of("[a]\nioengine=null\nsize=4k\nlockmem=0k\nfdp=0\nnum_range=1\ngpu_dev_id=0\n").is_ok()
        );
        let text = "[a]\nioengine=null\nsize=4k\nrw=write\nverify=md5\nverify_async=2\n";
        assert_eq!(refusals(text), ["option `verify_async` is not implemented yet"]);
    }

    #[test]
    fn an_option_that_can_have_no_effect_is_accepted_and_said_so() {
        let plan = plan_of("[a]\nioengine=null\nsize=4k\nwrite_barrier=4\n").unwrap();
        assert_eq!(
            texts(&plan.diagnostics),
            ["option `write_barrier` has no effect here: no engine acts on the mark"]
        );
    }

    #[test]
    fn a_global_option_that_matters_in_one_job_is_not_told_of() {
        let text = "[global]\nioengine=null\nsize=4k\nrw=write\nverify_fatal=1\n[a]\nverify=md5\n[b]\n";
        assert!(plan_of(text).unwrap().diagnostics.is_empty());
        let neither = text.replace("verify=md5\n", "");
        let want = ["option `verify_fatal` has no effect here: nothing is verified without `verify`"];
        assert_eq!(texts(&plan_of(&neither).unwrap().diagnostics), want);
    }
}
