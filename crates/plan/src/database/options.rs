//! Which options of other jobs a database has: the decision about each, in one table.

use ferrio_job::{DatabaseModel, Diagnostic, Distribution};
use ferrio_jobfile::{Given, Job, Opt, OptionScope, OptionStatus, Value};

use crate::as_written::{is_zero, name};
use crate::findings::Findings;
use crate::status::InertOptions;

/// What becomes of options in a job that models a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// They mean what they mean in other jobs.
    Works,
    /// The model decides it: the end of the sentence "workload=... decides"; and what to use instead.
    Decided(&'static str, &'static str),
    /// They cannot matter, for this reason.
    NoEffect(&'static str),
}

use Fate::{Decided, NoEffect, Works};

/// Every option that is implemented and belongs to no engine is in one row.
pub(super) const FATES: &[(Fate, &[Opt])] = {
    use Opt::*;
    &[
        // The job among the others, its threads and their memory.
        (
            Works,
            &[
                Description,
                Name,
                WaitFor,
                Numjobs,
                Startdelay,
                Runtime,
                RampTime,
                TimeBased,
                Clocksource,
                GtodCpu,
                Lockmem,
                NumaCpuNodes,
                NumaMemPolicy,
                Nice,
                Prio,
                Prioclass,
                Priohint,
                Cpumask,
                CpusAllowed,
                CpusAllowedPolicy,
                Uid,
                Gid,
                Comm,
                Cgroup,
                CgroupNodelete,
                CgroupWeight,
                Exitall,
                ExitWhat,
                ExitallOnError,
                Stonewall,
                NewGroup,
                Thread,
                Mem,
                IomemAlign,
                HugepageSize,
                Tuning,
            ],
        ),
        // The files, and how they are opened and laid out.
        (
            Works,
            &[
                Filename,
                Directory,
                Nrfiles,
                Size,
                Filetype,
                AllowFileCreate,
                AllowMountedWrite,
                Fallocate,
                CreateSerialize,
                CreateFsync,
                CreateOnly,
                PreRead,
                Unlink,
                Direct,
                Buffered,
                Invalidate,
                FadviseHint,
                WriteHint,
                Ioscheduler,
            ],
        ),
        // How I/O is done, with which data, on which pages.
        (
            Works,
            &[
                Ioengine,
                Iodepth,
                Bs,
                RandomDistribution,
                Randrepeat,
                Randseed,
                ZeroBuffers,
                RefillBuffers,
                ScrambleBuffers,
                BufferPattern,
                BufferCompressPercentage,
                BufferCompressChunk,
                DedupePercentage,
                DedupeGlobal,
                DedupeMode,
                DedupeWorkingSetPercentage,
            ],
        ),
        // What is reported and logged.
        (
            Works,
            &[
                GroupReporting,
                Stats,
                ClatPercentiles,
                LatPercentiles,
                SlatPercentiles,
                PercentileList,
                SignificantFigures,
                DiskUtil,
                GtodReduce,
                DisableLat,
                DisableClat,
                DisableSlat,
                DisableBwMeasurement,
                JobStartClockId,
                UnifiedRwReporting,
                KbBase,
                UnitBase,
                PerJobLogs,
                LogSum,
                WriteBwLog,
                WriteLatLog,
                WriteIopsLog,
                LogAvgMsec,
                LogHistMsec,
                LogHistCoarseness,
                WriteHistLog,
                LogWindowValue,
                LogOffset,
                LogPrio,
                LogIssueTime,
                LogCompression,
                LogCompressionCpus,
                LogStoreCompressed,
                LogAlternateEpoch,
                LogAlternateEpochClockId,
                Bwavgtime,
                Iopsavgtime,
            ],
        ),
        (
            Decided("what is read and written", "`ferrio help workload` explains the models"),
            &[
                Rw,
                RwSequencer,
                Rwmixread,
                Rwmixwrite,
                PercentageRandom,
                Offset,
                OffsetAlign,
                OffsetIncrement,
                Zonemode,
                Zonesize,
                Zonecapacity,
                Zonerange,
                Zoneskip,
                ZoneResetThreshold,
                ZoneResetFrequency,
                RecoverZbdWriteError,
                WriteZoneRemainder,
                ReadBeyondWp,
                MaxOpenZones,
                JobMaxOpenZones,
                IgnoreZoneLimits,
                ReadIolog,
                ReadIologChunked,
                ReplayNoStall,
                ReplayRedirect,
                ReplayScale,
                ReplayAlign,
                ReplayTimeScale,
                ReplaySkip,
                MergeBlktraceFile,
                MergeBlktraceScalars,
                MergeBlktraceIters,
                WriteIolog,
                WriteIologVersion,
                Sprandom,
                SprNumRegions,
                SprOp,
                SprCs,
                BlockErrorPercentiles,
            ],
        ),
        (
            Decided(
                "how long its I/Os are",
                "`bs` is the size of a page, and `log_block` that of an append to the log",
            ),
            &[Bsrange, Bssplit, Ba, BsUnaligned, BsIsSeqRand, Atomic],
        ),
        (
            Decided(
                "how many I/Os are in flight",
                "`numjobs` is the number of sessions, `iodepth` the most I/Os of its write-back",
            ),
            &[
                IodepthBatch,
                IodepthBatchCompleteMin,
                IodepthBatchCompleteMax,
                IodepthLow,
                SerializeOverlap,
                IoSubmitMode,
            ],
        ),
        (
            Decided(
                "which files it has",
                "`nrfiles`, `filename` or `directory` and `size` describe the data files",
            ),
            &[
                FilenameFormat,
                Opendir,
                Filesize,
                Openfiles,
                FileServiceType,
                FileAppend,
                FillDevice,
                CreateOnOpen,
                Lockfile,
            ],
        ),
        (
            Decided("when it syncs", "`commit_sync` and `write_back_sync` say how"),
            &[Fsync, Fdatasync, SyncFileRange, EndFsync, FsyncOnClose, EndSyncfs, Sync],
        ),
        (
            Decided("when its I/Os begin", "`transaction_rate` limits the transactions per second"),
            &[
                Rate,
                RateMin,
                RateIops,
                RateIopsMin,
                RateProcess,
                RateCycle,
                RateIgnoreThinktime,
                Thinktime,
                ThinktimeSpin,
                Thinkcycles,
                ThinktimeBlocks,
                ThinktimeBlocksType,
                ThinktimeIotime,
                Flow,
                FlowId,
                FlowSleep,
                LatencyTarget,
                LatencyWindow,
                LatencyPercentile,
                LatencyRun,
            ],
        ),
        (
            Decided(
                "when its jobs begin and end: none of them waits for a command",
                "put the command into a job of its own, and let one job wait for the other with `wait_for`",
            ),
            &[ExecPrerun, ExecPostrun],
        ),
        (
            Decided("when it ends", "`transactions` and `runtime` limit it"),
            &[
                IoSize,
                NumberIos,
                Loops,
                RampSize,
                Steadystate,
                SteadystateDuration,
                SteadystateRampTime,
                SteadystateCheckInterval,
                MaxLatency,
            ],
        ),
        (
            Decided(
                "that its first error ends it",
                "without one of its I/Os, no later transaction would be that of a database",
            ),
            &[ContinueOnError, IgnoreError, ErrorDump],
        ),
        (
            Decided("what its pages contain, and verifies none", "verify with a job of its own"),
            &[
                Verify,
                DoVerify,
                VerifyOnly,
                VerifyPolicy,
                VerifyLayout,
                VerifyInterval,
                VerifyOffset,
                VerifyPattern,
                VerifyPatternInterval,
                VerifyFatal,
                VerifyDump,
                VerifyAsync,
                VerifyBacklog,
                VerifyBacklogBatch,
                VerifyAsyncCpus,
                ExperimentalVerify,
                VerifyStateLoad,
                VerifyStateSave,
                VerifyWriteSequence,
                VerifyHeaderSeed,
                TrimPercentage,
                TrimVerifyZero,
                TrimBacklog,
                TrimBacklogBatch,
            ],
        ),
        (
            NoEffect("a database reads and writes pages again and again"),
            &[Norandommap, Softrandommap, RandomGenerator, RandomSequenceStride],
        ),
        (NoEffect("the files of a database are laid out full of data"), &[Overwrite, AllowLayoutOverwrite]),
        (NoEffect("a database makes one pass"), &[UnlinkEachLoop]),
    ]
};

/// What becomes of an assignment; those of options of engines and of databases work.
fn fate(given: &Given) -> Fate {
    match given.opt {
        // Each job would draw a delay of its own from a range.
        Opt::Startdelay if matches!(given.value, Value::Range(low, high) if low != high) => {
            Decided("that its jobs begin together", "give one delay, such as startdelay=2s")
        }
        Opt::Thread if is_zero(&given.value) => NoEffect("the jobs of a database are threads of one process"),
        Opt::TimeBased if is_zero(&given.value) => {
            NoEffect("a database goes on until `transactions` or `runtime` end it")
        }
        opt => FATES.iter().find(|(_, opts)| opts.contains(&opt)).map_or(Works, |(fate, _)| *fate),
    }
}

/// Whether an assignment remains in a job with this model.
pub(super) fn is_kept(job: &Job, given: &Given, model: DatabaseModel) -> bool {
    if given.opt.row().scope == OptionScope::Database {
        return without_effect(job, given.opt, model).is_none();
    }
    given.opt.row().scope != OptionScope::Core
        || (fate(given) == Works && is_distribution_of_pages(given))
            && (given.opt != Opt::Nrfiles || model != DatabaseModel::Rocksdb)
        || !matches!(given.opt.row().status, OptionStatus::Works)
}

/// Why an option of databases has no effect beside the others of this job.
fn without_effect(job: &Job, opt: Opt, model: DatabaseModel) -> Option<&'static str> {
    let or_preset = |opt: Opt, word: &str| {
        let given = job.options.given(opt).map(|given| given.text.as_str());
        given.or(opt.preset(model)).is_some_and(|value| value == word)
    };
    let is_off = |opt: Opt| match job.options.if_given::<bool>(opt) {
        Some(on) => !on,
        None => opt.preset(model) == Some("0"),
    };
    // No model changes nothing by default.
    let changes_nothing = job.options.if_given::<u32>(Opt::PagesChanged) == Some(0);
    match opt {
        Opt::PagesUsed if !job.options.is_given(Opt::BufferPool) => {
            Some("it counts pages that may be in the pool of `buffer_pool`")
        }
        Opt::DoubleWriteFilename | Opt::DoubleWriteSize if is_off(Opt::DoubleWrite) => {
            Some("there is no double-write area with double_write=0")
        }
        Opt::GroupCommit if or_preset(Opt::CommitSync, "dsync") => {
            Some("each write of the log is durable with commit_sync=dsync")
        }
        Opt::GroupCommit if or_preset(Opt::CommitSync, "none") => {
            Some("commits do not sync the log with commit_sync=none")
        }
        Opt::WriteBackBatch | Opt::WriteBackInterval | Opt::WriteBackSync | Opt::DirtyPages
            if changes_nothing =>
        {
            Some("pages_changed=0 leaves nothing to write back")
        }
        Opt::DoubleWrite | Opt::DoubleWriteFilename | Opt::DoubleWriteSize
            if changes_nothing && !is_off(Opt::DoubleWrite) =>
        {
            Some("pages_changed=0 leaves nothing to write twice")
        }
        Opt::FullPageWrites if changes_nothing && !is_off(Opt::FullPageWrites) => {
            Some("pages_changed=0 leaves no changed page to append to the log")
        }
        _ => None,
    }
}

/// Refuses what the model decides, and says of inherited options that they are left out.
pub(super) fn check<'a>(
    job: &'a Job,
    model: DatabaseModel,
    inert: &mut InertOptions<'a>,
    findings: &mut Findings,
) {
    for given in job.options.all() {
        if let Some(reason) = without_effect(job, given.opt, model) {
            inert.add(job, given, reason);
            continue;
        }
        match fate(given) {
            NoEffect(reason) => inert.add(job, given, reason),
            Decided(what, help) => decided(job, given, model, what, help, findings),
            Works if !is_distribution_of_pages(given) => {
                let help = "pages are chosen by random, zipf, zipf_exact, pareto or normal";
                decided(job, given, model, "what is read and written", help, findings);
            }
            Works if given.opt == Opt::Nrfiles && model == DatabaseModel::Rocksdb => {
                let help = "each file is a table: `size` and `table_size` say how many there are";
                decided(job, given, model, "which files it has", help, findings);
            }
            Works => {}
        }
    }
}

/// Of the distributions of offsets, a database has those of an unlimited number of pages.
fn is_distribution_of_pages(given: &Given) -> bool {
    use ferrio_jobfile::Argument;
    match &given.value {
        Value::Word(_, Argument::Distribution(distribution)) => {
            matches!(distribution, Distribution::Uniform | Distribution::Skewed(_))
        }
        _ => true,
    }
}

/// An option of the section is a mistake, one that it inherits is meant for other jobs.
fn decided(job: &Job, given: &Given, model: DatabaseModel, what: &str, help: &str, findings: &mut Findings) {
    let option = given.name;
    let message = format!("workload={model} decides {what}");
    let is_own = job.own.iter().any(|own| own.origin == given.origin);
    if is_own {
        let problem = Diagnostic::error(message, given.origin.clone()).code("decided-by-workload");
        findings.refuse(problem.label(format!("remove `{option}`")).help(help).job(name(job)));
    } else {
        let text = format!("`{option}`, which the job inherits, is ignored: {message}");
        let note = Diagnostic::note(text).code("decided-by-workload").at(given.origin.clone());
        findings.warn(note.help(help).job(name(job)));
    }
}

#[cfg(test)]
mod tests {
    use ferrio_jobfile::{OptionStatus, rows};

    use super::*;

    #[test]
    fn every_option_of_all_jobs_has_one_fate() {
        let rows =
            rows().iter().filter(|row| row.scope == OptionScope::Core && row.status == OptionStatus::Works);
        for row in rows {
            let count = FATES.iter().filter(|(_, opts)| opts.contains(&row.opt)).count();
            assert_eq!(count, 1, "{}", row.name);
        }
        let all = FATES.iter().flat_map(|(_, opts)| opts.iter());
        assert!(
            all.clone()
                .all(|opt| opt.row().scope == OptionScope::Core && opt.row().status == OptionStatus::Works)
        );
    }
}
