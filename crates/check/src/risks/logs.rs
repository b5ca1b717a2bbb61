//! Log files: what they cost, and what becomes of those of an earlier run.

use std::path::Path;

use ferrio_jobfile::Opt;

use super::{Evidence, Observation, RiskRule};
use crate::facts::Obstacle;
use crate::model::{CheckedJob, CheckedLog, RiskSeverity};
use crate::section::CheckedSection;
use crate::units::{bytes, count};
use crate::volume;

pub(super) const RULES: &[RiskRule] = &[
    RiskRule::section("log-not-created", RiskSeverity::Warning, log_not_created),
    RiskRule::section("log-on-tested-device", RiskSeverity::Warning, log_on_tested_device),
    RiskRule::section("log-every-io", RiskSeverity::Info, log_every_io),
    RiskRule::section("log-exists", RiskSeverity::Info, log_exists),
];

/// Bytes of a usual row: time, value, direction, block size, offset, priority.
const ROW: u64 = 32;
/// Rates to give an idea of a size that is not known.
const BUSY: u64 = 100_000;
/// Rows of one log that are no matter.
const FEW: u64 = 100_000;
const BLAME: &[Opt] = &[Opt::WriteLatLog, Opt::WriteBwLog, Opt::WriteIopsLog];
const ALL: &[Opt] = &[Opt::WriteLatLog, Opt::WriteBwLog, Opt::WriteIopsLog, Opt::WriteHistLog];

/// Jobs run without a log that cannot be created, and what it was for is lost.
fn log_not_created(run: &Evidence<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let obstacle = |log: &CheckedLog| run.facts.logs.get(&log.path)?.obstacle;
    let logs = run.report.jobs.get(section.index)?.logs.iter();
    let mut lost = logs.filter_map(|log| obstacle(log).map(|why| (log, why)));
    let (log, why) = lost.next()?;
    let more = and_more(lost.count());
    let (path, directory) = (log.path.display(), log.path.parent().unwrap_or(Path::new("")).display());
    let (why, advice) = match why {
        Obstacle::NoDirectory => {
            (format!("there is no directory {directory}"), "make the directory, or write another prefix")
        }
        Obstacle::IsDirectory => ("it is a directory".to_owned(), "write another prefix"),
    };
    let message = format!("the jobs run without the log {path}{more}: {why}");
    Some(Observation::new(message, advice).blame(ALL))
}

/// Rows for single I/Os go to the disk whose I/O is measured.
fn log_on_tested_device(run: &Evidence<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (_, size) = large(run, section)?;
    let disk = on_tested_disk(run, section)?.display();
    let message = format!("logs with a row for each I/O go to {disk}, which the jobs measure: {size}");
    Some(Observation::new(message, "use log_avg_msec, or a prefix on another disk").blame(BLAME))
}

/// Rows for single I/Os make large files.
fn log_every_io(run: &Evidence<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let (logs, size) = large(run, section)?;
    if on_tested_disk(run, section).is_some() {
        return None;
    }
    let message = format!("a row for each I/O in {}: {size}", count(logs, "log file"));
    Some(Observation::new(message, "log_avg_msec=500 writes two rows a second").blame(BLAME))
}

/// Logs of an earlier run are emptied, or added to.
fn log_exists(run: &Evidence<'_>, section: &CheckedSection<'_>) -> Option<Observation> {
    let there = |log: &&CheckedLog| log.existing_bytes.is_some_and(|size| size > 0);
    let mut logs = run.report.jobs.get(section.index)?.logs.iter().filter(there);
    let log = logs.next()?;
    let more = and_more(logs.count());
    let path = log.path.display();
    let told = match log.shared {
        true => Observation::new(
            format!("rows are added to {path}{more}, which is there already"),
            "remove it, or two runs are in one file",
        ),
        false => Observation::new(
            format!("the log {path}{more} is there already and is overwritten"),
            "move it away to keep it",
        ),
    };
    Some(told.blame(ALL))
}

fn and_more(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" and {more} more") }
}

/// Number of logs that have a row for each I/O, and how large they become; `None` if that is no matter.
fn large(run: &Evidence<'_>, section: &CheckedSection<'_>) -> Option<(usize, String)> {
    let job: &CheckedJob = run.report.jobs.get(section.index).filter(|job| !job.never_starts)?;
    let logs = job.logs.iter().filter(|log| log.window_ms.is_none()).count();
    let spec = section.running().next().filter(|_| logs > 0)?;
    let size = match volume::most_ios(spec, &job.volume) {
        Some(ios) if ios < FEW => return None,
        Some(ios) => {
            let clones = section.instances.len().max(1);
            let kinds = (logs / clones).max(1) as u64;
            format!("at most {ios} rows, some {}", bytes(ios.saturating_mul(ROW).saturating_mul(kinds)))
        }
        None => {
            format!("how many is not known, {BUSY} I/Os a second make {}/s in each log", bytes(BUSY * ROW))
        }
    };
    Some((logs, size))
}

/// The first disk with such a log which some job works on.
fn on_tested_disk<'a>(run: &Evidence<'a>, section: &CheckedSection<'_>) -> Option<&'a Path> {
    let logs = run.report.jobs.get(section.index)?.logs.iter().filter(|log| log.window_ms.is_none());
    logs.filter_map(|log| run.facts.disk(log.place)).find(|disk| run.tested.contains(disk))
}

#[cfg(test)]
mod tests {
    use crate::facts::Obstacle;
    use crate::testing::{has, report, report_with, risks};

    #[test]
    fn rows_for_single_ios_on_the_tested_disk_are_told() {
        let job = "[a]\nsize=1g\nwrite_lat_log=x\n";
        let found = risks(&report(job), "log-on-tested-device");
        let want = "logs with a row for each I/O go to /dev/nvme0n1, which the jobs measure: at most 262144 rows, some 24MiB";
        assert_eq!(found[0].message, want);
        assert!(!has("log-on-tested-device", &format!("{job}log_avg_msec=500\n")));
        assert!(!has("log-on-tested-device", &job.replace("1g", "1m")) && !has("log-every-io", job));
    }

    #[test]
    fn an_unknown_number_of_rows_is_said_to_be_unknown() {
        let report =
            report("[a]\nioengine=null\nsize=1m\ntime_based\nruntime=9\nwrite_bw_log\nwrite_iops_log\n");
        let want = "a row for each I/O in 2 log files: how many is not known, 100000 I/Os a second make 3.1MiB/s in each log";
        assert_eq!(risks(&report, "log-every-io")[0].message, want);
    }

    #[test]
    fn logs_that_cannot_be_created_are_told() {
        let job = "[a]\nioengine=null\nsize=1m\nwrite_lat_log=away/x\n";
        let told = |obstacle| {
            let report = report_with(job, |facts| {
                facts.logs.values_mut().for_each(|log| log.obstacle = Some(obstacle));
            });
            risks(&report, "log-not-created")[0].message.clone()
        };
        let want = "the jobs run without the log away/x_lat.1.log and 2 more: there is no directory away";
        assert_eq!(told(Obstacle::NoDirectory), want);
        assert!(told(Obstacle::IsDirectory).ends_with(": it is a directory"));
        assert!(!has("log-not-created", job));
    }

    #[test]
    fn logs_of_an_earlier_run_are_told() {
        let told = |more: &str| {
            let text = format!("[a]\nioengine=null\nsize=1m\nwrite_bw_log=x\nlog_avg_msec=100\n{more}");
            let report = report_with(&text, |facts| {
                facts.logs.values_mut().for_each(|log| log.size = Some(10));
            });
            risks(&report, "log-exists")[0].message.clone()
        };
        assert_eq!(told(""), "the log x_bw.1.log is there already and is overwritten");
        assert_eq!(told("numjobs=3\n"), "the log x_bw.1.log and 2 more is there already and is overwritten");
        assert_eq!(told("per_job_logs=0\n"), "rows are added to x_bw.log, which is there already");
        assert!(!has("log-exists", "[a]\nioengine=null\nsize=1m\nwrite_bw_log=x\n"));
    }
}
