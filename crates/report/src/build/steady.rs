//! The steady state of an entry.

use ferrio_job::{SteadyFigure, SteadyState};
use ferrio_results::{SteadyCheck, SteadyResult};

use crate::model::{SteadyData, SteadyLatency, SteadyReport};
use crate::num::finite;

/// The report on a steady state, and its criterion as shown in the text.
pub(super) fn steady_report(state: &SteadyState, result: &SteadyResult) -> (SteadyReport, String) {
    let unit = if state.percent { "%" } else { "" };
    let name = state.figure.word();
    let criterion = finite(result.criterion);
    let report = SteadyReport {
        ss: format!("{name}{}:{:.6}{unit}", if state.slope { "_slope" } else { "" }, state.limit),
        duration: state.duration.as_secs(),
        attained: u8::from(result.attained),
        criterion: format!("{criterion:.6}{unit}"),
        max_deviation: finite(result.max_deviation),
        slope: finite(result.slope),
        data: steady_data(state, result),
    };
    let text = format!("{name} {}={criterion:.3}{unit}", if state.slope { "slope" } else { "mean dev" });
    (report, text)
}

fn steady_data(state: &SteadyState, result: &SteadyResult) -> SteadyData {
    let window = |figure: fn(&SteadyCheck) -> u64| {
        let mut figures: Vec<u64> = result.checks.iter().map(figure).collect();
        figures.resize(state.checks(), 0);
        figures
    };
    let (iops, bw) = (window(|check| check.iops), window(|check| check.bw));
    let latency = (state.figure == SteadyFigure::Latency).then(|| {
        let lat_ns = window(|check| check.lat_ns);
        SteadyLatency { lat_mean: mean(&lat_ns), lat_ns }
    });
    SteadyData { bw_mean: mean(&bw), iops_mean: mean(&iops), latency, iops, bw }
}

/// The mean, rounded down as in fio.
fn mean(figures: &[u64]) -> u64 {
    let sum: u128 = figures.iter().map(|&figure| u128::from(figure)).sum();
    let mean = sum.checked_div(figures.len() as u128).unwrap_or(0);
    u64::try_from(mean).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn state(figure: SteadyFigure, slope: bool, limit: f64, percent: bool) -> SteadyState {
        let (duration, interval) = (Duration::from_secs(4), Duration::from_secs(1));
        SteadyState { figure, slope, limit, percent, duration, ramp: Duration::ZERO, interval }
    }

    fn check(iops: u64) -> SteadyCheck {
        SteadyCheck { iops, bw: iops * 4096, lat_ns: 107 }
    }

    #[test]
    fn a_window_that_is_not_full_ends_in_zeros_that_count_in_the_means() {
        let checks = [795, 984, 972].map(check).to_vec();
        let result = SteadyResult { checks, ..SteadyResult::default() };
        let (report, text) = steady_report(&state(SteadyFigure::Bandwidth, true, 0.0, false), &result);
        assert_eq!((report.ss.as_str(), report.criterion.as_str()), ("bw_slope:0.000000", "0.000000"));
        assert_eq!((report.attained, report.duration, text.as_str()), (0, 4, "bw slope=0.000"));
        assert_eq!(report.data.iops, [795, 984, 972, 0]);
        assert_eq!((report.data.bw_mean, report.data.iops_mean), (2_817_024, 687));
        assert_eq!(report.data.latency, None);
    }

    #[test]
    fn a_latency_criterion_brings_its_figures_between_the_means_and_the_windows() {
        let checks = vec![check(1); 4];
        let result = SteadyResult { attained: true, criterion: 1.25, checks, ..SteadyResult::default() };
        let (report, text) = steady_report(&state(SteadyFigure::Latency, false, 5.0, true), &result);
        let json = serde_json::to_value(&report).unwrap();
        let keys = |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let outer = ["ss", "duration", "attained", "criterion", "max_deviation", "slope", "data"];
        assert_eq!(keys(&json), outer);
        assert_eq!(keys(&json["data"]), ["bw_mean", "iops_mean", "lat_mean", "lat_ns", "iops", "bw"]);
        assert_eq!(
            (json["ss"].as_str(), json["criterion"].as_str()),
            (Some("lat:5.000000%"), Some("1.250000%"))
        );
        assert_eq!(report.data.latency, Some(SteadyLatency { lat_mean: 107, lat_ns: vec![107; 4] }));
        assert_eq!(text, "lat mean dev=1.250%");
    }
}
