//! The contract between the worker loop and an I/O engine, and what both share: requests, buffers, open files.
//!
//! The loop is generic over [`Engine`]: engines that people measure fast devices with have a copy of it, without dynamic dispatch per
//! I/O; all others share one. An engine is one small crate that implements the trait, and one line in the runner's registry.

pub mod buffers;
pub mod files;
pub mod futexes;
pub mod heap;
pub mod kernel;
pub mod prefetch;
pub mod programs;
pub mod ring;
pub mod sigbus;
mod sleep;
pub mod stdout;
pub mod sync_ops;
pub mod syscall;
#[cfg(feature = "testing")]
pub mod testing;
pub mod zones;

pub use buffers::{Buffers, KeptMemory, LentSlot, LockedMemory};
pub use files::{Descriptors, FileSet, OpenFile, SharedFiles};
pub use sleep::sleep;

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use ferrio_job::{Diagnostic, JobSpec, TuningUse};
use ferrio_stats::Usage;
use nix::errno::Errno;

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Read `len` bytes at `offset` into the buffer.
    Read,
    /// Write `len` bytes of the buffer at `offset`.
    Write,
    /// Discard the range.
    Trim,
    /// fsync(2)
    Fsync,
    /// fdatasync(2)
    Fdatasync,
    /// sync_file_range(2) over `offset`, `len` with these `SYNC_FILE_RANGE_*`, which are below 8.
    SyncFileRange(u8),
}

impl Op {
    /// What it is called in messages, and in I/O logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Fsync => "sync",
            Op::Fdatasync => "datasync",
            Op::SyncFileRange(_) => "sync_file_range",
        }
    }

    /// True for reads and writes.
    #[inline]
    #[must_use]
    pub const fn moves_data(self) -> bool {
        matches!(self, Op::Read | Op::Write)
    }
}

/// One I/O handed to an engine.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// Slot of the I/O, below iodepth; an engine returns it in the [`Completion`].
    pub unit: u32,
    /// Index into the [`FileSet`].
    pub file: u32,
    /// Bytes to move.
    pub len: u64,
    /// I/O priority as the kernel packs it. That of the job is what its thread has anyway.
    pub priority: u16,
    /// File offset in bytes.
    pub offset: u64,
    /// First byte of the data. Valid for `len` bytes from submission until the completion is reaped.
    pub buffer: *mut u8,
}

impl Request {
    /// Most bytes that one system call reads or writes; the kernel leaves the rest of a longer request undone.
    pub const MAX_TRANSFER: u32 = 0x7fff_f000;
}

// Every I/O makes one and queues keep copies of it: a field more has to be worth its cost.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Request>() == 40);

/// The end of one I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Slot given in the request.
    pub unit: u32,
    /// Bytes moved, or a negated errno.
    pub result: i64,
}

/// When a request ran, counted back from the end of the call that reaped it: for engines that run requests in threads of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Time since the call that did the I/O began.
    pub began_ago: Duration,
    /// Time since it ended.
    pub ended_ago: Duration,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submit {
    /// Completed in the call: bytes moved, or a negated errno.
    Done(i64),
    /// The engine owns it until it is reaped. It may still wait for [`Engine::flush`].
    Queued,
    /// Nothing happened: flush, reap at least one, try again. With nothing in flight an engine with a peer only says so after it has
    /// waited for the peer.
    Full,
}

/// Whether a job has to end, for engines that wait for somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It goes on.
    No,
    /// As soon as what is in flight is done.
    Soon,
    /// Whatever is in flight: it was asked twice.
    AtOnce,
}

/// The result of a request that found the end of what there is to do: the peer has ended the transfer. The job ends without an error.
pub const ENDED: i64 = i64::MIN;

/// Ends the requests in flight from another thread: for an engine whose requests wait for somebody else, who may never answer. It is
/// called for every signal that asks for the end; the first one may leave time for an orderly end. What it ends is [`ENDED`].
pub struct Interrupter(pub Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for Interrupter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupter")
    }
}

/// A failed set-up call: which one, the kernel's answer, and what the user can do about it.
#[derive(Debug, thiserror::Error)]
#[error("{func}: {source}{}", hint.as_deref().map(|h| format!(" ({h})")).unwrap_or_default())]
pub struct EngineError {
    /// The call that failed, in fio's `func=` words (`io_queue_init`, `mmap`, `open(FILE)`).
    pub func: String,
    /// The kernel's answer.
    #[source]
    pub source: io::Error,
    /// What to change.
    pub hint: Option<String>,
}

impl EngineError {
    /// An error of the call `func`.
    #[must_use]
    pub fn new(func: impl Into<String>, source: impl Into<io::Error>) -> Self {
        EngineError { func: func.into(), source: source.into(), hint: None }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        EngineError { hint: Some(hint.into()), ..self }
    }

    /// Adds what the user can do about this errno, if `hint` knows.
    #[must_use]
    pub fn hint_for(self, hint: impl FnOnce(i32) -> Option<&'static str>) -> Self {
        let hint = hint(self.errno()).map(str::to_owned);
        EngineError { hint, ..self }
    }

    /// The errno, EIO when the error is not one of the kernel's.
    #[must_use]
    pub fn errno(&self) -> i32 {
        self.source.raw_os_error().unwrap_or(libc::EIO)
    }
}

/// A way to do I/O. One value per worker, used by that worker's thread only.
pub trait Engine {
    /// Sets the engine up in the worker's thread. Files are not open yet.
    ///
    /// # Errors
    /// What the kernel refused, with the call's name.
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError>
    where
        Self: Sized;

    /// Called after the files were opened, and again whenever they were reopened for a further pass.
    ///
    /// # Errors
    /// What the kernel refused (registering, mapping), with the call's name.
    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError>;

    /// Called after one file was opened in the middle of a pass, and before one is closed, then without its descriptor. Nothing
    /// of that file is in flight; I/O of others may be.
    ///
    /// # Errors
    /// As for [`Engine::attach`]; an engine that does not say how to do this cannot.
    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        let _ = (index, file);
        Err(EngineError::new("attach", Errno::ENOTSUP).hint(
            "this engine needs all files of a job open from the start: remove openfiles and fsync_on_close",
        ))
    }

    /// What the engine measures, done to one file in place of opening it; the descriptor, if there is one then. Only for engines with
    /// [`ferrio_job::EngineKind::operates_on_files`].
    ///
    /// # Errors
    /// What the kernel refused, with the call and the path.
    fn operate(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        Err(EngineError::new(format!("operate({})", path.display()), Errno::ENOTSUP))
    }

    /// Called before each pass, the first one included, when all jobs of the wave are ready and the time of the pass has not begun: ends the
    /// connection to a peer and makes a new one. `stopped` says that the job has to end: then there is none.
    ///
    /// # Errors
    /// What the kernel or the peer refused, with the call's name.
    fn connect(&mut self, stopped: &dyn Fn() -> bool) -> Result<(), EngineError> {
        let _ = stopped;
        Ok(())
    }

    /// Reads that the peer sent and that never came.
    fn dropped(&self) -> u64 {
        0
    }

    /// Starts one request, or completes it at once.
    fn submit(&mut self, request: &Request) -> Submit;

    /// True when [`Engine::submit`] would answer [`Submit::Full`] until something is reaped. For engines that know beforehand and often:
    /// asking spares the loop a request that it has to submit again.
    #[inline]
    fn is_full(&self) -> bool {
        false
    }

    /// Hands queued requests to the kernel; returns how many it took since the last call (reaping may have handed some over).
    /// Engines that submit in [`Engine::submit`] return 0.
    ///
    /// # Errors
    /// An error of the submitting system call itself; those of single requests arrive as completions.
    fn flush(&mut self) -> io::Result<u32> {
        Ok(0)
    }

    /// Appends at least `min` completions to `done` (waiting for them), at most `max`, or all there are at once: `done` has room for
    /// what is in flight.
    ///
    /// # Errors
    /// An error of the waiting system call itself.
    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        debug_assert!(min == 0, "a synchronous engine has nothing to wait for");
        let _ = (max, done);
        Ok(())
    }

    /// When the request of unit `unit`, just reaped, ran; `None` when it ended as the loop saw it.
    #[inline]
    fn ran(&self, unit: u32) -> Option<Ran> {
        let _ = unit;
        None
    }

    /// What the device or the server said about the failure of the request of `unit`, the last one of this unit that completed.
    fn failure_details(&self, unit: u32) -> Option<String> {
        let _ = unit;
        None
    }

    /// What threads of the engine's own used so far.
    fn usage(&mut self) -> Usage {
        Usage::default()
    }

    /// Waits until a completion can be reaped, at most for `timeout`, and appends what is there, at most `max`: perhaps nothing.
    /// Flush first. False when the engine cannot wait like that: then nothing happened, and the caller has to poll.
    ///
    /// # Errors
    /// An error of the waiting system call itself.
    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        let _ = (timeout, max, done);
        Ok(false)
    }

    /// How long the job pauses after the last request; `None` when its options alone decide. Asked only in jobs that pause.
    fn pause(&self) -> Option<Duration> {
        None
    }

    /// Ends requests in flight, if the engine needs help with that; called once after `open`.
    fn interrupter(&mut self) -> Option<Interrupter> {
        None
    }

    /// What the engine does because of `tuning=lean`, once files are attached.
    fn tuning_use(&self) -> TuningUse {
        TuningUse::NONE
    }

    /// What the user should know (fallbacks taken); called once after `attach`.
    fn notes(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// What the user should know about the requests of the job; called once after the last of them.
    fn notes_at_end(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
