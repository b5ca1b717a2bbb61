//! Hosts that are behind: slower than the others, or late at the start.

use crate::model::{HostOfRun, Warning};
use crate::quantity::Unit;

/// The codes of these warnings.
pub(crate) const CODES: [&str; 2] = [STRAGGLER, LATE_START];
const STRAGGLER: &str = "straggler";
const LATE_START: &str = "late-start";

/// Deviations from the median, in median absolute deviations, that make a host a straggler.
const MAX_DEVIATIONS: f64 = 3.0;
/// A host that is slower by less than this part of the median is none, however equal the others are.
const MIN_SHORTFALL: f64 = 0.05;
/// Fewer hosts have no median that says which of them is the exception.
const MIN_HOSTS: usize = 3;
/// How late a host may begin a phase, in µs.
const MAX_LATENESS_US: i64 = 1000;

/// Marks the hosts whose bandwidth in an entry is far below that of the others, and returns a warning for each entry and direction that
/// has any. `entries` are the entries of all hosts: the index of each host, and that of its entry.
pub(super) fn mark_stragglers(hosts: &mut [HostOfRun], entries: &[Vec<(usize, usize)>]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for entry in entries {
        for name in ["read", "write", "trim", "mixed"] {
            warnings.extend(stragglers_of(hosts, entry, name));
        }
    }
    warnings
}

fn stragglers_of(hosts: &mut [HostOfRun], entry: &[(usize, usize)], name: &str) -> Option<Warning> {
    let direction = |hosts: &[HostOfRun], &(host, entry): &(usize, usize)| {
        let mut directions = hosts[host].jobs[entry].shown_directions().into_iter();
        directions.find(|(other, _)| *other == name).map(|(_, direction)| direction.bw_bytes)
    };
    let rates: Vec<((usize, usize), u64)> =
        entry.iter().filter_map(|at| Some((*at, direction(hosts, at)?))).collect();
    if rates.len() < MIN_HOSTS {
        return None;
    }
    let all: Vec<f64> = rates.iter().map(|&(_, rate)| rate as f64).collect();
    let middle = median(&all);
    let deviation = median(&all.iter().map(|rate| (rate - middle).abs()).collect::<Vec<_>>());
    let limit = middle - (MAX_DEVIATIONS * deviation).max(MIN_SHORTFALL * middle);
    let slow: Vec<((usize, usize), u64)> =
        rates.iter().copied().filter(|&(_, rate)| (rate as f64) < limit).collect();
    let &(slowest, rate) = slow.iter().min_by_key(|(_, rate)| *rate)?;
    for &((host, entry), _) in &slow {
        if let Some(direction) = hosts[host].jobs[entry].direction_mut(name) {
            direction.straggler = true;
        }
    }
    let [rate, middle] = [rate as f64, middle].map(|rate| Unit::BytesPerSecond.text(rate));
    let at_worst = if slow.len() > 1 {
        format!("{} stragglers, at worst {}", slow.len(), hosts[slowest.0].name)
    } else {
        "a straggler".to_owned()
    };
    let jobname = hosts[slowest.0].jobs[slowest.1].jobname.clone();
    Some(Warning {
        code: STRAGGLER.into(),
        message: format!(
            "{at_worst} among {} hosts: {name} of {jobname} had {rate}, half of the hosts {middle} or more",
            rates.len()
        ),
        jobs: vec![jobname],
        count: slow.len() as u64,
        help: "the figures of all hosts wait for the slowest one: compare its machine, network path and warnings with those of the others"
            .to_owned(),
        hosts: slow.iter().map(|((host, _), _)| hosts[*host].name.clone()).collect(),
    })
}

/// A warning for the hosts that began a phase more than 1 ms after the time that was planned for all.
pub(super) fn late_starts(hosts: &[HostOfRun]) -> Option<Warning> {
    let lateness = |host: &HostOfRun| {
        let late = |phase: &crate::model::PhaseReport| {
            let planned = i64::try_from(phase.planned_us).unwrap_or(i64::MAX);
            let bound = i64::try_from(phase.bound_us).unwrap_or(i64::MAX);
            phase.reached_us.saturating_sub(planned).saturating_sub(bound)
        };
        host.phases.iter().map(late).max().filter(|&late| late > MAX_LATENESS_US)
    };
    let late: Vec<(&HostOfRun, i64)> =
        hosts.iter().filter_map(|host| Some((host, lateness(host)?))).collect();
    let (worst, us) = late.iter().max_by_key(|(_, us)| *us)?;
    Some(Warning {
        code: LATE_START.into(),
        jobs: Vec::new(),
        count: 0,
        message: format!(
            "{} of {} hosts began a phase more than 1 ms after the planned time: {} by {:.1} ms at least",
            late.len(),
            hosts.len(),
            worst.name,
            *us as f64 / 1000.0
        ),
        help: "a busy host or a slow network delays it: see `phases` of its entry in `hosts`".to_owned(),
        hosts: late.iter().map(|(host, _)| host.name.clone()).collect(),
    })
}

/// The median; 0 without values.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.as_slice() {
        [] => 0.0,
        sorted if sorted.len() % 2 == 1 => sorted[middle],
        sorted => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}
