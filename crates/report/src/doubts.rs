//! When a figure is doubtful: one function per doubt, one file per subject. Plan, result and setting are all that they look at.
//!
//! A doubt has a code of docs/messages.md, where it can, that of the same risk in `ferrio check`. What many jobs share is told once.

mod balance;
mod cache;
mod clock;
mod cpu;
mod memory;
mod other_load;
mod rate;
mod samples;
mod short_run;
#[cfg(test)]
mod testing;

use ferrio_job::{JobSpec, Plan};
use ferrio_machine::CpuUse;
use ferrio_runner::{JobResult, RunResult};

use crate::Setting;
use crate::build::job_names;
use crate::model::{JobReport, Warning};
use crate::num::{Prefixes, Unit, num};

/// Everything a doubt may look at.
pub(crate) struct Look<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) result: &'a RunResult,
    pub(crate) setting: &'a Setting,
    pub(crate) cpu: CpuUse,
    /// The entries of the report.
    pub(crate) entries: &'a [JobReport],
}

/// One doubt.
struct Doubt {
    code: &'static str,
    look: fn(&Look<'_>) -> Vec<Told>,
}

const DOUBTS: [Doubt; 13] = [
    Doubt { code: "short-run", look: short_run::short_run },
    Doubt { code: "few-ios", look: samples::few_ios },
    Doubt { code: "cached-reads", look: cache::cached_reads },
    Doubt { code: "buffered-writes", look: cache::buffered_writes },
    Doubt { code: "sparse-reads", look: cache::sparse_reads },
    Doubt { code: "memory-device", look: memory::memory_device },
    Doubt { code: "cached-device", look: memory::cached_device },
    Doubt { code: "worker-saturated", look: cpu::worker_saturated },
    Doubt { code: "cpus-saturated", look: cpu::cpus_saturated },
    Doubt { code: "clock-not-invariant", look: clock::not_invariant },
    Doubt { code: "rate-not-held", look: rate::not_held },
    Doubt { code: "other-disk-load", look: other_load::of_disks },
    Doubt { code: "other-cpu-load", look: other_load::of_cpus },
];

/// What a doubt has to say.
struct Told {
    /// Jobs concerned, as indices into the plan; none for the whole run.
    jobs: Vec<usize>,
    message: String,
    help: &'static str,
}

/// Shorter runs say nothing about what happened beside them, ms.
const LEAST_OBSERVED_MS: u128 = 1000;

impl<'a> Look<'a> {
    /// All jobs with their results.
    fn jobs(&self) -> impl Iterator<Item = (usize, &'a JobSpec, &'a JobResult)> {
        let specs = self.plan.jobs.iter().map(|job| &job.spec);
        specs.zip(&self.result.jobs).enumerate().map(|(index, (spec, result))| (index, spec, result))
    }

    /// Those whose figures the report shows.
    fn reported(&self) -> impl Iterator<Item = (usize, &'a JobSpec, &'a JobResult)> {
        self.jobs().filter(|(_, spec, _)| spec.measure.reported)
    }

    /// The run is over: figures are no longer those of its beginning.
    fn is_over(&self) -> bool {
        self.result.progress.is_none()
    }

    /// Whether a job has files on a block device.
    fn is_on_device(&self, job: usize) -> bool {
        let has_device =
            |&place: &usize| self.setting.places.get(place).is_some_and(|place| place.device.is_some());
        self.setting.of_job(job).iter().any(has_device)
    }

    /// The run was long enough to tell what happened beside it.
    fn is_long_enough(&self) -> bool {
        self.result.elapsed.as_millis() >= LEAST_OBSERVED_MS
    }

    /// Names of jobs, each once, in order.
    fn names(&self, jobs: &[usize]) -> Vec<String> {
        job_names(self.plan, jobs.iter().copied())
    }

    /// Jobs as the subject of a message: `a`, or `64 jobs (a)`.
    fn who(&self, jobs: &[usize]) -> String {
        const SHOWN: usize = 3;
        let names = self.names(jobs);
        let more = if names.len() > SHOWN { ", ..." } else { "" };
        let shown = names[..names.len().min(SHOWN)].join(", ");
        if jobs.len() == 1 { shown } else { format!("{} jobs ({shown}{more})", jobs.len()) }
    }
}

/// The codes of all doubts, which are those of warnings.
pub fn codes() -> impl Iterator<Item = &'static str> {
    DOUBTS.iter().map(|doubt| doubt.code)
}

/// All doubts about a run.
pub(crate) fn find(look: &Look<'_>) -> Vec<Warning> {
    let told = DOUBTS.iter().flat_map(|doubt| (doubt.look)(look).into_iter().map(|told| (doubt.code, told)));
    told.map(|(code, told)| Warning {
        code: code.into(),
        jobs: look.names(&told.jobs),
        count: u64::try_from(told.jobs.len()).unwrap_or(u64::MAX),
        message: told.message,
        help: told.help.to_owned(),
    })
    .collect()
}

/// Bytes for people.
fn bytes(bytes: u64) -> String {
    num(bytes, 4, Prefixes::Binary, Unit::Bytes)
}
