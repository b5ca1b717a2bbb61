//! Databases as transactions: `workload`, and the options of jobs with a `workload`. A program that is called `fio` has none of them.

use ferrio_job::DatabaseModel;

use super::opt::Opt;

rows! {
    [Database; "io" / "database"] {
        Workload: "workload", Enum, Plain, of DatabaseModel;
            Works; "Run the I/O of a database: the job becomes sessions that run transactions, and jobs in the background (ferrio only)";
        Transactions: "transactions", Int, Count, min 1, max 9223372036854775807, under "workload";
            Works; "Transactions to run over all sessions; by default only `runtime` ends the job";
        TransactionRate: "transaction_rate", Float, CountPerSecond, min 0, max 1000000000, under "workload";
            Works; "Mean arrivals of transactions per second over all sessions, at random times; 0: each session begins one when its last has ended";
        TransactionCpu: "transaction_cpu", Time, Microseconds, default "0", max 3600000000, under "workload";
            Works; "CPU time of a transaction, including that of its I/O and of background jobs; 0: only what its I/O needs";
        SyncSessions: "sync_sessions", Bool, Plain, under "workload";
            Works; "Sessions read and write with psync, as those of most servers do; `ioengine` then applies to background jobs only";
        PageReads: "page_reads", Float, Plain, min 0, max 100000, under "workload";
            Works; "Pages that a transaction reads, one after the other; a fraction is a mean: with 2.5, they are 2 and 3 in turn";
        BufferPool: "buffer_pool", Size, Bytes, min 1, under "workload";
            Works; "Size of a simulated buffer pool: a transaction reads only pages that are not in it; replaces page_reads";
        PagesUsed: "pages_used", Int, Count, min 1, max 100000, under "buffer_pool";
            Works; "With buffer_pool: pages that a transaction uses; it reads those that are not in the pool";
        LogAppends: "log_appends", Int, Count, min 0, max 100000, under "workload";
            Works; "Log records that a transaction appends, each with a write of its own";
        LogBlock: "log_block", Size, Bytes, min 1, max 268435456, under "workload";
            Works; "Size of an append to the log";
        LogSize: "log_size", Size, Bytes, min 1, max 1125899906842624, under "workload";
            Works; "Size of the log, a ring";
        LogDirect: "log_direct", Bool, Plain, under "workload";
            Works; "Open the log with O_DIRECT";
        LogFilename: "log_filename", Str, Plain, under "workload";
            Works; "File or device of the log, by default NAME.log in the directory of the data; the run overwrites it";
        FullPageWrites: "full_page_writes", Bool, Plain, under "workload";
            Works; "The first change of a page after a checkpoint appends the whole page to the log";
        CommitSync: "commit_sync", Enum, Plain, of CommitSync, under "workload";
            Works; "How a commit makes the log durable";
        GroupCommit: "group_commit", Int, Count, min 0, max 1000000, under "workload";
            Works; "The most transactions that one sync of the log serves; 0: all that wait";
        PagesChanged: "pages_changed", Float, Plain, min 0, max 100000, under "workload";
            Works; "Pages that a transaction changes and the cleaner writes back later; a fraction is a mean";
        WriteBackBatch: "write_back_batch", Int, Count, min 1, max 4096, under "workload";
            Works; "Pages that are written back together; with tables: pages per I/O of the flusher and the compactor";
        WriteBackSync: "write_back_sync", Enum, Plain, of WriteBackSync, under "workload";
            Works; "How pages or tables are made durable after they are written back";
        WriteBackInterval: "write_back_interval", Time, Seconds, under "workload";
            Works; "Time between two write-backs; 0: as soon as there is a batch";
        DirtyPages: "dirty_pages", Int, Count, min 0, max 4294967295, under "workload";
            Works; "Transactions wait while more pages than this are changed and not yet written back";
        DoubleWrite: "double_write", Bool, Plain, under "workload";
            Works; "Write pages to the double-write area before their places";
        DoubleWriteSize: "double_write_size", Size, Bytes, min 1, max 1099511627776, under "double_write";
            Works; "Size of the double-write area";
        DoubleWriteFilename: "double_write_filename", Str, Plain, under "double_write";
            Works; "File or device of the double-write area, by default NAME.doublewrite in the directory of the data; the run overwrites it";
        CheckpointLog: "checkpoint_log", SizeZone, Bytes, under "workload";
            Works; "Begin a checkpoint after this much of the log, in bytes or percent of log_size; 0: at no length";
        CheckpointInterval: "checkpoint_interval", Time, Seconds, under "workload";
            Works; "Begin a checkpoint this long after the last one began; 0: at no time";
        TableSize: "table_size", Size, Bytes, min 1, max 1099511627776, under "workload";
            Works; "Size of a table; the flusher writes one each time the log has grown by this much";
        WriteAmplification: "write_amplification", Float, Plain, min 1, max 1000, under "workload";
            Works; "Bytes written to tables in total for each byte of a new table, including that byte";
        WaitingTables: "waiting_tables", Int, Count, min 1, max 100000, under "workload";
            Works; "Transactions wait while more new tables than this wait to be written, or more than this to be merged";
    }
}

/// The defaults of jobs with a `workload`, which differ between the models: `-` where a model lacks the option.
pub(super) const PRESETS: &[(Opt, [&str; DatabaseModel::ALL.len()])] = &[
    // option, then innodb, postgres, rocksdb and etcd
    (Opt::Bs, ["16k", "8k", "4k", "4k"]),
    (Opt::Size, ["260g", "260g", "260g", "2g"]),
    (Opt::Numjobs, ["32", "32", "32", "1"]),
    (Opt::Direct, ["1", "0", "1", "0"]),
    (Opt::GroupReporting, ["1"; 4]),
    (Opt::Thread, ["1"; 4]),
    (Opt::PageReads, ["9", "9", "9", "0"]),
    (Opt::PagesUsed, ["23", "23", "23", "1"]),
    (Opt::LogAppends, ["1"; 4]),
    (Opt::LogBlock, ["4k", "8k", "1k", "2300"]),
    (Opt::LogSize, ["256m", "1g", "256m", "64m"]),
    (Opt::LogDirect, ["0"; 4]),
    (Opt::FullPageWrites, ["0", "1", "-", "0"]),
    (Opt::CommitSync, ["fsync", "fdatasync", "none", "fdatasync"]),
    (Opt::GroupCommit, ["1", "0", "0", "0"]),
    (Opt::PagesChanged, ["1", "1", "-", "1"]),
    (Opt::WriteBackBatch, ["1", "32", "256", "64"]),
    (Opt::WriteBackSync, ["fsync", "none", "fdatasync", "fdatasync"]),
    (Opt::WriteBackInterval, ["0", "200ms", "-", "100ms"]),
    (Opt::DirtyPages, ["256", "16384", "-", "10000"]),
    (Opt::DoubleWrite, ["1", "0", "-", "0"]),
    (Opt::DoubleWriteSize, ["2m", "2m", "-", "2m"]),
    (Opt::CheckpointLog, ["50%", "50%", "-", "0"]),
    (Opt::CheckpointInterval, ["0", "5m", "-", "0"]),
    (Opt::TableSize, ["-", "-", "64m", "-"]),
    (Opt::WriteAmplification, ["-", "-", "10", "-"]),
    (Opt::WaitingTables, ["-", "-", "2", "-"]),
];
