//! Engines libpmem and dev-dax: copy to and from persistent memory. The CPU makes writes durable, without the kernel.
//!
//! libpmem maps files of a file system that is mounted with DAX, dev-dax maps the device. Neither needs libpmem.

use std::ptr;

use ferrio_engine::{
    Buffers, Descriptors, Engine, EngineError, FileSet, Op, OpenFile, Request, Submit, sync_ops,
};
use ferrio_job::{EngineKind, JobSpec, NOT_PERSISTENT_MEMORY, OpenSync, PERSISTENT_MEMORY_NEEDED};
use ferrio_kernel::sigbus;
use ferrio_machine::DaxDevice;
use nix::errno::Errno;

use crate::mapping::{MappedFile, MappingOptions, PAGE_BYTES, Sharing, protection};
use crate::write_back::{self, WriteBack};

/// `ioengine=libpmem` and `ioengine=dev-dax`
pub struct PersistentMemory {
    mappings: Vec<MappedFile>,
    fds: Descriptors,
    options: MappingOptions,
    write_back: WriteBack,
    /// True if writes bypass the caches.
    past_caches: bool,
    /// True if each write waits until it is durable; otherwise a sync does.
    drains: bool,
}

impl PersistentMemory {
    /// Opens the engine with the given kind of mapping, which only persistent memory supports.
    fn with_sharing(spec: &JobSpec, sharing: Sharing, unit: u64) -> Result<Self, EngineError> {
        sigbus::install().map_err(|errno| EngineError::new("sigaction", errno))?;
        let write_back = write_back::detect().ok_or_else(|| {
            let hint = "no instruction of this CPU is known that makes writes to persistent memory durable";
            EngineError::new("init", Errno::ENOTSUP).hint(hint)
        })?;
        let options = MappingOptions { protection: protection(spec), sharing, unit, order: None };
        Ok(PersistentMemory {
            mappings: Vec::new(),
            fds: Descriptors::default(),
            options,
            write_back,
            past_caches: spec.opening.direct,
            drains: spec.engine == EngineKind::DevDax || spec.opening.open_sync != OpenSync::None,
        })
    }

    fn map(&self, file: &OpenFile) -> Result<MappedFile, EngineError> {
        MappedFile::new(file, &self.options).map_err(|error| match (self.options.sharing, error.errno()) {
            (Sharing::Synchronous, libc::EOPNOTSUPP) => {
                EngineError::new(NOT_PERSISTENT_MEMORY, Errno::EOPNOTSUPP).hint(PERSISTENT_MEMORY_NEEDED)
            }
            _ => error,
        })
    }

    /// Copies a range. False if a page of the mapping was missing.
    #[inline]
    fn copy(&self, request: &Request, memory: *mut u8, len: usize) -> bool {
        let (unit, buffer) = (self.options.unit as usize, request.buffer);
        // SAFETY: `memory` has `len` mapped bytes, the buffer by the contract of Request, and private buffers do not overlap a mapping of a
        // file. Other processes may change the file meanwhile: the bytes are plain data, any value will do.
        sigbus::access(memory, len, unit, || unsafe {
            match request.op {
                Op::Read => ptr::copy_nonoverlapping(memory.cast_const(), buffer, len),
                _ if self.past_caches => self.write_back.copy_past_caches(buffer, memory, len),
                _ => {
                    ptr::copy_nonoverlapping(buffer.cast_const(), memory, len);
                    self.write_back.write_back(memory, len);
                }
            }
        })
    }
}

impl Engine for PersistentMemory {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        if spec.engine != EngineKind::DevDax {
            return Self::with_sharing(spec, Sharing::Synchronous, PAGE_BYTES);
        }
        // Each device maps units of its own size. The engine has one unit for all files, the largest.
        let units =
            spec.files.iter().map(|file| DaxDevice::at(&file.path).map_or(PAGE_BYTES, |device| device.unit));
        Self::with_sharing(spec, Sharing::Shared, units.max().unwrap_or(PAGE_BYTES))
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.mappings.clear();
        self.fds.attach(files);
        for file in &files.files {
            self.mappings.push(self.map(file)?);
        }
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.fds.attach_one(index, file);
        self.mappings[index] = self.map(file)?;
        Ok(())
    }

    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        let mapping = &self.mappings[request.file as usize];
        Submit::Done(match request.op {
            Op::Read | Op::Write => {
                let len = request.len as usize;
                let Some(memory) = mapping.at(request.offset, len) else {
                    return Submit::Done(-i64::from(libc::EINVAL));
                };
                if !self.copy(request, memory, len) {
                    let fd = self.fds.of(request.file);
                    return Submit::Done(mapping.after_missing_page(fd, &self.options, request.offset, len));
                }
                if self.drains && request.op == Op::Write {
                    write_back::drain();
                }
                request.len.cast_signed()
            }
            Op::Trim => sync_ops::run(self.fds.of(request.file), request),
            // The write-back of earlier writes has begun already.
            Op::Fsync | Op::Fdatasync | Op::SyncFileRange(_) => {
                write_back::drain();
                0
            }
        })
    }
}

#[cfg(test)]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod tests;
