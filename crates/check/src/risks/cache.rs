//! Jobs that measure memory instead of a device.

use ferrio_job::{ByFile, CommitSync, DatabaseRole, Direction, EngineKind, FileKind, FileSpec, JobSpec};
use ferrio_jobfile::Opt;

use super::{Info, Observation, RiskContext, RiskRule, Section, Warning};
use crate::section::{CheckedSection, JobWork, is_stored};
use crate::units::bytes;

pub(super) const RULES: &[RiskRule] = &[
    ("cached-reads", Warning, Section(cached_reads)),
    ("buffered-writes", Warning, Section(buffered_writes)),
    ("sparse-reads", Warning, Section(sparse_reads)),
    ("zero-data", Info, Section(zero_data)),
    ("memory-device", Info, Section(memory_device)),
];

/// File systems that may store data in less space than its size.
const COMPRESSING: [&str; 6] = ["btrfs", "zfs", "bcachefs", "f2fs", "erofs", "squashfs"];

/// Buffered reads return to the same data, and all of it fits into memory.
fn cached_reads(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    let reads = spec.does(Direction::Read) && spec.is_buffered() && on_disk(run, section);
    let data = working_set(section);
    if !reads || data == 0 || data >= run.facts.machine.memory_bytes {
        return None;
    }
    let (why, blame): (_, &'static [Opt]) = if accesses_again(spec) {
        (
            "read more than once",
            &[Opt::Direct, Opt::Buffered, Opt::Loops, Opt::IoSize, Opt::TimeBased, Opt::Norandommap],
        )
    } else if !spec.opening.invalidate {
        ("read with invalidate=0", &[Opt::Invalidate])
    } else {
        return None;
    };
    let memory = bytes(run.facts.machine.memory_bytes);
    let message = format!("buffered reads: {} {why} fits into {memory} of memory", bytes(data));
    let advice = match spec.engine {
        EngineKind::Mmap => {
            "mmap measures the page cache: use more data than memory, or another engine with direct=1"
        }
        _ => "the job measures the page cache: use direct=1, or more data than memory",
    };
    Some(Observation::new(message, advice, blame))
}

/// Buffered writes fit into memory, and nothing makes them durable.
fn buffered_writes(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    if let Some((database, role)) = spec.database() {
        let is_unsynced = database.commit.sync == CommitSync::None && !database.log.direct;
        let writes_log = role == DatabaseRole::Session && database.log.appends > 0;
        return (is_unsynced && writes_log && on_disk(run, section)).then(|| {
            let message = "commits do not sync the log: log writes may still be in memory when the job ends";
            let advice = "to make commits durable, use commit_sync=fdatasync";
            Observation::new(message, advice, &[Opt::CommitSync])
        });
    }
    let writes =
        spec.does(Direction::Write) && spec.is_buffered() && on_disk(run, section) && !spec.is_durable();
    let data = working_set(section);
    (writes && data < run.facts.machine.memory_bytes).then(|| {
        let message =
            format!("buffered writes of {} fit into memory and are never made durable", bytes(data));
        let advice = match spec.engine {
            EngineKind::Mmap => "much of the data is still in memory when the job ends: use end_fsync=1 or fsync",
            _ => "much of the data is still in memory when the job ends: use end_fsync=1, fsync, sync or direct=1",
        };
        Observation::new(message, advice, &[Opt::Direct, Opt::Buffered, Opt::Rw])
    })
}

/// Reads of a file that is mostly holes: the file system returns zeros without reading the device.
fn sparse_reads(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mostly_holes = |file: &FileSpec| {
        let allocated = run.facts.files.get(&file.path).and_then(|facts| facts.allocated);
        allocated.zip(file.found).filter(|(allocated, size)| *allocated < size / 2)
    };
    let compresses = |path| {
        let kind = run.facts.place_of(path).and_then(|place| place.file_system.as_deref());
        kind.is_some_and(|kind| COMPRESSING.contains(&kind))
    };
    let read = section.files().filter(|(spec, file)| spec.does(Direction::Read) && !file.extend);
    let (file, (allocated, size)) = read
        .filter(|(_, file)| file.kind == FileKind::Regular && !compresses(&file.path))
        .find_map(|(_, file)| Some((file, mostly_holes(file)?)))?;
    let message = format!(
        "reads {}, whose {} are mostly holes: only {} is stored",
        file.path.display(),
        bytes(size),
        bytes(allocated)
    );
    let advice =
        "holes are not read from the device: remove the file, and the run creates it filled with data";
    Some(Observation::new(message, advice, &[Opt::Filename]))
}

/// Blocks of zeros may take less space than their size.
fn zero_data(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    let writes = spec.does(Direction::Write) && section.files().any(|(_, file)| is_stored(file));
    (writes && spec.buffer.zero && spec.engine.moves_data()).then(|| {
        let message = "writes only zeros, which devices and file systems may compress or not store at all";
        let help = "use random data, unless zeros are what you want to measure";
        Observation::new(message, help, &[Opt::ZeroBuffers, Opt::BufferCompressPercentage])
    })
}

/// The file is in memory.
fn memory_device(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let spec = section.running().next()?;
    let in_memory = |path| run.facts.place_of(path).filter(|place| place.in_memory);
    let (file, place) = section.files().find_map(|(_, file)| Some((file, in_memory(&file.path)?)))?;
    let kind = place.file_system.as_deref().unwrap_or("a memory device");
    let tmpfs_direct = spec.opening.direct && kind == "tmpfs";
    (spec.works() && is_stored(file) && !tmpfs_direct && !file.missing_device).then(|| {
        let message = format!("{} is on {kind}: the job measures memory", file.path.display());
        Observation::new(message, "use a file on a disk to measure a disk", &[Opt::Filename, Opt::Directory])
    })
}

/// Whether the job accesses data more than once.
fn accesses_again(spec: &JobSpec) -> bool {
    let limits = &spec.limits;
    let again =
        limits.time_based || limits.loops > 1 || limits.io_size.is_some_and(|bytes| bytes > limits.size);
    again || revisits_zones(spec) || (spec.rw.is_random() && !spec.random_map)
}

/// Whether the job returns to its zones: they cover less than it transfers.
fn revisits_zones(spec: &JobSpec) -> bool {
    let all = |file: &FileSpec| covered(spec, file).saturating_mul(file.count());
    let covered = spec.files.iter().map(all).fold(0, u64::saturating_add);
    spec.zones.is_some() && spec.limits.io_size.unwrap_or(spec.limits.size) > covered
}

/// Bytes of a file that the job accesses; in zones, only those it transfers in each.
fn covered(spec: &JobSpec, file: &FileSpec) -> u64 {
    let Some(zones) = spec.zones else { return file.size };
    let length = file.real_size.saturating_sub(file.offset);
    length.div_ceil(zones.range.saturating_add(zones.skip).max(1)).saturating_mul(zones.range.min(zones.size))
}

/// Bytes that all clones access, each file counted once.
fn working_set(section: &CheckedSection<'_>) -> u64 {
    let mut files: ByFile<(u64, u64)> = ByFile::default();
    for (_, file) in section.files().filter(|(_, file)| is_stored(file)) {
        files.update(file, |before, _| {
            let (start, end) = before.unwrap_or((file.offset, file.offset));
            (start.min(file.offset), end.max(file.end()))
        });
    }
    files
        .values()
        .map(|((start, end), count)| (end - start).saturating_mul(count))
        .fold(0, u64::saturating_add)
}

/// Whether any file is on a device slower than memory.
fn on_disk(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> bool {
    section.files().any(|(_, file)| match file.kind {
        FileKind::Regular | FileKind::Block => {
            run.facts.place_of(&file.path).is_some_and(|place| !place.in_memory)
        }
        FileKind::Char | FileKind::Pretend => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::model::CheckedPlace;
    use crate::testing::{has, has_with, report, risks};

    fn job(options: &str) -> String {
        format!("[a]\nsize=1g\n{options}")
    }

    #[test]
    fn data_that_comes_back_from_the_cache_is_reported() {
        let has = |options: &str| has("cached-reads", &job(options));
        assert!(has("loops=2\n") && has("time_based\nruntime=9\n") && has("invalidate=0\n"));
        assert!(has("rw=randread\nnorandommap\n") && has("ioengine=mmap\ndirect=1\nloops=2\n"));
        assert!(!has("") && !has("rw=randread\n"), "each block is read once, from a cold cache");
        assert!(!has("loops=2\ndirect=1\n") && !has("loops=2\nsize=9g\n") && !has("loops=2\nrw=write\n"));
        let report = report(&job("loops=2\nnumjobs=2\n"));
        let want = "buffered reads: 2GiB read more than once fits into 8GiB of memory";
        assert_eq!(risks(&report, "cached-reads")[0].message, want);
    }

    #[test]
    fn zones_that_repeat_come_from_the_cache() {
        let zones = "zonemode=strided\nzonesize=1m\nzonerange=2m\n";
        assert!(has("cached-reads", &job(zones)), "half of the file, twice");
        assert!(!has("cached-reads", &job(&format!("{zones}io_size=512m\n"))));
        assert!(!has("cached-reads", &job("zonemode=strided\nzonesize=1m\n")));
    }

    #[test]
    fn data_of_zeroes_is_reported() {
        assert!(
            has("zero-data", &job("rw=write\nzero_buffers\n")) && !has("zero-data", &job("zero_buffers\n"))
        );
        assert!(!has("zero-data", &job("rw=write\n")));
        assert!(has("zero-data", &job("rw=write\nbuffer_compress_percentage=100\n")));
    }

    #[test]
    fn writes_that_stay_in_memory_are_reported() {
        let has = |options: &str| has("buffered-writes", &job(options));
        assert!(has("rw=write\n") && has("rw=randrw\n"));
        for durable in [
            "end_fsync=1\n",
            "fsync=8\n",
            "fdatasync=1\n",
            "sync=dsync\n",
            "direct=1\n",
            "fsync_on_close=1\n",
        ] {
            assert!(!has(&format!("rw=write\n{durable}")), "{durable}");
        }
        assert!(!has("rw=write\nsize=9g\n") && !has("") && !has("rw=write\nioengine=null\n"));
        assert!(!has("rw=write\ncreate_only=1\n"));
        assert!(has("rw=write\nverify=crc32c\n") && !has("rw=write\nverify=crc32c\nverify_only\n"));
    }

    #[test]
    fn reads_of_holes_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::File::create(&file).unwrap().set_len(1 << 20).unwrap();
        let stored = |bytes: u64, options: &str| {
            let text = format!("[a]\nfilename={}\n{options}", file.display());
            has_with("sparse-reads", &text, |facts| {
                facts.files.values_mut().for_each(|file| file.allocated = Some(bytes));
            })
        };
        assert!(stored(0, "") && stored(1 << 18, "rw=randrw\n"));
        assert!(!stored(1 << 20, "") && !stored(0, "rw=write\n") && !stored(0, "size=2m\n"));
    }

    #[test]
    fn a_file_on_tmpfs_measures_memory_and_has_no_cache_risks() {
        let on =
            |place: CheckedPlace, code| has_with(code, &job("loops=2\n"), |facts| facts.places[0] = place);
        let tmpfs = || CheckedPlace {
            file_system: Some("tmpfs".to_owned()),
            in_memory: true,
            ..CheckedPlace::default()
        };
        assert!(on(tmpfs(), "memory-device") && !on(tmpfs(), "cached-reads"));
        assert!(!has("memory-device", &job("")));
    }
}
