use super::*;

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
