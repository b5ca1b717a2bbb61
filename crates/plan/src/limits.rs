//! How much a job does and for how long: loops, times, numbers of I/Os, and writers that end when the device is full.

use std::time::Duration;

use ferrio_job::{Diagnostic, Direction, JobSpec, Limits};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, inert, name, note, place, refuse};
use crate::direction::rw;
use crate::findings::Findings;

inert! {
    FillDevice:
        |job| !rw(job).does(Direction::Write) && !rw(job).does(Direction::Read); "the job does not write";
}

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
    let (low, high) = options.value(Opt::Startdelay);
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
    if job.fails_after_first_io {
        // As in fio, the job fails after its first I/O.
        let Limits { number_ios, loops, time_based, ramp_time, ramp_size, .. } = &mut spec.limits;
        (*number_ios, *loops, *time_based) = (1, 1, false);
        (*ramp_time, *ramp_size) = Default::default();
    }
    spec.fill_device = options.value(Opt::FillDevice);
    if spec.replay.is_some() {
        (spec.limits.loops, spec.limits.time_based, spec.fill_device) = (1, false, false);
    }
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    if spec.limits.time_based && spec.limits.runtime.is_zero() {
        let text = "time_based requires a runtime/timeout setting";
        findings.warn(note(job, &[Opt::TimeBased], "time-based-without-runtime", text));
        spec.limits.time_based = false;
    }
}

/// True when only a full device limits what the job writes.
pub(crate) fn only_a_full_device_limits(spec: &JobSpec, job: &Job) -> bool {
    let sized = [Opt::Size, Opt::Filesize].into_iter().any(|opt| asks(job, opt));
    spec.fill_device && spec.rw.does(Direction::Write) && !sized
}

/// Rules about `fill_device`.
pub(crate) fn check_full_device(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if !spec.fill_device {
        return;
    }
    let laid_out = spec.rw.does(Direction::Write) && spec.layout.overwrite;
    if spec.rw.does(Direction::Read) || laid_out {
        let message = match spec.rw.does(Direction::Read) {
            true => "option `fill_device` of a job that reads is not implemented yet",
            false => "option `fill_device` with `overwrite` is not implemented yet",
        };
        let problem = Diagnostic::error(message, place(job, &[Opt::FillDevice])).code("unimplemented-value");
        let help = "fill the device with a job that only writes, then use its file in another job";
        findings.refuse_unsupported(problem.help(help).job(name(job)));
    }
    if spec.engine.cannot_extend() {
        let message =
            format!("fill_device needs files that can grow, but files of {} cannot", spec.engine.word());
        let help = "choose another engine, or remove `fill_device`";
        refuse(findings, job, &[Opt::FillDevice, Opt::Ioengine], "engine-cannot-fill", message, help);
    }
    if only_a_full_device_limits(spec, job) && spec.rw.is_random() {
        let message = "random writes with fill_device need `size`, the range of the offsets";
        refuse(findings, job, &[Opt::FillDevice], "fill-at-random-without-size", message, "add `size`");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanOptions;
    use crate::testing::{first_refusal, jobs_of, null, plan_of, refusals, spec_of, texts, wrong};

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

    #[test]
    fn a_writer_without_size_has_no_limit() {
        let sizes = |options: &str| {
            let spec = spec_of(&format!("[a]\nfilename=/there/is/no/such/file\nrw=write\n{options}"));
            (spec.fill_device, spec.limits.size, spec.files[0].size)
        };
        assert_eq!(sizes("fill_device=1\n"), (true, Limits::UNLIMITED, Limits::UNLIMITED));
        assert_eq!(sizes("fill_fs=1\nsize=8m\n"), (true, 8 << 20, 8 << 20));
        assert_eq!(sizes("fill_fs=1\nfilesize=8m\n"), (true, 8 << 20, 8 << 20));
    }

    #[test]
    fn later_jobs_do_not_count_on_a_file_that_fills_a_device() {
        let text = "[global]\nfilename=/there/is/no/such/file\nrw=write\n[a]\nfill_device=1\n[b]\nsize=8k\n";
        let plan = plan_of(text).unwrap();
        assert_eq!((plan.jobs[1].spec.files[0].size, plan.jobs[1].spec.files[0].extend), (8192, true));
    }

    #[test]
    fn what_cannot_fill_a_device_is_refused() {
        let refused = refusals("[a]\nioengine=null\nfill_device=1\nrw=randwrite\n");
        assert_eq!(refused, ["random writes with fill_device need `size`, the range of the offsets"]);
        assert!(wrong("rw=randwrite\nfill_device=1\n").is_empty());
        let refused = refusals("[a]\nioengine=mmap\nfill_device=1\nrw=write\nsize=8k\n");
        assert_eq!(refused, ["fill_device needs files that can grow, but files of mmap cannot"]);
        let refused = refusals("[a]\nsize=8k\nfill_device=1\nrw=write\noverwrite=1\n");
        assert_eq!(refused, ["option `fill_device` with `overwrite` is not implemented yet"]);
        let refused = refusals("[a]\nioengine=null\nsize=8k\nfill_device=1\nrw=rw\n");
        assert_eq!(refused, ["option `fill_device` of a job that reads is not implemented yet"]);
    }
}
