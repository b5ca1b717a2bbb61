//! The example jobs in `jobs/` run unchanged, from any directory, and remove their files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{TestDir, number};

/// One test per job file, and the list of those that have one.
macro_rules! runs {
    ($($test:ident: $file:literal;)+) => {
        $(#[test]
        fn $test() {
            run($file);
        })+

        const RUN: &[&str] = &[$($file),+];
    };
}

runs! {
    the_buffered_versus_direct_job_runs: "buffered-versus-direct.fio";
    the_crash_consistency_job_runs: "crash-consistency.fio";
    the_depth_for_latency_job_runs: "depth-for-latency.fio";
    the_engine_comparison_job_runs: "engine-comparison.fio";
    the_etcd_job_runs: "etcd.fio";
    the_fixed_rate_job_runs: "fixed-rate.fio";
    the_hot_blocks_job_runs: "hot-blocks.fio";
    the_innodb_job_runs: "innodb.fio";
    the_latency_qd1_job_runs: "latency-qd1.fio";
    the_log_writer_job_runs: "log-writer.fio";
    the_many_jobs_job_runs: "many-jobs.fio";
    the_mixed_70_30_job_runs: "mixed-70-30.fio";
    the_postgres_job_runs: "postgres.fio";
    the_precondition_ssd_job_runs: "precondition-ssd.fio";
    the_queue_depth_ladder_job_runs: "queue-depth-ladder.fio";
    the_quick_look_job_runs: "quick-look.fio";
    the_rocksdb_job_runs: "rocksdb.fio";
    the_sequential_bandwidth_job_runs: "sequential-bandwidth.fio";
}

/// Warnings that a job can avoid. The others are about the machine that it runs on.
const OF_THE_JOB: [&str; 5] = ["short-run", "few-ios", "cached-reads", "buffered-writes", "libaio-buffered"];

/// Warnings about what a job is for.
const MEANT: [(&str, &str); 13] = [
    // It ends with a crash, or when all is written.
    ("crash-consistency.fio", "short-run"),
    ("crash-consistency.fio", "few-ios"),
    ("buffered-versus-direct.fio", "cached-reads"),
    ("engine-comparison.fio", "cached-reads"),
    ("hot-blocks.fio", "cached-reads"),
    // As in PostgreSQL.
    ("postgres.fio", "cached-reads"),
    // The file of the example is small.
    ("precondition-ssd.fio", "short-run"),
    // On a disk that cannot meet the target it ends after the first window.
    ("depth-for-latency.fio", "short-run"),
    // As in RocksDB.
    ("rocksdb.fio", "buffered-writes"),
    // How many transactions end in time is a matter of the disk.
    ("etcd.fio", "few-ios"),
    ("innodb.fio", "few-ios"),
    ("postgres.fio", "few-ios"),
    ("rocksdb.fio", "few-ios"),
];

/// Jobs with options that the installed fio does not have.
const NEWER_THAN_FIO: [&str; 6] = [
    "crash-consistency.fio",
    "etcd.fio",
    "innodb.fio",
    "postgres.fio",
    "precondition-ssd.fio",
    "rocksdb.fio",
];

/// What a later run looks at stays.
const KEEPS_FILES: [&str; 1] = ["crash-consistency.fio"];

/// Jobs of a minute each, which `ferrio quick` runs; its tests run them for a shorter time.
const OF_QUICK: [&str; 5] =
    ["quick-boot.fio", "quick-cloud.fio", "quick-database.fio", "quick-disk.fio", "quick-diskmark.fio"];

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs")
}

fn run(file: &str) {
    let dir = TestDir::new();
    let path = directory().join(file);
    let path = path.to_str().unwrap();
    let report = dir.ferrio(&["--output-format=json", path]).run().succeeded().json();
    for job in report["jobs"].as_array().unwrap() {
        let name = job["jobname"].as_str().unwrap();
        // On a slow disk the sessions of a database may leave nothing to do in the background.
        let in_background = [".cleaner", ".flusher", ".compactor"].iter().any(|end| name.ends_with(end));
        let moved = number(job, "/read/io_bytes") + number(job, "/write/io_bytes");
        assert!(moved > 0 || in_background, "{name} of {file} did nothing");
    }
    for warning in report["ferrio"]["warnings"].as_array().into_iter().flatten() {
        let code = warning["code"].as_str().unwrap();
        let is_meant = MEANT.contains(&(file, code));
        assert!(is_meant || !OF_THE_JOB.contains(&code), "{file}: {warning:#}");
    }
    if KEEPS_FILES.contains(&file) {
        let check = ["--verify_only", "--verify_state_load=1", "--verify_state_save=0", path];
        dir.ferrio(&check).run().succeeded();
    } else {
        assert_eq!(dir.files(), [], "{file} removes its files");
    }
    if !NEWER_THAN_FIO.contains(&file) {
        needs!("fio");
        dir.fio(&["--parse-only", path]).run().succeeded();
    }
}

#[test]
fn every_example_job_has_a_test() {
    let mut files: Vec<_> = fs::read_dir(directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut known: Vec<&str> = RUN.iter().chain(&OF_QUICK).copied().collect();
    known.sort_unstable();
    assert_eq!(files, known);
}
