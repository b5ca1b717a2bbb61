//! The common start of the phases of a run on many hosts: somebody else says when.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use ferrio_job::Plan;

/// Who says when a phase begins. The phases of a run are what stonewalls separate, numbered from 0.
pub trait StartLine: Debug + Send + Sync {
    /// The jobs that begin a phase are set up and wait; the phases before have ended.
    fn ready(&self, phase: u32);

    /// When the phase begins; `None` if that is not known after waiting for this long.
    fn start_of(&self, phase: u32, wait: Duration) -> Option<Instant>;

    /// The jobs were let go at this time.
    fn began(&self, phase: u32, at: Instant);
}

/// The phase of a job of the plan, from 0.
pub(crate) fn phase_of(plan: &Plan, index: usize) -> u32 {
    let section = plan.sections.partition_point(|section| section.jobs.end <= index);
    u32::try_from(plan.sections.get(section).map_or(0, |section| section.phase.saturating_sub(1)))
        .unwrap_or(u32::MAX)
}

/// The number of phases of the run that a plan is part of: one without stonewalls.
#[must_use]
pub fn phases(plan: &Plan) -> u32 {
    u32::try_from(plan.phases.max(1)).unwrap_or(u32::MAX)
}
