//! Figures of the jobs of an entry since the previous sample.

use std::time::{SystemTime, UNIX_EPOCH};

use ferrio_results::{JobResult, RunResult};

use super::row::{SampledJob, SeriesRow};
use crate::num::whole_ms;

/// Figures of the jobs of an entry since the previous sample.
#[derive(Debug, Default)]
pub(crate) struct EntrySample {
    /// `None` if no job has begun.
    pub(crate) row: Option<SeriesRow>,
    /// Time at which the figures of the first job that has begun started, in ms since the start of the run.
    pub(crate) began_ms: u64,
    /// True if the figures of a job are those of its ramp.
    pub(crate) in_ramp: bool,
    /// Time at which the figures of a job restarted from zero because its ramp was over, in ms since the start of the run.
    pub(crate) ramp_end: Option<u64>,
}

impl EntrySample {
    /// Samples the jobs with these plan indices, and updates `seen`.
    pub(crate) fn at(jobs: &[usize], seen: &mut [SampledJob], result: &RunResult) -> Self {
        let elapsed_ms = whole_ms(result.elapsed);
        let mut sample = EntrySample::default();
        for &index in jobs {
            let Some(job) = result.jobs.get(index).filter(|job| job.start_ms > 0) else { continue };
            let began_ms = began_ms(job, result.started).min(elapsed_ms);
            let end_ms = (began_ms + whole_ms(job.measured)).min(elapsed_ms);
            if sample.row.is_none() {
                sample.began_ms = began_ms;
            }
            if seen[index].has_restarted(job) {
                sample.ramp_end = Some(began_ms);
            }
            sample.in_ramp |= job.in_ramp;
            let row = sample.row.get_or_insert_default();
            seen[index].add_new(job, row);
            row.end_ms = row.end_ms.max(end_ms);
        }
        sample
    }
}

/// Time at which the figures of a job started, in ms since the start of the run.
fn began_ms(job: &JobResult, run: SystemTime) -> u64 {
    let run_ms = run.duration_since(UNIX_EPOCH).map_or(0, whole_ms);
    job.start_ms.saturating_sub(run_ms)
}
