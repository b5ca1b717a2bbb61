//! Private options of the engines cpuio to libaio, in table order.
//!
//! One entry per option; the entry's form is explained in `macros.rs`. The text below is the arm of a macro
//! that hands its rows, after those it was given, to the next part of the table.

macro_rules! rows {
    ($($before:tt)*) => {
        $crate::catalogue::engines_remote::rows! {
        $($before)*
        [Engines(&["cpuio"]); "engine" / "none"] {
            Cpuload: "cpuload", Int, Percent, max 4294967295;
                NotYet; "Share of CPU time to burn";
            Cpumode: "cpumode", Enum, Plain, default "noop", words ["noop", "qsort"];
                NotYet; "What is executed while burning CPU";
            Cpuchunks: "cpuchunks", Int, Microseconds, default "50000", max 4294967295, under "cpuload";
                NotYet; "Length of one burn cycle; sleep follows from cpuload";
            ExitOnIoDone: "exit_on_io_done", Bool, Plain, default "0";
                NotYet; "End this job once no I/O job is running or pending";
        }
        [Engines(&["dfs"]); "engine" / "dfs"] {
            PoolDfs: "pool", Str, Plain;
                Unavailable(absent::DFS); "DAOS pool label or UUID";
            Cont: "cont", Str, Plain;
                Unavailable(absent::DFS); "DAOS container label or UUID";
            ChunkSizeDfs: "chunk_size", Size, Bytes, default "0", max 18446744073709551615;
                Unavailable(absent::DFS); "Chunk size of created files";
            ObjectClass: "object_class", Str, Plain;
                Unavailable(absent::DFS); "DAOS object class of created files";
            Svcl: "svcl", Str, Plain;
                Unavailable(absent::DFS); "Service ranks of the pool replicas";
        }
        [Engines(&["e4defrag"]); "engine" / "e4defrag"] {
            Donorname: "donorname", Str, Plain;
                Unavailable(absent::E4DEFRAG); "File whose extents are swapped in";
            Inplace: "inplace", Int, Plain, max 1;
                Unavailable(absent::E4DEFRAG); "1 allocates and frees donor space per operation; 0 once at start";
        }
        [Engines(&["exec"]); "engine" / "none"] {
            Program: "program", Str, Plain;
                NotYet; "Program the job runs";
            Arguments: "arguments", Str, Plain;
                NotYet; "Arguments for the program";
            GraceTime: "grace_time", Int, Seconds, default "1", max 4294967295;
                NotYet; "Seconds between SIGTERM and SIGKILL when runtime ends";
            StdRedirect: "std_redirect", Bool, Plain, default "1";
                NotYet; "Send output to JOBNAME.stdout and JOBNAME.stderr";
        }
        [Engines(&["filestat", "dirstat"]); "engine" / "filestat"] {
            StatType: "stat_type", Enum, Plain, default "stat", words ["stat", "lstat", "statx"];
                NotYet; "Call measured by the stat engines";
        }
        [Engines(&["gfapi", "gfapi_async"]); "engine" / "gfapi"] {
            Volume: "volume", Str, Plain;
                Unavailable(absent::GFAPI); "Gluster volume";
            Brick: "brick", Str, Plain;
                Unavailable(absent::GFAPI); "Gluster server to contact";
            SingleInstanceGfapi: "single-instance", Bool, Plain;
                Unavailable(absent::GFAPI); "Share one connection between all jobs of the process";
        }
        [Engines(&["http"]); "engine" / "http"] {
            Https: "https", Enum, Plain, default "off", words ["off", "on", "insecure"];
                Unavailable(absent::HTTP); "Use TLS, optionally without peer verification";
            HttpHost: "http_host", Str, Plain, default "localhost";
                Unavailable(absent::HTTP); "Host to contact";
            HttpUser: "http_user", Str, Plain;
                Unavailable(absent::HTTP); "User name";
            HttpPass: "http_pass", Str, Plain;
                Unavailable(absent::HTTP); "Password";
            HttpS3Key: "http_s3_key", Str, Plain;
                Unavailable(absent::HTTP); "S3 secret key";
            HttpS3Keyid: "http_s3_keyid", Str, Plain;
                Unavailable(absent::HTTP); "S3 access key id";
            HttpS3SecurityToken: "http_s3_security_token", Str, Plain;
                Unavailable(absent::HTTP); "Session token for temporary S3 credentials";
            HttpSwiftAuthToken: "http_swift_auth_token", Str, Plain;
                Unavailable(absent::HTTP); "Swift authentication token";
            HttpS3Region: "http_s3_region", Str, Plain, default "us-east-1";
                Unavailable(absent::HTTP); "S3 region used in request signatures";
            HttpS3SseCustomerKey: "http_s3_sse_customer_key", Str, Plain;
                Unavailable(absent::HTTP); "Customer key for server-side encryption";
            HttpS3SseCustomerAlgorithm: "http_s3_sse_customer_algorithm", Str, Plain, default "AES256";
                Unavailable(absent::HTTP); "Algorithm for server-side encryption";
            HttpS3StorageClass: "http_s3_storage_class", Str, Plain, default "STANDARD";
                Unavailable(absent::HTTP); "Storage class requested for objects";
            HttpMode: "http_mode", Enum, Plain, default "webdav", words ["webdav", "s3", "swift"];
                Unavailable(absent::HTTP); "Protocol dialect spoken to the server";
            HttpVerbose: "http_verbose", Int, Plain, default "0", max 4294967295;
                Unavailable(absent::HTTP); "Verbosity of the engine";
            HttpObjectMode: "http_object_mode", Enum, Plain, default "block", words ["block", "range"];
                Unavailable(absent::HTTP); "One object per block, or byte ranges of one object per file";
        }
        [Engines(&["io_uring", "io_uring_cmd"]); "engine" / "iouring"] {
            HipriIoUring: "hipri", Flag, Plain;
                Works; "Busy-poll for completions in the kernel";
            ReadfuaIoUring: "readfua", Bool, Plain, default "0";
                NoEffect("only engine io_uring_cmd acts on it"); "Set force-unit-access on reads";
            WritefuaIoUring: "writefua", Bool, Plain, default "0";
                NoEffect("only engine io_uring_cmd acts on it"); "Set force-unit-access on writes";
            WriteMode: "write_mode", ModeSplit, Percent, default "write", words ["write", "uncor", "zeroes", "verify", "zone_append"];
                NoEffect("only engine io_uring_cmd acts on it"); "Command used for writes, or a weighted mix of commands";
            VerifyMode: "verify_mode", Enum, Plain, default "read", words ["read", "compare"];
                NoEffect("only engine io_uring_cmd acts on it"); "Command used to check data";
            Fixedbufs: "fixedbufs", Flag, Plain;
                Works; "Register the I/O buffers with the ring";
            Registerfiles: "registerfiles", Flag, Plain;
                Works; "Register the files with the ring";
            SqthreadPollIoUring: "sqthread_poll", Flag, Plain;
                Works; "Let a kernel thread submit";
            SqthreadPollCpu: "sqthread_poll_cpu", Int, Plain, max 4294967295;
                Works; "CPU for the submission thread";
            Nonvectored: "nonvectored", Int, Plain, default "-1", min -1, max 4294967295;
                Works; "Use plain instead of vectored read and write commands";
            UncachedIoUring: "uncached", Int, Plain, max 4294967295;
                Works; "Buffered I/O that drops its pages afterwards";
            NowaitIoUring: "nowait", Bool, Plain;
                Works; "Fail with EAGAIN instead of blocking";
            ForceAsync: "force_async", Int, Count, max 4294967295;
                Works; "Force every Nth request to a kernel worker";
            CmdType: "cmd_type", Enum, Plain, default "nvme", words ["nvme", "bsg"];
                NoEffect("only engine io_uring_cmd acts on it"); "Kind of passthrough command";
            CdbLen: "cdb_len", Enum, Bytes, default "0", words ["0", "10", "16", "32"];
                NoEffect("only engine io_uring_cmd acts on it"); "SCSI command length; 0 chooses the smallest that fits";
            VerifyBytchk: "verify_bytchk", Enum, Plain, default "0", words ["0", "1", "3"];
                NoEffect("only engine io_uring_cmd acts on it"); "Comparison done by SCSI VERIFY";
            ReadMode: "read_mode", Enum, Plain, default "read", words ["read", "prefetch"];
                NoEffect("only engine io_uring_cmd acts on it"); "SCSI command used for reads";
            CmdprioPercentageIoUring: "cmdprio_percentage", Int ReadWrite, Percent, max 100;
                Works; "Share of I/Os sent with the cmdprio priority";
            CmdprioClassIoUring: "cmdprio_class", Int ReadWrite, Plain, min 1, max 3;
                Works; "Priority class of those I/Os";
            CmdprioHintIoUring: "cmdprio_hint", Int ReadWrite, Plain, max 1023;
                Works; "Priority hint of those I/Os";
            CmdprioIoUring: "cmdprio", Int ReadWrite, Plain, max 7;
                Works; "Priority level of those I/Os";
            CmdprioBssplitIoUring: "cmdprio_bssplit", PrioBssplit ReadWrite, Bytes;
                Works; "Priority shares per block size: size/percent[/class/level[/hint]], colon-joined";
            MdPerIoSizeIoUring: "md_per_io_size", Int, Bytes, default "0", max 4294967295;
                Unavailable(absent::PROTECTION); "Bytes of metadata buffer kept apart from the data, per I/O";
            PiActIoUring: "pi_act", Bool, Plain, default "1";
                Unavailable(absent::PROTECTION); "1 lets the device handle protection information, 0 lets fio";
            PiChkIoUring: "pi_chk", WordList, Plain, words ["GUARD", "REFTAG", "APPTAG"];
                Unavailable(absent::PROTECTION); "Protection fields the device checks";
            ApptagIoUring: "apptag", Int, Plain, default "0x1234", max 4294967295;
                Unavailable(absent::PROTECTION); "Application tag value";
            ApptagMaskIoUring: "apptag_mask", Int, Plain, default "0xffff", max 4294967295;
                Unavailable(absent::PROTECTION); "Application tag mask";
            Deac: "deac", Bool, Plain, default "0";
                NoEffect("only engine io_uring_cmd acts on it"); "Set deallocate on Write Zeroes";
        }
        [Engines(&["libaio"]); "engine" / "libaio"] {
            UserspaceReap: "userspace_reap", Flag, Plain;
                Works; "Read completions from the mapped ring instead of calling the kernel";
            NowaitLibaio: "nowait", Bool, Plain;
                Works; "Fail with EAGAIN instead of blocking";
            LibaioVectored: "libaio_vectored", Bool, Plain;
                Works; "Use the vectored command variants";
            LibaioBackend: "libaio_backend", Enum, Plain, of LibaioBackend;
                Works; "How requests reach the kernel: the aio system calls, or a ring that behaves like them (ferrio only)";
            CmdprioPercentageLibaio: "cmdprio_percentage", Int ReadWrite, Percent, max 100;
                Works; "Share of I/Os sent with the cmdprio priority";
            CmdprioClassLibaio: "cmdprio_class", Int ReadWrite, Plain, min 1, max 3;
                Works; "Priority class of those I/Os";
            CmdprioHintLibaio: "cmdprio_hint", Int ReadWrite, Plain, max 1023;
                Works; "Priority hint of those I/Os";
            CmdprioLibaio: "cmdprio", Int ReadWrite, Plain, max 7;
                Works; "Priority level of those I/Os";
            CmdprioBssplitLibaio: "cmdprio_bssplit", PrioBssplit ReadWrite, Bytes;
                Works; "Priority shares per block size: size/percent[/class/level[/hint]], colon-joined";
        }
        }
    };
}
pub(super) use rows;
