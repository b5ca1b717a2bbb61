//! The steady state that ends a job once its figures have settled.

use std::time::Duration;

use crate::choice::choices;

/// The metric that decides whether the job has reached a steady state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SteadyFigure {
    /// I/Os per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Mean completion latency, ns.
    Latency,
}

impl SteadyFigure {
    /// The keyword in `steadystate` and in reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            SteadyFigure::Iops => SteadyTest::Iops.word(),
            SteadyFigure::Bandwidth => SteadyTest::Bandwidth.word(),
            SteadyFigure::Latency => SteadyTest::Latency.word(),
        }
    }
}

choices! {
    /// `steadystate`: which figure is judged, and how.
    pub enum SteadyTest default IopsSlope {
        Iops: "iops", "Largest deviation of IOPS from the mean";
        IopsSlope: "iops_slope", "Slope of IOPS";
        Bandwidth: "bw", "Largest deviation of bandwidth from the mean";
        BandwidthSlope: "bw_slope", "Slope of bandwidth";
        Latency: "lat", "Largest deviation of latency from the mean";
        LatencySlope: "lat_slope", "Slope of latency";
    }
}

impl SteadyTest {
    /// The figure that is judged.
    #[must_use]
    pub const fn figure(self) -> SteadyFigure {
        match self {
            SteadyTest::Iops | SteadyTest::IopsSlope => SteadyFigure::Iops,
            SteadyTest::Bandwidth | SteadyTest::BandwidthSlope => SteadyFigure::Bandwidth,
            SteadyTest::Latency | SteadyTest::LatencySlope => SteadyFigure::Latency,
        }
    }

    /// True when the slope over the window is judged, not the largest deviation from its mean.
    #[must_use]
    pub const fn is_slope(self) -> bool {
        matches!(self, SteadyTest::IopsSlope | SteadyTest::BandwidthSlope | SteadyTest::LatencySlope)
    }
}

/// `steadystate` and the options below it: the test that ends a job whose figures have settled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyState {
    /// The figure that is judged.
    pub figure: SteadyFigure,
    /// The slope over the window is judged, not the largest deviation from its mean.
    pub slope: bool,
    /// The steady state is reached when the value is below this: percent of the mean, I/Os per second, bytes per second, or ns.
    pub limit: f64,
    /// The limit is a percentage.
    pub percent: bool,
    /// Length of the window, a multiple of the interval.
    pub duration: Duration,
    /// Time at the start that does not count.
    pub ramp: Duration,
    /// Time between two checks.
    pub interval: Duration,
}

impl SteadyState {
    /// Number of checks per window.
    #[must_use]
    pub fn checks(&self) -> usize {
        usize::try_from(self.duration.as_micros() / self.interval.as_micros().max(1)).unwrap_or(usize::MAX)
    }
}
