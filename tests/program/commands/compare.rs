//! `ferrio compare`: sides of several documents, what is said about them, and the exit status.

use std::fs;

use serde_json::{Value, json};

use crate::support::{TestDir, number};

/// Repetitions of one run, whose rate is that of the run times these factors.
fn side(dir: &TestDir, name: &str, document: &Value, factors: &[f64]) {
    let directory = dir.work().join(name);
    fs::create_dir(&directory).unwrap();
    for (index, factor) in factors.iter().enumerate() {
        let mut document = document.clone();
        let read = &mut document["jobs"][0]["read"];
        read["iops"] = json!(1000.0 * factor);
        read["bw_bytes"] = json!((4_096_000.0 * factor) as u64);
        let bins: serde_json::Map<String, Value> = (0..100)
            .map(|bin| (format!("{}", ((1000 + bin * 10) as f64 / factor) as u64), json!(10)))
            .collect();
        read["clat_ns"] = json!({"min": 900, "max": 2100, "mean": 1500.0 / factor, "stddev": 288.0, "N": 1000,
            "percentile": {"50.000000": 1500, "99.000000": 1990}, "bins": bins});
        fs::write(directory.join(format!("{index}.json")), document.to_string()).unwrap();
    }
}

/// Noise of some percent.
const NOISE: [f64; 8] = [1.01, 0.98, 1.03, 0.995, 0.97, 1.0, 1.02, 0.99];

fn dir_with_sides() -> TestDir {
    let dir = TestDir::new();
    let words = ["--output-format=json+", "--name=r", "--ioengine=null", "--size=1m", "--bs=4k"];
    let document = dir.ferrio(&words).run().succeeded().json();
    side(&dir, "base", &document, &NOISE);
    let mut shuffled = NOISE;
    shuffled.rotate_left(3);
    side(&dir, "same", &document, &shuffled.map(|factor| factor * 1.003));
    let mut other = document.clone();
    other["jobs"][0]["job options"]["bs"] = json!("8k");
    side(&dir, "slower", &other, &NOISE.map(|factor| factor * 0.8));
    side(&dir, "one", &document, &[1.0]);
    dir
}

fn compared(dir: &TestDir, words: &[&str]) -> Value {
    let words = [&["compare", "--format=json"], words].concat();
    dir.ferrio(&words).run().succeeded().json()
}

#[test]
fn a_change_that_noise_does_not_explain_is_found_and_others_are_not() {
    let dir = dir_with_sides();
    let found = compared(&dir, &["base", "same", "slower"]);
    assert_eq!(found["sides"][1]["verdict"], "no-difference", "{found:#}");
    assert_eq!(found["sides"][2]["verdict"], "worse");
    assert_eq!(number(&found, "/sides/0/runs"), 8);
    let figures = found["jobs"][0]["figures"].as_array().unwrap();
    let names: Vec<&str> = figures.iter().map(|row| row["figure"].as_str().unwrap()).collect();
    assert_eq!(names, ["iops", "bw", "latency mean", "latency p50", "latency p99", "latency p99.9"]);
    for row in figures {
        let change = &row["changes"][1];
        assert_eq!(
            (&row["changes"][0]["verdict"], &change["verdict"]),
            (&json!("no-difference"), &json!("worse"))
        );
        let wanted = if row["unit"] == "nanoseconds" { 25.0 } else { -20.0 };
        let percent = change["percent"].as_f64().unwrap();
        assert!((percent - wanted).abs() < 0.5, "{row:#}");
        let [low, high] = [0, 1].map(|at| change["interval"][at].as_f64().unwrap());
        assert!(low < wanted && wanted < high && high - low < 25.0, "{row:#}");
    }
    let differences = json!([{"what": "job r: bs", "values": ["4k", "4k", "8k"]}]);
    assert_eq!(found["differences"], differences);
}

#[test]
fn documents_without_the_figures_of_ferrio_compare_alike() {
    let dir = dir_with_sides();
    let before = compared(&dir, &["base", "slower"]);
    for name in ["base", "slower"] {
        for entry in fs::read_dir(dir.work().join(name)).unwrap() {
            let path = entry.unwrap().path();
            let mut document: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            document.as_object_mut().unwrap().remove("ferrio");
            fs::write(path, document.to_string()).unwrap();
        }
    }
    assert_eq!(compared(&dir, &["base", "slower"])["jobs"], before["jobs"]);
}

#[test]
fn a_document_of_fio_is_compared_with_one_of_ferrio() {
    needs!("fio");
    let dir = TestDir::new();
    let job = ["--name=r", "--ioengine=null", "--size=1m", "--bs=4k", "--output-format=json"];
    let text = dir.fio(&job).run().succeeded().stdout;
    fs::write(dir.work().join("fio.json"), text).unwrap();
    let text = dir.ferrio(&job).run().succeeded().stdout;
    fs::write(dir.work().join("ferrio.json"), text).unwrap();
    let found = compared(&dir, &["fio.json", "ferrio.json"]);
    assert_eq!(found["sides"][1]["verdict"], "unknown");
    let iops = &found["jobs"][0]["figures"][0];
    assert!(iops["values"][0].as_f64().unwrap() > 0.0 && iops["changes"][0].get("interval").is_none());
    assert_eq!(found["differences"][0]["what"], "program");
}

/// The document of one run of 30 s that reads so many I/Os per row, a little more or less.
fn run_over_time(dir: &TestDir, name: &str, ios: u64) {
    let words = ["--output-format=json+", "--name=r", "--ioengine=null", "--size=1m", "--bs=4k"];
    let mut document = dir.ferrio(&words).run().succeeded().json();
    let rows: Vec<u64> = (0..60).map(|row| ios * (100 + row * 7 % 11) / 105).collect();
    let total: u64 = rows.iter().sum();
    let read = &mut document["jobs"][0]["read"];
    (read["total_ios"], read["iops"]) = (json!(total), json!(total as f64 / 30.0));
    read["bw_bytes"] = json!(total * 4096 / 30);
    let column = |each: &dyn Fn(u64) -> Value| rows.iter().map(|&ios| each(ios)).collect::<Vec<_>>();
    document["ferrio"]["series"] = json!([{"jobname": "r", "job_number": 1, "groupid": 0, "interval_ms": 500,
        "start_ms": 0, "time_ms": (1..=60).map(|row| row * 500).collect::<Vec<_>>(), "ramp_until_ms": 0,
        "iodepth_mean": column(&|_| json!(1.0)), "errors": column(&|_| json!(0)),
        "read": {"ios": rows, "bytes": column(&|ios| json!(ios * 4096)), "max_ns": column(&|_| json!(2000)),
            "cells": column(&|ios| json!([80, ios]))}}]);
    fs::write(dir.work().join(name), document.to_string()).unwrap();
}

#[test]
fn single_runs_are_judged_by_their_figures_over_time_and_the_claim_is_weaker() {
    let dir = TestDir::new();
    for (name, ios) in [("a.json", 10_000), ("same.json", 10_010), ("slow.json", 9500)] {
        run_over_time(&dir, name, ios);
    }
    let found = compared(&dir, &["a.json", "same.json", "slow.json"]);
    let iops = &found["jobs"][0]["figures"][0]["changes"];
    assert_eq!((&iops[0]["verdict"], &iops[1]["verdict"]), (&json!("no-difference"), &json!("worse")));
    assert!((iops[1]["percent"].as_f64().unwrap() + 5.0).abs() < 0.1, "{iops}");
    assert_eq!(found["sides"][2]["within_runs"], true);
    let text = dir.ferrio(&["compare", "a.json", "slow.json"]).run().succeeded().stdout;
    assert!(
        text.contains("worse, by more than the noise within a run")
            && text.contains("repeat each at least five times"),
        "{text}"
    );
    let refused =
        dir.ferrio(&["compare", "--fail-on-regression=1", "a.json", "slow.json"]).run().ended_with(1);
    assert!(refused.stderr.contains("needs at least two runs of a.json"), "{}", refused.stderr);
}

#[test]
fn the_only_report_of_a_directory_is_judged_by_its_logs() {
    let dir = TestDir::new();
    for (name, ios) in [("a", 10_000), ("same", 10_010), ("slow", 9500)] {
        fs::create_dir(dir.work().join(name)).unwrap();
        run_over_time(&dir, &format!("{name}/run.json"), ios);
        let mut document: Value = serde_json::from_str(&dir.read(&format!("{name}/run.json"))).unwrap();
        let rows = document["ferrio"]["series"][0]["read"]["ios"].take();
        document.as_object_mut().unwrap().remove("ferrio");
        document["jobs"][0]["job options"]["write_iops_log"] = json!("x");
        document["jobs"][0]["job options"]["write_bw_log"] = json!("x");
        fs::write(dir.work().join(name).join("run.json"), document.to_string()).unwrap();
        let log = |scale: u64| -> String {
            let row = |(ios, at): (&Value, u64)| {
                format!("{}, {}, 0, 0, 0\n", at * 500, ios.as_u64().unwrap() * scale)
            };
            rows.as_array().unwrap().iter().zip(1..).map(row).collect()
        };
        fs::write(dir.work().join(name).join("x_iops.1.log"), log(2)).unwrap();
        fs::write(dir.work().join(name).join("x_bw.1.log"), log(8)).unwrap();
    }
    let found = compared(&dir, &["a", "same", "slow"]);
    let iops = &found["jobs"][0]["figures"][0]["changes"];
    assert_eq!((&iops[0]["verdict"], &iops[1]["verdict"]), (&json!("no-difference"), &json!("worse")));
    let bandwidth = &found["jobs"][0]["figures"][1]["changes"];
    assert_eq!(bandwidth[1]["verdict"], "worse");
    assert_eq!(found["sides"][2]["within_runs"], true);
    // A file is a report alone.
    assert_eq!(compared(&dir, &["a/run.json", "slow"])["sides"][1]["verdict"], "unknown");
    fs::write(dir.work().join("slow/x_bw.1.log"), "broken\n").unwrap();
    let refused = dir.ferrio(&["compare", "a", "slow"]).run().ended_with(1);
    assert!(
        refused.stderr.contains("cannot read slow/x_bw.1.log: line 1 is no row of a log"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_regression_beyond_the_limit_has_a_status_of_its_own() {
    let dir = dir_with_sides();
    let run = |words: &[&str]| dir.ferrio(&[&["compare"], words].concat()).run();
    let failed = run(&["base", "slower", "--fail-on-regression=5%"]).ended_with(3);
    assert!(failed.stdout.contains("B against A: worse, by more than noise"), "{}", failed.stdout);
    let message = "iops of job r (read) is worse than --fail-on-regression=5% allows: -20.0 %";
    assert!(failed.stderr.contains(message), "{}", failed.stderr);
    run(&["base", "slower", "--fail-on-regression=30"]).succeeded();
    run(&["slower", "base", "--fail-on-regression=0"]).succeeded();
    run(&["base", "same", "--fail-on-regression=0"]).succeeded();
    let one = run(&["base", "one", "--fail-on-regression=5"]).ended_with(1);
    assert!(one.stderr.contains("needs at least two runs of one"), "{}", one.stderr);
}

#[test]
fn a_figure_that_is_gone_is_told_and_is_no_success() {
    let dir = dir_with_sides();
    let base: Value = serde_json::from_str(&dir.read("base/0.json")).unwrap();
    side(&dir, "without", &base, &NOISE);
    let remove_bins = |name: &str| {
        let mut document: Value = serde_json::from_str(&dir.read(name)).unwrap();
        document["jobs"][0]["read"]["clat_ns"].as_object_mut().unwrap().remove("bins").unwrap();
        fs::write(dir.work().join(name), document.to_string()).unwrap();
    };
    (0..NOISE.len()).for_each(|index| remove_bins(&format!("without/{index}.json")));
    let gate =
        |sides: [&str; 2]| dir.ferrio(&["compare", "--fail-on-regression=90%", sides[0], sides[1]]).run();
    let run = gate(["base", "without"]).ended_with(3);
    let name = "r (read): latency p99.9";
    let line = format!("{name} is in every run of base, but not in 8 of 8 of without\n");
    assert!(run.stderr.contains(&line), "{}", run.stderr);
    assert!(run.stdout.contains(&format!("missing from a run: {name}")), "{}", run.stdout);
    // The new side has more than the old one, or both have it in some runs: nothing is lost.
    let run = gate(["without", "base"]).succeeded();
    assert!(run.stdout.contains(&format!("missing from a run: {name}")), "{}", run.stdout);
    ["base/0.json", "same/0.json"].into_iter().for_each(remove_bins);
    let run = gate(["base", "same"]).succeeded();
    assert!(run.stdout.contains(&format!("missing from a run: {name}")), "{}", run.stdout);
}

#[test]
fn a_direction_that_is_gone_and_a_job_that_fails_are_told_and_are_no_success() {
    let dir = dir_with_sides();
    let document = |name: &str| -> Value { serde_json::from_str(&dir.read(name)).unwrap() };
    let mut with_writes = document("base/0.json");
    with_writes["jobs"][0]["write"] = with_writes["jobs"][0]["read"].clone();
    side(&dir, "writes", &with_writes, &NOISE);
    let mut failed = document("base/0.json");
    failed["jobs"][0]["error"] = json!(5);
    side(&dir, "failed", &failed, &NOISE);
    failed["jobs"][0]["total_err"] = json!(1);
    side(&dir, "tolerated", &failed, &NOISE);
    let found = compared(&dir, &["writes", "base"]);
    assert_eq!((&found["missing"], &found["failed"]), (&json!(["r (write)"]), &json!([])));
    let found = compared(&dir, &["base", "failed"]);
    assert_eq!(found["failed"], json!([{"side": 1, "jobname": "r", "runs": 8, "error": 5}]));
    let gate =
        |first: &str, second: &str| dir.ferrio(&["compare", "--fail-on-regression=1%", first, second]).run();
    let run = gate("writes", "base").ended_with(3);
    assert!(
        run.stdout.contains("Not compared, because they are missing from a run: r (write)"),
        "{}",
        run.stdout
    );
    assert!(
        run.stderr.contains("r (write) is in every run of writes, but not in 8 of 8 of base"),
        "{}",
        run.stderr
    );
    let run = gate("base", "failed").ended_with(3);
    assert!(run.stdout.contains("r in 8 of 8 runs of B (Input/output error)"), "{}", run.stdout);
    assert!(
        run.stderr.contains("job r failed in 8 of 8 runs of failed, and in none of base"),
        "{}",
        run.stderr
    );
    gate("base", "writes").succeeded();
    let tolerated = gate("base", "tolerated").succeeded();
    assert!(!tolerated.stdout.contains("Failed jobs"), "{}", tolerated.stdout);
    gate("failed", "base").succeeded();
    // A link that leads nowhere is no report.
    std::os::unix::fs::symlink("nowhere", dir.work().join("base/latest")).unwrap();
    gate("base", "tolerated").succeeded();
    std::os::unix::fs::symlink("nowhere", dir.work().join("base/latest.json")).unwrap();
    let unreadable = gate("base", "tolerated").ended_with(1);
    assert!(
        unreadable.stderr.contains("cannot read base/latest.json: No such file"),
        "{}",
        unreadable.stderr
    );
}

#[test]
fn what_cannot_be_compared_is_refused_with_its_place() {
    let dir = dir_with_sides();
    fs::create_dir(dir.work().join("empty")).unwrap();
    fs::write(dir.work().join("broken.json"), "{\n \"jobs\": [\n").unwrap();
    fs::write(dir.work().join("no.json"), "hello\n").unwrap();
    let other = ["--output-format=json", "--name=other", "--ioengine=null", "--size=1m"];
    let text = dir.ferrio(&other).run().succeeded().stdout;
    fs::write(dir.work().join("other.json"), text).unwrap();
    for (words, message) in [
        (&["base", "missing"][..], "cannot read missing: No such file or directory"),
        (&["base", "empty"][..], "empty has no files that end with .json"),
        (&["base", "broken.json"][..], "broken.json: the JSON report that begins in line 1 is truncated"),
        (&["base", "no.json"][..], "no.json: no JSON report"),
        (&["base", "other.json"][..], "the reports have no job in common that did I/O"),
        (&["base", "base", "--confidence=99.99"][..], "give a percentage from 50 to 99.9"),
    ] {
        let run = dir.ferrio(&[&["compare"], words].concat()).run().ended_with(1);
        assert!(run.stderr.contains(message), "{message}\n{}", run.stderr);
    }
}

#[test]
fn markdown_has_a_table_for_each_job() {
    let dir = dir_with_sides();
    let text = dir.ferrio(&["compare", "--format=markdown", "base", "slower"]).run().succeeded().stdout;
    assert!(
        text.contains(
            "|  | A | B | B against A | 95 % interval | verdict |\n|---|---:|---:|---:|---:|---:|\n"
        ),
        "{text}"
    );
    assert!(text.contains("| iops | 999.4 | 799.5 | -20.0 % |"), "{text}");
    assert!(text.contains("- job r: bs: `4k` → `8k`"), "{text}");
}

#[test]
fn counts_that_add_up_to_more_than_64_bits_end_at_the_largest_number() {
    let dir = TestDir::new();
    let words = ["--output-format=json+", "--name=r", "--ioengine=null", "--rw=randrw", "--size=16m"];
    let mut document = dir.ferrio(&words).run().succeeded().json();
    let huge = |counts: &mut Value| match counts {
        Value::Array(counts) => counts.fill(json!(1_u64 << 63)),
        Value::Object(counts) => counts.values_mut().for_each(|count| *count = json!(1_u64 << 63)),
        other => panic!("{other}"),
    };
    for direction in ["read", "write"] {
        let figures = &mut document["jobs"][0][direction];
        assert!(figures["clat_ns"]["bins"].as_object().unwrap().len() > 1);
        huge(&mut figures["clat_ns"]["bins"]);
        figures["total_ios"] = json!(1_u64 << 63);
        let rows = &mut document["ferrio"]["series"][0][direction];
        huge(&mut rows["ios"]);
        huge(&mut rows["bytes"]);
        for cells in rows["cells"].as_array_mut().unwrap() {
            cells.as_array_mut().unwrap().chunks_exact_mut(2).for_each(|pair| pair[1] = json!(1_u64 << 63));
        }
    }
    for name in ["one.json", "other.json"] {
        fs::write(dir.work().join(name), document.to_string()).unwrap();
    }
    let compared = compared(&dir, &["one.json", "other.json"]);
    let values = &compared["jobs"][0]["figures"][0]["values"];
    assert_eq!(values[0], values[1], "{compared}");
    dir.ferrio(&["report", "one.json", "other.json", "-o", "page.html"]).run().succeeded();
    assert!(dir.read("page.html").ends_with("</html>\n"));
}
