//! Compares the figures of each side with those of the first.

use ferrio_job::in_one_line;
use ferrio_report::model::JobReport;
use serde::Serialize;

use crate::change::{ChangeVerdict, FigureRow, JobRows, absent_figures, job_rows, judge_together};
use crate::conditions::{ConditionDifference, differences};
use crate::figures::Values;
use crate::job_entry::{DIRECTIONS, JobEntry, JobKey, direction_of, entries_of, entry_of, keys};
use crate::measured_run::MeasuredRun;
use crate::read::Side;

/// The result of a comparison: every figure of every side against the first.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Version of this document.
    pub format: u32,
    /// Confidence of intervals and verdicts, percent.
    pub confidence: f64,
    /// The sides; each is compared with the first.
    pub sides: Vec<ComparedSide>,
    /// Conditions that differ between sides.
    pub differences: Vec<ConditionDifference>,
    /// Jobs and directions that all sides have.
    pub jobs: Vec<JobRows>,
    /// Parts that some run lacks, which are not compared: jobs by name; directions of jobs without I/O, such as `a (write)`; figures of
    /// directions, such as `a (write): latency p99.9`.
    pub missing: Vec<String>,
    /// The missing parts that every run of the first side has, so that a regression may have removed them.
    #[serde(skip)]
    pub lost: Vec<MissingPart>,
    /// Jobs that ended with an error.
    pub failed: Vec<FailedJob>,
}

/// A part that every run of the first side has and another side lacks: a job or a figure in some run, or a direction in all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPart {
    /// The name in [`Comparison::missing`].
    pub name: String,
    /// Index of the side that lacks it.
    pub side: usize,
    /// Number of its runs that lack it.
    pub runs: usize,
}

impl MissingPart {
    /// One entry for each side with a run that lacks the part; none if a run of the first side lacks it.
    fn on<T>(name: &str, sides: &[impl AsRef<[T]>], has: impl Fn(&T) -> bool) -> Vec<Self> {
        let lacking = |runs: &[T]| runs.iter().filter(|run| !has(run)).count();
        let counts: Vec<usize> = sides.iter().map(|runs| lacking(runs.as_ref())).collect();
        if counts.first().is_none_or(|&first| first > 0) {
            return Vec::new();
        }
        let lost = |(side, runs)| MissingPart { name: name.to_owned(), side, runs };
        counts.into_iter().enumerate().filter(|(_, runs)| *runs > 0).map(lost).collect()
    }
}

/// A job that ended with an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedJob {
    /// Index of the side.
    pub side: usize,
    pub jobname: String,
    /// Number of runs in which it failed.
    pub runs: usize,
    /// The errno of the first of them.
    pub error: i32,
    /// Whether every run of the first side has the job and none failed.
    #[serde(skip)]
    pub is_new: bool,
}

/// A side in the result.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedSide {
    /// The path as given.
    pub name: String,
    /// Number of runs.
    pub runs: usize,
    /// Whether this side or the first is a single run whose noise is estimated from its parts alone. The verdicts are then about these runs
    /// and say nothing about other runs. Absent for the first side.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub within_runs: bool,
    /// All figures judge_together against the first side; absent for the first side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<ChangeVerdict>,
}

impl Comparison {
    /// The figures that became worse by more than `percent` and by more than noise among all figures.
    #[must_use]
    pub fn regressions(&self, percent: f64) -> Vec<(&JobRows, &FigureRow)> {
        let rows = self.jobs.iter().flat_map(|job| job.figures.iter().map(move |row| (job, row)));
        let is_worse = |row: &FigureRow| {
            row.changes.iter().flatten().any(|change| change.is_regression(row.figure, percent))
        };
        rows.filter(|(_, row)| is_worse(row)).collect()
    }

    /// Jobs that every run of the first side has, and that failed on another side and not on the first.
    pub fn newly_failed(&self) -> impl Iterator<Item = &FailedJob> {
        self.failed.iter().filter(|job| job.is_new)
    }

    /// A sentence about a missing part.
    #[must_use]
    pub fn describe_missing(&self, lost: &MissingPart) -> String {
        let (first, other) = (&self.sides[0].name, &self.sides[lost.side]);
        let name = in_one_line(&lost.name);
        format!(
            "{name} is in every run of {first}, but not in {} of {} of {}",
            lost.runs, other.runs, other.name
        )
    }

    /// A sentence about a job that failed on a side and not on the first.
    #[must_use]
    pub fn describe_failure(&self, job: &FailedJob) -> String {
        let (first, other) = (&self.sides[0].name, &self.sides[job.side]);
        let name = in_one_line(&job.jobname);
        format!(
            "job {name} failed in {} of {} runs of {}, and in none of {first}",
            job.runs, other.runs, other.name
        )
    }
}

/// Compares the sides, of which there are at least two. The confidence is in percent, from 50 to
/// [`MAX_CONFIDENCE`](crate::MAX_CONFIDENCE).
#[must_use]
pub fn compare(sides: &[Side], confidence: f64) -> Comparison {
    let (mut missing, mut lost, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let mut jobs = Vec::new();
    for key in keys(sides) {
        let is_sound = failures(sides, 0, &key).is_none() && entries_of(&sides[..1], &key).is_some();
        let failures = (0..sides.len()).filter_map(|side| failures(sides, side, &key));
        failed.extend(failures.map(|failed| FailedJob { is_new: is_sound, ..failed }));
        let Some(entries) = entries_of(sides, &key) else {
            let runs: Vec<&[MeasuredRun]> = sides.iter().map(|side| side.runs.as_slice()).collect();
            lost.extend(MissingPart::on(&key.0, &runs, |run| entry_of(run, &key).is_some()));
            missing.push(key.0);
            continue;
        };
        for direction in DIRECTIONS {
            let rows = job_rows(&key.0, direction, &entries, confidence);
            let has = |entry: &JobEntry<'_>| direction_of(*entry, direction).is_some();
            if rows.is_none() && entries.iter().flatten().any(has) {
                let name = format!("{} ({direction})", key.0);
                // A rare direction may be missing from a run by chance.
                let is_gone = |lost: &MissingPart| lost.runs == entries[lost.side].len();
                lost.extend(MissingPart::on(&name, &entries, has).into_iter().filter(is_gone));
                missing.push(name);
            }
            for figure in rows.iter().flat_map(absent_figures) {
                let has = |entry: &JobEntry<'_>| {
                    direction_of(*entry, direction)
                        .is_some_and(|found| Values::of(figure, &[found]).is_some())
                };
                if entries.iter().flatten().any(has) {
                    let name = format!("{} ({direction}): {}", key.0, figure.name());
                    lost.extend(MissingPart::on(&name, &entries, has));
                    missing.push(name);
                }
            }
            jobs.extend(rows);
        }
    }
    let verdicts: Vec<ChangeVerdict> =
        (1..sides.len()).map(|other| judge_together(&mut jobs, other - 1, confidence)).collect();
    let verdicts = std::iter::once(None).chain(verdicts.into_iter().map(Some));
    Comparison {
        format: 1,
        confidence,
        sides: sides
            .iter()
            .zip(verdicts)
            .map(|(side, verdict)| ComparedSide {
                name: side.name.clone(),
                runs: side.runs.len(),
                within_runs: verdict.is_some_and(|verdict| verdict != ChangeVerdict::Unknown)
                    && (side.runs.len() == 1 || sides[0].runs.len() == 1),
                verdict,
            })
            .collect(),
        differences: differences(sides),
        jobs,
        missing,
        lost,
        failed,
    }
}

/// The failures of a job on a side. Tolerated errors are not failures.
fn failures(sides: &[Side], side: usize, key: &JobKey) -> Option<FailedJob> {
    let jobs = sides[side].runs.iter().filter_map(|run| Some(entry_of(run, key)?.job()));
    let tolerates = |job: &JobReport| job.tolerated.is_some_and(|tolerated| tolerated.total_err > 0);
    let failed: Vec<&JobReport> = jobs.filter(|job| job.error != 0 && !tolerates(job)).collect();
    let error = failed.first()?.error;
    Some(FailedJob { side, jobname: key.0.clone(), runs: failed.len(), error, is_new: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_that_lacks_something_is_told() {
        let lost = |sides: &[Vec<bool>]| {
            let lost = MissingPart::on("a", sides, |has| *has);
            lost.iter().map(|lost| (lost.side, lost.runs)).collect::<Vec<_>>()
        };
        let (all, some, none) = (vec![true; 2], vec![true, false, false, false], vec![false; 2]);
        assert_eq!(lost(&[all.clone(), some.clone(), none.clone(), all.clone()]), [(1, 3), (2, 2)]);
        assert_eq!(lost(&[some, none, all]), []);
    }
}
