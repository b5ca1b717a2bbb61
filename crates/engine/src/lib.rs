//! The contract between the worker loop and an I/O engine, and the types that both use: requests, buffers, open files.
//!
//! The loop is generic over [`Engine`]. Engines that fast devices are measured with get a copy of the loop without dynamic dispatch per
//! I/O; all others share one. An engine is a small crate that implements the trait, and one line in the runner's registry.

pub mod buffers;
pub mod files;
pub mod prefetch;
pub mod ring;
pub mod sync_ops;
#[cfg(feature = "testing")]
pub mod testing;
pub mod zones;

pub use buffers::{BufferMemory, Buffers, LentSlot, LockedMemory};
pub use files::{Descriptors, FileSet, OpenFile, SharedFiles};

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use ferrio_job::{Diagnostic, JobSpec, Optimisations};
use ferrio_stats::ThreadUsage;
use nix::errno::Errno;

/// The operation of a request.
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
    /// sync_file_range(2) over `offset`, `len` with these `SYNC_FILE_RANGE_*` flags, which are below 8.
    SyncFileRange(u8),
}

impl Op {
    /// The name in messages and in I/O logs.
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
    /// The operation.
    pub op: Op,
    /// Slot of the I/O, below iodepth; an engine returns it in the [`Completion`].
    pub unit: u32,
    /// Index into the [`FileSet`].
    pub file: u32,
    /// Length in bytes.
    pub len: u64,
    /// I/O priority in the kernel's format. Equal to the thread's own priority if it is the job's.
    pub priority: u16,
    /// File offset in bytes.
    pub offset: u64,
    /// First byte of the data. Valid for `len` bytes from submission until the completion is reaped.
    pub buffer: *mut u8,
}

impl Request {
    /// Most bytes that one system call reads or writes; the kernel does not process the rest of a longer request.
    pub const MAX_TRANSFER: u32 = 0x7fff_f000;
}

// Every I/O makes one and queues keep copies: an additional field has to be worth its cost.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Request>() == 40);

/// The result of one I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Slot given in the request.
    pub unit: u32,
    /// Bytes moved, or a negated errno.
    pub result: i64,
}

/// When a request ran, relative to the end of the call that reaped it: for engines that run requests in their own threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionTimes {
    /// Time since the start of the call that did the I/O.
    pub began_ago: Duration,
    /// Time since the end of that call.
    pub ended_ago: Duration,
}

/// The immediate result of submitting a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submit {
    /// The request completed in the call: bytes moved, or a negated errno.
    Done(i64),
    /// The engine owns the request until it is reaped. It may still wait for [`Engine::flush`].
    Queued,
    /// The request was not accepted: flush, reap at least one, try again. With nothing in flight, an engine with a peer returns this only
    /// after it has waited for the peer.
    Full,
}

/// Whether and how urgently a job has to stop, for engines that wait for a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopRequest {
    /// The job continues.
    No,
    /// Stop once the requests in flight are done.
    Soon,
    /// Stop without waiting for requests in flight: the user asked twice.
    AtOnce,
}

/// The result of a request that the peer answered by ending the transfer. The job ends without an error.
pub const PEER_ENDED: i64 = i64::MIN;

/// Ends the requests in flight from another thread, for an engine whose requests wait for a peer that may never answer. Called for every
/// signal that asks for the end; the first call may leave time for an orderly end. The requests that it ends have the result [`PEER_ENDED`].
pub struct Interrupter(pub Box<dyn Fn() + Send + Sync>);

impl fmt::Debug for Interrupter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Interrupter")
    }
}

/// A failed set-up call: its name, the kernel's error, and advice for the user.
#[derive(Debug, thiserror::Error)]
#[error("{func}: {source}{}", hint.as_deref().map(|h| format!(" ({h})")).unwrap_or_default())]
pub struct EngineError {
    /// The failed call, named as in fio's `func=` (`io_queue_init`, `mmap`, `open(FILE)`).
    pub func: String,
    /// The kernel's error.
    #[source]
    pub source: io::Error,
    /// Advice for the user.
    pub hint: Option<String>,
}

impl EngineError {
    /// An error of the call `func`.
    #[must_use]
    pub fn new(func: impl Into<String>, source: impl Into<io::Error>) -> Self {
        EngineError { func: func.into(), source: source.into(), hint: None }
    }

    /// Adds advice for the user.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        EngineError { hint: Some(hint.into()), ..self }
    }

    /// Adds advice about this errno, if `hint` has any.
    #[must_use]
    pub fn hint_for(self, hint: impl FnOnce(i32) -> Option<&'static str>) -> Self {
        let hint = hint(self.errno()).map(str::to_owned);
        EngineError { hint, ..self }
    }

    /// The errno; EIO if the error is not one of the kernel's.
    #[must_use]
    pub fn errno(&self) -> i32 {
        self.source.raw_os_error().unwrap_or(libc::EIO)
    }
}

/// A way to do I/O. Each worker has its own engine value and uses it in its own thread only.
pub trait Engine {
    /// Sets up the engine in the worker's thread. Files are not open yet.
    ///
    /// # Errors
    /// The kernel's error, with the name of the call.
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError>
    where
        Self: Sized;

    /// Called after the files were opened, and again after they were reopened for another pass. The default does nothing, for engines
    /// without files.
    ///
    /// # Errors
    /// The kernel's error (registering, mapping), with the name of the call.
    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        let _ = files;
        Ok(())
    }

    /// Called after one file was opened in the middle of a pass, and before one is closed, then without its descriptor. Nothing of that
    /// file is in flight; I/O of other files may be.
    ///
    /// # Errors
    /// Like [`Engine::attach`]. The default refuses a file with a descriptor, for engines that cannot do this.
    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        let _ = index;
        if file.fd.is_none() {
            return Ok(());
        }
        Err(EngineError::new("attach", Errno::ENOTSUP).hint(
            "this engine needs all files of a job open from the start: remove openfiles and fsync_on_close",
        ))
    }

    /// Performs the operation that the engine measures on one file, in place of opening it. Returns the descriptor if the file is open
    /// afterwards. Only for engines with [`ferrio_job::EngineKind::operates_on_files`].
    ///
    /// # Errors
    /// The kernel's error, with the call and the path.
    fn operate(&mut self, path: &Path) -> Result<Option<OwnedFd>, EngineError> {
        Err(EngineError::new(format!("operate({})", path.display()), Errno::ENOTSUP))
    }

    /// Called before each pass, including the first, when all jobs of the wave are ready and before the time of the pass begins: closes the
    /// connection to a peer and makes a new one. `stopped` returns true if the job has to end; then no connection is made.
    ///
    /// # Errors
    /// The error of the kernel or the peer, with the name of the call.
    fn connect(&mut self, stopped: &dyn Fn() -> bool) -> Result<(), EngineError> {
        let _ = stopped;
        Ok(())
    }

    /// Number of reads that the peer sent but that never arrived.
    fn lost_reads(&self) -> u64 {
        0
    }

    /// Starts one request, or completes it at once.
    fn submit(&mut self, request: &Request) -> Submit;

    /// True if [`Engine::submit`] would return [`Submit::Full`] until something is reaped. For engines that know in advance and are often
    /// full: the check spares the loop from submitting a request twice.
    #[inline]
    fn is_full(&self) -> bool {
        false
    }

    /// Hands queued requests to the kernel. Returns how many the kernel took since the last call (reaping may have handed some over).
    /// Engines that submit in [`Engine::submit`] return 0.
    ///
    /// # Errors
    /// An error of the submitting system call itself; errors of single requests arrive as completions.
    fn flush(&mut self) -> io::Result<u32> {
        Ok(0)
    }

    /// Appends at least `min` completions to `done`, waiting for them, and at most `max`, or all available ones at once: `done` has room
    /// for all requests in flight.
    ///
    /// # Errors
    /// An error of the waiting system call itself.
    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        debug_assert!(min == 0, "a synchronous engine has nothing to wait for");
        let _ = (max, done);
        Ok(())
    }

    /// The execution times of the request of unit `unit`, just reaped; `None` if it ended when the loop saw it end.
    #[inline]
    fn execution_times(&self, unit: u32) -> Option<ExecutionTimes> {
        let _ = unit;
        None
    }

    /// Details from the device or server about the failure of the request of `unit` that completed last.
    fn failure_details(&self, unit: u32) -> Option<String> {
        let _ = unit;
        None
    }

    /// Resources used so far by the engine's own threads.
    fn usage(&mut self) -> ThreadUsage {
        ThreadUsage::default()
    }

    /// Waits until a completion can be reaped, at most for `timeout`, and appends up to `max` available completions, perhaps none. Flush
    /// first. Returns false, without waiting, if the engine does not support this: the caller has to poll.
    ///
    /// # Errors
    /// An error of the waiting system call itself.
    fn reap_within(&mut self, timeout: Duration, max: u32, done: &mut Vec<Completion>) -> io::Result<bool> {
        let _ = (timeout, max, done);
        Ok(false)
    }

    /// The think time after the last request; `None` if only the options of the job decide. Called only in jobs with a think time.
    fn think_time(&self) -> Option<Duration> {
        None
    }

    /// A handle to end requests in flight, if the engine needs one. Called once after `open`.
    fn interrupter(&mut self) -> Option<Interrupter> {
        None
    }

    /// The optimisations in use because of `tuning=lean`. Called after files are attached.
    fn optimisations(&self) -> Optimisations {
        Optimisations::NONE
    }

    /// Notes for the user about the set-up, such as fallbacks. Called once after `attach`.
    fn notes(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Notes for the user about the requests of the job. Called once after the last request.
    fn notes_at_end(&mut self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
