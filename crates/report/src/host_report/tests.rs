use std::time::Duration;

use ferrio_job::{Compat, CompatRules, JobSpec, Plan, SteadyFigure, SteadyState, Tuning, UnifiedReporting};
use ferrio_plan::testing::{default_job, plan};
use ferrio_results::{JobResult, RunResult, SteadyCheck, SteadyResult};
use ferrio_stats::{BlockErrors, BlockState, DirectionRecorder, JobStats};

use super::HostReport;
use crate::model::RunReport;
use crate::text::tests::{options, run};
use crate::{Format, Formats, ReportOptions, TerseLayout, TerseVersion};

/// Sends the report of a run as agents do, and compares every format of what arrives.
fn assert_arrives(plan: &Plan, result: &RunResult, options: &ReportOptions) {
    let report = RunReport::new(plan, result, options);
    let host = HostReport::new(plan, result, options, &report);
    let message = host.to_text().unwrap();
    assert!(!message.contains('\n'));
    let arrived = HostReport::of_text(&message).unwrap();
    let arrived = arrived.report();
    assert_eq!(arrived, report);
    assert_eq!(arrived.to_json(), report.to_json());
    assert_eq!(arrived.to_text(), report.to_text());
    for version in [TerseVersion::V2, TerseVersion::V5] {
        let layout = TerseLayout::from(version);
        assert_eq!(crate::terse::to_terse(&arrived, layout), crate::terse::to_terse(&report, layout));
    }
}

fn all_options() -> Vec<ReportOptions> {
    let plus = options(true);
    vec![
        options(false),
        plus.clone(),
        ReportOptions { compat: Compat::Fio, formats: Formats::only(Format::Json), ..options(false) },
        ReportOptions { requested_percentiles: vec![12.5, 99.0], fio_bins: true, ..plus },
    ]
}

#[test]
fn a_whole_run_arrives_as_it_was_in_every_format() {
    let (plan, result) = run();
    all_options().iter().for_each(|options| assert_arrives(&plan, &result, options));
}

#[test]
fn figures_of_a_database_arrive() {
    let (plan, result) = crate::database::testing::database_run();
    all_options().iter().for_each(|options| assert_arrives(&plan, &result, options));
}

/// Reads in 7 ms with two priorities and the latencies of an asynchronous engine.
fn reads() -> JobStats {
    let recorder = DirectionRecorder::new(true, true, true, false).with_response();
    let mut recorder = recorder.with_priorities(&[0, 7], false);
    (recorder.ios, recorder.bytes) = (100, 409_600);
    for i in 1..=100 {
        recorder.record_submissions(&[i]);
        recorder.record_completions(&[i * 1001], &[i * 1002]);
        recorder.record_priority(if i % 3 == 0 { 7 } else { 0 }, i * 1001, i * 1002);
    }
    let mut stats = JobStats { total_errors: 3, first_error: 5, ..JobStats::default() };
    stats.directions[0] = recorder.finish(7);
    let mut blocks = BlockErrors::default();
    blocks.record(BlockState::TrimFailure, 12);
    stats.block_errors = Some(blocks);
    stats.job_runtime_ms = 7;
    stats
}

#[test]
fn what_documents_leave_out_arrives_too() {
    let spec = |name: &str, unified| {
        let mut spec = JobSpec { group: 3, group_reporting: true, tuning: Tuning::Fio, ..default_job(name) };
        spec.measure.unified = unified;
        spec.measure.block_errors = true;
        spec.measure.percentiles = vec![50.0, 50.000_000_1, 99.9];
        // A program called `fio` repeats options.
        spec.options = [("filename".into(), "a".into()), ("filename".into(), "b".into())].into();
        spec.tolerance.read = vec![5];
        spec.compat = CompatRules::of(Compat::Fio);
        spec.steadystate = Some(SteadyState {
            figure: SteadyFigure::Iops,
            slope: false,
            limit: 1.0 / 3.0,
            percent: true,
            duration: Duration::from_secs(2),
            ramp: Duration::ZERO,
            interval: Duration::from_secs(1),
        });
        spec
    };
    let steady = SteadyResult {
        criterion: 0.1 + 0.2,
        checks: vec![SteadyCheck { iops: 3, bw: 4, lat_ns: 0 }],
        ..SteadyResult::default()
    };
    let job = || JobResult {
        start_ms: 1000,
        stats: reads(),
        steadystate: Some(steady.clone()),
        ..JobResult::default()
    };
    for unified in [UnifiedReporting::None, UnifiedReporting::Mixed, UnifiedReporting::Both] {
        let globals = [("bs".into(), "4k".into()), ("bs".into(), "8k".into())].into();
        let alone = JobSpec { group_reporting: false, ..spec("c", unified) };
        let plan = Plan { globals, ..plan([spec("a", unified), spec("b", unified), alone]) };
        let result = RunResult { jobs: vec![job(), job(), job()], ..RunResult::default() };
        all_options().iter().for_each(|options| assert_arrives(&plan, &result, options));
    }
}
