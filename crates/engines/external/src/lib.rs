//! Engines from outside ferrio (`ioengine=external:PATH`): shared objects with the C interface of `docs/ferrio_engine.h`.
//!
//! The external engine does the I/O; everything else is as for ferrio's own engines. Calls go through pointers, which costs a few
//! instructions per I/O. Return values are checked where ferrio would otherwise lose track of its I/Os.

mod abi;
mod object;

use std::ffi::{CString, c_void};
use std::io;
use std::path::Path;
use std::ptr;

use ferrio_engine::{Buffers, Completion, Engine, EngineError, FileSet, Op, Request, Submit};
use ferrio_job::{Direction, JobSpec};
use ferrio_machine::InterruptionLimit;

use object::SharedObject;

/// Maximum length of a request of the interface. A longer one is processed in parts.
const MAX_REQUEST_BYTES: u32 = 1 << 31;

/// `ioengine=external`
pub struct ExternalEngine {
    object: SharedObject,
    state: *mut c_void,
    /// Indexed by unit: true if the engine owns its request.
    queued: Box<[bool]>,
    /// Requests queued since the last flush, for an engine without one.
    unflushed: u32,
    /// Buffer for the completions of one call.
    done: Box<[abi::Completion]>,
    /// Indexed by file: the path as the job names it.
    paths: Vec<CString>,
}

impl ExternalEngine {
    /// An error of one of the engine's functions.
    fn error(&self, function: &str, errno: i32) -> EngineError {
        error(&self.object.name, function, errno)
    }

    /// An error for an engine that violates the rules of its interface.
    fn broken(&self, what: &str) -> io::Error {
        io::Error::other(format!("engine {} {what}", self.object.name))
    }

    /// Converts the return value of a function that returns a count or a negated errno.
    fn count(&self, answer: i32, most: u32) -> io::Result<u32> {
        match u32::try_from(answer) {
            Ok(count) if count <= most => Ok(count),
            Ok(count) => Err(self.broken(&format!("counts {count} requests of at most {most}"))),
            Err(_) => Err(io::Error::from_raw_os_error(answer.saturating_neg())),
        }
    }
}

fn error(engine: &str, function: &str, errno: i32) -> EngineError {
    EngineError::new(
        format!("{function} of engine {engine}"),
        io::Error::from_raw_os_error(errno.saturating_abs()),
    )
}

/// The length of the interface's request, which has 32 bits. The rest of a longer read, write or trim is another request; a longer sync
/// covers everything from its offset on.
fn length(request: &Request) -> u32 {
    let longer = if matches!(request.op, Op::SyncFileRange(_)) { 0 } else { MAX_REQUEST_BYTES };
    u32::try_from(request.len).unwrap_or(longer)
}

/// Converts text to a C string, cut at the first zero byte.
fn c_string(text: &[u8]) -> CString {
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    CString::new(&text[..end]).unwrap_or_default()
}

impl Engine for ExternalEngine {
    fn open(spec: &JobSpec, buffers: &Buffers) -> Result<Self, EngineError> {
        let object = SharedObject::load(Path::new(&spec.external.path))?;
        let (name, options) = (c_string(spec.name.as_bytes()), c_string(spec.external.options.as_bytes()));
        let flags = [
            (abi::DIRECT, spec.opening.direct),
            (abi::WRITES, spec.rw.does(Direction::Write)),
            (abi::TRIMS, spec.trims()),
        ];
        let job = abi::Job {
            size: size_of::<abi::Job>() as u32,
            flags: flags.iter().filter(|(_, is_set)| *is_set).fold(0, |all, (flag, _)| all | flag),
            iodepth: buffers.count(),
            files: spec.files.len() as u32,
            name: name.as_ptr(),
            options: options.as_ptr(),
            buffers: buffers.slot(0).cast(),
            buffer_stride: buffers.stride() as u64,
        };
        let mut state = ptr::null_mut();
        // SAFETY: the job and its strings live until the call returns, and the buffers until the engine is dropped.
        let answer = unsafe { (object.functions.open)(&raw const job, &raw mut state) };
        if answer != 0 {
            return Err(error(&object.name, "open", answer));
        }
        Ok(ExternalEngine {
            object,
            state,
            queued: vec![false; buffers.count() as usize].into_boxed_slice(),
            unflushed: 0,
            done: vec![abi::Completion::default(); buffers.count() as usize].into_boxed_slice(),
            paths: spec.files.iter().map(|file| c_string(file.path.as_os_str().as_encoded_bytes())).collect(),
        })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        let file = |(at, file): (usize, &ferrio_engine::OpenFile)| abi::File {
            path: self.paths.get(at).map_or(c"".as_ptr(), |path| path.as_ptr()),
            fd: file.raw_fd(),
            reserved: 0,
            offset: file.offset,
            size: file.size,
        };
        let files: Vec<abi::File> = files.files.iter().enumerate().map(file).collect();
        // SAFETY: the state comes from `open`, and the files and their paths live until the call returns.
        let answer =
            unsafe { (self.object.functions.attach)(self.state, files.as_ptr(), files.len() as u32) };
        if answer == 0 { Ok(()) } else { Err(self.error("attach", answer)) }
    }

    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        let (op, sync_flags) = match request.op {
            Op::Read => (0, 0),
            Op::Write => (1, 0),
            Op::Trim => (2, 0),
            Op::Fsync => (3, 0),
            Op::Fdatasync => (4, 0),
            Op::SyncFileRange(flags) => (5, flags.into()),
        };
        let unit = request.unit;
        let request = abi::Request {
            op,
            unit,
            file: request.file,
            len: length(request),
            offset: request.offset,
            buffer: request.buffer.cast(),
            sync_flags,
            priority: u32::from(request.priority),
        };
        let mut result = 0;
        // SAFETY: the state comes from `open`; the request lives until the call returns, and its buffer until it is reaped.
        match unsafe { (self.object.functions.submit)(self.state, &raw const request, &raw mut result) } {
            abi::DONE => Submit::Done(result),
            abi::QUEUED => {
                self.queued[unit as usize] = true;
                self.unflushed += 1;
                Submit::Queued
            }
            abi::FULL if self.queued.contains(&true) => Submit::Full,
            // Full with nothing in flight, or an invalid return value.
            _ => Submit::Done(-i64::from(libc::EPROTO)),
        }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<u32> {
        let unflushed = std::mem::take(&mut self.unflushed);
        let Some(flush) = self.object.functions.flush else { return Ok(unflushed) };
        // SAFETY: the state comes from `open`.
        let answer = unsafe { flush(self.state) };
        self.count(answer, self.queued.len() as u32)
    }

    #[inline]
    fn reap(&mut self, min: u32, max: u32, done: &mut Vec<Completion>) -> io::Result<()> {
        let Some(reap) = self.object.functions.reap else {
            return if min == 0 {
                Ok(())
            } else {
                Err(self.broken("queues requests and has no function `reap`"))
            };
        };
        let max = max.min(self.done.len() as u32);
        let mut interrupted = InterruptionLimit::default();
        let answer = loop {
            // SAFETY: the state comes from `open`, and the buffer has room for `max` completions.
            let answer = unsafe { reap(self.state, min, max, self.done.as_mut_ptr()) };
            if answer != -libc::EINTR || !interrupted.should_retry() {
                break answer;
            }
        };
        let count = self.count(answer, max)?;
        if count < min {
            return Err(self.broken(&format!("returned {count} requests where {min} were wanted")));
        }
        for at in 0..count as usize {
            let abi::Completion { unit, result, .. } = self.done[at];
            match self.queued.get_mut(unit as usize) {
                Some(queued) if *queued => *queued = false,
                _ => return Err(self.broken(&format!("returned unit {unit}, which it did not have"))),
            }
            done.push(Completion { unit, result });
        }
        Ok(())
    }
}

impl Drop for ExternalEngine {
    fn drop(&mut self) {
        // SAFETY: the state comes from `open` and is not used again. The buffers, which requests in flight use, are dropped later.
        unsafe { (self.object.functions.close)(self.state) };
    }
}
