use std::time::{Duration, UNIX_EPOCH};

use ferrio_job::Plan;
use ferrio_results::{JobProgress, JobResult, JobState, Progress, RunResult};
use serde_json::Value;

use crate::IntervalReport;
use crate::database::testing::{Session, cleaner, database_plan, innodb};

const STEPS: [u64; 4] = [900, 20, 400, 0];

/// The lines of an interval that ends when these jobs are in these states.
fn lines(report: &mut IntervalReport, plan: &Plan, jobs: Vec<(JobState, JobResult)>) -> Vec<Value> {
    let elapsed = Duration::from_secs(1);
    let (states, jobs): (Vec<_>, _) = jobs.into_iter().unzip();
    let progress = |state| JobProgress {
        state,
        elapsed,
        measured: elapsed,
        bytes: [0; 3],
        ios: [0; 3],
        transactions: 0,
        open_files: 1,
    };
    let progress = Progress { elapsed, jobs: states.into_iter().map(progress).collect() };
    let result = RunResult { jobs, elapsed, progress: Some(progress), ..RunResult::default() };
    let text = String::from_utf8(report.lines(plan, &result, UNIX_EPOCH)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The figures of the model, which one of the lines has, and the number of its job.
fn database(lines: &[Value]) -> (u64, Value) {
    let mut with = lines.iter().filter(|line| line.get("database").is_some());
    let line = with.next().unwrap();
    assert!(with.next().is_none(), "one line has the figures");
    (line["job_number"].as_u64().unwrap(), line["database"].clone())
}

fn number(figures: &Value, path: &str) -> u64 {
    figures.pointer(path).unwrap_or_else(|| panic!("{path} of {figures:#}")).as_u64().unwrap()
}

#[test]
fn one_line_has_the_figures_of_the_interval_of_all_jobs() {
    use JobState::{Reaped, Running};
    let (plan, mut report) = (database_plan("bank", &innodb()), IntervalReport::new());
    let (first, second) = (Session::default().does(30, STEPS), Session::default().does(10, STEPS));
    let jobs =
        vec![(Running, first.result(1000)), (Running, second.result(1000)), (Running, cleaner(35, 0, 1000))];
    let (job, one) = database(&lines(&mut report, &plan, jobs));
    assert_eq!((job, number(&one, "/transactions"), one["tps"].as_f64()), (1, 40, Some(40.0)));
    assert_eq!((&one["restarted"], one["length_ms"].as_f64()), (&false.into(), Some(1000.0)));
    assert_eq!((number(&one, "/lat_ns/N"), number(&one, "/steps/sync/lat_ns/N")), (40, 40));
    assert_eq!((number(&one, "/io/data_writes/total_ios"), number(&one, "/written_back")), (35, 35));
    // The first session ends: the second one's line is still the second.
    let (first, second) = (first.does(5, STEPS), second.does(20, [1800, 20, 400, 0]));
    let jobs =
        vec![(Reaped, first.result(1250)), (Running, second.result(1500)), (Running, cleaner(60, 1, 1500))];
    let (job, two) = database(&lines(&mut report, &plan, jobs));
    assert_eq!((job, number(&two, "/transactions"), two["tps"].as_f64()), (1, 25, Some(50.0)));
    assert_eq!((two["length_ms"].as_f64(), number(&two, "/checkpoints")), (Some(500.0), 1));
    assert_eq!(two["io"]["data_reads"]["iops"].as_f64(), Some(450.0));
    assert_eq!(two["lat_ns"]["percentile"].as_object().unwrap().len(), 17);
    // From now on others have the lines.
    let second = second.does(1, STEPS);
    let after = |cleaner| vec![(Reaped, first.result(1250)), (Reaped, second.result(2000)), cleaner];
    let (job, three) = database(&lines(&mut report, &plan, after((Running, cleaner(64, 1, 2000)))));
    assert_eq!((job, number(&three, "/transactions")), (2, 1));
    let (job, four) = database(&lines(&mut report, &plan, after((Reaped, cleaner(66, 2, 2300)))));
    assert_eq!((job, number(&four, "/transactions"), number(&four, "/checkpoints")), (3, 0, 1));
    assert_eq!((four["tps"].as_f64(), four["lat_ns"].get("percentile")), (Some(0.0), None));
    let all = [one, two, three, four];
    let sum = |path: &str| all.iter().map(|figures| number(figures, path)).sum::<u64>();
    assert_eq!((sum("/transactions"), sum("/lat_ns/N"), sum("/steps/read/lat_ns/N")), (66, 66, 66));
    assert_eq!((sum("/written_back"), sum("/io/log_writes/total_ios")), (66, 66 + 2));
    assert_eq!(sum("/io/double_writes/io_bytes"), 66 << 14);
}

#[test]
fn after_a_ramp_the_figures_begin_anew_with_those_who_have_left_it() {
    use JobState::{Ramp, Reaped, Running};
    let (plan, mut report) = (database_plan("bank", &innodb()), IntervalReport::new());
    let ramping = |session: &Session, ms| (Ramp, JobResult { in_ramp: true, ..session.result(ms) });
    let ramping_cleaner = |pages, ms| (Ramp, JobResult { in_ramp: true, ..cleaner(pages, 0, ms) });
    let (first, second) = (Session::default().does(30, STEPS), Session::default().does(10, STEPS));
    let jobs = vec![ramping(&first, 1000), ramping(&second, 1000), ramping_cleaner(40, 1000)];
    let (_, one) = database(&lines(&mut report, &plan, jobs));
    assert_eq!((number(&one, "/transactions"), &one["restarted"]), (40, &false.into()));
    // One session has left its ramp and did more than before; the others have not.
    let measured = Session::default().does(50, STEPS);
    let jobs = vec![
        (Running, measured.result(500)),
        ramping(&second.does(5, STEPS), 1500),
        ramping_cleaner(60, 1500),
    ];
    let (_, two) = database(&lines(&mut report, &plan, jobs));
    assert_eq!((number(&two, "/transactions"), &two["restarted"]), (50, &true.into()));
    assert_eq!((two["length_ms"].as_f64(), number(&two, "/written_back")), (Some(500.0), 0));
    let other = Session::default().does(7, STEPS);
    let jobs =
        vec![(Reaped, measured.result(600)), (Reaped, other.result(550)), (Reaped, cleaner(3, 0, 600))];
    let (_, three) = database(&lines(&mut report, &plan, jobs));
    assert_eq!((number(&three, "/transactions"), &three["restarted"]), (7, &false.into()));
    assert_eq!((three["length_ms"].as_f64(), number(&three, "/written_back")), (Some(100.0), 3));
}

#[test]
fn transactions_of_a_session_that_did_not_answer_are_those_visible_from_outside() {
    use JobState::{Reaped, Running};
    let (plan, mut report) = (database_plan("bank", &innodb()), IntervalReport::new());
    let session = Session::default().does(30, STEPS);
    let others = |ms| (Running, cleaner(0, 0, ms));
    let jobs =
        vec![(Running, session.clone().result(1000)), (Running, session.clone().result(1000)), others(1000)];
    let (_, one) = database(&lines(&mut report, &plan, jobs));
    assert_eq!((number(&one, "/transactions"), &one["fresh"]), (60, &true.into()));
    let mut silent = JobResult { stale: true, ..session.clone().result(2000) };
    silent.events.as_mut().unwrap().done = 50;
    let answered = session.clone().does(10, STEPS).result(2000);
    let jobs = vec![(Running, answered.clone()), (Running, silent), others(2000)];
    let (_, two) = database(&lines(&mut report, &plan, jobs));
    assert_eq!((number(&two, "/transactions"), &two["fresh"]), (30, &false.into()));
    assert_eq!((two["tps"].as_f64(), number(&two, "/lat_ns/N")), (Some(30.0), 10));
    assert_eq!(two["io"]["data_reads"]["per_transaction"].as_f64(), Some(9.0));
    let jobs = vec![
        (Reaped, answered),
        (Reaped, session.does(21, STEPS).result(2010)),
        (Reaped, cleaner(0, 0, 2010)),
    ];
    let (_, three) = database(&lines(&mut report, &plan, jobs));
    assert_eq!((number(&three, "/transactions"), number(&three, "/lat_ns/N")), (1, 21));
    assert_eq!(&three["fresh"], &Value::from(true));
}
