//! Groups of jobs that do their I/Os in fixed proportions: `flow`.

use std::time::Duration;

use ferrio_job::{Flow, JobSpec};
use ferrio_jobfile::{Job, Opt};

use crate::as_written::asks;
use crate::inert::inert;

inert! {
    FlowId FlowSleep:
        |job| !asks(job, Opt::Flow); "the job is in no flow group without `flow`";
}

/// The flow group, if the job is in one.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec) {
    let options = &job.options;
    let weight = options.value(Opt::Flow);
    spec.flow = (weight > 0).then(|| Flow {
        id: options.value(Opt::FlowId),
        weight,
        sleep: Duration::from_micros(options.value(Opt::FlowSleep)),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::spec_of;

    #[test]
    fn a_weight_makes_a_member_of_a_flow_group() {
        let flow_of = |options: &str| spec_of(&format!("[a]\nioengine=null\nsize=1m\n{options}")).flow;
        let flow = flow_of("flow=3\nflow_id=7\nflow_sleep=50\n");
        assert_eq!(flow, Some(Flow { id: 7, weight: 3, sleep: Duration::from_micros(50) }));
        assert_eq!(flow_of("flow_id=7\nflow=0\n"), None);
    }
}
