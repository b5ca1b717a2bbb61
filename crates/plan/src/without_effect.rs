//! Options that change nothing in the company they are in, of subjects that have no table of their own yet.

use ferrio_jobfile::{Job, Opt};

use crate::direction::rw;
use crate::inert::inert;
use crate::verify::verifies;
use crate::written::{asks, int_or, lacks, word};
use ferrio_job::Direction;

inert! {
    ReadIologChunked ReplayNoStall ReplayRedirect ReplayScale ReplayAlign ReplayTimeScale ReplaySkip:
        |job| lacks(job, Opt::ReadIolog); "nothing is replayed without `read_iolog`";
    MergeBlktraceScalars MergeBlktraceIters:
        |job| lacks(job, Opt::MergeBlktraceFile); "nothing is merged without `merge_blktrace_file`";
    WriteIolog:
        |job| job.options.is_given(Opt::ReadIolog); "a job that replays (`read_iolog`) does not record";
    WriteIologVersion:
        |job| lacks(job, Opt::WriteIolog); "nothing is recorded without `write_iolog`";
    Plids PlidSelect DpScheme:
        |job| !asks(job, Opt::Fdp) && matches!(word(job, Opt::Dataplacement), None | Some("none"));
        "writes carry placement ids only with `fdp` or `dataplacement`";
    DpScheme:
        |job| word(job, Opt::PlidSelect) != Some("scheme"); "the file is read only with plid_select=scheme";
    Zonecapacity Zonerange Zoneskip ReadBeyondWp MaxOpenZones JobMaxOpenZones IgnoreZoneLimits
        ZoneResetThreshold ZoneResetFrequency RecoverZbdWriteError WriteZoneRemainder:
        |job| matches!(word(job, Opt::Zonemode), None | Some("none")); "there are no zones without `zonemode`";
    Zonecapacity ReadBeyondWp MaxOpenZones JobMaxOpenZones IgnoreZoneLimits ZoneResetThreshold ZoneResetFrequency
        RecoverZbdWriteError WriteZoneRemainder:
        |job| word(job, Opt::Zonemode) == Some("strided"); "it belongs to zonemode=zbd";
    SprNumRegions SprOp SprCs:
        |job| !asks(job, Opt::Sprandom); "it belongs to `sprandom`";
    DedupeGlobal DedupeMode DedupeWorkingSetPercentage:
        |job| !asks(job, Opt::DedupePercentage); "there are no duplicates without `dedupe_percentage`";
    DedupeGlobal DedupeWorkingSetPercentage:
        |job| word(job, Opt::DedupeMode) != Some("working_set"); "it belongs to dedupe_mode=working_set";
    DedupePercentage DedupeGlobal DedupeMode DedupeWorkingSetPercentage:
        |job| verifies(job) && word(job, Opt::Verify) != Some("null")
            && !rw(job).does(Direction::Read) && !asks(job, Opt::Overwrite);
        "blocks that are verified are all different";
    BufferCompressChunk:
        |job| !asks(job, Opt::BufferCompressPercentage) && !asks(job, Opt::DedupePercentage);
        "contents do not compress without `buffer_compress_percentage`";
    ThinktimeSpin ThinktimeBlocks ThinktimeBlocksType ThinktimeIotime:
        |job| !asks(job, Opt::Thinktime); "there are no pauses without `thinktime`";
    RateCycle:
        |job| !asks(job, Opt::RateMin) && !asks(job, Opt::RateIopsMin);
        "there is no minimum rate (`rate_min`, `rate_iops_min`) to look at";
    RateProcess RateIgnoreThinktime:
        |job| !asks(job, Opt::Rate) && !asks(job, Opt::RateIops);
        "the job has no rate limit (`rate`, `rate_iops`)";
    RateIgnoreThinktime:
        |job| !asks(job, Opt::Thinktime); "there are no pauses without `thinktime`";
    LatencyWindow LatencyPercentile LatencyRun:
        |job| !asks(job, Opt::LatencyTarget); "nothing is searched for without `latency_target`";
    FlowId FlowSleep:
        |job| !asks(job, Opt::Flow); "the job is in no flow group without `flow`";
    Steadystate SteadystateRampTime SteadystateCheckInterval:
        |job| !asks(job, Opt::SteadystateDuration);
        "no steady state is looked for without `steadystate_duration`";
    DoVerify VerifyPolicy VerifyInterval VerifyOffset VerifyPatternInterval VerifyFatal VerifyDump VerifyAsync
        VerifyBacklog VerifyBacklogBatch VerifyAsyncCpus ExperimentalVerify VerifyStateSave VerifyWriteSequence
        VerifyHeaderSeed TrimPercentage:
        |job| !verifies(job); "nothing is verified without `verify`";
    VerifyPatternInterval:
        |job| lacks(job, Opt::VerifyPattern); "there is no `verify_pattern` to restart";
    VerifyAsyncCpus:
        |job| !asks(job, Opt::VerifyAsync); "blocks are checked by the job itself without `verify_async`";
    VerifyBacklogBatch:
        |job| !asks(job, Opt::VerifyBacklog); "it belongs to `verify_backlog`";
    TrimVerifyZero TrimBacklog TrimBacklogBatch:
        |job| !asks(job, Opt::TrimPercentage); "no written block is trimmed without `trim_percentage`";
    TrimBacklogBatch:
        |job| !asks(job, Opt::TrimBacklog); "it belongs to `trim_backlog`";
    SerializeOverlap:
        |job| lacks(job, Opt::ReadIolog) && word(job, Opt::IoSubmitMode) != Some("offload")
            && (int_or(job, Opt::Iodepth, 1) <= 1 || !changes_data(job));
        "writes of this job never overlap one still in flight";
    IodepthBatch IodepthBatchCompleteMin IodepthBatchCompleteMax IodepthLow:
        |job| word(job, Opt::IoSubmitMode) == Some("offload");
        "threads take one I/O each, as soon as there is one";
    Softrandommap:
        |job| !rw(job).is_random() || asks(job, Opt::Norandommap) || orders_blocks(job)
            || !matches!(word(job, Opt::RandomDistribution), None | Some("random"));
        "the job needs no map of random blocks";
    PercentageRandom RandomDistribution:
        |job| !rw(job).is_random(); "the job is sequential";
    RandomGenerator:
        |job| !rw(job).is_random() && orders_blocks(job); "the job is sequential";
    RandomSequenceStride:
        |job| word(job, Opt::RandomDistribution) != Some("sequence");
        "it belongs to random_distribution=sequence";
    RwSequencer:
        |job| job.options.word(Opt::Rw).is_none_or(|choice| choice.argument.is_none()) || !rw(job).is_random();
        "it belongs to a random kind with a count, like `rw=randread:8`";
    ErrorDump:
        |job| matches!(word(job, Opt::ContinueOnError), None | Some("none")) && lacks(job, Opt::IgnoreError);
        "the job ends at its first error without `continue_on_error`";
    CpusAllowedPolicy:
        |job| lacks(job, Opt::CpusAllowed) && lacks(job, Opt::Cpumask);
        "the job may run on all CPUs without `cpus_allowed`";
    HugepageSize:
        |job| !matches!(word(job, Opt::Mem), Some("shmhuge" | "mmaphuge"));
        "buffers have no huge pages without mem=mmaphuge or mem=shmhuge";
    GpuDevId:
        |job| word(job, Opt::Mem) != Some("cudamalloc"); "buffers are in the memory of a GPU only with mem=cudamalloc";
    NumRange:
        |job| !rw(job).does(Direction::Trim); "the job does not trim";
    Atomic:
        |job| !rw(job).does(Direction::Write); "the job does not write";
    CmdprioClassIoUring CmdprioHintIoUring CmdprioIoUring:
        |job| !asks(job, Opt::CmdprioPercentageIoUring) && lacks(job, Opt::CmdprioBssplitIoUring);
        "no I/O has that priority without `cmdprio_percentage` or `cmdprio_bssplit`";
    CmdprioClassLibaio CmdprioHintLibaio CmdprioLibaio:
        |job| !asks(job, Opt::CmdprioPercentageLibaio) && lacks(job, Opt::CmdprioBssplitLibaio);
        "no I/O has that priority without `cmdprio_percentage` or `cmdprio_bssplit`";
    HipriPercentage:
        |job| !asks(job, Opt::HipriPvsync2); "nothing is polled without `hipri`";
    SqthreadPollCpu:
        |job| !asks(job, Opt::SqthreadPollIoUring); "there is no polling thread without `sqthread_poll`";
    UncachedIoUring UncachedPvsync2:
        |job| asks(job, Opt::Direct); "direct I/O leaves nothing in the page cache";
}

/// Whether each block is visited once without a map.
fn orders_blocks(job: &Job) -> bool {
    matches!(word(job, Opt::RandomGenerator), Some("lfsr" | "permute"))
}

fn changes_data(job: &Job) -> bool {
    rw(job).does(Direction::Write) || rw(job).does(Direction::Trim)
}
