//! Recording, replaying, and logs: what excludes each other.

use ferrio_job::Origin;
use ferrio_jobfile::{Job, JobSet, Opt};

use crate::findings::Findings;
use crate::written::{asks, note, refuse};

/// All rules about logs of one job.
pub(super) fn check(job: &Job, findings: &mut Findings) {
    replaying_beats_recording(job, findings);
    issue_times_need_a_latency_log_with_offsets(job, findings);
}

fn replaying_beats_recording(job: &Job, findings: &mut Findings) {
    if job.options.is_given(Opt::ReadIolog) && job.options.is_given(Opt::WriteIolog) {
        let text = "read iolog overrides write_iolog";
        findings.warn(note(job, &[Opt::WriteIolog], "replay-overrides-recording", text));
    }
}

fn issue_times_need_a_latency_log_with_offsets(job: &Job, findings: &mut Findings) {
    let logged = job.options.is_given(Opt::WriteLatLog) && asks(job, Opt::LogOffset);
    if asks(job, Opt::LogIssueTime) && !logged {
        let message = "log_issue_time option requires write_lat_log and log_offset options";
        let help = "give `write_lat_log` and `log_offset=1`";
        refuse(findings, job, &[Opt::LogIssueTime], "issue-time-without-offsets", message, help);
    }
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
    use crate::PlanOptions;
    use crate::rules::tests::{first_refusal, notes_of, null};
    use crate::testing::{jobs_named, jobs_of};

    #[test]
    fn a_job_that_replays_does_not_record() {
        let options = "read_iolog=in\nwrite_iolog=out\n";
        assert!(notes_of(options).contains(&"read iolog overrides write_iolog".to_owned()));
        let fatal = PlanOptions { warnings_fatal: true, ..PlanOptions::default() };
        let problems = crate::plan(&jobs_of(&null(options)), &fatal).unwrap_err();
        assert_eq!(problems.diagnostics[0].message, "read iolog overrides write_iolog");
    }

    #[test]
    fn issue_times_are_a_column_of_latency_logs_with_offsets() {
        let want = "log_issue_time option requires write_lat_log and log_offset options";
        for options in ["", "write_lat_log=x\n", "write_bw_log=x\nlog_offset=1\n"] {
            assert_eq!(first_refusal(&format!("log_issue_time=1\n{options}")), want);
        }
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
