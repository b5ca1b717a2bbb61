//! Private options of io_uring, which io_uring_cmd shares.

rows! {
    [Engines(&["io_uring", "io_uring_cmd"]); "engine" / "iouring"] {
        HipriIoUring: "hipri", Flag, Plain;
            Works; "Busy-poll for completions in the kernel";
        ReadfuaIoUring: "readfua", Bool, Plain, default "0";
            Works; "Set force-unit-access on reads";
        WritefuaIoUring: "writefua", Bool, Plain, default "0";
            Works; "Set force-unit-access on writes";
        WriteMode: "write_mode", ModeSplit, Percent, default "write", words ["write", "uncor", "zeroes", "verify", "zone_append"];
            Works; "Command used for writes, or a weighted mix of commands";
        VerifyMode: "verify_mode", Enum, Plain, default "read", words ["read", "compare"];
            OnlyOff(&["read"]); "Command used to check data";
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
            Works; "Buffered I/O that drops its pages from the cache afterwards";
        NowaitIoUring: "nowait", Bool, Plain;
            Works; "Fail with EAGAIN instead of blocking";
        ForceAsync: "force_async", Int, Count, max 4294967295;
            Works; "Force every Nth request to a kernel worker";
        CmdType: "cmd_type", Enum, Plain, default "nvme", words ["nvme", "bsg"];
            OnlyOff(&["nvme"]); "Kind of passthrough command";
        CdbLen: "cdb_len", Enum, Bytes, default "0", words ["0", "10", "16", "32"];
            OnlyOff(&["0"]); "SCSI command length; 0 chooses the smallest that fits";
        VerifyBytchk: "verify_bytchk", Enum, Plain, default "0", words ["0", "1", "3"];
            OnlyOff(&["0"]); "Comparison done by SCSI VERIFY";
        ReadMode: "read_mode", Enum, Plain, default "read", words ["read", "prefetch"];
            OnlyOff(&["read"]); "SCSI command used for reads";
        CmdprioPercentageIoUring: "cmdprio_percentage", Int ReadWrite, Percent, max 100;
            Works; "Percentage of I/Os submitted with the cmdprio priority";
        CmdprioClassIoUring: "cmdprio_class", Int ReadWrite, Plain, min 1, max 3;
            Works; "Priority class of the I/Os chosen by cmdprio_percentage";
        CmdprioHintIoUring: "cmdprio_hint", Int ReadWrite, Plain, max 1023;
            Works; "Priority hint of the I/Os chosen by cmdprio_percentage";
        CmdprioIoUring: "cmdprio", Int ReadWrite, Plain, max 7;
            Works; "Priority level of the I/Os chosen by cmdprio_percentage";
        CmdprioBssplitIoUring: "cmdprio_bssplit", PrioBssplit ReadWrite, Bytes;
            Works; "Priority shares per block size: size/percent[/class/level[/hint]], colon-joined";
        MdPerIoSizeIoUring: "md_per_io_size", Int, Bytes, default "0", max 4294967295;
            Works; "Size of the separate metadata buffer of each I/O";
        PiActIoUring: "pi_act", Bool, Plain, default "1";
            Works; "Protection information is handled by the device (1) or by the program (0)";
        PiChkIoUring: "pi_chk", WordList, Plain, words ["GUARD", "REFTAG", "APPTAG"];
            Works; "Protection fields the device checks";
        ApptagIoUring: "apptag", Int, Plain, default "0x1234", max 4294967295;
            Works; "Application tag value";
        ApptagMaskIoUring: "apptag_mask", Int, Plain, default "0xffff", max 4294967295;
            Works; "Application tag mask";
        Deac: "deac", Bool, Plain, default "0";
            Works; "Set deallocate on Write Zeroes";
    }
}
