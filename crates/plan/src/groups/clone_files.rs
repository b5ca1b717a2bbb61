//! The files of each clone: what there is before the run, what earlier jobs will have laid out by then, and the regions of the job.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::path::Path;

use ferrio_job::{FileKind, FileSpec, JobSpec, LoggedFile, Replay, SetupError, layout_of, reason};
use ferrio_jobfile::{Job, Opt};
use ferrio_machine::{MOUNTINFO, Mounts, is_held, is_mounted};
use ferrio_random::{Stream, job_seeds, purpose};

use super::Groups;
use crate::as_written::{asks, note, refuse};
use crate::direction::changes_data;
use crate::file_names::CloneNames;
use crate::file_runs::{FoundRun, list_of, run_of};
use crate::findings::Findings;
use crate::probe::{FoundFile, probe, probe_dax, probe_flash, probe_namespace, probe_scsi};
use crate::resolve::SpecDraft;
use crate::sizes::{self, JobFile};
use crate::{
    backlog, block_sizes, engine, files, http, logs, nbd, network, own_names, priorities, protection, random,
    sprandom, zbd,
};

impl Groups {
    /// Refuses the run if a job would write to a device that is mounted, or held by somebody who cannot be seen from here. fio only looks
    /// for mounts.
    pub(super) fn check_mounted(
        &mut self,
        job: &Job,
        spec: &JobSpec,
        path: &Path,
        found: &FoundFile,
        findings: &mut Findings,
    ) {
        let allowed = job.options.value::<bool>(Opt::AllowMountedWrite);
        let Some(device) = found.device.filter(|_| changes_data(spec.rw) && !allowed) else { return };
        let name_of_device = path.display();
        let (message, help) = match self.mounts.get_or_insert_with(Mounts::read) {
            Ok(mounts) if is_mounted(device, mounts) => (
                format!("{name_of_device} appears mounted, and 'allow_mounted_write' isn't set. Aborting."),
                "writing to it would destroy the file system on it",
            ),
            Ok(_) => {
                let asks = self.compat.guards_devices_in_use;
                if !asks || !*self.held.entry(device).or_insert_with(|| is_held(path)) {
                    return;
                }
                (
                    format!(
                        "{name_of_device} is in use elsewhere: it is mounted in another mount namespace (of a container, for example), \
                         is swap, or another device is built on it"
                    ),
                    "set allow_mounted_write=1 if nothing on the device is needed",
                )
            }
            // What is not known to be mounted is not.
            Err(_) if !self.compat.guards_devices_in_use => return,
            Err(error) => (
                format!(
                    "whether {name_of_device} is mounted is unknown: {MOUNTINFO} cannot be read: {}",
                    reason(error)
                ),
                "mount /proc, or set allow_mounted_write=1 if nothing on the device is needed",
            ),
        };
        refuse(findings, job, &[Opt::Filename], "mounted-device", message, help);
    }

    pub(super) fn find_files(
        &mut self,
        job: &Job,
        names: &CloneNames<'_>,
        counts_files: bool,
        draft: &SpecDraft,
        spec: &mut JobSpec,
        findings: &mut Findings,
    ) -> Result<(), SetupError> {
        priorities::check(job, spec)?;
        if !spec.engine.does_io() {
            return Ok(());
        }
        if !spec.engine.is_diskless() {
            self.lay_out_jobs();
        }
        let files = if counts_files {
            self.count_files(job, names, spec, findings)?
        } else {
            self.list_files(job, names, spec, findings)?
        };
        let mut zones = match spec.zbd {
            Some(_) => zbd::of_files(job, spec, &files, &mut self.zones)?,
            None => Vec::new(),
        };
        let counts: Vec<u64> =
            if counts_files { files.iter().map(JobFile::count).collect() } else { Vec::new() };
        let in_zones = zbd::size_options(job, spec, &zones);
        let size_options = in_zones.as_ref().unwrap_or(&draft.size_options);
        let mut stream = size_stream(spec);
        let path_of = |number| names.path(number).unwrap_or_default();
        let regions = sizes::regions(spec.clone, size_options, files, &path_of, &mut stream)?;
        block_sizes::check_memory(job, spec)?;
        for sizes::Note { opts, code, message } in regions.notes {
            findings.note(note(job, opts, code, message));
        }
        spec.files = regions.files;
        if counts_files && spec.zbd.is_some() {
            zones = zbd::of_parts(&zones, &counts, &spec.files);
        }
        nbd::name_export(spec);
        protection::find_missing_devices(&mut spec.files, spec.layout.files_are_named);
        if self.compat.guards_files {
            let changed = |file: &FileSpec| self.laid_out.1.get(file).is_some_and(|size| *size != file.found);
            protection::check(job, spec, &changed, findings);
        }
        if self.compat.refuses_unsafe_names {
            own_names::check(job, spec, findings);
        }
        spec.limits.size = regions.size;
        spec.limits.io_size = regions.io_size;
        logs::check_recorded_names(job, spec, findings);
        zbd::apply_file_rules(job, spec, zones, findings)?;
        spec.file_append &= spec.files.iter().any(|file| file.kind == FileKind::Regular);
        if spec.file_append && spec.limits.loops > 1 {
            let text = "file_append makes one pass: `loops` above 1 has no effect";
            findings.note(note(job, &[Opt::Loops], "append-makes-one-pass", text));
        }
        random::apply_file_rules(job, spec, findings);
        sprandom::apply_file_rules(job, spec, findings);
        backlog::writes_can_be_regenerated(job, spec, findings);
        finish(job, spec)
    }

    /// Looks at each file of a clone.
    fn list_files(
        &mut self,
        job: &Job,
        names: &CloneNames<'_>,
        spec: &mut JobSpec,
        findings: &mut Findings,
    ) -> Result<Vec<JobFile>, SetupError> {
        let filetype = job.options.choice(Opt::Filetype);
        let export = spec.engine.has_export().then(|| nbd::find(spec, &mut self.exports)).transpose()?;
        let mut files = Vec::with_capacity(usize::try_from(names.count()).unwrap_or(0));
        for path in (0..names.count()).filter_map(|number| names.path(number)) {
            let found = match export {
                Some(export) => export,
                None if spec.engine.is_diskless() => FoundFile::PRETEND,
                None if spec.engine.needs_dax_devices() => probe_dax(&path)?,
                None if spec.engine.passes_through() => {
                    probe_namespace(&path, spec.engine_options.protection.by_device)?
                }
                None if spec.engine.needs_scsi_devices() => {
                    probe_scsi(&path, filetype, self.compat.has_words_of_fio)?
                }
                None if spec.engine.needs_flash_devices() => {
                    probe_flash(&path, self.compat.has_words_of_fio)?
                }
                None => probe(&path, filetype)?,
            };
            self.check_mounted(job, spec, &path, &found, findings);
            let earlier = self.laid_out.1.at_path(&path).copied();
            // Nothing that a job lays out changes an export.
            let size_by_then = if export.is_some() { found.size } else { earlier.unwrap_or(found.size) };
            files.push(JobFile { path, found, size_by_then, run: None });
        }
        if export.is_some() {
            nbd::check_files(files.len())?;
        }
        Ok(files)
    }

    /// Counts the files of a clone that are alike.
    fn count_files(
        &mut self,
        job: &Job,
        names: &CloneNames<'_>,
        spec: &JobSpec,
        findings: &mut Findings,
    ) -> Result<Vec<JobFile>, SetupError> {
        let list = list_of(names);
        let found = if spec.engine.is_diskless() {
            vec![FoundRun { first: 0, count: names.count(), found: FoundFile::PRETEND }]
        } else {
            self.runs.find(names, &list, job.options.choice(Opt::Filetype))?
        };
        let mut files = Vec::with_capacity(found.len());
        for FoundRun { first, count, found } in found {
            let Some(path) = names.path(first) else { continue };
            self.check_mounted(job, spec, &path, &found, findings);
            let parts = if names.are_one() {
                vec![(count, self.laid_out.1.at_path(&path).copied())]
            } else {
                self.laid_out.1.parts(&list, first..first + count)
            };
            let mut at = first;
            for (count, earlier) in parts {
                if let (Some(path), Some(run)) = (names.path(at), run_of(names, &list, at, count)) {
                    let size_by_then = earlier.unwrap_or(found.size);
                    files.push(JobFile { path, found, size_by_then, run: Some(Box::new(run)) });
                }
                at += count;
            }
        }
        Ok(files)
    }

    /// The files of a log: they are used as they are, up to the end of their last I/O.
    pub(super) fn find_logged_files(
        &mut self,
        job: &Job,
        log: &Replay,
        spec: &mut JobSpec,
        findings: &mut Findings,
    ) -> Result<(), SetupError> {
        priorities::check(job, spec)?;
        let filetype = job.options.choice(Opt::Filetype);
        for LoggedFile { path, end } in &log.summary.files {
            let found = if spec.engine.is_diskless() { FoundFile::PRETEND } else { probe(path, filetype)? };
            self.check_mounted(job, spec, path, &found, findings);
            spec.files.push(FileSpec {
                path: path.clone(),
                kind: found.kind,
                // A file without an I/O may be synced.
                size: (*end).max(1),
                real_size: (*end).max(found.size.unwrap_or(0)),
                found: found.size,
                ..FileSpec::default()
            });
        }
        protection::find_missing_devices(&mut spec.files, true);
        if self.compat.guards_files {
            // A replay lays nothing out.
            protection::check(job, spec, &|_| false, findings);
        }
        spec.limits.size = log.summary.bytes();
        spec.limits.io_size = None;
        spec.file_append = false;
        finish(job, spec)
    }

    /// Updates the sizes of files by the layout of all jobs so far.
    pub(super) fn lay_out_jobs(&mut self) {
        let (done, sizes) = &mut self.laid_out;
        for job in self.jobs[*done..].iter().filter(|job| job.setup_error.is_none()) {
            for file in job.spec.files.iter().filter(|file| file.kind == FileKind::Regular) {
                sizes.update(file, |before, _| size_after_layout(&job.spec, file, before));
            }
        }
        *done = self.jobs.len();
    }
}

/// Resolves what depends on the number of the clone and on its files, and checks it.
fn finish(job: &Job, spec: &mut JobSpec) -> Result<(), SetupError> {
    engine::resolve_clone(job, spec);
    network::resolve(job, spec)?;
    http::check_files(spec)?;
    files::check_syncfs(spec)
}

/// Whether the files of a job are such that one stands for others: not devices of an engine, whose properties differ, and not what a
/// server has.
pub(super) fn can_be_counted(job: &Job, spec: &JobSpec) -> bool {
    let engine = &spec.engine;
    !engine.has_export()
        && !engine.needs_dax_devices()
        && !engine.passes_through()
        && !engine.needs_scsi_devices()
        && !engine.needs_flash_devices()
        && !asks(job, Opt::Sprandom)
}

/// The stream that sizes of a clone's files are drawn from.
fn size_stream(spec: &JobSpec) -> Stream {
    let seed = match random::shared_seed(spec.seeding) {
        Some(seed) => job_seeds(seed, spec.number)[purpose::FILE_SIZE],
        // The hasher's keys come from the system's random source.
        None => RandomState::new().build_hasher().finish(),
    };
    Stream::new(spec.generator, seed)
}

/// Size that later jobs find; `before` is the size after earlier jobs, if they changed it.
fn size_after_layout(spec: &JobSpec, file: &FileSpec, before: Option<Option<u64>>) -> Option<u64> {
    let before = before.unwrap_or(file.found);
    let layout = layout_of(spec);
    if layout.applies_to(file) && !spec.opening.readonly {
        Some(layout.size_after(file, before))
    } else {
        before
    }
}
