use super::*;
use crate::innodb_job;

/// PostgreSQL 15 before and after eight seconds of sysbench's `oltp_read_write` with 8 threads.
const BEFORE: &str = include_str!("../testdata/postgres_before.csv");
const AFTER: &str = include_str!("../testdata/postgres_after.csv");
const ALIGNED: &str = include_str!("../testdata/postgres_after.txt");
const EXPANDED: &str = include_str!("../testdata/postgres_after_expanded.txt");

fn job(before: Option<&str>, after: &str) -> Result<ModelJob, StatusError> {
    postgres_job(before.map(Snapshot::of).as_ref(), &Snapshot::of(after), &GivenFigures::default())
}

fn values<const N: usize>(job: &ModelJob, options: [&str; N]) -> [String; N] {
    options.map(|option| job.value(option).unwrap_or("-").to_owned())
}

#[test]
fn two_snapshots_of_postgresql_become_the_job_of_their_difference() {
    let job = job(Some(BEFORE), AFTER).unwrap();
    assert_eq!(
        values(&job, ["page_reads", "pages_changed", "log_appends", "log_block"]),
        ["15.65", "5.14", "1", "1335"]
    );
    assert_eq!(values(&job, ["numjobs", "size", "bs", "dirty_pages"]), ["7", "275m", "8k", "16384"]);
    assert_eq!(values(&job, ["log_size", "checkpoint_log", "checkpoint_interval"]), ["1g", "53%", "300s"]);
    assert_eq!(
        values(&job, ["commit_sync", "group_commit", "full_page_writes", "transaction_cpu"]),
        ["fdatasync", "0", "0", "-"]
    );
    assert!(job.remarks[0].contains("--transaction-cpu"), "{:?}", job.remarks);
}

#[test]
fn psql_may_print_the_tables_in_any_form() {
    let tables = |text: &str| {
        values(&job(Some(BEFORE), text).unwrap(), ["page_reads", "pages_changed", "log_block", "size"])
    };
    let want = tables(AFTER);
    // These were printed a little later.
    for text in [ALIGNED, EXPANDED] {
        let found = tables(text);
        let difference =
            |at: usize| (found[at].parse::<f64>().unwrap() / want[at].parse::<f64>().unwrap() - 1.0).abs();
        assert!((0..3).all(|at| difference(at) < 0.05) && found[3] == want[3], "{found:?} and {want:?}");
    }
}

#[test]
fn later_releases_have_the_counters_in_other_tables() {
    let text = |more: u64| {
        format!(
            "name,setting,unit\nblock_size,8192,\nshared_buffers,16384,8kB\nmax_wal_size,1024,MB\ncheckpoint_timeout,300,s\n\
         num_timed,num_requested,buffers_written\n3,{more},7\nwal_records,wal_fpi,wal_bytes\n1,0,{}\n\
         backend_type,object,context,writes,fsyncs\nclient backend,relation,normal,{},\ncheckpointer,relation,normal,{more},\n\
         client backend,wal,normal,{},{more}\ndatid,datname,xact_commit,xact_rollback,blks_read\n5,a,{more},0,{}\n\
         now_s,start_s,data_bytes\n{more}.5,0.5,104857600\n",
            4000 * more,
            2 * more,
            2 * more,
            5 * more
        )
    };
    let job = job(Some(&text(100)), &text(200)).unwrap();
    assert_eq!(
        values(&job, ["page_reads", "pages_changed", "log_appends", "log_block", "size"]),
        ["5", "3", "2", "2000", "100m"]
    );
    assert!(job.text().contains("100 checkpoints"), "{}", job.text());
    assert!(job.text().contains(";transaction_rate=1\n"), "{}", job.text());
}

#[test]
fn what_is_missing_is_named() {
    let error = job(None, "Variable_name\tValue\nUptime\t3\n").unwrap_err();
    assert_eq!(error, StatusError::Nothing { query: QUERY });
    let lacking: String = AFTER
        .lines()
        .filter(|line| !line.starts_with("max_wal_size"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(
        job(Some(BEFORE), &lacking.replace("wal_bytes", "bytes")).unwrap_err().to_string(),
        "`wal_bytes of pg_stat_wal` is missing"
    );
    let innodb = innodb_job(None, &Snapshot::of(AFTER), &GivenFigures::default()).unwrap_err();
    assert!(innodb.help().contains("mariadb -e"), "{}", innodb.help());
}
