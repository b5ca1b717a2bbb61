//! Which entries of which hosts have failed, for those who want a list of everything that ran.

use super::HostsReport;

/// An entry on one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostEntryOutcome {
    /// The index of the host.
    pub host: usize,
    /// Name of the entry.
    pub jobname: String,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

impl HostsReport {
    /// The entries of all hosts that have reported, by rank.
    #[must_use]
    pub fn outcomes(&self) -> Vec<HostEntryOutcome> {
        let mut outcomes = Vec::new();
        for (host, report) in (0..self.hosts.len()).filter_map(|at| Some((at, self.report_of(at)?))) {
            for entry in &report.entries {
                let damaged: u64 = entry.damage.counts.values().sum();
                let failure = match &entry.error {
                    // Errors that the jobs tolerate are no failures.
                    Some(error) if entry.tolerated.is_none_or(|tolerated| tolerated.total_err == 0) => {
                        Some(error.message.clone())
                    }
                    _ if damaged > 0 => Some(format!("blocks that failed their check: {damaged}")),
                    _ => None,
                };
                outcomes.push(HostEntryOutcome { host, jobname: entry.jobname.clone(), failure });
            }
        }
        outcomes
    }
}
