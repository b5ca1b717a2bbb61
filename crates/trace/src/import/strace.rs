//! The output of strace: the reads, writes and syncs of an application with their files and offsets.
//!
//! A system call names a descriptor, and often no offset. So [`processes`] tracks the descriptors, file offsets and working directories of
//! all processes, and [`files`] the paths and sizes of files. [`line`] splits lines, and [`arguments`] the arguments of a call. [`calls`]
//! knows the effects of calls; [`descriptors`] has those on descriptors and paths, [`transfers`] reads, writes and syncs.

mod arguments;
mod calls;
mod descriptors;
mod files;
mod line;
mod processes;
mod transfers;

use super::event::{LineError, SkipReason, TraceContents};
use line::{LineContent, StraceClock};
use processes::{LineContext, Processes, UnfinishedCall};

/// Longest beginning of a call that is kept until its end appears.
const MAX_CALL_BYTES: usize = 1 << 20;

/// Reads the output of strace, best with `-f -tt -T`.
#[derive(Debug, Default)]
pub struct Strace {
    clock: StraceClock,
    processes: Processes,
    /// The process whose line a message of strace interrupted.
    interrupted: Option<u32>,
}

impl Strace {
    /// Reads a line.
    ///
    /// # Errors
    /// The line is not from strace.
    pub fn line(&mut self, text: &[u8], found: &mut TraceContents) -> Result<(), LineError> {
        let line = line::parse(text)?;
        let time_ns = self.clock.time(&line, found).ok_or("its time is out of range")?;
        let pid = self.processes.of_line(line.pid);
        match line.body {
            LineContent::Other => {}
            LineContent::Attached(child) => self.processes.attached(child),
            LineContent::Exit => self.processes.exit(&mut LineContext { pid, time_ns, found }),
            LineContent::Begin { call, child } => {
                if call.len() <= MAX_CALL_BYTES {
                    self.processes.begin(pid, UnfinishedCall { text: call.to_vec(), time_ns, child: None });
                    if let Some(child) = child {
                        self.processes.attached(child);
                        self.interrupted = Some(pid);
                    }
                }
            }
            LineContent::Rest(rest) => {
                let interrupted = self.interrupted.take().and_then(|pid| self.processes.end(pid));
                let Some(mut call) = interrupted else {
                    return Err("it has no system call".into());
                };
                // Only calls that create processes are interrupted in this way, and these are already known.
                call.text.extend_from_slice(rest);
                line::split_call(&call.text).ok_or("it does not end the call that was interrupted")?;
                found.skip(SkipReason::OtherCall);
            }
            LineContent::End { name, rest, took_ns } => match self.processes.end(pid) {
                Some(mut call) if call.text.starts_with(name) => {
                    call.text.extend_from_slice(rest);
                    let began = call.time_ns;
                    let Some(parts) = line::split_call(&call.text) else {
                        return Err("it does not end the call that the process began".into());
                    };
                    let took_ns = took_ns.or_else(|| time_ns.checked_sub(began));
                    let line = LineContext { pid, time_ns: began, found };
                    calls::apply(&mut self.processes, line, &parts, took_ns);
                }
                _ => found.skip(SkipReason::Cut),
            },
            LineContent::Call(call, took_ns) => {
                let parts = line::split_call(call).ok_or("it is no system call with a result")?;
                calls::apply(&mut self.processes, LineContext { pid, time_ns, found }, &parts, took_ns);
            }
        }
        Ok(())
    }

    /// Counts the calls that have not ended, after the last line.
    pub fn finish(&self, found: &mut TraceContents) {
        for _ in 0..self.processes.unfinished() {
            found.skip(SkipReason::Cut);
        }
    }
}

#[cfg(test)]
mod tests;
