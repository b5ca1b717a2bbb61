//! Messages about failed jobs and signals, in the words that tools grep for.

use std::io;

use ferrio_runner::JobError;

/// What the C library says about an errno, without the number (`No space left on device`).
#[must_use]
pub fn strerror(errno: i32) -> String {
    let mut text = io::Error::from_raw_os_error(errno).to_string();
    if let Some(number) = text.rfind(" (os error ") {
        text.truncate(number);
    }
    text
}

/// An error in the words of [`strerror`], or in its own where it has no number.
#[must_use]
pub fn reason(error: &io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.to_string(), strerror)
}

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
    fn errors_read_as_the_c_library_words_them() {
        assert_eq!(strerror(28), "No space left on device");
        assert_eq!(strerror(5), "Input/output error");
        assert_eq!(strerror(99_999), "Unknown error 99999");
    }

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
