//! What a run reads, and that no output replaces it.

use std::path::Path;

use ferrio_job::{Character, FileKind, FileSpec, Plan, PlannedJob};
use ferrio_jobfile::Sources;
use ferrio_machine::FileIdentity;

use crate::error::Error;
use crate::option_values::IntervalsTo;
use crate::settings::ProgramSettings;

impl ProgramSettings {
    /// Checks that the report and the interval report are none of the files that the run reads: job files, I/O logs, and, with a plan, the
    /// files of its jobs. Called `fio`, the program replaces them.
    ///
    /// # Errors
    /// The first output that would replace such a file.
    pub fn check_outputs(&self, sources: &Sources, plan: Option<&Plan>) -> Result<(), Error> {
        if self.character == Character::Fio {
            return Ok(());
        }
        let intervals = self.interval_report.as_ref().and_then(|intervals| match &intervals.to {
            IntervalsTo::File(name) => Some(name),
            IntervalsTo::StandardOutput | IntervalsTo::StandardError => None,
        });
        let outputs = [("report", self.output.as_ref()), ("interval report", intervals)];
        for (what, name) in outputs.into_iter().filter_map(|(what, name)| Some((what, name?))) {
            let path = Path::new(name);
            if is_any_of(path, sources.names()) {
                return Err(Error::ReplacesInput {
                    what,
                    name: name.clone(),
                    input: "a job file".to_owned(),
                });
            }
            let jobs = plan.map(|plan| plan.jobs.as_slice()).unwrap_or_default();
            if let Some(input) = input_of_jobs(path, jobs) {
                return Err(Error::ReplacesInput { what, name: name.clone(), input });
            }
        }
        Ok(())
    }
}

/// True if the path is one of these files.
pub fn is_any_of<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> bool {
    let identity = FileIdentity::of_path(path);
    // An output that does not exist yet replaces nothing.
    let existing = identity.filter(|identity| !matches!(identity, FileIdentity::New(..)));
    existing.is_some_and(|identity| names.map(Path::new).any(|name| is(&identity, name)))
}

fn is(identity: &FileIdentity, path: &Path) -> bool {
    FileIdentity::of_path(path).is_some_and(|other| other == *identity)
}

/// What jobs use the file at this path for.
fn input_of_jobs(path: &Path, jobs: &[PlannedJob]) -> Option<String> {
    let identity = FileIdentity::of_path(path)?;
    // Asking the kernel about each of a million files takes long: only those of the same name are looked at, and links of another name
    // are not found. Devices are few.
    let may_be = |file: &&FileSpec| match file.kind {
        FileKind::Block => matches!(identity, FileIdentity::BlockDevice(_)),
        _ => file.path.file_name() == path.file_name(),
    };
    jobs.iter().map(|job| &job.spec).find_map(|spec| {
        if spec.replay.as_ref().is_some_and(|replay| is(&identity, Path::new(&replay.name))) {
            return Some(format!("the I/O log that job {} replays", spec.name));
        }
        let is_used = !spec.engine.is_diskless()
            && spec.files.iter().filter(may_be).any(|file| is(&identity, &file.path));
        is_used.then(|| format!("a file of job {}", spec.name))
    })
}
