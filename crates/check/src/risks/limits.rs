//! Limits of the process and of memory.

use ferrio_job::{EngineKind, FileKind, FileSpec, JobSpec};
use ferrio_jobfile::Opt;

use super::{Info, Observation, Phase, RiskContext, RiskRule, Section, Warning};
use crate::section::{CheckedSection, JobWork};
use crate::units::bytes;

pub(super) const RULES: &[RiskRule] = &[
    ("open-files-limit", Warning, Section(open_files_limit)),
    ("memory-short", Warning, Phase(memory_short)),
    ("locked-memory-limit", Warning, Section(locked_memory_limit)),
    ("random-map-memory", Info, Section(random_map_memory)),
];

/// Descriptors of a job in addition to its files: standard streams, report, logs, rings.
const OTHER_FILES: u64 = 32;
/// Smallest map that is reported.
const LARGE_MAP: u64 = 256 << 20;

/// A job opens more files than the limit allows. Every job has its own table of descriptors.
fn open_files_limit(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let most = run.facts.machine.open_files?;
    let opened = |spec: &JobSpec| {
        let stored = spec.files.iter().filter(|file| file.kind != FileKind::Pretend);
        let files = stored.map(FileSpec::count).fold(0, u64::saturating_add);
        // The threads of an offloaded job have descriptors of their own.
        let copies = if spec.offload { 1 + u64::from(spec.units()) } else { 1 };
        files.min(u64::from(spec.opening.openfiles)).saturating_mul(copies)
    };
    let files = section.running().map(opened).max()?;
    (files.saturating_add(OTHER_FILES) > most).then(|| {
        let message = format!("{files} files open at the same time, but the limit is {most}");
        let advice = "raise the limit (ulimit -n), or keep fewer files open (openfiles)";
        Observation::new(message, advice, &[Opt::Nrfiles, Opt::Filename, Opt::Openfiles])
    })
}

/// Buffers and maps of all jobs of a phase exceed the available memory.
fn memory_short(run: &RiskContext<'_>, phase: &[CheckedSection<'_>]) -> Option<Observation> {
    let available = run.facts.machine.memory_available_bytes;
    let jobs = || phase.iter().flat_map(CheckedSection::running);
    let buffers = jobs().map(buffers).fold(0, u64::saturating_add);
    let maps = jobs().map(maps).fold(0, u64::saturating_add);
    (buffers.saturating_add(maps) > available).then(|| {
        let message = format!(
            "I/O buffers of {} and random maps of {} at the same time, but only {} of memory is available",
            bytes(buffers),
            bytes(maps),
            bytes(available)
        );
        let advice = "use a smaller iodepth, bs or numjobs, or norandommap";
        Observation::new(message, advice, &[Opt::Iodepth, Opt::Bs, Opt::Bsrange, Opt::Numjobs])
            .sections(phase.iter().map(|section| section.index).collect())
    })
}

/// io_uring's registered buffers are locked memory.
fn locked_memory_limit(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let most = run.facts.machine.locked_memory_bytes?;
    let spec = section.running().next()?;
    let registers = spec.engine == EngineKind::IoUring && spec.engine_options.ring.fixedbufs && spec.works();
    let locked = buffers(spec).saturating_mul(u64::from(spec.clones));
    (registers && locked > most).then(|| {
        let message =
            format!("fixedbufs locks {} of memory, but the limit is {}", bytes(locked), bytes(most));
        let advice = "raise the limit (ulimit -l), or use a smaller iodepth or bs";
        Observation::new(message, advice, &[Opt::Fixedbufs])
    })
}

/// The maps of used blocks take much memory.
fn random_map_memory(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let all = section.running().map(maps).fold(0, u64::saturating_add);
    (all > LARGE_MAP).then(|| {
        let message = format!("random maps take {} of memory", bytes(all));
        let advice = "random_generator=permute needs no map; neither does norandommap, but the latter may repeat blocks";
        Observation::new(message, advice, &[Opt::Size, Opt::Bs])
    })
}

fn buffers(spec: &JobSpec) -> u64 {
    if spec.works() { spec.max_buffer().saturating_mul(u64::from(spec.depth.iodepth)) } else { 0 }
}

/// One bit for each block of each file.
fn maps(spec: &JobSpec) -> u64 {
    if !spec.rw.is_random() || !spec.random_map || !spec.works() {
        return 0;
    }
    let blocks = |file: &FileSpec| (file.size / spec.min_block().max(1)).saturating_mul(file.count());
    spec.files.iter().map(blocks).fold(0, u64::saturating_add) / 8
}

#[cfg(test)]
mod tests {
    use crate::testing::{has, has_with, report, risks};

    #[test]
    fn files_of_one_job_are_compared_with_the_limit() {
        assert!(has("open-files-limit", "[a]\nsize=8m\nnrfiles=1000\n"));
        assert!(!has("open-files-limit", "[a]\nsize=8m\nnrfiles=900\nnumjobs=2\n"));
        assert!(has("open-files-limit", "[a]\nsize=8m\nnrfiles=100\nio_submit_mode=offload\niodepth=16\n"));
        assert!(!has("open-files-limit", "[a]\nsize=8m\nnrfiles=1100\nioengine=null\n"));
    }

    #[test]
    fn buffers_of_a_phase_must_fit_into_memory() {
        let job = "[a]\nioengine=null\nsize=1t\nbs=1m\niodepth=1024\n";
        let report = report(&format!("{job}numjobs=7\n"));
        let want = "I/O buffers of 7GiB and random maps of 0B at the same time, but only 6GiB of memory is available";
        assert_eq!(risks(&report, "memory-short")[0].message, want);
        assert!(!has("memory-short", &format!("{job}numjobs=6\n")));
    }

    #[test]
    fn registered_buffers_are_locked() {
        let job = "[a]\nioengine=io_uring\nsize=1g\nfixedbufs\n";
        assert!(has("locked-memory-limit", &format!("{job}bs=1m\niodepth=16\n")));
        assert!(!has("locked-memory-limit", &format!("{job}iodepth=16\n")));
        let free = |text: &str| {
            has_with("locked-memory-limit", text, |facts| facts.machine.locked_memory_bytes = None)
        };
        assert!(!free(&format!("{job}bs=1m\niodepth=16\n")));
    }

    #[test]
    fn a_large_map_is_reported() {
        assert!(has("random-map-memory", "[a]\nioengine=null\nsize=10t\nrw=randread\n"));
        assert!(!has("random-map-memory", "[a]\nioengine=null\nsize=10t\nrw=randread\nnorandommap\n"));
        assert!(!has("random-map-memory", "[a]\nioengine=null\nsize=1t\nrw=randread\n"));
    }
}
