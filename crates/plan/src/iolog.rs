//! Recording and replaying of I/O: `write_iolog`, `read_iolog`.

use ferrio_job::{IologVersion, JobSpec, Origin, RecordTo};
use ferrio_jobfile::{Job, JobSet, Opt};

use crate::as_written::{lacks, note, refuse};
use crate::findings::Findings;
use crate::inert::inert;

inert! {
    ReadIologChunked ReplayNoStall ReplayRedirect ReplayScale ReplayAlign ReplayTimeScale ReplaySkip:
        |job| lacks(job, Opt::ReadIolog); "nothing is replayed without `read_iolog`";
    MergeBlktraceScalars MergeBlktraceIters:
        |job| lacks(job, Opt::MergeBlktraceFile); "nothing is merged without `merge_blktrace_file`";
    WriteIolog:
        |job| job.options.is_given(Opt::ReadIolog); "a job that replays (`read_iolog`) does not record";
    WriteIologVersion:
        |job| lacks(job, Opt::WriteIolog); "nothing is recorded without `write_iolog`";
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if job.options.is_given(Opt::ReadIolog) && job.options.is_given(Opt::WriteIolog) {
        let text = "read iolog overrides write_iolog";
        findings.warn(note(job, &[Opt::WriteIolog], "replay-overrides-recording", text));
    }
}

/// The log that the job's I/O is recorded in.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let version = match job.options.value::<u32>(Opt::WriteIologVersion) {
        2 => IologVersion::Two,
        _ => IologVersion::Three,
    };
    let path = job.options.text(Opt::WriteIolog);
    spec.iolog = path.map(|path| RecordTo { path: path.into(), version });
}

/// Standard input is read once: by a job file, or by one job that replays it.
pub(crate) fn stdin_has_one_user(set: &JobSet, findings: &mut Findings) {
    let from_stdin =
        |origin: &Origin| matches!(origin, Origin::File { source, .. } if set.sources.name(*source) == "-");
    let globals = set.globals.iter().map(|given| &given.origin);
    let mut taken = set.jobs.iter().map(|job| &job.origin).chain(globals).any(from_stdin);
    for job in &set.jobs {
        if job.options.list(Opt::ReadIolog).first().is_none_or(|first| first != "-") {
            continue;
        }
        if taken {
            let message = "only one user (read_iolog_file/job file) of stdin is permitted at once";
            let help = "read the I/O log from a file";
            refuse(findings, job, &[Opt::ReadIolog], "stdin-used-twice", message, help);
        }
        taken = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanOptions;
    use crate::testing::{jobs_named, jobs_of, notes_of, null, spec_of};

    #[test]
    fn a_job_that_replays_does_not_record() {
        let options = "read_iolog=in\nwrite_iolog=out\n";
        assert!(notes_of(options).contains(&"read iolog overrides write_iolog".to_owned()));
        let fatal = PlanOptions { warnings_fatal: true, ..PlanOptions::default() };
        let problems = crate::plan(&jobs_of(&null(options)), &fatal).unwrap_err();
        assert_eq!(problems.diagnostics[0].message, "read iolog overrides write_iolog");
    }

    #[test]
    fn io_is_recorded_in_version_3_unless_2_is_asked_for() {
        let iolog = |options: &str| spec_of(&null(options)).iolog;
        assert_eq!(iolog("write_iolog_version=2\n"), None);
        let log = |version| Some(RecordTo { path: "d/log".into(), version });
        assert_eq!(iolog("write_iolog=d/log\n"), log(IologVersion::Three));
        assert_eq!(iolog("write_iolog=d/log\nwrite_iolog_version=2\n"), log(IologVersion::Two));
    }

    #[test]
    fn standard_input_is_the_job_file_or_one_log() {
        let want = "only one user (read_iolog_file/job file) of stdin is permitted at once";
        let first = |name: &str, text: &str| {
            let set = jobs_named(name, text);
            crate::plan(&set, &PlanOptions::default()).unwrap_err().diagnostics[0].message.clone()
        };
        assert_eq!(first("-", "[a]\nioengine=null\nread_iolog=-\n"), want);
        assert_eq!(first("t.fio", "[global]\nioengine=null\nread_iolog=-\n[a]\n[b]\n"), want);
        assert_ne!(first("t.fio", "[a]\nioengine=null\nread_iolog=-\n"), want);
    }
}
