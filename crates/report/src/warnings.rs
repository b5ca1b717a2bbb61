//! Warnings about figures that may mislead: one function per warning, one file per subject. Their input is plan, result and environment
//! only.
//!
//! Each warning has a code, listed in docs/messages.md; `ferrio check` uses the same code for the same risk. Jobs that share a problem
//! share a warning.

mod database;
mod load;
mod memory;
mod queue;
mod rate;
mod run_view;
mod samples;
mod sizes;
#[cfg(test)]
mod testing;
mod throttling;

use crate::model::Warning;
use run_view::Finding;
pub(crate) use run_view::RunView;

/// A warning and the function that finds its cases.
struct WarningRule {
    code: &'static str,
    find: fn(&RunView<'_>) -> Vec<Finding>,
}

/// All warnings in report order.
const WARNINGS: &[WarningRule] = &[
    WarningRule { code: "short-run", find: samples::short_run },
    WarningRule { code: "few-ios", find: samples::few_ios },
    WarningRule { code: "cached-reads", find: memory::cached_reads },
    WarningRule { code: "buffered-writes", find: memory::buffered_writes },
    WarningRule { code: "sparse-reads", find: memory::sparse_reads },
    WarningRule { code: "cheap-syncs", find: database::cheap_syncs },
    WarningRule { code: "memory-device", find: memory::memory_device },
    WarningRule { code: "cached-device", find: memory::cached_device },
    WarningRule { code: "libaio-buffered", find: queue::libaio_buffered },
    WarningRule { code: "sizes-rounded", find: sizes::rounded },
    WarningRule { code: "worker-saturated", find: load::worker_saturated },
    WarningRule { code: "cpus-saturated", find: load::cpus_saturated },
    WarningRule { code: "cpu-limit", find: throttling::cpu_limit },
    WarningRule { code: "cpu-heat", find: throttling::cpu_heat },
    WarningRule { code: "clock-not-invariant", find: load::clock_not_invariant },
    WarningRule { code: "rate-not-held", find: rate::rate_not_held },
    WarningRule { code: "no-transactions", find: database::no_transactions },
    WarningRule { code: "write-back-limits", find: database::write_back_limits },
    WarningRule { code: "write-back-afterwards", find: database::write_back_afterwards },
    WarningRule { code: "start-spread", find: load::start_spread },
    WarningRule { code: "other-disk-load", find: load::other_disk_load },
    WarningRule { code: "other-cpu-load", find: load::other_cpu_load },
];

/// The codes of all warnings.
pub fn codes() -> impl Iterator<Item = &'static str> {
    WARNINGS.iter().map(|rule| rule.code).chain(crate::hosts::WARNING_CODES)
}

/// All warnings about a run.
pub(crate) fn find(run: &RunView<'_>) -> Vec<Warning> {
    let findings =
        WARNINGS.iter().flat_map(|rule| (rule.find)(run).into_iter().map(|finding| (rule.code, finding)));
    findings
        .map(|(code, finding)| Warning {
            code: code.into(),
            jobs: run.names(&finding.jobs),
            count: u64::try_from(finding.jobs.len()).unwrap_or(u64::MAX),
            message: finding.message,
            help: finding.help.to_owned(),
            hosts: Vec::new(),
        })
        .collect()
}
