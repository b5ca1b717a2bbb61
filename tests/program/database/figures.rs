//! Figures of models of databases: those of a run add up, in the document, in the lines of its intervals and in the text.

use std::fs;

use ferrio_job::{Choice, DatabaseModel};
use serde_json::Value;

use crate::schemas::Schema;
use crate::support::{TestDir, document_within, number, same};

/// A job of a model of a database, small and soon over.
fn section(model: &str, options: &str) -> String {
    let small = match model {
        "rocksdb" => "size=4m\ntable_size=64k\nwrite_back_batch=16\nlog_size=1m\n",
        _ => "size=4m\nlog_size=1m\n",
    };
    format!("[bank]\nworkload={model}\nnumjobs=2\n{small}{options}")
}

/// The document, the text, and the lines of intervals of a run.
struct Figures {
    document: Value,
    text: String,
    lines: Vec<Value>,
}

impl Figures {
    fn of(job: &str) -> Self {
        let dir = TestDir::new();
        let lines = dir.beside("lines");
        let options = ["--output-format=json,normal", &format!("--interval-report=20ms:{}", lines.display())]
            .map(str::to_owned);
        let words = [&options[..], &[dir.job(job)]].concat();
        let run = dir.ferrio(&words).run().succeeded();
        let (document, text) = document_within(&run.stdout);
        assert_eq!(Schema::of("report.schema.json").mistakes(&document), [""; 0]);
        let schema = Schema::of("interval_report.schema.json");
        let lines = fs::read_to_string(lines).unwrap();
        let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.iter().for_each(|line| assert_eq!(schema.mistakes(line), [""; 0], "{line:#}"));
        Figures { document, text: text.to_owned(), lines }
    }

    /// The only model.
    fn database(&self) -> &Value {
        let databases = self.document["ferrio"]["databases"].as_array().unwrap();
        assert_eq!(databases.len(), 1);
        &databases[0]
    }

    /// The same in lines, from the last time on that figures started again.
    fn intervals(&self) -> Vec<&Value> {
        let all: Vec<&Value> = self.lines.iter().filter_map(|line| line.get("database")).collect();
        let first = all.iter().rposition(|line| line["restarted"] == true).unwrap_or(0);
        all[first..].to_vec()
    }

    /// A figure of all jobs together.
    fn of_jobs(&self, path: &str) -> u64 {
        self.document["jobs"].as_array().unwrap().iter().map(|job| number(job, path)).sum()
    }
}

/// What may be summed up.
fn counts(database: &Value) -> Vec<(String, u64)> {
    let mut paths: Vec<String> =
        ["/transactions", "/lat_ns/N", "/pool_hits", "/full_pages", "/written_back", "/checkpoints"]
            .map(str::to_owned)
            .to_vec();
    paths.extend(database["steps"].as_object().unwrap().keys().map(|step| format!("/steps/{step}/lat_ns/N")));
    for kind in database["io"].as_object().unwrap().keys() {
        paths.extend(["total_ios", "io_bytes"].map(|figure| format!("/io/{kind}/{figure}")));
    }
    paths.into_iter().map(|path| (path.clone(), number(database, &path))).collect()
}

fn real(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} of {value:#}"))
}

#[track_caller]
fn assert_adds_up(figures: &Figures) {
    let database = figures.database();
    // The I/Os of the model are those of its jobs.
    let io = |kinds: &[&str], figure: &str| -> u64 {
        kinds.iter().map(|kind| number(database, &format!("/io/{kind}/{figure}"))).sum()
    };
    let (reads, writes) = (["data_reads", "merge_reads"], ["log_writes", "double_writes", "data_writes"]);
    let syncs = ["log_syncs", "double_write_syncs", "data_syncs"];
    let of_model = [
        io(&reads, "total_ios"),
        io(&reads, "io_bytes"),
        io(&writes, "total_ios"),
        io(&writes, "io_bytes"),
        io(&syncs, "total_ios"),
    ];
    let of_jobs =
        ["/read/total_ios", "/read/io_bytes", "/write/total_ios", "/write/io_bytes", "/sync/total_ios"]
            .map(|path| figures.of_jobs(path));
    same!("the model": of_model, "its jobs": of_jobs, "I/Os");
    // Steps are parts of transactions.
    let steps = ["read", "log_write", "sync", "write_back_wait"];
    let means: f64 = steps.iter().map(|step| real(database, &format!("/steps/{step}/lat_ns/mean"))).sum();
    assert!(means <= real(database, "/lat_ns/mean") + 0.01, "{means} in {database:#}");
    let shares: f64 = steps.iter().map(|step| real(database, &format!("/steps/{step}/share"))).sum();
    assert!(shares <= 100.001 && shares > 50.0, "{shares}");
    let transactions = number(database, "/transactions");
    for path in steps.map(|step| format!("/steps/{step}/lat_ns/N")) {
        assert_eq!(number(database, &path), transactions, "{path}");
    }
    // Rates are counts over the time.
    let seconds = real(database, "/runtime") / 1000.0;
    assert!((real(database, "/tps") * seconds - transactions as f64).abs() < 1e-3 * seconds);
    // Intervals add up.
    let lines = figures.intervals();
    for (path, count) in counts(database) {
        let sum: u64 = lines.iter().map(|line| number(line, &path)).sum();
        assert_eq!(sum, count, "{path} of the lines");
    }
    let length: f64 = lines.iter().map(|line| real(line, "/length_ms")).sum();
    assert!((length - real(database, "/runtime")).abs() < 2.0, "{length} ms");
    // The text says the same.
    let line = format!(
        "  transactions : total={transactions}, tps={:.2}, run={}msec\n",
        real(database, "/tps"),
        number(database, "/runtime")
    );
    assert!(figures.text.contains(&line), "{line}{}", figures.text);
}

#[test]
fn figures_of_every_model_add_up() {
    for model in DatabaseModel::WORDS {
        let figures = Figures::of(&section(model.word, "transactions=300\nruntime=60\n"));
        assert_adds_up(&figures);
        let database = figures.database();
        assert_eq!((&database["model"], number(database, "/sessions")), (&model.word.into(), 2));
        assert_eq!(number(database, "/transactions"), 300);
        assert!(number(database, "/io/data_writes/total_ios") > 0, "{database:#}");
        assert_eq!(number(database, "/io/merge_reads/total_ios") > 0, model.word == "rocksdb");
    }
}

#[test]
fn a_transaction_reads_and_appends_as_its_options_say() {
    let options = "transactions=200\nruntime=60\npage_reads=5\nlog_appends=2\ncheckpoint_log=0\n";
    let figures = Figures::of(&section("innodb", options));
    let database = figures.database();
    let io = |kind: &str| number(database, &format!("/io/{kind}/total_ios"));
    assert_eq!((io("data_reads"), io("log_writes"), io("log_syncs")), (1000, 400, 200));
    assert_eq!((io("double_writes"), io("data_writes"), number(database, "/written_back")), (200, 200, 200));
    assert_eq!(real(database, "/io/data_reads/per_transaction"), 5.0);
    assert_eq!(real(database, "/commits_per_sync"), 1.0);
    let share = 100.0 * 1000.0 / (1000.0 + 400.0 + 200.0 + 200.0);
    assert!((real(database, "/read_ios_share") - share).abs() < 1e-6);
    assert!(figures.text.contains("    data reads                   5.000       1000"), "{}", figures.text);
    // Of the pages that a transaction uses, it reads those that the pool lacks.
    let options = "transactions=200\nruntime=60\nbuffer_pool=2m\npages_used=10\n";
    let figures = Figures::of(&section("innodb", options));
    let (hits, reads) =
        (number(figures.database(), "/pool_hits"), number(figures.database(), "/io/data_reads/total_ios"));
    assert_eq!(hits + reads, 2000);
    // The pool holds half of the data, and all pages are alike.
    assert!((850..=1150).contains(&hits), "{hits}");
    assert!((real(figures.database(), "/pool_hit_share") - hits as f64 / 20.0).abs() < 1e-6);
}

#[test]
fn a_full_log_does_not_wait_for_the_time_of_a_checkpoint() {
    let options = "transactions=1000\nruntime=60\nlog_size=256k\ncheckpoint_log=0\ncheckpoint_interval=1h\n";
    let figures = Figures::of(&section("innodb", options));
    assert_adds_up(&figures);
    // 4,000 KiB are appended. The log has room for 256, less a block of each of the two sessions and one of the checkpoint.
    let checkpoints = number(figures.database(), "/checkpoints");
    assert!((14..100).contains(&checkpoints), "{checkpoints}");
}

#[test]
fn what_was_done_in_a_ramp_does_not_count() {
    let figures = Figures::of(&section("innodb", "ramp_time=200ms\nruntime=200ms\n"));
    assert_adds_up(&figures);
    let lines: Vec<&Value> = figures.lines.iter().filter_map(|line| line.get("database")).collect();
    assert!(lines.iter().any(|line| line["restarted"] == true), "the ramp has ended");
    let all: u64 = lines.iter().map(|line| number(line, "/transactions")).sum();
    assert!(all > number(figures.database(), "/transactions"), "there were some in the ramp");
}

#[test]
fn arrivals_at_a_rate_wait_in_the_latency_and_not_in_the_steps() {
    // Arrivals come ten times as fast as two sessions can do them.
    let figures = Figures::of(&section("innodb", "transactions=300\nruntime=60\ntransaction_rate=10000\n"));
    let database = figures.database();
    assert_eq!(real(database, "/transaction_rate"), 10_000.0);
    let shares: f64 = ["read", "log_write", "sync", "write_back_wait"]
        .iter()
        .map(|step| real(database, &format!("/steps/{step}/share")))
        .sum();
    assert!(shares < 50.0, "{database:#}");
    let codes: Vec<&Value> =
        figures.document["ferrio"]["warnings"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert!(codes.iter().any(|code| *code == "rate-not-held"), "{codes:?}");
}

#[test]
fn etcd_has_the_percentile_of_its_syncs() {
    let figures = Figures::of(&section("etcd", "transactions=100\nruntime=60\n"));
    let etcd = &figures.database()["etcd"];
    assert_eq!(number(etcd, "/limit_ns"), 10_000_000);
    assert_eq!(etcd["is_below"], number(etcd, "/sync_p99_ns") < 10_000_000);
    assert!(figures.text.contains("\n  etcd         : p99 of log syncs="), "{}", figures.text);
}
