//! Turns a log or block trace into the steps of its replay, as the `replay_*` options modify them.

use std::collections::HashMap;
use std::io::{BufReader, Chain, Cursor, Read};
use std::path::PathBuf;

use ferrio_job::{ReplayRules, ReplayStep, ReplaySummary};

use crate::block_trace::TraceSteps;
use crate::step_builder::StepBuilder;
use crate::step_error::{EntryProblem, StepError};
use crate::{DeviceNodes, DeviceNumber, IologReadError, IologReader, TraceReader, is_block_trace};

/// Bytes that distinguish block traces from logs.
const MAGIC_BYTES: usize = 4;

/// Bytes of a block trace that are read at once.
const BUFFER_BYTES: usize = 1 << 16;

/// Reads the steps of a log or block trace.
#[derive(Debug)]
pub struct StepReader<R>(StepSource<R>);

#[derive(Debug)]
enum StepSource<R> {
    Log(Box<LogSteps<R>>),
    Trace(Box<TraceSteps<BufReader<SourceFromStart<R>>>>),
}

/// A source whose first bytes were already read.
type SourceFromStart<R> = Chain<Cursor<Vec<u8>>, R>;

/// Reads the steps of a log.
#[derive(Debug)]
struct LogSteps<R> {
    reader: IologReader<SourceFromStart<R>>,
    steps: StepBuilder,
}

impl<R: Read> StepReader<R> {
    /// Reads the first bytes, which distinguish traces from logs. `nodes` has the files of the devices of a trace.
    ///
    /// # Errors
    /// They are those of neither.
    pub fn new(mut source: R, rules: ReplayRules, nodes: DeviceNodes) -> Result<Self, IologReadError> {
        let mut first = Vec::with_capacity(MAGIC_BYTES);
        source.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut first)?;
        let is_trace = is_block_trace(&first);
        let source = Cursor::new(first).chain(source);
        Ok(StepReader(if is_trace {
            let trace = TraceReader::new(BufReader::with_capacity(BUFFER_BYTES, source))
                .map_err(IologReadError::Trace)?;
            StepSource::Trace(Box::new(TraceSteps::new(trace, rules, nodes)))
        } else {
            let (reader, steps) = (IologReader::new(source)?, StepBuilder::new(rules));
            StepSource::Log(Box::new(LogSteps { reader, steps }))
        }))
    }

    /// The next step; `None` at the end. Reading can continue after a line or record that is skipped.
    ///
    /// # Errors
    /// A line or record is skipped, or the log cannot be replayed or read.
    pub fn next_step(&mut self) -> Result<Option<ReplayStep>, StepError> {
        match &mut self.0 {
            StepSource::Log(log) => log.next_step(),
            StepSource::Trace(trace) => trace.next_step(),
        }
    }

    /// The summary of the log as far as it was read.
    pub fn summary(&self) -> &ReplaySummary {
        match &self.0 {
            StepSource::Log(log) => log.steps.summary(),
            StepSource::Trace(trace) => trace.summary(),
        }
    }

    fn trace(&self) -> Option<&TraceSteps<BufReader<SourceFromStart<R>>>> {
        match &self.0 {
            StepSource::Log(_) => None,
            StepSource::Trace(trace) => Some(trace),
        }
    }

    /// Whether it is a block trace, whose entries are records. Those of a log are lines.
    pub fn is_trace(&self) -> bool {
        self.trace().is_some()
    }

    /// The files of the devices that a block trace has had so far, for a second reading of it.
    pub fn devices(&self) -> HashMap<DeviceNumber, PathBuf> {
        self.trace().map(TraceSteps::devices).unwrap_or_default()
    }

    /// Remarks on the replay, at the end of a block trace.
    pub fn notes(&self) -> Vec<String> {
        self.trace().map(TraceSteps::notes).unwrap_or_default()
    }

    /// Number of changing requests that `--readonly` leaves out, at the end of a block trace.
    pub fn changes_left_out(&self) -> u64 {
        self.trace().map_or(0, TraceSteps::changes_left_out)
    }

    /// The summary of the whole log, at its end; `None` if the log does nothing.
    pub fn finish(self) -> Option<ReplaySummary> {
        match self.0 {
            StepSource::Log(log) => log.steps.finish(),
            StepSource::Trace(trace) => trace.finish(),
        }
    }
}

impl<R: Read> LogSteps<R> {
    fn next_step(&mut self) -> Result<Option<ReplayStep>, StepError> {
        loop {
            let added = match self.reader.next_entry()? {
                None => return Ok(None),
                Some(Ok(line)) => self.steps.add(&line),
                Some(Err(bad)) => Err(EntryProblem::Skipped(bad.to_string())),
            };
            match added {
                Ok(None) => {}
                Ok(step) => return Ok(step),
                Err(problem) => return Err(problem.in_line(self.reader.line_number())),
            }
        }
    }
}

#[cfg(test)]
mod tests;
