//! Logs, and recording and replaying I/O.

rows! {
    [Core; "io" / "iolog"] {
        WriteIolog: "write_iolog", Str, Plain;
            Works; "Append the issued I/O pattern to this file";
        WriteIologVersion: "write_iolog_version", Int, Plain, default "3", min 2, max 3, under "write_iolog";
            Works; "Format of the log: 3 has times, 2 has none (ferrio only)";
        ReadIolog: "read_iolog", StrList, Plain;
            Works; "Replay an I/O log, or a block trace of blktrace";
        ReadIologChunked: "read_iolog_chunked", Bool, Plain, default "0", under "read_iolog";
            Works; "Read the log piece by piece while it is replayed, to bound memory";
        ReplayNoStall: "replay_no_stall", Bool, Plain, default "0", under "read_iolog";
            Works; "Ignore recorded delays";
        ReplayRedirect: "replay_redirect", Str, Plain, under "read_iolog";
            Works; "Send all replayed I/O to this file or device";
        ReplayScale: "replay_scale", Int, Count, default "1", max 4294967295, under "read_iolog";
            Works; "Divide replayed offsets by this number";
        ReplayAlign: "replay_align", Int, Bytes, max 4294967295, under "read_iolog";
            Works; "Round replayed offsets down to a multiple of this";
        ReplayTimeScale: "replay_time_scale", Int, Percent, default "100", min 1, max 4294967295, under "read_iolog";
            Works; "Scale recorded delays; 100 is original speed";
        ReplaySkip: "replay_skip", WordList, Plain, words ["read": "Leave reads out", "write": "Leave writes out", "trim": "Leave trims out", "sync": "Leave syncs out"], under "read_iolog";
            Works; "Leave these I/O kinds out of a replay";
        MergeBlktraceFile: "merge_blktrace_file", Str, Plain;
            Works; "Merge the traces of read_iolog into this file and replay it";
        MergeBlktraceScalars: "merge_blktrace_scalars", FloatList, Percent;
            Works; "Time scale of each merged trace, in percent: 50 halves its times";
        MergeBlktraceIters: "merge_blktrace_iters", FloatList, Count;
            Works; "How often each trace is merged";
    }
    [Core; "log" / "none"] {
        PerJobLogs: "per_job_logs", Bool, Plain, default "1";
            Works; "Put the job number into log file names";
        LogSum: "log_sum", Bool, Plain, default "0";
            Works; "Write one log per reporting group instead of one per job: the sum of the rates, the mean of the latencies (ferrio only)";
        WriteBwLog: "write_bw_log", OptStr, Plain;
            Works; "Log bandwidth; the value is the file prefix, default the job name";
        WriteLatLog: "write_lat_log", OptStr, Plain;
            Works; "Log latencies to _lat, _slat and _clat files";
        WriteIopsLog: "write_iops_log", OptStr, Plain;
            Works; "Log I/O rate";
        LogEntries: "log_entries", Int, Count, default "1024", min 1024, max 1048576;
            NoEffect("logs are streamed to disk; nothing is allocated in advance"); "Initial number of log records";
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
            Works; "Chunk size of compressed logs; bandwidth and I/O rate are logged per I/O";
        LogCompressionCpus: "log_compression_cpus", CpuList, Plain, under "log_compression";
            Works; "CPUs for the thread that writes and compresses logs";
        LogStoreCompressed: "log_store_compressed", Bool, Plain;
            Works; "Keep log files compressed on disk";
        LogAlternateEpoch: "log_alternate_epoch" | "log_unix_epoch", Bool, Plain;
            Works; "Log absolute timestamps of a chosen clock instead of run-relative ones";
        LogAlternateEpochClockId: "log_alternate_epoch_clock_id", Int, Plain, max 4294967295;
            Works; "clock_gettime id for log_alternate_epoch";
        BlockErrorPercentiles: "block_error_percentiles", Bool, Plain, default "0";
            Works; "Report the states of trimmed blocks, and percentiles of the trims that a block survived before it failed";
        Bwavgtime: "bwavgtime", Int, Milliseconds, default "500", max 4294967295, under "write_bw_log";
            Works; "Sampling interval of bandwidth statistics";
        Iopsavgtime: "iopsavgtime", Int, Milliseconds, default "500", max 4294967295, under "write_iops_log";
            Works; "Sampling interval of I/O rate statistics";
    }
}
