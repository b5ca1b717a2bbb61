//! Compares the figures of each side with those of the first.

use ferrio_job::in_one_line;
use ferrio_report::Unit;
use ferrio_report::model::{DirectionReport, JobReport};
use serde::Serialize;

use crate::conditions::{ConditionDifference, differences};
use crate::figures::{Figure, Values};
use crate::read::{MeasuredRun, Side};
use crate::run_parts::{RunPart, pieces};
use crate::statistics::{Estimate, Interval, estimate};

/// Settings of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct CompareOptions {
    /// Confidence of intervals and verdicts, percent: from 50 to [`MAX_CONFIDENCE`](crate::MAX_CONFIDENCE).
    pub confidence: f64,
}

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
    /// All figures together against the first side; absent for the first side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<ChangeVerdict>,
}

/// The figures of one direction of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobRows {
    /// Name of the job.
    pub jobname: String,
    /// `read`, `write`, `trim` or `mixed`.
    pub direction: &'static str,
    /// The figures that all sides have.
    pub figures: Vec<FigureRow>,
}

/// One figure on all sides.
#[derive(Clone, Debug, Serialize)]
pub struct FigureRow {
    /// The figure.
    pub figure: Figure,
    /// The unit.
    pub unit: Unit,
    /// The figure on each side.
    pub values: Vec<f64>,
    /// The change from the first side to each of the others; `null` where the first value is 0.
    pub changes: Vec<Option<Change>>,
}

/// The change of a figure against the first side.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Change {
    /// In percent of the first side.
    pub percent: f64,
    /// Lower and upper bound of the true change in percent. Absent if a side is one run without figures over time, or if the noise has no
    /// bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Probability that noise alone changes the figure as much, 0 to 1; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// The verdict on this figure alone.
    pub verdict: ChangeVerdict,
    /// Whether the change is still more than noise when all figures of the side are judged together.
    pub counts: bool,
}

/// The verdict on one figure or on all figures of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeVerdict {
    /// More than noise, for the better.
    Better,
    /// More than noise, for the worse.
    Worse,
    /// More than noise, with both better and worse figures; only for several figures together.
    Mixed,
    /// Not more than noise.
    NoDifference,
    /// A side is one run without figures over time, so its noise is unknown.
    Unknown,
}

impl Change {
    /// Whether the figure became worse by more than noise among all figures, and by more than `percent`.
    pub(crate) fn is_regression(&self, figure: Figure, percent: f64) -> bool {
        let worse = if figure.more_is_better() { -self.percent } else { self.percent };
        self.counts && worse > percent
    }
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

/// Compares the sides, of which there are at least two.
#[must_use]
pub fn compare(sides: &[Side], options: CompareOptions) -> Comparison {
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
        for direction in ["read", "write", "trim", "mixed"] {
            let rows = job_rows(&key.0, direction, &entries, options);
            let has = |entry: &JobEntry<'_>| direction_of(entry.job(), direction).is_some();
            if rows.is_none() && entries.iter().flatten().any(has) {
                let name = format!("{} ({direction})", key.0);
                // A rare direction may be missing from a run by chance.
                let is_gone = |lost: &MissingPart| lost.runs == entries[lost.side].len();
                lost.extend(MissingPart::on(&name, &entries, has).into_iter().filter(is_gone));
                missing.push(name);
            }
            for figure in rows.iter().flat_map(absent_figures) {
                let has = |entry: &JobEntry<'_>| {
                    direction_of(entry.job(), direction)
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
        (1..sides.len()).map(|other| together(&mut jobs, other - 1, options)).collect();
    let verdicts = std::iter::once(None).chain(verdicts.into_iter().map(Some));
    Comparison {
        format: 1,
        confidence: options.confidence,
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

/// A job: its name, and the number of earlier jobs of that name in its report.
pub(crate) type JobKey = (String, usize);

/// All jobs in the order of their first appearance.
pub(crate) fn keys(sides: &[Side]) -> Vec<JobKey> {
    let mut all: Vec<JobKey> = Vec::new();
    for run in sides.iter().flat_map(|side| &side.runs) {
        for (index, job) in run.report.jobs.iter().enumerate() {
            let before = run.report.jobs[..index].iter().filter(|other| other.jobname == job.jobname).count();
            let key = (job.jobname.clone(), before);
            if !all.contains(&key) {
                all.push(key);
            }
        }
    }
    all
}

/// A job in one run.
#[derive(Clone, Copy)]
pub(crate) struct JobEntry<'a> {
    run: &'a MeasuredRun,
    /// Index among the jobs of the run.
    at: usize,
}

impl<'a> JobEntry<'a> {
    pub(crate) fn job(self) -> &'a JobReport {
        &self.run.report.jobs[self.at]
    }
}

/// The entry of a job in each run of each side; `None` if a run lacks it.
pub(crate) fn entries_of<'a>(sides: &'a [Side], key: &JobKey) -> Option<Vec<Vec<JobEntry<'a>>>> {
    sides.iter().map(|side| side.runs.iter().map(|run| entry_of(run, key)).collect()).collect()
}

fn entry_of<'a>(run: &'a MeasuredRun, key: &JobKey) -> Option<JobEntry<'a>> {
    let named = run.report.jobs.iter().enumerate().filter(|(_, job)| job.jobname == key.0);
    named.map(|(at, _)| JobEntry { run, at }).nth(key.1)
}

/// The report of a direction; `None` if the job did no I/O in it.
pub(crate) fn direction_of<'a>(job: &'a JobReport, direction: &str) -> Option<&'a DirectionReport> {
    let (_, found) = job.shown_directions().into_iter().find(|(name, _)| *name == direction)?;
    (found.total_ios > 0).then_some(found)
}

/// A direction of a job on one side.
struct SideFigures {
    runs: Vec<DirectionReport>,
    /// The parts of the only run.
    pieces: Option<Vec<RunPart>>,
}

impl SideFigures {
    /// `None` if a run has no such I/O.
    fn of(direction: &'static str, entries: &[JobEntry<'_>]) -> Option<Self> {
        let of = |entry: &JobEntry<'_>| direction_of(entry.job(), direction).cloned();
        let pieces = match entries {
            [only] => pieces(only.run.series(), &only.run.report.jobs, only.at, direction),
            _ => None,
        };
        Some(SideFigures { runs: entries.iter().map(of).collect::<Option<_>>()?, pieces })
    }

    /// The values of a figure in the runs.
    fn values(&self, figure: Figure) -> Option<Values> {
        Values::of(figure, &self.runs.iter().collect::<Vec<_>>())
    }

    /// The sample that shows the noise of a figure: the parts of the only run, otherwise the runs.
    fn noise(&self, figure: Figure) -> Option<Values> {
        match &self.pieces {
            Some(pieces) => Values::of_pieces(figure, pieces),
            None => self.values(figure),
        }
    }
}

/// The figures of a direction; `None` if a run has no such I/O.
fn job_rows(
    jobname: &str,
    direction: &'static str,
    entries: &[Vec<JobEntry<'_>>],
    options: CompareOptions,
) -> Option<JobRows> {
    let sides: Vec<SideFigures> =
        entries.iter().map(|runs| SideFigures::of(direction, runs)).collect::<Option<_>>()?;
    let figures = Figure::ALL.into_iter().filter_map(|figure| figure_row(figure, &sides, options));
    Some(JobRows { jobname: jobname.to_owned(), direction, figures: figures.collect() })
}

/// The figures that are not in the rows because a run lacks them.
fn absent_figures(rows: &JobRows) -> impl Iterator<Item = Figure> {
    Figure::ALL.into_iter().filter(|figure| rows.figures.iter().all(|row| row.figure != *figure))
}

fn figure_row(figure: Figure, sides: &[SideFigures], options: CompareOptions) -> Option<FigureRow> {
    let values: Vec<f64> =
        sides.iter().map(|side| side.values(figure).map(|values| values.whole())).collect::<Option<_>>()?;
    let noises: Vec<Option<Values>> = sides.iter().map(|side| side.noise(figure)).collect();
    let changes = values.iter().zip(&noises).skip(1).map(|(value, noise)| {
        let change = value / values[0] - 1.0;
        let change = Some(change).filter(|change| change.is_finite() && *change > -1.0)?;
        let estimate = match (&noises[0], noise) {
            (Some(first), Some(other)) => estimate(change, first, other, options.confidence)?,
            _ => Estimate { change, interval: None, chance: None },
        };
        let interval = estimate.interval.filter(|interval| interval.high.is_finite());
        let interval = interval.map(|Interval { low, high }| [100.0 * low, 100.0 * high]);
        let is_noise = estimate.chance.map(|chance| chance >= 1.0 - options.confidence / 100.0);
        let verdict = match is_noise {
            None => ChangeVerdict::Unknown,
            Some(true) => ChangeVerdict::NoDifference,
            Some(false) if (estimate.change > 0.0) == figure.more_is_better() => ChangeVerdict::Better,
            Some(false) => ChangeVerdict::Worse,
        };
        let percent = 100.0 * estimate.change;
        Some(Change { percent, interval, chance: estimate.chance, verdict, counts: false })
    });
    Some(FigureRow { figure, unit: figure.unit(), changes: changes.collect(), values })
}

/// Judges all figures of side number `other` + 1 together: marks the changes that count, and returns the verdict. About one in twenty
/// figures leaves its interval by noise alone, so a change counts only if it is still more than noise among all of them (Holm, *A Simple
/// Sequentially Rejective Multiple Test Procedure*, 1979).
fn together(jobs: &mut [JobRows], other: usize, options: CompareOptions) -> ChangeVerdict {
    let rows = jobs.iter_mut().flat_map(|job| &mut job.figures);
    let mut changes: Vec<(f64, Figure, &mut Change)> = rows
        .filter_map(|row| {
            let change = row.changes.get_mut(other)?.as_mut()?;
            Some((change.chance?, row.figure, change))
        })
        .collect();
    if changes.is_empty() {
        return ChangeVerdict::Unknown;
    }
    changes.sort_by(|one, two| one.0.total_cmp(&two.0));
    let limit = 1.0 - options.confidence / 100.0;
    let count = changes.len();
    let (mut better, mut worse) = (false, false);
    for (rank, (chance, figure, change)) in changes.into_iter().enumerate() {
        if chance >= limit / (count - rank) as f64 {
            break;
        }
        change.counts = true;
        match (change.percent > 0.0) == figure.more_is_better() {
            true => better = true,
            false => worse = true,
        }
    }
    match (better, worse) {
        (false, false) => ChangeVerdict::NoDifference,
        (true, false) => ChangeVerdict::Better,
        (false, true) => ChangeVerdict::Worse,
        (true, true) => ChangeVerdict::Mixed,
    }
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
