//! Before the first job starts: jobs that cannot be set up are refused, verify states are loaded, and files are laid out.

use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;

use ferrio_job::{FileKind, JobSpec, debug_class};
use ferrio_workload::LayoutContent;
use log::debug;

use super::state::Run;
use crate::failure::{Failure, JobError};
use crate::result::{Event, JobState};
use crate::{layout, verify_state};

impl Run<'_, '_> {
    /// Refuses what the plan could not set up and lays files out, job by job.
    pub(super) fn set_up(&mut self) {
        for index in 0..self.jobs.len() {
            let planned = &self.plan.jobs[index];
            debug_files(&planned.spec);
            if let Some(error) = &planned.setup_error {
                (self.observer)(Event::Diagnostic(error.diagnostic(&planned.spec.name)));
                self.fail_before_start(index, JobError::new(error.errno, error.func));
            } else if !self.stop.load(Acquire) {
                match verify_state::load(self.state_dir, &planned.spec) {
                    Ok(coverage) => {
                        self.jobs[index].coverage = coverage.map(Arc::new);
                        self.lay_out(index, &planned.spec);
                    }
                    Err(failure) => self.fail_set_up(index, &planned.spec, failure),
                }
            }
        }
    }

    fn lay_out(&mut self, index: usize, spec: &JobSpec) {
        let (files, bytes) = layout::pending(spec);
        if files > 0 && !spec.readonly {
            (self.observer)(Event::LayingOut { job: &spec.name, files, bytes });
        }
        if !spec.create_serialize {
            return;
        }
        self.controls[index].set_state(JobState::SettingUp);
        let observer = &mut *self.observer;
        let stop = self.stop;
        let done = LayoutContent::new(spec, self.jobs[index].entropy)
            .map_err(|e| Failure::from_workload(&e))
            .and_then(|mut content| {
                let stop = || stop.load(Acquire);
                layout::lay_out(spec, &mut content, &stop, &mut |note| {
                    observer(Event::Diagnostic(note.job(&spec.name)));
                })?;
                Ok(content)
            });
        self.controls[index].set_state(JobState::NotCreated);
        match done.and_then(|content| Ok((content, self.zones.of_job(spec)?))) {
            Ok((content, zones)) => {
                self.jobs[index].layout = Some(content);
                self.jobs[index].zones = zones;
            }
            Err(failure) => self.fail_set_up(index, spec, failure),
        }
    }

    fn fail_set_up(&mut self, index: usize, spec: &JobSpec, Failure { error, notes, .. }: Failure) {
        notes.into_iter().for_each(|note| (self.observer)(Event::Diagnostic(note.job(&spec.name))));
        self.fail_before_start(index, error);
    }
}

/// `--debug=file`: what the job will work on.
fn debug_files(spec: &JobSpec) {
    let job = spec.number;
    debug!(target: debug_class::FILE, job; "job {job}: {} files", spec.files.len());
    for file in &spec.files {
        debug!(
            target: debug_class::FILE, job;
            "add file {}: {}, off={:#x}, size={:#x}, {}",
            file.path.display(), kind(file.kind), file.offset, file.size,
            if file.extend { "to be laid out" } else { "used as it is" }
        );
    }
}

fn kind(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Regular => "a file",
        FileKind::Block => "a block device",
        FileKind::Char => "a character device",
        FileKind::Pretend => "no file",
    }
}
