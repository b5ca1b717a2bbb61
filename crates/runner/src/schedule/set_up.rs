//! Before the first job starts: jobs that cannot be set up are refused, verify states are loaded, and files are laid out.

use std::sync::Arc;
use std::sync::atomic::Ordering::Acquire;

use ferrio_job::{Diagnostic, FileKind, JobSpec, debug_class};
use ferrio_results::{JobError, JobState, RunEvent};
use ferrio_workload::LayoutContent;
use log::debug;

use super::state::Run;
use crate::failure::Failure;
use crate::layout::FileLayout;
use crate::{layout, verify_state};

impl Run<'_, '_> {
    /// Refuses what the plan could not set up and lays files out, job by job.
    pub(super) fn set_up(&mut self) {
        for index in 0..self.jobs.len() {
            let planned = &self.plan.jobs[index];
            debug_files(&planned.spec);
            if let Some(error) = &planned.setup_error {
                (self.observer)(RunEvent::Diagnostic(error.diagnostic(&planned.spec.name)));
                self.fail_before_start(index, JobError::new(error.errno, error.func));
            } else if !self.stop.load(Acquire) {
                if !lays_out_first(&planned.spec)
                    && let Err(failure) = self.open_shared_files(index, &planned.spec)
                {
                    self.fail_set_up(index, &planned.spec, failure);
                    continue;
                }
                match verify_state::load(self.state_dir, &self.given_states, &planned.spec) {
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
        let lays_out = files > 0 && !spec.opening.readonly;
        let outdated = verify_state::note_outdated(spec, lays_out);
        outdated.into_iter().for_each(|note| (self.observer)(RunEvent::Diagnostic(note)));
        if lays_out {
            (self.observer)(RunEvent::LayingOut { job: &spec.name, files, bytes });
            let notes = verify_state::remove_outdated(self.state_dir, spec);
            notes.into_iter().for_each(|note| (self.observer)(RunEvent::Diagnostic(note)));
        }
        if !spec.layout.create_serialize && !lays_out_first(spec) {
            return;
        }
        self.controls[index].set_state(JobState::SettingUp);
        let observer = &mut *self.observer;
        let stop = self.stop;
        let done = LayoutContent::new(spec, self.jobs[index].entropy)
            .map_err(|e| Failure::from_workload(&e))
            .and_then(|mut content| {
                let stop = &|| stop.load(Acquire);
                let note = &mut |note: Diagnostic| observer(RunEvent::Diagnostic(note.job(&spec.name)));
                FileLayout { spec, content: &mut content, stop, note }.lay_out()?;
                Ok(content)
            });
        self.controls[index].set_state(JobState::NotCreated);
        let done = done.and_then(|content| {
            if lays_out_first(spec) && !self.stop.load(Acquire) {
                self.open_shared_files(index, spec)?;
            }
            Ok(content)
        });
        match done.and_then(|content| Ok((content, self.zones.of_job(spec)?))) {
            Ok((content, zones)) => {
                self.jobs[index].layout = Some(content);
                self.jobs[index].zones = zones;
            }
            Err(failure) => self.fail_set_up(index, spec, failure),
        }
    }

    /// Opens the files that the job shares with others.
    fn open_shared_files(&mut self, index: usize, spec: &JobSpec) -> Result<(), Failure> {
        let observer = &mut *self.observer;
        let mut note = |note: Diagnostic| observer(RunEvent::Diagnostic(note.job(&spec.name)));
        self.event_groups.open_files(index, spec, &mut note)
    }

    fn fail_set_up(&mut self, index: usize, spec: &JobSpec, Failure { error, notes, .. }: Failure) {
        notes.into_iter().for_each(|note| (self.observer)(RunEvent::Diagnostic(note.job(&spec.name))));
        self.fail_before_start(index, error);
    }
}

/// True for a job whose files are shared, and laid out before main opens them for all.
fn lays_out_first(spec: &JobSpec) -> bool {
    spec.database().is_some()
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
