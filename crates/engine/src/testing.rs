//! Files and drivers for the tests of engines (feature `testing`).

pub mod contract;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use ferrio_job::JobSpec;
use tempfile::NamedTempFile;

use crate::{Buffers, Completion, Engine, FileSet, Op, OpenFile, Request, Submit};

/// A temporary file of `content`, on the file system of the test program (which takes O_DIRECT where /tmp might not).
///
/// # Panics
/// When the file cannot be created.
#[must_use]
#[expect(clippy::expect_used, reason = "support of tests")]
pub fn file_with(content: &[u8]) -> NamedTempFile {
    let program = std::env::current_exe().expect("the test program has a path");
    let directory = program.parent().map_or_else(PathBuf::new, PathBuf::from);
    let file = NamedTempFile::new_in(directory).expect("the directory of the test program is writable");
    std::fs::write(file.path(), content).expect("the file is writable");
    file
}

/// `size` bytes that differ from block to block.
#[must_use]
pub fn content(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i / 512 * 31 + i) as u8).collect()
}

/// The file opened with these open(2) flags, as the only one of a set; its region is the whole file.
///
/// # Errors
/// open(2)'s error.
pub fn open(file: &NamedTempFile, flags: i32) -> std::io::Result<FileSet> {
    let access = flags & libc::O_ACCMODE;
    let opened = OpenOptions::new()
        .read(access != libc::O_WRONLY)
        .write(access != libc::O_RDONLY)
        .custom_flags(flags & !libc::O_ACCMODE)
        .open(file.path())?;
    let size = opened.metadata()?.len();
    Ok(FileSet::new(vec![OpenFile { fd: Some(Arc::new(opened.into())), offset: 0, size }]))
}

/// An engine with its files and buffers, driven one request at a time.
pub struct Rig<E: Engine> {
    /// The engine; first, because it must go before what it uses.
    pub engine: E,
    /// The buffers; 64 KiB each.
    pub buffers: Buffers,
    /// The files.
    pub files: FileSet,
}

impl<E: Engine> Rig<E> {
    /// Opens the engine for the job and attaches the files.
    ///
    /// # Errors
    /// The engine's.
    ///
    /// # Panics
    /// When memory is short.
    #[expect(clippy::expect_used, reason = "support of tests")]
    pub fn new(spec: &JobSpec, files: FileSet) -> Result<Self, crate::EngineError> {
        let buffers = Buffers::new(spec.depth.iodepth, 65536, true).expect("there is memory for buffers");
        let mut engine = E::open(spec, &buffers)?;
        engine.attach(&files)?;
        Ok(Rig { engine, buffers, files })
    }

    /// A request of unit `unit` with its buffer.
    #[must_use]
    pub fn request(&self, unit: u32, op: Op, offset: u64, len: u64) -> Request {
        Request { op, unit, file: 0, len, offset, priority: 0, buffer: self.buffers.slot(unit) }
    }

    /// Runs one request on unit 0 to its end; the result.
    ///
    /// # Panics
    /// When the engine fails or loses the request.
    #[expect(clippy::expect_used, reason = "support of tests")]
    pub fn run(&mut self, op: Op, offset: u64, len: u64) -> i64 {
        let request = self.request(0, op, offset, len);
        match self.engine.submit(&request) {
            Submit::Done(result) => result,
            Submit::Full => panic!("an idle engine is full"),
            Submit::Queued => {
                let mut done: Vec<Completion> = Vec::with_capacity(1);
                self.engine.flush().expect("flush works");
                self.engine.reap(1, 1, &mut done).expect("reap works");
                assert_eq!(done.len(), 1);
                assert_eq!(done[0].unit, 0);
                done[0].result
            }
        }
    }

    /// Writes `data` at `offset` through the engine.
    ///
    /// # Panics
    /// When fewer bytes are written.
    pub fn write(&mut self, offset: u64, data: &[u8]) {
        self.buffers.fill(0, data.len()).copy_from_slice(data);
        assert_eq!(self.run(Op::Write, offset, data.len() as u64), data.len() as i64);
    }

    /// Reads `len` bytes at `offset` through the engine.
    ///
    /// # Panics
    /// When fewer bytes are read.
    pub fn read(&mut self, offset: u64, len: usize) -> Vec<u8> {
        self.buffers.fill(0, len).fill(0);
        assert_eq!(self.run(Op::Read, offset, len as u64), len as i64);
        self.buffers.fill(0, len).to_vec()
    }

    /// Keeps the engine at its depth over `requests` data requests of `len` bytes at offsets 0, len, ...: batches of `batch`,
    /// reaping at least `min` when full. Returns all completions.
    ///
    /// # Panics
    /// When the engine fails.
    #[expect(clippy::expect_used, reason = "support of tests")]
    pub fn pump(&mut self, op: Op, requests: u32, len: u64, batch: u32, min: u32) -> Vec<Completion> {
        let depth = self.buffers.count();
        let mut free: Vec<u32> = (0..depth).collect();
        let (mut all, mut done) = (Vec::new(), Vec::with_capacity(depth as usize));
        let (mut issued, mut queued) = (0, 0);
        while (all.len() as u32) < requests {
            while issued < requests
                && let Some(unit) = free.pop()
            {
                let request = self.request(unit, op, u64::from(issued) * len, len);
                match self.engine.submit(&request) {
                    Submit::Queued => {}
                    // Flush, reap, try again.
                    Submit::Full => {
                        free.push(unit);
                        break;
                    }
                    Submit::Done(result) => {
                        all.push(Completion { unit, result });
                        free.push(unit);
                        issued += 1;
                        continue;
                    }
                }
                issued += 1;
                queued += 1;
                if queued == batch {
                    self.engine.flush().expect("flush works");
                    queued = 0;
                }
            }
            self.engine.flush().expect("flush works");
            queued = 0;
            let in_flight = depth - free.len() as u32;
            self.engine.reap(min.min(in_flight), in_flight, &mut done).expect("reap works");
            assert!(done.len() as u32 >= min.min(in_flight));
            free.extend(done.iter().map(|completion| completion.unit));
            all.append(&mut done);
        }
        all
    }
}
