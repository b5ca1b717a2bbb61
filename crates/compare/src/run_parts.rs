//! Divides a single run into parts, for sides that have only one run: ten consecutive periods of about equal length.
//!
//! Rates and latencies of neighbouring moments are correlated; those of long periods hardly are. So the periods are compared as if they
//! were runs (the method of batch means: Law, *Simulation Modeling and Analysis*, chapter 9). The noise found is that within the run, which
//! is often less than the noise between runs.

use std::collections::BTreeMap;

use ferrio_report::model::{DirectionSeries, JobReport, Series};
use ferrio_stats::{cell_middle_ns, saturating_add_to, saturating_total};

/// Periods that a run is divided into. More periods would no longer be independent of each other.
const PIECES: usize = 10;

/// One period of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunPart {
    ms: u64,
    ios: u64,
    bytes: u64,
    /// Latency samples per bucket.
    cells: BTreeMap<u64, u64>,
}

impl RunPart {
    /// I/Os per second.
    pub(crate) fn iops(&self) -> f64 {
        self.ios as f64 * 1000.0 / self.ms.max(1) as f64
    }

    /// Bytes per second.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.bytes as f64 * 1000.0 / self.ms.max(1) as f64
    }

    /// Mean latency in ns, as exact as the buckets; `None` without samples.
    pub(crate) fn mean_latency(&self) -> Option<f64> {
        let samples = saturating_total(self.cells.values().copied());
        let sum: f64 = self.bins().map(|(ns, count)| ns as f64 * count as f64).sum();
        (samples > 0).then(|| sum / samples as f64)
    }

    /// The middle of each bucket with samples in ns, and the number of samples.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (u64, u64)> {
        self.cells.iter().map(|(&cell, &count)| (cell_middle_ns(cell), count))
    }

    fn add(&mut self, ms: u64, row: usize, direction: &DirectionSeries) {
        let of_row = |column: &[u64]| column.get(row).copied().unwrap_or(0);
        saturating_add_to(&mut self.ms, ms);
        saturating_add_to(&mut self.ios, of_row(&direction.ios));
        saturating_add_to(&mut self.bytes, of_row(&direction.bytes));
        let cells = direction.cells.get(row).map_or(&[][..], Vec::as_slice);
        for pair in cells.chunks_exact(2) {
            saturating_add_to(self.cells.entry(pair[0]).or_default(), pair[1]);
        }
    }
}

/// The parts of a direction of entry number `entry` of a run, without the ramp. `None` if the run has too few figures over time.
pub(crate) fn pieces(
    series: &[Series],
    jobs: &[JobReport],
    entry: usize,
    direction: &str,
) -> Option<Vec<RunPart>> {
    let series = series_of(series, jobs, entry)?;
    let directions: Vec<&DirectionSeries> = match direction {
        "read" => vec![series.read.as_ref()?],
        "write" => vec![series.write.as_ref()?],
        "trim" => vec![series.trim.as_ref()?],
        _ => [&series.read, &series.write, &series.trim].into_iter().flatten().collect(),
    };
    let rows: Vec<usize> =
        (0..series.time_ms.len()).filter(|&row| series.time_ms[row] > series.ramp_until_ms).collect();
    // Some logs have only some of the figures.
    let is_whole = |direction: &&DirectionSeries| !(direction.ios.is_empty() || direction.bytes.is_empty());
    if rows.len() < PIECES || !directions.iter().all(is_whole) {
        return None;
    }
    let mut pieces = vec![RunPart::default(); PIECES];
    for (at, &row) in rows.iter().enumerate() {
        let start_ms = if row == 0 { series.start_ms } else { series.time_ms[row - 1] };
        let ms = series.time_ms[row].saturating_sub(start_ms);
        let piece = &mut pieces[at * PIECES / rows.len()];
        // The elapsed time counts once for all directions.
        for (index, direction) in directions.iter().enumerate() {
            piece.add(if index == 0 { ms } else { 0 }, row, direction);
        }
    }
    Some(pieces)
}

/// The series of an entry, found by its name and group. `None` if there are more series than entries, such as logs of clones that share one
/// entry.
fn series_of<'a>(series: &'a [Series], jobs: &[JobReport], entry: usize) -> Option<&'a Series> {
    let job = jobs.get(entry)?;
    let is_like = |other: &&JobReport| other.jobname == job.jobname && other.groupid == job.groupid;
    let did_io =
        |other: &&JobReport| other.shown_directions().iter().any(|(_, figures)| figures.total_ios > 0);
    let busy = |jobs: &[JobReport]| jobs.iter().filter(is_like).filter(did_io).count();
    let of_job: Vec<&Series> = series
        .iter()
        .filter(|series| series.jobname == job.jobname && series.groupid == job.groupid)
        .collect();
    if of_job.len() > busy(jobs) { None } else { of_job.get(busy(&jobs[..entry])).copied() }
}

#[cfg(test)]
mod tests {
    use ferrio_random::Tausworthe64;
    use ferrio_report::model::{DirectionReport, FerrioReport, RunReport};

    use super::*;
    use crate::figures::{Figure, Values};
    use crate::statistics::estimate;

    /// A report of a job that reads, with one row per number of I/Os; the first two rows are a ramp.
    fn report(ios: &[u64]) -> RunReport {
        let figures = DirectionReport { total_ios: ios.iter().sum(), ..DirectionReport::default() };
        let job = JobReport { jobname: "r".to_owned(), read: Some(figures), ..JobReport::default() };
        let direction = DirectionSeries {
            ios: ios.to_vec(),
            bytes: ios.iter().map(|ios| ios * 4096).collect(),
            max_ns: vec![0; ios.len()],
            cells: ios.iter().map(|&ios| vec![80, ios / 2, 88, ios - ios / 2]).collect(),
            ..DirectionSeries::default()
        };
        let series = Series {
            jobname: "r".to_owned(),
            time_ms: (1..=ios.len() as u64).map(|row| row * 500).collect(),
            ramp_until_ms: 1000,
            read: Some(direction),
            ..Series::default()
        };
        let idle = JobReport { jobname: "r".to_owned(), ..JobReport::default() };
        let ferrio = FerrioReport { series: vec![series], ..FerrioReport::default() };
        RunReport { jobs: vec![idle, job], ferrio: Some(ferrio), ..RunReport::default() }
    }

    fn of(report: &RunReport, entry: usize, direction: &str) -> Option<Vec<RunPart>> {
        let series = report.ferrio.as_ref().map_or(&[][..], |ferrio| &ferrio.series);
        pieces(series, &report.jobs, entry, direction)
    }

    #[test]
    fn a_run_without_its_ramp_is_divided_evenly() {
        let mut ios = vec![7000, 7000];
        ios.extend([100, 300].repeat(12));
        let pieces = of(&report(&ios), 1, "read").unwrap();
        assert_eq!(pieces.len(), 10);
        assert_eq!(pieces.iter().map(|piece| piece.ios).sum::<u64>(), 12 * 400);
        assert_eq!(pieces.iter().map(|piece| piece.ms).sum::<u64>(), 12_000);
        assert!(pieces.iter().all(|piece| [1000, 1500].contains(&piece.ms)), "{pieces:?}");
        assert_eq!(pieces[0].iops(), 500.0 / 1.5);
        assert_eq!(pieces[0].bandwidth(), 4096.0 * 500.0 / 1.5);
        // Buckets 80 and 88 begin at 1024 and 2048 ns; their middles are 1069 and 2139.
        assert_eq!(pieces[0].bins().collect::<Vec<_>>(), [(1069, 250), (2139, 250)]);
        assert_eq!(pieces[0].mean_latency(), Some(1604.0));
    }

    #[test]
    fn mixed_figures_are_those_of_all_directions() {
        let mut report = report(&[100; 20]);
        let series = &mut report.ferrio.as_mut().unwrap().series[0];
        series.write = series.read.clone();
        let both = of(&report, 1, "mixed").unwrap();
        assert_eq!((both[0].ms, both[0].ios), (1000, 400));
        assert!(of(&report, 1, "trim").is_none());
    }

    #[test]
    fn short_runs_and_reports_without_figures_over_time_have_no_pieces() {
        assert!(of(&report(&[100; 11]), 1, "read").is_none());
        assert!(of(&report(&[100; 12]), 1, "read").is_some());
        let mut without = report(&[100; 12]);
        without.ferrio = None;
        assert!(of(&without, 1, "read").is_none());
    }

    #[test]
    fn logs_of_clones_and_logs_without_rates_are_no_pieces() {
        let mut clones = report(&[100; 20]);
        let series = &mut clones.ferrio.as_mut().unwrap().series;
        series.push(series[0].clone());
        assert!(of(&clones, 1, "read").is_none(), "one entry has two logs");
        let mut partial = report(&[100; 20]);
        let series = &mut partial.ferrio.as_mut().unwrap().series;
        series[0].read.as_mut().unwrap().bytes.clear();
        assert!(of(&partial, 1, "read").is_none(), "nobody knows the bandwidth");
    }

    /// Rows of half a second of which each resembles the one before (a correlation of 0.5), with noise of 5 %.
    fn noisy(random: &mut Tausworthe64, rows: usize, mean: f64) -> Vec<RunPart> {
        let mut uniform = || ((random.draw() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let mut normal = || (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
        let mut off = normal();
        let mut ios = vec![1, 1];
        for _ in 0..rows {
            off = 0.5 * off + 0.75_f64.sqrt() * normal();
            ios.push((mean * (1.0 + 0.05 * off)) as u64);
        }
        of(&report(&ios), 1, "read").unwrap()
    }

    /// How many of 400 comparisons of single runs of a minute find a difference of the rates at 95 %.
    fn found(seed: u64, effect: f64) -> usize {
        let mut random = Tausworthe64::new(seed);
        let is_found = |_: &usize| {
            let [one, two] = [10_000.0, 10_000.0 * effect]
                .map(|mean| Values::of_pieces(Figure::Iops, &noisy(&mut random, 120, mean)).unwrap());
            let change = two.whole() / one.whole() - 1.0;
            estimate(change, &one, &two, 95.0).unwrap().chance.unwrap() < 0.05
        };
        (0..400).filter(is_found).count()
    }

    /// 20 of 400 would be 5 %; 33 are three deviations more.
    #[test]
    fn pieces_of_runs_give_few_false_alarms_although_neighbouring_rows_resemble_each_other() {
        let alarms = found(7, 1.0);
        assert!(alarms <= 33, "{alarms} of 400");
        let real = found(8, 1.05);
        assert!(real >= 360, "{real} of 400");
    }
}
