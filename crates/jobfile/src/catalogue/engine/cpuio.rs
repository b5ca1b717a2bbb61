//! Private options of cpuio.

rows! {
    [Engines(&["cpuio"]); "engine" / "none"] {
        Cpuload: "cpuload", Int, Percent, max 4294967295;
            Works; "Share of CPU time to burn";
        Cpumode: "cpumode", Enum, Plain, of CpuMode;
            Works; "What is executed while burning CPU";
        Cpuchunks: "cpuchunks", Int, Microseconds, default "50000", max 4294967295, under "cpuload";
            Works; "Length of one burn cycle; sleep follows from cpuload";
        ExitOnIoDone: "exit_on_io_done", Bool, Plain, default "0";
            Works; "End this job once no I/O job is running or pending";
    }
}
