//! Whether data waits in the page cache, and when it reaches the device: `direct`, `invalidate`, `fadvise_hint`, `sync`, `fsync`.

use ferrio_job::{Choice as _, Direction, Durability, EngineKind, JobSpec, SyncFileRange, SyncFileRangeFlag};
use ferrio_jobfile::{Job, Opt, Options};

use crate::as_written::{asks, engine_is, inert, note};
use crate::direction::{never_writes, rw};
use crate::findings::Findings;
use crate::http::has_objects;

inert! {
    Fsync Fdatasync SyncFileRange EndFsync FsyncOnClose EndSyncfs Sync:
        has_objects; "a write ends when the server has answered, and the server decides what that means";
    Fsync Fdatasync SyncFileRange EndFsync FsyncOnClose EndSyncfs:
        never_writes; "the job does not write";
    Sync:
        only_reads; "it applies to writes, and the job only reads";
}

/// True when opening files for synchronous writes makes no difference, because the job never changes their data or size. `falloc` changes
/// them with each I/O, and the actions of an external engine are unknown.
fn only_reads(job: &Job) -> bool {
    let does_as_told = engine_is(job, |engine| {
        !engine.operates_on_files() && !matches!(engine, EngineKind::Falloc | EngineKind::External)
    });
    never_writes(job) && !rw(job).does(Direction::Trim) && does_as_told
}

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if asks(job, Opt::PreRead) && engine_is(job, EngineKind::is_stream) {
        let text = "cannot pre-read files with an IO engine that isn't seekable. Pre-read disabled.";
        findings.warn(note(job, &[Opt::PreRead], "stream-not-read-ahead", text));
    }
}

/// Periodic and final syncs, open flags, and advice about the page cache.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    spec.durability = Durability {
        fsync: options.value(Opt::Fsync),
        fdatasync: options.value(Opt::Fdatasync),
        sync_file_range: sync_file_range(options),
        end_fsync: options.value(Opt::EndFsync),
        fsync_on_close: options.value(Opt::FsyncOnClose),
        end_syncfs: options.value(Opt::EndSyncfs),
    };
    spec.opening.open_sync = options.choice(Opt::Sync);
    spec.opening.direct = direct(options);
    // `pre_read` fills the cache on purpose.
    spec.opening.invalidate = options.value::<bool>(Opt::Invalidate) && !asks(job, Opt::PreRead);
    spec.opening.fadvise = options.choice(Opt::FadviseHint);
    spec.opening.write_hint = options.chosen(Opt::WriteHint);
}

/// `direct` and `buffered` are one switch; the last one given takes effect.
fn direct(options: &Options) -> bool {
    match options.last_of(&[Opt::Direct, Opt::Buffered]).map(|given| given.opt) {
        Some(Opt::Buffered) => !options.value::<bool>(Opt::Buffered),
        _ => options.value(Opt::Direct),
    }
}

fn sync_file_range(options: &Options) -> SyncFileRange {
    let Some((words, every)) = options.words(Opt::SyncFileRange) else { return SyncFileRange::default() };
    let flags = words.iter().filter_map(|word| SyncFileRangeFlag::from_word(word));
    SyncFileRange { flags: flags.fold(0, |flags, flag| flags | flag.bits()), every: every.unwrap_or(1) }
}

#[cfg(test)]
mod tests {
    use crate::PlanOptions;
    use crate::testing::{fixed, jobs_of, null, spec_of};
    use ferrio_job::{JobSpec, OpenSync, SyncFileRange};

    fn spec(options: &str) -> JobSpec {
        spec_of(&null(options))
    }

    #[test]
    fn sync_options_become_flags_and_counts() {
        let durability = spec("sync_file_range=wait_before,write:8\nfsync=4\nend_fsync=1\n").durability;
        assert_eq!(durability.sync_file_range, SyncFileRange { flags: 3, every: 8 });
        assert_eq!((durability.fsync, durability.fdatasync, durability.end_fsync), (4, 0, true));
        assert_eq!(spec("sync_file_range=wait_after\n").durability.sync_file_range.every, 1);
        assert_eq!(spec("sync=dsync\n").opening.open_sync, OpenSync::Dsync);
        assert_eq!(spec("sync=1\n").opening.open_sync, OpenSync::Sync);
    }

    #[test]
    fn direct_and_buffered_are_one_switch_and_the_last_counts() {
        assert!(spec("direct=1\n").opening.direct);
        assert!(!spec("direct=1\nbuffered=1\n").opening.direct);
        assert!(spec("buffered=1\nbuffered=0\n").opening.direct);
        assert!(spec("buffered=0\n").opening.direct);
    }

    #[test]
    fn streams_are_not_read_ahead() {
        let want = "cannot pre-read files with an IO engine that isn't seekable. Pre-read disabled.";
        let fatal = PlanOptions { warnings_fatal: true, ..PlanOptions::default() };
        let set = jobs_of("[a]\nioengine=splice\nsize=64k\npre_read=1\n");
        assert_eq!(crate::plan(&set, &fatal).unwrap_err().diagnostics[0].message, want);
        assert!(!spec_of("[a]\nioengine=splice\nsize=64k\npre_read=1\n").opening.pre_read);
        assert!(spec_of("[a]\nioengine=psync\nsize=64k\npre_read=1\n").opening.pre_read);
    }

    #[test]
    fn pages_read_ahead_are_not_dropped_at_the_start() {
        assert!(
            !fixed("pre_read=1\n").opening.invalidate
                && !fixed("pre_read=1\ninvalidate=1\n").opening.invalidate
        );
        assert!(fixed("pre_read=0\n").opening.invalidate);
    }
}
