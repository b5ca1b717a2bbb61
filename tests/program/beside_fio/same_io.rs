//! The same I/O in the same order: generated jobs whose I/O logs from real fio and from ferrio are the same line by line, times aside.
//!
//! A slow model of the rules says what each job has to issue. The logs of fio and of ferrio are held against it, and against each
//! other where fio's rules have not changed: the installed fio may be older than 3.42, whose rules ferrio follows. Versions up to 3.34
//! differ from it, and the model knows both ways of
//!
//! * the seed of random offsets and of the shift register, which was always the same unless `randrepeat=0` was given, even with a `randseed`;
//! * the seeds of zipf, pareto and normal choices of blocks, which now depend on both the file's name and the seed of offsets;
//! * writers with an `io_size` above `size`, which began a new pass at the end of the region and now go on at its start;
//! * syncs (`fsync`, `fdatasync`), which were due after a read of a mix, too, and once more when a pass began.
//!
//! Three things are not asked of fio at all: a share of 0 written out in `bssplit`, with which 3.33 never ends; a `zoned_abs` list per
//! direction, which it refuses; `randtrimwrite` with an `offset`, which it adds twice to the writes.

mod draws;
mod jobs;
mod logs;
mod model;
mod options;
mod settings;

use logs::{Log, Program, difference, logs};
use model::Model;
use options::JobOptions;
use settings::Rules;

use crate::support::TestDir;

/// Runs the jobs with both programs and compares each with the model, and with each other where no rule has changed. Returns how
/// many jobs have the same log.
fn compare(jobs: &[JobOptions]) -> usize {
    compare_with(Program::Ferrio, jobs)
}

/// The same with ferrio, called `ferrio` or `fio`.
fn compare_with(ferrio: Program, jobs: &[JobOptions]) -> usize {
    let installed = rules_of_fio();
    let (fio, ferrio) = (logs(Program::Fio, jobs), logs(ferrio, jobs));
    let (mut same, mut wrong) = (0, Vec::new());
    for (at, (job, (fio, ferrio))) in jobs.iter().zip(fio.into_iter().zip(ferrio)).enumerate() {
        let [of_fio, newest] =
            [installed, Rules::New].map(|rules| Model::new(job, at as u64 + 1, rules).run());
        for (name, log, model) in [("fio", &fio, &of_fio), ("ferrio", &ferrio, &newest)] {
            if let Some(difference) = difference(&log.entries(), model) {
                wrong.push(format!("{job}: {name} and the model differ {difference}"));
            }
        }
        if of_fio == newest {
            let (fio, ferrio) = (comparable(job, fio), comparable(job, ferrio));
            match difference(&fio.lines, &ferrio.lines) {
                Some(difference) => wrong.push(format!("{job}: fio and ferrio differ {difference}")),
                None => same += 1,
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} jobs:\n{}", wrong.len(), jobs.len(), wrong.join("\n"));
    same
}

/// A log without what depends on when files are opened: fio opens a file when it picks it, ferrio does so only if it may not open all
/// of them before.
fn comparable(job: &JobOptions, log: Log) -> Log {
    let end_fsync = job.switch("end_fsync");
    // After a walk that ended between two blocks fio shows the offset that it gave up, at the end of the file.
    let log = if end_fsync { log.without_offsets_of_syncs() } else { log };
    let nothing = log.entries().is_empty();
    if job.get("nrfiles").is_some() || end_fsync || nothing { log.without_opens() } else { log }
}

/// Whose rules the installed fio follows.
fn rules_of_fio() -> Rules {
    let version = TestDir::new().fio(&["--version"]).run().succeeded().stdout;
    let minor = version.trim().strip_prefix("fio-3.").and_then(|rest| rest.split(['.', '-']).next());
    match minor.and_then(|minor| minor.parse::<u32>().ok()) {
        Some(0..=34) => Rules::Old,
        _ => Rules::New,
    }
}

/// Runs jobs with ferrio only and compares with the model.
fn compare_with_the_model(jobs: &[JobOptions]) {
    let mut wrong = Vec::new();
    for (at, (job, log)) in jobs.iter().zip(logs(Program::Ferrio, jobs)).enumerate() {
        if let Some(difference) =
            difference(&log.entries(), &Model::new(job, at as u64 + 1, Rules::New).run())
        {
            wrong.push(format!("{job}: ferrio and the model differ {difference}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {} jobs:\n{}", wrong.len(), jobs.len(), wrong.join("\n"));
}

#[test]
fn jobs_of_all_kinds_do_the_same_as_with_fio() {
    needs!("fio");
    assert!(compare(&jobs::plain(80)) >= 60);
}

#[test]
fn zones_sizes_per_direction_and_files_of_many_sizes_are_the_same_as_with_fio() {
    needs!("fio");
    compare(&jobs::strange(40));
}

#[test]
fn repeated_passes_and_writing_more_than_the_size_are_the_same_as_with_fio() {
    needs!("fio");
    compare(&jobs::repeating(40));
}

#[test]
fn blocks_chosen_by_zones_or_a_shift_register_are_the_same_as_with_fio() {
    needs!("fio");
    compare(&jobs::choosing(60));
}

#[test]
fn skewed_choices_of_blocks_are_the_same_as_with_fio() {
    needs!("fio");
    compare(&jobs::skewed(40));
}

#[test]
fn files_are_picked_as_by_fio() {
    needs!("fio");
    compare_with(Program::AsFio, &jobs::serving(40));
}

#[test]
fn what_old_versions_cannot_do_follows_the_rules_of_new_ones() {
    compare_with_the_model(&jobs::newer(20));
}
