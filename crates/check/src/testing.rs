//! Machines and reports for the tests of this crate.

use std::path::PathBuf;

use ferrio_job::Plan;
use ferrio_jobfile::JobSet;
use ferrio_machine::{BlockDevice, DeviceUse, IoUringSysctl, Resources};
use ferrio_plan::testing::{good_plan_as_fio, jobs_of_files};

use crate::facts::LogFacts;
use crate::model::{CheckedDevice, CheckedPlace, Report, Risk};
use crate::{Facts, FileFacts};

/// Jobs and plan of one job file.
pub(crate) fn plan_of(text: &str) -> (JobSet, Plan) {
    plan_of_files(&[text])
}

/// Jobs and plan of several job files. Called `ferrio`, the program would refuse some of the jobs whose risks are tested.
pub(crate) fn plan_of_files(texts: &[&str]) -> (JobSet, Plan) {
    let set = jobs_of_files(texts);
    let plan = good_plan_as_fio(&set);
    (set, plan)
}

/// A machine of 4 CPUs and 8 GiB with one ext4 file system on an NVMe disk, 100 GiB free; all files of the plan are there.
pub(crate) fn facts(plan: &Plan) -> Facts {
    let about = BlockDevice {
        path: PathBuf::from("/dev/nvme0n1"),
        disk: PathBuf::from("/dev/nvme0n1"),
        model: Some("Fast 9000".to_owned()),
        size_bytes: 1 << 40,
        logical_block_bytes: 512,
        physical_block_bytes: 4096,
        trims: true,
        ..BlockDevice::default()
    };
    let holds = vec![DeviceUse::Mounted { file_system: "ext4".to_owned(), point: PathBuf::from("/data") }];
    let device = CheckedDevice { about, holds };
    let place = CheckedPlace {
        mount_point: Some(PathBuf::from("/data")),
        file_system: Some("ext4".to_owned()),
        source: Some("/dev/nvme0n1".to_owned()),
        device: Some(device),
        in_memory: false,
        read_only: false,
        free_bytes: Some(100 << 30),
        needed_bytes: 0,
        free_files: Some(100_000),
        needed_files: 0,
    };
    let files =
        plan.jobs.iter().filter(|job| !job.spec.engine.is_diskless()).flat_map(|job| &job.spec.files).map(
            |file| {
                let facts = FileFacts { place: Some(0), ..FileFacts::default() };
                (file.path.clone(), facts)
            },
        );
    let machine = Resources {
        cpus: 4,
        memory_bytes: 8 << 30,
        memory_available_bytes: 6 << 30,
        open_files: Some(1024),
        locked_memory_bytes: Some(8 << 20),
        file_size_bytes: None,
        kernel: [6, 18],
    };
    let logs = plan.jobs.iter().flat_map(|job| ferrio_job::log_files(&job.spec)).map(|log| {
        let path = PathBuf::from(log.path);
        let facts = LogFacts { place: Some(0), size: None, obstacle: None };
        (path, facts)
    });
    Facts {
        machine,
        io_uring: IoUringSysctl::Allows,
        places: vec![place],
        files: files.collect(),
        logs: logs.collect(),
        ..Facts::default()
    }
}

/// The report on one job file on that machine, changed by `change`.
pub(crate) fn report_with(text: &str, change: impl FnOnce(&mut Facts)) -> Report {
    let (set, plan) = plan_of(text);
    let mut facts = facts(&plan);
    change(&mut facts);
    crate::check(&set, &plan, &facts, None)
}

/// The report on one job file on that machine.
pub(crate) fn report(text: &str) -> Report {
    report_with(text, |_| {})
}

/// The risks with this code.
pub(crate) fn risks(report: &Report, code: &str) -> Vec<Risk> {
    report.risks.iter().filter(|risk| risk.code == code).cloned().collect()
}

/// Whether a job file has a risk on that machine.
pub(crate) fn has(code: &str, text: &str) -> bool {
    !risks(&report(text), code).is_empty()
}

/// Whether a job file has a risk on that machine, changed by `change`.
pub(crate) fn has_with(code: &str, text: &str, change: impl FnOnce(&mut Facts)) -> bool {
    !risks(&report_with(text, change), code).is_empty()
}
