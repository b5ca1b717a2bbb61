//! Questions of all subjects about a job as written, how they report on it, and the form of their tables of inert options. An option
//! that never has an effect has the reason in the catalogue instead; one that another job may bring to life (`exit_what` by its
//! `exitall`) has no row.

use ferrio_job::{Choice, Diagnostic, EngineKind, Origin, VerifyMethod};
use ferrio_jobfile::{Amount, GivenOption, Job, Opt, Value};

use crate::findings::Findings;

/// True when an option is given, and not as zero, off or nothing.
pub(crate) fn asks(job: &Job, opt: Opt) -> bool {
    let options = &job.options;
    match options.given(opt).map(|given| &given.value) {
        Some(Value::Directions(_)) => options.per_direction(opt).iter().flatten().any(|&number| number > 0),
        Some(value) => !is_zero(value),
        None => false,
    }
}

/// True when an option is not given.
pub(crate) fn lacks(job: &Job, opt: Opt) -> bool {
    !job.options.is_given(opt)
}

/// True when this is the word in force, given or by default.
pub(crate) fn chooses<T: Choice + Default + PartialEq>(job: &Job, opt: Opt, choice: T) -> bool {
    job.options.choice::<T>(opt) == choice
}

/// True when the engine of the job exists and has this property.
pub(crate) fn engine_is(job: &Job, property: fn(EngineKind) -> bool) -> bool {
    EngineKind::from_word(job.options.engine()).is_some_and(property)
}

/// Where the last of these options got its value; where the job begins if none was given.
pub(crate) fn place(job: &Job, opts: &[Opt]) -> Origin {
    job.options
        .last_of(opts)
        .map_or_else(|| job.origin.clone(), |given: &GivenOption| given.value_origin.clone())
}

/// The name a job is printed with.
pub(crate) fn name(job: &Job) -> &str {
    job.options.text(Opt::Name).unwrap_or(&job.name)
}

/// A note about a job that points at the last of the options that are the reason.
pub(crate) fn note(job: &Job, opts: &[Opt], code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic::note(message).code(code).at(place(job, opts)).job(name(job))
}

/// Refuses a job for the mistake `code`; points at the last of the options that cause it.
pub(crate) fn refuse(
    findings: &mut Findings,
    job: &Job,
    opts: &[Opt],
    code: &'static str,
    message: impl Into<String>,
    help: &str,
) {
    findings.refuse(Diagnostic::error(message, place(job, opts)).code(code).help(help).job(name(job)));
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

/// Options that are inert together.
pub(crate) struct Inert {
    /// The options. All rows of one option are in one table, except those about logs that are replayed. The first that applies gives the
    /// reason.
    pub(crate) opts: &'static [Opt],
    /// Whether the other options of the job deprive these of their effect.
    pub(crate) when: fn(&Job) -> bool,
    /// A phrase without a full stop.
    pub(crate) reason: &'static str,
}

/// The table `INERT` of a subject, each row as `options: when; reason;`.
macro_rules! inert {
    ($($($opt:ident)+: $when:expr; $reason:literal;)+) => {
        pub(crate) const INERT: &[crate::as_written::Inert] = &[$(crate::as_written::Inert {
            opts: &[$(ferrio_jobfile::Opt::$opt),+],
            when: $when,
            reason: $reason,
        }),+];
    };
}
pub(crate) use inert;

/// The method of `verify` in force; `verify_pattern` alone implies `pattern_hdr`.
pub(crate) fn verify_method(job: &Job) -> Option<VerifyMethod> {
    match job.options.is_given(Opt::Verify) {
        true => job.options.chosen(Opt::Verify),
        false => job.options.is_given(Opt::VerifyPattern).then_some(VerifyMethod::PatternHdr),
    }
}

/// Whether the job verifies data; `verify_pattern` alone implies it.
pub(crate) fn verifies(job: &Job) -> bool {
    verify_method(job).is_some()
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
}
