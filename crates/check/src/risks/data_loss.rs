//! Loss of existing data: devices that are written to, files that are overwritten, replaced or removed.

use ferrio_job::{Direction, FileKind, FileSpec, JobSpec};
use ferrio_jobfile::Opt;

use super::{Info, Observation, RiskContext, RiskRule, Section, Warning};
use crate::files::action;
use crate::model::{CheckedDevice, LayoutAction};
use crate::section::{CheckedSection, JobWork};
use crate::units::{bytes, listed, time};

/// Size from which covering a whole device takes long.
const LARGE_DEVICE_BYTES: u64 = 64 << 30;

pub(super) const RULES: &[RiskRule] = &[
    ("write-to-used-device", Warning, Section(write_to_used_device)),
    ("write-to-device", Warning, Section(write_to_device)),
    ("whole-device", Info, Section(whole_device)),
    ("missing-device", Warning, Section(missing_device)),
    ("overwrite-existing", Info, Section(overwrite_existing)),
    ("replace-existing", Warning, Section(replace_existing)),
    ("unlink-existing", Warning, Section(unlink_existing)),
];

/// A device with a file system, partitions, swap or other devices on it is written to.
fn write_to_used_device(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (file, device) = changed_device(run, section).find(|(_, device)| holds(device).is_some())?;
    let message = format!(
        "{} {}, which holds {}",
        describe_action(section),
        describe_file(file, Some(device)),
        holds(device).unwrap_or_default()
    );
    Some(Observation::new(message, "all of this will be lost: use an empty device", &[Opt::Filename]))
}

/// A device on which nothing was found is written to.
fn write_to_device(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    if changed_device(run, section).any(|(_, device)| holds(device).is_some()) {
        return None;
    }
    let mut devices = section.files().filter(|(spec, file)| file.kind == FileKind::Block && spec.changes());
    let (_, file) = devices.next()?;
    let device = device(run, file);
    let message = format!("{} {}", describe_action(section), describe_file(file, device));
    let advice = "any data on it will be lost: make sure that it is the device you mean";
    Some(Observation::new(message, advice, &[Opt::Filename]))
}

/// The job covers a large device without a time limit.
fn whole_device(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let all = |(spec, file): &(&JobSpec, &FileSpec)| {
        let whole = file.offset == 0 && file.size == file.real_size && file.size >= LARGE_DEVICE_BYTES;
        let done = spec.limits.io_size.is_none_or(|bytes| bytes >= file.size) && spec.limits.number_ios == 0;
        file.kind == FileKind::Block && whole && done && spec.limits.runtime.is_zero() && spec.works()
    };
    let (_, file) = section.files().find(all)?;
    let seconds = file.size as f64 / f64::from(1 << 20) / 500.0;
    let message = format!(
        "covers all {} of {}: {} at 500MiB/s, longer with small blocks",
        bytes(file.size),
        file.path.display(),
        time(seconds)
    );
    Some(Observation::new(message, "set size, or time_based with runtime", &[Opt::Size, Opt::Filename]))
}

/// The device does not exist: a run would create a regular file of that name, in memory.
fn missing_device(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (_, file) = section.files().find(|(_, file)| file.missing_device)?;
    let message = format!("{} does not exist: a run creates a regular file there", file.path.display());
    Some(Observation::new(message, "correct the name of the device", &[Opt::Filename]))
}

/// The job writes to an existing file that `filename` names.
fn overwrite_existing(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let named = section.job.options.is_given(Opt::Filename);
    let (_, file) = section.files().filter(|_| named).find(|(spec, file)| {
        let there = file.found.is_some_and(|size| size > file.offset);
        there
            && spec.changes()
            && action(spec, file, false) == LayoutAction::Use
            && file.kind == FileKind::Regular
    })?;
    let part = file.found.unwrap_or(0).saturating_sub(file.offset).min(file.size);
    let message = format!("overwrites {} of the existing file {}", bytes(part), file.path.display());
    let advice = "expected if an earlier run created it; otherwise name another file";
    Some(Observation::new(message, advice, &[Opt::Filename]))
}

/// An existing file is too short: layout removes it and creates a new one.
fn replace_existing(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (_, file) = section.files().find(|(spec, file)| {
        let replaces =
            matches!(action(spec, file, false), LayoutAction::ReplaceFilled | LayoutAction::ReplaceEmpty);
        replaces && file.found.is_some_and(|size| size > 0)
    })?;
    let message = format!(
        "{} is too short ({}): it is removed and created again",
        file.path.display(),
        bytes(file.found.unwrap_or(0))
    );
    let advice = "name another file, or use a size that fits this one";
    Some(Observation::new(message, advice, &[Opt::Filename, Opt::Size, Opt::Filesize]))
}

/// `unlink` removes files that existed before the run.
fn unlink_existing(_: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let there = |file: &FileSpec| file.kind == FileKind::Regular && file.found.is_some_and(|size| size > 0);
    let (_, file) = section.files().find(|(spec, file)| spec.layout.unlink && there(file))?;
    let message = format!("removes {}, which existed before the run, when the job ends", file.path.display());
    Some(Observation::new(message, "remove unlink to keep it", &[Opt::Unlink]))
}

fn describe_action(section: &CheckedSection<'_>) -> &'static str {
    let spec = section.spec();
    match (spec.does(Direction::Write), spec.does(Direction::Trim)) {
        (true, true) => "writes to and trims the device",
        (false, true) => "trims the device",
        _ => "writes to the device",
    }
}

fn describe_file(file: &FileSpec, device: Option<&CheckedDevice>) -> String {
    let path = file.path.display();
    let model = device.and_then(|device| device.about.model.as_deref()).map(|model| format!("{model}, "));
    format!("{path} ({}{})", model.unwrap_or_default(), bytes(file.real_size))
}

fn holds(device: &CheckedDevice) -> Option<String> {
    (!device.holds.is_empty()).then(|| listed(&device.holds))
}

fn device<'a>(run: &RiskContext<'a>, file: &FileSpec) -> Option<&'a CheckedDevice> {
    run.facts.place_of(&file.path)?.device.as_ref()
}

fn changed_device<'a>(
    run: &RiskContext<'a>,
    section: &CheckedSection<'a>,
) -> impl Iterator<Item = (&'a FileSpec, &'a CheckedDevice)> {
    let changed = section.files().filter(|(spec, file)| file.kind == FileKind::Block && spec.changes());
    let found: Vec<_> = changed.filter_map(|(_, file)| Some((file, device(run, file)?))).collect();
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_machine::{BlockDevice, DeviceUse};

    use crate::model::CheckedPlace;
    use crate::testing::{has, plan_of, risks};

    /// The report on jobs whose file is turned into a device holding this.
    fn on_device(text: &str, held: &[DeviceUse]) -> Vec<(&'static str, String)> {
        let (set, mut plan) = plan_of(text);
        let mut facts = crate::testing::facts(&plan);
        for file in plan.jobs.iter_mut().flat_map(|job| &mut job.spec.files) {
            file.kind = FileKind::Block;
            file.real_size = file.size;
        }
        let about = BlockDevice { model: Some("Fast 9000".to_owned()), ..BlockDevice::default() };
        let device = CheckedDevice { about, holds: held.to_vec() };
        facts.places = vec![CheckedPlace { device: Some(device), ..CheckedPlace::default() }];
        let report = crate::check(&set, &plan, &facts, None);
        report
            .risks
            .into_iter()
            .map(|risk| (risk.code, risk.message))
            .filter(|(code, _)| code.contains("device"))
            .collect()
    }

    #[test]
    fn writing_to_a_device_is_reported_and_worse_if_something_is_on_it() {
        let job = "[a]\nfilename=d\nsize=1m\n";
        assert_eq!(on_device(job, &[DeviceUse::Signature("ext4".to_owned())]), []);
        let want = "writes to the device d (Fast 9000, 1MiB)".to_owned();
        assert_eq!(on_device(&format!("{job}rw=randrw\n"), &[]), [("write-to-device", want)]);
        let want = "trims the device d (Fast 9000, 1MiB), which holds swap in use, partition d1".to_owned();
        let verify = format!("{job}rw=write\nverify=crc32c\n");
        assert_eq!(on_device(&verify, &[]).len(), 1);
        assert_eq!(on_device(&format!("{verify}verify_only\n"), &[]), [], "nothing is written");
        let held = [DeviceUse::Swap, DeviceUse::Partition { name: "d1".to_owned(), holds: Vec::new() }];
        assert_eq!(on_device(&format!("{job}rw=trim\n"), &held), [("write-to-used-device", want)]);
    }

    #[test]
    fn all_of_a_large_device_takes_its_time() {
        let want = "covers all 1TiB of d: 34m57s at 500MiB/s, longer with small blocks".to_owned();
        assert_eq!(on_device("[a]\nfilename=d\nsize=1t\n", &[]), [("whole-device", want)]);
        assert_eq!(on_device("[a]\nfilename=d\nsize=1t\nruntime=60\n", &[]), []);
        assert_eq!(on_device("[a]\nfilename=d\nsize=32g\n", &[]), []);
    }

    #[test]
    fn a_missing_device_is_reported() {
        let text = "[a]\nfilename=/dev/no-such-device\nsize=1m\nrw=write\ndirect=1\n";
        let want = "/dev/no-such-device does not exist: a run creates a regular file there";
        assert_eq!(risks(&crate::testing::report(text), "missing-device")[0].message, want);
        assert!(!has("missing-device", "[a]\nfilename=/dev/shm/no-such-file\nsize=1m\n"));
    }

    #[test]
    fn overwritten_replaced_and_removed_files_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, [0; 8192]).unwrap();
        let has = |code, options: &str| has(code, &format!("[a]\nfilename={}\n{options}", file.display()));
        assert!(has("overwrite-existing", "rw=write\nsize=8k\n") && !has("overwrite-existing", "size=8k\n"));
        assert!(has("replace-existing", "rw=write\nsize=16k\n") && has("replace-existing", "size=16k\n"));
        assert!(!has("overwrite-existing", "rw=write\nsize=16k\n") && !has("replace-existing", "size=8k\n"));
        assert!(has("unlink-existing", "unlink=1\n") && !has("unlink-existing", "size=8k\n"));
    }

    #[test]
    fn missing_files_have_nothing_to_lose() {
        let report = crate::testing::report("[a]\nsize=1m\nrw=write\nunlink=1\n");
        for code in ["overwrite-existing", "replace-existing", "unlink-existing"] {
            assert_eq!(risks(&report, code), []);
        }
    }
}
