//! The sections of the plan: each job as written, with its clones.

use ferrio_job::{
    DatabaseRole, Direction, FileKind, FileSpec, JobSpec, PageReads, Plan, PlannedJob, PlannedSection,
};
use ferrio_jobfile::{Job, JobSet, Opt};

/// A section of a job file, or a job of the command line, with its clones.
#[derive(Clone, Debug)]
pub(crate) struct CheckedSection<'a> {
    /// Position in the report.
    pub(crate) index: usize,
    pub(crate) job: &'a Job,
    /// The clones; never empty.
    pub(crate) instances: &'a [PlannedJob],
    /// Number of the phase, from 1; stonewalls separate phases.
    pub(crate) phase: usize,
    /// The section whose jobs must have ended before it starts (`wait_for`).
    pub(crate) waits_for: Option<usize>,
}

/// All sections in order.
pub(crate) fn sections<'a>(set: &'a JobSet, plan: &'a Plan) -> Vec<CheckedSection<'a>> {
    let mut written = set.jobs.iter();
    let mut job: Option<&Job> = None;
    // A database is one section as written and several as planned, with the same origin. Sections of other hosts are not planned.
    let written_and_planned = plan.sections.iter().enumerate().filter_map(|(index, section)| {
        if job.is_none_or(|job| job.origin != section.origin) {
            job = written.find(|job| job.origin == section.origin);
        }
        Some((index, job?, section))
    });
    let section = |(index, job, section): (usize, &'a Job, &'a PlannedSection)| {
        let instances = &plan.jobs[section.jobs.clone()];
        let awaited = &instances[0].spec.life.wait_for;
        let before = |other: &PlannedSection| other.jobs.end <= awaited.start;
        let waits_for = (!awaited.is_empty()).then(|| plan.sections.partition_point(before));
        CheckedSection { index, job, instances, phase: section.phase, waits_for }
    };
    written_and_planned.map(section).collect()
}

/// The sections of each phase, which run together.
pub(crate) fn phases_of<'s, 'a>(
    sections: &'s [CheckedSection<'a>],
) -> impl Iterator<Item = &'s [CheckedSection<'a>]> {
    sections.chunk_by(|one, next| one.phase == next.phase)
}

impl<'a> CheckedSection<'a> {
    /// The spec of the first clone: the others differ in numbers and files.
    pub(crate) fn spec(&self) -> &'a JobSpec {
        &self.instances[0].spec
    }

    /// The clones that can run.
    pub(crate) fn running(&self) -> impl Iterator<Item = &'a JobSpec> {
        self.instances.iter().filter(|job| job.setup_error.is_none()).map(|job| &job.spec)
    }

    /// The files of the clones that can run.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&'a JobSpec, &'a FileSpec)> {
        self.running()
            .flat_map(|spec| spec.files.iter().filter(|file| file.size > 0).map(move |file| (spec, file)))
    }

    /// The effective value of a switch, if it was given.
    pub(crate) fn switch(&self, opt: Opt) -> bool {
        self.job.options.value(opt)
    }

    /// The index within its `phase` of the section that it waits for, if that is in the same phase.
    pub(crate) fn awaited_in(&self, phase: &[CheckedSection<'_>]) -> Option<usize> {
        self.waits_for?.checked_sub(phase.first()?.index)
    }
}

/// Properties of a job that many rules need.
pub(crate) trait JobWork {
    /// Whether it issues I/O of this direction.
    fn does(&self, direction: Direction) -> bool;
    /// Whether it moves data at all.
    fn works(&self) -> bool;
    /// Whether it writes or trims.
    fn changes(&self) -> bool;
}

impl JobWork for JobSpec {
    fn does(&self, direction: Direction) -> bool {
        let writes = direction == Direction::Write;
        if direction == Direction::Read
            && let Some((database, role)) = self.database()
        {
            return self.works()
                && match role {
                    DatabaseRole::Session => database.reads != PageReads::Count(0.0),
                    DatabaseRole::Compactor => true,
                    DatabaseRole::Cleaner | DatabaseRole::Flusher => false,
                };
        }
        self.works() && if writes { self.writes_data() } else { self.rw.does(direction) }
    }

    fn works(&self) -> bool {
        !self.layout.create_only && self.engine.does_io()
    }

    fn changes(&self) -> bool {
        self.does(Direction::Write) || self.does(Direction::Trim)
    }
}

/// Whether a file holds data: regular files and block devices.
pub(crate) fn is_stored(file: &FileSpec) -> bool {
    matches!(file.kind, FileKind::Regular | FileKind::Block)
}
