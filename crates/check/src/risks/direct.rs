//! Direct I/O: its alignment, and places that do not support it or where it has no effect.

use ferrio_job::{Direction, EngineKind, FileKind, FileSpec, JobSpec};
use ferrio_jobfile::Opt;
use ferrio_machine::DirectIo;

use super::{Info, Observation, RiskContext, RiskRule, Section, Warning};
use crate::model::CheckedPlace;
use crate::section::{CheckedSection, JobWork};

pub(super) const RULES: &[RiskRule] = &[
    ("direct-refused", Warning, Section(direct_refused)),
    ("direct-alignment", Warning, Section(direct_alignment)),
    ("direct-partial-block", Info, Section(direct_partial_block)),
    ("direct-in-memory", Info, Section(direct_in_memory)),
];

/// File systems that do not support O_DIRECT.
const REFUSING: [&str; 4] = ["ramfs", "proc", "sysfs", "squashfs"];
/// First kernel whose tmpfs supports O_DIRECT.
const TMPFS_SUPPORTS_DIRECT: [u32; 2] = [6, 6];

/// The file system does not support direct I/O: opening fails.
fn direct_refused(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (_, file) = used_directly(section).find(|(_, file)| refuses(run, file))?;
    let kind = run.facts.place_of(&file.path).and_then(|place| place.file_system.clone()).unwrap_or_default();
    let message = format!("direct=1, but {kind} does not support direct I/O on {}", file.path.display());
    Some(Observation::new(message, "use direct=0, or a file on a disk", BLAME).fails_if(true))
}

/// A block size, offset or alignment is not a multiple of what the device or file system requires: I/O fails with EINVAL.
fn direct_alignment(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    // The planner knows which files of a database are open for direct I/O.
    let used = used_directly(section).filter(|(spec, _)| spec.events.is_none());
    for (spec, file) in used {
        let Some(align) = alignment(run, file).filter(|_| !refuses(run, file)) else { continue };
        let used = Direction::ALL
            .into_iter()
            .filter(|&direction| spec.does(direction) && direction != Direction::Trim);
        let blocks = used.flat_map(|direction| {
            let block = &spec.block[direction];
            [("block size", block.min), ("block size", block.max), ("blockalign", block.align)]
        });
        let all = blocks.chain([("offset", file.offset)]);
        if let Some((what, value)) = all.into_iter().find(|(_, value)| !value.is_multiple_of(align)) {
            let message = format!(
                "direct=1 with {what} {value}, but {} requires multiples of {align}",
                file.path.display()
            );
            let advice = format!("I/O will fail with EINVAL: use multiples of {align}, or direct=0");
            let blame: &[Opt] = match what {
                "offset" => &[Opt::Offset, Opt::OffsetIncrement],
                "blockalign" => &[Opt::Ba, Opt::Bs, Opt::Bsrange],
                _ => &[Opt::Bs, Opt::Bsrange],
            };
            return Some(Observation::new(message, advice, blame).fails_if(is_certain(run, file)));
        }
    }
    None
}

/// The region ends within a block of the device: its last block is not used, or fails.
fn direct_partial_block(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let used = used_directly(section).filter(|(spec, _)| spec.events.is_none());
    let (file, align) = { used }.find_map(|(_, file)| {
        let align = alignment(run, file).filter(|_| !refuses(run, file))?;
        (!file.size.is_multiple_of(align)).then_some((file, align))
    })?;
    let message = format!("direct=1 with size {}, which is not a multiple of {align}", file.size);
    let advice = "the remainder at the end is not used: round the size";
    Some(Observation::new(message, advice, &[Opt::Size, Opt::Filesize]))
}

/// The data is in memory, direct or not.
fn direct_in_memory(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (_, file) = used_directly(section).find(|(_, file)| is_tmpfs(run, file) && !refuses(run, file))?;
    let message = format!("direct=1 on tmpfs: {} is in memory anyway", file.path.display());
    Some(Observation::new(message, "use a file on a disk to measure a disk", BLAME))
}

const BLAME: &[Opt] = &[Opt::Direct, Opt::Buffered];

fn used_directly<'a>(section: &CheckedSection<'a>) -> impl Iterator<Item = (&'a JobSpec, &'a FileSpec)> {
    section.files().filter(|(spec, file)| {
        let asks = spec.opening.direct
            && spec.works()
            && spec.engine.moves_data()
            && spec.engine != EngineKind::Mmap;
        asks && matches!(file.kind, FileKind::Regular | FileKind::Block)
    })
}

fn is_tmpfs(run: &RiskContext<'_>, file: &FileSpec) -> bool {
    run.facts.place_of(&file.path).is_some_and(|place| place.file_system.as_deref() == Some("tmpfs"))
}

fn refuses(run: &RiskContext<'_>, file: &FileSpec) -> bool {
    let never =
        |place: &CheckedPlace| place.file_system.as_deref().is_some_and(|kind| REFUSING.contains(&kind));
    let old = is_tmpfs(run, file) && run.facts.machine.kernel < TMPFS_SUPPORTS_DIRECT;
    old || run.facts.place_of(&file.path).is_some_and(never)
        || run.facts.files.get(&file.path).is_some_and(|facts| facts.direct == DirectIo::Refused)
}

/// The alignment that the file system reports, otherwise the logical block of the device.
fn alignment(run: &RiskContext<'_>, file: &FileSpec) -> Option<u64> {
    match run.facts.files.get(&file.path)?.direct {
        DirectIo::Aligned(align) => Some(align),
        DirectIo::Refused => None,
        DirectIo::Unknown => {
            run.facts.place_of(&file.path)?.device.as_ref().map(|device| device.about.logical_block_bytes)
        }
    }
    .filter(|&align| align > 1)
}

/// File systems that refuse I/O that is not aligned to the blocks of their device. Others may use the page cache instead.
const STRICT: [&str; 4] = ["ext2", "ext3", "ext4", "xfs"];

/// Whether the alignment is known to be required, not only likely.
fn is_certain(run: &RiskContext<'_>, file: &FileSpec) -> bool {
    let reported = run.facts.files.get(&file.path).map(|facts| facts.direct);
    let kind = run.facts.place_of(&file.path).and_then(|place| place.file_system.as_deref());
    matches!(reported, Some(DirectIo::Aligned(_)))
        || file.kind == FileKind::Block
        || kind.is_some_and(|kind| STRICT.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Facts;
    use crate::testing::{has, has_with, report_with, risks};

    fn on(file_system: &'static str) -> impl Fn(&mut Facts) {
        move |facts| {
            facts.places[0].file_system = Some(file_system.to_owned());
            facts.places[0].device = None;
        }
    }

    #[test]
    fn blocks_and_offsets_are_compared_with_the_logical_block() {
        let has = |options: &str| has("direct-alignment", &format!("[a]\nsize=1m\ndirect=1\n{options}"));
        assert!(!has("") && !has("bs=512\n"));
        assert!(has("bs=1000\n") && has("bsrange=512-1000\n") && has("offset=100\nsize=4k\n"));
        assert!(
            !has("bs=1000\ndirect=0\n")
                && !has("bs=1000\nioengine=null\n")
                && !has("bs=1000\nioengine=mmap\n")
        );
        assert!(has("rw=randread\nba=100\n") && !has("bs=4k,1000\n"));
    }

    #[test]
    fn the_file_system_takes_precedence_over_the_device() {
        let text = "[a]\nsize=1m\ndirect=1\nbs=512\n";
        let report = report_with(text, |facts| {
            facts.files.values_mut().for_each(|file| file.direct = DirectIo::Aligned(4096));
        });
        let found = risks(&report, "direct-alignment");
        assert_eq!(found[0].message, "direct=1 with block size 512, but a.0.0 requires multiples of 4096");
        assert_eq!(found[0].origins[0].text, "bs=512");
    }

    #[test]
    fn a_size_that_ends_within_a_block_is_reported() {
        assert!(has("direct-partial-block", "[a]\nsize=10000\ndirect=1\n"));
        assert!(!has("direct-partial-block", "[a]\nsize=10k\ndirect=1\n"));
    }

    #[test]
    fn tmpfs_supports_direct_io_since_linux_6_6_but_is_in_memory() {
        let text = "[a]\nsize=1m\ndirect=1\n";
        assert!(
            has_with("direct-in-memory", text, on("tmpfs")) && !has_with("direct-refused", text, on("tmpfs"))
        );
        let old = |facts: &mut Facts| {
            on("tmpfs")(facts);
            facts.machine.kernel = [6, 5];
        };
        assert!(has_with("direct-refused", text, old) && !has_with("direct-in-memory", text, old));
        assert!(has_with("direct-refused", text, on("ramfs")) && !has("direct-refused", text));
    }
}
