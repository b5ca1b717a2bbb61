//! Ending and grouping jobs, logs, statistics, buffer contents, errors and units.
//!
//! One entry per option; the entry's form is explained in `macros.rs`. The text below is the arm of a macro
//! that hands its rows, after those it was given, to the next part of the table.

macro_rules! rows {
    ($($before:tt)*) => {
        $crate::catalogue::engines_local::rows! {
        $($before)*
        [Core; "general" / "process"] {
            Exitall: "exitall", Flag, Plain;
                Works; "End other jobs when one finishes; scope set by exit_what";
            ExitWhat: "exit_what", Enum, Plain, of ExitWhat;
                Works; "Which jobs exitall ends";
            ExitallOnError: "exitall_on_error", Flag, Plain;
                Works; "End other jobs when this one fails";
            Stonewall: "stonewall" | "wait_for_previous", Flag, Plain;
                Works; "Wait for all earlier jobs before starting";
            NewGroup: "new_group", Flag, Plain;
                Works; "Start a new report group without waiting";
            Thread: "thread", Flag, Plain;
                Works; "Run the job as a thread, not a process";
        }
        [Core; "log" / "none"] {
            PerJobLogs: "per_job_logs", Bool, Plain, default "1";
                Works; "Put the job number into log file names";
            WriteBwLog: "write_bw_log", OptStr, Plain;
                Works; "Log bandwidth; the value is the file prefix, default the job name";
            WriteLatLog: "write_lat_log", OptStr, Plain;
                Works; "Log latencies to _lat, _slat and _clat files";
            WriteIopsLog: "write_iops_log", OptStr, Plain;
                Works; "Log I/O rate";
            LogEntries: "log_entries", Int, Count, default "1024", min 1024, max 1048576;
                NoEffect("logs are streamed to disk, nothing is allocated ahead"); "Log records allocated at first";
            LogAvgMsec: "log_avg_msec", Int, Milliseconds, default "0", max 4294967295;
                Works; "Interval over which log records are averaged";
            LogHistMsec: "log_hist_msec", Int, Milliseconds, default "0", max 4294967295;
                Works; "Interval between latency histograms";
            LogHistCoarseness: "log_hist_coarseness", Int, Plain, default "0", max 6;
                Works; "Halve the histogram bins this many times";
            WriteHistLog: "write_hist_log", OptStr, Plain;
                Works; "Log completion latency histograms to a _clat_hist file";
            LogWindowValue: "log_window_value" | "log_max_value", Enum, Plain, of WindowValue;
                Works; "Log the average, the maximum or both per window";
            LogOffset: "log_offset", Bool, Plain, default "0";
                Works; "Add the byte offset to log records";
            LogPrio: "log_prio", Bool, Plain, default "0";
                Works; "Log the whole priority value instead of a high-priority bit";
            LogIssueTime: "log_issue_time", Bool, Plain, default "0";
                Works; "Add the issue time to log records";
            LogCompression: "log_compression", Size, Bytes, min 1024, max 536870912;
                Works; "Size of the compressed pieces of stored logs; logged rates are those of single I/Os";
            LogCompressionCpus: "log_compression_cpus", CpuList, Plain, under "log_compression";
                Works; "CPUs for the thread that writes and compresses logs";
            LogStoreCompressed: "log_store_compressed", Bool, Plain;
                Works; "Keep log files compressed on disk";
            LogAlternateEpoch: "log_alternate_epoch" | "log_unix_epoch", Bool, Plain;
                Works; "Log absolute timestamps of a chosen clock instead of run-relative ones";
            LogAlternateEpochClockId: "log_alternate_epoch_clock_id", Int, Plain, max 4294967295;
                Works; "clock_gettime id for log_alternate_epoch";
            BlockErrorPercentiles: "block_error_percentiles", Bool, Plain, default "0";
                Works; "States of trimmed blocks, and trims that failed ones had survived";
            Bwavgtime: "bwavgtime", Int, Milliseconds, default "500", max 4294967295, under "write_bw_log";
                Works; "Sampling interval of bandwidth statistics";
            Iopsavgtime: "iopsavgtime", Int, Milliseconds, default "500", max 4294967295, under "write_iops_log";
                Works; "Sampling interval of I/O rate statistics";
        }
        [Core; "stat" / "none"] {
            GroupReporting: "group_reporting", Flag, Plain;
                Works; "Merge the jobs of a group into one report entry";
            Stats: "stats", Bool, Plain, default "1";
                Works; "When 0, leave the job out of the report";
        }
        [Core; "io" / "io_buf"] {
            ZeroBuffers: "zero_buffers", Flag, Plain;
                Works; "Fill buffers with zeroes";
            RefillBuffers: "refill_buffers", Flag, Plain;
                Works; "New buffer contents for each write";
            ScrambleBuffers: "scramble_buffers", Bool, Plain, default "1";
                Works; "Change a little of the buffer on each write to defeat dedup";
            BufferPattern: "buffer_pattern", Pattern, Plain;
                Works; "Bytes to fill write buffers with, as numbers, strings or a file";
            BufferCompressPercentage: "buffer_compress_percentage", Int, Percent, max 100;
                Works; "Compressible share of buffer contents";
            BufferCompressChunk: "buffer_compress_chunk", Size, Bytes, default "512", max 4294967295, under "buffer_compress_percentage";
                Works; "Granularity of compressible regions; 0 is the block size";
            DedupePercentage: "dedupe_percentage", Int, Percent, max 100;
                Works; "Share of write buffers identical to others";
            DedupeGlobal: "dedupe_global", Bool, Plain, default "0";
                Works; "Share the duplicate pool between jobs";
            DedupeMode: "dedupe_mode", Enum, Plain, of DedupeMode, under "dedupe_percentage";
                Works; "Where duplicate contents come from";
            DedupeWorkingSetPercentage: "dedupe_working_set_percentage", Int, Percent, default "5", max 100, under "dedupe_percentage";
                Works; "Part of size used as unique pool";
        }
        [Core; "stat" / "none"] {
            ClatPercentiles: "clat_percentiles", Bool, Plain, default "1";
                Works; "Report completion latency percentiles";
            LatPercentiles: "lat_percentiles", Bool, Plain, default "0";
                Works; "Report total latency percentiles";
            SlatPercentiles: "slat_percentiles", Bool, Plain, default "0";
                Works; "Report submission latency percentiles";
            PercentileList: "percentile_list", FloatList, Percent, default "1:5:10:20:30:40:50:60:70:80:90:95:99:99.5:99.9:99.95:99.99", min 0, max 100;
                Works; "Percentiles to print";
            SignificantFigures: "significant_figures", Int, Count, default "4", min 1, max 10;
                Works; "Digits shown in human-readable numbers";
            DiskUtil: "disk_util", Bool, Plain, default "1";
                Works; "Collect and print disk statistics";
            GtodReduce: "gtod_reduce", Bool, Plain, default "0";
                Works; "Cut timing calls at the price of latency statistics";
            DisableLat: "disable_lat", Bool, Plain, default "0", under "gtod_reduce";
                Works; "Do not measure total latency";
            DisableClat: "disable_clat", Bool, Plain, default "0", under "gtod_reduce";
                Works; "Do not measure completion latency";
            DisableSlat: "disable_slat", Bool, Plain, default "0", under "gtod_reduce";
                Works; "Do not measure submission latency";
            DisableBwMeasurement: "disable_bw_measurement" | "disable_bw", Bool, Plain, default "0", under "gtod_reduce";
                Works; "Drop per-I/O bandwidth log records; averaged bandwidth sampling continues";
        }
        [Core; "general" / "clock"] {
            GtodCpu: "gtod_cpu", Int, Plain, max 4294967295;
                NotYet; "Dedicate a CPU to reading the clock for everyone";
            JobStartClockId: "job_start_clock_id", Int, Plain, max 4294967295;
                Works; "clock_gettime id used for job_start in JSON";
        }
        [Core; "general" / "none"] {
            UnifiedRwReporting: "unified_rw_reporting", Enum, Plain, of UnifiedReporting;
                Works; "Sum directions into one mixed report, or print both";
        }
        [Core; "general" / "err"] {
            ContinueOnError: "continue_on_error", Enum, Plain, of ContinueOnError;
                Works; "Kinds of error that do not stop the job";
            IgnoreError: "ignore_error", ErrorList, Plain, under "rw";
                Works; "Error numbers or names counted as non-fatal";
            ErrorDump: "error_dump", Bool, Plain, default "0";
                Works; "Print each ignored error";
        }
        [Core; "profile" / "none"] {
            Profile: "profile", Str, Plain;
                NoEffect("only --profile on the command line starts a profile"); "Name of a built-in profile";
        }
        [Core; "general" / "cgroup"] {
            Cgroup: "cgroup", Str, Plain;
                Unavailable(absent::CGROUP); "Create and join this cgroup";
            CgroupNodelete: "cgroup_nodelete", Bool, Plain, default "0", under "cgroup";
                Unavailable(absent::CGROUP); "Keep the cgroup after the run";
            CgroupWeight: "cgroup_weight", Int, Plain, min 100, max 1000, under "cgroup";
                Unavailable(absent::CGROUP); "blkio weight of the cgroup";
        }
        [Core; "general" / "cred"] {
            Uid: "uid", Int, Plain, max 4294967295;
                NotYet; "setuid before running";
            Gid: "gid", Int, Plain, max 4294967295;
                NotYet; "setgid before running";
        }
        [Core; "general" / "none"] {
            KbBase: "kb_base", Enum, Plain, of KbBase;
                Works; "Meaning of size suffixes on input and of units on output";
            UnitBase: "unit_base", Enum, Plain, of UnitBase, default "";
                Works; "Report bandwidth in bytes or bits";
            HugepageSize: "hugepage-size", Size, Bytes, default "2097152", max 4294967295;
                Works; "Size of the huge pages that buffers are made of";
        }
        [Core; "io" / "io_flow"] {
            FlowId: "flow_id", Int, Plain, default "0", max 4294967295;
                Works; "Flow group; jobs with one id share a token balance";
            Flow: "flow", Int, Count, default "0", max 1000, under "flow_id";
                Works; "Weight of the job in its flow group";
            FlowWatermark: "flow_watermark", Ignored, Plain;
                NoEffect("it is deprecated in fio, where it does nothing either"); "Accepted with a notice and ignored";
            FlowSleep: "flow_sleep", Int, Microseconds, default "0", max 4294967295, under "flow_id";
                Works; "Pause when the flow balance holds the job back";
        }
        [Core; "general" / "runtime"] {
            Steadystate: "steadystate" | "ss", EnumArg, Plain, of SteadyTest, default "iops_slope:0.01%";
                Works; "Test that ends the job once results are stable";
            SteadystateDuration: "steadystate_duration" | "ss_dur", Time, Seconds, default "0", under "steadystate";
                Works; "Window in which the steadystate test must hold";
            SteadystateRampTime: "steadystate_ramp_time" | "ss_ramp", Time, Seconds, default "0", under "steadystate";
                Works; "Wait before collecting steadystate data";
            SteadystateCheckInterval: "steadystate_check_interval" | "ss_interval", Time, Seconds, default "1", under "steadystate";
                Works; "Sampling period of the steadystate test";
        }
        }
    };
}
pub(super) use rows;
