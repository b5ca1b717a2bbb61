//! `tuning`: whether a job uses optimisations that change the conditions of the measurement.

use ferrio_job::{JobSpec, Tuning};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::lacks;

/// The tuning, once engine and memory are known; figures of a program that is called `fio` are compared with fio's unless the job says
/// otherwise.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.tuning = match spec.compat.tunes_as_fio && lacks(job, Opt::Tuning) {
        true => Tuning::Fio,
        false => job.options.choice(Opt::Tuning),
    };
    spec.memory.transparent_huge = spec.tuning == Tuning::Lean && spec.engine.moves_data();
}

#[cfg(test)]
mod tests {
    use ferrio_job::Tuning;

    use crate::testing::{good_plan_as_fio, jobs_of, null, spec_of};

    #[test]
    fn a_job_is_lean_unless_it_says_otherwise_or_the_program_is_called_fio() {
        assert_eq!(spec_of(&null("")).tuning, Tuning::Lean);
        assert_eq!(spec_of(&null("tuning=fio\n")).tuning, Tuning::Fio);
        let as_fio = |options: &str| good_plan_as_fio(&jobs_of(&null(options))).jobs[0].spec.tuning;
        assert_eq!([as_fio(""), as_fio("tuning=lean\n")], [Tuning::Fio, Tuning::Lean]);
    }
}
