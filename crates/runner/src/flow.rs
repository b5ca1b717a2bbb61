//! Flow groups: jobs with one `flow_id` do their I/Os in the proportions of their weights (`flow`).
//!
//! The members of a group share two counters: the sum of their weights and the number of turns they took. A member may take its
//! next turn when its own share of the turns is at most its share of the weights; there is always one that may. Only jobs that do
//! I/O count: a job joins when it is released and leaves when it has ended. A job that joins late starts with the turns it would have
//! taken, so that it does not run alone until it has caught up.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

use ferrio_job::{Flow, Plan};

/// A job that ended still counts for this long. Jobs with equal run times that were not released at the very
/// same moment then end with the right proportions: no job does I/O alone meanwhile.
const LEAVE_DELAY: Duration = Duration::from_millis(50);

/// The flow groups of a run, as the main thread keeps them.
#[derive(Debug, Default)]
pub(crate) struct FlowGroups {
    /// Per job.
    members: Vec<Option<Arc<FlowMember>>>,
    /// Jobs that ended, and when they leave.
    leaving: Vec<(Instant, Arc<FlowMember>)>,
}

/// State shared by the members of a group.
#[derive(Debug)]
struct FlowGroup {
    /// Sum over all members that do I/O.
    weights: AtomicU64,
    /// Turns taken by these members, plus 1.
    turns: AtomicU64,
}

/// The membership of a job in its group.
#[derive(Debug)]
pub(crate) struct FlowMember {
    group: Arc<FlowGroup>,
    weight: u64,
    turns: AtomicU64,
    joined: AtomicBool,
}

impl FlowGroups {
    /// The groups of a plan, before any job does I/O.
    pub(crate) fn new(plan: &Plan) -> Self {
        let mut groups: HashMap<u32, Arc<FlowGroup>> = HashMap::new();
        let new_group = || Arc::new(FlowGroup { weights: AtomicU64::new(0), turns: AtomicU64::new(1) });
        let mut member = |flow: Flow| {
            let group = Arc::clone(groups.entry(flow.id).or_insert_with(new_group));
            Arc::new(FlowMember::new(group, u64::from(flow.weight)))
        };
        let members = plan.jobs.iter().map(|job| job.spec.flow.map(&mut member)).collect();
        FlowGroups { members, leaving: Vec::new() }
    }

    /// The membership of a job; `None` if it is in no group.
    pub(crate) fn member(&self, job: usize) -> Option<&Arc<FlowMember>> {
        self.members.get(job)?.as_ref()
    }

    /// Schedules the removal of a job that has ended.
    pub(crate) fn ended(&mut self, job: usize, now: Instant) {
        if let Some(member) = self.members.get_mut(job).and_then(Option::take) {
            self.leaving.push((now + LEAVE_DELAY, member));
        }
    }

    /// Removes the jobs whose grace is over. Returns the time until the next one leaves.
    pub(crate) fn poll(&mut self, now: Instant) -> Duration {
        self.leaving.retain(|(at, member)| {
            let stays = *at > now;
            if !stays {
                member.leave();
            }
            stays
        });
        let next = self.leaving.iter().map(|(at, _)| at.saturating_duration_since(now)).min();
        next.unwrap_or(Duration::MAX)
    }
}

impl FlowMember {
    fn new(group: Arc<FlowGroup>, weight: u64) -> Self {
        FlowMember { group, weight, turns: AtomicU64::new(0), joined: AtomicBool::new(false) }
    }

    /// Adds the job to the group. A second call does nothing.
    pub(crate) fn join(&self) {
        if self.joined.swap(true, Relaxed) {
            return;
        }
        let FlowGroup { weights, turns } = &*self.group;
        let before = weights.load(Acquire);
        let taken = u128::from(turns.load(Relaxed).saturating_sub(1));
        let own = match before {
            0 => 0,
            others => u64::try_from(taken * u128::from(self.weight) / u128::from(others)).unwrap_or(0),
        };
        self.turns.store(own, Relaxed);
        turns.fetch_add(own, Relaxed);
        weights.fetch_add(self.weight, Release);
    }

    /// Removes the job from the group.
    fn leave(&self) {
        if self.joined.swap(false, Relaxed) {
            self.group.turns.fetch_sub(self.turns.load(Relaxed), Relaxed);
            self.group.weights.fetch_sub(self.weight, Release);
        }
    }

    /// True when the job may take its next turn; several members may at once.
    pub(crate) fn may_take_turn(&self) -> bool {
        let own = u128::from(self.turns.load(Relaxed));
        let (weights, turns) = (self.group.weights.load(Acquire), self.group.turns.load(Relaxed));
        own * u128::from(weights) <= u128::from(self.weight) * u128::from(turns)
    }

    /// Takes a turn if the job may; returns whether it did. Only the job itself calls this.
    pub(crate) fn take_turn(&self) -> bool {
        let may_take_turn = self.may_take_turn();
        if may_take_turn {
            self.turns.fetch_add(1, Relaxed);
            self.group.turns.fetch_add(1, Relaxed);
        }
        may_take_turn
    }
}

#[cfg(test)]
mod tests {
    use ferrio_job::Flow;
    use ferrio_plan::testing::{default_job, plan};

    use super::*;

    /// A plan of jobs with these ids and weights.
    fn flows(jobs: &[(u32, u32)]) -> FlowGroups {
        let job = |&(id, weight): &(u32, u32)| {
            let mut spec = default_job("a");
            spec.flow = (weight > 0).then_some(Flow { id, weight, sleep: Duration::ZERO });
            spec
        };
        FlowGroups::new(&plan(jobs.iter().map(job)))
    }

    /// Turns that jobs take when each tries again and again, until all have tried this often.
    fn turns(flows: &FlowGroups, jobs: &[usize], tries: usize) -> Vec<usize> {
        let mut taken = vec![0; jobs.len()];
        for _ in 0..tries {
            for (taken, &job) in taken.iter_mut().zip(jobs) {
                *taken += usize::from(flows.member(job).unwrap().take_turn());
            }
        }
        taken
    }

    fn join(flows: &FlowGroups, jobs: &[usize]) {
        jobs.iter().for_each(|&job| flows.member(job).unwrap().join());
    }

    #[test]
    fn turns_are_in_proportion_to_the_weights() {
        let flows = flows(&[(7, 3), (7, 1)]);
        join(&flows, &[0, 1]);
        let taken = turns(&flows, &[0, 1], 3000);
        assert!(taken[0].abs_diff(3 * taken[1]) <= 4, "{taken:?}");
        assert_eq!(taken[0], 3000, "the heavier one is hardly ever held back");
    }

    #[test]
    fn jobs_of_another_group_or_of_none_do_not_matter() {
        let flows = flows(&[(1, 3), (2, 500), (0, 0)]);
        assert!(flows.member(2).is_none() && flows.member(9).is_none());
        join(&flows, &[0, 1]);
        assert_eq!(turns(&flows, &[0], 100), [100]);
    }

    #[test]
    fn a_job_that_has_not_started_holds_nobody_back() {
        let flows = flows(&[(0, 1), (0, 1000)]);
        join(&flows, &[0]);
        assert_eq!(turns(&flows, &[0], 100), [100]);
    }

    #[test]
    fn who_joins_late_does_not_catch_up() {
        let flows = flows(&[(0, 2), (0, 2), (0, 1)]);
        join(&flows, &[0]);
        assert_eq!(turns(&flows, &[0], 10_000), [10_000]);
        join(&flows, &[1, 2]);
        join(&flows, &[1]);
        let taken = turns(&flows, &[0, 1, 2], 1000);
        assert!(taken[0].abs_diff(taken[1]) <= 3 && taken[0].abs_diff(2 * taken[2]) <= 5, "{taken:?}");
    }

    #[test]
    fn who_has_ended_leaves_the_others_their_proportions_after_a_while() {
        let mut flows = flows(&[(0, 1), (0, 1), (0, 1)]);
        join(&flows, &[0, 1, 2]);
        turns(&flows, &[0, 1, 2], 99);
        let now = Instant::now();
        flows.ended(0, now);
        assert!(turns(&flows, &[1], 10)[0] <= 2, "it still counts");
        assert_eq!(flows.poll(now), LEAVE_DELAY);
        assert_eq!(flows.poll(now + LEAVE_DELAY), Duration::MAX);
        let taken = turns(&flows, &[1, 2], 1000);
        assert!(taken[0].abs_diff(taken[1]) <= 3 && taken[0] >= 995, "{taken:?}");
        flows.ended(2, now);
        flows.poll(now + LEAVE_DELAY);
        assert_eq!(turns(&flows, &[1], 100), [100]);
    }

    #[test]
    fn there_is_always_somebody_whose_turn_it_is() {
        let flows = flows(&[(0, 997), (0, 1), (0, 31), (0, 500)]);
        join(&flows, &[0, 1]);
        for round in 0..20_000 {
            match round {
                77 => join(&flows, &[2]),
                5_000 => join(&flows, &[3]),
                _ => {}
            }
            assert!((0..4).any(|job| flows.member(job).unwrap().may_take_turn()), "{round}");
            let next = (0..4).find(|&job| {
                let member = flows.member(job).unwrap();
                member.joined.load(Relaxed) && member.may_take_turn()
            });
            assert!(flows.member(next.unwrap()).unwrap().take_turn());
        }
    }
}
