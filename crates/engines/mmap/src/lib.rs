//! The mmap engine: maps the job's region of every file once; I/O copies from and to the mapping, a sync is msync(2).
//!
//! A mapping cannot extend a file: files that are too short are refused when they are attached. If a file is truncated during the run, or
//! its device fails, the I/O fails and the process continues (`ferrio_kernel::sigbus`). Writable mappings of block devices are left as they
//! are (fio first punches a hole, which destroys the data).
//!
//! libpmem and dev-dax do the same with persistent memory, where the CPU makes data durable (`persistent_memory`, `write_back`).

mod mapping;
mod persistent_memory;
mod write_back;

pub use persistent_memory::PersistentMemory;

use std::sync::{Arc, PoisonError};

use ferrio_engine::{
    Buffers, Descriptors, Engine, EngineError, FileSet, Op, OpenFile, Request, SharedFiles, Submit, sync_ops,
};
use ferrio_job::{Diagnostic, Fadvise, JobSpec, Prefix, blocks_of_partial_pages, offset_within_page};
use ferrio_kernel::sigbus;
use mapping::{MappedFile, MappingOptions, PAGE_BYTES, Sharing, protection};
use nix::errno::Errno;

/// `ioengine=mmap`
pub struct Mmap {
    mappings: Arc<[MappedFile]>,
    fds: Descriptors,
    options: MappingOptions,
    /// `direct=1`: writes back the range of an I/O before it completes.
    sync_each: bool,
    /// Flags of msync(2).
    sync_flags: i32,
    notes: Vec<Diagnostic>,
}

impl Mmap {
    fn map(&self, file: &OpenFile) -> Result<MappedFile, EngineError> {
        if file.fd.is_some()
            && file.size > 0
            && let Some(hint) = offset_within_page(file.offset)
        {
            return Err(EngineError::new("mmap", Errno::EINVAL).hint(hint));
        }
        MappedFile::new(file, &self.options)
    }

    fn map_all(&self, files: &[OpenFile]) -> Result<Arc<[MappedFile]>, EngineError> {
        let mappings: Result<Vec<_>, _> = files.iter().map(|file| self.map(file)).collect();
        Ok(mappings?.into())
    }

    /// Returns the mappings of files that several workers share. The first worker creates them, so that pages are mapped once for all
    /// workers.
    fn map_together(&self, shared: &SharedFiles) -> Result<Arc<[MappedFile]>, EngineError> {
        let mut made = shared.engines.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.as_ref().and_then(|made| made.downcast_ref::<Arc<[MappedFile]>>());
        if let Some(mappings) = known {
            return Ok(Arc::clone(mappings));
        }
        let mappings = self.map_all(&shared.files)?;
        *made = Some(Arc::new(Arc::clone(&mappings)));
        Ok(mappings)
    }

    fn sync_range(&self, mapping: &MappedFile, request: &Request) -> i64 {
        match mapping.sync(request.offset, request.len as usize, self.sync_flags) {
            0 => request.len.cast_signed(),
            error => error,
        }
    }
}

impl Engine for Mmap {
    fn open(spec: &JobSpec, _buffers: &Buffers) -> Result<Self, EngineError> {
        if let Some(hint) = blocks_of_partial_pages(spec) {
            return Err(EngineError::new("mmap", Errno::EINVAL).hint(hint));
        }
        sigbus::install().map_err(|errno| EngineError::new("sigaction", errno))?;
        let mut notes = Vec::new();
        if spec.opening.fadvise == Fadvise::NoReuse {
            let message = "fadvise_hint=noreuse has no effect on a mapping and is not applied";
            notes.push(Diagnostic::note(message).code("advice-not-applied").prefix(Prefix::Job));
        }
        if spec.engine_options.mmap.thp && spec.writes_data() {
            let message = "thp=1 maps files privately: writes do not reach the file";
            notes.push(Diagnostic::note(message).code("private-mapping").prefix(Prefix::Job));
        }
        let sharing = if spec.engine_options.mmap.thp { Sharing::PrivateHugePages } else { Sharing::Shared };
        let options =
            MappingOptions { protection: protection(spec), sharing, unit: PAGE_BYTES, order: order(spec) };
        let invalidate = if spec.engine_options.mmap.invalidating_syncs { libc::MS_INVALIDATE } else { 0 };
        Ok(Mmap {
            mappings: Arc::default(),
            fds: Descriptors::default(),
            options,
            sync_each: spec.opening.direct && spec.events.is_none(),
            sync_flags: libc::MS_SYNC | invalidate,
            notes,
        })
    }

    fn attach(&mut self, files: &FileSet) -> Result<(), EngineError> {
        self.mappings = Arc::default();
        self.fds.attach(files);
        self.mappings = match &files.shared {
            Some(shared) => self.map_together(shared)?,
            None => self.map_all(&files.files)?,
        };
        Ok(())
    }

    fn attach_one(&mut self, index: usize, file: &OpenFile) -> Result<(), EngineError> {
        self.fds.attach_one(index, file);
        let mapping = self.map(file)?;
        // Files that are opened one by one belong to one worker.
        if let Some(mappings) = Arc::get_mut(&mut self.mappings) {
            mappings[index] = mapping;
        }
        Ok(())
    }

    #[inline]
    fn submit(&mut self, request: &Request) -> Submit {
        let mapping = &self.mappings[request.file as usize];
        let len = request.len as usize;
        if request.op.moves_data() {
            let Some(memory) = mapping.at(request.offset, len) else {
                return Submit::Done(-i64::from(libc::EINVAL));
            };
            let (from, to) = match request.op {
                Op::Read => (memory.cast_const(), request.buffer),
                _ => (request.buffer.cast_const(), memory),
            };
            // SAFETY: `memory` has `len` mapped bytes, the buffer by the contract of Request, and private buffers do not overlap
            // a mapping of a file. Other processes may change the file meanwhile: the bytes are plain data, any value will do.
            // `open` installed the handler.
            let copied = unsafe { sigbus::copy(from, to, memory, len, PAGE_BYTES as usize) };
            if !copied {
                let fd = self.fds.of(request.file);
                return Submit::Done(mapping.after_missing_page(fd, &self.options, request.offset, len));
            }
            if self.sync_each {
                return Submit::Done(self.sync_range(mapping, request));
            }
            return Submit::Done(request.len.cast_signed());
        }
        Submit::Done(match request.op {
            Op::Trim => sync_ops::run(self.fds.of(request.file), request),
            _ => mapping.sync_all(self.sync_flags),
        })
    }

    fn notes(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.notes)
    }
}

/// The MADV_* advice for the order in which the job accesses its files.
fn order(spec: &JobSpec) -> Option<i32> {
    match spec.opening.fadvise {
        Fadvise::None | Fadvise::NoReuse => None,
        Fadvise::ByPattern if spec.rw.is_random() => Some(libc::MADV_RANDOM),
        Fadvise::Random => Some(libc::MADV_RANDOM),
        Fadvise::Sequential | Fadvise::ByPattern => Some(libc::MADV_SEQUENTIAL),
    }
}

#[cfg(test)]
mod tests;
