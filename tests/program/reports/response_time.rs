//! Response times of jobs with a rate: where the reports have them, and what they are never below.

use serde_json::Value;

use crate::engines::moving;
use crate::support::{TestDir, json_file, number};

/// The report on a job that does nothing 2000 times a second for a while.
fn report(words: &[&str]) -> Value {
    let dir = TestDir::new();
    let output = format!("--output={}", dir.beside("report").display());
    let job = ["--name=a", "--ioengine=null", "--size=1g", "--time_based", "--runtime=100ms", &output];
    dir.ferrio(&[&job[..], &["--output-format=json+"], words].concat()).run().succeeded();
    json_file(&dir.beside("report"))
}

/// Every figure of the response times is there and not below that of the latencies.
#[track_caller]
fn assert_not_below_latency(direction: &Value) {
    let (lat, response) = (&direction["lat_ns"], &direction["response_ns"]);
    assert_eq!(response["N"], lat["N"], "{direction:#}");
    let percentiles = lat["percentile"].as_object().unwrap();
    assert_eq!(percentiles.len(), 17);
    let figures = ["/min", "/max", "/mean"].map(str::to_owned).into_iter();
    for path in figures.chain(percentiles.keys().map(|percent| format!("/percentile/{percent}"))) {
        let of = |latency: &Value| latency.pointer(&path).and_then(Value::as_f64).unwrap();
        assert!(of(response) >= of(lat), "{path}: {direction:#}");
    }
    let bins = response["bins"].as_object().unwrap();
    let counted: u64 = bins.values().filter_map(Value::as_u64).sum();
    assert_eq!(Value::from(counted), response["N"]);
}

#[test]
fn with_a_rate_there_is_a_response_time_not_below_the_latency_whatever_the_engine_does() {
    let of = |words: &[&str]| {
        let words = [words, &["--lat_percentiles=1"]].concat();
        assert_not_below_latency(&report(&words)["jobs"][0]["read"]);
    };
    of(&["--rate_iops=2000"]);
    of(&["--rate=8m", "--iodepth=8"]);
    of(&["--rate_iops=2000", "--rate_process=poisson"]);
    of(&["--rate_iops=3000", "--bssplit=4k/50:16k/50"]);
    of(&["--rate_iops=2000", "--thinktime=2ms", "--thinktime_blocks=5", "--rate_ignore_thinktime=1"]);
    of(&["--rate_iops=2000", "--ramp_time=50ms", "--iodepth=4"]);
}

#[test]
fn files_read_by_any_engine_have_response_times() {
    for engine in moving() {
        let words = [
            &format!("--ioengine={engine}"),
            "--size=64k",
            "--rate_iops=2000",
            "--iodepth=4",
            "--lat_percentiles=1",
        ];
        assert_not_below_latency(&report(&words)["jobs"][0]["read"]);
    }
}

#[test]
fn without_a_rate_nothing_has_a_response_time() {
    let plain = report(&["--rw=randrw"]);
    assert!(!plain.to_string().contains("response"), "{plain:#}");
    let mix = report(&["--rw=randrw", "--rate_iops=,500", "--rate_min=1", "--lat_percentiles=1"]);
    let job = &mix["jobs"][0];
    assert_not_below_latency(&job["write"]);
    assert!(job["read"].get("response_ns").is_none() && job["trim"].get("response_ns").is_none());
    for unmeasured in ["--disable_lat=1", "--gtod_reduce=1"] {
        let report = report(&["--rate_iops=500", unmeasured]);
        assert!(!report.to_string().contains("response"), "{unmeasured}: {report:#}");
    }
}

#[test]
fn reports_on_several_jobs_or_directions_as_one_add_response_times_up() {
    let words = ["--rw=randrw", "--rate_iops=500", "--numjobs=2", "--group_reporting", "--lat_percentiles=1"];
    let group = report(&words);
    let job = &group["jobs"][0];
    [&job["read"], &job["write"]].into_iter().for_each(assert_not_below_latency);
    let mixed = report(&[&words[..], &["--unified_rw_reporting=both"]].concat());
    let job = &mixed["jobs"][0];
    assert_not_below_latency(&job["mixed"]);
    let of = |direction: &str| number(job, &format!("/{direction}/response_ns/N"));
    assert_eq!(of("mixed"), of("read") + of("write"));
}

#[test]
fn the_text_has_one_line_more_behind_the_latencies() {
    let dir = TestDir::new();
    let run = |words: &[&str]| {
        let job = ["--name=a", "--ioengine=null", "--size=64k"];
        dir.ferrio(&[&job[..], words].concat()).run().succeeded().stdout.clone()
    };
    let text = run(&["--rate_iops=1000"]);
    let labels: Vec<&str> = text.lines().filter_map(|line| line.trim_start().split(" (").next()).collect();
    let at = labels.iter().position(|&label| label == "response").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(labels[at - 2..=at + 1], ["clat", "lat", "response", "clat percentiles"], "{text}");
    assert!(!run(&[]).contains("response"));
}
