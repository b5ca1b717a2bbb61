//! Figures of a few samples.

/// The middle sample, or the mean of the two in the middle.
pub(crate) fn median(samples: &[f64]) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 { Some(upper) } else { Some((sorted[sorted.len() / 2 - 1] + upper) / 2.0) }
}

pub(crate) fn least(samples: &[f64]) -> Option<f64> {
    samples.iter().copied().reduce(f64::min)
}

/// The standard error of the mean, `None` for a single sample. That of the median is about a quarter larger.
pub(crate) fn standard_error(samples: &[f64]) -> Option<f64> {
    let count = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / count;
    let squares: f64 = samples.iter().map(|sample| (sample - mean).powi(2)).sum();
    (samples.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt())
}

/// Distance of the extreme samples over the median.
pub(crate) fn spread(samples: &[f64]) -> f64 {
    let most = samples.iter().copied().fold(0.0, f64::max);
    median(samples).zip(least(samples)).map_or(0.0, |(median, least)| (most - least) / median)
}
