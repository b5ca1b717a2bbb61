//! What the jobs of an entry did since the last look at them.

use std::time::{SystemTime, UNIX_EPOCH};

use ferrio_results::{JobResult, RunResult};

use super::row::{Row, SeenJob};
use crate::num::whole_ms;

/// What the jobs of an entry did since the last look at them.
#[derive(Debug, Default)]
pub(crate) struct EntryLook {
    /// `None` if no job has begun.
    pub(crate) row: Option<Row>,
    /// When the figures of the first job that has begun did so, ms since the start of the run.
    pub(crate) began_ms: u64,
    /// The figures of a job are those of its ramp.
    pub(crate) in_ramp: bool,
    /// When the figures of a job restarted from zero because its ramp was over, ms since the start of the run.
    pub(crate) ramp_end: Option<u64>,
}

impl EntryLook {
    /// Looks at the jobs with these places in the plan. What they did until now counts as seen from now on.
    pub(crate) fn at(jobs: &[usize], seen: &mut [SeenJob], result: &RunResult) -> Self {
        let elapsed_ms = whole_ms(result.elapsed);
        let mut look = EntryLook::default();
        for &index in jobs {
            let Some(job) = result.jobs.get(index).filter(|job| job.start_ms > 0) else { continue };
            let began_ms = began_ms(job, result.started).min(elapsed_ms);
            let end_ms = (began_ms + whole_ms(job.measured)).min(elapsed_ms);
            if look.row.is_none() {
                look.began_ms = began_ms;
            }
            if seen[index].has_restarted(job) {
                look.ramp_end = Some(began_ms);
            }
            look.in_ramp |= job.in_ramp;
            let row = look.row.get_or_insert_default();
            seen[index].add_new(job, row);
            row.end_ms = row.end_ms.max(end_ms);
        }
        look
    }
}

/// When the figures of a job began, ms since the start of the run.
fn began_ms(job: &JobResult, run: SystemTime) -> u64 {
    let run_ms = run.duration_since(UNIX_EPOCH).map_or(0, whole_ms);
    job.start_ms.saturating_sub(run_ms)
}
