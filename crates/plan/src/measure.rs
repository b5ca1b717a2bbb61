//! The measurements of a job and their clock: latencies, percentiles, averages, and the units in which they are printed.

use ferrio_job::{Choice as _, ClockSource, EngineKind, JobSpec, KbBase, Measure, UnitBase, Units};
use ferrio_jobfile::{Decimals, Job, JobSet, Opt, Options, Value};
use ferrio_machine::has_clock;

use crate::as_written::{asks, inert, note, refuse};
use crate::file_names::FileNames;
use crate::findings::Findings;

inert! {
    PercentileList:
        |job| {
            let found = measure(job);
            !(found.clat_percentiles || found.lat_percentiles || found.slat_percentiles || found.block_errors)
        };
        "the job has no percentiles";
    DisableLat DisableClat DisableSlat:
        |job| asks(job, Opt::GtodReduce); "`gtod_reduce` switches off all latencies";
}

/// Most percentiles a list may hold.
const MAX_PERCENTILES: usize = 20;

/// Switches of latencies take effect in the order given, because `gtod_reduce=1` turns all of them off.
pub(crate) fn measure(job: &Job) -> Measure {
    let (options, unset) = (&job.options, Options::default());
    let Decimals { numbers, digits } = options.value(Opt::PercentileList);
    // An entry of 0 ends the list.
    let mut percentiles: Vec<_> =
        numbers.into_iter().take_while(|&p| p > 0.0).take(MAX_PERCENTILES).collect();
    percentiles.sort_by(f64::total_cmp);
    let mut measure = Measure {
        lat: !unset.value::<bool>(Opt::DisableLat),
        clat: !unset.value::<bool>(Opt::DisableClat),
        slat: !unset.value::<bool>(Opt::DisableSlat),
        lat_percentiles: unset.value(Opt::LatPercentiles),
        clat_percentiles: unset.value(Opt::ClatPercentiles),
        slat_percentiles: unset.value(Opt::SlatPercentiles),
        gtod_reduce: false,
        percentiles,
        percentile_precision: digits,
        bwavgtime_ms: options.value(Opt::Bwavgtime),
        iopsavgtime_ms: options.value(Opt::Iopsavgtime),
        reported: options.value(Opt::Stats),
        block_errors: options.value(Opt::BlockErrorPercentiles),
        disk_util: options.value(Opt::DiskUtil),
        start_clock: 0,
        unified: options.choice(Opt::UnifiedRwReporting),
    };
    for given in options.all() {
        let Value::Switch(on) = given.value else { continue };
        match given.opt {
            Opt::DisableLat => measure.lat = !on,
            Opt::DisableClat => measure.clat = !on,
            Opt::DisableSlat => measure.slat = !on,
            Opt::LatPercentiles => measure.lat_percentiles = on,
            Opt::ClatPercentiles => measure.clat_percentiles = on,
            Opt::SlatPercentiles => measure.slat_percentiles = on,
            // 0 does not undo an earlier 1.
            Opt::GtodReduce if on => {
                measure.gtod_reduce = true;
                (measure.lat, measure.clat, measure.slat) = Default::default();
                (measure.lat_percentiles, measure.clat_percentiles, measure.slat_percentiles) =
                    Default::default();
            }
            _ => {}
        }
    }
    measure
}

/// Rules about the job as written: block errors are counted for one file.
pub(crate) fn check(job: &Job, findings: &mut Findings) {
    if !asks(job, Opt::BlockErrorPercentiles) {
        return;
    }
    let files = FileNames::new(job).count;
    if files != 1 {
        let message = format!(
            "block error histogram only available with a single file per job, but {files} files provided"
        );
        let help = "give each file a job of its own, or remove `block_error_percentiles`";
        let opts = [Opt::BlockErrorPercentiles];
        refuse(findings, job, &opts, "block-errors-of-several-files", message, help);
    }
}

/// Resolves what is measured, and the units for printing it.
pub(crate) fn resolve(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let start_clock = clock(job, Opt::JobStartClockId, findings);
    spec.measure = Measure { start_clock, ..measure(job) };
    spec.units = units(&job.options, spec.engine);
}

/// Rules about the resolved job: what is not measured has no percentiles, and a list of percentiles that is too long is cut.
pub(crate) fn apply_rules(job: &Job, spec: &mut JobSpec, findings: &mut Findings) {
    let measure = &mut spec.measure;
    measure.lat_percentiles &= measure.lat;
    measure.clat_percentiles &= measure.clat;
    measure.slat_percentiles &= measure.slat;
    let given = job.options.value::<Decimals>(Opt::PercentileList).numbers.len();
    if given > MAX_PERCENTILES {
        let message = format!(
            "the list exceeding max length {MAX_PERCENTILES}: the first {MAX_PERCENTILES} of the {given} percentiles of \
             percentile_list are used"
        );
        findings.warn(note(job, &[Opt::PercentileList], "percentiles-cut", message));
    }
}

/// The clock that an option names, the wall clock unless given. A clock that the machine does not have is refused: its times would
/// be invented.
pub(crate) fn clock(job: &Job, opt: Opt, findings: &mut Findings) -> i32 {
    let given: i64 = job.options.value(opt);
    let clock = i32::try_from(given).unwrap_or(-1);
    if !has_clock(clock) {
        let message = format!("there is no clock with the number {given}");
        let help = "0 is the wall clock, 1 the monotonic clock; clock_gettime(2) lists all";
        refuse(findings, job, &[opt], "no-such-clock", message, help);
    }
    clock
}

/// `clocksource`: all jobs of a run share one clock. The choice that a job makes itself beats one that jobs inherit; of several the
/// last one counts.
pub(crate) fn clock_source(set: &JobSet) -> Option<ClockSource> {
    let jobs = || set.jobs.iter().rev();
    let own = jobs().find_map(|job| job.own.iter().rev().find(|given| given.opt == Opt::Clocksource));
    let given = own.or_else(|| jobs().find_map(|job| job.options.given(Opt::Clocksource)));
    match &given?.value {
        Value::Word(word, _) => ClockSource::from_word(word),
        _ => None,
    }
}

fn units(options: &Options, engine: EngineKind) -> Units {
    Units {
        kb_base: options.choice::<KbBase>(Opt::KbBase).bytes(),
        unit_base: match options.choice(Opt::UnitBase) {
            UnitBase::Automatic if engine.counts_in_bits() => 1,
            UnitBase::Automatic | UnitBase::Bytes => 8,
            UnitBase::Bits => 1,
        },
        significant_figures: u8::try_from(options.value::<u32>(Opt::SignificantFigures)).unwrap_or(u8::MAX),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{first_refusal, plan_of, refusals, spec_of, texts, wrong};
    use ferrio_job::{ClockSource, JobSpec, UnifiedReporting};

    fn spec(options: &str) -> JobSpec {
        spec_of(&format!("[a]\nioengine=null\nsize=8k\n{options}"))
    }

    #[test]
    fn gtod_reduce_turns_latencies_off_unless_a_later_option_turns_them_on() {
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
        let want = "the list exceeding max length 20: the first 20 of the 25 percentiles of percentile_list are used";
        assert_eq!(texts(&plan.diagnostics), [want]);
        assert_eq!(
            texts(&plan_of("[a]\nioengine=null\nsize=4k\npercentile_list=1:2\n").unwrap().diagnostics),
            [""; 0]
        );
    }

    #[test]
    fn the_start_of_a_job_is_read_from_the_wall_clock_unless_a_clock_is_given() {
        assert_eq!(spec("").measure.start_clock, 0);
        assert_eq!(spec("job_start_clock_id=1\n").measure.start_clock, 1);
        let text = "[a]\nioengine=null\nsize=4k\njob_start_clock_id=99\n";
        assert_eq!(refusals(text), ["there is no clock with the number 99"]);
    }

    #[test]
    fn unit_base_is_bytes_unless_given() {
        assert_eq!(spec("unit_base=0\n").units.unit_base, 8);
        assert_eq!(spec("unit_base=1\nkb_base=1000\nsignificant_figures=6\n").units.unit_base, 1);
        assert_eq!(spec("kb_base=1000\n").units.kb_base, 1000);
    }

    #[test]
    fn block_errors_are_counted_for_one_file() {
        let want = "block error histogram only available with a single file per job, but 2 files provided";
        assert_eq!(first_refusal("block_error_percentiles=1\nnrfiles=2\n"), want);
        assert_eq!(first_refusal("block_error_percentiles=1\nfilename=x:y\n"), want);
        assert!(wrong("block_error_percentiles=1\n").is_empty());
    }

    #[test]
    fn the_last_job_that_says_so_chooses_the_clock_for_all() {
        let clock = |text: &str| plan_of(&format!("[global]\nioengine=null\nsize=4k\n{text}")).unwrap().clock;
        assert_eq!(clock("[a]\n"), None);
        assert_eq!(clock("clocksource=cpu\n[a]\n"), Some(ClockSource::Cpu));
        assert_eq!(clock("[a]\nclocksource=gettimeofday\n[b]\n"), Some(ClockSource::Kernel));
        assert_eq!(
            clock("clocksource=cpu\n[a]\nclocksource=clock_gettime\n[b]\n"),
            Some(ClockSource::Kernel)
        );
        assert_eq!(clock("[a]\nclocksource=clock_gettime\n[b]\nclocksource=cpu\n"), Some(ClockSource::Cpu));
    }
}
