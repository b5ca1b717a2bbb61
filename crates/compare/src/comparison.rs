//! Sides, figure by figure, each against the first.

use ferrio_report::Unit;
use ferrio_report::model::{DirectionReport, JobReport};
use serde::Serialize;

use crate::conditions::{Difference, differences};
use crate::figures::{Figure, Values};
use crate::read::Side;
use crate::statistics::{Interval, estimate};

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Confidence of intervals and verdicts, percent: from 50 to [`MOST_CONFIDENCE`](crate::MOST_CONFIDENCE).
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
    /// Jobs that a run of some side lacks, by name; they are not compared.
    pub missing: Vec<String>,
}

/// A side.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The path as given.
    pub name: String,
    /// Its runs.
    pub runs: usize,
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
    /// Lower and upper bound of the true change, percent; absent if a side has one run, or if the noise knows no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// How often noise alone changes a figure as much, 0 to 1; absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// What that means for this figure alone.
    pub verdict: Verdict,
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
    /// A side has one run: nobody knows its noise.
    Unknown,
}

impl Change {
    /// True if it is for the worse, more than noise, and more than `percent`.
    fn is_regression(&self, figure: Figure, percent: f64) -> bool {
        let worse = if figure.more_is_better() { -self.percent } else { self.percent };
        self.verdict == Verdict::Worse && worse > percent
    }
}

impl Comparison {
    /// The figures that have become worse by more than so many percent, and by more than noise: job, direction and figure.
    #[must_use]
    pub fn regressions(&self, percent: f64) -> Vec<(&JobRows, &FigureRow)> {
        let rows = self.jobs.iter().flat_map(|job| job.figures.iter().map(move |row| (job, row)));
        let is_worse = |row: &FigureRow| {
            row.changes.iter().flatten().any(|change| change.is_regression(row.figure, percent))
        };
        rows.filter(|(_, row)| is_worse(row)).collect()
    }
}

/// Compares sides; there are at least two.
#[must_use]
pub fn compare(sides: &[Side], options: Options) -> Comparison {
    let mut missing = Vec::new();
    let mut jobs = Vec::new();
    for key in keys(sides) {
        let Some(entries) = entries_of(sides, &key) else {
            missing.push(key.0);
            continue;
        };
        for direction in ["read", "write", "trim", "mixed"] {
            jobs.extend(job_rows(&key.0, direction, &entries, options));
        }
    }
    let verdicts = (1..sides.len()).map(|other| together(&jobs, other - 1, options));
    let verdicts = std::iter::once(None).chain(verdicts.map(Some));
    Comparison {
        format: 1,
        confidence: options.confidence,
        sides: sides
            .iter()
            .zip(verdicts)
            .map(|(side, verdict)| Compared { name: side.name.clone(), runs: side.runs.len(), verdict })
            .collect(),
        differences: differences(sides),
        jobs,
        missing,
    }
}

/// A job: its name, and how many of that name are before it in its report.
type Key = (String, usize);

/// All jobs, in the order in which they first appear.
fn keys(sides: &[Side]) -> Vec<Key> {
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

/// The entry of a job in each run of each side; `None` if a run lacks it.
fn entries_of<'a>(sides: &'a [Side], key: &Key) -> Option<Vec<Vec<&'a JobReport>>> {
    let in_run = |jobs: &'a [JobReport]| jobs.iter().filter(|job| job.jobname == key.0).nth(key.1);
    sides.iter().map(|side| side.runs.iter().map(|run| in_run(&run.report.jobs)).collect()).collect()
}

/// The figures of a direction; `None` if a run has no I/O of that kind.
fn job_rows(
    jobname: &str,
    direction: &'static str,
    entries: &[Vec<&JobReport>],
    options: Options,
) -> Option<JobRows> {
    let of = |job: &&'_ JobReport| -> Option<DirectionReport> {
        let shown = job.shown_directions();
        let (_, found) = shown.into_iter().find(|(name, _)| *name == direction)?;
        (found.total_ios > 0).then(|| found.clone())
    };
    let sides: Vec<Vec<DirectionReport>> =
        entries.iter().map(|runs| runs.iter().map(of).collect()).collect::<Option<_>>()?;
    let figures = Figure::ALL.into_iter().filter_map(|figure| figure_row(figure, &sides, options));
    Some(JobRows { jobname: jobname.to_owned(), direction, figures: figures.collect() })
}

fn figure_row(figure: Figure, sides: &[Vec<DirectionReport>], options: Options) -> Option<FigureRow> {
    let values: Vec<Values> = sides
        .iter()
        .map(|runs| Values::of(figure, &runs.iter().collect::<Vec<_>>()))
        .collect::<Option<_>>()?;
    let (first, others) = values.split_first()?;
    let changes = others.iter().map(|other| {
        let estimate = estimate(first, other, options.confidence)?;
        let interval = estimate.interval.filter(|interval| interval.high.is_finite());
        let interval = interval.map(|Interval { low, high }| [100.0 * low, 100.0 * high]);
        let is_noise = estimate.chance.map(|chance| chance >= 1.0 - options.confidence / 100.0);
        let verdict = match is_noise {
            None => Verdict::Unknown,
            Some(true) => Verdict::NoDifference,
            Some(false) if (estimate.change > 0.0) == figure.more_is_better() => Verdict::Better,
            Some(false) => Verdict::Worse,
        };
        Some(Change { percent: 100.0 * estimate.change, interval, chance: estimate.chance, verdict })
    });
    Some(FigureRow {
        figure,
        unit: figure.unit(),
        changes: changes.collect(),
        values: values.iter().map(Values::whole).collect(),
    })
}

/// The verdict about all figures of side number `other` + 1 together. Of twenty figures that noise alone changes, one is beyond its interval:
/// each counts only if it still is more than noise among so many (Holm, *A Simple Sequentially Rejective Multiple Test Procedure*, 1979).
fn together(jobs: &[JobRows], other: usize, options: Options) -> Verdict {
    let rows = jobs.iter().flat_map(|job| &job.figures);
    let changes: Vec<(Figure, Change)> =
        rows.filter_map(|row| Some((row.figure, (*row.changes.get(other)?)?))).collect();
    let mut chances: Vec<(f64, Figure, f64)> = changes
        .iter()
        .filter_map(|(figure, change)| Some((change.chance?, *figure, change.percent)))
        .collect();
    if chances.is_empty() {
        return Verdict::Unknown;
    }
    chances.sort_by(|one, two| one.0.total_cmp(&two.0));
    let limit = 1.0 - options.confidence / 100.0;
    let count = chances.len();
    let real = (0..count).zip(&chances).take_while(|(rank, chance)| chance.0 < limit / (count - rank) as f64);
    let is_better = |figure: Figure, percent: f64| (percent > 0.0) == figure.more_is_better();
    let better: Vec<bool> = real.map(|(_, &(_, figure, percent))| is_better(figure, percent)).collect();
    match (better.iter().any(|&better| better), better.iter().any(|&better| !better)) {
        (false, false) => Verdict::NoDifference,
        (true, false) => Verdict::Better,
        (false, true) => Verdict::Worse,
        (true, true) => Verdict::Mixed,
    }
}
