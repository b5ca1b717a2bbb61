//! Messages about failed jobs and signals, in the words that tools grep for.

use ferrio_job::strerror;
use ferrio_runner::JobError;

/// What went wrong and where: `file:worker.rs:88, func=io_u error, error=No space left on device`.
#[must_use]
pub fn error_message(error: &JobError) -> String {
    let JobError { errno, func, file, line } = error;
    format!("file:{file}:{line}, func={func}, error={}", strerror(*errno))
}

/// The line that tells of a job that ended with an error, newline included.
#[must_use]
pub fn job_failed_line(pid: u32, error: &JobError) -> String {
    format!("fio: pid={pid}, err={}/{}\n", error.errno, error_message(error))
}

/// The note that a signal ends the run: an empty line first, so that it does not continue a live line.
#[must_use]
pub fn terminating_line(signal: i32) -> String {
    format!("\nfio: terminating on signal {signal}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_job_names_thread_errno_place_and_reason() {
        let error = JobError { errno: 28, func: "io_u error".into(), file: "worker.rs", line: 88 };
        assert_eq!(
            job_failed_line(31_862, &error),
            "fio: pid=31862, err=28/file:worker.rs:88, func=io_u error, error=No space left on device\n"
        );
    }

    #[test]
    fn a_signal_is_told_on_a_line_of_its_own() {
        assert_eq!(terminating_line(2), "\nfio: terminating on signal 2\n");
    }
}
