//! The stream of `--interval-report`, written while the jobs run.
//!
//! All lines of an interval are one write, so that readers of the file or pipe see whole lines only.

use std::fs::{self, File};
use std::io::{self, Stderr, Stdout, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use ferrio_job::{Diagnostic, Origin, Plan, reason};
use ferrio_machine::{close_file, create_file};
use ferrio_report::IntervalReport;
use ferrio_results::RunResult;
use nix::errno::Errno;

use super::{Watcher, WatcherFindings};
use crate::error::Error;
use crate::escaped_stream::{self, EscapedStream};
use crate::option_values::{Intervals, IntervalsTo};
use crate::output::Output;

/// The interval report and its stream.
pub struct IntervalStream {
    report: IntervalReport,
    every: Duration,
    /// File name, `standard output` or `standard error`.
    name: String,
    /// `None` once a write has failed, or all is written.
    stream: Option<LineStream>,
}

enum LineStream {
    StandardOutput(EscapedStream<Stdout>),
    StandardError(EscapedStream<Stderr>),
    File(EscapedStream<File>),
}

impl LineStream {
    fn write_all(&mut self, lines: &[u8]) -> io::Result<()> {
        let out: &mut dyn Write = match self {
            LineStream::StandardOutput(out) => out,
            LineStream::StandardError(out) => out,
            LineStream::File(out) => out,
        };
        out.write_all(lines).and_then(|()| out.flush())
    }
}

impl Intervals {
    /// Checks that the lines can go where they are meant to, before any file is created or truncated.
    ///
    /// # Errors
    /// The directory of their file is missing, or the file is a directory.
    pub fn check_path(&self) -> Result<(), Error> {
        let Some(name) = self.file() else { return Ok(()) };
        let path = Path::new(name);
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let error = match parent.map(fs::metadata) {
            _ if path.is_dir() => io::Error::from_raw_os_error(Errno::EISDIR as i32),
            Some(Err(error)) => error,
            Some(Ok(parent)) if !parent.is_dir() => io::Error::from_raw_os_error(Errno::ENOTDIR as i32),
            _ => return Ok(()),
        };
        Err(Error::OpenIntervals { name: name.to_owned(), error })
    }
}

impl IntervalStream {
    /// Opens the stream after [`Intervals::check_path`]; a file is truncated.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn open(wanted: &Intervals) -> Result<Self, Error> {
        let (name, stream): (&str, _) = match &wanted.to {
            IntervalsTo::StandardOutput => {
                ("standard output", LineStream::StandardOutput(escaped_stream::stdout()))
            }
            IntervalsTo::StandardError => {
                ("standard error", LineStream::StandardError(escaped_stream::stderr()))
            }
            IntervalsTo::File(name) => {
                let file =
                    create_file(name).map_err(|error| Error::OpenIntervals { name: name.clone(), error })?;
                (name, LineStream::File(EscapedStream::new(file)))
            }
        };
        Ok(IntervalStream {
            report: IntervalReport::new(),
            every: wanted.every,
            name: name.to_owned(),
            stream: Some(stream),
        })
    }

    /// Writes the lines of the interval that ends with `result`. A write that fails ends the interval report and returns the error.
    fn write(&mut self, plan: &Plan, result: &RunResult) -> Option<Diagnostic> {
        let lines = self.report.lines(plan, result, SystemTime::now());
        self.write_lines(&lines)
    }

    fn write_lines(&mut self, lines: &[u8]) -> Option<Diagnostic> {
        let error = self.stream.as_mut()?.write_all(lines).err()?;
        self.stream = None;
        Some(self.failure(&error, "; the run goes on without it"))
    }

    /// Writes the lines of an interval of a run on many hosts.
    pub fn show_lines(&mut self, lines: &[u8], output: &mut Output) {
        output.clear_live_line();
        report_loss(self.write_lines(lines), output);
    }

    /// Closes the stream of a run on many hosts.
    pub fn end(mut self, output: &mut Output) {
        report_loss(self.close(), output);
    }

    /// Closes the file after the last interval: a network file system may tell only then that it has no room. Returns the error.
    fn close(&mut self) -> Option<Diagnostic> {
        let LineStream::File(file) = self.stream.take()? else { return None };
        let error = close_file(file.into_inner()).err()?;
        Some(self.failure(&error, ""))
    }

    fn failure(&self, error: &io::Error, and: &str) -> Diagnostic {
        let message = format!("cannot write the interval report to {}: {}{and}", self.name, reason(error));
        Diagnostic::error(message, Origin::Builtin).code("output-error")
    }
}

/// Reports that lines are missing.
fn report_loss(error: Option<Diagnostic>, output: &mut Output) {
    if let Some(error) = error {
        output.lose_file();
        output.message(&error);
    }
}

impl Watcher for IntervalStream {
    fn interval(&self) -> Duration {
        self.every
    }

    fn observe(&mut self, plan: &Plan, result: &RunResult, output: &mut Output) {
        output.clear_live_line();
        report_loss(self.write(plan, result), output);
    }

    fn finish(
        mut self: Box<Self>,
        plan: &Plan,
        result: &RunResult,
        output: &mut Output,
        _: &mut WatcherFindings,
    ) {
        self.observe(plan, result, output);
        report_loss(self.close(), output);
    }
}

#[cfg(test)]
mod tests {
    use ferrio_plan::testing::{default_job, plan};
    use ferrio_results::{JobError, JobResult};

    use super::*;

    /// A run of one job that failed.
    fn run() -> (Plan, RunResult) {
        let job = JobResult { error: Some(JobError::new(5, "io_u error")), ..JobResult::default() };
        let result = RunResult { jobs: vec![job], elapsed: Duration::from_millis(7), ..RunResult::default() };
        (plan([default_job("a")]), result)
    }

    fn to(name: &str) -> Intervals {
        Intervals { every: Duration::from_secs(1), to: IntervalsTo::File(name.to_owned()) }
    }

    #[test]
    fn a_file_that_cannot_be_created_is_detected_without_creating_one() {
        let dir = tempfile::tempdir().unwrap();
        let name = |name: &str| to(&dir.path().join(name).display().to_string());
        fs::write(dir.path().join("plain"), "").unwrap();
        assert!(name("new").check_path().is_ok() && name("plain").check_path().is_ok());
        assert!(to("new").check_path().is_ok() && !dir.path().join("new").exists());
        for (wrong, why) in
            [("", "Is a directory"), ("away/x", "No such file"), ("plain/x", "Not a directory")]
        {
            let error = name(wrong).check_path().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_failed_write_is_reported_once_and_ends_the_interval_report() {
        let (plan, result) = run();
        let mut stream = IntervalStream::open(&to("/dev/full")).unwrap();
        let error = stream.write(&plan, &result).unwrap();
        let wanted = "cannot write the interval report to /dev/full: No space left on device; the run goes on without it";
        assert_eq!((error.message.as_str(), error.code), (wanted, "output-error"));
        assert!(stream.write(&plan, &result).is_none() && stream.close().is_none());
    }

    #[test]
    fn a_file_has_the_lines_at_once_and_nothing_of_earlier_runs() {
        let (plan, result) = run();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x").display().to_string();
        fs::write(&file, "of an earlier run\n").unwrap();
        let mut stream = IntervalStream::open(&to(&file)).unwrap();
        assert_eq!(stream.write(&plan, &result), None);
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with(r#"{"version":1,"interval":1,"time_ms":7,"#) && text.ends_with("}\n"),
            "{text}"
        );
    }

    #[test]
    fn a_file_that_cannot_be_created_is_reported_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("away/x").display().to_string();
        let error = IntervalStream::open(&to(&file)).err().unwrap().to_string();
        assert_eq!(error, format!("cannot create the interval report {file}: No such file or directory"));
    }
}
