//! The changes of the figures of one direction of a job, and the verdicts on them.

use ferrio_report::Unit;
use ferrio_report::model::DirectionReport;
use serde::Serialize;

use crate::figures::{Figure, Values};
use crate::job_entry::{JobEntry, direction_of};
use crate::run_parts::{RunPart, pieces};
use crate::statistics::{Estimate, estimate};

/// The figures of one direction of a job.
#[derive(Clone, Debug, Serialize)]
pub struct JobRows {
    /// Name of the job.
    pub jobname: String,
    /// `read`, `write`, `trim` or `mixed`; `events` of a test of sysbench.
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

/// A direction of a job on one side.
struct SideFigures {
    runs: Vec<DirectionReport>,
    /// The parts of the only run.
    pieces: Option<Vec<RunPart>>,
}

impl SideFigures {
    /// `None` if a run has no such I/O.
    fn of(direction: &'static str, entries: &[JobEntry<'_>]) -> Option<Self> {
        let of = |entry: &JobEntry<'_>| direction_of(*entry, direction).cloned();
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
pub(crate) fn job_rows(
    jobname: &str,
    direction: &'static str,
    entries: &[Vec<JobEntry<'_>>],
    confidence: f64,
) -> Option<JobRows> {
    let sides: Vec<SideFigures> =
        entries.iter().map(|runs| SideFigures::of(direction, runs)).collect::<Option<_>>()?;
    let figures = Figure::of(direction).iter().filter_map(|&figure| figure_row(figure, &sides, confidence));
    Some(JobRows { jobname: jobname.to_owned(), direction, figures: figures.collect() })
}

/// The figures that are not in the rows because a run lacks them.
pub(crate) fn absent_figures(rows: &JobRows) -> impl Iterator<Item = Figure> {
    Figure::of(rows.direction)
        .iter()
        .copied()
        .filter(|figure| rows.figures.iter().all(|row| row.figure != *figure))
}

fn figure_row(figure: Figure, sides: &[SideFigures], confidence: f64) -> Option<FigureRow> {
    let values: Vec<f64> =
        sides.iter().map(|side| side.values(figure).map(|values| values.whole())).collect::<Option<_>>()?;
    let noises: Vec<Option<Values>> = sides.iter().map(|side| side.noise(figure)).collect();
    let changes = values.iter().zip(&noises).skip(1).map(|(value, noise)| {
        let change = value / values[0] - 1.0;
        let change = Some(change).filter(|change| change.is_finite() && *change > -1.0)?;
        let estimate = match (&noises[0], noise) {
            (Some(first), Some(other)) => estimate(change, first, other, confidence)?,
            _ => Estimate { change, interval: None, chance: None },
        };
        let interval = estimate.interval.filter(|[_, high]| high.is_finite());
        let interval = interval.map(|bounds| bounds.map(|bound| 100.0 * bound));
        let is_noise = estimate.chance.map(|chance| chance >= 1.0 - confidence / 100.0);
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
pub(crate) fn judge_together(jobs: &mut [JobRows], other: usize, confidence: f64) -> ChangeVerdict {
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
    let limit = 1.0 - confidence / 100.0;
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
