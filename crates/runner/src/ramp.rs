//! `ramp_size`: how much is moved before anything is measured, by one job or by all jobs that are reported as one.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use ferrio_job::Plan;

/// The bytes of a ramp, shared by those who move them.
#[derive(Debug)]
pub(crate) struct SharedRamp {
    size: u64,
    moved: AtomicU64,
}

/// A job's part of a ramp.
#[derive(Debug)]
pub(crate) struct RampSize {
    ramp: Arc<SharedRamp>,
    /// Bytes of this job that are in the shared count.
    counted: u64,
}

impl SharedRamp {
    fn new(size: u64) -> Arc<Self> {
        Arc::new(SharedRamp { size, moved: AtomicU64::new(0) })
    }

    /// The ramps of the jobs of a plan; those of a group with `group_reporting` share one.
    pub(crate) fn of(plan: &Plan) -> Vec<Option<Arc<Self>>> {
        let mut groups: HashMap<u32, Arc<Self>> = HashMap::new();
        let mut ramp = |spec: &ferrio_job::JobSpec| {
            let size = spec.limits.ramp_size;
            if size == 0 {
                return None;
            }
            if !spec.group_reporting {
                return Some(SharedRamp::new(size));
            }
            Some(Arc::clone(groups.entry(spec.group).or_insert_with(|| SharedRamp::new(size))))
        };
        plan.jobs.iter().map(|job| ramp(&job.spec)).collect()
    }
}

impl RampSize {
    /// The part of a job that has moved nothing yet.
    pub(crate) fn new(ramp: Arc<SharedRamp>) -> Self {
        RampSize { ramp, counted: 0 }
    }

    /// True when all is moved. `moved` is what this job has moved so far.
    pub(crate) fn is_over(&mut self, moved: u64) -> bool {
        let more = moved.saturating_sub(self.counted);
        self.counted += more;
        let before = match more {
            0 => self.ramp.moved.load(Relaxed),
            more => self.ramp.moved.fetch_add(more, Relaxed),
        };
        before.saturating_add(more) >= self.ramp.size
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::JobSpec;
    use ferrio_plan::testing::{default_job, plan};

    use super::*;

    fn ramps(jobs: &[(u32, bool, u64)]) -> Vec<Option<RampSize>> {
        let job = |&(group, group_reporting, ramp_size): &(u32, bool, u64)| {
            let mut spec = JobSpec { group, group_reporting, ..default_job("a") };
            spec.limits.ramp_size = ramp_size;
            spec
        };
        SharedRamp::of(&plan(jobs.iter().map(job))).into_iter().map(|ramp| ramp.map(RampSize::new)).collect()
    }

    #[test]
    fn a_job_counts_for_itself() {
        let mut ramps = ramps(&[(0, false, 8192), (0, false, 8192), (0, false, 0)]);
        assert!(ramps[2].is_none());
        let first = ramps[0].as_mut().unwrap();
        assert!(!first.is_over(0) && !first.is_over(4096) && !first.is_over(8191) && first.is_over(8192));
        assert!(!ramps[1].as_mut().unwrap().is_over(4096));
    }

    #[test]
    fn jobs_reported_as_one_count_together() {
        let mut ramps = ramps(&[(1, true, 8192), (1, true, 8192), (2, true, 8192)]);
        assert!(!ramps[0].as_mut().unwrap().is_over(4096));
        assert!(!ramps[0].as_mut().unwrap().is_over(4096), "the same bytes");
        assert!(ramps[1].as_mut().unwrap().is_over(4096));
        assert!(ramps[0].as_mut().unwrap().is_over(4096), "the other job moved the rest");
        assert!(!ramps[2].as_mut().unwrap().is_over(4096));
    }
}
