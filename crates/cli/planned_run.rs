//! A run that is planned, on its way from a front end to its report.

use std::collections::BTreeMap;

use ferrio_job::Plan;
use ferrio_jobfile::Sources;
use ferrio_machine::FileClaims;
use ferrio_stats::ClockReading;

use crate::execute::leak;
use crate::messages::Messages;
use crate::settings::ProgramSettings;

/// A run that is planned.
pub struct PlannedRun {
    pub plan: &'static Plan,
    /// The texts that the plan's diagnostics point into.
    pub sources: Sources,
    pub settings: ProgramSettings,
    pub messages: Messages,
    /// The file of the report, in a call as fio.
    pub claims: FileClaims,
    /// Verify states that a coordinator has sent.
    pub given_states: BTreeMap<String, Vec<u8>>,
    /// The clock is calibrated over the time since then.
    pub calibration: ClockReading,
}

impl PlannedRun {
    /// A run of this host for its user.
    pub fn new(
        plan: Plan,
        sources: Sources,
        settings: ProgramSettings,
        messages: Messages,
        calibration: ClockReading,
    ) -> Self {
        PlannedRun {
            plan: leak(plan),
            sources,
            settings,
            messages,
            claims: FileClaims::default(),
            given_states: Default::default(),
            calibration,
        }
    }
}
