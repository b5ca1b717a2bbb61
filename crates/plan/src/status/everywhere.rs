//! The options that have an effect in every job that they can be given to, with the reason. All others that work have a row in an `inert!`
//! table: a new option answers in one of the two places in which jobs it cannot matter.

use ferrio_jobfile::Opt;

/// Makes the table, each row as `"reason": options;`.
macro_rules! everywhere {
    ($($reason:literal: $($opt:ident)+;)+) => {
        pub(super) const EVERYWHERE: &[(&str, &[Opt])] = &[$(($reason, &[$(Opt::$opt),+])),+];
    };
}

everywhere! {
    "every job has an engine and a depth, also where the engine allows only one (which has a note of its own)":
        Ioengine Iodepth IoSubmitMode;
    "every job takes buffers from memory": Mem IomemAlign;
    "files are opened, found and made for jobs of each kind":
        Filetype Lockfile Fallocate FadviseHint AllowFileCreate CreateSerialize CreateFsync CreateOnOpen CreateOnly;
    "reads, writes and trims of files pass the page cache or not": Direct Buffered Invalidate;
    "the kernel keeps it with the file, also for the writes of other jobs": WriteHint;
    "reads and writes differ with it, and so does the layout of files": ScrambleBuffers;
    "seeds are those of offsets, sizes and contents": Randrepeat Randseed;
    "jobs that it does not suit are refused, or it is their work": Sprandom ReadIolog;
    "every job is named and counted in the report": Name Description GroupReporting Stats NewGroup;
    "every worker is a thread or a process of the system":
        Comm Thread Nice Prio Prioclass Priohint Cpumask CpusAllowed NumaCpuNodes NumaMemPolicy Uid Gid Cgroup Lockmem;
    "every job begins and ends": Numjobs WaitFor Stonewall Startdelay ExecPrerun ExecPostrun NumberIos Runtime;
    "hosts of a run have every job or have it not": Hosts Ranks;
    "every job may end others": Exitall ExitWhat ExitallOnError;
    "every job is measured in time": RampTime RampSize Clocksource GtodCpu JobStartClockId GtodReduce SteadystateDuration;
    "every job has latencies, bandwidth and I/O rates":
        WriteBwLog WriteLatLog WriteIopsLog Bwavgtime Iopsavgtime ClatPercentiles LatPercentiles SlatPercentiles
        UnifiedRwReporting DiskUtil;
    "every job has numbers that are printed": SignificantFigures KbBase UnitBase;
    "jobs of several files are refused": BlockErrorPercentiles;
    "every job may pause, be slowed down or be held back": Thinktime Thinkcycles Rate RateMin RateIops RateIopsMin Flow;
    "it switches between ways of doing the same I/O": Tuning;
    "the engine does it in each of its jobs":
        Program Arguments GraceTime StdRedirect Cpuload Cpumode Cpuchunks ExitOnIoDone SkipBad HipriPvsync2 NowaitPvsync2 HipriSg
        ReadfuaSg SgWriteMode Donorname Inplace ExternalOptions HipriIoUring Fixedbufs Registerfiles SqthreadPollIoUring
        Nonvectored NowaitIoUring ForceAsync CmdprioPercentageIoUring CmdprioBssplitIoUring MdPerIoSizeIoUring Thp HostnameNet
        PortNet Protocol Listen Pingpong WindowSize Https HttpHost HttpMode HttpVerbose HttpObjectMode UserspaceReap
        NowaitLibaio LibaioVectored LibaioBackend CmdprioPercentageLibaio CmdprioBssplitLibaio StatType Uri;
}
