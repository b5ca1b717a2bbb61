//! The options, in the order in which `--cmdhelp` lists them, which is fio's.

/// Makes the enum and counts its variants.
macro_rules! options {
    ($($opt:ident,)+) => {
        /// One option of one option table. A name that several engines use for options of their own is one variant per engine.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[allow(missing_docs)]
        pub enum Opt {
            $($opt,)+
        }

        /// Number of options.
        pub(super) const COUNT: usize = [$(Opt::$opt),+].len();
    };
}

options! {
    // options of every job
    Description, Name, WaitFor, Filename, Filetype, Directory, FilenameFormat, UniqueFilename, Lockfile, Opendir, Rw,
    RwSequencer, Ioengine, Iodepth, IodepthBatch, IodepthBatchCompleteMin, IodepthBatchCompleteMax, IodepthLow,
    SerializeOverlap, IoSubmitMode, Size, IoSize, FillDevice, Filesize, FileAppend, Offset, OffsetAlign, OffsetIncrement,
    NumberIos, NumRange, Bs, Ba, Bsrange, Bssplit, BsUnaligned, BsIsSeqRand, Randrepeat, Randseed, Norandommap, Softrandommap,
    Sprandom, SprNumRegions, SprOp, SprCs, RandomGenerator, RandomDistribution, RandomSequenceStride, PercentageRandom,
    PercentageSequential, Nrfiles, Openfiles, FileServiceType, Fallocate, FadviseHint, Fsync, Fdatasync, WriteBarrier,
    SyncFileRange, Direct, Atomic, Buffered, Overwrite, Loops, Numjobs, Startdelay, Runtime, TimeBased, VerifyOnly, RampTime,
    RampSize, Clocksource, Mem, IomemAlign, Verify, DoVerify, VerifyPolicy, Verifysort, VerifysortNr, VerifyLayout, VerifyInterval,
    VerifyOffset, VerifyPattern, VerifyPatternInterval, VerifyFatal, VerifyDump, VerifyAsync, VerifyBacklog,
    VerifyBacklogBatch, VerifyAsyncCpus, ExperimentalVerify, VerifyStateLoad, VerifyStateSave, VerifyWriteSequence,
    VerifyHeaderSeed, TrimPercentage, TrimVerifyZero, TrimBacklog, TrimBacklogBatch, WriteIolog, WriteIologVersion, ReadIolog,
    ReadIologChunked, ReplayNoStall, ReplayRedirect, ReplayScale, ReplayAlign, ReplayTimeScale, ReplaySkip, MergeBlktraceFile,
    MergeBlktraceScalars, MergeBlktraceIters, ExecPrerun, ExecPostrun, Ioscheduler, Zonemode, Zonesize, Zonecapacity,
    Zonerange, Zoneskip, ReadBeyondWp, MaxOpenZones, JobMaxOpenZones, IgnoreZoneLimits, ZoneResetThreshold,
    ZoneResetFrequency, RecoverZbdWriteError, WriteZoneRemainder, Fdp, Dataplacement, PlidSelect, Plids, DpScheme, Lockmem,
    Rwmixread, Rwmixwrite, Rwmixcycle, Comm, Nice, Prio, Prioclass, Priohint, Thinktime, ThinktimeSpin, Thinkcycles,
    ThinktimeBlocks, ThinktimeBlocksType, ThinktimeIotime, Rate, RateMin, RateIops, RateIopsMin, RateProcess, RateCycle,
    RateIgnoreThinktime, MaxLatency, LatencyTarget, LatencyWindow, LatencyPercentile, LatencyRun, Invalidate, Sync, WriteHint,
    CreateSerialize, CreateFsync, CreateOnOpen, CreateOnly, AllowFileCreate, AllowLayoutOverwrite,
    AllowMountedWrite, PreRead, Cpumask, CpusAllowed,
    CpusAllowedPolicy, NumaCpuNodes, NumaMemPolicy, GpuDevId, EndFsync, FsyncOnClose, EndSyncfs, Unlink, UnlinkEachLoop,
    Exitall, ExitWhat, ExitallOnError, Stonewall, NewGroup, Thread, PerJobLogs, LogSum, WriteBwLog, WriteLatLog, WriteIopsLog,
    LogEntries, LogAvgMsec, LogHistMsec, LogHistCoarseness, WriteHistLog, LogWindowValue, LogOffset, LogPrio, LogIssueTime,
    LogCompression, LogCompressionCpus, LogStoreCompressed, LogAlternateEpoch, LogAlternateEpochClockId,
    BlockErrorPercentiles, Bwavgtime, Iopsavgtime, GroupReporting, Stats, ZeroBuffers, RefillBuffers, ScrambleBuffers,
    BufferPattern, BufferCompressPercentage, BufferCompressChunk, DedupePercentage, DedupeGlobal, DedupeMode,
    DedupeWorkingSetPercentage, ClatPercentiles, LatPercentiles, SlatPercentiles, PercentileList, SignificantFigures,
    DiskUtil, GtodReduce, DisableLat, DisableClat, DisableSlat, DisableBwMeasurement, GtodCpu, JobStartClockId,
    UnifiedRwReporting, ContinueOnError, IgnoreError, ErrorDump, Profile, Cgroup, CgroupNodelete, CgroupWeight, Uid, Gid,
    KbBase, UnitBase, HugepageSize, FlowId, Flow, FlowWatermark, FlowSleep, Steadystate, SteadystateDuration,
    SteadystateRampTime, SteadystateCheckInterval, Tuning, Hosts, Ranks,
    // private options of engines
    Cpuload, Cpumode, Cpuchunks, ExitOnIoDone, PoolDfs, Cont, ChunkSizeDfs, ObjectClass, Svcl, Donorname, Inplace, Program,
    Arguments, GraceTime, StdRedirect, StatType, Volume, Brick, SingleInstanceGfapi, Https, HttpHost, HttpUser, HttpPass,
    HttpS3Key, HttpS3Keyid, HttpS3SecurityToken, HttpSwiftAuthToken, HttpS3Region, HttpS3SseCustomerKey,
    HttpS3SseCustomerAlgorithm, HttpS3StorageClass, HttpMode, HttpVerbose, HttpObjectMode, HipriIoUring, ReadfuaIoUring,
    WritefuaIoUring, WriteMode, VerifyMode, Fixedbufs, Registerfiles, SqthreadPollIoUring, SqthreadPollCpu, Nonvectored,
    UncachedIoUring, NowaitIoUring, ForceAsync, CmdType, CdbLen, VerifyBytchk, ReadMode, CmdprioPercentageIoUring,
    CmdprioClassIoUring, CmdprioHintIoUring, CmdprioIoUring, CmdprioBssplitIoUring, MdPerIoSizeIoUring, PiActIoUring,
    PiChkIoUring, ApptagIoUring, ApptagMaskIoUring, Deac, UserspaceReap, NowaitLibaio, LibaioVectored, LibaioBackend,
    CmdprioPercentageLibaio, CmdprioClassLibaio, CmdprioHintLibaio, CmdprioLibaio, CmdprioBssplitLibaio, LibblkioDriver,
    LibblkioPath, LibblkioPreConnectProps, LibblkioNumEntries, LibblkioQueueSize, LibblkioPreStartProps, HipriLibblkio,
    LibblkioVectored, LibblkioWriteZeroesOnTrim, LibblkioWaitMode, LibblkioForceEnableCompletionEventfd, GpuDevIdsLibcufile,
    CudaIo, Namenode, HostnameLibhdfs, PortLibhdfs, Hdfsdirectory, ChunkSizeLibhdfs, SingleInstanceLibhdfs, HdfsUseDirect,
    GpuDevIdsLibhipfile, RocmIo, Initiator, Thp, SkipBad, Uri, HostnameNet, PortNet, Protocol, Nodelay, Listen, Pingpong,
    Interface, Ttl, WindowSize, Mss, NfsUrl, ClusternameRados, PoolRados, ClientnameRados, Conf, BusyPollRados, TouchObjects,
    ClusternameRbd, Rbdname, PoolRbd, ClientnameRbd, BusyPollRbd, RbdEncryptionFormat, RbdEncryptionPassphrase, HostnameRdma,
    Bindname, PortRdma, Verb, HipriSg, ReadfuaSg, WritefuaSg, SgWriteMode, StreamId, Dummy, ExternalOptions, HipriPvsync2, HipriPercentage,
    UncachedPvsync2, NowaitPvsync2, NoCompletionThread, HipriXnvme, SqthreadPollXnvme, XnvmeBe, XnvmeMem, XnvmeAsync,
    XnvmeSync, XnvmeAdmin, XnvmeDevNsid, XnvmeDevSubnqn, XnvmeIovec, MdPerIoSizeXnvme, PiActXnvme, PiChkXnvme, ApptagXnvme,
    ApptagMaskXnvme,
    // options of jobs with a `workload`
    Workload, Transactions, TransactionRate, TransactionCpu, SyncSessions, PageReads, BufferPool, PagesUsed, LogAppends, LogBlock, LogSize, LogDirect,
    LogFilename, FullPageWrites, CommitSync, GroupCommit, PagesChanged, WriteBackBatch, WriteBackSync, WriteBackInterval,
    DirtyPages, DoubleWrite, DoubleWriteSize, DoubleWriteFilename, CheckpointLog, CheckpointInterval, TableSize,
    WriteAmplification, WaitingTables,
    // private options of profiles
    DeviceNames, Load, TestDuration, ThreadsPerQueue, ReadReqNum512Blocks, LargeBlockOpKbytes, Prep, SizeTiobench, Block,
    Numruns, Dir, Threads,
}
