use super::*;

/// MariaDB 10.11 under sysbench's `oltp_read_write` with 8 threads and uniform keys on four tables of a million rows; seven seconds passed.
const BEFORE: &str = include_str!("../testdata/mariadb_before.txt");
/// As a box.
const AFTER: &str = include_str!("../testdata/mariadb_after.txt");

fn job(before: Option<&str>, after: &str, given: &GivenFigures) -> Result<ModelJob, StatusError> {
    innodb_job(before.map(Snapshot::of).as_ref(), &Snapshot::of(after), given)
}

fn values<const N: usize>(job: &ModelJob, options: [&str; N]) -> [String; N] {
    options.map(|option| job.value(option).unwrap_or("-").to_owned())
}

#[test]
fn two_snapshots_of_mariadb_become_the_job_of_their_difference() {
    let job = job(Some(BEFORE), AFTER, &GivenFigures::default()).unwrap();
    assert_eq!(values(&job, ["sync_sessions"]), ["1"]);
    // 1592 transactions: 37602 pages read, 9862 written in 91 batches, 3147689 bytes of the log, 2.63 s of CPU time.
    assert_eq!(values(&job, ["page_reads", "pages_changed", "write_back_batch"]), ["23.62", "6.19", "102"]);
    assert_eq!(
        values(&job, ["log_block", "log_size", "log_direct", "log_appends"]),
        ["4k", "256m", "1", "1"]
    );
    assert_eq!(
        values(&job, ["numjobs", "size", "bs", "direct", "ioengine"]),
        ["7", "925m", "16k", "1", "libaio"]
    );
    assert_eq!(
        values(&job, ["commit_sync", "group_commit", "double_write", "nrfiles"]),
        ["fdatasync", "0", "1", "4"]
    );
    assert_eq!(values(&job, ["dirty_pages", "checkpoint_log", "transaction_cpu"]), ["7373", "80%", "1652us"]);
    assert_eq!(job.remarks, [""; 0]);
    let text = job.text();
    assert!(text.contains("; Innodb_pages_read / tx: 37602\npage_reads=23.62\n"), "{text}");
    assert!(text.contains(";transaction_rate=227.43\n"), "{text}");
}

#[test]
fn one_snapshot_counts_since_the_start_of_the_server() {
    let job = job(None, BEFORE, &GivenFigures::default()).unwrap();
    assert_eq!(values(&job, ["page_reads", "numjobs"]), ["25.37", "6"]);
    assert!(job.remarks[0].starts_with("there is one snapshot"), "{:?}", job.remarks);
}

#[test]
fn what_is_given_counts_more_than_the_counters() {
    let cpu = Some(Duration::from_micros(2500));
    let given =
        GivenFigures { sessions: Some(32), data_bytes: Some(5 << 30), transaction_cpu: cpu, runtime: 5 };
    let job = job(Some(BEFORE), AFTER, &given).unwrap();
    assert_eq!(values(&job, ["numjobs", "size", "transaction_cpu", "runtime"]), ["32", "5g", "2500us", "5"]);
}

/// The text without the lines that begin with one of these words, and with others.
fn changed(text: &str, without: &[&str], with: &str) -> String {
    let is_kept = |line: &&str| !without.iter().any(|name| line.trim_start_matches("| ").starts_with(name));
    text.lines().filter(is_kept).map(|line| format!("{line}\n")).chain([with.to_owned()]).collect()
}

#[test]
fn servers_of_other_releases_have_other_counters() {
    let without = [
        "innodb_log_file",
        "innodb_checkpoint_max",
        "version",
        "3312 (",
        "data_bytes",
        "innodb_flush_method",
    ];
    let mysql =
        "version\t8.0.40\ninnodb_redo_log_capacity\t104857600\ninnodb_flush_method\tfsync\nCpu_time\t3.184\n";
    let syncs = |count: u32| format!("{mysql}Innodb_os_log_fsyncs\t{count}\n");
    let (before, after) = (
        changed(BEFORE, &without, &syncs(1000)),
        changed(AFTER, &without, &syncs(1800).replace("3.184", "6.368")),
    );
    let job = job(Some(&before), &after, &GivenFigures::default()).unwrap();
    assert_eq!(
        values(&job, ["log_size", "direct", "log_direct", "commit_sync"]),
        ["100m", "0", "0", "fsync"]
    );
    // (1388 - 800) / 91 - 1
    assert_eq!(
        values(&job, ["log_block", "nrfiles", "transaction_cpu", "size"]),
        ["1977", "5", "2000us", "256m"]
    );
    assert!(job.remarks[0].contains("--size sets it"), "{:?}", job.remarks);
    let relaxed = |at_commit: u8| {
        let with = format!("innodb_flush_log_at_trx_commit\t{at_commit}\n");
        let after = changed(AFTER, &["innodb_flush_log_at_trx_commit"], &with);
        innodb_job(Some(&Snapshot::of(BEFORE)), &Snapshot::of(&after), &GivenFigures::default()).unwrap()
    };
    assert_eq!(values(&relaxed(2), ["commit_sync", "group_commit"]), ["none", "-"]);
    assert_eq!(values(&relaxed(3), ["commit_sync", "group_commit"]), ["fdatasync", "0"]);
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let given = GivenFigures::default();
    let failure = |before: Option<&str>, after: &str| job(before, after, &given).unwrap_err();
    assert_eq!(failure(None, "no table\n"), StatusError::Nothing { query: QUERY });
    let lacking = changed(AFTER, &["Innodb_pages_read"], "");
    let error = failure(Some(BEFORE), &lacking);
    assert_eq!(error.to_string(), "`Innodb_pages_read` is missing");
    assert!(error.help().contains("SHOW GLOBAL STATUS"), "{}", error.help());
    let error = failure(Some(AFTER), BEFORE);
    assert_eq!(error, StatusError::WentBack { name: "Uptime".to_owned(), before: 1200, after: 1193 });
    let idle = failure(
        Some(AFTER),
        &changed(AFTER, &["Com_", "Handler_commit"], "Com_commit\t37084\nHandler_commit\t0\n"),
    );
    assert!(matches!(idle, StatusError::NoTransactions { .. } | StatusError::WentBack { .. }), "{idle}");
    let text = failure(None, &changed(BEFORE, &["Innodb_log_writes"], "Innodb_log_writes\tmany\n"));
    assert_eq!(text.to_string(), "`Innodb_log_writes` is `many`, but a number is expected");
}

#[test]
fn without_commits_each_statement_is_a_transaction() {
    let before = changed(BEFORE, &["Com_", "Handler_commit"], "Com_commit\t0\nHandler_commit\t100\n");
    let after = changed(AFTER, &["Com_", "Handler_commit"], "Com_commit\t0\nHandler_commit\t200\n");
    let job = job(Some(&before), &after, &GivenFigures::default()).unwrap();
    assert_eq!(values(&job, ["page_reads"]), ["376.02"]);
    assert!(job.text().contains("(Handler_commit)"), "{}", job.text());
}
