//! The formats `bencher`, `github-bigger` and `github-smaller`, from a run and from its saved report.

use serde_json::Value;

use crate::support::{TestDir, json_file};

const JOB: [&str; 5] = ["--name=a", "--ioengine=null", "--size=1m", "--rw=rw", "--numjobs=2"];

const FORMATS: &str =
    "--output-format=json:run.json,bencher:bencher,github-bigger:bigger,github-smaller:smaller";

#[test]
fn a_run_writes_the_benchmarks_that_its_saved_report_gives() {
    let dir = TestDir::new();
    dir.ferrio(&[&JOB[..], &[FORMATS]].concat()).run().succeeded();
    let document = json_file(&dir.work().join("run.json"));
    let benchmarks = json_file(&dir.work().join("bencher"));
    let names: Vec<&String> = benchmarks.as_object().unwrap().keys().collect();
    assert_eq!(names, ["a read", "a write", "a #2 read", "a #2 write"]);
    for (at, name) in [(0, "a read"), (1, "a #2 read")] {
        let read = &document["jobs"][at]["read"];
        let figures = &benchmarks[name];
        assert_eq!(figures["throughput"]["value"], read["iops"], "{name}");
        assert_eq!(figures["bandwidth"]["value"].as_f64(), read["bw_bytes"].as_f64(), "{name}");
        assert_eq!(figures["latency"]["value"], read["clat_ns"]["mean"], "{name}");
        assert!(figures["latency"]["lower_value"].as_f64() <= figures["latency"]["value"].as_f64(), "{name}");
    }
    for (format, file, rows) in [("github-bigger", "bigger", 8), ("github-smaller", "smaller", 16)] {
        let written = json_file(&dir.work().join(file));
        assert_eq!(written.as_array().unwrap().len(), rows, "{written:#}");
        assert!(
            written.as_array().unwrap().iter().all(|row| row["name"].is_string() && row["value"].is_number())
        );
        let converted =
            dir.ferrio(&["report", "run.json", "--output-format", format]).run().succeeded().json();
        assert_eq!(converted, written, "{format}");
    }
    let converted: Value = dir.ferrio(&["report", "run.json", "-F", "bencher"]).run().succeeded().json();
    assert_eq!(converted, benchmarks);
}

#[test]
fn benchmarks_are_of_one_report_and_called_fio_there_are_none() {
    let dir = TestDir::new();
    dir.ferrio(&[&JOB[..], &["--output-format=json:run.json"]].concat()).run().succeeded();
    let refused = dir.ferrio(&["report", "run.json", "run.json", "-F", "bencher"]).run().ended_with(1);
    assert!(refused.stderr.contains("the format bencher is made from one report"), "{}", refused.stderr);
    let labelled = dir.ferrio(&["report", "run.json", "-F", "bencher", "--label", "a=b"]).run().ended_with(1);
    assert!(labelled.stderr.contains("the format bencher has no labels"), "{}", labelled.stderr);
    let together = dir.ferrio(&[&JOB[..], &["--output-format=json,bencher"]].concat()).run().ended_with(1);
    assert!(together.stderr.contains("the format bencher cannot be combined"), "{}", together.stderr);
    let as_fio =
        dir.ferrio(&[&JOB[..], &["--as=fio", "--output-format=bencher"]].concat()).run().ended_with(1);
    assert!(as_fio.stderr.contains("invalid output format bencher"), "{}", as_fio.stderr);
}
