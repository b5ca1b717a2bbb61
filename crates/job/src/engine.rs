//! The engine table: the names of all engines, and the properties of each.

use crate::choice::choices;

mod abilities;

/// Makes [`Property`] from a table: `Property method;`. The method says whether an engine has the property. The comment of each is also what
/// documentation and help say of an engine.
macro_rules! properties {
    ($(#[doc = $text:literal] $name:ident $($method:ident)?;)+) => {
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

        impl EngineKind {
            $($(
                #[doc = $text]
                #[must_use]
                pub fn $method(self) -> bool {
                    self.has(Property::$name)
                }
            )?)+
        }
    };
}

properties! {
    /// Every I/O completes in the call that submits it.
    InCall;
    /// At `iodepth=1`, every I/O completes in the call that submits it.
    InCallAtDepthOne;
    /// At `iodepth=1`, neither submissions nor completions are counted.
    Uncounted;
    /// Collects a batch and makes one call for adjacent I/Os. The wait for the call counts as completion latency; there is no submission latency.
    Merges merges;
    /// I/Os are queued and complete later.
    Queued;
    /// Each I/O starts when it is submitted, so `iodepth_batch` has no effect.
    BeginsAtOnce begins_at_once;
    /// One thread submits and reaps: there is no `io_submit_mode=offload`.
    OneThread needs_one_thread;
    /// ferrio does not lay out or open its files; sizes come from the job.
    Diskless is_diskless;
    /// Cannot extend a file: regular files are laid out in full before a job writes.
    FixedSize cannot_extend;
    /// Moves no data: buffers stay untouched, and there is nothing to verify.
    NoData;
    /// Only writes have an effect: a job that reads or trims fails.
    OnlyWrites only_writes;
    /// There is nothing to trim: a trim fails.
    NoTrim;
    /// Every kind of sync is an fsync(2).
    OneSync has_one_sync;
    /// Works on ext4 only.
    Ext4 only_on_ext4;
    /// The call that it measures is made on each file in place of opening it; its I/Os do nothing.
    FileOperation operates_on_files;
    /// The files of a job are directories.
    Directories has_directories;
    /// Creates each file of the job, whatever `rw` says.
    Creates;
    /// Removes each file of the job, whatever `rw` says.
    Removes;
    /// Does no I/O: files, buffers, sizes and directions have no meaning. Each piece of work counts as one I/O in the report.
    Work;
    /// The run does not wait for this job: without `runtime` or `number_ios`, it ends with the last other job.
    Load is_background_load;
    /// Opens files for writing, and creates them, whatever `rw` says.
    ReadWrite opens_for_writing;
    /// Maps files into memory: their pages stay in the page cache until the engine lets go of them.
    MapsFiles maps_files;
    /// Copies to and from persistent memory: past the page cache, and past the counters of disks.
    PersistentMemory is_on_persistent_memory;
    /// The files of a job are devices of persistent memory; `direct=1` is refused, since there is no page cache to bypass.
    DaxDevice needs_dax_devices;
    /// Every I/O buffer begins at a page, as with direct I/O.
    PageBuffers needs_page_buffers;
    /// Moves data through a pipe or socket: `pre_read` has no effect.
    Stream is_stream;
    /// Its system call has a flag for untorn writes, so that `atomic=1` has a meaning.
    Atomic can_ask_for_atomic_writes;
    /// Sets up an io_uring.
    Ring is_on_io_uring;
    /// Passes commands through to NVMe devices: its files are the character devices of namespaces, such as `/dev/ng0n1`. `cmd_type=nvme` is the default and the only value.
    Passthrough passes_through;
    /// Its files are objects of a server. For several requests at once, use `numjobs` or `io_submit_mode=offload`.
    Objects has_objects;
    /// Its files are SCSI devices: disks, or SCSI generic devices.
    ScsiDevice needs_scsi_devices;
    /// Its files are devices of raw flash (MTD).
    FlashDevice needs_flash_devices;
    /// Its one file is an export of a server, which is not laid out and keeps its size. Without `size`, a job uses all of it.
    Export has_export;
    /// Talks to a peer, which decides how long an I/O takes. The engine cannot seek, read ahead or read back.
    Peer has_peer;
    /// Bandwidth is in bits; `unit_base=8` prints bytes.
    Bits counts_in_bits;
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

            fn has(self, property: Property) -> bool {
                self.properties().contains(&property)
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
