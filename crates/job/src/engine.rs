//! Engines as jobs name them: what each can do, and the private options of all.

use crate::choice::choices;

choices! {
    /// `ioengine=`: which engine drives a job; the registry has one line for each.
    pub enum EngineKind default Psync {
        IoUring: "io_uring", "io_uring(7)";
        Libaio: "libaio", "Kernel asynchronous I/O, io_submit(2)";
        Mmap: "mmap", "Memory copies to mapped files";
        Null: "null", "Does nothing";
        Psync: "psync", "pread(2), pwrite(2)";
        Pvsync: "pvsync", "preadv(2), pwritev(2)";
        Pvsync2: "pvsync2", "preadv2(2), pwritev2(2)";
        Sync: "sync", "lseek(2), read(2), write(2)";
        TokioUring: "tokio_uring", "io_uring(7) by the tokio-uring crate";
        Vsync: "vsync", "readv(2), writev(2), neighbours joined";
    }
}

impl EngineKind {
    /// The name that `ioengine=` takes and reports print.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.word()
    }

    /// True when the engine touches no file: no layout, no open, sizes come from the job.
    #[must_use]
    pub const fn is_diskless(self) -> bool {
        matches!(self, EngineKind::Null)
    }

    /// True when a write job must be laid out in full first because the engine cannot extend a file.
    #[must_use]
    pub const fn cannot_extend(self) -> bool {
        matches!(self, EngineKind::Mmap)
    }

    /// True for engines that complete every I/O in the submitting call at this depth.
    #[must_use]
    pub const fn is_sync(self, iodepth: u32) -> bool {
        match self {
            EngineKind::Sync
            | EngineKind::Psync
            | EngineKind::Vsync
            | EngineKind::Pvsync
            | EngineKind::Pvsync2
            | EngineKind::Mmap => true,
            EngineKind::Null => iodepth == 1,
            EngineKind::IoUring | EngineKind::Libaio | EngineKind::TokioUring => false,
        }
    }
}

choices! {
    /// `libaio_backend=` (ferrio's own option): what serves the libaio engine.
    pub enum LibaioBackend default Auto {
        Auto: "auto", "The kernel's AIO; io_uring, with a note, where the kernel has none";
        Kernel: "kernel", "The kernel's AIO only";
        IoUring: "io_uring", "io_uring only";
    }
}

/// Private options of all engines; an engine reads its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineOptions {
    /// io_uring, pvsync2: polled completions.
    pub hipri: bool,
    /// pvsync2: share of I/Os in percent that `hipri` applies to.
    pub hipri_percentage: u32,
    /// io_uring: register the I/O buffers.
    pub fixedbufs: bool,
    /// io_uring: register the files.
    pub registerfiles: bool,
    /// io_uring: a kernel thread polls the submission queue; implies `registerfiles`.
    pub sqthread_poll: bool,
    /// io_uring: CPU of that thread.
    pub sqthread_poll_cpu: Option<u32>,
    /// io_uring: -1 probe the kernel, 0 vectored, other values READ/WRITE.
    pub nonvectored: i32,
    /// io_uring: IOSQE_ASYNC on every N-th request, 0 never.
    pub force_async: u32,
    /// io_uring, libaio, pvsync2: RWF_NOWAIT.
    pub nowait: bool,
    /// io_uring, pvsync2: RWF_DONTCACHE for buffered jobs.
    pub uncached: bool,
    /// libaio: reap from the completion ring in user space.
    pub userspace_reap: bool,
    /// libaio: PREADV/PWRITEV requests.
    pub libaio_vectored: bool,
    /// libaio: what serves it.
    pub libaio_backend: LibaioBackend,
    /// mmap: private mapping with transparent huge pages.
    pub thp: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions {
            hipri: false,
            hipri_percentage: 100,
            fixedbufs: false,
            registerfiles: false,
            sqthread_poll: false,
            sqthread_poll_cpu: None,
            nonvectored: -1,
            force_async: 0,
            nowait: false,
            uncached: false,
            userspace_reap: false,
            libaio_vectored: false,
            libaio_backend: LibaioBackend::Auto,
            thp: false,
        }
    }
}
