//! Engines that do no I/O: `cpuio` keeps a CPU busy, `exec` runs a program, and the events of a load may be work without I/O. To the worker
//! loop they are one engine, whose requests are pieces of work that move nothing.
//!
//! A piece of work may take long, so the engine itself checks through a [`JobHandle`] whether its job has to end.
#![deny(unsafe_code)]

mod cpu;
mod division;
mod event;
mod load_resources;
mod memory;
mod mutex;
mod program;
mod session;

use std::time::Duration;

use ferrio_engine::{Buffers, Engine, EngineError, FileSet, Request, Submit};
use ferrio_job::{Diagnostic, EngineKind, JobSpec};
use ferrio_kernel::programs::ProgramGroup;

use cpu::CpuLoadGenerator;
use event::LoadEvent;
use program::RunningProgram;
use session::SessionEvent;

/// An engine's access to its job.
pub trait JobHandle {
    /// True once the job must end: its time is up, or a signal or another job ended it.
    fn is_over(&self) -> bool;
    /// Number of signals that asked for the end. After a second one, the engine must not wait for anything.
    fn signals(&self) -> u32;
    /// The process group for programs.
    fn program_group(&self) -> ProgramGroup;
    /// Ends the job, as its work is done.
    fn end_job(&self);
    /// Sends a note for the user.
    fn note(&self, diagnostic: Diagnostic);
}

/// A job that only its own work can end.
struct UnlimitedJob;

impl JobHandle for UnlimitedJob {
    fn is_over(&self) -> bool {
        false
    }

    fn signals(&self) -> u32 {
        0
    }

    fn program_group(&self) -> ProgramGroup {
        ProgramGroup::Own
    }

    fn end_job(&self) {}

    fn note(&self, _diagnostic: Diagnostic) {}
}

/// `ioengine=cpuio`, `ioengine=exec`
pub struct Work<'a> {
    job: Box<dyn JobHandle + 'a>,
    kind: WorkKind,
    notes: Vec<Diagnostic>,
}

enum WorkKind {
    CpuLoad(CpuLoadGenerator),
    Program(Box<RunningProgram>),
    LoadEvent(Box<LoadEvent>),
    Session(SessionEvent),
}

impl<'a> Work<'a> {
    /// The engine of `spec`, which stops working when `job` is over.
    #[must_use]
    pub fn new(spec: &JobSpec, job: Box<dyn JobHandle + 'a>) -> Self {
        if let Some(event) = spec.events.as_ref().and_then(|part| LoadEvent::new(part, spec.memory.huge_page))
        {
            return Work { job, kind: WorkKind::LoadEvent(Box::new(event)), notes: Vec::new() };
        }
        if let Some(session) = spec.events.as_ref().and_then(SessionEvent::new) {
            return Work { job, kind: WorkKind::Session(session), notes: Vec::new() };
        }
        let (kind, notes) = match spec.engine {
            EngineKind::Exec => {
                let program = RunningProgram::new(spec);
                let notes = program.notes();
                (WorkKind::Program(Box::new(program)), notes)
            }
            _ => (WorkKind::CpuLoad(CpuLoadGenerator::new(spec.engine_options.cpu)), vec![cpu::note(spec)]),
        };
        Work { job, kind, notes }
    }
}

impl Engine for Work<'_> {
    /// Opens the engine for a job that nothing ends early.
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(Work::new(spec, Box::new(UnlimitedJob)))
    }

    fn attach(&mut self, _files: &FileSet) -> Result<(), EngineError> {
        match &mut self.kind {
            WorkKind::CpuLoad(_) => Ok(()),
            WorkKind::LoadEvent(event) => event.prepare(),
            WorkKind::Session(session) => session.begin(),
            WorkKind::Program(program) => program.start(self.job.program_group()),
        }
    }

    fn submit(&mut self, request: &Request) -> Submit {
        match &mut self.kind {
            WorkKind::CpuLoad(cpu) => cpu.burn(&*self.job),
            WorkKind::Program(program) => program.watch(&*self.job),
            WorkKind::LoadEvent(event) => event.perform(&*self.job),
            WorkKind::Session(session) => {
                if let Err(errno) = session.perform(&*self.job) {
                    return Submit::Done(-i64::from(errno as i32));
                }
            }
        }
        Submit::Done(request.len.cast_signed())
    }

    fn think_time(&self) -> Option<Duration> {
        match &self.kind {
            WorkKind::CpuLoad(cpu) => Some(cpu.think_time()),
            WorkKind::Program(_) | WorkKind::LoadEvent(_) | WorkKind::Session(_) => None,
        }
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notes)
    }
}

impl Drop for Work<'_> {
    /// Ends a program that still runs.
    fn drop(&mut self) {
        if let WorkKind::Program(program) = &mut self.kind {
            program.end(&*self.job);
        }
    }
}

#[cfg(test)]
mod tests;
