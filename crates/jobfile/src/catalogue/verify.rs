//! Verification of data, and trims of verified blocks.

rows! {
    [Core; "io" / "verify"] {
        Verify: "verify", Enum, Plain, of VerifyMethod, default "0";
            Works; "Checksum or pattern used to check written data";
        DoVerify: "do_verify", Bool, Plain, default "1", under "verify";
            Works; "Run the read-back phase after writing";
        VerifyPolicy: "verify_policy", EnumList, Plain, of VerifyPolicy, default "completed", under "verify";
            Works; "Which writes are read back and covered by a verify state";
        Verifysort: "verifysort", Ignored, Plain;
            NoEffect("it is deprecated in fio, where it does nothing either"); "Accepted with a notice and ignored";
        VerifysortNr: "verifysort_nr", Ignored, Plain;
            NoEffect("it is deprecated in fio, where it does nothing either"); "Accepted with a notice and ignored";
        VerifyLayout: "verify_layout", Enum, Plain, of HeaderLayout, under "verify";
            Works; "Layout of the headers that are written; jobs that only read recognise both (ferrio only)";
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
            Works; "Save expected and received data of a bad block to files";
        VerifyAsync: "verify_async", Int, Count, default "0", max 4294967295, under "verify";
            Works; "Threads that check blocks in the background";
        VerifyBacklog: "verify_backlog", Int, Count, under "verify";
            Works; "Start checking after every N written blocks instead of at the end";
        VerifyBacklogBatch: "verify_backlog_batch", Int, Count, max 4294967295, under "verify";
            Works; "Blocks checked per backlog round";
        VerifyAsyncCpus: "verify_async_cpus", CpuList, Plain, under "verify_async";
            Works; "CPUs for the verify threads";
        ExperimentalVerify: "experimental_verify", Bool, Plain, under "verify";
            Works; "Regenerate the I/O sequence for checking instead of remembering it";
        VerifyStateLoad: "verify_state_load", Bool, Plain, under "verify";
            Works; "Read a saved verify state to know how far to check";
        VerifyStateSave: "verify_state_save", Bool, Plain, default "1", under "verify";
            Works; "Write a verify state file when the job ends or is stopped (ferrio: off by default; with verify_policy=fsynced also saved after each sync)";
        VerifyWriteSequence: "verify_write_sequence", Bool, Plain, default "1", under "verify";
            Works; "Check the write number stored in each header";
        VerifyHeaderSeed: "verify_header_seed", Bool, Plain, default "1", under "verify";
            Works; "Check the seed stored in each header";
    }
    [Core; "io" / "trim"] {
        TrimPercentage: "trim_percentage", Int, Percent, default "0", max 100, under "verify";
            Works; "Share of written blocks to trim during a verify job";
        TrimVerifyZero: "trim_verify_zero", Bool, Plain, default "1", under "trim_percentage";
            Works; "Expect zeros when reading a trimmed block";
        TrimBacklog: "trim_backlog", Int, Count, under "trim_percentage";
            Works; "Start trimming after this many written blocks";
        TrimBacklogBatch: "trim_backlog_batch", Int, Count, max 4294967295, under "trim_percentage";
            Works; "Blocks trimmed per round";
    }
}
