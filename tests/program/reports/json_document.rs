//! JSON documents of real runs against docs/report.schema.json, and the `ferrio` object at their end.

use std::fs;
use std::sync::LazyLock;

use nix::sys::signal::Signal;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::schemas::Schema;
use crate::support::{TestDir, at_once, document_within, number, same, text};

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| Schema::of("report.schema.json"));

/// The document of a run that ends with this status; it is as the schema says, and reads back into the tree it was printed from.
#[track_caller]
pub fn document(dir: &TestDir, words: &[&str], status: i32) -> Value {
    let format = if words.iter().any(|word| word.starts_with("--output-format")) {
        "--eta=never"
    } else {
        "--output-format=json"
    };
    let words: Vec<&str> = [format].iter().chain(words).copied().collect();
    let run = dir.ferrio(&words).run().ended_with(status);
    let document = run.json();
    assert_eq!(SCHEMA.mistakes(&document), [""; 0], "{words:?}\n{document:#}");
    let tree = ferrio_report::read(&run.stdout).unwrap_or_else(|error| panic!("{error}\n{}", run.stdout));
    same!("read": tree.to_json(), "written": run.stdout, "{words:?}");
    assert!(ferrio_report::read(&tree.to_json()) == Ok(tree), "{words:?}");
    let keys: Vec<&String> = document.as_object().unwrap().keys().collect();
    assert_eq!(keys.last().unwrap().as_str(), "ferrio", "it is the last key");
    document
}

const NULL: [&str; 3] = ["--name=a", "--ioengine=null", "--size=64k"];

/// A job whose figures are too few and too early to trust.
const SHORT: [&str; 4] = ["--name=a", "--filename=f", "--direct=1", "--size=64k"];

fn of_null(more: &[&str]) -> Value {
    document(&TestDir::new(), &[&NULL, more].concat(), 0)
}

#[test]
fn runs_without_files_are_as_the_schema_says() {
    let of_run = &of_null(&["--rw=randrw"])["ferrio"]["run"];
    assert_eq!((text(of_run, "/end"), number(of_run, "/jobs")), ("completed", 1));
    of_null(&["--rw=randtrim"]);
    of_null(&["--rw=rw", "--unified_rw_reporting=mixed"]);
    of_null(&["--rw=rw", "--unified_rw_reporting=both", "--output-format=json+", "--lat_percentiles=1"]);
    let group = of_null(&["--numjobs=4", "--group_reporting", "--description=\u{e9} \"quoted\""]);
    assert_eq!(number(&group, "/ferrio/run/jobs"), 4);
    of_null(&["--latency_target=1s", "--latency_window=10ms", "--iodepth=4"]);
    of_null(&["--gtod_reduce=1"]);
    of_null(&["--percentile_list=50:99.999"]);
}

#[test]
fn runs_on_files_are_as_the_schema_says() {
    let dir = TestDir::new();
    let file = ["--name=a", "--filename=f", "--size=256k"];
    let of = |more: &[&str]| document(&dir, &[&file, more].concat(), 0);
    let synced = of(&["--rw=randrw", "--fsync=4", "--output-format=json+"]);
    assert!(number(&synced, "/jobs/0/sync/lat_ns/N") > 0);
    let deep = ["--rw=randread", "--iodepth=8", "--slat_percentiles=1", "--lat_percentiles=1"];
    for engine in ["--ioengine=io_uring", "--ioengine=libaio"] {
        let report = of(&[&deep[..], &[engine, "--direct=1", "--output-format=json+"]].concat());
        assert!(report.pointer("/jobs/0/read/slat_ns/bins").is_some());
    }
    let laid_out = document(&dir, &["--name=b", "--size=64k", "--rw=read", "--create_only=1"], 0);
    assert_eq!(number(&laid_out, "/jobs/0/read/total_ios"), 0);
    let target = &laid_out["ferrio"]["targets"][0];
    assert!(target["mount_point"].is_string() && target["file_system"].is_string(), "{target:#}");
    assert_eq!(target["jobs"], json!(["b"]));
}

#[test]
fn runs_that_fail_are_as_the_schema_says() {
    let full = ["--name=a", "--filename=/dev/full", "--rw=write", "--size=64k"];
    let failed = document(&TestDir::new(), &full, 1);
    assert_eq!((text(&failed, "/ferrio/run/end"), number(&failed, "/ferrio/run/failed_jobs")), ("errors", 1));
    let tolerant = [&full[..], &["--continue_on_error=write", "--ignore_error=,ENOSPC"]].concat();
    let tolerated = document(&TestDir::new(), &tolerant, 0);
    assert_eq!(number(&tolerated, "/ferrio/run/tolerated_errors"), 16);
    assert_eq!(number(&tolerated, "/jobs/0/total_err"), 16);
    document(&TestDir::new(), &["--name=a", "--ioengine=null"], 1);
}

#[test]
fn a_group_has_the_names_and_options_of_all_its_jobs() {
    let dir = TestDir::new();
    let jobs = "[global]\nioengine=null\nsize=64k\ngroup_reporting\n[a]\nnumjobs=2\nrw=read\n[b]\nrw=write\nbs=8k\n[alone]\nnew_group\nrw=trim\n";
    let report = document(&dir, &[&dir.job(jobs)], 0);
    let want = json!([{ "jobname": "a", "groupid": 0, "jobs": [
        { "name": "a", "count": 2, "options": { "numjobs": "2", "rw": "read" } },
        { "name": "b", "count": 1, "options": { "rw": "write", "bs": "8k" } },
    ] }]);
    assert_eq!(report["ferrio"]["members"], want);
    assert_eq!(
        (text(&report, "/jobs/0/jobname"), text(&report, "/jobs/0/job options/bs")),
        ("a", "8k"),
        "as in fio"
    );
}

#[test]
fn an_option_that_is_given_several_times_has_one_value_for_all_of_them() {
    let dir = TestDir::new();
    let job = "[a]\nioengine=null\nsize=64k\nrw=randrw\nfilename=a\nfilename=b:c\nbs=4k\nbs=,8k\nrwmixread=30\nrwmixread=60\n\
               percentile_list=50:50.0:99\n";
    let printed = dir.ferrio(&["--output-format=json", &dir.job(job)]).run().succeeded().stdout;
    for key in ["filename", "bs", "rwmixread"] {
        assert_eq!(printed.matches(&format!("\"{key}\" : ")).count(), 1, "{printed}");
    }
    // In each direction.
    assert_eq!(printed.matches("\"50.000000\" : ").count(), 2, "{printed}");
    let report: Value = serde_json::from_str(&printed).unwrap();
    let options = &report["jobs"][0]["job options"];
    assert_eq!(
        (text(options, "/filename"), text(options, "/bs"), text(options, "/rwmixread")),
        ("a:b:c", "4k,8k", "60")
    );
}

#[test]
fn response_times_stand_in_both_places() {
    let report = of_null(&["--rw=randrw", "--rate_iops=2000,1000"]);
    let [own] = report["ferrio"]["response_ns"].as_array().unwrap().as_slice() else { panic!("{report:#}") };
    for direction in ["read", "write"] {
        assert_eq!(own[direction], report["jobs"][0][direction]["response_ns"], "{direction}");
    }
    assert_eq!((&own["jobname"], own.get("trim")), (&json!("a"), None));
    assert_eq!(of_null(&[])["ferrio"].get("response_ns"), None, "without a rate there is none");
}

#[test]
fn a_run_that_a_signal_ends_is_as_the_schema_says() {
    let dir = TestDir::new();
    let words = ["--output-format=json", "--name=a", "--filename=f", "--rw=write", "--size=1m"];
    let endless = ["--fallocate=none", "--time_based", "--runtime=1h"];
    let mut running = dir.ferrio(&[&words[..], &endless].concat()).start();
    running.until("its first write", || dir.is_written("f"));
    running.signal(Signal::SIGINT);
    let report = running.wait().ended_with(128).json();
    assert_eq!(SCHEMA.mistakes(&report), [""; 0]);
    let run = &report["ferrio"]["run"];
    assert_eq!((text(run, "/end"), number(run, "/signal")), ("signal", Signal::SIGINT as u64));
}

#[test]
fn a_steady_state_is_as_the_schema_says() {
    let words = ["--rw=randread", "--rate_iops=400", "--time_based", "--runtime=30", "--ss_dur=2"];
    at_once(&["--ss=iops:60%", "--ss=lat_slope:1000ms"], |criterion| {
        let report = of_null(&[&words[..], &["--size=1g", criterion]].concat());
        assert_eq!(number(&report, "/jobs/0/steadystate/attained"), 1);
    });
}

#[test]
fn names_may_hold_anything_and_the_document_is_json() {
    let name = "tab\t bell\u{7} quote\" back\\slash \u{7f} \u{65e5}\u{672c}";
    let words = [&format!("--name={name}"), "--filename=f", "--size=4k", "--description=\u{1b}[31m\u{1}"];
    let dir = TestDir::new();
    let report = document(&dir, &words, 0);
    assert_eq!((text(&report, "/jobs/0/jobname"), text(&report, "/jobs/0/desc")), (name, "\u{1b}[31m\u{1}"));
    assert_eq!(report["ferrio"]["warnings"][0]["jobs"], json!([name]));
    let run = dir.ferrio(&words).run().succeeded();
    assert!(!run.stderr.contains('\u{7}') && !run.stderr.contains('\t'), "{:?}", run.stderr);
}

#[test]
fn huge_numbers_stay_numbers() {
    let report = of_null(&["--size=8000p", "--number_ios=4", "--bs=1m", "--rw=randread", "--norandommap"]);
    assert_eq!(number(&report, "/jobs/0/read/io_bytes"), 4 << 20);
}

#[test]
fn a_short_run_is_told_in_both_places_and_not_in_the_report() {
    let dir = TestDir::new();
    let run = dir.ferrio(&[&SHORT[..], &["--output-format=normal,json"]].concat()).run().succeeded();
    let (report, text_report) = document_within(&run.stdout);
    let warnings = report["ferrio"]["warnings"].as_array().unwrap();
    let codes: Vec<&str> = warnings.iter().map(|warning| text(warning, "/code")).collect();
    assert!(codes.contains(&"short-run") && codes.contains(&"few-ios"), "{codes:?}");
    for warning in warnings {
        let line = format!("warning: {} [{}]\n", text(warning, "/message"), text(warning, "/code"));
        assert!(run.stderr.contains(&line), "{line:?} is expected in\n{}", run.stderr);
        assert!(!text_report.contains(text(warning, "/message")), "{text_report}");
    }
    assert_eq!(run.messages(), "", "nothing else is said");
}

#[test]
fn the_start_of_a_job_is_told_by_the_clock_asked_for() {
    let start =
        |clock: u32| number(&of_null(&[&format!("--job_start_clock_id={clock}")]), "/jobs/0/job_start");
    let monotonic = || clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap().tv_sec() as u64;
    let (before, seconds, after) = (monotonic(), start(1) / 1000, monotonic());
    assert!((before..=after).contains(&seconds), "{before} {seconds} {after}");
    assert!(start(0) > 1_500_000_000_000);
}

#[test]
fn a_quiet_run_says_nothing_beside_its_report_and_the_document_keeps_the_doubts() {
    let dir = TestDir::new();
    let odd = ["--log_compression=4k", "--output-format=json"];
    let told = |more: &[&str]| dir.ferrio(&[&SHORT[..], &odd, more].concat()).run().succeeded();
    let loud = told(&[]);
    assert!(loud.stderr.contains("`log_compression` has no effect here"), "{}", loud.stderr);
    for words in [&["--quiet"][..], &["--quiet", "--message-format=json"]] {
        let quiet = told(words);
        assert_eq!(quiet.stderr, "");
        let report: Value = serde_json::from_str(&quiet.stdout).unwrap();
        assert_eq!(text(&report, "/ferrio/warnings/0/code"), "short-run");
    }
}

#[test]
fn a_quiet_run_tells_what_goes_wrong() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--quiet", "--name=a", "--filename=/dev/full", "--rw=write", "--size=4k"]).run();
    assert_eq!(run.status, Some(1));
    assert!(run.stderr.contains("io_u error") && !run.stderr.contains("warning:"), "{}", run.stderr);
    let refused = dir.ferrio(&["--quiet", "--name=a", "--size=1q"]).run();
    assert!(refused.stderr.starts_with("error: "), "{}", refused.stderr);
}

#[test]
fn doubts_of_many_clones_are_told_once() {
    let run = TestDir::new().ferrio(&[&SHORT[..], &["--numjobs=64"]].concat()).run().succeeded();
    assert_eq!(run.stderr.matches("[short-run]").count(), 1, "{}", run.stderr);
    assert!(run.stderr.contains("64 jobs (a) ran for less than a second"), "{}", run.stderr);
}

#[test]
fn reads_from_the_page_cache_are_told_and_direct_ones_are_not() {
    let dir = TestDir::new();
    let told = |direct: &str, loops: u32| {
        // The first loop reads the file into memory, and the others find it there. Other tests use the disk too, but less.
        let words = ["--name=a", "--filename=f", "--size=4m", "--rw=read", "--bs=256k", "--invalidate=0"];
        let report = document(&dir, &[&words[..], &[&format!("--loops={loops}"), direct]].concat(), 0);
        report.get("disk_util")?;
        let warnings = report["ferrio"]["warnings"].as_array().unwrap().clone();
        Some(warnings.iter().any(|warning| warning["code"] == "cached-reads"))
    };
    assert_ne!(told("--direct=0", 100), Some(false));
    assert_ne!(told("--direct=1", 2), Some(true));
}

#[test]
fn broken_documents_are_found() {
    let good = of_null(&["--rw=randrw", "--rate_iops=2000"]);
    type Breakage<'a> = (&'a str, &'a dyn Fn(&mut Value));
    let breakages: [Breakage<'_>; 9] = [
        ("a key that is not there", &|it| drop(it["jobs"][0]["read"].as_object_mut().unwrap().remove("bw"))),
        ("a key too many", &|it| it["jobs"][0]["read"]["bww"] = json!(1)),
        ("a text for a number", &|it| it["jobs"][0]["error"] = json!("0")),
        ("a fraction for a count", &|it| it["jobs"][0]["write"]["total_ios"] = json!(1.5)),
        ("no number", &|it| it["jobs"][0]["usr_cpu"] = Value::Null),
        ("a percentile of no percentage", &|it| {
            it["jobs"][0]["read"]["clat_ns"]["percentile"]["99"] = json!(1);
        }),
        ("half a latency target", &|it| {
            it["jobs"][0].as_object_mut().unwrap().remove("latency_window");
        }),
        ("another format", &|it| it["ferrio"]["format"] = json!(2)),
        ("an unknown key of our own", &|it| it["ferrio"]["host"]["user"] = json!("me")),
    ];
    for (what, break_it) in breakages {
        let mut broken = good.clone();
        break_it(&mut broken);
        assert_ne!(SCHEMA.mistakes(&broken), [""; 0], "{what}");
    }
}

#[test]
fn every_key_of_the_schema_is_described() {
    fn undescribed(name: &str, schema: &Value, found: &mut Vec<String>) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            if !property["description"].is_string() {
                found.push(format!("{name}/{key}"));
            }
            undescribed(&format!("{name}/{key}"), property, found);
            undescribed(&format!("{name}/{key}[]"), &property["items"], found);
        }
    }
    let schema = &SCHEMA.text;
    let mut found = Vec::new();
    undescribed("", schema, &mut found);
    let parts = schema["$defs"].as_object().unwrap();
    parts.iter().for_each(|(name, part)| undescribed(name, part, &mut found));
    assert_eq!(found, [""; 0]);
    let own = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md")).unwrap();
    let properties = |schema: &Value| schema["properties"].as_object().cloned().unwrap_or_default();
    let keys = properties(&schema["properties"]["ferrio"]);
    let inner = keys.values().flat_map(|value| [&value["$ref"], &value["items"]["$ref"]]);
    let inner = inner.filter_map(|part| part.as_str()?.strip_prefix("#/$defs/"));
    let inner_keys = inner.flat_map(|part| properties(&parts[part]));
    let described: Vec<String> = keys.clone().into_iter().chain(inner_keys).map(|(key, _)| key).collect();
    assert!(described.iter().any(|key| key == "workers_user_ms"), "{described:?}");
    for key in described {
        assert!(own.contains(&format!("`{key}`")), "docs/json.md does not describe {key}");
    }
}
