//! How idle the CPUs were during a run (`--idle-prof`).

use serde::{Deserialize, Serialize};

/// How idle the CPUs were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Idleness {
    /// Number and idleness in percent, 0 to 100, of each CPU that this process may use.
    pub cpus: Vec<(usize, f64)>,
    /// Time of a unit of work.
    pub unit: UnitWork,
}

impl Idleness {
    /// The mean of all CPUs in percent.
    #[must_use]
    pub fn system(&self) -> f64 {
        mean(&self.cpus.iter().map(|&(_, percent)| percent).collect::<Vec<_>>())
    }
}

/// The time of a unit of work over the CPUs, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnitWork {
    /// Mean of the CPUs.
    pub mean_us: f64,
    /// Sample deviation of the CPUs, 0 for one CPU.
    pub stddev_us: f64,
}

impl UnitWork {
    /// From the time of a unit on each CPU, ns.
    #[must_use]
    pub fn from_ns(unit_ns: &[u64]) -> Self {
        let us: Vec<f64> = unit_ns.iter().map(|&ns| ns as f64 / 1000.0).collect();
        let mean_us = mean(&us);
        let squares: f64 = us.iter().map(|us| (us - mean_us).powi(2)).sum();
        let stddev_us = if us.len() < 2 { 0.0 } else { (squares / (us.len() - 1) as f64).sqrt() };
        UnitWork { mean_us, stddev_us }
    }
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_as_idle_as_its_cpus_are_on_average() {
        let unit = UnitWork::from_ns(&[6000, 8000]);
        let idleness = Idleness { cpus: vec![(0, 27.5), (1, 82.5)], unit };
        assert_eq!(idleness.system(), 55.0);
        assert_eq!((unit.mean_us, unit.stddev_us), (7.0, 2.0f64.sqrt()));
        assert_eq!(UnitWork::from_ns(&[6000]).stddev_us, 0.0);
    }
}
