//! Private options of engines, one struct for each family.

use std::path::PathBuf;

use crate::choice::choices;
use crate::work::{CpuLoad, Program};

choices! {
    /// `libaio_backend=` (ferrio's own option): what serves the libaio engine.
    pub enum LibaioBackend default Auto {
        Auto: "auto", "The kernel's AIO; io_uring, with a note, where the kernel has none";
        Kernel: "kernel", "The kernel's AIO only";
        IoUring: "io_uring", "io_uring only";
    }
}

/// `ioengine=external`: an engine in a shared object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalEngine {
    /// Path of the object.
    pub path: String,
    /// `external_options`, for the engine only.
    pub options: String,
}

/// The file that engine e4defrag swaps extents with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Donor {
    /// `donorname`, in the directory of the job's files.
    pub path: PathBuf,
    /// `inplace=1`: space is reserved for each I/O and freed after it, not once for all.
    pub reserves_per_io: bool,
}

/// Metadata of each I/O on devices that are formatted with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProtectionOptions {
    /// `md_per_io_size`: bytes of the metadata buffer of each I/O; 0 without one.
    pub metadata_bytes: u32,
    /// `pi_act`: the device makes and checks protection information, not the program.
    pub by_device: bool,
    /// `pi_chk`: which parts are checked.
    pub checks: ProtectionChecks,
    /// `apptag`
    pub app_tag: u16,
    /// `apptag_mask`
    pub app_tag_mask: u16,
}

/// The parts of the protection information that are checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtectionChecks {
    /// `GUARD`: the digest of the data.
    pub guard: bool,
    /// `REFTAG`: where the block is.
    pub reference_tag: bool,
    /// `APPTAG`: what the application put there.
    pub app_tag: bool,
}

choices! {
    /// `write_mode=`: the command that a write of io_uring_cmd becomes.
    pub enum WriteMode default Write {
        Write: "write", "Writes data";
        Uncor: "uncor", "Marks blocks invalid";
        Zeroes: "zeroes", "Sets blocks to zero";
        Verify: "verify", "Lets the device check blocks";
    }
}

/// Options of engine io_uring_cmd: commands and flags besides plain reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassthroughOptions {
    /// `write_mode`: commands with their shares in percent; one or more.
    pub write_modes: Vec<(WriteMode, u32)>,
    /// `readfua`
    pub fua_reads: bool,
    /// `writefua`
    pub fua_writes: bool,
    /// `deac`: writes of zeros may deallocate.
    pub deallocates: bool,
}

choices! {
    /// `sg_write_mode=`: which SCSI command a write is.
    pub enum SgWriteMode default Write {
        Write: "write", "WRITE";
        WriteAndVerify: "write_and_verify", "WRITE AND VERIFY: the device reads what it has written, and compares nothing";
        = WriteAndVerify: "verify";
        WriteSame: "write_same", "WRITE SAME: one block is sent, and the device repeats it";
        = WriteSame: "same";
        WriteSameNdob: "write_same_ndob", "WRITE SAME(16) without data: the device writes zeros or a pattern of its own";
        VerifyBytchk00: "verify_bytchk_00", "VERIFY: the device reads the range, and compares nothing";
        VerifyBytchk01: "verify_bytchk_01", "VERIFY: the device compares the range with the data";
        VerifyBytchk11: "verify_bytchk_11", "VERIFY: the device compares each block of the range with one that is sent";
        WriteStream: "write_stream", "WRITE STREAM(16), to the stream of `stream_id`";
    }
}

choices! {
    /// `stat_type=`: the call that filestat and dirstat measure.
    pub enum StatType default Stat {
        Stat: "stat", "stat(2)";
        Lstat: "lstat", "lstat(2): links are not followed";
        Statx: "statx", "statx(2) of the absolute path, with all fields";
    }
}

/// Flags of the calls that several engines make: preadv2(2), pwritev2(2), and requests of io_uring and libaio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// RWF_ATOMIC on writes.
    pub atomic: bool,
    /// Polled completions.
    pub hipri: bool,
    /// pvsync2: share of I/Os in percent that `hipri` applies to.
    pub hipri_percentage: u32,
    /// RWF_NOWAIT.
    pub nowait: bool,
    /// RWF_DONTCACHE for buffered jobs.
    pub uncached: bool,
}

/// Options of engines with an io_uring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingOptions {
    /// Register the I/O buffers.
    pub fixedbufs: bool,
    /// Register the files.
    pub registerfiles: bool,
    /// A kernel thread polls the submission queue; implies `registerfiles`.
    pub sqthread_poll: bool,
    /// CPU of that thread.
    pub sqthread_poll_cpu: Option<u32>,
    /// -1 probes the kernel, 0 means READV and WRITEV, other values READ and WRITE.
    pub nonvectored: i32,
    /// IOSQE_ASYNC on every N-th request, 0 for none.
    pub force_async: u32,
}

/// Options of engine libaio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LibaioOptions {
    /// `userspace_reap`: completions are taken from the ring that the kernel maps.
    pub userspace_reap: bool,
    /// `libaio_vectored`: PREADV and PWRITEV requests.
    pub vectored: bool,
    /// `libaio_backend`
    pub backend: LibaioBackend,
    /// Syncs are calls that wait, as in sysbench.
    pub blocking_syncs: bool,
}

/// Options of engine mmap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MmapOptions {
    /// `thp`: a private mapping with transparent huge pages.
    pub thp: bool,
    /// Syncs have MS_INVALIDATE, as in sysbench.
    pub invalidating_syncs: bool,
}

/// Options of engine sg.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SgOptions {
    /// `readfua`: reads come from the medium, not from a cache of the device.
    pub fua_reads: bool,
    /// `writefua`: writes go to the medium before they complete.
    pub fua_writes: bool,
    /// `sg_write_mode`
    pub write_mode: SgWriteMode,
    /// `stream_id`: the stream for writes; 0 for one that the engine opens.
    pub stream_id: u16,
}

/// Private options of all engines, by family; an engine reads its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// io_uring, libaio, pvsync2, sg.
    pub calls: CallOptions,
    /// io_uring, io_uring_cmd.
    pub ring: RingOptions,
    /// io_uring_cmd.
    pub passthrough: PassthroughOptions,
    /// io_uring, io_uring_cmd.
    pub protection: ProtectionOptions,
    /// libaio.
    pub libaio: LibaioOptions,
    /// mmap.
    pub mmap: MmapOptions,
    /// sg.
    pub sg: SgOptions,
    /// mtd: skip blocks that are known to be bad.
    pub skip_bad: bool,
    /// nbd: the export.
    pub uri: String,
    /// filestat, dirstat: the call that is measured.
    pub stat_type: StatType,
    /// e4defrag: the file that gives its extents.
    pub donor: Donor,
    /// cpuio: the load.
    pub cpu: CpuLoad,
    /// exec: the program.
    pub program: Program,
}
