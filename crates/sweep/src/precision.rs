//! How precisely the means of a series are known: `--repeat=until:2%` repeats until they are known well enough.

use std::collections::BTreeMap;

use ferrio_compare::{Figure, JobSummary, confidence_margin};

/// The confidence of the intervals, percent.
pub const CONFIDENCE: f64 = 95.0;
/// Fewest repetitions of a series that ends by itself: two runs that happen to agree prove nothing.
pub const MIN_REPETITIONS: u32 = 3;

/// The `--repeat` option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Repetitions {
    /// A fixed number of repetitions.
    Count(u32),
    /// Repeats until the confidence interval of each row's mean IOPS is within a margin on either side.
    Until {
        /// The margin, percent of the mean.
        margin: f64,
        /// Most repetitions.
        max: u32,
    },
}

impl Repetitions {
    /// The largest possible number of repetitions.
    #[must_use]
    pub const fn max(self) -> u32 {
        match self {
            Repetitions::Count(count) => count,
            Repetitions::Until { max, .. } => max,
        }
    }
}

/// The least precise row of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct WidestInterval {
    /// Index of the point.
    pub point: usize,
    /// Name of the job.
    pub jobname: String,
    /// `read`, `write`, `trim` or `mixed`.
    pub direction: &'static str,
    /// Half of the confidence interval of the mean IOPS, percent of the mean.
    pub margin: f64,
}

/// A row of the table: point, job, how many jobs of that name are before it, direction.
type RowKey = (usize, String, usize, &'static str);

/// The IOPS of each row in each run so far.
#[derive(Debug, Default)]
pub struct Precision {
    rows: BTreeMap<RowKey, Vec<f64>>,
}

impl Precision {
    /// Adds one run of a point.
    pub fn add(&mut self, point: usize, jobs: &[JobSummary]) {
        for job in jobs {
            let Some(iops) = job.figure(Figure::Iops) else { continue };
            let row = (point, job.jobname.clone(), job.number, job.direction);
            self.rows.entry(row).or_default().push(iops.value);
        }
    }

    /// The least precise row after this many rounds. Ignores rows that are not in every run. `None` without rows or after one round.
    #[must_use]
    pub fn widest(&self, rounds: u32) -> Option<WidestInterval> {
        let complete = self.rows.iter().filter(|(_, values)| values.len() as u64 == u64::from(rounds));
        let margins = complete.filter_map(|((point, jobname, _, direction), values)| {
            let margin = confidence_margin(values, CONFIDENCE)?;
            Some(WidestInterval { point: *point, jobname: jobname.clone(), direction, margin })
        });
        margins.max_by(|one, other| one.margin.total_cmp(&other.margin))
    }
}

#[cfg(test)]
mod tests {
    use ferrio_compare::FigureSummary;

    use super::*;

    fn job(name: &str, iops: f64) -> JobSummary {
        JobSummary {
            jobname: name.to_owned(),
            number: 0,
            direction: "read",
            figures: vec![(Figure::Iops, FigureSummary { value: iops, deviation: None })],
            cpu_ns: None,
        }
    }

    #[test]
    fn the_least_precise_row_of_all_points_counts() {
        let mut precision = Precision::default();
        assert_eq!(precision.widest(0), None);
        for (a, b) in [(100.0, 100.0), (101.0, 110.0), (99.0, 90.0)] {
            precision.add(0, &[job("a", a), job("b", a)]);
            precision.add(1, &[job("a", b)]);
        }
        let widest = precision.widest(3).unwrap();
        assert_eq!((widest.point, widest.jobname.as_str()), (1, "a"));
        // 10 % deviation, 4.303 by Student's t with two degrees of freedom, three runs.
        assert!((widest.margin - 4.3027 * 10.0 / 3.0_f64.sqrt()).abs() < 0.01, "{}", widest.margin);
        // A job that did I/O in one run only is no row.
        precision.add(0, &[job("c", 1.0)]);
        assert_eq!(precision.widest(3), Some(widest));
        assert_eq!(precision.widest(4), None);
    }
}
