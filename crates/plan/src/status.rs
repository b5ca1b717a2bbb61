//! Options that parse but do nothing here are refused, pointing at where they were given; never ignored.

use ferrio_jobfile::{Diagnostic, Given, Job, Kind, Opt, Scope, Status, Value};

use crate::engine::ENGINES;
use crate::findings::Findings;
use crate::names::Listing;

/// Looks at everything in force for a job.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    let engine = job.options.engine();
    let has_engine = ENGINES.iter().any(|known| known.name() == engine);
    for given in job.options.all() {
        // Without its engine nothing is to be said of a private option.
        if !has_engine && matches!(given.opt.row().scope, Scope::Engines(_)) {
            continue;
        }
        if let Some(why) = refusal(given).filter(|_| !changes_nothing(job, given)) {
            findings.refuse(why);
        } else if let Status::NoEffect(reason) = given.opt.row().status
            // Deprecated options were already told about when they were read.
            && given.opt.row().kind != Kind::Ignored
        {
            findings.note(format!("option `{}` has no effect: {reason}", given.opt.row().name));
        }
    }
}

/// True for a value that is as good as none, depending on the rest of the job.
fn changes_nothing(job: &Job, given: &Given) -> bool {
    match (given.opt, &given.value) {
        // All files of the job may be open.
        (Opt::Openfiles, Value::Int(most)) => *most == 0 || *most >= i64::from(Listing::new(job).count),
        _ => false,
    }
}

fn refusal(given: &Given) -> Option<Diagnostic> {
    let row = given.opt.row();
    match row.status {
        Status::Works | Status::NoEffect(_) => None,
        Status::OnlyOff(off) if off.contains(&given.text.trim()) => None,
        Status::OnlyOff(off) => {
            let message = format!("option `{}` is not implemented yet", row.name);
            let allowed: Vec<_> = off.iter().map(|word| format!("`{word}`")).collect();
            let help = format!(
                "only {} is accepted; take the option out to run the job without it",
                allowed.join(", ")
            );
            Some(
                Diagnostic::error(message, given.value_origin.clone())
                    .code("unimplemented-value")
                    .label("does more than nothing")
                    .help(help),
            )
        }
        Status::NotYet => {
            let message = format!("option `{}` is not implemented yet", row.name);
            Some(
                Diagnostic::error(message, given.origin.clone())
                    .code("unimplemented-option")
                    .label("would be ignored")
                    .help("take the option out to run the job without it"),
            )
        }
        Status::Unavailable(reason) => {
            let message = format!("option `{}` is not available: {reason}", row.name);
            Some(Diagnostic::error(message, given.origin.clone()).code("unavailable-option"))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, refusals};

    #[test]
    fn an_option_without_implementation_is_refused_once_however_many_jobs_inherit_it() {
        let text = "[global]\nioengine=null\nsize=4k\nexec_prerun=true\n[a]\n[b]\n";
        assert_eq!(refusals(text), ["option `exec_prerun` is not implemented yet"]);
    }

    #[test]
    fn an_off_value_of_an_option_without_implementation_passes() {
        assert!(plan_of("[a]\nioengine=null\nsize=4k\nverify=0\natomic=0\nzonemode=none\n").is_ok());
        let text = "[a]\nioengine=null\nsize=4k\nverify_async=2\n";
        assert_eq!(refusals(text), ["option `verify_async` is not implemented yet"]);
    }

    #[test]
    fn a_limit_on_open_files_above_their_number_passes() {
        assert!(plan_of("[a]\nioengine=null\nsize=64k\nnrfiles=4\nopenfiles=4\n").is_ok());
        let text = "[a]\nioengine=null\nsize=64k\nnrfiles=4\nopenfiles=3\n";
        assert_eq!(refusals(text), ["option `openfiles` is not implemented yet"]);
    }

    #[test]
    fn an_option_that_can_have_no_effect_is_accepted_and_said_so() {
        let plan = plan_of("[a]\nioengine=null\nsize=4k\nwrite_barrier=4\n").unwrap();
        assert_eq!(plan.notes, ["option `write_barrier` has no effect: no engine acts on the mark"]);
    }
}
