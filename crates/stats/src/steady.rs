//! How far a series of figures is from being steady: its largest deviation from the mean, its least-squares slope.

/// Mean of the values, 0 without any.
#[must_use]
pub fn mean(values: &[u64]) -> f64 {
    if values.is_empty() { 0.0 } else { sum(values) / values.len() as f64 }
}

/// The largest distance of a value from the mean, 0 without values.
#[must_use]
pub fn deviation(values: &[u64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|&value| (value as f64 - mean).abs()).fold(0.0, f64::max)
}

/// Slope of the straight line that fits the values best, per value; 0 with fewer than two.
#[must_use]
pub fn slope(values: &[u64]) -> f64 {
    let n = values.len() as f64;
    if n < 2.0 {
        return 0.0;
    }
    let middle = (n - 1.0) / 2.0;
    let mean = mean(values);
    let rise: f64 = (0..).zip(values).map(|(x, &y)| (f64::from(x) - middle) * (y as f64 - mean)).sum();
    // The squares of the distances of 0..n from their middle.
    rise / (n * (n * n - 1.0) / 12.0)
}

fn sum(values: &[u64]) -> f64 {
    values.iter().map(|&value| u128::from(value)).sum::<u128>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_deviation_counts_whichever_side_it_is_on() {
        // Mean 930: 39, 42 and 3 away.
        assert_eq!(deviation(&[969, 888, 933]), 42.0);
        assert_eq!(deviation(&[1_395_843, 1_855_488]), 229_822.5);
        assert_eq!(deviation(&[10, 10, 10, 50]), 30.0);
        assert_eq!(deviation(&[7, 7]), 0.0);
    }

    #[test]
    fn a_slope_is_that_of_the_line_of_least_squares() {
        assert_eq!(slope(&[329, 338]), 9.0);
        assert_eq!(slope(&[10, 20, 30, 40]), 10.0);
        assert_eq!(slope(&[40, 20]), -20.0);
        // x 0..4 around 1.5, y around 4: (-1.5*-3 + -0.5*1 + 0.5*3 + 1.5*-1) / (2.25 + 0.25 + 0.25 + 2.25)
        assert!((slope(&[1, 5, 7, 3]) - 0.8).abs() < 1e-12);
        assert_eq!(slope(&[5, 9, 5]), 0.0);
    }

    #[test]
    fn too_few_values_are_flat() {
        assert_eq!((mean(&[]), deviation(&[]), slope(&[]), slope(&[7])), (0.0, 0.0, 0.0, 0.0));
    }

    #[test]
    fn large_values_keep_their_slope() {
        let values: Vec<u64> = (0..1000).map(|i| (1 << 40) + 3 * i).collect();
        assert!((slope(&values) - 3.0).abs() < 1e-6);
    }
}
