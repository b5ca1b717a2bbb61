//! `io_submit_mode=offload`: runs any engine with one thread per I/O in flight.
//!
//! To the worker loop it is an asynchronous engine of depth iodepth. Each unit has a thread with its own instance of the engine at depth 1
//! and its own descriptors, so the thread of a free unit is always idle and nothing queues. Threads inherit CPUs, nice value and memory
//! policy from the thread that opens the engine, and are joined on drop.

mod pool_thread;

use std::io;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use ferrio_engine::{
    Buffers, Completion, Engine, EngineError, ExecutionTimes, FileSet, Interrupter, OpenFile, Request, Submit,
};
use ferrio_job::{Diagnostic, EngineKind, JobSpec, Optimisations};
use ferrio_stats::ThreadUsage;
use pool_thread::{FinishedIo, ThreadAnswer, ThreadCommand, ThreadTask};

/// Engine `E` in one thread per I/O in flight.
pub struct Offload<E> {
    threads: Vec<PoolThread>,
    answers: Receiver<Result<ThreadAnswer, EngineError>>,
    ended: Receiver<FinishedIo>,
    /// Indexed by unit: start and end of the last request.
    execution_times: Vec<(Instant, Instant)>,
    /// Indexed by unit: the device's details of the last failure.
    failure_details: Vec<Option<String>>,
    /// Time of the last reap.
    reaped: Instant,
    /// Requests accepted since the last flush.
    accepted: u32,
    /// True if the engine depends on the position of a descriptor, which threads must not share.
    seeks: bool,
    notes: Vec<Diagnostic>,
    notes_at_end: Vec<Diagnostic>,
    interrupters: Vec<Interrupter>,
    engine: PhantomData<fn() -> E>,
}

/// A thread and the channel to it.
struct PoolThread {
    /// `None` once the thread must end.
    commands: Option<SyncSender<ThreadCommand>>,
    thread: Option<JoinHandle<()>>,
}

impl<E> Offload<E> {
    fn send(&self, thread: usize, command: ThreadCommand) -> io::Result<()> {
        let commands = self.threads.get(thread).and_then(|thread| thread.commands.as_ref());
        commands.and_then(|commands| commands.send(command).ok()).ok_or_else(gone)
    }

    /// Waits until one thread answers `open` or `attach`.
    fn answer(&mut self) -> Result<(), EngineError> {
        let answer = self.answers.recv().map_err(|_| EngineError::new("offload", gone()))??;
        if self.notes.is_empty() {
            self.notes = answer.notes;
        }
        self.interrupters.extend(answer.interrupter);
        Ok(())
    }

    /// The descriptor for one thread.
    fn own(&self, file: &OpenFile) -> Result<OpenFile, EngineError> {
        let own = if self.seeks { file.reopened() } else { file.duplicated() };
        own.map_err(|e| {
            let hint =
                "each of the iodepth threads has its own file descriptors: raise ulimit -n or lower iodepth";
            EngineError::new("open", e).hint(hint)
        })
    }

    fn take(&mut self, ended: FinishedIo, done: &mut Vec<Completion>) {
        let unit = ended.completion.unit as usize;
        self.execution_times[unit] = (ended.began, ended.at);
        self.failure_details[unit] = ended.failure_details;
        done.push(ended.completion);
    }
}

/// The error if a thread has ended, which only a bug can cause.
fn gone() -> io::Error {
    io::Error::from_raw_os_error(libc::ESRCH)
}

// Every method must be forwarded: otherwise the trait's default would replace the engine's.
#[deny(clippy::missing_trait_methods)]
impl<E: Engine + 'static> Engine for Offload<E> {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        let depth = spec.depth.iodepth;
        let (answer_sender, answers) = sync_channel(depth as usize);
        let (ended_sender, ended) = sync_channel(depth as usize);
        let now = Instant::now();
        let mut offload = Offload {
            threads: Vec::with_capacity(depth as usize),
            answers,
            ended,
            execution_times: vec![(now, now); depth as usize],
            failure_details: vec![None; depth as usize],
            reaped: now,
            accepted: 0,
            seeks: matches!(spec.engine, EngineKind::Sync | EngineKind::Vsync),
            notes: Vec::new(),
            notes_at_end: Vec::new(),
            interrupters: Vec::new(),
            engine: PhantomData,
        };
        for number in 0..depth {
            // Room for the request in progress and one command.
            let (commands, inbox) = sync_channel(2);
            let own = pool_thread::alone(spec);
            let (answers, ended) = (answer_sender.clone(), ended_sender.clone());
            let thread = Builder::new()
                .name(format!("{}-{number}", spec.number))
                .spawn(move || pool_thread::serve::<E>(&own, &inbox, &answers, &ended))
                .map_err(|e| {
                    EngineError::new("pthread_create", e).hint(
                        "io_submit_mode=offload needs a thread for each of the iodepth I/Os: lower iodepth",
                    )
                })?;
            offload.threads.push(PoolThread { commands: Some(commands), thread: Some(thread) });
        }
        (0..depth).try_for_each(|_| offload.answer())?;
        Ok(offload)
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        for thread in 0..self.threads.len() {
            let files = files.files.iter().map(|file| self.own(file)).collect::<Result<_, _>>()?;
            let own = FileSet::new(files);
            self.send(thread, ThreadCommand::Attach(own)).map_err(|e| EngineError::new("offload", e))?;
            self.answer()?;
        }
        Ok(())
    }

    /// Engines with a peer are not offloaded.
    fn connect(&mut self, _stopped: &dyn Fn() -> bool) -> Result<(), EngineError> {
        Ok(())
    }

    fn lost_reads(&self) -> u64 {
        0
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        for thread in 0..self.threads.len() {
            let own = self.own(file)?;
            self.send(thread, ThreadCommand::AttachOne(index, own))
                .map_err(|e| EngineError::new("offload", e))?;
            self.answer()?;
        }
        Ok(())
    }

    /// Engines that operate on files are never offloaded, as they have no requests in flight.
    fn operate(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        let unsupported = io::Error::from_raw_os_error(libc::ENOTSUP);
        Err(EngineError::new(format!("operate({})", path.display()), unsupported))
    }

    fn submit(&mut self, request: &Request) -> Submit {
        match self.send(request.unit as usize, ThreadCommand::Run(ThreadTask(*request))) {
            Ok(()) => {
                self.accepted += 1;
                Submit::Queued
            }
            Err(_) => Submit::Done(-i64::from(libc::ESRCH)),
        }
    }

    fn is_full(&self) -> bool {
        false
    }

    fn flush(&mut self) -> io::Result<u32> {
        Ok(std::mem::take(&mut self.accepted))
    }

    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        for count in 0..max {
            let ended = if count < min {
                Some(self.ended.recv().map_err(|_| gone())?)
            } else {
                self.ended.try_recv().ok()
            };
            match ended {
                Some(ended) => self.take(ended, done),
                None => break,
            }
        }
        self.reaped = Instant::now();
        Ok(())
    }

    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        if let Ok(ended) = self.ended.recv_timeout(timeout) {
            self.take(ended, done);
            self.reap(0, max.saturating_sub(1), done)?;
        }
        Ok(true)
    }

    fn execution_times(&self, unit: u32) -> Option<ExecutionTimes> {
        let (began, ended) = self.execution_times[unit as usize];
        Some(ExecutionTimes { began_ago: self.reaped - began, ended_ago: self.reaped - ended })
    }

    fn failure_details(&self, unit: u32) -> Option<String> {
        self.failure_details[unit as usize].clone()
    }

    fn usage(&mut self) -> ThreadUsage {
        let mut sum = ThreadUsage::default();
        let asked = (0..self.threads.len())
            .filter(|&thread| self.send(thread, ThreadCommand::ThreadUsage).is_ok())
            .count();
        for _ in 0..asked {
            if let Ok(Ok(answer)) = self.answers.recv() {
                sum.merge(&answer.usage);
                // All threads report the same.
                if self.notes_at_end.is_empty() {
                    self.notes_at_end = answer.notes;
                }
            }
        }
        sum
    }

    fn think_time(&self) -> Option<Duration> {
        // Engines with their own think time are not offloaded.
        None
    }

    fn interrupter(&mut self) -> Option<Interrupter> {
        let all = std::mem::take(&mut self.interrupters);
        (!all.is_empty()).then(|| Interrupter(Box::new(move || all.iter().for_each(|one| (one.0)()))))
    }

    fn optimisations(&self) -> Optimisations {
        // Engines with rings, which register files and buffers, cannot be offloaded.
        Optimisations::NONE
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notes)
    }

    fn notes_at_end(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notes_at_end)
    }
}

impl<E> Drop for Offload<E> {
    /// Waits for requests in progress, which use the buffers.
    fn drop(&mut self) {
        self.threads.iter_mut().for_each(|thread| thread.commands = None);
        for thread in &mut self.threads {
            if let Some(thread) = thread.thread.take() {
                // The thread catches its own panics.
                let _ = thread.join();
            }
        }
    }
}

#[cfg(test)]
mod tests;
