//! What a job measures, prints and logs.

use ferrio_jobfile::{Job, Opt, Options, Value};

use crate::findings::Findings;
use crate::spec::{Logs, Measure, Units};

/// Most percentiles a list may hold.
const MAX_PERCENTILES: usize = 20;

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
    measure.bwavgtime_ms = milliseconds(options, Opt::Bwavgtime).unwrap_or(measure.bwavgtime_ms);
    measure.iopsavgtime_ms = milliseconds(options, Opt::Iopsavgtime).unwrap_or(measure.iopsavgtime_ms);
    measure
}

/// What is not measured has no percentiles.
pub(crate) fn drop_unmeasured_percentiles(measure: &mut Measure) {
    measure.lat_percentiles &= measure.lat;
    measure.clat_percentiles &= measure.clat;
    measure.slat_percentiles &= measure.slat;
}

/// Log files; a log without a prefix is named after the job.
pub(crate) fn logs(job: &Job, name: &str) -> Logs {
    let prefix = |opt| {
        let text = job.options.text(opt)?;
        Some(if text.is_empty() { name.to_owned() } else { text.to_owned() })
    };
    Logs {
        bw: prefix(Opt::WriteBwLog),
        lat: prefix(Opt::WriteLatLog),
        iops: prefix(Opt::WriteIopsLog),
        avg_msec: milliseconds(&job.options, Opt::LogAvgMsec).unwrap_or(0),
    }
}

/// A quantity that is logged in windows is sampled at the interval of the windows, unless its own interval is given.
pub(crate) fn join_intervals(job: &Job, measure: &mut Measure, logs: &Logs) {
    let asked = logs.avg_msec;
    for (logged, opt, interval) in [
        (logs.bw.is_some(), Opt::Bwavgtime, &mut measure.bwavgtime_ms),
        (logs.iops.is_some(), Opt::Iopsavgtime, &mut measure.iopsavgtime_ms),
    ] {
        if logged && asked > 0 && !job.options.is_given(opt) {
            *interval = asked;
        }
    }
}

/// `disable_bw_measurement` drops exactly the bandwidth log of single I/Os.
pub(crate) fn drop_disabled_bandwidth_log(job: &Job, logs: &mut Logs, findings: &mut Findings) {
    let last = job.options.last_of(&[Opt::DisableBwMeasurement, Opt::GtodReduce]);
    let off = last.is_some_and(|given| given.value == Value::Switch(true));
    if off && logs.avg_msec == 0 && logs.bw.take().is_some() {
        findings.note(format!(
            "{}: no bandwidth log: bandwidth measurement is disabled (log_avg_msec keeps an averaged one)",
            job.name
        ));
    }
}

/// Units of printed numbers.
pub(crate) fn units(options: &Options, base: Units) -> Units {
    let word = |opt| options.choice(opt).and_then(|choice| choice.word.parse::<u32>().ok());
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

fn milliseconds(options: &Options, opt: Opt) -> Option<u32> {
    options.int(opt).map(|n| u32::try_from(n.max(0)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use crate::spec::JobSpec;
    use crate::testing::{plan_of, spec_of};

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
    fn percentiles_are_sorted_and_printed_with_the_digits_given() {
        let measure = spec("percentile_list=99.999:50:90.5\n").measure;
        assert_eq!(measure.percentiles, [50.0, 90.5, 99.999]);
        assert_eq!(measure.percentile_precision, 3);
        assert_eq!(spec("percentile_list=90:0:50\n").measure.percentiles, [90.0]);
        assert_eq!(spec("").measure.percentiles.len(), 17);
    }

    #[test]
    fn a_log_without_prefix_is_named_after_the_job() {
        let logs = spec("write_bw_log\nwrite_lat_log=x\nlog_avg_msec=500\nname=printed\n").logs;
        assert_eq!((logs.bw.as_deref(), logs.lat.as_deref(), logs.iops), (Some("printed"), Some("x"), None));
    }

    #[test]
    fn a_logged_quantity_is_sampled_at_the_log_interval() {
        let job = spec("write_bw_log\nlog_avg_msec=200\n");
        assert_eq!(
            (job.measure.bwavgtime_ms, job.measure.iopsavgtime_ms, job.logs.avg_msec),
            (200, 500, 200)
        );
        let job = spec("write_iops_log\niopsavgtime=100\nlog_avg_msec=200\n");
        assert_eq!((job.measure.iopsavgtime_ms, job.logs.avg_msec), (100, 200));
    }

    #[test]
    fn disabling_bandwidth_measurement_drops_the_log_of_single_ios_only() {
        let plan = plan_of("[a]\nioengine=null\nsize=4k\nwrite_bw_log=x\ndisable_bw=1\n").unwrap();
        assert_eq!((&plan.jobs[0].spec.logs.bw, plan.notes.len()), (&None, 1));
        assert!(spec("write_bw_log=x\ndisable_bw=1\nlog_avg_msec=10\n").logs.bw.is_some());
    }

    #[test]
    fn unit_base_is_bytes_unless_given() {
        assert_eq!(spec("unit_base=0\n").units.unit_base, 8);
        assert_eq!(spec("unit_base=1\nkb_base=1000\nsignificant_figures=6\n").units.unit_base, 1);
        assert_eq!(spec("kb_base=1000\n").units.kb_base, 1000);
    }
}
