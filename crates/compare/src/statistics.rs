//! How much two samples of runs differ, and how certain the difference is.
//!
//! A side is a sample of runs, and each figure is a statistic of the sample: the mean of a rate, or a percentile of the merged histograms.
//! The change is the logarithm of the ratio of two such statistics, because effects on speed are factors. The jackknife gives its standard
//! error, and the symmetric bootstrap-t gives the number of standard errors that are noise (Hall, *The Bootstrap and Edgeworth Expansion*,
//! 1992, section 3.6): runs are drawn with repetition, and each resample is studentized by its own jackknife error. Below five runs a side,
//! resamples repeat too often, and Student's t with Welch's degrees of freedom replaces the bootstrap.

use ferrio_random::Tausworthe64;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2000;
/// Fewest runs of a side that are resampled.
const MIN_RESAMPLED: usize = 5;
/// The seed of all bootstraps, so that a comparison always has the same result.
const SEED: u64 = 0x0005_EED0_F0CA_11B5;
/// Highest level of confidence in percent: resamples cannot resolve more.
pub const MAX_CONFIDENCE: f64 = 99.9;

/// A positive statistic of a sample of runs. Runs are given by number; the same run may be given several times.
pub(crate) trait Statistic {
    /// Number of runs of the side.
    fn runs(&self) -> usize;
    /// The figure of the given runs, of which there is at least one. With two or more, `without` receives the figures with each run left
    /// out in turn.
    fn of(&self, runs: &[usize], without: &mut Vec<f64>) -> f64;
}

/// An estimated change from one side to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// The factor less 1.
    pub(crate) change: f64,
    /// Lower and upper bound of the true change, with the requested confidence; `None` if a side has one run.
    pub(crate) interval: Option<[f64; 2]>,
    /// Probability that noise alone changes the figure as much, 0 to 1; `None` likewise.
    pub(crate) chance: Option<f64>,
}

/// The mean of the values of the given runs; `without` receives the means with each run left out in turn.
pub(crate) fn mean(values: &[f64], runs: &[usize], without: &mut Vec<f64>) -> f64 {
    let sum: f64 = runs.iter().map(|&run| values[run]).sum();
    let count = runs.len() as f64;
    if runs.len() > 1 {
        without.extend(runs.iter().map(|&run| (sum - values[run]) / (count - 1.0)));
    }
    sum / count
}

/// Estimates how certain a change is, and bounds the true change with this confidence in percent. `change` is the factor less 1; the
/// samples show the noise. `None` if a figure is 0.
pub(crate) fn estimate(
    change: f64,
    before: &impl Statistic,
    after: &impl Statistic,
    confidence: f64,
) -> Option<Estimate> {
    let (one, two) = (Sample::whole(before)?, Sample::whole(after)?);
    let log_change = change.ln_1p();
    let fewest = before.runs().min(after.runs());
    if fewest < 2 {
        return Some(Estimate { change, interval: None, chance: None });
    }
    let error = (one.variance + two.variance).sqrt();
    // No run differs from another: there is no noise.
    if error == 0.0 {
        let chance = if log_change == 0.0 { 1.0 } else { 0.0 };
        let interval = Some([change; 2]);
        return Some(Estimate { change, interval, chance: Some(chance) });
    }
    let distance = log_change.abs() / error;
    let (margin, chance) = match fewest < MIN_RESAMPLED {
        true => student(&one, &two, distance, confidence)?,
        false => bootstrap(before, after, &one, &two, distance, confidence),
    };
    let bound = |sign: f64| (log_change + sign * margin * error).exp_m1();
    let interval = Some([bound(-1.0), bound(1.0)]);
    Some(Estimate { change, interval, chance: Some(chance) })
}

/// Half of the confidence interval of a mean by Student's t, in percent of the mean; `None` for fewer than two values. If the mean is 0,
/// the margin is 0 when all values are, and infinite otherwise.
#[must_use]
pub fn confidence_margin(values: &[f64], confidence: f64) -> Option<f64> {
    let count = values.len() as f64;
    let student = StudentsT::new(0.0, 1.0, count - 1.0).ok()?;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let margin = student.inverse_cdf(0.5 + confidence / 200.0) * error;
    Some(if margin == 0.0 { 0.0 } else { 100.0 * margin / mean.abs() })
}

/// The logarithm of a statistic of a sample, and the square of its standard error.
struct Sample {
    runs: f64,
    log: f64,
    variance: f64,
}

impl Sample {
    /// The sample in which each run appears once.
    fn whole(side: &impl Statistic) -> Option<Self> {
        let all: Vec<usize> = (0..side.runs()).collect();
        Self::of(side, &all, &mut Vec::new())
    }

    /// `without` is scratch space for the jackknife.
    fn of(side: &impl Statistic, runs: &[usize], without: &mut Vec<f64>) -> Option<Self> {
        let positive = |value: f64| (value > 0.0 && value.is_finite()).then(|| value.ln());
        without.clear();
        let log = positive(side.of(runs, without))?;
        let count = runs.len() as f64;
        if runs.len() < 2 {
            return Some(Sample { runs: count, log, variance: 0.0 });
        }
        let (mut sum, mut squares) = (0.0, 0.0);
        for &value in &*without {
            let off = positive(value)? - log;
            sum += off;
            squares += off * off;
        }
        let variance = (squares - sum * sum / count).max(0.0) * (count - 1.0) / count;
        // What remains of equal runs after rounding is not noise.
        let variance = if variance < 1e-24 { 0.0 } else { variance };
        Some(Sample { runs: count, log, variance })
    }
}

/// The half width of an interval in standard errors by Student's t, and the probability of this distance.
fn student(one: &Sample, two: &Sample, distance: f64, confidence: f64) -> Option<(f64, f64)> {
    let share = |sample: &Sample| sample.variance.powi(2) / (sample.runs - 1.0);
    let freedom = (one.variance + two.variance).powi(2) / (share(one) + share(two));
    let student = StudentsT::new(0.0, 1.0, freedom.max(1.0)).ok()?;
    let margin = student.inverse_cdf(0.5 + confidence / 200.0);
    Some((margin, 2.0 * (1.0 - student.cdf(distance))))
}

/// The half width and the probability by resampling.
fn bootstrap(
    before: &impl Statistic,
    after: &impl Statistic,
    one: &Sample,
    two: &Sample,
    distance: f64,
    confidence: f64,
) -> (f64, f64) {
    let mut random = Tausworthe64::new(SEED);
    let (mut drawn, mut without) = (Vec::new(), Vec::new());
    let mut draw = |drawn: &mut Vec<usize>, runs: usize| {
        drawn.clear();
        drawn.extend((0..runs).map(|_| ((u128::from(random.draw()) * runs as u128) >> 64) as usize));
    };
    let mut distances: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        draw(&mut drawn, before.runs());
        let new_one = Sample::of(before, &drawn, &mut without);
        draw(&mut drawn, after.runs());
        let new_two = Sample::of(after, &drawn, &mut without);
        let (Some(new_one), Some(new_two)) = (new_one, new_two) else { continue };
        let moved = ((new_two.log - new_one.log) - (two.log - one.log)).abs();
        let error = (new_one.variance + new_two.variance).sqrt();
        // A resample of one run many times has no error of its own.
        distances.push(match (moved == 0.0, error == 0.0) {
            (true, _) => 0.0,
            (false, true) => f64::INFINITY,
            (false, false) => moved / error,
        });
    }
    distances.sort_by(f64::total_cmp);
    let beyond = distances.len() - distances.partition_point(|&other| other < distance);
    let chance = (beyond + 1) as f64 / (distances.len() + 1) as f64;
    let rank = (distances.len() as f64 * confidence / 100.0).ceil() as usize;
    let margin = distances.get(rank.max(1) - 1).copied().unwrap_or(f64::INFINITY);
    (margin, chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Means(Vec<f64>);

    /// Of the change of the samples themselves.
    fn estimate(before: &Means, after: &Means, confidence: f64) -> Option<Estimate> {
        let change = Sample::whole(after)?.log - Sample::whole(before)?.log;
        super::estimate(change.exp_m1(), before, after, confidence)
    }

    impl Statistic for Means {
        fn runs(&self) -> usize {
            self.0.len()
        }

        fn of(&self, runs: &[usize], without: &mut Vec<f64>) -> f64 {
            mean(&self.0, runs, without)
        }
    }

    /// Normal noise (Box and Muller).
    struct Noise(Tausworthe64);

    impl Noise {
        fn uniform(&mut self) -> f64 {
            ((self.0.draw() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
        }

        fn side(&mut self, runs: usize, mean: f64, deviation: f64) -> Means {
            let mut normal =
                || (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos();
            Means((0..runs).map(|_| mean * (1.0 + deviation * normal())).collect())
        }

        /// How many of 400 comparisons find a difference at 95 %.
        fn found(&mut self, runs: usize, effect: f64, deviation: f64) -> u32 {
            let mut found = 0;
            for _ in 0..400 {
                let (one, two) =
                    (self.side(runs, 1000.0, deviation), self.side(runs, 1000.0 * effect, deviation));
                let estimate = estimate(&one, &two, 95.0).unwrap();
                let [low, high] = estimate.interval.unwrap();
                let is_found = low > 0.0 || high < 0.0;
                assert_eq!(is_found, estimate.chance.unwrap() < 0.05, "{estimate:?}");
                found += u32::from(is_found);
            }
            found
        }
    }

    #[test]
    fn the_interval_of_a_mean_is_that_of_the_tables_of_students_t() {
        let margin = |values: &[f64]| confidence_margin(values, 95.0);
        assert_eq!((margin(&[]), margin(&[5.0])), (None, None));
        // A deviation of 1 for a mean of 10: t is 12.706 with one degree of freedom, 2.776 with four.
        let deviation = std::f64::consts::FRAC_1_SQRT_2;
        let two = margin(&[10.0 - deviation, 10.0 + deviation]).unwrap();
        assert!((two - 10.0 * 12.706 / 2.0_f64.sqrt()).abs() < 0.01, "{two}");
        let five = margin(&[9.0, 9.0, 10.0, 11.0, 11.0]).unwrap();
        assert!((five - 10.0 * 2.776 / 5.0_f64.sqrt()).abs() < 0.01, "{five}");
        assert_eq!((margin(&[7.0; 3]), margin(&[0.0; 3])), (Some(0.0), Some(0.0)));
    }

    /// Noise of 3 %, as disks have it. 400 comparisons without an effect find 20 at 5 %; 33 are three deviations more.
    #[test]
    fn false_alarms_are_as_rare_as_the_confidence_says() {
        for (runs, seed) in [(3, 1), (5, 2), (10, 3), (20, 4)] {
            let found = Noise(Tausworthe64::new(seed)).found(runs, 1.0, 0.03);
            assert!(found <= 33, "{found} of 400 with {runs} runs");
        }
    }

    #[test]
    fn a_change_of_five_percent_is_found_in_noise_of_three_with_ten_runs() {
        let found = Noise(Tausworthe64::new(5)).found(10, 1.05, 0.03);
        assert!(found >= 360, "{found} of 400");
        let found = Noise(Tausworthe64::new(6)).found(10, 0.95, 0.03);
        assert!(found >= 360, "{found} of 400");
    }

    #[test]
    fn one_run_a_side_tells_the_change_and_nothing_about_noise() {
        let estimate = estimate(&Means(vec![100.0]), &Means(vec![110.0, 111.0]), 95.0).unwrap();
        assert!((estimate.change - 0.105).abs() < 1e-9);
        assert_eq!((estimate.interval, estimate.chance), (None, None));
    }

    #[test]
    fn runs_that_are_all_equal_have_no_noise() {
        let of = |before: f64, after: f64| {
            estimate(&Means(vec![before; 6]), &Means(vec![after; 6]), 95.0).unwrap()
        };
        assert_eq!(of(7.0, 7.0).chance, Some(1.0));
        let more = of(7.0, 7.7);
        assert_eq!(more.chance, Some(0.0));
        assert!((more.interval.unwrap()[0] - 0.1).abs() < 1e-9);
    }

    #[test]
    fn a_figure_of_zero_has_no_relative_change() {
        assert_eq!(estimate(&Means(vec![0.0; 3]), &Means(vec![1.0; 3]), 95.0), None);
    }
}
