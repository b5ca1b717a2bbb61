//! Places that do not have room for the writes or do not support the trims of jobs.

use std::path::Path;

use ferrio_job::{Direction, FileKind};
use ferrio_jobfile::Opt;

use super::{Observation, RiskContext, RiskRule, Run, Section, Warning};
use crate::model::CheckedPlace;
use crate::section::{CheckedSection, JobWork};
use crate::units::bytes;

pub(super) const RULES: &[RiskRule] = &[
    ("space-short", Warning, Run(space_short)),
    ("files-short", Warning, Run(files_short)),
    ("kernel-file", Warning, Section(kernel_file)),
    ("read-only-place", Warning, Section(read_only_place)),
    ("no-permission", Warning, Section(no_permission)),
    ("file-size-limit", Warning, Section(file_size_limit)),
    ("trim-unsupported", Warning, Section(trim_unsupported)),
];

/// The files of all jobs need more than the free space of a file system.
fn space_short(run: &RiskContext<'_>) -> Vec<Observation> {
    let advice = "a job will end with ENOSPC: use a smaller size, fewer files or another directory";
    short_places(run, advice, &[Opt::Size, Opt::Filesize], |place, point| {
        let free = place.free_bytes.filter(|&free| place.needed_bytes > free)?;
        let (needed, free) = (bytes(place.needed_bytes), bytes(free));
        Some(format!("the jobs' files need {needed} more on {point}, where {free} is free"))
    })
}

/// The jobs create more files than a file system has room for.
fn files_short(run: &RiskContext<'_>) -> Vec<Observation> {
    let advice = "a job will end with ENOSPC: use fewer files or another file system (df -i shows its limit)";
    short_places(run, advice, &[Opt::Nrfiles, Opt::Numjobs, Opt::Filename], |place, point| {
        let free = place.free_files.filter(|&free| place.needed_files > free)?;
        Some(format!("the jobs create {} files on {point}, which has room for {free}", place.needed_files))
    })
}

/// The places that have too little of a resource; `describe` says so for a place.
fn short_places(
    run: &RiskContext<'_>,
    advice: &'static str,
    options: &'static [Opt],
    message: impl Fn(&CheckedPlace, std::path::Display<'_>) -> Option<String>,
) -> Vec<Observation> {
    let observed = |(at, place): (usize, &CheckedPlace)| {
        let point = place.mount_point.as_deref().unwrap_or_else(|| "".as_ref());
        let message = message(place, point.display())?;
        Some(Observation::new(message, advice, options).sections(users_of(run, at)))
    };
    run.report.places.iter().enumerate().filter_map(observed).collect()
}

/// The sections that take space in a place.
fn users_of(run: &RiskContext<'_>, place: usize) -> Vec<usize> {
    let there = |path: &Path| run.facts.files.get(path).is_some_and(|facts| facts.place == Some(place));
    let uses = |section: &&CheckedSection<'_>| {
        section.files().any(|(spec, file)| (spec.does(Direction::Write) || file.extend) && there(&file.path))
    };
    run.sections.iter().filter(uses).map(|section| section.index).collect()
}

/// Pseudo file systems of the kernel: users cannot create or remove files there, and sizes have no meaning.
const OF_THE_KERNEL: [&str; 8] =
    ["proc", "sysfs", "cgroup", "cgroup2", "configfs", "debugfs", "securityfs", "tracefs"];

/// A file is in a pseudo file system, or would have to be created there.
fn kernel_file(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let file_system_of = |path| {
        let name = run.facts.place_of(path)?.file_system.as_deref()?;
        OF_THE_KERNEL.contains(&name).then_some(name)
    };
    let (file, name) = section.files().find_map(|(_, file)| Some((file, file_system_of(&file.path)?)))?;
    let path = file.path.display();
    let fails = file.extend || file.found.is_none();
    let message = match file.found {
        None => {
            format!("{path} cannot be created: only the kernel creates files in a file system of type {name}")
        }
        Some(size) if fails => {
            format!(
                "{path} is a file of the kernel ({name}) of {}, and layout cannot replace it",
                bytes(size)
            )
        }
        Some(_) => {
            format!("{path} is a file of the kernel ({name}), whose size may not be that of its contents")
        }
    };
    let advice = "use a file on a disk or tmpfs";
    Some(Observation::new(message, advice, &[Opt::Filename, Opt::Directory]).fails_if(fails))
}

/// A job would write to a read-only place.
fn read_only_place(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let read_only = |path| {
        let place = run.facts.place_of(path)?;
        place.read_only.then_some(place)
    };
    let (file, place) = section
        .files()
        .filter(|(spec, file)| spec.changes() || file.extend)
        .find_map(|(_, file)| Some((file, read_only(&file.path)?)))?;
    let what = place
        .mount_point
        .as_ref()
        .map_or("device".to_owned(), |point| format!("file system at {}", point.display()));
    let message = format!("the job writes to {}, but the {what} is read-only", file.path.display());
    let advice = "use a writable directory or device";
    Some(Observation::new(message, advice, &[Opt::Filename, Opt::Directory]).fails_if(true))
}

/// The user may not open or create a file as the job needs it. Jobs that change their user are not checked.
fn no_permission(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let denied = section
        .files()
        .filter(|(spec, _)| spec.worker.uid.is_none() && spec.worker.gid.is_none())
        .find_map(|(spec, file)| {
            let access = run.facts.files.get(&file.path)?.access;
            let (allowed, what) = match file.found {
                // A file that is too short is removed and created again.
                _ if file.extend => (access.create, "created"),
                None => (access.create, "created"),
                Some(_) if spec.changes() => (access.write, "written"),
                Some(_) => (access.read, "read"),
            };
            (!allowed && matches!(file.kind, FileKind::Regular | FileKind::Block)).then_some((file, what))
        });
    let (file, what) = denied?;
    let message = format!("no permission: {} cannot be {what} by this user", file.path.display());
    let advice = "run ferrio as a user with this permission, or use other files";
    Some(Observation::new(message, advice, &[Opt::Filename, Opt::Directory]).fails_if(true))
}

/// A file grows beyond the size limit of this process.
fn file_size_limit(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let most = run.facts.machine.file_size_bytes?;
    let (_, file) = section.files().find(|(spec, file)| {
        file.kind == FileKind::Regular && file.end() > most && (spec.does(Direction::Write) || file.extend)
    })?;
    let message = format!(
        "{} would grow to {}, but the file size limit is {}",
        file.path.display(),
        bytes(file.end()),
        bytes(most)
    );
    let advice = "raise the limit (ulimit -f), or use a smaller size";
    Some(Observation::new(message, advice, &[Opt::Size, Opt::Filesize]))
}

/// A device does not support trims.
fn trim_unsupported(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let trims =
        section.files().filter(|(spec, file)| file.kind == FileKind::Block && spec.does(Direction::Trim));
    let cannot_trim = |path| run.facts.place_of(path)?.device.as_ref().map(|device| !device.about.trims);
    let (_, file) = trims.into_iter().find(|(_, file)| cannot_trim(&file.path) == Some(true))?;
    let message = format!("{} does not support trims", file.path.display());
    Some(Observation::new(message, "the first trim will fail: use another device", &[Opt::Rw]))
}

#[cfg(test)]
mod tests {
    use crate::testing::{has, has_with, report_with, risks};
    use crate::{CheckStatus, RiskSeverity};

    #[test]
    fn a_file_that_this_user_may_not_use_is_an_error() {
        let denied = |text: &str, change: fn(&mut ferrio_machine::FileAccess)| {
            let report = report_with(text, |facts| {
                facts.files.values_mut().for_each(|file| change(&mut file.access));
            });
            risks(&report, "no-permission").first().map(|risk| {
                assert_eq!((risk.severity, report.status), (RiskSeverity::Error, CheckStatus::Errors));
                risk.message.clone()
            })
        };
        let here = "[a]\nfilename=/proc/self/exe\nsize=4k\n";
        let missing = "[a]\nfilename=/tmp/no-such-file\nsize=4k\n";
        let want = "no permission: /proc/self/exe cannot be read by this user";
        assert_eq!(denied(here, |access| access.read = false).as_deref(), Some(want));
        assert_eq!(denied(here, |access| access.write = false), None);
        let want = "no permission: /tmp/no-such-file cannot be created by this user";
        assert_eq!(denied(missing, |access| access.create = false).as_deref(), Some(want));
        assert_eq!(denied(&format!("{missing}uid=1\n"), |access| access.create = false), None);
    }

    #[test]
    fn new_files_are_compared_with_the_room_for_files() {
        let text = "[a]\nsize=4m\nnrfiles=50\nnumjobs=2\n[b]\nfilename=b\nsize=4k\n[c]\nioengine=null\nsize=4m\nnrfiles=99\n";
        let with = |room: Option<u64>| {
            let report = report_with(text, |facts| facts.places[0].free_files = room);
            let found = risks(&report, "files-short");
            found.into_iter().map(|risk| (risk.message, risk.jobs.join(" "))).collect::<Vec<_>>()
        };
        let want = "the jobs create 101 files on /data, which has room for 100";
        assert_eq!(with(Some(100)), [(want.to_owned(), "a b".to_owned())]);
        assert_eq!(with(Some(101)), []);
        assert_eq!(with(None), [], "a file system without a limit");
    }

    #[test]
    fn the_space_that_all_jobs_need_is_compared_with_the_free_space() {
        let text = "[global]\nrw=write\n[a]\nsize=60g\n[b]\nsize=60g\n[c]\nioengine=null\nsize=1t\n";
        let report = report_with(text, |_| {});
        let found = risks(&report, "space-short");
        assert_eq!(found[0].message, "the jobs' files need 120GiB more on /data, where 100GiB is free");
        assert_eq!(found[0].jobs, ["a", "b"]);
        assert_eq!(found[0].origins[0].text, "size=60g");
        assert!(!has("space-short", "[a]\nsize=60g\nrw=write\n"));
    }

    #[test]
    fn a_job_that_lays_out_a_file_of_the_kernel_fails_and_one_that_reads_it_may() {
        let severity = |text: &str, file_system: &str| {
            let report =
                report_with(text, |facts| facts.places[0].file_system = Some(file_system.to_owned()));
            risks(&report, "kernel-file").first().map(|risk| risk.severity)
        };
        let longer = "[a]\nfilename=/proc/cpuinfo\nsize=4k\n";
        assert_eq!(severity(longer, "proc"), Some(RiskSeverity::Error));
        assert_eq!(severity(longer, "ext4"), None);
        let missing = "[a]\nfilename=/sys/missing\nsize=4k\nrw=write\n";
        assert_eq!(severity(missing, "sysfs"), Some(RiskSeverity::Error));
        let there = "[a]\nfilename=/sys/kernel/mm/transparent_hugepage/enabled\nsize=4k\n";
        assert_eq!(severity(there, "sysfs"), Some(RiskSeverity::Warning));
    }

    #[test]
    fn writes_to_a_read_only_place_are_reported() {
        let has = |text| has_with("read-only-place", text, |facts| facts.places[0].read_only = true);
        assert!(has("[a]\nsize=1m\nrw=write\n") && has("[a]\nsize=1m\n"));
        assert!(!has("[a]\nsize=1m\nioengine=null\nrw=write\n"));
    }

    #[test]
    fn the_size_limit_matters_only_for_growing_files() {
        let has =
            |text| has_with("file-size-limit", text, |facts| facts.machine.file_size_bytes = Some(1 << 20));
        assert!(has("[a]\nsize=2m\nrw=write\n") && !has("[a]\nsize=1m\nrw=write\n"));
    }
}
