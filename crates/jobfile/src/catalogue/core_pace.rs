//! Mix, priority, pacing, file creation and the placement of workers on the machine.
//!
//! One entry per option; the entry's form is explained in `macros.rs`. The text below is the arm of a macro
//! that hands its rows, after those it was given, to the next part of the table.

macro_rules! rows {
    ($($before:tt)*) => {
        $crate::catalogue::core_report::rows! {
        $($before)*
        [Core; "general" / "none"] {
            Lockmem: "lockmem", Size, Bytes, default "0";
                OnlyOff(&["0"]); "Pin this much memory in each worker, to simulate a smaller machine";
        }
        [Core; "io" / "rwmix"] {
            Rwmixread: "rwmixread", Int, Percent, default "50", max 100;
                Works; "Share of reads in a mixed job";
            Rwmixwrite: "rwmixwrite", Int, Percent, default "50", max 100;
                Works; "Share of writes in a mixed job";
            Rwmixcycle: "rwmixcycle", Deprecated, Plain;
                Unavailable("it was withdrawn from fio"); "Withdrawn; any use fails the job";
        }
        [Core; "general" / "desc"] {
            Comm: "comm", Str, Plain;
                NotYet; "Process or thread name of the worker";
        }
        [Core; "general" / "cred"] {
            Nice: "nice", Int, Plain, default "0", min -20, max 19;
                Works; "Added to the worker's nice value";
            Prio: "prio", Int, Plain, max 7;
                Works; "I/O priority level of the job";
            Prioclass: "prioclass", Int, Plain, max 3;
                Works; "I/O priority class of the job";
            Priohint: "priohint", Int, Plain, max 1023;
                Works; "I/O priority hint, for example a command duration limit index";
        }
        [Core; "io" / "thinktime"] {
            Thinktime: "thinktime", Time, Microseconds, default "0", max 4294967295;
                Works; "Pause after each thinktime_blocks I/Os";
            ThinktimeSpin: "thinktime_spin", Time, Microseconds, default "0", max 4294967295, under "thinktime";
                Works; "Part of thinktime spent busy-looping";
            Thinkcycles: "thinkcycles", Int, Count, default "0", max 4294967295, under "thinktime";
                Works; "Spin this many cycles between I/Os";
            ThinktimeBlocks: "thinktime_blocks", Int, Count, default "1", max 4294967295, under "thinktime";
                Works; "I/Os between pauses";
            ThinktimeBlocksType: "thinktime_blocks_type", Enum, Plain, of ThinktimeBlocksType, under "thinktime";
                Works; "Count thinktime_blocks at completion or at issue";
            ThinktimeIotime: "thinktime_iotime", Time, Seconds, default "0", max 4294967295, under "thinktime";
                Works; "I/O time between pauses";
        }
        [Core; "io" / "rate"] {
            Rate: "rate", Size PerDirection, BytesPerSecond, max 18446744073709551615;
                Works; "Bandwidth cap";
            RateMin: "rate_min" | "ratemin", Size PerDirection, BytesPerSecond, max 18446744073709551615, under "rate";
                Works; "Abort the job when bandwidth falls below this";
            RateIops: "rate_iops", Int PerDirection, CountPerSecond, max 4294967295;
                Works; "I/O rate cap";
            RateIopsMin: "rate_iops_min", Int PerDirection, CountPerSecond, max 4294967295, under "rate_iops";
                Works; "Abort the job when the I/O rate falls below this";
            RateProcess: "rate_process", Enum, Plain, of RateProcess, under "rate";
                Works; "Even pacing, or Poisson arrivals";
            RateCycle: "rate_cycle" | "ratecycle", Int, Milliseconds, default "1000", max 4294967295, under "rate";
                Works; "Averaging window for the minimum rates";
            RateIgnoreThinktime: "rate_ignore_thinktime", Bool, Plain, under "rate";
                Works; "Do not catch up for time spent in thinktime";
        }
        [Core; "io" / "latprof"] {
            MaxLatency: "max_latency", Time PerDirection, Microseconds, max 18446744073709551615;
                Works; "Fail the job when one I/O takes longer";
            LatencyTarget: "latency_target", Time, Microseconds;
                Works; "Highest queue depth that keeps latency under this";
            LatencyWindow: "latency_window", Time, Microseconds;
                Works; "Sampling period of the latency search";
            LatencyPercentile: "latency_percentile", Float, Percent, default "100", min 0, max 100;
                Works; "Share of I/Os that must meet latency_target";
            LatencyRun: "latency_run", Bool, Plain, default "0";
                Works; "Keep adjusting the depth instead of stopping at the answer";
        }
        [Core; "io" / "io_type"] {
            Invalidate: "invalidate", Bool, Plain, default "1";
                Works; "Drop the page cache of the files at start";
            Sync: "sync", Enum, Plain, of OpenSync;
                Works; "Open with O_SYNC or O_DSYNC";
        }
        [Core; "engine" / "none"] {
            WriteHint: "write_hint", Enum, Plain, words ["none": "Data of no known lifetime", "short": "Data soon overwritten", "medium": "Data that lasts a while", "long": "Data that lasts long", "extreme": "Data that lasts very long"];
                OnlyOff(&["none"]); "Expected lifetime of written data";
        }
        [Core; "file" / "none"] {
            CreateSerialize: "create_serialize", Bool, Plain, default "1";
                Works; "Create files one job at a time before starting";
            CreateFsync: "create_fsync", Bool, Plain, default "1";
                Works; "fsync a file after laying it out";
            CreateOnOpen: "create_on_open", Bool, Plain, default "0";
                Works; "Do not lay files out up front; create them when first opened";
            CreateOnly: "create_only", Bool, Plain, default "0";
                Works; "Lay out files and stop";
        }
        [Core; "file" / "filename"] {
            AllowFileCreate: "allow_file_create", Bool, Plain, default "1";
                OnlyOff(&["1"]); "When 0, a missing file is an error";
            AllowMountedWrite: "allow_mounted_write", Bool, Plain, default "0";
                Works; "Allow writing to a mounted block device; otherwise the run aborts";
        }
        [Core; "file" / "none"] {
            PreRead: "pre_read", Bool, Plain, default "0";
                OnlyOff(&["0"]); "Read the files into cache before timing starts";
        }
        [Core; "general" / "cred"] {
            Cpumask: "cpumask", Int, Plain, max 4294967295;
                NotYet; "Bit mask of CPUs for the job";
            CpusAllowed: "cpus_allowed", CpuList, Plain;
                Works; "CPUs for the job, as a comma list with ranges";
            CpusAllowedPolicy: "cpus_allowed_policy", Enum, Plain, of CpusAllowedPolicy, default "", under "cpus_allowed";
                Works; "Give all jobs the whole set, or one CPU each";
        }
        [Core; "general" / "none"] {
            NumaCpuNodes: "numa_cpu_nodes", NodeList, Plain;
                Works; "Run on the CPUs of these NUMA nodes";
            NumaMemPolicy: "numa_mem_policy", NumaPolicy, Plain, of NumaMode;
                Works; "Memory policy, mode[:nodes]";
            GpuDevId: "gpu_dev_id", Int, Plain, default "0", max 4294967295;
                Unavailable(absent::CUDA); "GPU that holds the I/O buffers";
        }
        [Core; "file" / "none"] {
            EndFsync: "end_fsync", Bool, Plain, default "0";
                Works; "fsync each file when the job's writing ends";
            FsyncOnClose: "fsync_on_close", Bool, Plain, default "0";
                Works; "fsync a file each time it is closed";
            EndSyncfs: "end_syncfs", Bool, Plain, default "0";
                Works; "Sync the file systems used when the job ends";
            Unlink: "unlink", Bool, Plain, default "0";
                Works; "Delete the job's files when it ends";
            UnlinkEachLoop: "unlink_each_loop", Bool, Plain, default "0";
                OnlyOff(&["0"]); "Delete the job's files between loops";
        }
        }
    };
}
pub(super) use rows;
