//! What a job measures, prints and logs.

use ferrio_job::Diagnostic;
use ferrio_jobfile::{Job, Opt, Options, Value};
use nix::time::{ClockId, clock_gettime};

use crate::findings::Findings;
use crate::resolve::value_origin;
use crate::written::note;
use ferrio_job::{IologVersion, JobSpec, Logs, Measure, RecordTo, UnifiedReporting, Units, WindowValue};

/// Most percentiles a list may hold.
const MAX_PERCENTILES: usize = 20;

/// Bytes that are compressed at a time when `log_store_compressed` comes without `log_compression`.
const STORED_PIECE: u32 = 64 << 10;

/// Latency switches are worked off in order, since `gtod_reduce=1` changes them where it stands.
pub(crate) fn measure(job: &Job, base: Measure) -> Measure {
    let options = &job.options;
    let mut measure = base;
    for given in options.all() {
        let Value::Switch(on) = given.value else { continue };
        match given.opt {
            Opt::DisableLat => measure.lat = !on,
            Opt::DisableClat => measure.clat = !on,
            Opt::DisableSlat => measure.slat = !on,
            Opt::LatPercentiles => measure.lat_percentiles = on,
            Opt::ClatPercentiles => measure.clat_percentiles = on,
            Opt::SlatPercentiles => measure.slat_percentiles = on,
            Opt::Stats => measure.reported = on,
            Opt::BlockErrorPercentiles => measure.block_errors = on,
            Opt::DiskUtil => measure.disk_util = on,
            // 0 does not undo an earlier 1.
            Opt::GtodReduce if on => {
                measure.gtod_reduce = true;
                (measure.lat, measure.clat, measure.slat) = (false, false, false);
                (measure.lat_percentiles, measure.clat_percentiles, measure.slat_percentiles) =
                    (false, false, false);
            }
            _ => {}
        }
    }
    if let Some(list) = options.floats(Opt::PercentileList) {
        // An entry of 0 ends the list.
        measure.percentiles = list.iter().copied().take_while(|&p| p > 0.0).take(MAX_PERCENTILES).collect();
        measure.percentiles.sort_by(f64::total_cmp);
        measure.percentile_precision = options.float_precision(Opt::PercentileList);
    }
    measure.unified = match options.word(Opt::UnifiedRwReporting).map(|choice| choice.word) {
        Some("mixed") => UnifiedReporting::Mixed,
        Some("both") => UnifiedReporting::Both,
        _ => UnifiedReporting::None,
    };
    measure.bwavgtime_ms = number(options, Opt::Bwavgtime).unwrap_or(measure.bwavgtime_ms);
    measure.iopsavgtime_ms = number(options, Opt::Iopsavgtime).unwrap_or(measure.iopsavgtime_ms);
    measure
}

/// A list of percentiles that is too long is cut, which fio tells in these words.
pub(crate) fn tell_cut_percentiles(job: &Job, findings: &mut Findings) {
    let options = &job.options;
    let given = options.floats(Opt::PercentileList).map_or(0, <[f64]>::len);
    if given > MAX_PERCENTILES {
        let message = format!(
            "the list exceeding max length {MAX_PERCENTILES}: the first {MAX_PERCENTILES} of the {given} percentiles of \
             percentile_list are used"
        );
        findings.warn(note(job, &[Opt::PercentileList], "percentiles-cut", message));
    }
}

/// What is not measured has no percentiles.
pub(crate) fn drop_unmeasured_percentiles(measure: &mut Measure) {
    measure.lat_percentiles &= measure.lat;
    measure.clat_percentiles &= measure.clat;
    measure.slat_percentiles &= measure.slat;
}

/// Log files; a log without a prefix is named after the job.
pub(crate) fn logs(job: &Job, name: &str, findings: &mut Findings) -> Logs {
    let options = &job.options;
    let prefix = |opt| {
        let text = options.text(opt)?;
        Some(if text.is_empty() { name.to_owned() } else { text.to_owned() })
    };
    let switch = |opt, default| options.switch(opt).unwrap_or(default);
    let compression = options.size(Opt::LogCompression).map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let stored = switch(Opt::LogStoreCompressed, false).then(|| compression.unwrap_or(STORED_PIECE));
    Logs {
        bw: prefix(Opt::WriteBwLog),
        lat: prefix(Opt::WriteLatLog),
        iops: prefix(Opt::WriteIopsLog),
        hist: prefix(Opt::WriteHistLog),
        avg_msec: number(options, Opt::LogAvgMsec).unwrap_or(0),
        bw_avg_msec: 0,
        bw_disabled: false,
        iops_avg_msec: 0,
        single_rates: compression.is_some() || stored.is_some(),
        stored,
        writer_cpus: options.cpus(Opt::LogCompressionCpus).unwrap_or_default(),
        window_value: match options.word(Opt::LogWindowValue).map(|choice| choice.word) {
            Some("max") => WindowValue::Maximum,
            Some("both") => WindowValue::Both,
            _ => WindowValue::Average,
        },
        hist_msec: number(options, Opt::LogHistMsec).unwrap_or(0),
        hist_coarseness: number(options, Opt::LogHistCoarseness).unwrap_or(0),
        shared: !switch(Opt::PerJobLogs, true),
        offset: switch(Opt::LogOffset, false),
        prio: switch(Opt::LogPrio, false),
        issue_time: switch(Opt::LogIssueTime, false),
        epoch_clock: switch(Opt::LogAlternateEpoch, false)
            .then(|| clock(options, Opt::LogAlternateEpochClockId, findings)),
    }
}

/// The log that the job's I/O is recorded in.
pub(crate) fn iolog(options: &Options) -> Option<RecordTo> {
    let version = match options.int(Opt::WriteIologVersion) {
        Some(2) => IologVersion::Two,
        _ => IologVersion::Three,
    };
    options.text(Opt::WriteIolog).map(|path| RecordTo { path: path.into(), version })
}

/// The clock that an option names, the wall clock unless given. One that the machine does not have is refused: its times would
/// be made up.
pub(crate) fn clock(options: &Options, opt: Opt, findings: &mut Findings) -> i32 {
    let given = options.int(opt).unwrap_or(0);
    let clock = i32::try_from(given).unwrap_or(-1);
    if clock < 0 || clock_gettime(ClockId::from_raw(clock)).is_err() {
        let origin = value_origin(options, opt);
        let message = format!("there is no clock with the number {given}");
        let help = "0 is the wall clock, 1 the monotonic clock; clock_gettime(2) lists all";
        findings.refuse(Diagnostic::error(message, origin).code("no-such-clock").help(help));
    }
    clock
}

/// A rate that is logged in windows is sampled at the interval of the windows. Its own interval, if given and shorter, becomes
/// the length of the windows of its log.
pub(crate) fn join_intervals(job: &Job, measure: &mut Measure, logs: &mut Logs) {
    for (logged, opt, interval, window) in [
        (logs.bw.is_some(), Opt::Bwavgtime, &mut measure.bwavgtime_ms, &mut logs.bw_avg_msec),
        (logs.iops.is_some(), Opt::Iopsavgtime, &mut measure.iopsavgtime_ms, &mut logs.iops_avg_msec),
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
pub(crate) fn empty_disabled_bandwidth_log(job: &Job, logs: &mut Logs, findings: &mut Findings) {
    let off = job.options.all().fold(false, |off, given| match (given.opt, &given.value) {
        (Opt::DisableBwMeasurement, Value::Switch(on)) => *on,
        // 0 does not undo an earlier 1.
        (Opt::GtodReduce, Value::Switch(on)) => off || *on,
        _ => off,
    });
    if off && logs.rates_are_single() && logs.bw.is_some() {
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

/// Tells what a log of histograms cannot do.
pub(crate) fn tell_limits_of_histograms(job: &Job, spec: &JobSpec, findings: &mut Findings) {
    if spec.logs.hist.is_none() || spec.logs.hist_msec == 0 {
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

/// Units of printed numbers.
pub(crate) fn units(options: &Options, base: Units) -> Units {
    let word = |opt| options.word(opt).and_then(|choice| choice.word.parse::<u32>().ok());
    Units {
        kb_base: word(Opt::KbBase).unwrap_or(base.kb_base),
        // No engine here counts in bits by itself: automatic is bytes.
        unit_base: word(Opt::UnitBase).filter(|&unit| unit != 0).unwrap_or(base.unit_base),
        significant_figures: options
            .int(Opt::SignificantFigures)
            .and_then(|n| u8::try_from(n).ok())
            .unwrap_or(base.significant_figures),
    }
}

/// A 32-bit number; what does not fit is the largest one.
fn number(options: &Options, opt: Opt) -> Option<u32> {
    options.int(opt).map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{notes, plan_of, refusals, spec_of, texts};

    fn spec(options: &str) -> JobSpec {
        spec_of(&format!("[a]\nioengine=null\nsize=8k\n{options}"))
    }

    #[test]
    fn gtod_reduce_ends_latencies_until_told_otherwise() {
        let measure = spec("lat_percentiles=1\ngtod_reduce=1\ndisable_slat=0\ngtod_reduce=0\n").measure;
        assert!(measure.gtod_reduce && measure.slat);
        assert!(!measure.lat && !measure.clat);
        assert!(!measure.lat_percentiles && !measure.clat_percentiles && !measure.slat_percentiles);
    }

    #[test]
    fn disabled_latencies_have_no_percentiles() {
        let measure = spec("lat_percentiles=1\nslat_percentiles=1\ndisable_clat=1\ndisable_slat=1\n").measure;
        assert!(measure.lat_percentiles && !measure.clat_percentiles && !measure.slat_percentiles);
    }

    #[test]
    fn directions_are_unified_by_word_or_number() {
        let unified = |options: &str| spec(options).measure.unified;
        assert_eq!(unified("unified_rw_reporting=2\n"), UnifiedReporting::Both);
        assert_eq!(unified("unified_rw_reporting=mixed\n"), UnifiedReporting::Mixed);
        assert_eq!(unified("unified_rw_reporting=1\nunified_rw_reporting=none\n"), UnifiedReporting::None);
    }

    #[test]
    fn percentiles_are_sorted_and_printed_with_the_digits_given() {
        let measure = spec("percentile_list=99.999:50:90.5\n").measure;
        assert_eq!(measure.percentiles, [50.0, 90.5, 99.999]);
        assert_eq!(measure.percentile_precision, 3);
        assert_eq!(spec("percentile_list=90:0:50\n").measure.percentiles, [90.0]);
        assert_eq!(spec("").measure.percentiles.len(), 17);
    }

    #[test]
    fn the_first_20_of_a_longer_list_of_percentiles_count() {
        let list = (1..=25).rev().map(|percent| percent.to_string()).collect::<Vec<_>>().join(":");
        let job = format!("[a]\nioengine=null\nsize=4k\npercentile_list={list}\n");
        let plan = plan_of(&job).unwrap();
        assert_eq!(plan.jobs[0].spec.measure.percentiles, (6..=25).map(f64::from).collect::<Vec<_>>());
        let told = "the list exceeding max length 20: the first 20 of the 25 percentiles of percentile_list are used";
        assert_eq!(texts(&plan.diagnostics), [told]);
        assert_eq!(
            texts(&plan_of("[a]\nioengine=null\nsize=4k\npercentile_list=1:2\n").unwrap().diagnostics),
            [""; 0]
        );
    }

    #[test]
    fn io_is_recorded_in_version_3_unless_2_is_asked_for() {
        assert_eq!(spec("write_iolog_version=2\n").iolog, None);
        let log = |version| Some(RecordTo { path: "d/log".into(), version });
        assert_eq!(spec("write_iolog=d/log\n").iolog, log(IologVersion::Three));
        assert_eq!(spec("write_iolog=d/log\nwrite_iolog_version=2\n").iolog, log(IologVersion::Two));
    }

    #[test]
    fn a_log_without_prefix_is_named_after_the_job() {
        let logs = spec("write_bw_log\nwrite_lat_log=x\nlog_avg_msec=500\nname=printed\n").logs;
        assert_eq!((logs.bw.as_deref(), logs.lat.as_deref(), logs.iops), (Some("printed"), Some("x"), None));
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
    fn the_start_of_a_job_is_told_by_the_wall_clock_unless_a_clock_is_given() {
        assert_eq!(spec("").measure.start_clock, 0);
        assert_eq!(spec("job_start_clock_id=1\n").measure.start_clock, 1);
        let text = "[a]\nioengine=null\nsize=4k\njob_start_clock_id=99\n";
        assert_eq!(refusals(text), ["there is no clock with the number 99"]);
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
        let logs =
            spec("write_bw_log=x\nlog_avg_msec=100\nlog_compression=4k\nlog_compression_cpus=0\n").logs;
        assert!(logs.every_io() && logs.rates_are_single() && logs.stored.is_none());
        assert_eq!((logs.file_name(1, "x", "bw"), &logs.writer_cpus[..]), ("x_bw.1.log".into(), &[0][..]));
        let logs = spec("write_bw_log=x\nlog_avg_msec=100\nlog_store_compressed=1\n").logs;
        assert!(logs.every_io() && logs.stored == Some(65536));
        assert_eq!(logs.file_name(1, "x", "bw"), "x_bw.1.log.fz");
        assert_eq!(logs.file_name(1, "x", "clat_hist"), "x_clat_hist.1.log");
        let logs = spec("write_bw_log=x\nlog_compression=1k\nlog_store_compressed=1\nper_job_logs=0\n").logs;
        assert_eq!((logs.stored, logs.file_name(1, "x", "bw")), (Some(1024), "x_bw.log.fz".into()));
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
            (logs.bw_disabled, logs.bw.is_some(), logs.every_io(), plan.diagnostics.len()),
            (true, true, false, 1)
        );
        let disabled = |text: &str| spec(text).logs.bw_disabled;
        assert!(!disabled("write_bw_log=x\ndisable_bw=1\nlog_avg_msec=10\n"));
        assert!(disabled("write_bw_log=x\ndisable_bw=1\nlog_avg_msec=10\nlog_compression=1k\n"));
        assert!(disabled("write_bw_log=x\ngtod_reduce=1\ngtod_reduce=0\n"));
        assert!(!disabled("write_bw_log=x\ngtod_reduce=1\ndisable_bw=0\n"));
    }

    #[test]
    fn unit_base_is_bytes_unless_given() {
        assert_eq!(spec("unit_base=0\n").units.unit_base, 8);
        assert_eq!(spec("unit_base=1\nkb_base=1000\nsignificant_figures=6\n").units.unit_base, 1);
        assert_eq!(spec("kb_base=1000\n").units.kb_base, 1000);
    }
}
