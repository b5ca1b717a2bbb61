//! Documents of several machines that ran a test together: `ferrio report` and `ferrio compare` make one of them.

use std::fs;

use serde_json::Value;

use crate::support::{TestDir, json_file};

/// Writes the document of a run of so many events by two threads.
fn run(dir: &TestDir, name: &str, events: u64) -> Value {
    let events = format!("--events={events}");
    let words = [
        "sysbench",
        "cpu",
        "--threads=2",
        "--time=0",
        &events,
        "--cpu-max-prime=100",
        "--output-format=json",
        "run",
    ];
    let run = dir.ferrio(&words).run().succeeded();
    let path = dir.work().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, &run.stdout).unwrap();
    json_file(&path)
}

/// The samples of a document: its buckets with their counts.
fn buckets(document: &Value) -> Vec<(u64, u64)> {
    let counts = document["report"]["latency_ms"]["histogram"]["counts"].as_object().unwrap();
    let mut all: Vec<(u64, u64)> =
        counts.iter().map(|(ns, count)| (ns.parse().unwrap(), count.as_u64().unwrap())).collect();
    all.sort_unstable();
    all
}

/// The bucket that the latency which 99 % of all samples do not exceed is in.
fn p99_bucket(all: &[(u64, u64)]) -> u64 {
    let samples: u64 = all.iter().map(|&(_, count)| count).sum();
    let rank = (99 * samples).div_ceil(100);
    let mut seen = 0;
    let reached = all.iter().find(|&&(_, count)| {
        seen += count;
        seen >= rank
    });
    reached.unwrap().0
}

#[test]
fn four_documents_are_one_with_the_sum_of_rates_and_the_percentiles_of_all_events() {
    let dir = TestDir::new();
    let names = ["vm1.json", "vm2.json", "vm3.json", "vm4.json"];
    let documents: Vec<Value> = (1..).zip(names).map(|(at, name)| run(&dir, name, at * 1000)).collect();
    dir.ferrio(&[&["report", "-F", "json", "-o", "all.json"], &names[..]].concat()).run().succeeded();
    let all = json_file(&dir.work().join("all.json"));
    assert_eq!(all["report"]["events"], 10_000);
    let rate = |document: &Value| document["report"]["events_per_second"].as_f64().unwrap();
    let sum: f64 = documents.iter().map(rate).sum();
    assert!((rate(&all) / sum - 1.0).abs() < 1e-9, "{} {sum}", rate(&all));
    // The buckets of all documents, counted here.
    let mut union = std::collections::BTreeMap::new();
    for (ns, count) in documents.iter().flat_map(buckets) {
        *union.entry(ns).or_insert(0) += count;
    }
    let union: Vec<(u64, u64)> = union.into_iter().collect();
    assert_eq!(buckets(&all), union);
    let p99 = all["report"]["latency_ms"]["percentiles"]["99"].as_f64().unwrap() * 1e6;
    let bucket = p99_bucket(&union) as f64;
    assert!(p99 <= bucket && p99 > bucket * 0.992, "{p99} in {bucket}");

    let text = dir.ferrio(&[&["report"], &names[..]].concat()).run().succeeded().stdout;
    assert!(text.starts_with("cpu: 4 runs together\n"), "{text}");
    let row = |start: &str| {
        let row =
            text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}"));
        row.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("vm3.json")[3], "3000");
    assert_eq!(
        (&row("all")[1], &row("all")[3], &row("all")[4]),
        (&"8".to_owned(), &"10000".to_owned(), &format!("{sum:.2}"))
    );
    assert_eq!(row("mean")[1..], ["2500".to_owned(), format!("{:.2}", sum / 4.0)]);
    // Such a document is one like any other.
    let again = dir.ferrio(&["report", "all.json"]).run().succeeded().stdout;
    assert_eq!(again, text);
}

#[test]
fn sides_are_repetitions_or_machines_that_ran_together() {
    let dir = TestDir::new();
    for (at, name) in (1..).zip(["a/1/x.json", "a/1/y.json", "a/2/x.json", "b/1/x.json", "b/2/x.json"]) {
        run(&dir, name, at * 200);
    }
    let compare = |words: &[&str]| {
        dir.ferrio(&[&["compare", "--format=json"], words].concat()).run().succeeded().json()
    };
    let rates = |comparison: &Value| {
        let figure = &comparison["jobs"][0]["figures"][0];
        assert_eq!(
            (&figure["figure"], &comparison["jobs"][0]["direction"]),
            (&"events/s".into(), &"events".into())
        );
        figure["values"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect::<Vec<_>>()
    };
    let own = |name: &str| json_file(&dir.work().join(name))["report"]["events_per_second"].as_f64().unwrap();
    let is_like = |one: f64, other: f64| (one / other - 1.0).abs() < 1e-9;
    let (x, y) = (own("a/1/x.json"), own("a/1/y.json"));
    // Repetitions: the mean.
    let repeated = compare(&["a/1", "b/1/x.json"]);
    assert!(is_like(rates(&repeated)[0], (x + y) / 2.0), "{repeated:#}");
    // Machines: the sum; and each directory of them is a repetition.
    let together = compare(&["--aggregate", "a/1", "b/1/x.json"]);
    assert!(is_like(rates(&together)[0], x + y), "{together:#}");
    assert_eq!(together["sides"][0]["runs"], 1);
    let both = compare(&["--aggregate", "a", "b"]);
    assert_eq!((&both["sides"][0]["runs"], &both["sides"][1]["runs"]), (&2.into(), &2.into()));
    assert!(is_like(rates(&both)[0], (x + y + own("a/2/x.json")) / 2.0), "{both:#}");
    let set_up = both["differences"].to_string();
    assert!(set_up.contains("job cpu: threads") && set_up.contains("job cpu: machines"), "{set_up}");
}

#[test]
fn what_does_not_add_up_is_refused() {
    let dir = TestDir::new();
    run(&dir, "a.json", 10);
    let job = ["--name=a", "--ioengine=null", "--size=4k", "--output-format=json", "--output=job.json"];
    dir.ferrio(&job).run().succeeded();
    let text = dir.read("a.json").replace("\"test\": \"cpu\"", "\"test\": \"memory\"");
    fs::write(dir.work().join("b.json"), text).unwrap();
    for (words, why) in [
        (&["report", "a.json", "b.json"][..], "a.json is of the test cpu, and b.json of the test memory"),
        (
            &["report", "a.json", "job.json"],
            "job.json is no document of `ferrio sysbench --output-format=json`",
        ),
        (&["report", "-o", "page.html", "job.json", "a.json"], "a.json is a document of `ferrio sysbench`"),
        (&["report", "-F", "html", "a.json"], "the format html is for reports of jobs"),
        (&["report", "-F", "json", "job.json"], "the format json is for documents of `ferrio sysbench`"),
        (&["report", "-o", "a.json", "a.json"], "the report would replace a.json"),
        (&["compare", "--aggregate", ".", "a.json"], "and only such documents add up"),
    ] {
        let run = dir.ferrio(words).run().ended_with(1);
        assert!(run.stderr.contains(why), "{words:?}: {}", run.stderr);
    }
}
