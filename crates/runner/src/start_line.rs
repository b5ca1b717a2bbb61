//! The common start of the phases of a run on many hosts: somebody else says when.

use std::fmt::Debug;
use std::time::Instant;

use ferrio_job::Plan;

/// Who says when a phase begins. The phases of a run are what stonewalls separate, numbered from 0.
pub trait StartLine: Debug + Send + Sync {
    /// The jobs that begin a phase are set up and wait; the phases before have ended.
    fn ready(&self, phase: u32);

    /// When the phase begins; `None` until that is known. Asked every millisecond.
    fn start_of(&self, phase: u32) -> Option<Instant>;

    /// The jobs were let go at this time.
    fn began(&self, phase: u32, at: Instant);
}

/// The phase of a job of the plan.
pub(crate) fn phase_of(plan: &Plan, index: usize) -> u32 {
    let walls = plan.jobs.iter().take(index + 1).skip(1).filter(|job| job.spec.stonewall).count();
    u32::try_from(walls).unwrap_or(u32::MAX)
}

/// The number of phases of a plan: one without stonewalls.
#[must_use]
pub fn phases(plan: &Plan) -> u32 {
    phase_of(plan, plan.jobs.len().saturating_sub(1)) + 1
}
