//! Devices that a job switches (`ioscheduler`) or sends commands to: SCSI commands (sg) and NVMe commands (io_uring_cmd).

use ferrio_job::{Direction, FileSpec, JobSpec, io_scheduler_not_set, io_schedulers_of, not_whole_blocks};
use ferrio_jobfile::Opt;
use ferrio_nvme::NamespaceNeeds;

use super::paths::nothing_is_made;
use super::{Observation, RiskContext, RiskRule, Section, Warning};
use crate::section::{CheckedSection, JobWork, is_stored};

pub(super) const RULES: &[RiskRule] = &[
    ("namespace-refused", Warning, Section(namespace_refused)),
    ("device-alignment", Warning, Section(device_alignment)),
    ("io-scheduler-not-set", Warning, Section(io_scheduler)),
];

/// The format of an NVMe namespace does not suit the job, which fails when it opens the device.
fn namespace_refused(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut files = section.files().filter(|(spec, _)| spec.engine.passes_through() && spec.works());
    let message = files.find_map(|(spec, file)| {
        let obstacle = NamespaceNeeds::of(spec).obstacle(run.facts.namespaces.get(&file.path)?)?;
        Some(format!("{}: {}", file.path.display(), obstacle.message))
    })?;
    let advice = "the job fails when it opens the device";
    let blame = &[Opt::Bs, Opt::Bsrange, Opt::Bssplit, Opt::MdPerIoSizeIoUring, Opt::Verify, Opt::Filename];
    Some(Observation::new(message, advice, blame).fails_if(nothing_is_made(run)))
}

/// A block size, offset or alignment is not a multiple of the blocks of the device: commands have no numbers for such ranges.
fn device_alignment(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    // Blocks and offsets of a replay are those of its log.
    let mut files = section.files().filter(|(spec, _)| spec.works() && spec.replay.is_none());
    let (file, block, (what, value)) = files.find_map(|(spec, file)| {
        let block = block_bytes(run, spec, file)?;
        Some((file, block, misaligned(spec, file, block)?))
    })?;
    let why = not_whole_blocks(value, 0, block)?;
    let message = format!("{what} {value} on {}: {why}", file.path.display());
    let blame: &[Opt] = match what {
        "offset" => &[Opt::Offset, Opt::OffsetIncrement],
        "blockalign" => &[Opt::Ba],
        _ => &[Opt::Bs, Opt::Bsrange, Opt::Bssplit],
    };
    let advice = format!("I/O will fail with EINVAL: use multiples of {block}");
    Some(Observation::new(message, advice, blame).fails_if(nothing_is_made(run)))
}

/// A disk has no I/O scheduler of this name. It is not certain that the job fails: the kernel may load a module with it.
fn io_scheduler(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let mut stored = section.files().filter(|(_, file)| is_stored(file));
    let message = stored.find_map(|(spec, file)| {
        let wanted = spec.worker.io_scheduler.as_deref()?;
        let disks = run.facts.schedulers.get(&run.facts.files.get(&file.path)?.place?)?;
        let lacks = |available: &str| {
            !available.split_whitespace().any(|name| name.trim_matches(['[', ']']) == wanted)
        };
        let (disk, available) = disks.iter().find(|(_, available)| lacks(available))?;
        Some([io_scheduler_not_set(wanted), io_schedulers_of(disk, available)].join("; "))
    })?;
    let advice = "name one of these, unless the kernel has a module with this scheduler";
    Some(Observation::new(message, advice, &[Opt::Ioscheduler]))
}

/// Bytes per block of the device, if commands go to it and there is no other error.
fn block_bytes(run: &RiskContext<'_>, spec: &JobSpec, file: &FileSpec) -> Option<u64> {
    if spec.engine.needs_scsi_devices() {
        return run.facts.scsi_blocks.get(&file.path).copied();
    }
    let namespace = run.facts.namespaces.get(&file.path).filter(|_| spec.engine.passes_through())?;
    let suits = NamespaceNeeds::of(spec).obstacle(namespace).is_none();
    suits.then(|| namespace.block_bytes(spec.engine_options.protection.by_device).into())
}

/// The first setting of a job that is not a multiple of the blocks of its device.
fn misaligned(spec: &JobSpec, file: &FileSpec, block: u64) -> Option<(&'static str, u64)> {
    let used = Direction::ALL.into_iter().filter(|&direction| spec.does(direction));
    let figures = used.flat_map(|direction| {
        let sizes = &spec.block[direction];
        // All others are multiples of the smallest size.
        let largest = if spec.bs_unaligned { sizes.max } else { sizes.min };
        let align = if spec.rw.is_random() { sizes.align } else { sizes.min };
        [("block size", sizes.min), ("block size", largest), ("blockalign", align)]
    });
    figures.chain([("offset", file.offset)]).find(|(_, value)| !value.is_multiple_of(block))
}

#[cfg(test)]
mod tests {
    use ferrio_job::{EngineKind, FileKind};
    use ferrio_nvme::Namespace;

    use crate::model::Risk;
    use crate::testing::{facts, plan_of, report_with, risks};
    use crate::{Facts, RiskSeverity};

    /// The risks of a job on a device that this machine need not have.
    fn found(engine: EngineKind, options: &str, code: &str, change: impl FnOnce(&mut Facts)) -> Vec<Risk> {
        let (set, mut plan) = plan_of(&format!("[a]\nsize=1m\nfilename=device\n{options}"));
        for job in &mut plan.jobs {
            job.spec.engine = engine;
            job.spec.files.iter_mut().for_each(|file| file.kind = FileKind::Char);
        }
        let mut facts = facts(&plan);
        change(&mut facts);
        risks(&crate::check(&set, &plan, &facts, None), code)
    }

    fn on_scsi(options: &str, block: u64) -> Vec<Risk> {
        let change = |facts: &mut Facts| {
            facts.scsi_blocks.insert("device".into(), block);
        };
        found(EngineKind::Sg, options, "device-alignment", change)
    }

    fn on_nvme(options: &str, code: &str, metadata_bytes: u32) -> Vec<Risk> {
        let namespace = Namespace {
            id: 1,
            blocks: 1 << 20,
            data_bytes: 4096,
            metadata_bytes,
            is_extended: false,
            protection: None,
        };
        let change = |facts: &mut Facts| {
            facts.namespaces.insert("device".into(), namespace);
        };
        found(EngineKind::IoUringCmd, options, code, change)
    }

    #[test]
    fn commands_move_whole_blocks_of_a_scsi_device() {
        let found = on_scsi("bs=2k\n", 4096);
        let want =
            "block size 2048 on device: read/write not sector aligned: the device has blocks of 4096 bytes";
        assert_eq!((found[0].severity, &*found[0].message), (RiskSeverity::Error, want));
        assert_eq!(found[0].origins[0].text, "bs=2k");
        let offset = on_scsi("offset=512\n", 4096);
        assert!(offset[0].message.starts_with("offset 512 on device: "), "{offset:?}");
        assert!(
            !on_scsi("rw=randread\nba=512\n", 4096).is_empty()
                && !on_scsi("rw=trim\nbs=512\n", 4096).is_empty()
        );
        assert!(!on_scsi("bsrange=4k-6k\nbs_unaligned=1\n", 4096).is_empty());
        for good in ["bs=8k\noffset=4k\n", "bs=4k,512\n", "bsrange=4k-6k\n", "ba=512\n"] {
            assert!(on_scsi(good, 4096).is_empty(), "{good}");
        }
        assert!(on_scsi("bs=2k\n", 512).is_empty());
    }

    #[test]
    fn a_namespace_is_asked_what_a_run_asks_it() {
        let block = on_nvme("bs=512\n", "namespace-refused", 0);
        let want = "device: block size must be a multiple of LBA data size (4096). Did you mean to use a block size of 4096?";
        assert_eq!((block[0].severity, &*block[0].message), (RiskSeverity::Error, want));
        assert!(on_nvme("bs=512\n", "device-alignment", 0).is_empty(), "once is enough");
        let metadata = on_nvme("bs=16k\n", "namespace-refused", 64);
        assert_eq!(metadata[0].message, "device: md_per_io_size should be at least 256 bytes");
        assert!(on_nvme("", "namespace-refused", 0).is_empty());
        let offset = on_nvme("offset=512\n", "device-alignment", 0);
        assert!(offset[0].message.ends_with("the device has blocks of 4096 bytes"), "{offset:?}");
        assert!(on_nvme("offset=4k\n", "device-alignment", 0).is_empty());
    }

    #[test]
    fn an_unknown_scheduler_is_reported_with_those_of_the_disk() {
        let on = |options: &str| {
            let report = report_with(&format!("[a]\nsize=1m\n{options}"), |facts| {
                facts.schedulers.insert(0, vec![("sda".to_owned(), "none [mq-deadline] bfq".to_owned())]);
            });
            risks(&report, "io-scheduler-not-set")
        };
        let found = on("ioscheduler=cfq\n");
        let want = "unable to set io scheduler to cfq; sda has none [mq-deadline] bfq";
        assert_eq!((found[0].severity, &*found[0].message), (RiskSeverity::Warning, want));
        assert_eq!(found[0].origins[0].text, "ioscheduler=cfq");
        for good in ["ioscheduler=bfq\n", "ioscheduler=mq-deadline\n", "", "ioengine=null\nioscheduler=cfq\n"]
        {
            assert!(on(good).is_empty(), "{good}");
        }
    }

    #[test]
    fn a_command_may_format_the_device() {
        let found = on_nvme("bs=512\nexec_prerun=nvme format\n", "namespace-refused", 0);
        assert_eq!(found[0].severity, RiskSeverity::Warning);
    }
}
