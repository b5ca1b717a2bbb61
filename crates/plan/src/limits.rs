//! How much a job does and for how long: loops, times, numbers of I/Os.

use std::time::Duration;

use ferrio_job::{JobSpec, Limits};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, note, refuse};
use crate::findings::Findings;

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::RampTime) && asks(job, Opt::RampSize) {
        let message = "job rejected: cannot specify both ramp_time and ramp_size";
        let opts = [Opt::RampTime, Opt::RampSize];
        refuse(findings, job, &opts, "ramp-in-time-and-bytes", message, "remove one of them");
    }
}

/// Limits of time and of I/Os. Those of size are filled in when the files are known.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    let (low, high) = options.range(Opt::Startdelay).unwrap_or((0, 0));
    spec.limits = Limits {
        size: 0,
        io_size: None,
        number_ios: options.value(Opt::NumberIos),
        loops: options.value::<u32>(Opt::Loops).max(1),
        runtime: options.value(Opt::Runtime),
        time_based: options.value(Opt::TimeBased),
        ramp_time: options.value(Opt::RampTime),
        ramp_size: options.value(Opt::RampSize),
        startdelay: (Duration::from_micros(low), Duration::from_micros(high)),
    };
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if spec.limits.time_based && spec.limits.runtime.is_zero() {
        let text = "time_based requires a runtime/timeout setting";
        findings.warn(note(job, &[Opt::TimeBased], "time-based-without-runtime", text));
        spec.limits.time_based = false;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::PlanOptions;
    use crate::testing::{first_refusal, jobs_of, null, plan_of, spec_of, texts, wrong};

    #[test]
    fn times_loops_and_delays_are_kept() {
        let options = "runtime=1m\nramp_time=500ms\nloops=0\nstartdelay=1,2\nnumber_ios=1k\n";
        let limits = spec_of(&null(options)).limits;
        assert_eq!((limits.runtime, limits.ramp_time), (Duration::from_secs(60), Duration::from_millis(500)));
        assert_eq!(limits.startdelay, (Duration::from_secs(1), Duration::from_secs(2)));
        assert_eq!((limits.loops, limits.number_ios), (1, 1024));
    }

    #[test]
    fn a_ramp_is_in_time_or_in_bytes() {
        let want = "job rejected: cannot specify both ramp_time and ramp_size";
        assert_eq!(first_refusal("ramp_time=1\nramp_size=4k\n"), want);
        assert!(wrong("ramp_time=0\nramp_size=4k\n").is_empty());
    }

    #[test]
    fn time_based_without_runtime_is_dropped_or_fatal() {
        let text = null("time_based\n");
        let plan = plan_of(&text).unwrap();
        assert!(!plan.jobs[0].spec.limits.time_based);
        assert_eq!(texts(&plan.diagnostics), ["time_based requires a runtime/timeout setting"]);
        let fatal = PlanOptions { warnings_fatal: true, ..PlanOptions::default() };
        let problems = crate::plan(&jobs_of(&text), &fatal).unwrap_err();
        assert_eq!(problems.diagnostics[0].message, "time_based requires a runtime/timeout setting");
        assert!(spec_of(&null("time_based\nruntime=1\n")).limits.time_based);
    }
}
