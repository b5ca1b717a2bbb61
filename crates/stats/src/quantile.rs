//! Quantiles of latencies, from one of two sets of buckets: those of the HDR histogram, or fio's 29 groups of 64.
//!
//! Each of fio's buckets consists of whole HDR buckets, so its counts are those of fio. Ranks are computed in integers: at exact ones (99.9
//! % of 1000 samples) a rounding error of floating point would skip a sample.

use serde::{Deserialize, Serialize};

use crate::latency::{Latency, fio_bucket, fio_bucket_value};
use crate::saturating::saturating_add_to;

/// The buckets from which quantiles are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Buckets {
    /// Those of the HDR histogram: 128 per doubling, up to 2^62 ns.
    #[default]
    Hdr,
    /// Those of fio: 64 per doubling; values of 2^34 ns (17 s) and more share the last.
    Fio,
}

/// The largest relative error of a quantile against the sample of its rank: half a bucket. There is none below 256 ns
/// ([`Buckets::Hdr`]) or 128 ns ([`Buckets::Fio`]); fio's last bucket has no bound.
#[must_use]
pub const fn quantile_error(buckets: Buckets) -> f64 {
    match buckets {
        Buckets::Hdr => 1.0 / 256.0,
        Buckets::Fio => 1.0 / 128.0,
    }
}

impl Latency {
    /// For each percentage of `list`, the latency in ns that this share of the samples does not exceed: the middle of the first bucket
    /// where the cumulative count reaches that share. Empty without samples.
    ///
    /// [`Buckets::Hdr`] stays within the smallest and largest sample and returns these for the first and last rank.
    /// [`Buckets::Fio`] returns the values that fio prints, which may exceed the largest sample by half a bucket.
    #[must_use]
    pub fn percentiles(&self, buckets: Buckets, list: &[f64]) -> Vec<(f64, u64)> {
        let count = self.count();
        if count == 0 {
            return Vec::new();
        }
        let bins = match buckets {
            Buckets::Hdr => self.hdr_bins(),
            Buckets::Fio => self.fio_bins(),
        };
        let mut seen = 0;
        let reached: Vec<(u64, u64)> = bins
            .into_iter()
            .map(|(value, count)| {
                saturating_add_to(&mut seen, count);
                (value, seen)
            })
            .collect();
        let value = |rank| {
            let at = reached.partition_point(|&(_, seen)| seen < rank).min(reached.len() - 1);
            reached[at].0
        };
        let of = |percent| match buckets {
            Buckets::Fio => value(fio_rank(percent, count)),
            Buckets::Hdr => match rank(percent, count) {
                1 => self.min(),
                last if last == count => self.max(),
                rank => value(rank).clamp(self.min(), self.max()),
            },
        };
        list.iter().map(|&percent| (percent, of(percent))).collect()
    }

    /// One of [`Latency::percentiles`] from the HDR histogram; 0 without samples.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        self.percentiles(Buckets::Hdr, &[percent]).first().map_or(0, |&(_, ns)| ns)
    }

    /// Nonempty buckets of the HDR histogram as (middle in ns, count), ascending.
    #[must_use]
    pub fn hdr_bins(&self) -> Vec<(u64, u64)> {
        let Some(histogram) = self.histogram() else { return Vec::new() };
        let middle = |ns| histogram.median_equivalent(ns);
        histogram
            .iter_recorded()
            .map(|bucket| (middle(bucket.value_iterated_to()), bucket.count_at_value()))
            .collect()
    }

    /// Nonempty buckets of fio's layout as (value in ns, count), ascending.
    #[must_use]
    pub fn fio_bins(&self) -> Vec<(u64, u64)> {
        let mut bins: Vec<(u64, u64)> = Vec::new();
        for bucket in self.histogram().into_iter().flat_map(|histogram| histogram.iter_recorded()) {
            let value = fio_bucket_value(fio_bucket(bucket.value_iterated_to()) as u64);
            match bins.last_mut() {
                Some(last) if last.0 == value => saturating_add_to(&mut last.1, bucket.count_at_value()),
                _ => bins.push((value, bucket.count_at_value())),
            }
        }
        bins
    }
}

/// The least rank that is `percent` of `count` samples or more, from 1. The percentage counts as written in decimal: 99.9 % of 1000 are
/// 999, though the nearest double is a little more than 99.9.
pub(crate) fn rank(percent: f64, count: u64) -> u64 {
    // The shortest decimal that reads back as the same double is the one that a person wrote. It has at most 17 digits.
    let text = percent.to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let digits: Option<u128> = format!("{whole}{decimals}").parse().ok();
    let scale = u32::try_from(decimals.len())
        .ok()
        .and_then(|places| 100u128.checked_mul(10u128.checked_pow(places)?));
    let wanted = match (digits, scale) {
        (Some(digits), Some(scale)) => digits.saturating_mul(count.into()).div_ceil(scale),
        // More than 36 decimals: a share of less than one sample.
        (Some(_), None) => 1,
        // Negative, or not a number.
        (None, _) => 0,
    };
    u64::try_from(wanted).unwrap_or(u64::MAX).clamp(1, count)
}

/// The rank by fio's rounding: `percent` of `count` as an extended-precision product, in which the percentage is the nearest double. 99.9 %
/// of 1000 are 1000.
fn fio_rank(percent: f64, count: u64) -> u64 {
    const MANTISSA_BITS: u32 = 52;
    let bits = percent.max(0.0).to_bits();
    let (exponent, fraction) = (bits >> MANTISSA_BITS, bits & ((1 << MANTISSA_BITS) - 1));
    // percent = mantissa / 2^shift. Percentages are below 2^52, so the shift is not negative.
    let (mantissa, shift) = match exponent {
        0 => (fraction, 1074),
        _ => (fraction | 1 << MANTISSA_BITS, 1075u64.saturating_sub(exponent)),
    };
    let wanted = match shift {
        // mantissa * count is below 2^117.
        121.. => 1,
        _ => (u128::from(mantissa) * u128::from(count)).div_ceil(100 << shift),
    };
    u64::try_from(wanted).unwrap_or(u64::MAX).clamp(1, count)
}

#[cfg(test)]
mod tests;
