//! Figures of the report held against the logged latencies of the same run; jobs without statistics; idleness of the CPUs.

use std::fs;

use serde_json::Value;

use crate::support::{TestDir, document_within, json_file, number, same};

/// The report on reads of two jobs of a group, and all their latencies in ascending order.
fn group(words: &[&str]) -> (Value, Vec<u64>) {
    let dir = TestDir::new();
    let output = format!("--output={}", dir.beside("report").display());
    let jobs =
        ["--name=a", "--filename=f", "--size=1m", "--ioengine=psync", "--numjobs=2", "--group_reporting"];
    let logged = ["--write_lat_log=x", "--output-format=json", output.as_str()];
    dir.ferrio(&[words, &logged[..], &jobs[..]].concat()).run().succeeded();
    let rows = [dir.rows("x_clat.1.log"), dir.rows("x_clat.2.log")].concat();
    let mut samples: Vec<u64> = rows.iter().map(|row| row[1].parse().unwrap()).collect();
    samples.sort_unstable();
    (json_file(&dir.beside("report"))["jobs"][0]["read"]["clat_ns"].clone(), samples)
}

/// Percentages, times a hundred to be whole, and their values.
fn percentiles(clat: &Value) -> Vec<(u64, u64)> {
    let list = clat["percentile"].as_object().unwrap().iter();
    let hundredths = |key: &str| (key.parse::<f64>().unwrap() * 100.0).round() as u64;
    let mut list: Vec<_> = list.map(|(key, value)| (hundredths(key), value.as_u64().unwrap())).collect();
    list.sort_unstable();
    assert_eq!(list.len(), 17);
    list
}

#[test]
fn a_groups_figures_are_those_of_all_its_samples() {
    let (clat, samples) = group(&[]);
    let n = samples.len();
    assert_eq!(n, 512);
    assert_eq!(["/N", "/min", "/max"].map(|path| number(&clat, path)), [512, samples[0], samples[n - 1]]);
    let mean = samples.iter().sum::<u64>() as f64 / n as f64;
    let squares: f64 = samples.iter().map(|&ns| (ns as f64 - mean).powi(2)).sum();
    let stddev = (squares / (n - 1) as f64).sqrt();
    let near = |figure: &Value, wanted: f64| (figure.as_f64().unwrap() - wanted).abs() < 1e-6 + wanted * 1e-9;
    assert!(near(&clat["mean"], mean) && near(&clat["stddev"], stddev), "{clat:#}: {mean}, {stddev}");
    for (hundredths, ns) in percentiles(&clat) {
        let exact = samples[(n as u64 * hundredths).div_ceil(10_000) as usize - 1];
        assert!(ns.abs_diff(exact) * 256 <= exact, "{hundredths}: {ns}, the sample of the rank is {exact}");
        assert!(samples[0] <= ns && ns <= samples[n - 1]);
    }
}

#[test]
fn fios_bins_give_the_middle_of_fios_bucket_of_the_same_sample() {
    let (clat, samples) = group(&["--fio-bins"]);
    assert!(clat.get("bins").is_none(), "buckets are listed in json+ only");
    for (hundredths, ns) in percentiles(&clat) {
        // 512 samples have no share in whole hundredths of a percent that rounding could move.
        let exact = samples[(samples.len() as u64 * hundredths).div_ceil(10_000) as usize - 1];
        let width = 1 << exact.ilog2().saturating_sub(6);
        let middle = exact / width * width + width / 2;
        assert_eq!(ns, middle, "{hundredths} of {exact}");
    }
}

#[test]
fn a_job_without_statistics_is_left_out_of_every_format() {
    let dir = TestDir::new();
    let job =
        dir.job("[global]\nioengine=null\nsize=64k\n[a]\n[silent]\nstonewall\nstats=0\n[c]\nstonewall\n");
    let run = dir.ferrio(&["--output-format=normal,terse", &job]).run().succeeded();
    assert_eq!(run.stdout.lines().filter(|line| line.starts_with("3;")).count(), 2, "{}", run.stdout);
    let entries = |name: &str| run.stdout.contains(&format!("\n{name}: (groupid="));
    assert_eq!([entries("a"), entries("silent"), entries("c")], [true, false, true]);
    let empty = "\n\nRun status group 1 (all jobs):\n\nRun status group 2 (all jobs):\n   READ:";
    assert!(run.stdout.contains(empty), "{}", run.stdout);
    let run = dir.ferrio(&["--output-format=json", &job]).run().succeeded();
    let report = run.json();
    let names = report["jobs"].as_array().unwrap().iter().map(|job| job["jobname"].as_str().unwrap());
    assert_eq!(names.collect::<Vec<_>>(), ["a", "c"]);
}

#[test]
fn blocks_that_are_trimmed_are_followed() {
    let dir = TestDir::new();
    let report = |words: &[&str]| {
        let asked =
            ["--name=a", "--size=64k", "--bs=4k", "--block_error_percentiles=1", "--percentile_list=50"];
        let output = format!("--output={}", dir.beside("report").display());
        let formats = ["--output-format=normal,json", "--continue_on_error=all", output.as_str()];
        dir.ferrio(&[&asked[..], &formats, words].concat()).run();
        let text = fs::read_to_string(dir.beside("report")).unwrap();
        // Lines about the start of the run precede the document.
        let (json, text) = document_within(&text);
        (json["jobs"][0].clone(), text.to_owned())
    };
    let states = |unwritten, trimmed, written, failed| {
        format!(
            "   |        states               : unwritten={unwritten}, trimmed={trimmed}, written={written}, \
             trim failure={failed}, write failure=0\n"
        )
    };
    let title = "\n  block lifetime percentiles :\n";
    let null = |rw| report(&["--ioengine=null", rw]);
    let (json, text) = null("--rw=randtrim");
    assert!(text.contains(&format!("{title}{}", states(0, 16, 0, 0))), "{text}");
    assert_eq!(number(&json, "/block/states/trimmed"), 16);
    assert_eq!(json["block"]["percentiles"].as_object().map(serde_json::Map::len), Some(0));
    let (_, text) = null("--rw=trimwrite");
    assert!(text.contains(&format!("{title}{}", states(0, 0, 16, 0))), "{text}");
    let (json, text) = null("--rw=write");
    assert!(
        text.contains(&format!("{title}{}", states(0, 0, 0, 0))) && json.get("block").is_none(),
        "{text}"
    );
    // A file cannot be trimmed by BLKDISCARD: the first block fails before it survived a trim.
    let (json, text) = report(&["--filename=f", "--ioengine=psync", "--rw=trim"]);
    let lines = format!("{title}   |  50th=[    0]\n{}", states(15, 0, 0, 1));
    assert!(text.contains(&lines) && json["block"]["percentiles"]["50.000000"] == 0, "{text}");
}

/// The lines on idleness with numbers made alike.
fn idleness(real: bool, words: &[&str]) -> Vec<String> {
    let dir = TestDir::new();
    let words = [words, &["--name=a", "--ioengine=null", "--size=1g", "--rate_iops=100", "--time_based"][..]]
        .concat();
    let words = [&words[..], &["--runtime=100ms"]].concat();
    let program = if real { dir.fio(&words) } else { dir.ferrio(&words) };
    let stdout = program.run().succeeded().stdout;
    let lines = stdout.lines().skip_while(|line| *line != "CPU idleness:");
    let masked = |word: &str| match word.find(|c: char| c.is_ascii_digit()) {
        Some(start) => {
            let end = word.rfind(|c: char| c.is_ascii_digit()).map_or(start, |last| last + 1);
            let decimals = word[start..end].split_once('.').map_or(0, |(_, decimals)| decimals.len());
            format!("{}N.{decimals}{}", &word[..start], &word[end..])
        }
        None => word.to_owned(),
    };
    lines.map(|line| line.split(' ').map(masked).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn idleness_is_printed_as_fio_does() {
    needs!("fio");
    for mode in ["system", "percpu", "calibrate"] {
        let option = format!("--idle-prof={mode}");
        let (fio, ferrio) = (idleness(true, &[&option]), idleness(false, &[&option]));
        assert!(fio.len() > 1, "fio measured nothing");
        same!("fio": fio, "ferrio": ferrio, "{option}");
    }
    assert_eq!(idleness(false, &[]), [""; 0]);
}

#[test]
fn idleness_is_a_member_of_the_document_and_calibrating_runs_no_job() {
    let dir = TestDir::new();
    let job = ["--name=a", "--rw=write", "--size=64k"];
    let calibrated = dir
        .ferrio(&[&["--idle-prof=calibrate", "--output-format=json"], &job[..]].concat())
        .run()
        .succeeded();
    assert!(calibrated.stdout.starts_with("CPU idleness:\n  unit work: mean="), "{}", calibrated.stdout);
    assert_eq!((calibrated.stdout.lines().count(), dir.files()), (2, vec![]));
    let keys = |mode: &str| {
        let mode = format!("--idle-prof={mode}");
        let run =
            dir.ferrio(&[&[mode.as_str(), "--output-format=json"], &job[..]].concat()).run().succeeded();
        let object = run.json()["cpu_idleness"].as_object().unwrap().clone();
        assert!(
            object.values().all(|figure| figure.as_f64().is_some_and(|figure| figure >= 0.0)),
            "{object:?}"
        );
        object.keys().cloned().collect::<Vec<_>>()
    };
    let mut each = keys("percpu");
    each.retain(|key| !key.starts_with("cpu-"));
    assert_eq!(each, keys("system"));
    each.sort();
    assert_eq!(each, ["system", "unit_mean", "unit_stddev"]);
}

#[test]
fn a_job_that_ends_in_its_ramp_has_counted_and_sampled_nothing() {
    let words = ["--name=a", "--ioengine=null", "--size=1m", "--ramp_time=1h"];
    let text = TestDir::new().ferrio(&words).run().succeeded().stdout;
    assert!(text.contains("\n     issued rwts: total=256,0,0,0 short"), "{text}");
    assert!(!text.contains("lat (") && !text.contains("percentiles"), "{text}");
}
