use super::*;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[test]
fn reports_are_due_at_multiples_of_the_interval_however_late_the_looks_are() {
    let mut timer = IntervalTimer::new(MS(100));
    let due: Vec<u64> = [0, 99, 100, 101, 199, 207, 290, 300, 750, 799, 800]
        .into_iter()
        .filter(|&ms| timer.passed(MS(ms)))
        .collect();
    assert_eq!(due, [100, 207, 300, 750, 800]);
}

#[test]
fn all_kinds_of_reports_share_a_round_when_they_are_due_together() {
    let mut reports = DueReports::new(Some(MS(1000)), &[MS(250), MS(500)], None);
    assert_eq!(reports.reply_timeout, MAX_REPLY_TIMEOUT);
    let mut due = |ms| {
        assert_eq!(reports.poll(MS(ms)), None);
        let DueKinds { status, intervals } = std::mem::take(&mut reports.due);
        (status, intervals)
    };
    assert_eq!(
        [due(10), due(250), due(990), due(1000)],
        [(false, vec![]), (false, vec![0]), (false, vec![0, 1]), (true, vec![0, 1])]
    );
    assert_eq!(reports.due_in(MS(1100)), MS(150));
    reports.want_status();
    assert_eq!(reports.due_in(MS(1100)), Duration::ZERO);
}

#[test]
fn figures_are_waited_for_half_of_the_interval_within_bounds() {
    let reply_timeout = |every| DueReports::new(every, &[], None).reply_timeout;
    assert_eq!(
        [Some(MS(1)), Some(MS(120)), Some(MS(9000)), None].map(reply_timeout),
        [MS(50), MS(60), MAX_REPLY_TIMEOUT, MAX_REPLY_TIMEOUT]
    );
}

#[test]
fn the_status_file_is_removed_and_asks_for_one_report() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("fio-dump-status");
    let mut reports = DueReports::new(None, &[], Some(file.clone()));
    assert_eq!(reports.poll(Duration::ZERO), None);
    assert!(!reports.due.any());
    std::fs::write(&file, "").unwrap();
    assert_eq!(reports.poll(MS(100)), None);
    assert!(!reports.due.any() && file.exists(), "it is not looked for all the time");
    assert_eq!(reports.poll(FILE_CHECK_INTERVAL), None);
    assert!(reports.due.status && !file.exists());
    reports.due = DueKinds::default();
    assert_eq!(reports.poll(FILE_CHECK_INTERVAL * 2), None);
    assert!(!reports.due.any());
}

#[test]
fn a_status_file_that_cannot_be_removed_is_told_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut reports = DueReports::new(None, &[], Some(directory.path().to_owned()));
    let told = reports.poll(FILE_CHECK_INTERVAL).unwrap();
    assert!(
        told.message.contains(" requests a report, but cannot be removed, so none is printed: "),
        "{}",
        told.message
    );
    assert_eq!(reports.poll(FILE_CHECK_INTERVAL * 2), None);
    assert!(!reports.due.any());
}
