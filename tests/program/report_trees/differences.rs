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

fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns).unwrap()
}

/// A document without the places that only one of the two has, and with nothing but the type where time is measured or `loose` matches.
pub fn comparable(places: Vec<(String, Value)>, loose: &[&str]) -> Vec<String> {
    static ABSENT: LazyLock<RegexSet> = LazyLock::new(|| set(&[NEWER.as_slice(), OWN.as_slice()].concat()));
    static TIME: LazyLock<RegexSet> = LazyLock::new(|| set(&TIMES));
    let loose = set(loose);
    places
        .into_iter()
        .filter(|(path, value)| !ABSENT.is_match(path) && !is_unsaid(path, value))
        .map(|(path, value)| {
            if TIME.is_match(&path) || loose.is_match(&path) {
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
