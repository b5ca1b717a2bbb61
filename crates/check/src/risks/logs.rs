//! Log files: their cost, and logs of an earlier run.

use std::path::Path;

use ferrio_job::counted;
use ferrio_jobfile::Opt;
use ferrio_plan::LOG_OPTIONS;

use super::{Info, Observation, RiskContext, RiskRule, Section, Warning};
use crate::model::CheckedLog;
use crate::section::CheckedSection;
use crate::units::{and_more, bytes};
use crate::volume;

pub(super) const RULES: &[RiskRule] = &[
    ("log-on-tested-device", Warning, Section(log_on_tested_device)),
    ("log-every-io", Info, Section(log_every_io)),
    ("log-exists", Info, Section(log_exists)),
];

/// Bytes of a typical row: time, value, direction, block size, offset, priority.
const ROW: u64 = 32;
/// I/Os per second, as an example if the number of I/Os is unknown.
const BUSY: u64 = 100_000;
/// Fewest rows of a log that is reported.
const MIN_REPORTED_ROWS: u64 = 100_000;
const BLAME: &[Opt] = &[Opt::WriteLatLog, Opt::WriteBwLog, Opt::WriteIopsLog];

/// Logs with a row for each I/O are on a disk that jobs measure.
fn log_on_tested_device(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (_, size) = large(run, section)?;
    let disk = on_tested_disk(run, section)?.display();
    let message = format!("logs with a row for each I/O are on {disk}, which the jobs measure: {size}");
    Some(Observation::new(message, "use log_avg_msec, or a prefix on another disk", BLAME))
}

/// Logs with a row for each I/O become large.
fn log_every_io(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (logs, size) = large(run, section)?;
    if on_tested_disk(run, section).is_some() {
        return None;
    }
    let message = format!("{} with a row for each I/O: {size}", counted(logs as u64, "log file"));
    Some(Observation::new(message, "use log_avg_msec=500 for two rows a second", BLAME))
}

/// Logs of an earlier run are overwritten or appended to.
fn log_exists(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let there = |log: &&CheckedLog| log.existing_bytes.is_some_and(|size| size > 0);
    let mut logs = run.job(section).logs.iter().filter(there);
    let log = logs.next()?;
    let more = and_more(logs.count());
    let (does, advice) = match log.shared {
        true => ("appends to", "remove it to keep the runs apart"),
        false => ("overwrites", "move it away to keep it"),
    };
    let message = format!("the run {does} the existing log {}{more}", log.path.display());
    Some(Observation::new(message, advice, LOG_OPTIONS))
}

/// Number of logs with a row per I/O, and their size; `None` if they stay small.
fn large(run: &RiskContext<'_>, section: &CheckedSection<'_>) -> Option<(usize, String)> {
    let job = run.job(section);
    let logs = job.logs.iter().filter(|log| log.window_ms.is_none()).count();
    let spec = section.running().next().filter(|_| logs > 0 && !job.never_starts)?;
    let size = match volume::most_ios(spec, &job.volume) {
        Some(ios) if ios < MIN_REPORTED_ROWS => return None,
        Some(ios) => {
            let clones = section.instances.len().max(1);
            let kinds = (logs / clones).max(1) as u64;
            format!("at most {ios} rows, about {}", bytes(ios.saturating_mul(ROW).saturating_mul(kinds)))
        }
        None => {
            format!("their size is unknown; {BUSY} I/Os a second make {}/s in each log", bytes(BUSY * ROW))
        }
    };
    Some((logs, size))
}

/// The first disk with such a log that a job also tests.
fn on_tested_disk<'a>(run: &RiskContext<'a>, section: &CheckedSection<'_>) -> Option<&'a Path> {
    let logs = run.job(section).logs.iter().filter(|log| log.window_ms.is_none());
    logs.filter_map(|log| run.facts.disk(log.place)).find(|disk| run.tested.contains(disk))
}

#[cfg(test)]
mod tests {
    use crate::testing::{has, report, report_with, risks};

    #[test]
    fn rows_for_single_ios_on_the_tested_disk_are_reported() {
        let job = "[a]\nsize=1g\nwrite_lat_log=x\n";
        let found = risks(&report(job), "log-on-tested-device");
        let want = "logs with a row for each I/O are on /dev/nvme0n1, which the jobs measure: at most 262144 rows, about 24MiB";
        assert_eq!(found[0].message, want);
        assert!(!has("log-on-tested-device", &format!("{job}log_avg_msec=500\n")));
        assert!(!has("log-on-tested-device", &job.replace("1g", "1m")) && !has("log-every-io", job));
    }

    #[test]
    fn an_unknown_number_of_rows_is_reported_as_unknown() {
        let report =
            report("[a]\nioengine=null\nsize=1m\ntime_based\nruntime=9\nwrite_bw_log\nwrite_iops_log\n");
        let want = "2 log files with a row for each I/O: their size is unknown; 100000 I/Os a second make 3.1MiB/s in each log";
        assert_eq!(risks(&report, "log-every-io")[0].message, want);
    }

    #[test]
    fn logs_of_an_earlier_run_are_reported() {
        let message = |more: &str| {
            let text = format!("[a]\nioengine=null\nsize=1m\nwrite_bw_log=x\nlog_avg_msec=100\n{more}");
            let report = report_with(&text, |facts| {
                facts.logs.values_mut().for_each(|log| log.size = Some(10));
            });
            risks(&report, "log-exists")[0].message.clone()
        };
        assert_eq!(message(""), "the run overwrites the existing log x_bw.1.log");
        assert_eq!(message("numjobs=3\n"), "the run overwrites the existing log x_bw.1.log and 2 more");
        assert_eq!(message("per_job_logs=0\n"), "the run appends to the existing log x_bw.log");
        assert!(!has("log-exists", "[a]\nioengine=null\nsize=1m\nwrite_bw_log=x\n"));
    }
}
