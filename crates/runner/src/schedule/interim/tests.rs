use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn reports_are_due_at_multiples_of_the_interval_however_late_the_looks_are() {
    let mut beat = Beat::new(MS(100));
    let due: Vec<u64> = [0, 99, 100, 101, 199, 207, 290, 300, 750, 799, 800]
        .into_iter()
        .filter(|&ms| beat.passed(MS(ms)))
        .collect();
    assert_eq!(due, [100, 207, 300, 750, 800]);
}

#[test]
fn both_kinds_of_reports_share_a_round_when_they_are_due_together() {
    let options =
        RunOptions { status_interval: Some(MS(1000)), interval: Some(MS(250)), ..RunOptions::default() };
    let mut interim = Interim::new(&options);
    assert_eq!(interim.patience, PATIENCE);
    let mut due = |ms| {
        interim.look(MS(ms));
        let Due { status, interval } = std::mem::take(&mut interim.due);
        (status, interval)
    };
    assert_eq!(
        [due(10), due(250), due(990), due(1000)],
        [(false, false), (false, true), (false, true), (true, true)]
    );
    assert_eq!(interim.due_in(MS(1100)), MS(150));
    interim.want_status();
    assert_eq!(interim.due_in(MS(1100)), Duration::ZERO);
}

#[test]
fn figures_are_waited_for_half_of_the_interval_within_bounds() {
    let patience =
        |every| Interim::new(&RunOptions { status_interval: every, ..RunOptions::default() }).patience;
    assert_eq!(
        [Some(MS(1)), Some(MS(120)), Some(MS(9000)), None].map(patience),
        [MS(50), MS(60), PATIENCE, PATIENCE]
    );
}

#[test]
fn the_status_file_is_removed_and_asks_for_one_report() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fio-dump-status");
    let mut interim = Interim::new(&RunOptions { status_file: Some(file.clone()), ..RunOptions::default() });
    interim.look(Duration::ZERO);
    assert!(!interim.due.any());
    std::fs::write(&file, "").unwrap();
    interim.look(MS(100));
    assert!(!interim.due.any() && file.exists(), "it is not looked for all the time");
    interim.look(FILE_LOOK);
    assert!(interim.due.status && !file.exists());
    interim.due = Due::default();
    interim.look(FILE_LOOK * 2);
    assert!(!interim.due.any());
}

fn read_and_written(control: &JobControl) -> JobResult {
    control.live.store(0, 10, 40960);
    control.live.store(1, 3, 12288);
    let mut result = JobResult::default();
    let [read, write, _] = &mut result.stats.directions;
    (read.ios, read.bytes, read.runtime_ms) = (8, 32768, 100);
    (write.ios, write.bytes) = (1, 0);
    result.stats.job_runtime_ms = 100;
    result
}

fn times(result: &JobResult) -> (u64, [u64; 3]) {
    (result.stats.job_runtime_ms, result.stats.directions.each_ref().map(|figures| figures.runtime_ms))
}

#[test]
fn a_job_that_does_not_answer_is_shown_with_its_live_counters() {
    let control = JobControl::default();
    control.set_state(JobState::Running);
    control.pid.store(7, Relaxed);
    control.start_ms.store(9, Relaxed);
    let mut result = read_and_written(&control);
    bring_up_to_date(&mut result, &control, 50);
    let done = result.stats.directions.each_ref().map(|figures| (figures.ios, figures.bytes));
    assert_eq!(done, [(10, 40960), (3, 12288), (0, 0)]);
    assert_eq!(times(&result), (150, [150, 150, 0]));
    assert_eq!((result.pid, result.start_ms), (7, 9));
}

#[test]
fn only_reads_take_time_while_a_job_verifies_and_nothing_does_when_its_io_is_over() {
    let control = JobControl::default();
    control.set_state(JobState::Verifying);
    let mut result = read_and_written(&control);
    result.stats.directions[1].runtime_ms = 40;
    bring_up_to_date(&mut result, &control, 50);
    assert_eq!(times(&result), (150, [150, 40, 0]));
    control.set_state(JobState::Finishing);
    bring_up_to_date(&mut result, &control, 50);
    assert_eq!(times(&result), (150, [150, 40, 0]));
}

#[test]
fn figures_that_come_after_those_of_a_later_moment_were_shown_are_known() {
    let at = |since, taken| Snapshot { since, taken, ..Snapshot::default() };
    let shown = at(10, 50);
    for (since, taken, older) in
        [(10, 49, true), (10, 50, false), (10, 51, false), (1, 90, true), (20, 21, false)]
    {
        assert_eq!(at(since, taken).is_older_than(&shown), older, "{since} {taken}");
    }
}
