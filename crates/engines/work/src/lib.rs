//! The engines that do no I/O: `cpuio` keeps a CPU busy, `exec` runs a program, and the events of a load may be work without I/O. To the loop of a worker they are one engine, whose
//! requests are pieces of work that move nothing.
//!
//! A piece of work may take long, so the engine itself looks whether its job is to end, which it learns from a [`JobHandle`].
#![deny(unsafe_code)]

mod cpu;
mod division;
mod event;
mod memory;
mod mutex;
mod program;
mod shared;

use std::time::Duration;

use ferrio_engine::{Buffers, Engine, EngineError, FileSet, OpenFile, Request, Submit};
use ferrio_job::{Diagnostic, EngineKind, JobSpec};
use ferrio_kernel::programs::ProgramGroup;

use cpu::Cpu;
use event::Event;
use program::RunningProgram;

/// The job that an engine works for.
pub trait JobHandle {
    /// True once the job must end: its time is up, or a signal or another job ended it.
    fn is_over(&self) -> bool;
    /// How many signals asked for the end: a second one is not to wait for anything.
    fn signals(&self) -> u32;
    /// Where programs run.
    fn program_group(&self) -> ProgramGroup;
    /// The work is done: the job ends.
    fn done(&self);
    /// Sends something that the user should know.
    fn note(&self, diagnostic: Diagnostic);
}

/// A job that nothing ends.
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

    fn done(&self) {}

    fn note(&self, _diagnostic: Diagnostic) {}
}

/// `ioengine=cpuio`, `ioengine=exec`
pub struct Work<'a> {
    duty: Box<dyn JobHandle + 'a>,
    kind: Kind,
    notes: Vec<Diagnostic>,
}

enum Kind {
    Cpu(Cpu),
    Program(Box<RunningProgram>),
    Event(Box<Event>),
}

impl<'a> Work<'a> {
    /// The engine of `spec`, which ends its work when `duty` is over.
    #[must_use]
    pub fn new(spec: &JobSpec, duty: Box<dyn JobHandle + 'a>) -> Self {
        if let Some(event) = spec.events.as_ref().and_then(|part| Event::new(part, spec.memory.huge_page)) {
            return Work { duty, kind: Kind::Event(Box::new(event)), notes: Vec::new() };
        }
        let (kind, notes) = match spec.engine {
            EngineKind::Exec => {
                let program = RunningProgram::new(spec);
                let notes = program.notes();
                (Kind::Program(Box::new(program)), notes)
            }
            _ => (Kind::Cpu(Cpu::new(spec.engine_options.cpu)), vec![cpu::note(spec)]),
        };
        Work { duty, kind, notes }
    }
}

impl Engine for Work<'_> {
    /// Without a job that could end it early.
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        Ok(Work::new(spec, Box::new(UnlimitedJob)))
    }

    fn attach(&mut self, _files: &FileSet) -> Result<(), EngineError> {
        match &mut self.kind {
            Kind::Cpu(_) => Ok(()),
            Kind::Event(event) => event.prepare(),
            Kind::Program(program) => program.start(self.duty.program_group()),
        }
    }

    fn attach_one(&mut self, _index: usize, _file: &OpenFile) -> Result<(), EngineError> {
        Ok(())
    }

    fn submit(&mut self, request: &Request) -> Submit {
        match &mut self.kind {
            Kind::Cpu(cpu) => cpu.burn(&*self.duty),
            Kind::Program(program) => program.look(&*self.duty),
            Kind::Event(event) => event.perform(&*self.duty),
        }
        Submit::Done(request.len.cast_signed())
    }

    fn pause(&self) -> Option<Duration> {
        match &self.kind {
            Kind::Cpu(cpu) => Some(cpu.pause()),
            Kind::Program(_) | Kind::Event(_) => None,
        }
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notes)
    }
}

impl Drop for Work<'_> {
    /// A program that still runs is ended.
    fn drop(&mut self) {
        if let Kind::Program(program) = &mut self.kind {
            program.end(&*self.duty);
        }
    }
}

#[cfg(test)]
mod tests;
