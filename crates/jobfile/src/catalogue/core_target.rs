//! What a job runs on and the shape of its I/O: names, files, directions, sizes, blocks, randomness.
//!
//! One entry per option; the entry's form is explained in `macros.rs`. The text below is the arm of a macro
//! that hands its rows, after those it was given, to the next part of the table.

macro_rules! rows {
    ($($before:tt)*) => {
        $crate::catalogue::core_course::rows! {
        $($before)*
        [Core; "general" / "desc"] {
            Description: "description", Str, Plain;
                Works; "Free text shown with the job in the report; no effect on the run";
            Name: "name", Str, Plain;
                Works; "Job name used in reports, file names and log names";
            WaitFor: "wait_for", Str, Plain;
                Works; "Start only after every clone of the named job has exited";
        }
        [Core; "file" / "filename"] {
            Filename: "filename", StrList, Plain;
                Works; "Colon-separated files or devices to use, shared by all clones; backslash escapes a colon; '-' is stdin/stdout";
        }
        [Core; "file" / "io_basic"] {
            Filetype: "filetype", Enum, Plain, default "none", words ["none": "Find out by looking", "file": "Regular file", "block": "Block device", "char": "Character device"];
                OnlyOff(&["none"]); "Skip the stat call and treat every file of the job as this type";
        }
        [Core; "file" / "filename"] {
            Directory: "directory", StrList, Plain;
                Works; "Colon-separated directories prefixed to file names; clones are spread over them by job number";
            FilenameFormat: "filename_format", Str, Plain, default "$jobname.$jobnum.$filenum";
                Works; "Template for generated names; expands $jobname, $jobnum, $filenum, $clientuid";
            UniqueFilename: "unique_filename", Bool, Plain, default "1";
                NoEffect("there is no client/server mode"); "Prefix generated names with the client's address so networked clients do not collide";
            Lockfile: "lockfile", Enum, Plain, default "none", words ["none": "Do not lock", "exclusive": "One job at a time", "readwrite": "Many readers or one writer"], under "filename";
                OnlyOff(&["none"]); "Serialise I/O to a file shared between jobs with an in-fio lock";
            Opendir: "opendir", Str, Plain;
                Works; "Add every file found below this directory to the job";
        }
        [Core; "io" / "io_basic"] {
            Rw: "rw" | "readwrite", EnumArg, Plain, of ReadWrite;
                Works; "Direction and pattern of the workload";
            RwSequencer: "rw_sequencer", Enum, Plain, of Sequencer;
                Works; "What a sequential group of I/Os inside an rw :NR workload does to the offset";
            Ioengine: "ioengine", EnumArg, Plain, default "psync", words ["cpuio": "Burns CPU time, does no I/O", "dev-dax": "Memory copies to a DAX device", "dfs": "DAOS file system", "dircreate": "Creates directories", "dirdelete": "Deletes directories", "dirstat": "Looks directories up", "e4defrag": "ext4 defragmentation", "exec": "Runs another program", "falloc": "fallocate(2)", "filecreate": "Creates files", "filedelete": "Deletes files", "filestat": "Looks files up", "ftruncate": "ftruncate(2)", "gfapi": "GlusterFS, synchronous", "gfapi_async": "GlusterFS, asynchronous", "http": "HTTP, S3 or WebDAV", "ime_aio": "DDN IME, asynchronous", "ime_psync": "DDN IME, synchronous", "ime_psyncv": "DDN IME, synchronous vectors", "io_uring": "io_uring(7)", "io_uring_cmd": "NVMe pass-through by io_uring(7)", "libaio": "Kernel asynchronous I/O, io_submit(2)", "libblkio": "libblkio", "libcufile": "GPU memory by NVIDIA GDS", "libhdfs": "Hadoop file system", "libhipfile": "GPU memory by AMD hipFile", "libiscsi": "iSCSI from user space", "libpmem": "Persistent memory by libpmem", "libzbc": "Zoned devices by libzbc", "mmap": "Memory copies to mapped files", "mtd": "Raw flash", "nbd": "Network block device", "net": "Sockets", "netsplice": "Sockets by splice(2)", "nfs": "NFS from user space", "null": "Does nothing", "page_fault": "Faults pages of mapped files in", "posixaio": "aio_read(3) and its kin", "psync": "pread(2), pwrite(2)", "pvsync": "preadv(2), pwritev(2)", "pvsync2": "preadv2(2), pwritev2(2)", "rados": "Ceph RADOS objects", "rbd": "Ceph block device", "rdma": "RDMA", "sg": "SCSI generic", "solarisaio": "Solaris only", "splice": "splice(2) through a pipe", "sync": "lseek(2), read(2), write(2)", "tokio_uring": "io_uring(7) by the tokio-uring crate", "vsync": "readv(2), writev(2), neighbours joined", "windowsaio": "Windows only", "xnvme": "NVMe by xNVMe", "external": "A plug-in: external:/path.so"];
                Works; "Method used to submit I/O (tokio_uring: ferrio only)";
            Iodepth: "iodepth", Int, Count, default "1", min 1, max 4294967295;
                Works; "I/O units kept in flight per job";
            IodepthBatch: "iodepth_batch" | "iodepth_batch_submit", Int, Count, default "1", max 4294967295, under "iodepth";
                Works; "I/Os to queue before each submission to the engine";
            IodepthBatchCompleteMin: "iodepth_batch_complete_min" | "iodepth_batch_complete", Int, Count, default "1", max 4294967295, under "iodepth";
                Works; "Fewest completions to wait for when reaping";
            IodepthBatchCompleteMax: "iodepth_batch_complete_max", Int, Count, max 4294967295, under "iodepth";
                Works; "Most completions to take in one reap";
            IodepthLow: "iodepth_low", Int, Count, max 4294967295, under "iodepth";
                Works; "After a full queue, refill only once this many remain in flight";
            SerializeOverlap: "serialize_overlap", Bool, Plain, default "0", under "iodepth";
                Works; "Hold back an I/O that overlaps one still in flight";
            IoSubmitMode: "io_submit_mode", Enum, Plain, of SubmitMode;
                Works; "Submit from the job thread, or hand I/Os to a pool of worker threads";
        }
        [Core; "io" / "none"] {
            Size: "size", SizeZone, Bytes;
                Works; "Region of the files the job covers and, by default, its total I/O";
            IoSize: "io_size" | "io_limit", SizeZone, Bytes;
                Works; "Total bytes to transfer, independent of size; may wrap over the region";
        }
        [Core; "file" / "none"] {
            FillDevice: "fill_device" | "fill_fs", Bool, Plain, default "0";
                Works; "Write until the device or file system is full";
            Filesize: "filesize", SizeRange, Bytes, min 1;
                Works; "Size of each file; overrides the split of size over nrfiles";
            FileAppend: "file_append", Bool, Plain, default "0";
                Works; "Start at the current end of each file";
        }
        [Core; "io" / "none"] {
            Offset: "offset" | "fileoffset", SizeZone, Bytes, default "0";
                Works; "Start of the I/O region within each file";
            OffsetAlign: "offset_align", Int, Bytes, default "0", max 4294967295;
                Works; "Round a percentage-based start offset up to a multiple of this";
            OffsetIncrement: "offset_increment", SizeZone, Bytes, default "0", under "offset";
                Works; "Added to offset once per clone number, so clones get separate regions";
            NumberIos: "number_ios", Int, Count, default "0";
                Works; "Stop after this many I/Os";
            NumRange: "num_range", Int, Count, default "1", max 256;
                Unavailable(absent::RANGES); "Ranges packed into one trim command";
            Bs: "bs" | "blocksize", Size PerDirection, Bytes, default "4096", min 1, max 18446744073709551615, under "rw";
                Works; "Block size per direction";
            Ba: "ba" | "blockalign", Size PerDirection, Bytes, min 1, max 18446744073709551615, under "rw";
                Works; "Alignment of random offsets";
            Bsrange: "bsrange" | "blocksize_range", Range PerDirection, Bytes, under "rw";
                Works; "Random block sizes between two bounds, in steps of the lower bound";
            Bssplit: "bssplit", Bssplit PerDirection, Bytes, under "rw";
                Works; "Weighted list of block sizes, size/percent joined by colons; blank percents share the rest";
            BsUnaligned: "bs_unaligned" | "blocksize_unaligned", Flag, Plain, under "rw";
                Works; "Allow bsrange to give any byte size instead of multiples of the minimum";
            BsIsSeqRand: "bs_is_seq_rand", Bool, Plain, default "0", under "bs";
                Works; "Use the read block size for sequential and the write one for random I/O";
        }
        [Core; "io" / "random"] {
            Randrepeat: "randrepeat" | "allrandrepeat", Bool, Plain, default "1", under "rw";
                Works; "Fixed seed, so random sequences repeat between runs";
            Randseed: "randseed", Int, Plain, default "0x89", under "rw";
                Works; "Seed for all random generators of the job";
            Norandommap: "norandommap", Flag, Plain, under "rw";
                Works; "Do not track visited blocks; random offsets may repeat or be missed";
            Softrandommap: "softrandommap", Bool, Plain, default "0", under "norandommap";
                Works; "Carry on without the block map when it cannot be allocated";
            Sprandom: "sprandom", Bool, Plain, default "0", under "rw";
                OnlyOff(&["0"]); "Precondition an SSD by writing its physical capacity once in invalidation-aware order";
            SprNumRegions: "spr_num_regions", Int, Count, default "100", max 4294967295, under "sprandom";
                OnlyOff(&["100"]); "Regions that sprandom divides the device into";
            SprOp: "spr_op", Float, Plain, default "0.15", under "sprandom";
                OnlyOff(&["0.15"]); "Over-provisioning ratio of the device, between 0 and 1";
            SprCs: "spr_cs", Size, Bytes, default "0", max 18446744073709551615, under "sprandom";
                OnlyOff(&["0"]); "Device cache size; delays invalidating writes by one region";
            RandomGenerator: "random_generator", Enum, Plain, of RandomGenerator;
                Works; "Generator behind random offsets (permute: ferrio only)";
            RandomDistribution: "random_distribution", EnumArg, Plain, of DistributionType;
                Works; "Statistical shape of random offsets";
            RandomSequenceStride: "random_sequence_stride", Bool, Plain, default "0";
                Works; "Move the sequence window forward after each cycle instead of repeating it in place";
            PercentageRandom: "percentage_random", Int PerDirection, Percent, default "100,100,100", max 100;
                Works; "Share of a random workload that is really random; the rest is sequential";
        }
        }
    };
}
pub(super) use rows;
