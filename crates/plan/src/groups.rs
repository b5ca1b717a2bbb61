//! From drafts to the jobs of the run: clones, numbers, sections, report groups and the files of each job.

mod clone_files;

use std::collections::HashMap;
use std::io;
use std::path::Path;

use ferrio_job::{
    ByFile, CompatRules, CpusAllowedPolicy, DatabaseModel, DatabaseRole, Diagnostic, FioWords, JobSpec,
    PlannedJob, PlannedSection,
};
use ferrio_jobfile::{Job, Opt};
use ferrio_machine::{DeviceNumber, Machine, Mounts};

use self::clone_files::can_be_counted;
use crate::as_written::{chooses, name, note, place, refuse};
use crate::database::{self, DatabaseJobs};
use crate::file_names::{CloneNames, FileNames};
use crate::file_runs::{FileRuns, MAX_LISTED};
use crate::findings::Findings;
use crate::probe::probe;
use crate::resolve::SpecDraft;
use crate::zbd::ZonesByPath;
use crate::{PlanOptions, logs, memory, nbd, protection};

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
    /// The phase that the last section belongs to, from 1; 0 before the first.
    pub(crate) phase: usize,
    /// A stonewall came with a section of other hosts, and none of this host has followed.
    owes_stonewall: bool,
    /// A number of jobs, and the sizes of files once these jobs are laid out. Unused in a run of one job.
    laid_out: (usize, ByFile<Option<u64>>),
    /// Files are counted instead of listed where there are many.
    describes_only: bool,
    /// Files that are counted.
    runs: FileRuns,
    compat: CompatRules,
    /// The zones of the files that jobs have in zones.
    zones: ZonesByPath,
    /// The answers of servers about the exports of jobs.
    pub(crate) exports: nbd::Exports,
    /// Mounted file systems, read when a job names the first device.
    mounts: Option<io::Result<Mounts>>,
    /// Whether devices without a known mount are held by somebody.
    held: HashMap<DeviceNumber, bool>,
    /// Loads of databases so far.
    loads: u32,
    /// The files of databases so far.
    database_files: database::DatabaseFileUses,
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
        let stonewall = self.takes_stonewall(job);
        let Some(clones) = self.clones(job, findings) else { return };
        let file_names = FileNames::new(job);
        if let Some(problem) = file_names.problem(job) {
            findings.refuse(problem);
            return;
        }
        if let Some(count) = file_names.found {
            let text = format!("opendir added {count} files");
            findings.note(note(job, &[Opt::Opendir], "opendir-files", text));
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
        let mut model = database::resolve(job, model, &spec, findings);
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
        let files = database::DatabaseFiles::of(job, &mut model, &mut find, findings);
        for (path, found) in mounted {
            self.check_mounted(job, &spec, &path, &found, findings);
        }
        let Some(mut files) = files else { return };
        self.database_files.add(job, self.loads, self.phase, &model, &files, findings);
        database::check_files(job, &model, &files, findings);
        protection::find_missing_devices(&mut files.files, true);
        let stonewall = self.takes_stonewall(job);
        let jobs = DatabaseJobs::new(job, spec, model, files.files, self.loads);
        self.loads += 1;
        let mut first = self.jobs.len();
        for (thread, role) in (0..).zip(jobs.roles()) {
            let mut spec = jobs.job(role, thread);
            spec.number = u32::try_from(self.jobs.len() + 1).unwrap_or(u32::MAX);
            take_a_cpu(job, &mut spec);
            spec.stonewall = thread == 0 && stonewall;
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

    /// Counts a section of other hosts: phases and report groups have the same numbers on all hosts.
    pub(crate) fn pass_over(&mut self, job: &Job) {
        self.begin_section(job);
        self.owes_stonewall |= has_stonewall(job);
    }

    fn begin_section(&mut self, job: &Job) {
        let is_first = self.phase == 0;
        self.group += u32::from(begins_a_group(job) && !is_first);
        self.phase += usize::from(has_stonewall(job) || is_first);
    }

    /// Whether a stonewall precedes this section of this host, perhaps with sections of other hosts in between.
    fn takes_stonewall(&mut self, job: &Job) -> bool {
        std::mem::take(&mut self.owes_stonewall) | has_stonewall(job)
    }

    /// The jobs from `first` on are a section.
    fn end_section(&mut self, job: &Job, name: String, first: usize) {
        let (origin, jobs) = (job.origin.clone(), first..self.jobs.len());
        let (group, phase) = (self.group, self.phase);
        self.sections.push(PlannedSection { name, origin, jobs, group, phase });
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
}

/// Whether a new report group begins with this job.
pub(crate) fn begins_a_group(job: &Job) -> bool {
    has_stonewall(job) || job.options.value(Opt::NewGroup)
}

/// A stonewall precedes the job: its own, or the one between two job files.
fn has_stonewall(job: &Job) -> bool {
    job.options.value(Opt::Stonewall) || (job.file_number > 0 && job.first_of_file)
}

/// Gives the job one of its CPUs, chosen by its number, with `cpus_allowed_policy=split`.
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

#[cfg(test)]
mod tests;
