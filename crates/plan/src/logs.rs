//! The log files of a job (which ones it writes, their columns, how rows are averaged and stored), and the recording of its I/O:
//! `write_iolog`.

use std::os::unix::ffi::OsStrExt as _;

use ferrio_job::{IologVersion, JobSpec, LogKind, Logs, Measure, Origin, RecordTo};
use ferrio_jobfile::{Job, JobSet, Opt, Value};

use crate::as_written::{asks, inert, lacks, note, refuse};
use crate::findings::Findings;
use crate::measure::clock;

inert! {
    PerJobLogs LogSum LogAvgMsec LogWindowValue LogOffset LogPrio LogIssueTime LogAlternateEpoch
        LogAlternateEpochClockId LogCompression LogCompressionCpus LogStoreCompressed:
        |job| !writes_logs(job); "the job writes no log";
    LogWindowValue:
        |job| !asks(job, Opt::LogAvgMsec); "single I/Os are logged, not windows, without `log_avg_msec`";
    PerJobLogs:
        |job| asks(job, Opt::LogSum); "`log_sum` writes one log for several jobs";
    LogAlternateEpochClockId:
        |job| !asks(job, Opt::LogAlternateEpoch); "it applies only to `log_alternate_epoch`";
    LogCompressionCpus:
        |job| !asks(job, Opt::LogCompression) && !asks(job, Opt::LogStoreCompressed);
        "it applies only to `log_compression` and `log_store_compressed`";
    DisableBwMeasurement:
        |job| lacks(job, Opt::WriteBwLog); "no bandwidth is logged without `write_bw_log`";
    WriteHistLog:
        |job| !asks(job, Opt::LogHistMsec); "the log stays empty without `log_hist_msec`";
    LogHistMsec LogHistCoarseness:
        |job| lacks(job, Opt::WriteHistLog); "no histograms are logged without `write_hist_log`";
    ReadIologChunked ReplayNoStall ReplayRedirect ReplayScale ReplayAlign ReplayTimeScale ReplaySkip MergeBlktraceFile:
        |job| lacks(job, Opt::ReadIolog); "nothing is replayed without `read_iolog`";
    MergeBlktraceScalars MergeBlktraceIters:
        |job| lacks(job, Opt::MergeBlktraceFile); "nothing is merged without `merge_blktrace_file`";
    WriteIolog:
        |job| job.options.is_given(Opt::ReadIolog); "a job that replays (`read_iolog`) does not record";
    WriteIologVersion:
        |job| lacks(job, Opt::WriteIolog); "nothing is recorded without `write_iolog`";
}

/// The options that switch logs on.
pub const LOG_OPTIONS: &[Opt] = &[Opt::WriteLatLog, Opt::WriteBwLog, Opt::WriteIopsLog, Opt::WriteHistLog];

/// Bytes that are compressed at a time when `log_store_compressed` comes without `log_compression`.
const STORED_PIECE: u32 = 64 << 10;

/// Bytes of the longest name that a log is read with.
const MAX_WORD: usize = 256;

/// Rules about the job as written.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if job.options.is_given(Opt::ReadIolog) && job.options.is_given(Opt::WriteIolog) {
        let text = "read iolog overrides write_iolog";
        findings.warn(note(job, &[Opt::WriteIolog], "replay-overrides-recording", text));
    }
    let logged = job.options.is_given(Opt::WriteLatLog) && asks(job, Opt::LogOffset);
    if asks(job, Opt::LogIssueTime) && !logged {
        let message = "log_issue_time option requires write_lat_log and log_offset options";
        let help = "give `write_lat_log` and `log_offset=1`";
        refuse(findings, job, &[Opt::LogIssueTime], "issue-time-without-offsets", message, help);
    }
}

/// Log files, and the log that the job's I/O is recorded in.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let options = &job.options;
    let compression = options.if_given(Opt::LogCompression);
    let stored = options.value::<bool>(Opt::LogStoreCompressed).then(|| compression.unwrap_or(STORED_PIECE));
    let epoch = options.value::<bool>(Opt::LogAlternateEpoch);
    spec.logs = Logs {
        avg_msec: options.value(Opt::LogAvgMsec),
        bw_avg_msec: 0,
        bw_disabled: false,
        iops_avg_msec: 0,
        single_rates: compression.is_some() || stored.is_some(),
        stored,
        writer_cpus: options.value(Opt::LogCompressionCpus),
        window_value: options.choice(Opt::LogWindowValue),
        hist_msec: options.value(Opt::LogHistMsec),
        hist_coarseness: options.value(Opt::LogHistCoarseness),
        shared: !options.value::<bool>(Opt::PerJobLogs),
        summed: options.value(Opt::LogSum),
        offset: options.value(Opt::LogOffset),
        prio: options.value(Opt::LogPrio),
        issue_time: options.value(Opt::LogIssueTime),
        epoch_clock: epoch.then(|| clock(job, Opt::LogAlternateEpochClockId, findings)),
        ..Logs::default()
    };
    let name = spec.name.clone();
    resolve_prefixes(job, spec, &name);
    let version = match options.value::<u32>(Opt::WriteIologVersion) {
        2 => IologVersion::Two,
        _ => IologVersion::Three,
    };
    let path = options.text(Opt::WriteIolog).filter(|_| lacks(job, Opt::ReadIolog));
    spec.iolog = path.map(|path| RecordTo { path: path.into(), version });
}

/// Names the log files. Those without a prefix of their own have `name` as their prefix.
pub(crate) fn resolve_prefixes(job: &Job, spec: &mut JobSpec, name: &str) {
    for &opt in LOG_OPTIONS {
        let prefix = job.options.text(opt).map(|text| if text.is_empty() { name } else { text });
        spec.logs.set_prefix(opt.row().name, prefix);
    }
}

/// Rules about the resolved job.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    join_intervals(job, &mut spec.measure, &mut spec.logs);
    empty_disabled_bandwidth_log(job, &mut spec.logs, findings);
    note_limits_of_histograms(job, spec, findings);
}

/// A rate that is logged in windows is sampled at the interval of the windows. Its own interval, if given and shorter, becomes
/// the length of the windows of its log.
fn join_intervals(job: &Job, measure: &mut Measure, logs: &mut Logs) {
    let [logs_bandwidth, logs_iops] =
        [LogKind::Bandwidth, LogKind::Iops].map(|kind| logs.prefix(kind).is_some());
    for (logged, opt, interval, window) in [
        (logs_bandwidth, Opt::Bwavgtime, &mut measure.bwavgtime_ms, &mut logs.bw_avg_msec),
        (logs_iops, Opt::Iopsavgtime, &mut measure.iopsavgtime_ms, &mut logs.iops_avg_msec),
    ] {
        if !logged || logs.avg_msec == 0 {
            continue;
        }
        *window = logs.avg_msec;
        if job.options.is_given(opt) {
            *window = logs.avg_msec.min(*interval);
        } else {
            *interval = logs.avg_msec;
        }
    }
}

/// `disable_bw_measurement` empties exactly the bandwidth log of single I/Os.
fn empty_disabled_bandwidth_log(job: &Job, logs: &mut Logs, findings: &mut Findings) {
    let off = job.options.all().fold(false, |off, given| match (given.opt, &given.value) {
        (Opt::DisableBwMeasurement, Value::Switch(on)) => *on,
        // 0 does not undo an earlier 1.
        (Opt::GtodReduce, Value::Switch(on)) => off || *on,
        _ => off,
    });
    if off && logs.rates_are_single() && logs.prefix(LogKind::Bandwidth).is_some() {
        logs.bw_disabled = true;
        let way_out = match logs.single_rates {
            true => "log_avg_msec without log_compression and log_store_compressed",
            false => "log_avg_msec",
        };
        let text = format!(
            "{}: the bandwidth log stays empty: bandwidth measurement is disabled ({way_out} keeps an averaged one)",
            job.name
        );
        findings.note(note(job, &[Opt::DisableBwMeasurement, Opt::GtodReduce], "empty-log", text));
    }
}

/// Notes what a log of histograms cannot do.
fn note_limits_of_histograms(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.logs.prefix(LogKind::Histogram).is_none() || spec.logs.hist_msec == 0 {
        return;
    }
    let name = &spec.name;
    if !spec.measure.clat {
        let text = format!("{name}: the histogram log stays empty: completion latencies are not measured");
        findings.note(note(job, &[Opt::DisableClat, Opt::GtodReduce], "empty-log", text));
    } else if !spec.measure.clat_percentiles {
        let text = format!("{name}: all counts of the histogram log are 0: clat_percentiles=0");
        findings.note(note(job, &[Opt::ClatPercentiles, Opt::GtodReduce], "empty-log", text));
    }
    if spec.logs.stored.is_some() {
        let text = format!(
            "{name}: the histogram log is stored as text: compressed records have no room for histograms"
        );
        findings.note(note(job, &[Opt::LogStoreCompressed], "histograms-stored-as-text", text));
    }
}

/// Notes the files of a job whose names a log of version 2 or 3 cannot hold: its words are between white space.
pub(crate) fn check_recorded_names(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.iolog.is_none() {
        return;
    }
    let cannot_be_read = |name: &[u8]| name.len() > MAX_WORD || name.iter().any(u8::is_ascii_whitespace);
    let mut names = spec.files.iter().map(|file| &file.path);
    if let Some(name) = names.find(|path| cannot_be_read(path.as_os_str().as_bytes())) {
        let why = if name.as_os_str().len() > MAX_WORD { "is too long for a log" } else { "has white space" };
        let text =
            format!("the log of `write_iolog` cannot be replayed: the file name `{}` {why}", name.display());
        findings.warn(note(job, &[Opt::WriteIolog, Opt::Filename], "iolog-not-replayable", text));
    }
}

fn writes_logs(job: &Job) -> bool {
    LOG_OPTIONS.iter().any(|&opt| job.options.is_given(opt))
}

/// Standard input is read once: by a job file, or by one job that replays it.
pub(crate) fn stdin_has_one_user(set: &JobSet, findings: &mut Findings) {
    let from_stdin =
        |origin: &Origin| matches!(origin, Origin::File { source, .. } if set.sources.name(*source) == "-");
    let globals = set.globals.iter().map(|given| &given.origin);
    let mut taken = set.jobs.iter().map(|job| &job.origin).chain(globals).any(from_stdin);
    for job in &set.jobs {
        if job.options.list(Opt::ReadIolog).first().is_none_or(|first| first != "-") {
            continue;
        }
        if taken {
            let message = "only one user (read_iolog_file/job file) of stdin is permitted at once";
            let help = "read the I/O log from a file";
            refuse(findings, job, &[Opt::ReadIolog], "stdin-used-twice", message, help);
        }
        taken = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlanOptions;
    use ferrio_job::{WindowValue, log_files};

    use crate::testing::{
        first_refusal, jobs_named, jobs_of, notes, notes_of, null, plan_of, refusals, spec_of,
    };

    fn spec(options: &str) -> JobSpec {
        spec_of(&null(options))
    }

    #[test]
    fn the_option_of_each_kind_switches_logs_on() {
        let is_known = |kind: &LogKind| LOG_OPTIONS.iter().any(|opt| opt.row().name == kind.option());
        assert!(LogKind::ALL.iter().all(is_known));
    }

    #[test]
    fn a_log_without_prefix_is_named_after_the_job() {
        let logs = spec("write_bw_log\nwrite_lat_log=x\nlog_avg_msec=500\nname=printed\n").logs;
        assert_eq!(
            [LogKind::Bandwidth, LogKind::Latency, LogKind::Iops].map(|kind| logs.prefix(kind)),
            [Some("printed"), Some("x"), None]
        );
    }

    #[test]
    fn switches_of_logs_choose_their_columns() {
        assert_eq!(spec("").logs, Logs::default());
        let logs = spec("write_lat_log\nlog_offset=1\nlog_prio=1\nlog_issue_time=1\nper_job_logs=0\n").logs;
        assert!(logs.offset && logs.prio && logs.issue_time && logs.shared);
        let value = |text: &str| spec(text).logs.window_value;
        assert_eq!(value("log_window_value=both\n"), WindowValue::Both);
        assert_eq!(value("log_max_value=1\n"), WindowValue::Maximum);
        assert_eq!(value("log_window_value=max\nlog_window_value=avg\n"), WindowValue::Average);
    }

    #[test]
    fn an_alternate_epoch_is_that_of_the_wall_clock_unless_a_clock_is_given() {
        assert_eq!(spec("log_alternate_epoch_clock_id=1\n").logs.epoch_clock, None);
        assert_eq!(spec("log_unix_epoch=1\n").logs.epoch_clock, Some(0));
        assert_eq!(spec("log_alternate_epoch=1\nlog_alternate_epoch_clock_id=1\n").logs.epoch_clock, Some(1));
        let text =
            "[a]\nioengine=null\nsize=4k\nlog_alternate_epoch=1\nlog_alternate_epoch_clock_id=4000000000\n";
        assert_eq!(refusals(text), ["there is no clock with the number 4000000000"]);
    }

    #[test]
    fn single_ios_are_handed_over_only_for_logs_that_need_them() {
        let every_io = |text: &str| spec(text).logs.every_io();
        assert!(every_io("write_lat_log\nlog_avg_msec=100\n") && every_io("write_bw_log\n"));
        assert!(!every_io("write_bw_log\nlog_avg_msec=100\n") && !every_io(""));
        assert!(every_io("write_hist_log\nlog_hist_msec=100\n") && !every_io("write_hist_log\n"));
    }

    #[test]
    fn a_logged_quantity_is_sampled_at_the_log_interval() {
        let job = spec("write_bw_log\nlog_avg_msec=200\n");
        assert_eq!(
            (job.measure.bwavgtime_ms, job.measure.iopsavgtime_ms, job.logs.bw_avg_msec),
            (200, 500, 200)
        );
        let job = spec("write_iops_log\niopsavgtime=100\nlog_avg_msec=200\n");
        assert_eq!((job.measure.iopsavgtime_ms, job.logs.iops_avg_msec), (100, 100));
        let job = spec("write_bw_log\nwrite_iops_log\nbwavgtime=700\niopsavgtime=50\nlog_avg_msec=200\n");
        let intervals = (job.measure.bwavgtime_ms, job.measure.iopsavgtime_ms);
        assert_eq!((intervals, job.logs.bw_avg_msec, job.logs.iops_avg_msec), ((700, 50), 200, 50));
        assert_eq!(job.logs.avg_msec, 200, "latencies keep the window that was asked for");
        assert_eq!(spec("write_lat_log\nbwavgtime=50\nlog_avg_msec=200\n").logs.avg_msec, 200);
        assert_eq!(spec("write_bw_log\nbwavgtime=50\n").logs.bw_avg_msec, 0);
    }

    #[test]
    fn compressed_logs_have_rates_of_single_ios_and_names_of_their_own() {
        let paths = |spec: &JobSpec| log_files(spec).into_iter().map(|log| log.path).collect::<Vec<_>>();
        let job = spec("write_bw_log=x\nlog_avg_msec=100\nlog_compression=4k\nlog_compression_cpus=0\n");
        let logs = &job.logs;
        assert!(logs.every_io() && logs.rates_are_single() && logs.stored.is_none());
        assert_eq!((paths(&job), &logs.writer_cpus[..]), (vec!["x_bw.1.log".to_owned()], &[0][..]));
        let job = spec("write_bw_log=x\nwrite_hist_log=x\nlog_avg_msec=100\nlog_store_compressed=1\n");
        assert!(job.logs.every_io() && job.logs.stored == Some(65536));
        assert_eq!(paths(&job), ["x_bw.1.log.fz", "x_clat_hist.1.log"]);
        let job = spec("write_bw_log=x\nlog_compression=1k\nlog_store_compressed=1\nper_job_logs=0\n");
        assert_eq!((job.logs.stored, paths(&job)), (Some(1024), vec!["x_bw.log.fz".to_owned()]));
        assert_eq!(spec("write_bw_log=x\nlog_store_compressed=0\n").logs.stored, None);
    }

    #[test]
    fn histograms_of_latencies_without_percentiles_count_nothing_and_a_note_says_so() {
        let note = |more: &str| {
            let text = format!("[a]\nioengine=null\nsize=4k\nwrite_hist_log=x\nlog_hist_msec=9\n{more}");
            notes(&text)
        };
        assert_eq!(
            note("clat_percentiles=0\n"),
            ["a: all counts of the histogram log are 0: clat_percentiles=0"]
        );
        assert!(note("").is_empty());
        let empty = "a: the histogram log stays empty: completion latencies are not measured";
        assert_eq!(note("disable_clat=1\n"), [empty]);
        let stored = note("log_store_compressed=1\n");
        assert_eq!(
            stored,
            ["a: the histogram log is stored as text: compressed records have no room for histograms"]
        );
    }

    #[test]
    fn disabling_bandwidth_measurement_empties_the_log_of_single_ios_only() {
        let plan = plan_of("[a]\nioengine=null\nsize=4k\nwrite_bw_log=x\ndisable_bw=1\n").unwrap();
        let logs = &plan.jobs[0].spec.logs;
        assert_eq!(
            (
                logs.bw_disabled,
                logs.prefix(LogKind::Bandwidth).is_some(),
                logs.every_io(),
                plan.diagnostics.len()
            ),
            (true, true, false, 1)
        );
        let disabled = |text: &str| spec(text).logs.bw_disabled;
        assert!(!disabled("write_bw_log=x\ndisable_bw=1\nlog_avg_msec=10\n"));
        assert!(disabled("write_bw_log=x\ndisable_bw=1\nlog_avg_msec=10\nlog_compression=1k\n"));
        assert!(disabled("write_bw_log=x\ngtod_reduce=1\ngtod_reduce=0\n"));
        assert!(!disabled("write_bw_log=x\ngtod_reduce=1\ndisable_bw=0\n"));
    }

    #[test]
    fn issue_times_are_a_column_of_latency_logs_with_offsets() {
        let want = "log_issue_time option requires write_lat_log and log_offset options";
        for options in ["", "write_lat_log=x\n", "write_bw_log=x\nlog_offset=1\n"] {
            assert_eq!(first_refusal(&format!("log_issue_time=1\n{options}")), want);
        }
    }

    #[test]
    fn names_that_a_log_cannot_hold_are_noted() {
        let text = |name: &str| {
            let plan = plan_of(&null(&format!("write_iolog=l\nfilename={name}\n"))).unwrap();
            plan.diagnostics.into_iter().map(|note| note.message).collect::<Vec<_>>()
        };
        assert_eq!(text("a"), Vec::<String>::new());
        let want = "the log of `write_iolog` cannot be replayed: the file name `a b` has white space";
        assert_eq!(text("a b"), [want]);
        assert!(text(&"n".repeat(257))[0].ends_with("is too long for a log"));
    }

    #[test]
    fn a_job_that_replays_does_not_record() {
        let options = "read_iolog=in\nwrite_iolog=out\n";
        assert!(notes_of(options).contains(&"read iolog overrides write_iolog".to_owned()));
        let fatal = PlanOptions { warnings_fatal: true, ..PlanOptions::default() };
        let problems = crate::plan(&jobs_of(&null(options)), &fatal).unwrap_err();
        assert_eq!(problems.diagnostics[0].message, "read iolog overrides write_iolog");
    }

    #[test]
    fn io_is_recorded_in_version_3_unless_2_is_asked_for() {
        let iolog = |options: &str| spec(options).iolog;
        assert_eq!(iolog("write_iolog_version=2\n"), None);
        let log = |version| Some(RecordTo { path: "d/log".into(), version });
        assert_eq!(iolog("write_iolog=d/log\n"), log(IologVersion::Three));
        assert_eq!(iolog("write_iolog=d/log\nwrite_iolog_version=2\n"), log(IologVersion::Two));
    }

    #[test]
    fn standard_input_is_the_job_file_or_one_log() {
        let want = "only one user (read_iolog_file/job file) of stdin is permitted at once";
        let first = |name: &str, text: &str| {
            let set = jobs_named(name, text);
            crate::plan(&set, &PlanOptions::default()).unwrap_err().diagnostics[0].message.clone()
        };
        assert_eq!(first("-", "[a]\nioengine=null\nread_iolog=-\n"), want);
        assert_eq!(first("t.fio", "[global]\nioengine=null\nread_iolog=-\n[a]\n[b]\n"), want);
        let mut findings = Findings::default();
        stdin_has_one_user(&jobs_named("t.fio", "[a]\nioengine=null\nread_iolog=-\n"), &mut findings);
        assert!(findings.is_fine());
    }
}
