//! Private options of libaio.

rows! {
    [Engines(&["libaio"]); "engine" / "libaio"] {
        UserspaceReap: "userspace_reap", Flag, Plain;
            Works; "Read completions from the mapped ring instead of calling the kernel (called ferrio: on by default)";
        NowaitLibaio: "nowait", Bool, Plain;
            Works; "Fail with EAGAIN instead of blocking";
        LibaioVectored: "libaio_vectored", Bool, Plain;
            Works; "Use the vectored command variants";
        LibaioBackend: "libaio_backend", Enum, Plain, of LibaioBackend;
            Works; "How requests reach the kernel: the AIO system calls or io_uring (ferrio only)";
        CmdprioPercentageLibaio: "cmdprio_percentage", Int ReadWrite, Percent, max 100;
            Works; "Percentage of I/Os submitted with the cmdprio priority";
        CmdprioClassLibaio: "cmdprio_class", Int ReadWrite, Plain, min 1, max 3;
            Works; "Priority class of the I/Os chosen by cmdprio_percentage";
        CmdprioHintLibaio: "cmdprio_hint", Int ReadWrite, Plain, max 1023;
            Works; "Priority hint of the I/Os chosen by cmdprio_percentage";
        CmdprioLibaio: "cmdprio", Int ReadWrite, Plain, max 7;
            Works; "Priority level of the I/Os chosen by cmdprio_percentage";
        CmdprioBssplitLibaio: "cmdprio_bssplit", PrioBssplit ReadWrite, Bytes;
            Works; "Priority shares per block size: size/percent[/class/level[/hint]], colon-joined";
    }
}
