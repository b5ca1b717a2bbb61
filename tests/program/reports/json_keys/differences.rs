//! All that may differ between the JSON report of the installed fio and ferrio's: what measures time, what is newer than fio 3.33, what
//! only ferrio has.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::tree::Value;

/// Values that depend on when and how fast something was done. The key and the type are compared all the same.
const TIMES: [&str; 14] = [
    "^/fio version$",
    "^/timestamp(_ms)?$",
    "^/time$",
    "/job_start$",
    "/(eta|elapsed)$",
    "/(runtime|job_runtime)$",
    "/(bw|bw_bytes|iops)$",
    "/(bw|iops)_(min|max|agg|mean|dev|stddev)$",
    "/(usr_cpu|sys_cpu|ctx|majf|minf)$",
    "_ns/(min|max|mean|stddev)$",
    "/percentile/[^/]+$",
    "/latency_(ns|us|ms)/[^/]+$",
    "^/disk_util/",
    "/steadystate/(criterion|max_deviation|slope|data/.*)$",
];

/// Keys that fio has got since 3.33, the oldest version compared with.
const NEWER: [&str; 4] = [
    "^/jobs/[0-9]+/job_start$",
    "^/jobs/[0-9]+/latency_(target_ns|window_us)$",
    "^/disk_util/[0-9]+/(aggr_)?(read|write)_sectors$",
    // The values of bins are data, and each is a key of its own.
    "/bins/[0-9]+$",
];

/// Keys that only ferrio has: `docs/differences.md` and `docs/response_time.md` tell of them.
const OWN: [&str; 2] = ["^/ferrio(/|$)", "/response_ns(/|$)"];

/// The lines of a document as they are written, with `#` for the whole part of a number and for each decimal, and without the comma at
/// the end, which only lines in front of others have.
pub fn layout(document: &str) -> Vec<String> {
    static ABSENT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new("^ +\"(job_start|latency_target_ns|latency_window_us|(read|write)_sectors)\" : ").unwrap()
    });
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"( : |^ {12})-?\d+").unwrap());
    static DIGITS: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\.\d{6}$").unwrap());
    static TEXT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("^  (\"fio version\"|\"time\") : .*").unwrap());
    let own = document
        .find("\n  \"ferrio\" : {")
        .map_or(document.to_owned(), |at| format!("{}\n}}\n", &document[..at]));
    own.lines()
        .filter(|line| !ABSENT.is_match(line))
        .map(|line| NUMBER.replace(line.trim_end_matches(','), "$1#").into_owned())
        .map(|line| DIGITS.replace(&line, ".######").into_owned())
        .map(|line| TEXT.replace(&line, "  $1 : TEXT").into_owned())
        .collect()
}

fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns).unwrap()
}

/// A document without the places that only one of the two has, and with nothing but the type where time is measured or `loose` matches.
/// All is compared of a direction without I/O.
pub fn comparable(places: Vec<(String, Value)>, loose: &[&str]) -> Vec<String> {
    static ABSENT: LazyLock<RegexSet> = LazyLock::new(|| set(&[NEWER.as_slice(), OWN.as_slice()].concat()));
    static TIME: LazyLock<RegexSet> = LazyLock::new(|| set(&TIMES));
    let loose = set(loose);
    let idle: Vec<String> = places
        .iter()
        // 3.33 counts most syncs elsewhere.
        .filter(|(path, value)| *value == Value::Whole(0) && !path.ends_with("/sync/total_ios"))
        .filter_map(|(path, _)| path.strip_suffix("total_ios").map(str::to_owned))
        .collect();
    let is_idle = |path: &str| idle.iter().any(|direction| path.starts_with(direction));
    places
        .into_iter()
        .filter(|(path, value)| !ABSENT.is_match(path) && !is_unsaid(path, value))
        .map(|(path, value)| {
            if loose.is_match(&path) || TIME.is_match(&path) && !is_idle(&path) {
                format!("{path}: {}", value.kind())
            } else {
                format!("{path}: {} {value}", value.kind())
            }
        })
        .collect()
}

/// Since 3.42 an option without a value is echoed as one with an empty value; 3.33 leaves it out.
fn is_unsaid(path: &str, value: &Value) -> bool {
    static OPTION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("^/(global|jobs/[0-9]+/job) options/").unwrap());
    OPTION.is_match(path) && *value == Value::Text(String::new())
}
