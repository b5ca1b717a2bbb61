//! The road from a plan to its figures, for every front end: only this module calls the runner.

use ferrio_job::Plan;
use ferrio_results::{RunEvent, RunResult};
use ferrio_runner::RunOptions;

/// Makes a plan that can run: workers that hang in the kernel outlive the run.
pub fn leak(plan: Plan) -> &'static Plan {
    Box::leak(Box::new(plan))
}

/// Runs a plan to its end. The sink gets all events, on this thread. The senders in the options are dropped, which ends the log writer.
pub fn execute(plan: &'static Plan, options: RunOptions, sink: &mut dyn FnMut(RunEvent<'_>)) -> RunResult {
    ferrio_runner::run(plan, &options, sink)
}
