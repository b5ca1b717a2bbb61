//! How files are opened and written, how long a job runs, and how its data is verified.
//!
//! One entry per option; the entry's form is explained in `macros.rs`. The text below is the arm of a macro
//! that hands its rows, after those it was given, to the next part of the table.

macro_rules! rows {
    ($($before:tt)*) => {
        $crate::catalogue::core_trace::rows! {
        $($before)*
        [Core; "io" / "random"] {
            PercentageSequential: "percentage_sequential", Deprecated, Plain;
                Unavailable("it was withdrawn from fio; percentage_random is its successor"); "Withdrawn; any use fails the job";
        }
        [Core; "file" / "none"] {
            Nrfiles: "nrfiles" | "nr_files", Int, Count, default "1", max 4294967295;
                Works; "Files the job creates and spreads its size over";
            Openfiles: "openfiles", Int, Count, max 4294967295;
                Works; "Most files kept open at once";
            FileServiceType: "file_service_type", EnumArg, Plain, of FileServiceType, under "nrfiles";
                Works; "Which file the next I/O goes to";
            Fallocate: "fallocate", Enum, Plain, of Fallocate;
                Works; "How space is reserved when laying out files";
            FadviseHint: "fadvise_hint", Enum, Plain, of Fadvise;
                Works; "Access-pattern advice given to the kernel after open";
            Fsync: "fsync", Int, Count, default "0", max 4294967295;
                Works; "fsync after every N writes";
            Fdatasync: "fdatasync", Int, Count, default "0", max 4294967295;
                Works; "fdatasync after every N writes";
        }
        [Core; "io" / "none"] {
            WriteBarrier: "write_barrier", Int, Count, default "0", max 4294967295;
                NoEffect("no engine acts on the mark"); "Mark every Nth write as a barrier; inert in practice";
        }
        [Core; "file" / "none"] {
            SyncFileRange: "sync_file_range", EnumList, Plain, of SyncFileRangeFlag;
                Works; "Call sync_file_range with these flags after every NR writes";
        }
        [Core; "io" / "io_type"] {
            Direct: "direct", Bool, Plain, default "0";
                Works; "Open with O_DIRECT";
            Atomic: "atomic", Bool, Plain, default "0";
                Unavailable(absent::UNTORN); "Issue writes as untorn atomic writes";
            Buffered: "buffered", Bool, Plain, default "1";
                Works; "Use the page cache";
        }
        [Core; "file" / "none"] {
            Overwrite: "overwrite", Bool, Plain, default "0";
                Works; "Lay out the file before writing, so writes overwrite existing blocks";
        }
        [Core; "general" / "runtime"] {
            Loops: "loops", Int, Count, default "1", max 4294967295;
                Works; "Repeat the whole workload this many times";
            Numjobs: "numjobs", Int, Count, default "1", max 4294967295;
                Works; "Run this many copies of the job";
            Startdelay: "startdelay", TimeRange, Seconds, default "0";
                Works; "Wait before starting, counted from the start of the run";
            Runtime: "runtime" | "timeout", Time, Seconds, default "0";
                Works; "Time after which the job stops";
            TimeBased: "time_based", Flag, Plain;
                Works; "Keep looping over the region until runtime ends";
            VerifyOnly: "verify_only", Flag, Plain;
                OnlyOff(&["0"]); "Check data written by an earlier run of the same job";
            RampTime: "ramp_time", Time, Seconds;
                Works; "Run this long before statistics count";
            RampSize: "ramp_size", Size, Bytes, min 1;
                Works; "Transfer this much before statistics count";
        }
        [Core; "general" / "clock"] {
            Clocksource: "clocksource", Enum, Plain, of ClockWord;
                Works; "Clock used for all timing";
        }
        [Core; "io" / "none"] {
            Mem: "mem" | "iomem", EnumArg, Plain, of MemoryType;
                Works; "Where I/O buffers come from";
            IomemAlign: "iomem_align" | "mem_align", Int, Bytes, default "0", max 4294967295, under "mem";
                Works; "Each I/O buffer begins at a multiple of this power of two";
        }
        [Core; "io" / "verify"] {
            Verify: "verify", Enum, Plain, of VerifyMethod, default "0";
                Works; "Checksum or pattern used to check written data";
            DoVerify: "do_verify", Bool, Plain, default "1", under "verify";
                Works; "Run the read-back phase after writing";
            VerifyPolicy: "verify_policy", EnumList, Plain, default "completed", words ["completed": "Blocks that were written", "fsynced": "Blocks that were synced"], under "verify";
                OnlyOff(&["completed"]); "Which completed writes a saved verify state vouches for";
            Verifysort: "verifysort", Ignored, Plain;
                NoEffect("it is deprecated in fio, where it does nothing either"); "Accepted with a notice and ignored";
            VerifysortNr: "verifysort_nr", Ignored, Plain;
                NoEffect("it is deprecated in fio, where it does nothing either"); "Accepted with a notice and ignored";
            VerifyInterval: "verify_interval", Size, Bytes, min 96, max 4294967295, under "verify";
                Works; "Distance between verify headers inside a block";
            VerifyOffset: "verify_offset", Size, Bytes, min 48, max 4294967295, under "verify";
                Works; "Place the header this far into each interval";
            VerifyPattern: "verify_pattern", Pattern, Plain, under "verify";
                Works; "Bytes to fill and check, as numbers, strings or formats";
            VerifyPatternInterval: "verify_pattern_interval", Size, Bytes, default "0", max 4294967295, under "verify";
                Works; "Restart the pattern every this many bytes; 0 disables";
            VerifyFatal: "verify_fatal", Bool, Plain, default "0", under "verify";
                Works; "Stop the job at the first mismatch";
            VerifyDump: "verify_dump", Bool, Plain, default "0", under "verify";
                OnlyOff(&["0"]); "Save expected and received data of a bad block to files";
            VerifyAsync: "verify_async", Int, Count, default "0", max 4294967295, under "verify";
                OnlyOff(&["0"]); "Threads that check blocks in the background";
            VerifyBacklog: "verify_backlog", Int, Count, under "verify";
                OnlyOff(&["0"]); "Start checking after every N written blocks instead of at the end";
            VerifyBacklogBatch: "verify_backlog_batch", Int, Count, max 4294967295, under "verify";
                OnlyOff(&["0"]); "Blocks checked per backlog round";
            VerifyAsyncCpus: "verify_async_cpus", CpuList, Plain, under "verify_async";
                NotYet; "CPUs for the verify threads";
            ExperimentalVerify: "experimental_verify", Bool, Plain, under "verify";
                OnlyOff(&["0"]); "Regenerate the I/O sequence for checking instead of remembering it";
            VerifyStateLoad: "verify_state_load", Bool, Plain, under "verify";
                OnlyOff(&["0"]); "Read a saved verify state to know how far to check";
            VerifyStateSave: "verify_state_save", Bool, Plain, default "1", under "verify";
                OnlyOff(&["0"]); "Write a verify state file when the job ends or is stopped (not yet: none is written)";
            VerifyWriteSequence: "verify_write_sequence", Bool, Plain, default "1", under "verify";
                Works; "Check the write number stored in each header";
            VerifyHeaderSeed: "verify_header_seed", Bool, Plain, default "1", under "verify";
                Works; "Check the seed stored in each header";
        }
        [Core; "io" / "trim"] {
            TrimPercentage: "trim_percentage", Int, Percent, default "0", max 100, under "verify";
                OnlyOff(&["0"]); "Share of written blocks to trim during a verify job";
            TrimVerifyZero: "trim_verify_zero", Bool, Plain, default "1", under "trim_percentage";
                OnlyOff(&["1", "0"]); "Expect zeroes when reading a trimmed block";
            TrimBacklog: "trim_backlog", Int, Count, under "trim_percentage";
                OnlyOff(&["0"]); "Start trimming after this many written blocks";
            TrimBacklogBatch: "trim_backlog_batch", Int, Count, max 4294967295, under "trim_percentage";
                OnlyOff(&["0"]); "Blocks trimmed per round";
        }
        }
    };
}
pub(super) use rows;
