//! The interval report of a run on many hosts: the figures of each entry on each host, and of all hosts together, on one time axis.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ferrio_stats::JobStats;
use schemars::JsonSchema;
use serde::Serialize;

use super::line::{DirectionLine, FORMAT_VERSION, SyncLine, write_line};
use crate::build::record::EntryRecord;
use crate::hosts::HostsReport;
use crate::num::whole_ms;

/// The figures of one entry of a run on many hosts in one interval of --interval-report. They cover only the interval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(
    title = "One line of ferrio's interval report on many hosts",
    extend("$id" = "urn:ferrio:hosts-interval-report:1")
)]
pub(crate) struct HostIntervalLine<'a> {
    /// Version of the format. A version may gain fields; the meaning of its fields does not change.
    #[schemars(extend("const" = FORMAT_VERSION))]
    version: u32,
    /// Number of the interval, the same for all hosts, from 1.
    #[schemars(range(min = 1))]
    interval: u64,
    /// End of the interval, in ms since the planned beginning of the first phase, by the coordinator's clock.
    time_ms: u64,
    /// End of the interval, in ms since 1970, by the coordinator's clock.
    timestamp_ms: u64,
    /// Time covered by the figures, in ms.
    #[schemars(range(min = 0))]
    length_ms: f64,
    /// The host, as given on the command line; absent in the line of all hosts together.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<&'a str>,
    /// Number of hosts in the line.
    #[schemars(range(min = 1))]
    hosts: usize,
    /// Name of the entry.
    jobname: &'a str,
    /// Number of the entry's group.
    groupid: u32,
    /// Reads, if the entry reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<DirectionLine>,
    /// Writes, if the entry writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    write: Option<DirectionLine>,
    /// Trims, if the entry trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<DirectionLine>,
    /// fsync, fdatasync and sync_file_range calls between the I/Os, once there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    sync: Option<SyncLine>,
    /// errno that ended a job; 0 without an error.
    error: i32,
}

/// An entry by its name and the number of earlier entries of that name, on one host or on all.
type EntryKey = (Option<usize>, String, usize);

/// The interval report of one run on many hosts.
#[derive(Debug, Default)]
pub struct HostsIntervalReport {
    interval: u64,
    /// End of the last interval.
    until: Duration,
    /// The figures of each entry at its last line.
    shown: HashMap<EntryKey, JobStats>,
}

impl HostsIntervalReport {
    /// Creates a report without lines.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The lines of the interval that ends at `time` on the common axis, each with a newline. `now` is the time of day. Entries in which
    /// nothing was done have none.
    pub fn lines(&mut self, run: &HostsReport, time: Duration, now: SystemTime) -> Vec<u8> {
        self.interval += 1;
        let length = time.saturating_sub(self.until);
        self.until = time;
        let (time_ms, timestamp_ms) = (whole_ms(time), now.duration_since(UNIX_EPOCH).map_or(0, whole_ms));
        let mut out = Vec::new();
        for part in run.parts() {
            let key = (part.host, part.entry.jobname.clone(), part.nth);
            let line = HostIntervalLine {
                time_ms,
                timestamp_ms,
                host: part.host.map(|host| run.hosts[host].name.as_str()),
                hosts: part.hosts,
                ..self.line(&part.entry, key, length)
            };
            if [&line.read, &line.write, &line.trim].iter().any(|figures| figures.is_some()) {
                write_line(&line, &mut out);
            }
        }
        out
    }

    /// The line of an entry, without the fields that belong to the interval. Stores the figures for the next line.
    fn line<'a>(
        &mut self,
        entry: &'a EntryRecord<'_>,
        key: EntryKey,
        length: Duration,
    ) -> HostIntervalLine<'a> {
        let stats: &JobStats = &entry.stats;
        let shown = self.shown.entry(key).or_default();
        // Figures that are smaller than before have begun again, after a ramp for example.
        let new = stats.since(shown).unwrap_or_else(|| stats.clone());
        let direction = |at: usize| {
            let (was_done, is_new) = (stats.directions[at].ios > 0, new.directions[at].ios > 0);
            // An entry that runs and gets nothing done has a line, one that has ended has none.
            let is_shown = is_new || (was_done && new.job_runtime_ms > 0);
            is_shown.then(|| DirectionLine::new(&entry.measure, &new.directions[at], length.as_nanos()))
        };
        let line = HostIntervalLine {
            version: FORMAT_VERSION,
            interval: self.interval,
            time_ms: 0,
            timestamp_ms: 0,
            length_ms: length.as_nanos() as f64 / 1e6,
            host: None,
            hosts: 1,
            jobname: &entry.jobname,
            groupid: entry.groupid,
            read: direction(0),
            write: direction(1),
            trim: direction(2),
            sync: (stats.sync.ios > 0).then(|| SyncLine::new(&entry.measure, &new.sync)),
            error: entry.error.as_ref().map_or(0, |error| error.errno),
        };
        *shown = stats.clone();
        line
    }
}
