//! Private options of exec.

rows! {
    [Engines(&["exec"]); "engine" / "none"] {
        Program: "program", Str, Plain;
            Works; "Program the job runs";
        Arguments: "arguments", Str, Plain;
            Works; "Arguments for the program";
        GraceTime: "grace_time", Int, Seconds, default "1", max 4294967295;
            Works; "Seconds between SIGTERM and SIGKILL when runtime ends";
        StdRedirect: "std_redirect", Bool, Plain, default "1";
            Works; "Send output to JOBNAME.stdout and JOBNAME.stderr";
    }
}
