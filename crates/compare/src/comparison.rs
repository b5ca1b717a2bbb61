//! Sides, figure by figure, each against the first.

use ferrio_job::in_one_line;
use ferrio_report::Unit;
use ferrio_report::model::{DirectionReport, JobReport};
use serde::Serialize;

use crate::conditions::{Difference, differences};
use crate::figures::{Figure, Values};
use crate::pieces::{Piece, pieces};
use crate::read::{Run, Side};
use crate::statistics::{Estimate, Interval, estimate};

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Confidence of intervals and verdicts, percent: from 50 to [`MAX_CONFIDENCE`](crate::MAX_CONFIDENCE).
    pub confidence: f64,
}

/// What is to be said about the sides.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Version of this object.
    pub format: u32,
    /// Confidence of intervals and verdicts, percent.
    pub confidence: f64,
    /// The sides; all others are compared with the first.
    pub sides: Vec<Compared>,
    /// Conditions that are not the same on all sides.
    pub differences: Vec<Difference>,
    /// Jobs and directions that all sides have.
    pub jobs: Vec<JobRows>,
    /// What a run of some side lacks, and is not compared: jobs, by name; directions of jobs without I/O, such as `a (write)`; figures of
    /// directions, such as `a (write): latency p99.9`.
    pub missing: Vec<String>,
    /// What of that each run of the first side has and a regression may have taken away.
    #[serde(skip)]
    pub lost: Vec<Lost>,
    /// Jobs that ended with an error.
    pub failed: Vec<FailedJob>,
}

/// What each run of the first side has, and another side lacks: a job or a figure in some run, or a direction in all runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// As in [`Comparison::missing`].
    pub name: String,
    /// Place of the side that lacks it, from 0.
    pub side: usize,
    /// Its runs that lack it.
    pub runs: usize,
}

impl Lost {
    /// The sides that lack something; none if a run of the first side lacks it. `has` tells whether a run has it.
    fn on<T>(name: &str, sides: &[impl AsRef<[T]>], has: impl Fn(&T) -> bool) -> Vec<Self> {
        let lacking = |runs: &[T]| runs.iter().filter(|run| !has(run)).count();
        let counts: Vec<usize> = sides.iter().map(|runs| lacking(runs.as_ref())).collect();
        if counts.first().is_none_or(|&first| first > 0) {
            return Vec::new();
        }
        let lost = |(side, runs)| Lost { name: name.to_owned(), side, runs };
        counts.into_iter().enumerate().filter(|(_, runs)| *runs > 0).map(lost).collect()
    }
}

/// A job that ended with an error in runs of a side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedJob {
    /// Place of the side, from 0.
    pub side: usize,
    /// Name of the job.
    pub jobname: String,
    /// Runs in which it failed.
    pub runs: usize,
    /// errno in the first of them.
    pub error: i32,
    /// Each run of the first side has the job, and it failed in none of them.
    #[serde(skip)]
    pub is_new: bool,
}

/// A side.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The path as given.
    pub name: String,
    /// Its runs.
    pub runs: usize,
    /// It or the first side is one run whose noise is known from its pieces alone: the verdicts are about these runs and say nothing about
    /// other runs. Absent for the first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub within_runs: bool,
    /// Against the first side, all figures together; absent for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

/// A direction of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobRows {
    /// Name of the job.
    pub jobname: String,
    /// read, write, trim or mixed.
    pub direction: &'static str,
    /// Its figures.
    pub figures: Vec<FigureRow>,
}

/// A figure.
#[derive(Clone, Debug, Serialize)]
pub struct FigureRow {
    /// What it is.
    pub figure: Figure,
    /// Its unit.
    pub unit: Unit,
    /// Its value on each side.
    pub values: Vec<f64>,
    /// Its change from the first side to each of the others; `null` where the value was 0.
    pub changes: Vec<Option<Change>>,
}

/// A change of a figure.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Change {
    /// In percent of the first side.
    pub percent: f64,
    /// Lower and upper bound of the true change, percent; absent if a side has one run without figures over time, or if the noise knows no
    /// bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// How often noise alone changes a figure as much, 0 to 1; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// What that means for this figure alone.
    pub verdict: Verdict,
    /// It is also more than noise if all figures of the side are judged together.
    pub counts: bool,
}

/// What a comparison finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// More than noise, for the better.
    Better,
    /// More than noise, for the worse.
    Worse,
    /// More than noise, better and worse figures; only for several figures together.
    Mixed,
    /// Not more than noise.
    NoDifference,
    /// A side has one run, and no figures over time: nobody knows its noise.
    Unknown,
}

impl Change {
    /// True if it is for the worse, more than noise among all figures, and more than `percent`.
    pub(crate) fn is_regression(&self, figure: Figure, percent: f64) -> bool {
        let worse = if figure.more_is_better() { -self.percent } else { self.percent };
        self.counts && worse > percent
    }
}

impl Comparison {
    /// The figures that have become worse by more than so many percent, and by more than noise among all figures: job and direction, and figure.
    #[must_use]
    pub fn regressions(&self, percent: f64) -> Vec<(&JobRows, &FigureRow)> {
        let rows = self.jobs.iter().flat_map(|job| job.figures.iter().map(move |row| (job, row)));
        let is_worse = |row: &FigureRow| {
            row.changes.iter().flatten().any(|change| change.is_regression(row.figure, percent))
        };
        rows.filter(|(_, row)| is_worse(row)).collect()
    }

    /// Jobs that each run of the first side has, and that failed on another side and not on the first one.
    pub fn newly_failed(&self) -> impl Iterator<Item = &FailedJob> {
        self.failed.iter().filter(|job| job.is_new)
    }

    /// What a side lacks, as a sentence.
    #[must_use]
    pub fn text_of_lost(&self, lost: &Lost) -> String {
        let (first, other) = (&self.sides[0].name, &self.sides[lost.side]);
        let name = in_one_line(&lost.name);
        format!(
            "{name} is in every run of {first}, but not in {} of {} of {}",
            lost.runs, other.runs, other.name
        )
    }

    /// A job that failed on a side and not on the first, as a sentence.
    #[must_use]
    pub fn text_of_failed(&self, job: &FailedJob) -> String {
        let (first, other) = (&self.sides[0].name, &self.sides[job.side]);
        let name = in_one_line(&job.jobname);
        format!(
            "job {name} failed in {} of {} runs of {}, and in none of {first}",
            job.runs, other.runs, other.name
        )
    }
}

/// Compares sides; there are at least two.
#[must_use]
pub fn compare(sides: &[Side], options: Options) -> Comparison {
    let (mut missing, mut lost, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let mut jobs = Vec::new();
    for key in keys(sides) {
        let is_sound = failures(sides, 0, &key).is_none() && entries_of(&sides[..1], &key).is_some();
        let failures = (0..sides.len()).filter_map(|side| failures(sides, side, &key));
        failed.extend(failures.map(|failed| FailedJob { is_new: is_sound, ..failed }));
        let Some(entries) = entries_of(sides, &key) else {
            let runs: Vec<&[Run]> = sides.iter().map(|side| side.runs.as_slice()).collect();
            lost.extend(Lost::on(&key.0, &runs, |run| entry_of(run, &key).is_some()));
            missing.push(key.0);
            continue;
        };
        for direction in ["read", "write", "trim", "mixed"] {
            let rows = job_rows(&key.0, direction, &entries, options);
            let has = |entry: &Entry<'_>| direction_of(entry.job(), direction).is_some();
            if rows.is_none() && entries.iter().flatten().any(has) {
                let name = format!("{} ({direction})", key.0);
                // A rare direction may be missing from a run by chance.
                let is_gone = |lost: &Lost| lost.runs == entries[lost.side].len();
                lost.extend(Lost::on(&name, &entries, has).into_iter().filter(is_gone));
                missing.push(name);
            }
            for figure in rows.iter().flat_map(absent_figures) {
                let has = |entry: &Entry<'_>| {
                    direction_of(entry.job(), direction)
                        .is_some_and(|found| Values::of(figure, &[found]).is_some())
                };
                if entries.iter().flatten().any(has) {
                    let name = format!("{} ({direction}): {}", key.0, figure.name());
                    lost.extend(Lost::on(&name, &entries, has));
                    missing.push(name);
                }
            }
            jobs.extend(rows);
        }
    }
    let verdicts: Vec<Verdict> =
        (1..sides.len()).map(|other| together(&mut jobs, other - 1, options)).collect();
    let verdicts = std::iter::once(None).chain(verdicts.into_iter().map(Some));
    Comparison {
        format: 1,
        confidence: options.confidence,
        sides: sides
            .iter()
            .zip(verdicts)
            .map(|(side, verdict)| Compared {
                name: side.name.clone(),
                runs: side.runs.len(),
                within_runs: verdict.is_some_and(|verdict| verdict != Verdict::Unknown)
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

/// How a job failed on a side. Errors that a job tolerated are not failures.
fn failures(sides: &[Side], side: usize, key: &Key) -> Option<FailedJob> {
    let jobs = sides[side].runs.iter().filter_map(|run| Some(entry_of(run, key)?.job()));
    let tolerates = |job: &JobReport| job.tolerated.is_some_and(|tolerated| tolerated.total_err > 0);
    let failed: Vec<&JobReport> = jobs.filter(|job| job.error != 0 && !tolerates(job)).collect();
    let error = failed.first()?.error;
    Some(FailedJob { side, jobname: key.0.clone(), runs: failed.len(), error, is_new: false })
}

/// A job: its name, and how many of that name are before it in its report.
pub(crate) type Key = (String, usize);

/// All jobs, in the order in which they first appear.
pub(crate) fn keys(sides: &[Side]) -> Vec<Key> {
    let mut all: Vec<Key> = Vec::new();
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

/// A job in a run.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    run: &'a Run,
    /// Its place among the jobs.
    at: usize,
}

impl<'a> Entry<'a> {
    /// The job.
    pub(crate) fn job(self) -> &'a JobReport {
        &self.run.report.jobs[self.at]
    }
}

/// The entry of a job in each run of each side; `None` if a run lacks it.
pub(crate) fn entries_of<'a>(sides: &'a [Side], key: &Key) -> Option<Vec<Vec<Entry<'a>>>> {
    sides.iter().map(|side| side.runs.iter().map(|run| entry_of(run, key)).collect()).collect()
}

fn entry_of<'a>(run: &'a Run, key: &Key) -> Option<Entry<'a>> {
    let named = run.report.jobs.iter().enumerate().filter(|(_, job)| job.jobname == key.0);
    named.map(|(at, _)| Entry { run, at }).nth(key.1)
}

/// A direction of a job; `None` if it did no I/O.
pub(crate) fn direction_of<'a>(job: &'a JobReport, direction: &str) -> Option<&'a DirectionReport> {
    let (_, found) = job.shown_directions().into_iter().find(|(name, _)| *name == direction)?;
    (found.total_ios > 0).then_some(found)
}

/// A direction of a job on one side.
struct SideFigures {
    runs: Vec<DirectionReport>,
    /// The pieces of the only run.
    pieces: Option<Vec<Piece>>,
}

impl SideFigures {
    /// `None` if a run has no I/O of that kind.
    fn of(direction: &'static str, entries: &[Entry<'_>]) -> Option<Self> {
        let of = |entry: &Entry<'_>| direction_of(entry.job(), direction).cloned();
        let pieces = match entries {
            [only] => pieces(only.run.series(), &only.run.report.jobs, only.at, direction),
            _ => None,
        };
        Some(SideFigures { runs: entries.iter().map(of).collect::<Option<_>>()?, pieces })
    }

    /// A figure of the runs.
    fn values(&self, figure: Figure) -> Option<Values> {
        Values::of(figure, &self.runs.iter().collect::<Vec<_>>())
    }

    /// What tells the noise of a figure: the pieces of the only run, else the runs.
    fn noise(&self, figure: Figure) -> Option<Values> {
        match &self.pieces {
            Some(pieces) => Values::of_pieces(figure, pieces),
            None => self.values(figure),
        }
    }
}

/// The figures of a direction; `None` if a run has no I/O of that kind.
fn job_rows(
    jobname: &str,
    direction: &'static str,
    entries: &[Vec<Entry<'_>>],
    options: Options,
) -> Option<JobRows> {
    let sides: Vec<SideFigures> =
        entries.iter().map(|runs| SideFigures::of(direction, runs)).collect::<Option<_>>()?;
    let figures = Figure::ALL.into_iter().filter_map(|figure| figure_row(figure, &sides, options));
    Some(JobRows { jobname: jobname.to_owned(), direction, figures: figures.collect() })
}

/// The figures that the rows lack because a run does.
fn absent_figures(rows: &JobRows) -> impl Iterator<Item = Figure> {
    Figure::ALL.into_iter().filter(|figure| rows.figures.iter().all(|row| row.figure != *figure))
}

fn figure_row(figure: Figure, sides: &[SideFigures], options: Options) -> Option<FigureRow> {
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
            None => Verdict::Unknown,
            Some(true) => Verdict::NoDifference,
            Some(false) if (estimate.change > 0.0) == figure.more_is_better() => Verdict::Better,
            Some(false) => Verdict::Worse,
        };
        let percent = 100.0 * estimate.change;
        Some(Change { percent, interval, chance: estimate.chance, verdict, counts: false })
    });
    Some(FigureRow { figure, unit: figure.unit(), changes: changes.collect(), values })
}

/// Judges all figures of side number `other` + 1 together: marks the changes that count, and returns the verdict. Of twenty figures that
/// noise alone changes, about one is beyond its interval: each counts only if it still is more than noise among so many (Holm, *A Simple
/// Sequentially Rejective Multiple Test Procedure*, 1979).
fn together(jobs: &mut [JobRows], other: usize, options: Options) -> Verdict {
    let rows = jobs.iter_mut().flat_map(|job| &mut job.figures);
    let mut changes: Vec<(f64, Figure, &mut Change)> = rows
        .filter_map(|row| {
            let change = row.changes.get_mut(other)?.as_mut()?;
            Some((change.chance?, row.figure, change))
        })
        .collect();
    if changes.is_empty() {
        return Verdict::Unknown;
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
        (false, false) => Verdict::NoDifference,
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        (true, true) => Verdict::Mixed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_that_lacks_something_is_told() {
        let lost = |sides: &[Vec<bool>]| {
            let lost = Lost::on("a", sides, |has| *has);
            lost.iter().map(|lost| (lost.side, lost.runs)).collect::<Vec<_>>()
        };
        let (all, some, none) = (vec![true; 2], vec![true, false, false, false], vec![false; 2]);
        assert_eq!(lost(&[all.clone(), some.clone(), none.clone(), all.clone()]), [(1, 3), (2, 2)]);
        assert_eq!(lost(&[some, none, all]), []);
    }
}
