//! `fill_device`: writers that end when the device is full.

use ferrio_job::{Diagnostic, Direction, JobSpec};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::{asks, place, refuse};
use crate::direction::rw;
use crate::findings::Findings;
use crate::inert::inert;

inert! {
    FillDevice:
        |job| !rw(job).does(Direction::Write) && !rw(job).does(Direction::Read); "the job does not write";
}

/// True when only a full device limits what the job writes.
pub(crate) fn is_unlimited(spec: &JobSpec, job: &Job) -> bool {
    let sized = [Opt::Size, Opt::Filesize].into_iter().any(|opt| asks(job, opt));
    spec.fill_device && spec.rw.does(Direction::Write) && !sized
}

/// Whether the job ends when the device is full.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    spec.fill_device = job.options.value(Opt::FillDevice);
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if !spec.fill_device {
        return;
    }
    let laid_out = spec.rw.does(Direction::Write) && spec.overwrite;
    if spec.rw.does(Direction::Read) || laid_out {
        let message = match spec.rw.does(Direction::Read) {
            true => "option `fill_device` of a job that reads is not implemented yet",
            false => "option `fill_device` with `overwrite` is not implemented yet",
        };
        let problem = Diagnostic::error(message, place(job, &[Opt::FillDevice])).code("unimplemented-value");
        findings.lack(
            problem.help("fill the device with a job that only writes, then use its file in another job"),
        );
    }
    if spec.engine.cannot_extend() {
        let message =
            format!("fill_device needs files that can grow, and those of {} cannot", spec.engine.name());
        let help = "choose another engine, or remove `fill_device`";
        refuse(findings, job, &[Opt::FillDevice, Opt::Ioengine], "engine-cannot-fill", message, help);
    }
    if is_unlimited(spec, job) && spec.rw.is_random() {
        let message = "fill_device of a random writer needs a size to draw offsets from";
        refuse(findings, job, &[Opt::FillDevice], "fill-at-random-without-size", message, "add `size`");
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{plan_of, refusals, spec_of, wrong};
    use ferrio_job::Limits;

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
        assert_eq!(refused, ["fill_device of a random writer needs a size to draw offsets from"]);
        assert!(wrong("rw=randwrite\nfill_device=1\n").is_empty());
        let refused = refusals("[a]\nioengine=mmap\nfill_device=1\nrw=write\nsize=8k\n");
        assert_eq!(refused, ["fill_device needs files that can grow, and those of mmap cannot"]);
        let refused = refusals("[a]\nsize=8k\nfill_device=1\nrw=write\noverwrite=1\n");
        assert_eq!(refused, ["option `fill_device` with `overwrite` is not implemented yet"]);
        let refused = refusals("[a]\nioengine=null\nsize=8k\nfill_device=1\nrw=rw\n");
        assert_eq!(refused, ["option `fill_device` of a job that reads is not implemented yet"]);
    }
}
