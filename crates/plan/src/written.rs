//! Questions to a job as written, which rules and refusals ask before (or without) a resolved spec.

use ferrio_job::{Diagnostic, Origin};
use ferrio_jobfile::{Amount, Given, Job, Opt, Value};

use crate::findings::Findings;
use crate::resolve::read_write;
use ferrio_job::ReadWrite;

/// The `rw` kind in force.
pub(crate) fn rw(job: &Job) -> ReadWrite {
    read_write(&job.options)
}

/// Whether an option is given with more than zero, off or nothing.
pub(crate) fn asks(job: &Job, opt: Opt) -> bool {
    let options = &job.options;
    match options.given(opt).map(|given| &given.value) {
        Some(Value::Directions(_)) => options.rwt(opt).iter().flatten().any(|&number| number > 0),
        Some(value) => !is_zero(value),
        None => false,
    }
}

/// Whether an option is not given.
pub(crate) fn lacks(job: &Job, opt: Opt) -> bool {
    !job.options.is_given(opt)
}

/// The chosen word in force, if one was given.
pub(crate) fn word(job: &Job, opt: Opt) -> Option<&str> {
    job.options.word(opt).map(|choice| choice.word)
}

/// Whether blocks carry something to check: a pattern alone asks for that, too.
pub(crate) fn verifies(job: &Job) -> bool {
    match word(job, Opt::Verify) {
        Some(method) => method != "0",
        None => job.options.is_given(Opt::VerifyPattern),
    }
}

/// A whole number, or a default.
pub(crate) fn int_or(job: &Job, opt: Opt, default: i64) -> i64 {
    job.options.int(opt).unwrap_or(default)
}

/// Where the last of some options got its value; where the job begins if none was given.
pub(crate) fn place(job: &Job, opts: &[Opt]) -> Origin {
    job.options.last_of(opts).map_or_else(|| job.origin.clone(), |given: &Given| given.value_origin.clone())
}

/// The name a job is printed with.
pub(crate) fn name(job: &Job) -> &str {
    job.options.text(Opt::Name).unwrap_or(&job.name)
}

/// What to know about a job, at the last of the options that are the reason.
pub(crate) fn note(job: &Job, opts: &[Opt], code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::note(message).code(code).at(place(job, opts)).job(name(job))
}

/// Refuses a job for the mistake `code`, pointing at the last of the options to blame.
pub(crate) fn refuse(
    findings: &mut Findings,
    job: &Job,
    opts: &[Opt],
    code: &'static str,
    message: impl Into<String>,
    help: &str,
) {
    findings.refuse(Diagnostic::error(message, place(job, opts)).code(code).help(help));
}

/// Off, or a number that is 0 in all its parts.
pub(crate) fn is_zero(value: &Value) -> bool {
    match value {
        Value::Switch(on) => !on,
        Value::Int(number) => *number == 0,
        Value::Size(number) | Value::Time(number) | Value::Amount(Amount::Bytes(number)) => *number == 0,
        Value::Directions(numbers) => numbers.iter().flatten().all(|&number| number == 0),
        Value::Floats(numbers, _) => numbers.iter().all(|&number| number == 0.0),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::jobs_of;

    #[test]
    fn zero_off_and_nothing_ask_for_nothing() {
        let set = jobs_of("[a]\nthinktime=0\nthread=0\nrate=1m\nrate=0,\nramp_time=2\nflow=3\n");
        let asked = [Opt::Thinktime, Opt::Thread, Opt::Rate, Opt::Loops, Opt::RampTime, Opt::Flow]
            .map(|opt| asks(&set.jobs[0], opt));
        assert_eq!(asked, [false, false, true, false, true, true]);
    }

    #[test]
    fn a_pattern_alone_verifies_unless_that_is_switched_off() {
        let verified = |text: &str| verifies(&jobs_of(text).jobs[0]);
        assert!(verified("[a]\nverify_pattern=0xff\n") && verified("[a]\nverify=md5\n"));
        assert!(!verified("[a]\nverify=0\nverify_pattern=0xff\n") && !verified("[a]\n"));
    }
}
