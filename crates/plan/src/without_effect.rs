//! Options that can change nothing in the company they are in: one table, which planning and checking of job files share.
//!
//! A row names options, when they are idle, and why. Options that never have an effect carry the reason in the catalogue. An
//! option that another job may bring to life (`exit_what` by its `exitall`) has no place here.

use ferrio_jobfile::{Amount, Given, Job, Kind, Opt, Status};

use crate::status::asks_for_nothing;
use crate::written::{asks, int_or, rw, verifies, word};
use ferrio_job::Direction;

/// Options that are idle together.
struct Row {
    opts: &'static [Opt],
    /// Whether the other options of the job leave these without effect.
    idle: fn(&Job) -> bool,
    reason: &'static str,
}

/// A row of the table: `options: when; why`.
macro_rules! table {
    ($($($opt:ident)+: $idle:expr; $reason:literal;)+) => {
        static TABLE: &[Row] = &[$(Row { opts: &[$(Opt::$opt),+], idle: $idle, reason: $reason }),+];
    };
}

table! {
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
    OffsetAlign:
        |job| ![Opt::Offset, Opt::OffsetIncrement].iter().any(|&opt| is_percent(job, opt));
        "only an `offset` or `offset_increment` in percent is rounded";
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
    PerJobLogs LogAvgMsec LogWindowValue LogOffset LogPrio LogIssueTime LogAlternateEpoch
        LogAlternateEpochClockId LogCompression LogCompressionCpus LogStoreCompressed:
        |job| !logs(job); "the job writes no log";
    LogWindowValue:
        |job| !asks(job, Opt::LogAvgMsec); "single I/Os are logged, not windows, without `log_avg_msec`";
    LogAlternateEpochClockId:
        |job| !asks(job, Opt::LogAlternateEpoch); "it belongs to `log_alternate_epoch`";
    LogCompressionCpus:
        |job| !asks(job, Opt::LogCompression) && !asks(job, Opt::LogStoreCompressed);
        "it belongs to `log_compression` and `log_store_compressed`";
    WriteHistLog:
        |job| !asks(job, Opt::LogHistMsec); "the log stays empty without `log_hist_msec`";
    LogHistMsec LogHistCoarseness:
        |job| lacks(job, Opt::WriteHistLog); "no histograms are logged without `write_hist_log`";
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
    UnlinkEachLoop:
        |job| int_or(job, Opt::Loops, 1) <= 1 && !asks(job, Opt::TimeBased);
        "the job makes one pass over its files";
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
    CgroupNodelete CgroupWeight:
        |job| lacks(job, Opt::Cgroup); "the job joins no `cgroup`";
    CpusAllowedPolicy:
        |job| lacks(job, Opt::CpusAllowed) && lacks(job, Opt::Cpumask);
        "the job may run on all CPUs without `cpus_allowed`";
    HugepageSize:
        |job| !matches!(word(job, Opt::Mem), Some("shmhuge" | "mmaphuge"));
        "buffers have no huge pages without mem=mmaphuge or mem=shmhuge";
    GpuDevId:
        |job| word(job, Opt::Mem) != Some("cudamalloc"); "buffers are in the memory of a GPU only with mem=cudamalloc";
    FillDevice:
        |job| !rw(job).does(Direction::Write) && !rw(job).does(Direction::Read); "the job does not write";
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

/// Options of a job that can have no effect in it, each once with the reason, in the order they were given.
///
/// Values that ask for nothing (`zoneskip=0`) and options that were already told about when they were read are left out.
#[must_use]
pub fn without_effect(job: &Job) -> Vec<(Opt, &'static str)> {
    let mut found: Vec<(Opt, &'static str)> = Vec::new();
    for given in job.options.all() {
        if let Some(reason) = reason(job, given)
            && !found.iter().any(|(opt, _)| *opt == given.opt)
        {
            found.push((given.opt, reason));
        }
    }
    found
}

/// Why an assignment has no effect in its job, if that is so.
pub(crate) fn reason(job: &Job, given: &Given) -> Option<&'static str> {
    match given.opt.row().status {
        Status::NoEffect(_) if given.opt.row().kind == Kind::Ignored => None,
        Status::NoEffect(reason) => Some(reason),
        _ if asks_for_nothing(given) => None,
        _ => TABLE.iter().find(|row| row.opts.contains(&given.opt) && (row.idle)(job)).map(|row| row.reason),
    }
}

fn lacks(job: &Job, opt: Opt) -> bool {
    !job.options.is_given(opt)
}

/// Whether each block is visited once without a map.
fn orders_blocks(job: &Job) -> bool {
    matches!(word(job, Opt::RandomGenerator), Some("lfsr" | "permute"))
}

fn is_percent(job: &Job, opt: Opt) -> bool {
    matches!(job.options.amount(opt), Some(Amount::Percent(_)))
}

fn logs(job: &Job) -> bool {
    [Opt::WriteBwLog, Opt::WriteLatLog, Opt::WriteIopsLog, Opt::WriteHistLog]
        .iter()
        .any(|&opt| job.options.is_given(opt))
}

fn changes_data(job: &Job) -> bool {
    rw(job).does(Direction::Write) || rw(job).does(Direction::Trim)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{jobs_of, plan_of, texts};

    fn idle(options: &str) -> Vec<&'static str> {
        let set = jobs_of(&format!("[a]\nioengine=null\nsize=64k\n{options}"));
        without_effect(&set.jobs[0]).into_iter().map(|(opt, _)| opt.row().name).collect()
    }

    #[test]
    fn options_that_belong_to_another_are_idle_without_it() {
        for (options, needed) in [
            ("replay_skip=write,trim", "read_iolog=x"),
            ("replay_redirect=/dev/x", "read_iolog=x"),
            ("write_iolog_version=2", "write_iolog=x"),
            ("plids=1,3-5,65535", "fdp=1"),
            ("plid_select=random", "dataplacement=streams"),
            ("offset_align=8k", "offset=50%"),
            ("zonecapacity=1m", "zonemode=zbd"),
            ("zoneskip=1m", "zonemode=strided\nzonesize=4k"),
            ("spr_op=0.3", "sprandom=1"),
            ("dedupe_mode=working_set", "dedupe_percentage=50"),
            ("dedupe_global=1", "dedupe_percentage=50\ndedupe_mode=working_set"),
            ("buffer_compress_chunk=4k", "buffer_compress_percentage=50"),
            ("thinktime_blocks=5", "thinktime=1"),
            ("rate_cycle=500", "rate_min=1"),
            ("rate_process=poisson", "rate_iops=10"),
            ("latency_window=5", "latency_target=1ms"),
            ("flow_id=3", "flow=2"),
            ("log_offset=1", "write_lat_log=x"),
            ("log_window_value=max", "write_bw_log\nlog_avg_msec=100"),
            ("log_hist_msec=100", "write_hist_log"),
            ("log_compression_cpus=0", "write_lat_log\nlog_compression=1k"),
            ("steadystate=iops:10%", "steadystate_duration=4"),
            ("verify_backlog=8", "verify=md5"),
            ("verify_async_cpus=0", "verify=md5\nverify_async=1"),
            ("trim_backlog=4", "trim_percentage=5"),
            ("unlink_each_loop=1", "loops=2"),
            ("serialize_overlap=1", "rw=write\niodepth=4"),
            ("softrandommap=1", "rw=randread"),
            ("percentage_random=50", "rw=randread"),
            ("random_distribution=zipf:1.2", "rw=randread"),
            ("random_generator=lfsr", "rw=randread"),
            ("random_sequence_stride=1", "random_distribution=sequence:0,1"),
            ("error_dump=1", "continue_on_error=all"),
            ("cgroup_weight=500", "cgroup=x"),
            ("cpus_allowed_policy=split", "cpus_allowed=0"),
            ("hugepage-size=1m", "mem=mmaphuge"),
            ("num_range=4", "rw=trim"),
            ("atomic=1", "rw=write"),
        ] {
            let name = options.split('=').next().unwrap();
            assert_eq!(idle(&format!("{options}\n")), [name], "alone");
            assert!(!idle(&format!("{needed}\n{options}\n")).contains(&name), "{name} with {needed}");
        }
    }

    #[test]
    fn options_that_another_overrules_are_idle_beside_it() {
        for (options, other) in [
            ("dedupe_percentage=50", "rw=write\nverify=md5"),
            ("iodepth_batch=4", "io_submit_mode=offload\niodepth=4"),
            ("iodepth_low=2", "io_submit_mode=offload\niodepth=4"),
        ] {
            let name = options.split('=').next().unwrap();
            assert!(idle(&format!("{options}\n")).is_empty(), "{name} alone");
            assert_eq!(idle(&format!("{other}\n{options}\n")), [name], "with {other}");
        }
        let kept = "rw=write\nverify=md5\noverwrite=1\ndedupe_percentage=50\n";
        assert!(idle(kept).is_empty(), "the file that is laid out has duplicates");
    }

    #[test]
    fn options_of_engines_are_idle_without_their_leader() {
        let idle = |text: &str| {
            let set = jobs_of(text);
            without_effect(&set.jobs[0]).into_iter().map(|(opt, _)| opt.row().name).collect::<Vec<_>>()
        };
        assert_eq!(idle("[a]\nioengine=libaio\ncmdprio_class=1\n"), ["cmdprio_class"]);
        assert!(idle("[a]\nioengine=libaio\ncmdprio_class=1\ncmdprio_percentage=10\n").is_empty());
        assert_eq!(idle("[a]\nioengine=pvsync2\nhipri_percentage=10\nuncached=1\n"), ["hipri_percentage"]);
        assert_eq!(idle("[a]\nioengine=io_uring\nuncached=1\ndirect=1\n"), ["uncached"]);
        assert_eq!(idle("[a]\nioengine=io_uring\nreadfua=1\n"), ["readfua"]);
    }

    #[test]
    fn a_log_of_histograms_needs_an_interval() {
        assert_eq!(idle("write_hist_log=x\n"), ["write_hist_log"]);
    }

    #[test]
    fn values_that_ask_for_nothing_are_not_listed() {
        assert!(
            idle("zoneskip=0\nthinktime_blocks=1\nverify_async=0\nreplay_scale=1\nlog_offset=0\n").is_empty()
        );
    }

    #[test]
    fn an_idle_option_without_implementation_does_not_stop_a_run() {
        let plan = plan_of("[a]\nioengine=null\nsize=64k\nreplay_skip=write\nplids=1\n").unwrap();
        let want = [
            "option `replay_skip` has no effect here: nothing is replayed without `read_iolog`",
            "option `plids` has no effect here: writes carry placement ids only with `fdp` or `dataplacement`",
        ];
        assert_eq!(texts(&plan.diagnostics), want);
    }

    #[test]
    fn reasons_are_phrases_without_an_end() {
        for row in TABLE {
            assert!(row.reason.split(' ').count() >= 4 && !row.reason.ends_with('.'), "{}", row.reason);
        }
    }
}
