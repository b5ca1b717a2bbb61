//! Public programs that read sysbench's output: what they look for, found in the output of sysbench and of ferrio alike.
//!
//! Each reader here is written from the patterns or the rule by which a public program finds figures, and from nothing else of it:
//!
//! | reader | program, licence |
//! |---|---|
//! | [`PATTERNS_OF_LISA`] | microsoft/lisa (`lisa/tools/sysbench.py`), MIT |
//! | [`PATTERNS_OF_GHAF`] | tiiuae/ci-test-automation (`output_parser.py`), Apache-2.0 |
//! | [`PATTERNS_OF_TESTKIT`] | qualcomm-linux/qcom-linux-testkit (`lib_performance.sh`), BSD-3-Clause |
//! | [`sections`] | cloud-bulldozer/benchmark-wrapper and arcalot/arcaflow-plugin-sysbench, both Apache-2.0 |

use std::collections::BTreeMap;

use regex::Regex;

use crate::support::{TestDir, installed, same};

/// A figure and the expression that finds it; each group of the expression is a number.
type Pattern = (&'static str, &'static str);

const PATTERNS_OF_LISA: [Pattern; 13] = [
    ("events per second", r"events per second:\s+([\d.]+)"),
    ("total time", r"total time:\s+([\d.]+)s"),
    ("events", r"total number of events:\s+(\d+)"),
    // All of them, and none of the lines that `--debug` adds.
    ("latency", r"(?:min|avg|max|95th percentile|sum):\s+([\d.]+)\s"),
    ("events of threads", r"events \(avg/stddev\):\s+([\d.]+)/([\d.]+)"),
    ("time of threads", r"execution time \(avg/stddev\):\s+([\d.]+)/([\d.]+)"),
    ("operations", r"Total operations: (\d+) \(([\d.]+) per second\)"),
    ("memory", r"([\d.]+) MiB transferred \(([\d.]+) MiB/sec\)"),
    ("reads", r"reads/s:\s+([\d.]+)"),
    ("writes", r"writes/s:\s+([\d.]+)"),
    ("fsyncs", r"fsyncs/s:\s+([\d.]+)"),
    ("read MiB", r"read, MiB/s:\s+([\d.]+)"),
    ("written MiB", r"written, MiB/s:\s+([\d.]+)"),
];

const PATTERNS_OF_GHAF: [Pattern; 10] = [
    ("events per second", r"events per second:\s*([.\d]+)"),
    ("reads", r"File operations:\s*reads/s:\s*([.\d]+)"),
    ("read MiB", r"Throughput:\s*read, MiB/s:\s*([.\d]+)"),
    ("writes", r"writes/s:\s*([.\d]+)"),
    ("written MiB", r"written, MiB/s:\s*([.\d]+)"),
    ("operations per second", r"Total operations:\s*\d+ \(([.\d]+) per second"),
    ("memory", r"\(([.\d]+) MiB/sec\)"),
    ("min", r"min:\s+([.\d]+)"),
    ("events of threads", r"events \(avg/stddev\):\s+([.\d]+)"),
    ("deviation of threads", r"events \(avg/stddev\):\s+[.\d]+/([.\d]+)"),
];

const PATTERNS_OF_TESTKIT: [Pattern; 2] = [
    ("read MiB", r"(?m)^\s*read,\s*MiB/s:\s*([0-9.][0-9.]*).*$"),
    ("written MiB", r"(?m)^\s*written,\s*MiB/s:\s*([0-9.][0-9.]*).*$"),
];

/// The figures that a reader finds.
type Figures = BTreeMap<String, Vec<f64>>;

/// Reads a text by patterns.
fn by_patterns(patterns: &[Pattern], text: &str) -> Figures {
    let mut figures = Figures::new();
    for (name, pattern) in patterns {
        for found in Regex::new(pattern).unwrap().captures_iter(text) {
            let numbers =
                found.iter().skip(1).flatten().map(|number| number.as_str().parse::<f64>().unwrap());
            figures.entry((*name).to_owned()).or_default().extend(numbers);
        }
    }
    figures
}

/// Reads a text without its blanks line by line: at its only colon, a line with a value is a figure of the section that the last line
/// without a value began. What such a reader cannot read, it fails at.
#[track_caller]
fn sections(text: &str) -> Figures {
    let mut figures = Figures::new();
    let mut section = String::new();
    let number = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("{text} is no number"));
    for line in text.replace(' ', "").lines() {
        if let Some((total, rate)) = line.split_once("MiBtransferred(") {
            let rate = rate.strip_suffix("MiB/sec)").unwrap();
            figures.insert("transferred".to_owned(), vec![number(total), number(rate)]);
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        assert!(!value.contains(':'), "two colons: {line}");
        if value.is_empty() {
            key.clone_into(&mut section);
            continue;
        }
        // Values of options are kept as text.
        if section.contains("options") {
            figures.insert(format!("options: {key}"), Vec::new());
            continue;
        }
        let numbers = match value.split_once(['/', '(']) {
            Some((first, second)) => vec![number(first), number(second.trim_end_matches("persecond)"))],
            None if key == "totaltime" => vec![number(value.trim_end_matches('s'))],
            None => vec![number(value)],
        };
        figures.insert(format!("{section}: {key}"), numbers);
    }
    figures
}

/// The outputs of sysbench and of ferrio for the same words, in directories of their own.
#[track_caller]
fn outputs(words: &str) -> [String; 2] {
    let words: Vec<&str> = words.split_whitespace().collect();
    let (theirs, ours) = (TestDir::new(), TestDir::new());
    let in_both = |words: &[&str]| {
        let theirs = theirs.program(installed("sysbench"), words).run().succeeded();
        let ours = ours.ferrio(&[&["sysbench"], words].concat()).run().succeeded();
        [theirs.stdout, ours.stdout]
    };
    if words[0] == "fileio" {
        let prepare: Vec<&str> =
            words.iter().map(|word| if *word == "run" { "prepare" } else { word }).collect();
        in_both(&prepare);
    }
    in_both(&words)
}

/// A reader finds the same figures in both outputs, as often and with as many numbers. Returns them.
#[track_caller]
fn read_alike(name: &str, read: impl Fn(&str) -> Figures, outputs: &[String; 2]) -> [Figures; 2] {
    let both = outputs.each_ref().map(|text| read(text));
    let found = |figures: &Figures| -> Vec<(String, usize)> {
        figures.iter().map(|(name, numbers)| (name.clone(), numbers.len())).collect()
    };
    same!("sysbench": found(&both[0]), "ferrio": found(&both[1]), "what {name} finds in {}", outputs[1]);
    both
}

/// All readers find the same in both outputs. Returns the figures of the first, which has most.
#[track_caller]
fn all_read_alike(outputs: &[String; 2]) -> [Figures; 2] {
    read_alike("ci-test-automation", |text| by_patterns(&PATTERNS_OF_GHAF, text), outputs);
    read_alike("qcom-linux-testkit", |text| by_patterns(&PATTERNS_OF_TESTKIT, text), outputs);
    read_alike("benchmark-wrapper", sections, outputs);
    read_alike("lisa", |text| by_patterns(&PATTERNS_OF_LISA, text), outputs)
}

/// The figures of a run have the same units in both outputs: times of events in milliseconds, others in seconds.
#[track_caller]
fn units_agree(figures: &Figures, threads: f64) {
    let of = |name: &str| figures[name].as_slice();
    let latency = of("latency");
    let (avg, sum) = (latency[1], latency[4]);
    let events = of("events")[0];
    // All are rounded, the latencies to 0.01 ms.
    assert!((avg * events - sum).abs() <= 0.005 * events + 0.01, "{figures:?}");
    assert!((sum / 1000.0 / threads - of("time of threads")[0]).abs() <= 0.000_11, "{figures:?}");
    assert_eq!(of("events of threads")[0] * threads, events, "{figures:?}");
}

#[test]
fn figures_of_files_are_found_and_have_the_units_of_sysbench() {
    needs!("sysbench");
    let outputs = outputs(
        "fileio --file-num=4 --file-total-size=8M --file-test-mode=rndrw --threads=2 --events=3000 --time=0 --file-fsync-freq=500 run",
    );
    let [theirs, ours] = all_read_alike(&outputs);
    for figures in [&theirs, &ours] {
        units_agree(figures, 2.0);
        let of = |name: &str| figures[name][0];
        assert_eq!(of("events"), 3000.0);
        for (mib, requests) in [("read MiB", "reads"), ("written MiB", "writes")] {
            assert!((of(mib) - of(requests) / 64.0).abs() < 0.006, "{figures:?}");
        }
        // 3000 events are 2980 requests and 5 rounds of 4 syncs; each thread ends with 4 more.
        let requests = (of("reads") + of("writes")) / of("fsyncs");
        assert!((requests / (2980.0 / 28.0) - 1.0).abs() < 0.001, "{figures:?}");
    }
    // The rates are those of a second. (sysbench divides by a clock that it reads after that of the total time.)
    let time = ours["total time"][0];
    let requests = (ours["reads"][0] + ours["writes"][0]) * time;
    assert!((requests / 2980.0 - 1.0).abs() < 0.001 + 0.0001 / time, "{ours:?}");
}

#[test]
fn figures_of_the_cpu_are_found_and_have_the_units_of_sysbench() {
    needs!("sysbench");
    let words = "cpu --cpu-max-prime=2000 --threads=2 --events=2000 --time=0 run";
    let [theirs, ours] = all_read_alike(&outputs(words));
    for figures in [&theirs, &ours] {
        assert_eq!(figures["events"], [2000.0]);
        assert_eq!(figures["events per second"].len(), 1);
        units_agree(figures, 2.0);
    }
    let time = ours["total time"][0];
    let events = ours["events per second"][0] * time;
    assert!((events / 2000.0 - 1.0).abs() < 0.001 + 0.0001 / time, "{ours:?}");
}

#[test]
fn figures_of_memory_are_found_and_have_the_units_of_sysbench() {
    needs!("sysbench");
    // More than 10000 operations per second: fewer are printed with a blank that some of the patterns do not expect.
    let words = "memory --memory-block-size=1K --memory-total-size=64M --time=100 run";
    for figures in all_read_alike(&outputs(words)) {
        units_agree(&figures, 1.0);
        assert_eq!(figures["operations"][0], 65536.0);
        let (mib, rate) = (figures["memory"][0], figures["memory"][1]);
        assert_eq!(mib, 64.0);
        assert!((rate * 1024.0 / figures["operations"][1] - 1.0).abs() < 0.001, "{figures:?}");
    }
}

#[test]
fn the_commands_of_lisa_can_be_read_although_they_ask_for_debug_messages() {
    needs!("sysbench");
    let more = "--events=40 --percentile=95 --verbosity=5 --histogram=on --time=5 --debug=on";
    let read = |text: &str| by_patterns(&PATTERNS_OF_LISA, text);
    let cpu = outputs(&format!("cpu run --threads=1 --validate=on {more} --cpu-max-prime=1000"));
    let files = outputs(&format!(
        "fileio run --threads=1 --validate=off {more} --file-test-mode=seqrd --file-num=2 --file-block-size=16384 \
         --file-total-size=1048576 --file-io-mode=sync --file-async-backlog=128 --file-fsync-freq=100 --file-fsync-all=off \
         --file-fsync-end=off --file-fsync-mode=fsync --file-merged-requests=0 --file-rw-ratio=1.5"
    ));
    for outputs in [cpu, files] {
        for figures in read_alike("lisa", read, &outputs) {
            assert_eq!((figures["events"][0], figures["latency"].len()), (40.0, 5), "{figures:?}");
        }
    }
}
