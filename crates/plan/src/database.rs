//! `workload`: a section that models a database becomes several jobs which share one load: its sessions, and those that write back what
//! the sessions change.
//!
//! - `options` says of each option of other jobs whether a database has it. What is left is resolved like any job.
//! - `model` makes the model from the options of databases, and `rules` finds what is wrong with it.
//! - `files` names and sizes the files: the data, the log, the double-write area. `file_conflicts` refuses shared ones.
//! - This file makes the jobs of the roles.

mod file_conflicts;
mod files;
mod model;
mod options;
mod rules;

use std::borrow::Cow;
use std::sync::Arc;

use ferrio_job::{
    BlockSizes, Database, DatabaseModel, DatabaseRole, Depth, EngineKind, EventKind, EventLoad, EventPart,
    FileSpec, JobSpec, PerDirection,
};
use ferrio_jobfile::{GivenOption, Job, JobSet, Opt, OptionScope, preset_options};

use crate::as_written::refuse;
use crate::findings::Findings;
use crate::random::known_seed;
use crate::status::InertOptions;

pub(crate) use file_conflicts::DatabaseFileUses;
pub(crate) use files::DatabaseFiles;
pub(crate) use model::resolve;
pub(crate) use rules::check_files;

/// I/Os that a job in the background has in flight if its engine is asynchronous and it has no `iodepth`.
const BACKGROUND_DEPTH: u32 = 64;
/// Most bytes of the buffers of a cleaner. Each of them holds a whole write to the double-write area, so that 64 I/Os in flight could
/// take gigabytes: it has as many in flight as have room, and at least one.
const BACKGROUND_BUFFERS: u64 = 64 << 20;
/// Alignment of the buffers: that of a page of memory, which any direct I/O accepts.
const BUFFER_ALIGNMENT: u64 = 4096;

/// The model of a job, if it has one.
pub(crate) fn model_of(job: &Job) -> Option<DatabaseModel> {
    job.options.chosen(Opt::Workload)
}

/// The jobs as the planner resolves them: those that model a database with the defaults of their model, and without what the model
/// decides. Options of databases in other jobs are refused. A database, and the job after it, begin report groups.
pub(crate) fn with_presets<'a>(
    set: &'a JobSet,
    inert: &mut InertOptions<'a>,
    findings: &mut Findings,
) -> Vec<Cow<'a, Job>> {
    let has_database = set.jobs.iter().any(|job| model_of(job).is_some());
    let mut is_after_database = false;
    let jobs = set.jobs.iter().map(|job| {
        let model = model_of(job);
        let follows = std::mem::replace(&mut is_after_database, model.is_some());
        match model {
            Some(model) => Cow::Owned(with_preset(job, model, inert, findings)),
            None => {
                without_workload(job, has_database, findings);
                if follows { Cow::Owned(in_new_group(job)) } else { Cow::Borrowed(job) }
            }
        }
    });
    jobs.collect()
}

/// The job as the first of a report group, unless it says otherwise.
fn in_new_group(job: &Job) -> Job {
    let new_group = GivenOption::implied(Opt::NewGroup, "1", &job.origin);
    let options = job.options.with_defaults(new_group.into_iter().collect(), |_| true);
    Job { options, ..job.clone() }
}

/// Options of databases mean nothing without a `workload`. Those that a job has inherited may be meant for others.
fn without_workload(job: &Job, has_database: bool, findings: &mut Findings) {
    let is_own = |given: &GivenOption| job.own.iter().any(|own| own.origin == given.origin);
    for given in job.options.all().filter(|given| given.opt.row().scope == OptionScope::Database) {
        if is_own(given) || !has_database {
            let name = given.opt.row().name;
            let message = format!("`{name}` needs `workload`, which this job lacks");
            let help = "add workload=innodb, postgres, rocksdb or etcd, or remove the option";
            refuse(findings, job, &[given.opt], "option-of-databases", message, help);
        }
    }
}

fn with_preset<'a>(
    job: &'a Job,
    model: DatabaseModel,
    inert: &mut InertOptions<'a>,
    findings: &mut Findings,
) -> Job {
    options::check(job, model, inert, findings);
    let implied = |opt: Opt, text: &str| GivenOption::implied(opt, text, &job.origin);
    // The jobs read and write at any place, again and again: nothing keeps a map of blocks.
    let mut defaults: Vec<GivenOption> = [(Opt::Rw, "randrw"), (Opt::Norandommap, "1"), (Opt::NewGroup, "1")]
        .into_iter()
        .filter_map(|(opt, text)| implied(opt, text))
        .collect();
    // That of `size` depends on the files that exist.
    let presets = preset_options().filter(|opt| *opt != Opt::Size);
    defaults.extend(presets.filter_map(|opt| implied(opt, opt.preset(model)?)));
    let options = job.options.with_defaults(defaults, |given| options::is_kept(job, given, model));
    Job { options, ..job.clone() }
}

/// The common part of the jobs of a database.
pub(crate) struct DatabaseJobs {
    load: Arc<EventLoad>,
    database: Database,
    files: Vec<FileSpec>,
    /// The job as the options have it.
    job: JobSpec,
    /// `iodepth`, if it was given.
    depth: Option<u32>,
    /// `sync_sessions`: sessions have the engine psync.
    sync_sessions: bool,
}

impl DatabaseJobs {
    /// The jobs of load number `id`.
    pub(crate) fn new(job: &Job, spec: JobSpec, database: Database, files: Vec<FileSpec>, id: u32) -> Self {
        let load = Arc::new(EventLoad {
            id,
            limit: job.options.if_given(Opt::Transactions),
            rate: job.options.if_given(Opt::TransactionRate).filter(|&rate| rate > 0.0),
            seed: known_seed(&spec),
            kind: EventKind::Database(Box::new(database.clone())),
        });
        let depth = job.options.if_given(Opt::Iodepth);
        let sync_sessions = job.options.if_given(Opt::SyncSessions).unwrap_or(false);
        DatabaseJobs { load, database, files, job: spec, depth, sync_sessions }
    }

    /// The roles in the order of the jobs.
    pub(crate) fn roles(&self) -> impl Iterator<Item = DatabaseRole> {
        self.database.roles()
    }

    /// The job of this role that is number `thread` of its load.
    pub(crate) fn job(&self, role: DatabaseRole, thread: u32) -> JobSpec {
        let is_first = thread == 0;
        let mut spec = self.job.clone();
        spec.events = Some(EventPart { load: Arc::clone(&self.load), thread });
        spec.thread = true;
        if let Some(suffix) = role.suffix() {
            spec.name = format!("{}.{suffix}", spec.name);
        }
        let sessions = self.database.sessions;
        (spec.clone, spec.clones) = if role == DatabaseRole::Session { (thread, sessions) } else { (0, 1) };
        // What is done in the background has an entry of its own in reports.
        spec.group_reporting &= role == DatabaseRole::Session;
        spec.files.clone_from(&self.files);
        // One of them lays out the files.
        spec.files.iter_mut().for_each(|file| file.extend &= is_first);
        spec.layout.files_are_named = true;
        spec.opening.openfiles = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        spec.limits.size = self.files.iter().map(|file| file.size).fold(0, u64::saturating_add);
        spec.limits.time_based = !spec.limits.runtime.is_zero();
        spec.opening.pre_read &= is_first;
        // What goes wrong in one job ends the others, which would wait for it.
        spec.life.exitall_on_error = true;
        let largest = self.database.largest_io(role);
        let [page, log] = [self.database.page, self.database.log.block].map(u64::from);
        let block = |min: u64, max: u64| BlockSizes { min: min.min(max), max, align: min.min(max) };
        spec.block = PerDirection(match role {
            // Whole pages may be appended too.
            DatabaseRole::Session if self.database.log.full_pages => {
                [block(page, page), block(log, largest), block(page, page)]
            }
            DatabaseRole::Session => [block(page, page), block(log, log), block(page, page)],
            DatabaseRole::Cleaner => [block(page, page), block(page.min(log), largest), block(page, page)],
            DatabaseRole::Flusher | DatabaseRole::Compactor => {
                [block(largest, largest), block(largest, largest), block(largest, largest)]
            }
        });
        if role == DatabaseRole::Session && self.sync_sessions {
            spec.engine = EngineKind::Psync;
        }
        spec.depth = self.depth(role, spec.engine);
        spec.memory.align = spec.memory.align.max(BUFFER_ALIGNMENT);
        spec
    }

    fn depth(&self, role: DatabaseRole, engine: EngineKind) -> Depth {
        let asked = self.depth.unwrap_or(BACKGROUND_DEPTH).max(1);
        let depth = match role {
            DatabaseRole::Cleaner if !engine.is_sync(asked) => {
                self.database.batch().min(asked).min(most_in_flight(&self.database)).max(1)
            }
            _ => 1,
        };
        Depth { iodepth: depth, batch: depth, complete_min: 1, complete_max: depth, low: depth }
    }
}

/// I/Os of the cleaner whose buffers have room in `BACKGROUND_BUFFERS`.
fn most_in_flight(database: &Database) -> u32 {
    let most = BACKGROUND_BUFFERS / database.largest_io(DatabaseRole::Cleaner).max(1);
    u32::try_from(most).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests;
