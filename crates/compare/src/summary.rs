//! The figures of one side on its own: the mean of the runs and their deviation.

use ferrio_report::model::{DirectionReport, JobReport};
use ferrio_stats::saturating_total;

use crate::figures::{Figure, Values};
use crate::job_entry::{DIRECTIONS, direction_of, entries_of, keys};
use crate::read::Side;

/// The figures of one direction of a job on one side.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSummary {
    /// Name of the job.
    pub jobname: String,
    /// Number of earlier jobs of that name.
    pub number: usize,
    /// `read`, `write`, `trim` or `mixed`; `events` of a test of sysbench.
    pub direction: &'static str,
    /// The figures that every run has.
    pub figures: Vec<(Figure, FigureSummary)>,
    /// CPU time of the job for each of its I/Os of all directions, ns.
    pub cpu_ns: Option<FigureSummary>,
}

impl JobSummary {
    /// The given figure; `None` if a run lacks it.
    #[must_use]
    pub fn figure(&self, wanted: Figure) -> Option<FigureSummary> {
        self.figures.iter().find(|(figure, _)| *figure == wanted).map(|(_, summary)| *summary)
    }
}

/// A figure over the runs of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FigureSummary {
    /// The mean; for percentiles of reports with histograms, the percentile of the samples of all runs.
    pub value: f64,
    /// Sample standard deviation of the runs, percent of their mean; `None` with one run, or if the mean is 0.
    pub deviation: Option<f64>,
}

/// The figures of all jobs that did I/O in each run of the side.
#[must_use]
pub fn summarize(side: &Side) -> Vec<JobSummary> {
    let sides = std::slice::from_ref(side);
    let mut all = Vec::new();
    for key in keys(sides) {
        let Some(entries) = entries_of(sides, &key).and_then(|mut sides| sides.pop()) else { continue };
        for direction in DIRECTIONS {
            let runs: Option<Vec<&DirectionReport>> =
                entries.iter().map(|entry| direction_of(*entry, direction)).collect();
            let Some(runs) = runs else { continue };
            all.push(JobSummary {
                jobname: key.0.clone(),
                number: key.1,
                direction,
                figures: Figure::of(direction)
                    .iter()
                    .filter_map(|&figure| Some((figure, summary(figure, &runs)?)))
                    .collect(),
                cpu_ns: entries
                    .iter()
                    .map(|entry| cpu_ns(entry.job()))
                    .collect::<Option<Vec<_>>>()
                    .map(|runs| of_means(&runs)),
            });
        }
    }
    all
}

fn summary(figure: Figure, runs: &[&DirectionReport]) -> Option<FigureSummary> {
    let value = Values::of(figure, runs)?.whole();
    let each: Option<Vec<f64>> = runs.iter().map(|run| Some(Values::of(figure, &[run])?.whole())).collect();
    Some(FigureSummary { value, deviation: deviation(&each?) })
}

fn of_means(values: &[f64]) -> FigureSummary {
    let value = values.iter().sum::<f64>() / values.len() as f64;
    FigureSummary { value, deviation: deviation(values) }
}

fn deviation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    if values.len() < 2 || mean == 0.0 {
        return None;
    }
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(100.0 * (squares / (count - 1.0)).sqrt() / mean)
}

/// CPU time per I/O, ns; `None` without I/O.
fn cpu_ns(job: &JobReport) -> Option<f64> {
    let separate =
        saturating_total([&job.read, &job.write, &job.trim].into_iter().flatten().map(|one| one.total_ios));
    let ios = if separate > 0 { separate } else { job.mixed.as_ref()?.total_ios };
    let share = (job.usr_cpu + job.sys_cpu) / 100.0;
    (ios > 0).then(|| share * job.job_runtime as f64 * 1e6 / ios as f64)
}

#[cfg(test)]
mod tests {
    use ferrio_report::model::RunReport;

    use super::*;
    use crate::measured_run::MeasuredRun;

    fn run(iops: f64, usr_cpu: f64) -> MeasuredRun {
        let read = DirectionReport { iops, total_ios: 1000, ..DirectionReport::default() };
        let job = JobReport {
            jobname: "a".to_owned(),
            read: Some(read),
            usr_cpu,
            sys_cpu: 10.0,
            job_runtime: 100,
            ..JobReport::default()
        };
        let report = RunReport { jobs: vec![job.clone(), job], ..RunReport::default() };
        MeasuredRun { path: "x".into(), report, logged: Vec::new(), events: None }
    }

    #[test]
    fn a_side_has_means_and_deviations_of_each_job() {
        let side = Side { name: "s".to_owned(), runs: vec![run(90.0, 10.0), run(110.0, 30.0)] };
        let all = summarize(&side);
        assert_eq!(
            all.iter().map(|job| (job.number, job.direction)).collect::<Vec<_>>(),
            [(0, "read"), (1, "read")]
        );
        let iops = all[0].figure(Figure::Iops).unwrap();
        assert_eq!(iops.value, 100.0);
        assert!((iops.deviation.unwrap() - 200.0_f64.sqrt()).abs() < 1e-9);
        // 20 % and 40 % of 100 ms for 1000 I/Os.
        assert_eq!(all[0].cpu_ns.map(|cpu| cpu.value), Some(30_000.0));
        assert_eq!(all[0].figure(Figure::MeanLatency), None);
    }

    #[test]
    fn one_run_has_no_deviation() {
        let side = Side { name: "s".to_owned(), runs: vec![run(90.0, 10.0)] };
        assert_eq!(
            summarize(&side)[0].figure(Figure::Iops),
            Some(FigureSummary { value: 90.0, deviation: None })
        );
    }
}
