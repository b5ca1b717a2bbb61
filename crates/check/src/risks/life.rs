//! Jobs that others end before they can do anything.

use ferrio_jobfile::Opt;

use super::{Rule, Run, Told};
use crate::model::Severity;
use crate::section::Section;
use crate::units::time;

pub(super) const RULES: &[Rule] = &[Rule::section("never-starts", Severity::Warning, never_starts)];

/// A job is cancelled, or the run is over, before its time comes.
fn never_starts(run: &Run<'_>, section: &Section<'_>) -> Option<Told> {
    run.report.jobs.get(section.index).filter(|job| job.never_starts)?;
    let timeout = run.report.trigger.as_ref().and_then(|trigger| trigger.timeout_seconds);
    let begins = run.report.phases.iter().take(section.phase.saturating_sub(1));
    let begins: f64 = begins.map(|phase| phase.time.least_seconds).sum();
    let own = section.spec().limits.startdelay.0.as_secs_f64();
    Some(
        match timeout.filter(|&timeout| begins.max(own) >= timeout) {
            Some(timeout) => Told::new(
                format!("never starts: the trigger ends the run after {}", time(timeout)),
                "use a longer --trigger-timeout, or shorter jobs before",
            ),
            None => Told::new(
                "never starts: a job that ends before takes it along (exitall)",
                "take exitall out, use exit_what=stonewall, or let all jobs start together",
            ),
        }
        .blame(&[Opt::WaitFor, Opt::Startdelay, Opt::Stonewall, Opt::Exitall, Opt::ExitWhat]),
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{has, report, risks};

    #[test]
    fn a_job_that_is_ended_before_it_starts_is_told() {
        let text = "[global]\nioengine=null\nsize=1g\nexitall\n[a]\n[b]\nwait_for=a\n";
        let report = report(text);
        let found = risks(&report, "never-starts");
        assert_eq!(
            (found[0].jobs.as_slice(), found[0].origins[0].text.as_str()),
            (&["b".to_owned()][..], "wait_for=a")
        );
        assert_eq!(report.jobs[1].volume.read, Some(0));
        assert!(!has("never-starts", &text.replace("exitall", "exitall\nexit_what=stonewall")));
        assert!(!has("never-starts", &text.replace("exitall\n", "")));
    }
}
