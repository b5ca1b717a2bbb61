//! What warnings are based on, and what they report.

use ferrio_job::{JobSpec, Plan};
use ferrio_machine::CpuUse;
use ferrio_runner::{JobResult, RunResult};

use crate::environment::RunEnvironment;
use crate::messages::job_names;
use crate::model::JobReport;
use crate::num::{NumberUnit, Prefixes, num};

/// A run as warnings see it.
pub(crate) struct RunView<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) result: &'a RunResult,
    pub(crate) environment: &'a RunEnvironment,
    pub(crate) cpu: CpuUse,
    /// The entries of the report.
    pub(crate) entries: &'a [JobReport],
}

/// A reason why some figures may mislead.
pub(super) struct Finding {
    /// Jobs concerned, as indices into the plan; none for the whole run.
    pub(super) jobs: Vec<usize>,
    pub(super) message: String,
    pub(super) help: &'static str,
}

/// Load from others is not judged in shorter runs, ms.
const LEAST_OBSERVED_MS: u128 = 1000;

impl<'a> RunView<'a> {
    /// All jobs with their results.
    pub(super) fn jobs(&self) -> impl Iterator<Item = (usize, &'a JobSpec, &'a JobResult)> {
        let specs = self.plan.jobs.iter().map(|job| &job.spec);
        specs.zip(&self.result.jobs).enumerate().map(|(index, (spec, result))| (index, spec, result))
    }

    /// Those whose figures the report shows.
    pub(super) fn reported(&self) -> impl Iterator<Item = (usize, &'a JobSpec, &'a JobResult)> {
        self.jobs().filter(|(_, spec, _)| spec.measure.reported)
    }

    /// The run is over: its figures are final.
    pub(super) fn is_over(&self) -> bool {
        self.result.progress.is_none()
    }

    /// Whether a job has files on a block device.
    pub(super) fn is_on_device(&self, job: usize) -> bool {
        let has_device =
            |&place: &usize| self.environment.places.get(place).is_some_and(|place| place.device.is_some());
        self.environment.of_job(job).iter().any(has_device)
    }

    /// The run was long enough to judge load from others.
    pub(super) fn is_long_enough(&self) -> bool {
        self.result.elapsed.as_millis() >= LEAST_OBSERVED_MS
    }

    /// Names of jobs, each once, in order.
    pub(super) fn names(&self, jobs: &[usize]) -> Vec<String> {
        job_names(self.plan, jobs.iter().copied())
    }

    /// Jobs as the subject of a message: `a`, or `64 jobs (a)`.
    pub(super) fn who(&self, jobs: &[usize]) -> String {
        const SHOWN: usize = 3;
        let names = self.names(jobs);
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        let shown = names[..names.len().min(SHOWN)].join(", ");
        if jobs.len() == 1 { shown } else { format!("{} jobs ({shown}{more})", jobs.len()) }
    }
}

/// Bytes for people.
pub(super) fn bytes(bytes: u64) -> String {
    num(bytes, 4, Prefixes::Binary, NumberUnit::Bytes)
}
