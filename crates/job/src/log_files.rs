//! Which log files a job writes.

use crate::{JobSpec, LogKind, LogValues, Logs};

/// One log file of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedLog {
    /// The values in it.
    pub kind: LogKind,
    /// The path, relative to the working directory unless the prefix is absolute.
    pub path: String,
    /// Several jobs add rows to what it has.
    pub shared: bool,
    /// It holds compressed records instead of text, in pieces of this many bytes.
    pub stored: Option<u32>,
    /// ms between two rows, 0 without rows; `None` for a row for every I/O.
    pub window_ms: Option<u32>,
}

/// All log files of a job, in the order of [`LogKind::ALL`].
#[must_use]
pub fn log_files(spec: &JobSpec) -> Vec<PlannedLog> {
    let log = |kind: LogKind| {
        let (prefix, window_ms) = (spec.logs.prefix(kind)?, kind.window_ms(spec)?);
        let Logs { shared, summed, stored, group_in_names, .. } = spec.logs;
        // Compressed records have no room for histograms: those stay text.
        let stored = stored.filter(|_| kind.values() != LogValues::Histograms);
        let number = if shared || summed { group_in_names } else { Some(spec.number) };
        let number = number.map(|number| format!(".{number}")).unwrap_or_default();
        let suffix = if stored.is_some() { "log.fz" } else { "log" };
        let path = format!("{prefix}_{}{number}.{suffix}", kind.word());
        Some(PlannedLog { kind, path, shared: shared && !summed, stored, window_ms })
    };
    LogKind::ALL.iter().copied().filter_map(log).collect()
}
