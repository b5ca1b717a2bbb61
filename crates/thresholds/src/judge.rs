//! Judges a report by thresholds.

use ferrio_report::model::{JobReport, RunReport, ThresholdReport};

use crate::expression::Threshold;

/// The result of one threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The entry of the document.
    pub report: ThresholdReport,
    /// The message to the user; `None` if the threshold is kept.
    pub message: Option<String>,
    /// The entry with the worst figure, and the limit; `None` if no entry has the figure.
    pub worst: Option<String>,
}

impl Judgement {
    /// Whether the threshold cannot be judged for some entry, or for any.
    #[must_use]
    pub const fn is_unjudged(&self) -> bool {
        self.report.reason.is_some()
    }

    /// Whether an entry exceeds the threshold.
    #[must_use]
    pub const fn is_exceeded(&self) -> bool {
        self.report.exceeded > 0
    }
}

/// Judges the thresholds in their order. The report must have the percentiles that they [need](Threshold::percentile).
#[must_use]
pub fn judge(thresholds: &[Threshold], report: &RunReport) -> Vec<Judgement> {
    thresholds.iter().map(|threshold| judge_one(threshold, &report.jobs)).collect()
}

fn judge_one(threshold: &Threshold, jobs: &[JobReport]) -> Judgement {
    let concerned: Vec<&JobReport> =
        jobs.iter().filter(|job| threshold.names(&job.jobname) && threshold.figure.applies_to(job)).collect();
    let unmeasured = concerned.iter().find(|job| threshold.figure.of(job).is_none());
    let reason = match unmeasured {
        _ if concerned.is_empty() => {
            let named = threshold.job.as_ref().map(|job| format!(" `{job}`")).unwrap_or_default();
            Some(format!("no job{named} of the report has `{}`", threshold.field))
        }
        Some(job) => Some(format!(
            "job {}: `{}` is not measured, or there are no samples",
            job.jobname, threshold.field
        )),
        None => None,
    };
    let figures: Vec<(&JobReport, f64)> =
        concerned.iter().filter_map(|job| Some((*job, threshold.figure.of(job)?))).collect();
    let exceeds = |value: f64| threshold.comparison.holds(value, threshold.limit);
    let exceeded = figures.iter().filter(|(_, value)| exceeds(*value)).count();
    let worst = figures.iter().copied().reduce(|worst, other| {
        let is_worse =
            if threshold.comparison.limits_from_above() { other.1 > worst.1 } else { other.1 < worst.1 };
        if is_worse { other } else { worst }
    });
    let message = match (worst, &reason) {
        (Some((job, value)), _) if exceeded > 0 => {
            let message = exceeded_message(threshold, job, value, exceeded, figures.len());
            Some(reason.iter().fold(message, |message, reason| format!("{message}; {reason}")))
        }
        (_, Some(reason)) => Some(format!("the threshold `{}` cannot be judged: {reason}", threshold.text)),
        _ => None,
    };
    Judgement {
        report: ThresholdReport {
            expression: threshold.text.clone(),
            passed: message.is_none(),
            jobname: worst.map(|(job, _)| job.jobname.clone()),
            groupid: worst.map(|(job, _)| job.groupid),
            value: worst.map(|(_, value)| value),
            limit: threshold.limit,
            exceeded: u64::try_from(exceeded).unwrap_or(u64::MAX),
            reason,
        },
        message,
        worst: worst.map(|(job, value)| {
            let unit = threshold.figure.unit();
            format!(
                "job {} has {}, the limit is {}",
                job.jobname,
                unit.text(value),
                unit.text(threshold.limit)
            )
        }),
    }
}

fn exceeded_message(
    threshold: &Threshold,
    job: &JobReport,
    value: f64,
    exceeded: usize,
    of: usize,
) -> String {
    let shown = threshold.figure.unit().text(value);
    let others = match exceeded {
        1 => String::new(),
        all if all == of => format!("; all {of} jobs exceed it"),
        some => format!("; {some} of {of} jobs exceed it"),
    };
    format!("the threshold `{}` is exceeded: job {} has {shown}{others}", threshold.text, job.jobname)
}

#[cfg(test)]
mod tests {
    use ferrio_report::model::{DirectionReport, Pairs, SyncReport, TextFigures};

    use super::*;

    /// A job that did reads with this rate and 99th percentile.
    fn job(name: &str, iops: f64, p99: u64) -> JobReport {
        let mut read = DirectionReport { iops, total_ios: 100, bw_bytes: 4096, ..DirectionReport::default() };
        read.clat_ns.samples = 100;
        read.clat_ns.mean = p99 as f64 / 2.0;
        read.clat_ns.unlisted = Pairs(vec![(99.0, p99)]);
        JobReport {
            jobname: name.to_owned(),
            read: Some(read),
            write: Some(DirectionReport::default()),
            sync: Some(SyncReport::default()),
            text: TextFigures { does: [true, false, false], ..TextFigures::default() },
            ..JobReport::default()
        }
    }

    fn judged(text: &str, jobs: Vec<JobReport>) -> Judgement {
        let report = RunReport { jobs, ..RunReport::default() };
        judge(&[Threshold::parse(text).unwrap()], &report).remove(0)
    }

    #[test]
    fn the_worst_of_all_jobs_counts() {
        let jobs = || vec![job("a", 100.0, 4_000_000), job("b", 50.0, 7_213_000), job("c", 200.0, 6_000_000)];
        let above = judged("read.clat.p99 > 5ms", jobs());
        let want =
            "the threshold `read.clat.p99 > 5ms` is exceeded: job b has 7.213 ms; 2 of 3 jobs exceed it";
        assert_eq!(above.message.as_deref(), Some(want));
        assert_eq!(
            (above.report.passed, above.report.exceeded, above.report.value),
            (false, 2, Some(7_213_000.0))
        );
        let below = judged("read.iops < 60", jobs());
        assert_eq!(
            below.message.as_deref(),
            Some("the threshold `read.iops < 60` is exceeded: job b has 50")
        );
        let kept = judged("read.iops < 50", jobs());
        assert_eq!(
            (kept.message, kept.report.passed, kept.report.jobname.as_deref()),
            (None, true, Some("b"))
        );
        let all = judged("read.iops <= 200", jobs());
        assert!(all.message.unwrap().ends_with("; all 3 jobs exceed it"));
    }

    #[test]
    fn a_job_can_be_named() {
        let jobs = || vec![job("a", 100.0, 1), job("b", 50.0, 1)];
        assert!(judged("a: read.iops < 60", jobs()).report.passed);
        assert!(judged("b: read.iops < 60", jobs()).is_exceeded());
    }

    #[test]
    fn a_job_that_exceeds_does_not_hide_one_that_cannot_be_judged() {
        let mut unmeasured = job("a", 100.0, 1);
        unmeasured.read.as_mut().unwrap().clat_ns.samples = 0;
        let found = judged("read.clat.p99 > 1ms", vec![unmeasured, job("b", 1.0, 2_000_000)]);
        assert!(found.is_exceeded() && found.is_unjudged());
        assert!(
            found
                .message
                .unwrap()
                .ends_with("; job a: `read.clat.p99` is not measured, or there are no samples")
        );
    }

    #[test]
    fn what_cannot_be_judged_has_not_passed() {
        let reason = |text| {
            let found = judged(text, vec![job("a", 100.0, 1)]);
            assert!(!found.report.passed && !found.is_exceeded() && found.message.is_some(), "{text}");
            found.report.reason.unwrap()
        };
        assert_eq!(reason("write.iops < 60"), "no job of the report has `write.iops`");
        assert_eq!(reason("b: read.iops < 60"), "no job `b` of the report has `read.iops`");
        assert_eq!(reason("sync.lat.p99 > 1ms"), "no job of the report has `sync.lat.p99`");
        let unmeasured = "job a: `read.lat.mean` is not measured, or there are no samples";
        assert_eq!(reason("read.lat.mean > 1ms"), unmeasured);
    }

    #[test]
    fn a_job_that_did_nothing_of_what_it_should_have_done_has_a_rate_of_zero() {
        let mut idle = job("a", 0.0, 0);
        idle.read = Some(DirectionReport::default());
        let found = judged("read.iops < 60", vec![idle, job("b", 100.0, 1)]);
        assert_eq!((found.report.jobname.as_deref(), found.report.value), (Some("a"), Some(0.0)));
        assert!(found.is_exceeded());
    }
}
