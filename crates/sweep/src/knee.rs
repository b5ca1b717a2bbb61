//! Finds the knee of latency against throughput: the point with the largest ratio of throughput to mean latency (Kleinrock's power). Below
//! it, more load gains more throughput than it costs in latency; above it, less.

/// Fewest points that can have a knee.
const MIN_POINTS: usize = 3;

/// The position of the knee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knee {
    /// At the point with this index.
    At(usize),
    /// Beyond the last point: throughput still grows faster than latency.
    Beyond,
}

/// Finds the knee of points in order of load, each with throughput and mean latency. `None` with fewer than three points or without
/// figures.
#[must_use]
pub fn knee(points: &[(f64, f64)]) -> Option<Knee> {
    if points.len() < MIN_POINTS {
        return None;
    }
    let power = |&(throughput, latency): &(f64, f64)| {
        let power = throughput / latency;
        (power.is_finite() && power > 0.0).then_some(power)
    };
    let powers: Vec<f64> = points.iter().map(power).collect::<Option<_>>()?;
    let mut best = 0;
    for (index, power) in powers.iter().enumerate() {
        if *power > powers[best] {
            best = index;
        }
    }
    Some(if best + 1 == points.len() { Knee::Beyond } else { Knee::At(best) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that does 4 requests at once: throughput grows up to there, and latency from there on.
    fn device(depths: &[f64]) -> Vec<(f64, f64)> {
        depths.iter().map(|depth| (depth.min(4.0) * 1000.0, depth.max(4.0) / 4.0)).collect()
    }

    #[test]
    fn the_knee_is_where_the_device_is_full() {
        assert_eq!(knee(&device(&[1.0, 2.0, 4.0, 8.0, 16.0])), Some(Knee::At(2)));
        assert_eq!(knee(&device(&[4.0, 8.0, 16.0])), Some(Knee::At(0)));
        assert_eq!(knee(&device(&[1.0, 2.0, 4.0])), Some(Knee::Beyond));
    }

    #[test]
    fn without_enough_figures_there_is_none() {
        assert_eq!(knee(&device(&[1.0, 2.0])), None);
        assert_eq!(knee(&[(1.0, 0.0), (2.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(knee(&[(0.0, 1.0), (2.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(knee(&[(f64::NAN, 1.0), (2.0, 1.0), (2.0, 2.0)]), None);
    }
}
