//! Messages about failed jobs and signals, in the words that tools grep for.

use ferrio_job::{Diagnostic, Origin, strerror};
use ferrio_runner::JobError;

/// What went wrong and where: `file:worker.rs:88, func=io_u error, error=No space left on device`.
#[must_use]
pub fn error_message(error: &JobError) -> String {
    let JobError { errno, func, file, line } = error;
    format!("file:{file}:{line}, func={func}, error={}", strerror(*errno))
}

/// A job ended with an error.
#[must_use]
pub fn job_failed(job: &str, pid: u32, error: &JobError) -> Diagnostic {
    let message = format!("pid={pid}, err={}/{}", error.errno, error_message(error));
    Diagnostic::error(message, Origin::Builtin).code("job-failed").job(job)
}

/// A signal ends the run.
#[must_use]
pub fn terminating(signal: i32) -> Diagnostic {
    let message = format!("terminating on signal {signal}");
    Diagnostic::warning(message, Origin::Builtin).code("terminating")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_job_names_thread_errno_place_and_reason() {
        let error = JobError { errno: 28, func: "io_u error".into(), file: "worker.rs", line: 88 };
        let failed = job_failed("a", 31_862, &error);
        let want = "fio: pid=31862, err=28/file:worker.rs:88, func=io_u error, error=No space left on device";
        assert_eq!((failed.line().as_str(), &failed.jobs[..]), (want, &["a".to_owned()][..]));
    }
}
