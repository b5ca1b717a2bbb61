//! The job among the others: description, run time, grouping, errors, CPUs, priorities.

rows! {
    [Core; "general" / "desc"] {
        Description: "description", Str, Plain;
            Works; "Free text shown with the job in the report; no effect on the run";
        Name: "name", Str, Plain;
            Works; "Job name in reports, names of logs and wait_for; jobs do not inherit it from [global]";
        WaitFor: "wait_for", Str, Plain;
            Works; "Start only after every clone of the named job has exited";
        Comm: "comm", Str, Plain;
            Works; "Name of the worker's thread, cut to 15 bytes";
    }
    [Core; "general" / "runtime"] {
        Loops: "loops", Int, Count, default "1", max 4294967295;
            Works; "Repeat the whole workload this many times";
        Numjobs: "numjobs", Int, Count, default "1", max 4294967295;
            Works; "Run this many copies of the job";
        Startdelay: "startdelay", TimeRange, Seconds, default "0";
            Works; "Delay from the start of the run to the start of the job; a delay drawn from a range is the same in each run unless randrepeat=0";
        Runtime: "runtime" | "timeout", Time, Seconds, default "0";
            Works; "Time after which the job stops";
        TimeBased: "time_based", Flag, Plain;
            Works; "Keep looping over the region until runtime ends";
        VerifyOnly: "verify_only", Flag, Plain;
            Works; "Check data written by an earlier run of the same job; write nothing";
        RampTime: "ramp_time", Time, Seconds;
            Works; "Run this long before statistics count";
        RampSize: "ramp_size", Size, Bytes, min 1;
            Works; "Transfer this much before statistics count";
        Steadystate: "steadystate" | "ss", EnumArg, Plain, of SteadyTest, default "iops_slope:0.01%";
            Works; "Test that ends the job once results are stable";
        SteadystateDuration: "steadystate_duration" | "ss_dur", Time, Seconds, default "0", under "steadystate";
            Works; "Window in which the steadystate test must hold";
        SteadystateRampTime: "steadystate_ramp_time" | "ss_ramp", Time, Seconds, default "0", under "steadystate";
            Works; "Wait before collecting steadystate data";
        SteadystateCheckInterval: "steadystate_check_interval" | "ss_interval", Time, Seconds, default "1", under "steadystate";
            Works; "Sampling period of the steadystate test";
    }
    [Core; "general" / "hosts"] {
        Hosts: "hosts", Str, Plain, default "all";
            Works; "Hosts of a run on many that have the section, as a list such as node[1-4],gpu5 (ferrio only)";
        Ranks: "ranks", Str, Plain, default "0-";
            Works; "Ranks that have the section, such as 0 or 0-3,7 or 1- for all but the first (ferrio only)";
    }
    [Core; "general" / "clock"] {
        Clocksource: "clocksource", Enum, Plain, of ClockSource;
            Works; "Clock used for all timing";
        GtodCpu: "gtod_cpu", Int, Plain, max 4294967295;
            Works; "Keep the job off this CPU; the clock needs no CPU of its own";
    }
    [Core; "general" / "none"] {
        ExecPrerun: "exec_prerun", Str, Plain;
            Works; "Shell command run before the job, in the job's process";
        ExecPostrun: "exec_postrun", Str, Plain;
            Works; "Shell command run after the job";
        Lockmem: "lockmem", Size, Bytes, default "0";
            Works; "Pin this much memory in each worker, to simulate a smaller machine";
        NumaCpuNodes: "numa_cpu_nodes", NodeList, Plain;
            Works; "Run on the CPUs of these NUMA nodes";
        NumaMemPolicy: "numa_mem_policy", NumaPolicy, Plain, of NumaMode;
            Works; "Memory policy, mode[:nodes]";
        Tuning: "tuning", Enum, Plain, of Tuning;
            Works; "Whether jobs take cheaper ways that change the conditions measured (ferrio only; called fio: default fio)";
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
        Cpumask: "cpumask", Int, Plain, max 4294967295;
            Works; "Bit mask of CPUs for the job; 5 means the CPUs 0 and 2";
        CpusAllowed: "cpus_allowed", CpuList, Plain;
            Works; "CPUs for the job, as a comma list with ranges";
        CpusAllowedPolicy: "cpus_allowed_policy", Enum, Plain, of CpusAllowedPolicy, default "", under "cpus_allowed";
            Works; "Give all jobs the whole set, or one CPU each";
        Uid: "uid", Int, Plain, max 4294967295;
            Works; "User that the worker becomes before its I/O";
        Gid: "gid", Int, Plain, max 4294967295;
            Works; "Group that the worker joins before its I/O";
    }
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
    [Core; "general" / "err"] {
        ContinueOnError: "continue_on_error", Enum, Plain, of ContinueOnError;
            Works; "Kinds of error that do not stop the job";
        IgnoreError: "ignore_error", ErrorList, Plain, under "rw";
            Works; "Error numbers or names counted as non-fatal";
        ErrorDump: "error_dump", Bool, Plain, default "0";
            Works; "Print each ignored error";
    }
    [Core; "general" / "cgroup"] {
        Cgroup: "cgroup", Str, Plain;
            Works; "Create and join this cgroup";
        CgroupNodelete: "cgroup_nodelete", Bool, Plain, default "0", under "cgroup";
            Works; "Keep the cgroup after the run";
        CgroupWeight: "cgroup_weight", Int, Plain, min 100, max 1000, under "cgroup";
            Works; "I/O weight of the cgroup";
    }
}
