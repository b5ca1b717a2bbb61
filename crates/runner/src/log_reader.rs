//! `read_iolog_chunked`: a thread that reads a log while the job replays it.
//!
//! It keeps a bounded number of steps ready, and pauses while the job has not used them. The planner has read the whole log before and
//! knows its files and longest I/Os; a log that has changed since then must not need more files or longer I/Os.

use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use ferrio_job::{ChunkedLog, JobSpec, Replay, ReplayStep, ReplaySteps};
use ferrio_machine::RetryInterrupted;
use ferrio_trace::{DeviceNodes, FilePart, StepError, StepReader};
use ferrio_workload::{StepReceiver, StepSender, step_channel};

use crate::control::JobControl;
use crate::failure::Failure;

/// Number of batches of steps between the reader and the job.
const BATCHES: usize = 8;
/// Number of steps in a batch: 192 KiB.
const STEPS: usize = 8192;

/// The thread that reads the log of one job.
#[derive(Debug)]
pub(crate) struct LogReader {
    thread: JoinHandle<Result<(), Failure>>,
    feed: Option<StepReceiver>,
}

impl LogReader {
    /// Starts the reader of a job whose log is not in memory. Called before the worker is placed: the reader is to run beside it, not on
    /// its CPUs.
    pub(crate) fn start(spec: &JobSpec) -> Result<Option<Self>, Failure> {
        let Some(replay) = &spec.replay else { return Ok(None) };
        let ReplaySteps::Chunked(_) = &replay.steps else { return Ok(None) };
        let (feed, sender) = step_channel(BATCHES, STEPS);
        let replay = Arc::clone(replay);
        let thread = Builder::new().name("replay-log".to_owned()).spawn(move || match &replay.steps {
            ReplaySteps::Chunked(log) => read(&replay, log, &sender),
            ReplaySteps::Loaded(_) => Ok(()),
        });
        let thread = thread.map_err(|error| Failure::from_io(&error, "pthread_create"))?;
        Ok(Some(LogReader { thread, feed: Some(feed) }))
    }

    /// The job's end of the channel, with its first steps unless the job is stopped before they are read.
    pub(crate) fn take_feed(&mut self, control: &JobControl) -> Option<StepReceiver> {
        let mut feed = self.feed.take()?;
        feed.wait(|| control.stop_requested());
        Some(feed)
    }

    /// Waits for the end of the thread, which has read everything or failed.
    pub(crate) fn end(self) -> Result<(), Failure> {
        self.thread.join().unwrap_or_else(|_| Err(Failure::new(libc::EFAULT, "replay-log")))
    }
}

fn read(replay: &Replay, log: &ChunkedLog, sender: &StepSender) -> Result<(), Failure> {
    let part = RetryInterrupted(FilePart::new(Arc::clone(&log.file), log.bytes.clone()));
    let failure = |error: StepError| log_failure(replay, &error.to_string());
    let mut reader = StepReader::new(part, log.rules.clone(), DeviceNodes::Known(log.devices.clone()))
        .map_err(|error| failure(error.into()))?;
    while let Some(mut batch) = sender.batch() {
        let goes_on = fill(&mut batch, &mut reader).map_err(failure)?;
        if !reader.summary().fits_in(&replay.summary) {
            return Err(log_failure(replay, "the log has changed since the run was planned"));
        }
        if !sender.send(batch) || !goes_on {
            break;
        }
    }
    Ok(())
}

/// Fills a batch with the next steps. False at the end of the log. Errors in single lines have been reported by the planner.
fn fill(
    batch: &mut Vec<ReplayStep>,
    reader: &mut StepReader<RetryInterrupted<FilePart>>,
) -> Result<bool, StepError> {
    while batch.len() < STEPS {
        match reader.next_step() {
            Ok(Some(step)) => batch.push(step),
            Ok(None) => return Ok(false),
            Err(StepError::Skipped { .. } | StepError::LeftOut { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

/// The failure of a job whose log cannot be replayed.
fn log_failure(replay: &Replay, why: &str) -> Failure {
    let line = format!("{}: {why}", replay.name);
    Failure::new(libc::EINVAL, "read_iolog").note("iolog-not-read", line)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::fs::File;
    use std::io::Write as _;

    use ferrio_job::{ReplayRules, ReplaySummary};

    use super::*;

    /// A job that replays `log`, of which the planner saw `planned`.
    fn job(log: &str, planned: &str) -> JobSpec {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(log.as_bytes()).unwrap();
        let steps = ReplaySteps::Chunked(ChunkedLog {
            file: Arc::new(file),
            bytes: 0..log.len() as u64,
            rules: ReplayRules::default(),
            devices: HashMap::new(),
        });
        let summary = summary(planned);
        let replay = Some(Arc::new(Replay { name: "log".to_owned(), summary, steps }));
        JobSpec { replay, ..JobSpec::default() }
    }

    fn summary(log: &str) -> ReplaySummary {
        let mut reader =
            StepReader::new(log.as_bytes(), ReplayRules::default(), DeviceNodes::Known(HashMap::new()))
                .unwrap();
        while let Ok(Some(_)) = reader.next_step() {}
        reader.finish().unwrap()
    }

    fn log(len: u32, ios: u32) -> String {
        let lines: String = (0..ios).map(|at| format!("d read {} {len}\n", at * 512)).collect();
        format!("fio version 2 iolog\nd add\nd open\n{lines}")
    }

    #[test]
    fn a_job_whose_log_is_in_memory_needs_no_reader() {
        let spec = JobSpec { replay: Some(Arc::new(Replay::default())), ..JobSpec::default() };
        assert!(LogReader::start(&spec).unwrap().is_none());
        assert!(LogReader::start(&JobSpec::default()).unwrap().is_none());
    }

    #[test]
    fn a_job_that_ends_early_ends_its_reader() {
        let text = log(512, (BATCHES * STEPS * 2) as u32);
        let mut reader = LogReader::start(&job(&text, &text)).unwrap().unwrap();
        drop(reader.take_feed(&JobControl::default()));
        reader.end().unwrap();
    }

    #[test]
    fn a_log_that_asks_for_more_than_was_planned_is_refused() {
        for (text, planned) in
            [(log(4096, 3), log(512, 3)), (log(512, 3).replace("\nd ", "\ne "), log(512, 3))]
        {
            let reader = LogReader::start(&job(&text, &planned)).unwrap().unwrap();
            let failure = reader.end().unwrap_err();
            assert_eq!(failure.notes[0].message, "log: the log has changed since the run was planned");
        }
    }

    #[test]
    fn a_log_that_cannot_be_read_any_more_fails() {
        let mut spec = job(&log(512, 1), &log(512, 1));
        let file = Arc::new(File::open("/").unwrap());
        if let ReplaySteps::Chunked(log) = &mut Arc::get_mut(spec.replay.as_mut().unwrap()).unwrap().steps {
            log.file = file;
        }
        let failure = LogReader::start(&spec).unwrap().unwrap().end().unwrap_err();
        assert!(failure.notes[0].message.contains("Is a directory"), "{:?}", failure.notes);
    }
}
