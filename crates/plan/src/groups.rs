//! From drafts to the jobs of the run: clones, numbers, sections, report groups and the files of each job.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::Path;

use ferrio_job::{
    ByFile, CompatRules, CpusAllowedPolicy, DatabaseModel, DatabaseRole, Diagnostic, FileKind, FileSpec,
    FioWords, JobSpec, LoggedFile, PlannedJob, PlannedSection, Replay, Seeding, SetupError, layout_of,
    reason,
};
use ferrio_jobfile::{Job, Opt};
use ferrio_machine::{DeviceNumber, MOUNTINFO, Machine, Mounts, is_held, is_mounted};
use ferrio_random::{DEFAULT_SEED, Stream, job_seeds, purpose};

use crate::as_written::{asks, chooses, name, note, place, refuse};
use crate::database::{self, DatabaseJobs};
use crate::direction::changes_data;
use crate::file_names::{CloneNames, FileNames};
use crate::file_runs::{FileRuns, FoundRun, MAX_LISTED, list_of, run_of};
use crate::findings::Findings;
use crate::probe::{Found, probe, probe_dax, probe_flash, probe_namespace, probe_scsi};
use crate::resolve::SpecDraft;
use crate::sizes::{self, JobFile};
use crate::zbd::ZonesByPath;
use crate::{
    PlanOptions, backlog, block_sizes, engine, files, http, logs, memory, nbd, network, own_names,
    priorities, protection, random, sprandom, zbd,
};

/// Most jobs of one run of fio, clones included.
const MAX_JOBS_OF_FIO: usize = 4088;
/// Most jobs of one run: as many threads as Linux allows unless its limits were raised. A machine may allow fewer.
const MAX_JOBS: usize = 32_000;
/// Most files of one job.
const MAX_FILES: u32 = 1 << 24;

/// Builds the jobs in creation order.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) jobs: Vec<PlannedJob>,
    pub(crate) sections: Vec<PlannedSection>,
    group: u32,
    /// Whether the current group has a job.
    filled: bool,
    /// A number of jobs, and the sizes of files once these jobs are laid out. Unused in a run of one job.
    laid_out: (usize, ByFile<Option<u64>>),
    /// Files are counted instead of listed where there are many.
    describes_only: bool,
    /// Files that are counted.
    runs: FileRuns,
    compat: CompatRules,
    /// The zones of the files that jobs have in zones.
    zones: ZonesByPath,
    /// What servers said about the exports of jobs.
    pub(crate) exports: nbd::Exports,
    /// Mounted file systems, read when a job names the first device.
    mounts: Option<io::Result<Mounts>>,
    /// Whether devices without a known mount are held by somebody.
    held: HashMap<DeviceNumber, bool>,
    /// Loads of databases so far.
    loads: u32,
    /// Their files.
    database_files: database::OwnFiles,
}

impl Groups {
    /// No job yet.
    pub(crate) fn new(options: &PlanOptions) -> Self {
        let PlanOptions { compat, describes_only, .. } = *options;
        Groups { compat: CompatRules::of(compat), describes_only, ..Groups::default() }
    }

    /// Adds all clones of a job, which take its drafts in turn; there is at least one.
    pub(crate) fn add(&mut self, job: &Job, drafts: &[SpecDraft], findings: &mut Findings) {
        self.begin_section(job);
        let stonewall = has_stonewall(job);
        let Some(clones) = self.clones(job, findings) else { return };
        let file_names = FileNames::new(job);
        if let Some(problem) = file_names.problem(job) {
            findings.refuse(problem);
            return;
        }
        if let Some(count) = file_names.found {
            findings.note(note(
                job,
                &[Opt::Opendir],
                "opendir-files",
                format!("opendir added {count} files"),
            ));
        }
        if file_names.count > MAX_FILES {
            let message = format!("too many files; the maximum is {MAX_FILES}");
            let opts = [Opt::Nrfiles, Opt::Filename, Opt::Opendir];
            refuse(findings, job, &opts, "too-many-files", message, "spread them over several jobs");
            return;
        }
        let first = self.jobs.len();
        let counts_files = self.describes_only
            && file_names.of_clone(job, 0).count().saturating_mul(u64::from(clones)) > MAX_LISTED
            && can_be_counted(job, &drafts[0].spec);
        self.jobs.reserve(clones as usize);
        // The original first, then the others from the highest number down.
        for clone in std::iter::once(0).chain((1..clones).rev()) {
            let draft = &drafts[clone as usize % drafts.len()];
            let mut spec = draft.spec.clone();
            spec.clone = clone;
            spec.clones = clones;
            if clone > 0 && self.compat.clones_lose_identity {
                forget_personal_options(job, &mut spec);
            }
            spec.layout.files_are_named = file_names.are_named();
            spec.layout.marks_layout = spec.layout.files_are_named && self.compat.guards_files;
            spec.number = u32::try_from(self.jobs.len() + 1).unwrap_or(u32::MAX);
            take_a_cpu(job, &mut spec);
            spec.group = self.group;
            spec.stonewall = stonewall && clone == 0;
            let found = match (&draft.unreadable_log, spec.replay.clone()) {
                (Some(error), _) => Err(error.clone()),
                (None, Some(log)) => self.find_logged_files(job, &log, &mut spec, findings),
                (None, None) => {
                    let is_idle = self.compat.repeated_clones_are_idle
                        && !spec.engine.has_export()
                        && file_names.repeat_the_first(job, clone);
                    let names =
                        if is_idle { CloneNames::Listed(&[]) } else { file_names.of_clone(job, clone) };
                    self.find_files(job, &names, counts_files, draft, &mut spec, findings)
                }
            };
            let setup_error = found.err();
            self.jobs.push(PlannedJob { spec, setup_error });
        }
        if self.runs.take_incomplete() {
            let text = "only some of the existing files were examined: the others are taken to be like them";
            findings.note(note(job, &[Opt::Nrfiles, Opt::Filename], "files-not-examined", text));
        }
        self.end_section(job, drafts[0].spec.name.clone(), first);
    }

    /// Adds the jobs of a database: a section of sessions, and one for each job in the background.
    pub(crate) fn add_database(
        &mut self,
        job: &Job,
        model: DatabaseModel,
        draft: &SpecDraft,
        machine: &Machine,
        findings: &mut Findings,
    ) {
        self.begin_section(job);
        if self.clones(job, findings).is_none() {
            return;
        }
        let mut spec = draft.spec.clone();
        spec.group = self.group;
        spec.layout.marks_layout = self.compat.guards_files;
        let parameters = database::Parameters::of(job, model, &spec, findings);
        if !findings.is_fine() {
            return;
        }
        let filetype = job.options.choice(Opt::Filetype);
        self.lay_out_jobs();
        let mut mounted = Vec::new();
        let mut find = |path: &Path| {
            let found = probe(path, filetype)?;
            let size = self.laid_out.1.at_path(path).copied().unwrap_or(found.size);
            mounted.push((path.to_owned(), found));
            Ok((found, size))
        };
        let files = database::DatabaseFiles::of(job, &parameters, &mut find, findings);
        for (path, found) in mounted {
            self.check_mounted(job, &spec, &path, &found, findings);
        }
        let Some(mut files) = files else { return };
        let before = self.sections.last().map_or(1, |section| section.phase);
        let phase = before + usize::from(has_stonewall(job) && !self.jobs.is_empty());
        self.database_files.add(job, self.loads, phase, &files, findings);
        database::check_resolved(job, &parameters, &files, findings);
        protection::find_missing_devices(&mut files.files, true);
        let jobs = DatabaseJobs::new(job, spec, parameters, files, self.loads);
        self.loads += 1;
        let mut first = self.jobs.len();
        for (thread, role) in (0..).zip(jobs.roles()) {
            let mut spec = jobs.job(role, thread);
            spec.number = u32::try_from(self.jobs.len() + 1).unwrap_or(u32::MAX);
            take_a_cpu(job, &mut spec);
            spec.stonewall = thread == 0 && has_stonewall(job);
            if thread == 0 {
                protection::check(job, &spec, &|_| false, findings);
            }
            memory::apply_rules(job, &spec, machine, findings);
            if role != DatabaseRole::Session && self.jobs.len() > first {
                self.end_section(job, self.jobs[first].spec.name.clone(), first);
                first = self.jobs.len();
            }
            self.jobs.push(PlannedJob { spec, setup_error: None });
        }
        self.end_section(job, self.jobs[first].spec.name.clone(), first);
    }

    fn begin_section(&mut self, job: &Job) {
        if begins_a_group(job) && self.filled {
            self.group += 1;
        }
        self.filled = true;
    }

    /// The jobs from `first` on are a section.
    fn end_section(&mut self, job: &Job, name: String, first: usize) {
        let stonewall = self.jobs[first].spec.stonewall;
        let phase = self.sections.last().map_or(1, |before| before.phase + usize::from(stonewall));
        let jobs = first..self.jobs.len();
        self.sections.push(PlannedSection {
            name,
            origin: job.origin.clone(),
            jobs,
            group: self.group,
            phase,
        });
    }

    fn clones(&self, job: &Job, findings: &mut Findings) -> Option<u32> {
        let clones = job.options.value::<i64>(Opt::Numjobs);
        let most = if self.compat.limits_jobs_as_fio { MAX_JOBS_OF_FIO } else { MAX_JOBS };
        let free = most - self.jobs.len();
        match u32::try_from(clones) {
            Ok(clones) if clones > 0 && clones as usize <= free => Some(clones),
            _ => {
                let label =
                    if clones == 0 { "at least 1".to_owned() } else { format!("{free} are left of {most}") };
                let problem =
                    Diagnostic::error("maximum number of jobs reached", place(job, &[Opt::Numjobs]));
                let lines = ["error: maximum number of jobs reached.", "error: failed to setup shm segment"];
                let problem = problem.in_fio(FioWords::Lines(lines.map(str::to_owned).into()));
                findings.refuse(problem.code("too-many-jobs").label(label).job(name(job)));
                None
            }
        }
    }

    /// Refuses the run if a job would write to a device that is mounted, or held by somebody who cannot be seen from here. fio only looks
    /// for mounts.
    fn check_mounted(
        &mut self,
        job: &Job,
        spec: &JobSpec,
        path: &Path,
        found: &Found,
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
        let problem = Diagnostic::error(message, place(job, &[Opt::Filename]));
        findings.refuse(problem.code("mounted-device").help(help).job(name(job)));
    }

    fn find_files(
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
        let in_zones = zbd::sizing(job, spec, &zones);
        let sizing = in_zones.as_ref().unwrap_or(&draft.sizing);
        let mut stream = size_stream(spec);
        let path_of = |number| names.path(number).unwrap_or_default();
        let regions = sizes::regions(spec.clone, sizing, files, &path_of, &mut stream)?;
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
        zbd::fit_files(job, spec, zones, findings)?;
        spec.file_append &= spec.files.iter().any(|file| file.kind == FileKind::Regular);
        if spec.file_append && spec.limits.loops > 1 {
            let text = "file_append makes one pass: `loops` above 1 has no effect";
            findings.note(note(job, &[Opt::Loops], "append-makes-one-pass", text));
        }
        random::fit_files(job, spec, findings);
        sprandom::fit_files(job, spec, findings);
        backlog::fit_files(job, spec, findings);
        engine::resolve_clone(job, spec);
        network::resolve(job, spec)?;
        http::check_files(spec)?;
        files::check_syncfs(spec)
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
                None if spec.engine.is_diskless() => Found::PRETEND,
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
            vec![FoundRun { first: 0, count: names.count(), found: Found::PRETEND }]
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
    fn find_logged_files(
        &mut self,
        job: &Job,
        log: &Replay,
        spec: &mut JobSpec,
        findings: &mut Findings,
    ) -> Result<(), SetupError> {
        priorities::check(job, spec)?;
        let filetype = job.options.choice(Opt::Filetype);
        for LoggedFile { path, end } in &log.summary.files {
            let found = if spec.engine.is_diskless() { Found::PRETEND } else { probe(path, filetype)? };
            self.check_mounted(job, spec, path, &found, findings);
            spec.files.push(FileSpec {
                path: path.clone(),
                kind: found.kind,
                offset: 0,
                // A file without an I/O may be synced.
                size: (*end).max(1),
                real_size: (*end).max(found.size.unwrap_or(0)),
                found: found.size,
                extend: false,
                missing_device: false,
                run: None,
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
        engine::resolve_clone(job, spec);
        network::resolve(job, spec)?;
        http::check_files(spec)?;
        files::check_syncfs(spec)
    }

    /// Updates the sizes of files by the layout of all jobs so far.
    fn lay_out_jobs(&mut self) {
        let (done, sizes) = &mut self.laid_out;
        for job in self.jobs[*done..].iter().filter(|job| job.setup_error.is_none()) {
            for file in job.spec.files.iter().filter(|file| file.kind == FileKind::Regular) {
                sizes.update(file, |before, _| size_after_layout(&job.spec, file, before));
            }
        }
        *done = self.jobs.len();
    }
}

/// Whether the files of a job are such that one stands for others: not devices of an engine, whose properties differ, and not what a
/// server has.
fn can_be_counted(job: &Job, spec: &JobSpec) -> bool {
    let engine = &spec.engine;
    !engine.has_export()
        && !engine.needs_dax_devices()
        && !engine.passes_through()
        && !engine.needs_scsi_devices()
        && !engine.needs_flash_devices()
        && !asks(job, Opt::Sprandom)
}

/// Whether a new report group begins with this job.
pub(crate) fn begins_a_group(job: &Job) -> bool {
    has_stonewall(job) || job.options.value(Opt::NewGroup)
}

/// A stonewall precedes the job: its own, or the one between two job files.
fn has_stonewall(job: &Job) -> bool {
    job.options.value(Opt::Stonewall) || (job.file_number > 0 && job.first_of_file)
}

/// With `cpus_allowed_policy=split` each job takes one of its CPUs, chosen by its number.
fn take_a_cpu(job: &Job, spec: &mut JobSpec) {
    let split = chooses(job, Opt::CpusAllowedPolicy, CpusAllowedPolicy::Split);
    let turn = (spec.number as usize - 1).checked_rem(spec.cpus_allowed.len());
    if let Some(turn) = turn.filter(|_| split) {
        spec.cpus_allowed = vec![spec.cpus_allowed[turn]];
    }
}

/// Makes a job a clone as fio has them: named after its section whatever `name` says, and run by the caller.
fn forget_personal_options(job: &Job, spec: &mut JobSpec) {
    spec.name.clone_from(&job.name);
    logs::resolve_prefixes(job, spec, &job.name);
    spec.worker.uid = None;
    spec.worker.gid = None;
}

/// The stream that sizes of a clone's files are drawn from.
fn size_stream(spec: &JobSpec) -> Stream {
    let seed = match spec.seeding {
        Seeding::Repeatable => job_seeds(DEFAULT_SEED, spec.number)[purpose::FILE_SIZE],
        Seeding::Fixed(seed) => job_seeds(seed, spec.number)[purpose::FILE_SIZE],
        // The hasher's keys come from the system's random source.
        Seeding::FromSystem => RandomState::new().build_hasher().finish(),
    };
    Stream::new(spec.generator, seed)
}

/// Size that later jobs find; `before` is the size after earlier jobs, if they changed it.
fn size_after_layout(spec: &JobSpec, file: &FileSpec, before: Option<Option<u64>>) -> Option<u64> {
    let before = before.unwrap_or(file.found);
    let layout = layout_of(spec);
    if layout.concerns(file) && !spec.opening.readonly {
        Some(layout.size_after(file, before))
    } else {
        before
    }
}

#[cfg(test)]
mod tests;
