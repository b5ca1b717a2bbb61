//! Engines, threads and CPUs that do not fit the rest of the job.

use ferrio_job::{
    Direction, EngineKind, JobSpec, LibaioBackend, NOT_PERSISTENT_MEMORY, PAGE_BYTES,
    PERSISTENT_MEMORY_NEEDED, blocks_of_partial_pages, counted, offset_within_page,
};
use ferrio_jobfile::Opt;
use ferrio_machine::IoUringSysctl;

use super::paths::nothing_is_made;
use super::{Info, Observation, Phase, RiskContext, RiskRule, Section, Warning};
use crate::section::{CheckedSection, JobWork, is_stored};

pub(super) const RULES: &[RiskRule] = &[
    ("io-uring-forbidden", Warning, Section(io_uring_forbidden)),
    ("iodepth-sync-engine", Warning, Section(iodepth_sync_engine)),
    ("mapping-within-page", Warning, Section(mapping_within_page)),
    ("mapping-partial-pages", Warning, Section(mapping_partial_pages)),
    ("not-persistent-memory", Warning, Section(not_persistent_memory)),
    ("libaio-buffered", Warning, Section(libaio_buffered)),
    ("sync-without-file", Info, Section(sync_without_file)),
    ("fsync-with-queue", Info, Section(fsync_with_queue)),
    ("polling-without-cpus", Warning, Phase(polling_without_cpus)),
    ("reports-one-by-one", Info, Section(reports_one_by_one)),
    ("more-jobs-than-cpus", Info, Phase(more_jobs_than_cpus)),
];

/// Number of clones from which a single report is easier to read than one per clone.
const MANY_CLONES: u32 = 8;

/// The sysctl forbids io_uring. A filter of system calls may forbid it too, which only setting up a ring would show.
fn io_uring_forbidden(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let obstacle = run.facts.io_uring.obstacle()?;
    let needs_it = |spec: &JobSpec| {
        let libaio = spec.engine == EngineKind::Libaio;
        let replaced = libaio && spec.engine_options.libaio.backend == LibaioBackend::IoUring;
        spec.works() && (spec.engine.is_on_io_uring() || replaced)
    };
    section.running().find(|spec| needs_it(spec)).map(|spec| {
        let message = format!("ioengine={} needs io_uring, but {obstacle}", spec.engine.word());
        let blame = &[Opt::LibaioBackend, Opt::Ioengine];
        Observation::new(message, IoUringSysctl::ADVICE, blame).fails_if(true)
    })
}

/// A deep queue with an engine that keeps one I/O in flight.
fn iodepth_sync_engine(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.spec();
    (spec.depth.iodepth > 1 && spec.is_sync() && spec.works()).then(|| {
        let message =
            format!("iodepth above 1 with ioengine={}, which keeps one I/O in flight", spec.engine.word());
        let advice = "use io_uring or libaio for a queue, or numjobs for more I/Os at the same time";
        Observation::new(message, advice, &[Opt::Iodepth])
    })
}

/// The region of a file begins within a page: it cannot be mapped, and the job fails when it starts.
fn mapping_within_page(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut mapped = section.files().filter(|(spec, _)| spec.engine == EngineKind::Mmap && spec.works());
    let message = mapped.find_map(|(_, file)| offset_within_page(file.offset))?;
    let advice = format!("the job fails: use an offset that is a multiple of {PAGE_BYTES}");
    Some(Observation::new(message, advice, &[Opt::OffsetIncrement, Opt::Offset]).fails_if(true))
}

/// Blocks that are not whole pages cannot be written back: the job fails when it starts.
fn mapping_partial_pages(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut mapping = section.running().filter(|spec| spec.engine == EngineKind::Mmap && spec.works());
    let message = mapping.find_map(blocks_of_partial_pages)?;
    let advice = "the job fails: use such a block size, or sync once with end_fsync=1";
    Some(Observation::new(message, advice, &[Opt::Bs, Opt::Bsrange, Opt::Bssplit, Opt::Ba]).fails_if(true))
}

/// A file cannot be mapped as persistent memory: the job fails when it starts.
fn not_persistent_memory(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (_, file) = section.files().find(|(spec, file)| {
        let maps = spec.engine == EngineKind::Libpmem && spec.works() && is_stored(file);
        maps && run.facts.files.get(&file.path).is_some_and(|facts| facts.without_dax)
    })?;
    let message = format!("ioengine=libpmem: {NOT_PERSISTENT_MEMORY}: {}", file.path.display());
    let blame = &[Opt::Filename, Opt::Directory, Opt::Ioengine];
    Some(Observation::new(message, PERSISTENT_MEMORY_NEEDED, blame).fails_if(nothing_is_made(run)))
}

/// For buffered I/O, `io_submit` returns only when the I/O is complete.
fn libaio_buffered(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    section.running().any(JobSpec::submits_one_by_one).then(|| {
        let message = "libaio without direct=1 submits I/Os one at a time: iodepth is not reached";
        Observation::new(message, "use direct=1, or io_uring", &[Opt::Direct, Opt::Buffered, Opt::Ioengine])
    })
}

/// Syncs without a file to sync.
fn sync_without_file(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.spec();
    (!spec.engine.uses_files() && !spec.engine.keeps_data_itself() && spec.is_durable()).then(|| {
        let message = format!("ioengine={} has no files: its syncs cost nothing", spec.engine.word());
        let advice = "remove fsync and similar options, or use an engine with files";
        Observation::new(
            message,
            advice,
            &[Opt::Fsync, Opt::Fdatasync, Opt::EndFsync, Opt::FsyncOnClose, Opt::Sync],
        )
    })
}

/// A sync is queued like a write and does not cover other I/Os in flight.
fn fsync_with_queue(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    let syncs = spec.durability.fsync > 0 || spec.durability.fdatasync > 0;
    let queues = spec.does(Direction::Write) && !spec.is_sync() && spec.depth.iodepth > 1;
    (syncs && queues && !spec.engine.is_diskless()).then(|| {
        let message = "fsync with iodepth above 1 covers only the writes completed before it";
        let advice = "use iodepth=1 to measure writes that are each durable before the next";
        Observation::new(message, advice, &[Opt::Fsync, Opt::Fdatasync])
    })
}

/// Each polling thread of the kernel takes a CPU in addition to that of its job.
fn polling_without_cpus(run: &RiskContext<'_>, phase: &[CheckedSection<'_>]) -> Option<Observation> {
    let cpus = run.facts.machine.cpus;
    let polls = |spec: &JobSpec| {
        spec.engine == EngineKind::IoUring && spec.engine_options.ring.sqthread_poll && spec.works()
    };
    let polling: Vec<_> = phase.iter().filter(|section| polls(section.spec())).collect();
    let jobs: usize = polling.iter().map(|section| section.running().count()).sum();
    (jobs > 0 && jobs.saturating_mul(2) > cpus).then(|| {
        let jobs = counted(jobs as u64, "job");
        let message = format!("sqthread_poll: {jobs} and as many polling threads on {cpus} CPUs");
        let advice =
            "each keeps a CPU busy, so they wait for each other: use fewer jobs, or remove sqthread_poll";
        Observation::new(message, advice, &[Opt::SqthreadPollIoUring, Opt::Numjobs])
            .sections(polling.iter().map(|section| section.index).collect())
    })
}

/// Many clones, with a report for each.
fn reports_one_by_one(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.spec();
    (spec.clones >= MANY_CLONES && !spec.group_reporting && spec.works()).then(|| {
        let message = format!("{} instances have a report each", spec.clones);
        Observation::new(message, "use group_reporting for one report", &[Opt::Numjobs])
    })
}

/// More jobs than CPUs at the same time, none limited by a rate or asleep until the device is done.
fn more_jobs_than_cpus(run: &RiskContext<'_>, phase: &[CheckedSection<'_>]) -> Option<Observation> {
    let cpus = run.facts.machine.cpus;
    let is_busy =
        |section: &&CheckedSection<'_>| section.waits_for.is_none() && may_keep_cpu_busy(section.spec());
    let busy: Vec<_> = phase.iter().filter(is_busy).collect();
    let jobs: usize = busy.iter().map(|section| section.running().filter(|spec| spec.works()).count()).sum();
    (jobs > cpus).then(|| {
        let message = format!("{jobs} jobs run at the same time on {cpus} CPUs");
        let advice = match busy.iter().all(|section| section.spec().events.is_some()) {
            true => "latencies include the wait for a busy CPU: use fewer sessions (`numjobs`)",
            false => "latencies include the wait for a busy CPU: use fewer jobs with a deeper queue",
        };
        Observation::new(message, advice, &[Opt::Numjobs])
            .sections(busy.iter().map(|section| section.index).collect())
    })
}

/// A synchronous direct job sleeps most of the time, unless the CPU itself does the I/O; all others may keep a CPU busy.
fn may_keep_cpu_busy(spec: &JobSpec) -> bool {
    let waits = spec.engine.moves_data() && !spec.engine.is_on_persistent_memory();
    let sleeps = waits && spec.is_sync() && !spec.is_buffered() && !spec.engine_options.calls.hipri;
    !sleeps && !spec.rates.any()
}

#[cfg(test)]
mod tests {
    use ferrio_machine::IoUringSysctl;

    use crate::testing::{has, has_with, report, report_with, risks};
    use crate::{CheckStatus, RiskSeverity};

    #[test]
    fn a_forbidden_io_uring_is_an_error_for_the_engines_on_it() {
        let job = "[a]\nsize=1g\nioengine=io_uring\n";
        let report = report_with(job, |facts| facts.io_uring = IoUringSysctl::AllowsNobody);
        let found = risks(&report, "io-uring-forbidden");
        assert_eq!((found[0].severity, report.status), (RiskSeverity::Error, CheckStatus::Errors));
        let want = "ioengine=io_uring needs io_uring, but the sysctl kernel.io_uring_disabled is 2: \
                    no process may use io_uring";
        assert_eq!((&*found[0].message, &*found[0].origins[0].text), (want, "ioengine=io_uring"));
        let forbidden =
            |text| has_with("io-uring-forbidden", text, |facts| facts.io_uring = IoUringSysctl::AllowsOthers);
        assert!(forbidden(job) && forbidden("[a]\nsize=1g\nioengine=tokio_uring\n"));
        assert!(forbidden("[a]\nsize=1g\nioengine=libaio\nlibaio_backend=io_uring\n"));
        assert!(!forbidden("[a]\nsize=1g\nioengine=libaio\n") && !forbidden("[a]\nsize=1g\n"));
        assert!(!forbidden(&format!("{job}create_only=1\n")) && !has("io-uring-forbidden", job));
    }

    #[test]
    fn a_queue_needs_an_engine_with_one() {
        let report = report("[a]\nsize=1g\niodepth=8\n[b]\nsize=1g\niodepth=8\nioengine=io_uring\n");
        let found = risks(&report, "iodepth-sync-engine");
        assert_eq!(found[0].message, "iodepth above 1 with ioengine=psync, which keeps one I/O in flight");
        assert_eq!(found[0].jobs, ["a"]);
        assert!(report.notes.is_empty(), "{:?}", report.notes);
    }

    #[test]
    fn an_offset_within_a_page_cannot_be_mapped() {
        let job = "[a]\nsize=1m\nioengine=mmap\n";
        let report = report(&format!("{job}offset=512\n"));
        let found = risks(&report, "mapping-within-page");
        let want = "a mapping begins at a page boundary, but offset 512 is not a multiple of 4096";
        assert_eq!((found[0].severity, &*found[0].message), (RiskSeverity::Error, want));
        assert!(has("mapping-within-page", &format!("{job}numjobs=2\noffset_increment=6k\n")));
        assert!(!has("mapping-within-page", &format!("{job}offset=8k\n")));
        assert!(!has("mapping-within-page", "[a]\nsize=1m\noffset=512\n"));
    }

    #[test]
    fn blocks_that_are_no_whole_pages_cannot_be_written_back() {
        let job = "[a]\nsize=1m\nrw=write\nioengine=mmap\n";
        let report = report(&format!("{job}bs=1000\nfsync=1\n"));
        let found = risks(&report, "mapping-partial-pages");
        let want = "the mmap engine writes back whole pages: with direct, fsync or fdatasync every block size and alignment must be \
                    a multiple of 4096 bytes";
        assert_eq!((found[0].severity, &*found[0].message), (RiskSeverity::Error, want));
        assert_eq!(found[0].origins[0].text, "bs=1000");
        let has = |options: &str| has("mapping-partial-pages", &format!("{job}{options}"));
        assert!(has("direct=1\nbsrange=4k-6k\n") && has("rw=randwrite\nfdatasync=4\nba=512\n"));
        assert!(!has("bs=1000\n") && !has("fsync=1\n") && !has("bs=1000\nend_fsync=1\n"));
        assert!(!has("bs=1000\nfsync=1\ncreate_only=1\n"));
    }

    #[test]
    fn files_without_dax_are_no_persistent_memory() {
        let job = "[a]\nsize=1m\nioengine=libpmem\n";
        let without = |facts: &mut crate::Facts| {
            facts.files.values_mut().for_each(|file| file.without_dax = true);
        };
        let found = risks(&report_with(job, without), "not-persistent-memory");
        let want = "ioengine=libpmem: file_name does not point to persistent memory: a.0.0";
        assert_eq!((found[0].severity, &*found[0].message), (RiskSeverity::Error, want));
        let has = |text: &str| has_with("not-persistent-memory", text, without);
        assert!(!has("[a]\nsize=1m\nioengine=mmap\n") && !has(&format!("{job}create_only=1\n")));
        let mounted =
            risks(&report_with(&format!("{job}exec_prerun=mount /pmem\n"), without), "not-persistent-memory");
        assert_eq!(mounted[0].severity, RiskSeverity::Warning);
        assert!(!crate::testing::has("not-persistent-memory", job));
    }

    #[test]
    fn libaio_without_direct_io_is_reported() {
        let job = "[a]\nsize=1g\nioengine=libaio\n";
        assert!(has("libaio-buffered", &format!("{job}iodepth=8\n")));
        assert!(
            !has("libaio-buffered", &format!("{job}iodepth=8\ndirect=1\n")) && !has("libaio-buffered", job)
        );
        assert!(!has("libaio-buffered", &format!("{job}iodepth=8\nlibaio_backend=io_uring\n")));
    }

    #[test]
    fn syncs_without_files_are_reported() {
        assert!(has("sync-without-file", "[a]\nioengine=null\nsize=1m\nrw=write\nfsync=1\n"));
        assert!(!has("sync-without-file", "[a]\nsize=1m\nrw=write\nfsync=1\n"));
    }

    #[test]
    fn jobs_of_one_phase_are_compared_with_the_cpus() {
        let text = "[global]\nsize=1g\n[a]\nnumjobs=4\n[b]\nstonewall\nnumjobs=3\n[c]\nnumjobs=2\n";
        let report = report(text);
        let found = risks(&report, "more-jobs-than-cpus");
        assert_eq!((found.len(), found[0].message.as_str()), (1, "5 jobs run at the same time on 4 CPUs"));
        assert_eq!(found[0].jobs, ["b", "c"]);
        assert!(!has("more-jobs-than-cpus", "[a]\nsize=1g\nnumjobs=8\nrate=1m\n"));
        assert!(!has("more-jobs-than-cpus", "[a]\nsize=1g\nnumjobs=8\ndirect=1\n"));
    }

    #[test]
    fn a_sync_in_a_queue_covers_completed_writes() {
        let job = "[a]\nsize=1g\nrw=write\nfsync=1\nioengine=io_uring\n";
        assert!(has("fsync-with-queue", &format!("{job}iodepth=8\n")) && !has("fsync-with-queue", job));
        assert!(!has("fsync-with-queue", &format!("{job}iodepth=8\nrw=read\n")));
    }

    #[test]
    fn polling_threads_need_cpus_of_their_own() {
        let job = "[a]\nsize=1g\nioengine=io_uring\nsqthread_poll\n";
        assert!(!has("polling-without-cpus", &format!("{job}numjobs=2\n")));
        let report = report(&format!("{job}numjobs=3\n"));
        let want = "sqthread_poll: 3 jobs and as many polling threads on 4 CPUs";
        assert_eq!(risks(&report, "polling-without-cpus")[0].message, want);
    }

    #[test]
    fn many_clones_without_a_common_report_are_reported() {
        let job = "[a]\nioengine=null\nsize=1g\nnumjobs=8\n";
        assert!(has("reports-one-by-one", job) && !has("reports-one-by-one", &job.replace('8', "7")));
        assert!(!has("reports-one-by-one", &format!("{job}group_reporting\n")));
    }
}
