//! `tuning`: what jobs do because of it, and where reports say so.

use std::fs;

use serde_json::{Value, json};

use crate::support::{FERRIO, Run, TestDir, installed};

/// A job that reads a file of its own.
const READS: [&str; 5] = ["--name=a", "--rw=read", "--size=64k", "--filename=f", "--ioengine=psync"];

/// What the document of a run has under `tuning`.
fn tuning(dir: &TestDir, words: &[&str]) -> Value {
    let words = [&["--output-format=json"], words].concat();
    dir.ferrio(&words).run().succeeded().json()["ferrio"]["tuning"].clone()
}

/// The lines of strace, for these calls, of a run with these arguments.
fn traced(dir: &TestDir, calls: &str, words: &[&str]) -> String {
    let trace = dir.beside("trace");
    let calls = format!("--trace={calls}");
    let words: Vec<&str> =
        ["-f", "-o", trace.to_str().unwrap(), &calls, FERRIO].iter().chain(words).copied().collect();
    let _: Run = dir.program(installed("strace"), &words).run().succeeded();
    fs::read_to_string(trace).unwrap()
}

#[test]
fn a_lean_job_does_not_update_access_times_and_says_so() {
    needs!("strace");
    let dir = TestDir::new();
    let entry =
        |tuning: &str, used: Value| json!([{"jobname": "a", "groupid": 0, "tuning": tuning, "used": used}]);
    assert_eq!(tuning(&dir, &READS), entry("lean", json!(["noatime"])));
    assert_eq!(tuning(&dir, &[&READS[..], &["--tuning=fio"]].concat()), entry("fio", json!([])));
    let opened = |words: &[&str]| {
        let trace = traced(&dir, "openat", &[&READS[..], words].concat());
        let line = trace.lines().rfind(|line| line.contains("\"f\"")).unwrap_or_else(|| panic!("{trace}"));
        line.contains("O_NOATIME")
    };
    let all: [&[&str]; 5] = [
        &[],
        &["--tuning=fio"],
        &["--as=fio"],
        &["--as=fio", "--tuning=lean"],
        &["--openfiles=1", "--nrfiles=1"],
    ];
    assert_eq!(all.map(opened), [true, false, false, true, true]);
}

#[test]
fn files_of_others_are_read_all_the_same() {
    needs!("strace");
    let dir = TestDir::new();
    let refused = || {
        let words = [&READS[..], &["--output-format=json"]].concat();
        let trace = dir.beside("trace");
        let inject = "--inject=openat:error=EPERM:when=1";
        let words: Vec<&str> =
            ["-f", "-P", "f", "-o", trace.to_str().unwrap(), "--trace=openat", inject, FERRIO]
                .iter()
                .chain(&words)
                .copied()
                .collect();
        let run: Run = dir.program(installed("strace"), &words).run().succeeded();
        (run.json(), fs::read_to_string(trace).unwrap())
    };
    // Lays the file out, so that the only open is the job's.
    dir.ferrio(&READS).run().succeeded();
    let (report, trace) = refused();
    let lines: Vec<&str> = trace.lines().filter(|line| line.contains("\"f\"")).collect();
    assert!(lines[0].contains("O_NOATIME") && lines[0].contains("EPERM"), "{trace}");
    assert!(!lines[1].contains("O_NOATIME"), "{trace}");
    assert_eq!(report["jobs"][0]["read"]["total_ios"], 16);
    assert_eq!(
        report["ferrio"]["tuning"][0],
        json!({"jobname": "a", "groupid": 0, "tuning": "lean", "used": []})
    );
}

#[test]
fn a_document_of_a_program_called_fio_says_that_it_is_lean() {
    let dir = TestDir::new();
    let has_object = |words: &[&str]| {
        // A run without warnings and notes.
        let job = ["--as=fio", "--output-format=json", "--name=a", "--ioengine=null", "--size=1m"];
        let words = [&job[..], words].concat();
        dir.ferrio(&words).run().succeeded().json().get("ferrio").is_some()
    };
    assert_eq!([has_object(&[]), has_object(&["--tuning=lean"])], [false, true]);
}

#[test]
fn a_text_report_and_a_comparison_name_the_tuning() {
    let dir = TestDir::new();
    let text = |words: &[&str]| dir.ferrio(&[&READS[..], words].concat()).run().succeeded().stdout;
    assert!(text(&[]).contains("\n     tuning    : lean, noatime\n"));
    assert!(!text(&["--tuning=fio"]).contains("tuning"));
    assert!(!text(&["--as=fio", "--tuning=lean"]).contains("tuning"));
    let document = |name: &str, words: &[&str]| {
        let output = format!("--output={name}");
        dir.ferrio(&[&READS[..], &["--output-format=json", &output], words].concat()).run().succeeded();
    };
    document("lean.json", &[]);
    document("asked.json", &["--tuning=fio"]);
    document("as_fio.json", &["--as=fio"]);
    for (other, what) in [("asked.json", "fio"), ("as_fio.json", "fio")] {
        let answer = dir.ferrio(&["compare", "lean.json", other]).run().succeeded().stdout;
        assert!(answer.contains(&format!("  job a: tuning: lean (noatime) -> {what}\n")), "{answer}");
    }
    let answer = dir.ferrio(&["compare", "asked.json", "as_fio.json"]).run().succeeded().stdout;
    assert!(!answer.contains("job a: tuning: lean") && !answer.contains("(noatime)"), "{answer}");
}

/// A job whose ring may have files and buffers registered.
const RING: [&str; 7] = [
    "--name=a",
    "--rw=randread",
    "--size=256k",
    "--filename=f",
    "--ioengine=io_uring",
    "--iodepth=4",
    "--nonvectored=-1",
];

#[test]
fn a_ring_that_may_register_nothing_does_without_and_says_so() {
    needs!("strace");
    let dir = TestDir::new();
    let used = |words: &[&str]| tuning(&dir, &[&RING[..], words].concat())[0]["used"].clone();
    assert_eq!(used(&[]), json!(["noatime", "registered-files", "registered-buffers"]));
    assert_eq!(used(&["--tuning=fio"]), json!([]));
    assert_eq!(used(&["--registerfiles", "--fixedbufs"]), json!(["noatime"]), "options ask for it");
    let refused = |words: &[&str]| {
        let words = [
            &[
                "-f",
                "-o",
                "/dev/null",
                "--trace=io_uring_register",
                "--inject=io_uring_register:error=ENOMEM",
                FERRIO,
            ][..],
            &RING,
            &["--output-format=json"],
            words,
        ]
        .concat();
        dir.program(installed("strace"), &words).run()
    };
    let report = refused(&[]).succeeded().json();
    assert_eq!(report["ferrio"]["tuning"][0]["used"], json!(["noatime"]));
    assert_eq!(report["jobs"][0]["read"]["total_ios"], 64);
    let asked = refused(&["--fixedbufs"]).ended_with(1);
    assert!(asked.messages().contains("io_uring_register_buffers"), "{}", asked.messages());
}

#[test]
fn large_buffers_are_on_huge_pages_and_small_ones_are_not() {
    let dir = TestDir::new();
    let used = |words: &[&str]| {
        let job = ["--name=a", "--rw=write", "--filename=f", "--ioengine=libaio", "--size=8m", "--bs=1m"];
        tuning(&dir, &[&job[..], words].concat())[0]["used"]
            .as_array()
            .unwrap()
            .contains(&json!("huge-pages"))
    };
    let settings = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let has_pages = !settings.is_empty() && !settings.contains("[never]");
    assert_eq!(used(&["--iodepth=2"]), has_pages);
    assert!(!used(&["--iodepth=1"]), "less than a page");
    assert!(!used(&["--iodepth=2", "--mem=shm"]) && !used(&["--iodepth=2", "--tuning=fio"]));
    assert!(!used(&["--iodepth=64", "--bs=32k"]), "small blocks");
}

#[test]
fn an_automatic_batch_is_what_has_completed_and_unknown_to_fio() {
    let dir = TestDir::new();
    let job = ["--name=a", "--ioengine=null", "--size=1m", "--iodepth=32", "--iodepth_batch=auto"];
    let report = dir.ferrio(&[&job[..], &["--output-format=json"]].concat()).run().succeeded().json();
    // All 256 in batches of the whole depth: of this engine, all have completed as soon as they are submitted.
    assert_eq!(report["jobs"][0]["read"]["total_ios"], 256);
    assert_eq!(report["jobs"][0]["iodepth_submit"]["32"], 100.0);
    assert_eq!(report["jobs"][0]["iodepth_complete"]["32"], 100.0);
    let refused = dir.ferrio(&[&["--as=fio"], &job[..]].concat()).run().ended_with(1);
    assert!(refused.messages().contains("iodepth_batch=auto"), "{}", refused.messages());
}
