//! From a log or block trace to the steps of its replay, as the `replay_*` options change them.

use std::collections::HashMap;
use std::io::{BufReader, Chain, Cursor, Read};
use std::path::PathBuf;

use ferrio_job::{ReplayRules, ReplayStep, ReplaySummary};

use crate::block_trace::TraceSteps;
use crate::step_builder::StepBuilder;
use crate::step_error::{Problem, StepError};
use crate::{DeviceNodes, DeviceNumber, ReadError, Reader, TraceReader, is_block_trace};

/// Bytes that tell block traces from logs.
const BEGIN: usize = 4;

/// Bytes of a block trace that are read at once.
const BUFFER: usize = 1 << 16;

/// Reads the steps of a log or of a block trace, one after the other.
#[derive(Debug)]
pub struct StepReader<R>(Steps<R>);

#[derive(Debug)]
enum Steps<R> {
    Log(Box<LogSteps<R>>),
    Trace(Box<TraceSteps<BufReader<Begun<R>>>>),
}

/// A source of which the first bytes are read already.
type Begun<R> = Chain<Cursor<Vec<u8>>, R>;

/// Reads the steps of a log.
#[derive(Debug)]
struct LogSteps<R> {
    reader: Reader<Begun<R>>,
    steps: StepBuilder,
}

impl<R: Read> StepReader<R> {
    /// Begins with the first bytes, which tell traces from logs. `nodes` has the files of the devices of a trace.
    ///
    /// # Errors
    /// They are those of neither.
    pub fn new(mut source: R, rules: ReplayRules, nodes: DeviceNodes) -> Result<Self, ReadError> {
        let mut first = Vec::with_capacity(BEGIN);
        source.by_ref().take(BEGIN as u64).read_to_end(&mut first)?;
        let is_trace = is_block_trace(&first);
        let source = Cursor::new(first).chain(source);
        Ok(StepReader(if is_trace {
            let trace =
                TraceReader::new(BufReader::with_capacity(BUFFER, source)).map_err(ReadError::Trace)?;
            Steps::Trace(Box::new(TraceSteps::new(trace, rules, nodes)))
        } else {
            let (reader, steps) = (Reader::new(source)?, StepBuilder::new(rules));
            Steps::Log(Box::new(LogSteps { reader, steps }))
        }))
    }

    /// The next step; `None` at the end. After a line or record that is skipped the log goes on.
    ///
    /// # Errors
    /// A line or record is skipped, or the log cannot be replayed or read.
    pub fn next_step(&mut self) -> Result<Option<ReplayStep>, StepError> {
        match &mut self.0 {
            Steps::Log(log) => log.next_step(),
            Steps::Trace(trace) => trace.next_step(),
        }
    }

    /// What is known of the log as far as it is read.
    pub fn summary(&self) -> &ReplaySummary {
        match &self.0 {
            Steps::Log(log) => log.steps.summary(),
            Steps::Trace(trace) => trace.summary(),
        }
    }

    /// True for a block trace, whose entries are records. Those of a log are lines.
    pub fn is_trace(&self) -> bool {
        matches!(self.0, Steps::Trace(_))
    }

    /// The files of the devices that a block trace has had so far, for a second reading of it.
    pub fn devices(&self) -> HashMap<DeviceNumber, PathBuf> {
        match &self.0 {
            Steps::Log(_) => HashMap::new(),
            Steps::Trace(trace) => trace.devices(),
        }
    }

    /// At the end of a block trace: what to know about its replay.
    pub fn notes(&self) -> Vec<String> {
        match &self.0 {
            Steps::Log(_) => Vec::new(),
            Steps::Trace(trace) => trace.notes(),
        }
    }

    /// At the end of a block trace: how many requests that change data are left out because of `--readonly`.
    pub fn changes_left_out(&self) -> u64 {
        match &self.0 {
            Steps::Log(_) => 0,
            Steps::Trace(trace) => trace.changes_left_out(),
        }
    }

    /// What is known of the whole log, at its end; `None` if the log does nothing.
    pub fn finish(self) -> Option<ReplaySummary> {
        match self.0 {
            Steps::Log(log) => log.steps.finish(),
            Steps::Trace(trace) => trace.finish(),
        }
    }
}

impl<R: Read> LogSteps<R> {
    fn next_step(&mut self) -> Result<Option<ReplayStep>, StepError> {
        loop {
            let added = match self.reader.next_entry()? {
                None => return Ok(None),
                Some(Ok(line)) => self.steps.add(&line),
                Some(Err(bad)) => Err(Problem::Skipped(bad.to_string())),
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
