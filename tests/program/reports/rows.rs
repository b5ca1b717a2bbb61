//! The format `rows` and `--label`.

use std::fs;

use crate::support::{TestDir, json_file};

const JOB: [&str; 5] = ["--name=a", "--ioengine=null", "--size=1m", "--rw=randread", "--bs=8k"];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    JOB.iter().chain(more).copied().collect()
}

/// The value of a column in a row without quotation marks.
fn cell<'a>(table: &'a str, row: usize, column: &str) -> &'a str {
    let mut lines = table.lines();
    let at = lines.next().unwrap().split(',').position(|name| name == column);
    let at = at.unwrap_or_else(|| panic!("no column {column}:\n{table}"));
    lines.nth(row).unwrap().split(',').nth(at).unwrap()
}

#[test]
fn a_run_and_its_saved_report_are_the_same_rows() {
    let dir = TestDir::new();
    let labels = ["--label=disk=nvme0", "--label", "branch=a=b"];
    let formats = "--output-format=json:run.json,rows:run.csv,openmetrics:run.prom";
    dir.ferrio(&arguments(&[&labels[..], &["--numjobs=2", formats]].concat())).run().succeeded();
    let table = dir.read("run.csv");
    let document = json_file(&dir.work().join("run.json"));
    assert_eq!(document["ferrio"]["labels"], serde_json::json!({ "disk": "nvme0", "branch": "a=b" }));
    assert!(dir.read("run.prom").contains("ferrio_run_label_info{label=\"disk\",value=\"nvme0\"} 1\n"));
    assert_eq!(table.lines().count(), 3, "{table}");
    let cells =
        |row| ["job", "direction", "bs", "total_ios", "disk", "branch"].map(|name| cell(&table, row, name));
    assert_eq!(cells(0), ["a", "read", "8k", "128", "nvme0", "a=b"]);
    assert_eq!(cells(1), ["a #2", "read", "8k", "128", "nvme0", "a=b"]);
    assert_eq!(cell(&table, 0, "clat_ns_max"), document["jobs"][0]["read"]["clat_ns"]["max"].to_string());
    let converted = dir.ferrio(&["report", "run.json", "--output-format=rows"]).run().succeeded().stdout;
    let without_time = |table: &str| -> Vec<String> {
        table.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect()
    };
    assert_eq!(without_time(&converted), without_time(&table));
    let more = [
        "report",
        "run.json",
        "run.json",
        "-F",
        "rows",
        "--label=disk=other",
        "--label=new=1",
        "-o",
        "t.csv",
    ];
    dir.ferrio(&more).run().succeeded();
    let both = dir.read("t.csv");
    assert_eq!(
        (both.lines().count(), cell(&both, 3, "disk"), cell(&both, 3, "new")),
        (5, "other", "1"),
        "{both}"
    );
}

#[test]
fn bad_and_repeated_labels_are_refused() {
    let dir = TestDir::new();
    for (labels, reason) in [
        (&["--label=disk"][..], "a name and a value are expected, as in disk=nvme0"),
        (
            &["--label=1a=b"],
            "the name of a label has letters, digits and `_`, and no digit in front: `1a` is none",
        ),
        (&["--label==b"], "`` is none"),
        (&["--label=iops=b"], "`iops` is a column of the format rows: choose another name"),
        (
            &["--label=a=1", "--label=b=2", "--label=a=1"],
            "--label=a=... is given twice: a label has one value",
        ),
    ] {
        let run = dir.ferrio(&arguments(labels)).run().ended_with(1);
        assert!(run.stderr.contains(reason), "{labels:?}\n{}", run.stderr);
    }
    fs::write(dir.work().join("x_bw.1.log"), "1, 1, 0, 0, 0\n").unwrap();
    let logs = dir.ferrio(&["report", "x_bw.1.log", "-F", "rows"]).run().ended_with(1);
    assert!(logs.stderr.contains("the format rows needs reports"), "{}", logs.stderr);
}

#[test]
fn each_run_of_a_series_has_the_labels() {
    let dir = TestDir::new();
    dir.ferrio(&arguments(&["--repeat=2", "--results=runs", "--label=disk=nvme0"])).run().succeeded();
    let table = dir.ferrio(&["report", "runs", "-F", "rows"]).run().succeeded().stdout;
    assert_eq!(table.lines().count(), 3, "{table}");
    assert_eq!([0, 1].map(|row| cell(&table, row, "disk")), ["nvme0"; 2]);
}
