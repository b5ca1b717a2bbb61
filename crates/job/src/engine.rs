//! Engines as jobs name them: what each can do, and the private options of all.

use std::path::PathBuf;

use crate::choice::choices;
use crate::work::{CpuLoad, Program};

/// Makes [`Property`]; the comment of each is also what documentation and help say of an engine.
macro_rules! properties {
    ($(#[doc = $text:literal] $name:ident,)+) => {
        /// A property of an engine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        enum Property {
            $(#[doc = $text] $name,)+
        }

        impl Property {
            const fn text(self) -> &'static str {
                match self {
                    $(Property::$name => $text,)+
                }
            }
        }
    };
}

properties! {
    /// Every I/O completes in the call that submits it.
    InCall,
    /// The same, but only at `iodepth=1`.
    InCallAtDepthOne,
    /// At `iodepth=1`, neither submissions nor completions are counted.
    Uncounted,
    /// Collects a batch and makes one call for adjacent I/Os. The wait for the call counts as completion latency; there is no submission latency.
    Merges,
    /// I/Os are queued and complete later.
    Queued,
    /// Each I/O starts when it is submitted, so `iodepth_batch` has no effect.
    BeginsAtOnce,
    /// One thread submits and reaps: there is no `io_submit_mode=offload`.
    OneThread,
    /// ferrio does not lay out or open its files; sizes come from the job.
    Diskless,
    /// Cannot extend a file: regular files are laid out in full before a job writes.
    FixedSize,
    /// Moves no data: buffers stay untouched, and there is nothing to verify.
    NoData,
    /// Only writes have an effect: a job that reads or trims fails.
    OnlyWrites,
    /// There is nothing to trim: a trim fails.
    NoTrim,
    /// Every kind of sync is an fsync(2).
    OneSync,
    /// Works on ext4 only.
    Ext4,
    /// The call that it measures is made on each file in place of opening it; its I/Os do nothing.
    FileOperation,
    /// The files of a job are directories.
    Directories,
    /// Creates each file of the job, whatever `rw` says.
    Creates,
    /// Removes each file of the job, whatever `rw` says.
    Removes,
    /// Does no I/O: files, buffers, sizes and directions have no meaning. Each piece of work counts as one I/O in the report.
    Work,
    /// The run does not wait for this job: without `runtime` or `number_ios`, it ends with the last other job.
    Load,
    /// Opens files for writing, and creates them, whatever `rw` says.
    ReadWrite,
    /// Maps files into memory: their pages stay in the page cache until the engine lets go of them.
    MapsFiles,
    /// Copies to and from persistent memory: past the page cache, and past the counters of disks.
    PersistentMemory,
    /// The files of a job are devices of persistent memory; `direct=1` is refused, since there is no page cache to bypass.
    DaxDevice,
    /// Every I/O buffer begins at a page, as with direct I/O.
    PageBuffers,
    /// Moves data through a pipe or socket: `pre_read` has no effect.
    Stream,
    /// Its system call has a flag for untorn writes, so that `atomic=1` has a meaning.
    Atomic,
    /// Sets up an io_uring.
    Ring,
    /// Passes commands through to NVMe devices: its files are the character devices of namespaces, such as `/dev/ng0n1`. `cmd_type=nvme` is the default and the only value.
    Passthrough,
    /// Its files are objects of a server. For several requests at once, use `numjobs` or `io_submit_mode=offload`.
    Objects,
    /// Its files are SCSI devices: disks, or SCSI generic devices.
    ScsiDevice,
    /// Its files are devices of raw flash (MTD).
    FlashDevice,
    /// Its one file is an export of a server, which is not laid out and keeps its size. Without `size`, a job uses all of it.
    Export,
    /// Talks to a peer, which decides how long an I/O takes. The engine cannot seek, read ahead or read back.
    Peer,
    /// Bandwidth is in bits; `unit_base=8` prints bytes.
    Bits,
}

/// Makes [`EngineKind`] from its table: `Variant: "name", "help", properties;`.
macro_rules! engines {
    ($($kind:ident: $name:literal, $help:literal, $($property:ident)+;)+) => {
        choices! {
            /// `ioengine=`: which engine drives a job; the registry has one line for each.
            pub enum EngineKind default Psync {
                $($kind: $name, $help;)+
            }
        }

        impl EngineKind {
            const fn properties(self) -> &'static [Property] {
                match self {
                    $(EngineKind::$kind => &[$(Property::$property),+],)+
                }
            }
        }
    };
}

engines! {
    Cpuio: "cpuio", "Burns CPU time, does no I/O", InCall OneThread Diskless NoData Work Load;
    DevDax: "dev-dax", "Memory copies to a device of persistent memory", InCall FixedSize PersistentMemory DaxDevice;
    Dircreate: "dircreate", "mkdir(2), once per file of the job", InCall OneThread Diskless NoData FileOperation Directories Creates;
    Dirdelete: "dirdelete", "rmdir(2), once per file of the job", InCall OneThread Diskless NoData FileOperation Directories Removes;
    Dirstat: "dirstat", "stat(2) on directories, once per file of the job", InCall OneThread Diskless NoData FileOperation Directories;
    E4defrag: "e4defrag", "Swaps the extents of a file on ext4 with those of another, EXT4_IOC_MOVE_EXT", InCall OneThread NoData OnlyWrites Ext4;
    Exec: "exec", "Runs another program, does no I/O", InCall OneThread Diskless NoData Work;
    External: "external", "An engine from a shared object: external:/path/to/engine.so", Queued OneThread;
    Falloc: "falloc", "fallocate(2)", InCall OneThread NoData ReadWrite;
    Filecreate: "filecreate", "open(2) with O_CREAT, once per file of the job", InCall OneThread Diskless NoData FileOperation Creates;
    Filedelete: "filedelete", "unlink(2), once per file of the job", InCall OneThread NoData FileOperation Removes;
    Filestat: "filestat", "stat(2), once per file of the job", InCall OneThread NoData FileOperation;
    Ftruncate: "ftruncate", "ftruncate(2) to the offset of each write", InCall OneThread NoData OnlyWrites;
    Http: "http", "Objects of an S3, WebDAV or Swift server", InCall Diskless Objects;
    IoUring: "io_uring", "io_uring(7)", Queued OneThread Atomic Ring;
    IoUringCmd: "io_uring_cmd", "Commands passed through to NVMe devices by io_uring(7)", Queued OneThread FixedSize Ring PageBuffers Passthrough;
    Libaio: "libaio", "Kernel asynchronous I/O, io_submit(2)", Queued Atomic OneSync;
    Libpmem: "libpmem", "Memory copies to mapped files on persistent memory", InCall FixedSize PersistentMemory PageBuffers;
    Mmap: "mmap", "Memory copies to mapped files", InCall FixedSize MapsFiles;
    Mtd: "mtd", "Raw flash (MTD); trims erase blocks", InCall FixedSize FlashDevice;
    Nbd: "nbd", "NBD, the network block device: a client of its servers", Queued OneThread Diskless FixedSize Export;
    Net: "net", "Sockets: send(2), recv(2)", InCall OneThread Diskless NoTrim Stream Peer Bits;
    Netsplice: "netsplice", "Sockets by splice(2)", InCall OneThread Diskless NoTrim Stream Peer;
    Null: "null", "Does nothing", InCallAtDepthOne Uncounted Diskless NoData;
    PageFault: "page_fault", "Memory copies to fresh anonymous memory", InCall OneThread FixedSize Diskless NoTrim;
    Posixaio: "posixaio", "aio_read(3), aio_write(3), done by threads of ferrio", Queued OneThread BeginsAtOnce OneSync;
    Psync: "psync", "pread(2), pwrite(2)", InCall;
    Pvsync: "pvsync", "preadv(2), pwritev(2)", InCall;
    Pvsync2: "pvsync2", "preadv2(2), pwritev2(2)", InCall Atomic;
    Sg: "sg", "SCSI commands by SG_IO", InCall PageBuffers ScsiDevice;
    Splice: "splice", "splice(2), vmsplice(2) through a pipe", InCall Stream;
    Sync: "sync", "lseek(2), read(2), write(2)", InCall;
    TokioUring: "tokio_uring", "io_uring(7) by the tokio-uring crate", Queued OneThread Ring;
    Vsync: "vsync", "readv(2) and writev(2); adjacent I/Os are merged", InCallAtDepthOne Merges;
}

impl EngineKind {
    fn has(self, property: Property) -> bool {
        self.properties().contains(&property)
    }

    /// What is special about the engine, a sentence for each property: all but how I/Os complete, and what `docs/engines.md` has columns
    /// for.
    pub fn in_words(self) -> impl Iterator<Item = &'static str> {
        self.properties().iter().filter_map(move |&property| self.sentence(property))
    }

    fn sentence(self, property: Property) -> Option<&'static str> {
        use Property::{
            Atomic, Diskless, Ext4, FixedSize, InCall, InCallAtDepthOne, NoData, NoTrim, OneSync, OneThread,
            Queued, Ring,
        };
        match property {
            InCall | InCallAtDepthOne | Queued | OneThread | OneSync | NoTrim | Atomic | Ext4 | Ring => None,
            // That it does no I/O says both.
            Diskless | NoData if !self.does_io() => None,
            // That its file is an export says how it differs from other files.
            Diskless if self.has_export() => None,
            // Files that are not opened have no size to keep.
            FixedSize if self.is_diskless() => None,
            FixedSize if !self.has_regular_files() => Some("Its files keep their size."),
            _ => Some(property.text().trim_start()),
        }
    }

    /// True when the engine is part of this build of the program.
    #[must_use]
    pub fn is_built_in(self) -> bool {
        self != EngineKind::Http || cfg!(feature = "http")
    }

    /// Why the engine is not part of this build of the program, and how to get it.
    #[must_use]
    pub fn reason_of_absence(self) -> Option<String> {
        let feature = self.feature().filter(|_| !self.is_built_in())?;
        let name = self.word();
        Some(format!("this ferrio was built without the engine {name}: install it with --features {feature}"))
    }

    /// The cargo feature that the engine is part of, if it is not in every build.
    #[must_use]
    pub fn feature(self) -> Option<&'static str> {
        (self == EngineKind::Http).then_some("http")
    }

    /// True when the engine touches no file: no layout, no open, sizes come from the job.
    #[must_use]
    pub fn is_diskless(self) -> bool {
        self.has(Property::Diskless)
    }

    /// True when what the engine measures is done to each file in place of opening it, and its I/Os do nothing.
    #[must_use]
    pub fn operates_on_files(self) -> bool {
        self.has(Property::FileOperation)
    }

    /// True when the engine needs paths: it opens files, or does something else to them.
    #[must_use]
    pub fn uses_files(self) -> bool {
        !self.is_diskless() || self.operates_on_files()
    }

    /// True when the files of a job are directories.
    #[must_use]
    pub fn has_directories(self) -> bool {
        self.has(Property::Directories)
    }

    /// True when directories are made for the job before it runs.
    #[must_use]
    pub fn needs_directories(self) -> bool {
        self.has_directories() && !self.has(Property::Creates)
    }

    /// True when the engine creates the files of a job, and opens them by that.
    #[must_use]
    pub fn creates_files(self) -> bool {
        self.has(Property::Creates) && !self.has_directories()
    }

    /// True when the engine creates, removes or changes files even in jobs that only read.
    #[must_use]
    pub fn always_changes_files(self) -> bool {
        self.has(Property::Creates) || self.has(Property::Removes) || self.opens_for_writing()
    }

    /// True when files are opened for writing, and created, even for jobs that only read.
    #[must_use]
    pub fn opens_for_writing(self) -> bool {
        self.has(Property::ReadWrite)
    }

    /// True when submissions and completions are counted: all but fio's null engine at depth 1, which has none.
    #[must_use]
    pub fn counts_calls(self) -> bool {
        !self.has(Property::Uncounted)
    }

    /// True when the engine moves data, to or from a device or another program.
    #[must_use]
    pub fn moves_data(self) -> bool {
        !self.has(Property::NoData)
    }

    /// True when reads and trims have no meaning: a job that does some fails.
    #[must_use]
    pub fn only_writes(self) -> bool {
        self.has(Property::OnlyWrites)
    }

    /// True when trims are done, if what is trimmed can be.
    #[must_use]
    pub fn can_trim(self) -> bool {
        self.does_io() && !self.has(Property::OnlyWrites) && !self.has(Property::NoTrim)
    }

    /// True when every kind of sync is an fsync(2).
    #[must_use]
    pub fn has_one_sync(self) -> bool {
        self.has(Property::OneSync)
    }

    /// True when the engine works on ext4 only.
    #[must_use]
    pub fn only_on_ext4(self) -> bool {
        self.has(Property::Ext4)
    }

    /// True when the engine does I/O; the others work, and move nothing.
    #[must_use]
    pub fn does_io(self) -> bool {
        !self.has(Property::Work)
    }

    /// True when the engine only makes a load for other jobs.
    #[must_use]
    pub fn only_makes_load(self) -> bool {
        self.has(Property::Load)
    }

    /// True when the engine must let go of a file before its pages can leave the page cache.
    #[must_use]
    pub fn maps_files(self) -> bool {
        self.has(Property::MapsFiles)
    }

    /// True when the engine copies to and from persistent memory, without the page cache and without the counters of disks.
    #[must_use]
    pub fn is_on_persistent_memory(self) -> bool {
        self.has(Property::PersistentMemory)
    }

    /// True when the files of a job are devices of persistent memory.
    #[must_use]
    pub fn needs_dax_devices(self) -> bool {
        self.has(Property::DaxDevice)
    }

    /// True when every I/O buffer begins at a page, whether the job does direct I/O or not.
    #[must_use]
    pub fn needs_page_buffers(self) -> bool {
        self.has(Property::PageBuffers)
    }

    /// False when files are devices of one kind.
    fn has_regular_files(self) -> bool {
        !self.needs_dax_devices()
            && !self.needs_flash_devices()
            && !self.needs_scsi_devices()
            && !self.passes_through()
    }

    /// True when a write job must be laid out in full first because the engine cannot extend a file.
    #[must_use]
    pub fn cannot_extend(self) -> bool {
        self.has(Property::FixedSize)
    }

    /// True when the engine moves data through a pipe or socket, so that `pre_read` does nothing.
    #[must_use]
    pub fn is_stream(self) -> bool {
        self.has(Property::Stream)
    }

    /// True when the engine's system call can ask for untorn writes (RWF_ATOMIC).
    #[must_use]
    pub fn can_ask_for_atomic_writes(self) -> bool {
        self.has(Property::Atomic)
    }

    /// True when the files of a job are the character devices of NVMe namespaces, past whose block layer the engine works.
    #[must_use]
    pub fn passes_through(self) -> bool {
        self.has(Property::Passthrough)
    }

    /// True when the engine is built on io_uring and fails where that is forbidden.
    #[must_use]
    pub fn is_on_io_uring(self) -> bool {
        self.has(Property::Ring)
    }

    /// True when the files of a job are objects of a server.
    #[must_use]
    pub fn has_objects(self) -> bool {
        self.has(Property::Objects)
    }

    /// True when the engine has no submission latency at any depth: it collects requests and moves them all in one call.
    #[must_use]
    pub fn merges(self) -> bool {
        self.has(Property::Merges)
    }

    /// True when a queued I/O begins as soon as it is submitted, so that `iodepth_batch_submit` has no effect.
    #[must_use]
    pub fn begins_at_once(self) -> bool {
        self.has(Property::BeginsAtOnce)
    }

    /// True when the engine talks to a peer, who decides how long an I/O takes.
    #[must_use]
    pub fn has_peer(self) -> bool {
        self.has(Property::Peer)
    }

    /// True when data is kept where only the engine reaches it, so that only the engine can make it durable.
    #[must_use]
    pub fn keeps_data_itself(self) -> bool {
        let is_elsewhere = self.is_diskless() && self.moves_data() && !self.has_peer();
        is_elsewhere || self.needs_scsi_devices() || self.needs_flash_devices()
    }

    /// True when files are SCSI devices: disks, or SCSI generic devices.
    #[must_use]
    pub fn needs_scsi_devices(self) -> bool {
        self.has(Property::ScsiDevice)
    }

    /// True when files are devices of raw flash (MTD).
    #[must_use]
    pub fn needs_flash_devices(self) -> bool {
        self.has(Property::FlashDevice)
    }

    /// True when the job's one file is an export of a server, which has a size of its own.
    #[must_use]
    pub fn has_export(self) -> bool {
        self.has(Property::Export)
    }

    /// True when bandwidth is printed in bits unless the job wants bytes.
    #[must_use]
    pub fn counts_in_bits(self) -> bool {
        self.has(Property::Bits)
    }

    /// True when one thread submits and reaps, which excludes `io_submit_mode=offload`.
    #[must_use]
    pub fn needs_one_thread(self) -> bool {
        self.has(Property::OneThread)
    }

    /// True for engines that complete every I/O in the submitting call at this depth.
    #[must_use]
    pub fn is_sync(self, iodepth: u32) -> bool {
        self.has(Property::InCall) || (iodepth == 1 && self.has(Property::InCallAtDepthOne))
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

/// `ioengine=external`: an engine in a shared object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalEngine {
    /// Path of the object.
    pub path: String,
    /// `external_options`, for the engine only.
    pub options: String,
}

/// What engine e4defrag swaps extents with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Donor {
    /// `donorname`, in the directory of the job's files.
    pub path: PathBuf,
    /// `inplace=1`: space is reserved for each I/O and freed after it, not once for all.
    pub reserves_per_io: bool,
}

/// What each I/O carries besides its data, on devices formatted with metadata.
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

/// What engine io_uring_cmd asks of the device besides reads and writes.
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

/// Private options of all engines; an engine reads its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// io_uring, libaio, pvsync2: RWF_ATOMIC on writes.
    pub atomic: bool,
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
    /// io_uring_cmd: what it asks of the device.
    pub passthrough: PassthroughOptions,
    /// io_uring, io_uring_cmd: metadata and protection information.
    pub protection: ProtectionOptions,
    /// libaio: reap from the completion ring in user space.
    pub userspace_reap: bool,
    /// libaio: PREADV/PWRITEV requests.
    pub libaio_vectored: bool,
    /// libaio: what serves it.
    pub libaio_backend: LibaioBackend,
    /// libaio: syncs are calls that wait, as in sysbench.
    pub blocking_syncs: bool,
    /// mmap: private mapping with transparent huge pages.
    pub thp: bool,
    /// mmap: syncs have MS_INVALIDATE, as in sysbench.
    pub invalidating_syncs: bool,
    /// sg: reads come from the medium, not from a cache of the device.
    pub readfua: bool,
    /// sg: writes go to the medium before they complete.
    pub writefua: bool,
    /// sg: which command a write is.
    pub sg_write_mode: SgWriteMode,
    /// sg: the stream that is written to, 0 for one that the engine opens.
    pub stream_id: u16,
    /// mtd: blocks that are known to be bad are passed over.
    pub skip_bad: bool,
    /// nbd: the export.
    pub uri: String,
    /// filestat, dirstat: which call looks a file up.
    pub stat_type: StatType,
    /// e4defrag: the file that gives its extents.
    pub donor: Donor,
    /// cpuio: how much CPU time it burns.
    pub cpu: CpuLoad,
    /// exec: what it runs.
    pub program: Program,
}
