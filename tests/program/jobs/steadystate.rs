//! Jobs that end when their figures have settled, side by side with real fio.

use serde_json::Value;

use crate::support::{TestDir, number, same, text};

/// Longest time a job here would run, in ms.
const RUNTIME_MS: u64 = 30_000;

/// A job file of jobs that would run half a minute at 400 reads and 100 writes per second.
fn jobs(globals: &str, jobs: &[&str]) -> String {
    let globals = format!(
        "[global]\nioengine=null\nsize=1g\nrw=randrw\nrate_iops=400,100\ntime_based\nruntime=30\nss_dur=2\n{globals}"
    );
    (0..).zip(jobs).fold(globals, |text, (at, job)| format!("{text}\n[j{at}]\n{job}"))
}

/// The report of a run of ferrio.
fn report(job: &str) -> Value {
    let dir = TestDir::new();
    let job = dir.job(job);
    dir.ferrio(&["--output-format=json", &job]).run().succeeded().json()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

#[test]
fn each_criterion_ends_its_job_once_the_window_is_steady() {
    let criteria = [
        "iops:60%",
        "iops_slope:250",
        "bw:60%",
        "bw_slope:1m",
        "lat:1s",
        "lat_slope:1000ms",
        "lat:1s\niodepth=4",
    ];
    let shown = [
        "iops:60.000000%",
        "iops_slope:250.000000",
        "bw:60.000000%",
        "bw_slope:1048576.000000",
        "lat:1000000000.000000",
        "lat_slope:1000000000.000000",
        "lat:1000000000.000000",
    ];
    let sections = criteria.map(|criterion| format!("new_group\nss={criterion}"));
    let report = report(&jobs("", &sections.each_ref().map(String::as_str)));
    for (at, ss) in shown.iter().enumerate() {
        let job = &report["jobs"][at];
        assert!(number(job, "/job_runtime") < RUNTIME_MS, "{ss} ended nothing");
        let steady = &job["steadystate"];
        assert_eq!((text(steady, "/ss"), number(steady, "/attained")), (*ss, 1), "{steady:#}");
        assert_eq!((number(steady, "/duration"), numbers(&steady["data"]["iops"]).len()), (2, 2));
        let mean = number(steady, "/data/iops_mean");
        assert!((250..=1000).contains(&mean), "{mean} is far from the rate of {ss}");
        let latencies = steady.pointer("/data/lat_ns").map(numbers);
        assert_eq!(latencies.is_some(), ss.starts_with("lat"), "{ss}");
        assert!(latencies.is_none_or(|latencies| latencies.iter().all(|&ns| ns > 0)), "{steady:#}");
    }
}

#[test]
fn a_job_that_never_settles_runs_to_its_end() {
    let report = report(&jobs("", &["ss=iops:0\nruntime=2500ms"]));
    let job = &report["jobs"][0];
    assert!(number(job, "/job_runtime") >= 2490);
    assert_eq!(number(job, "/steadystate/attained"), 0);
    assert_eq!(numbers(&job["steadystate"]["data"]["bw"]).len(), 2);
}

#[test]
fn a_reporting_group_ends_together_when_its_sum_is_steady() {
    let report = report(&jobs(
        "ss=iops:60%\ngroup_reporting",
        &["", "rate_iops=100,400", "new_group\nss_dur=0\nruntime=1"],
    ));
    let jobs = report["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 2);
    assert!(number(&jobs[0], "/job_runtime") < RUNTIME_MS, "the sum of two jobs that ended early");
    let mean = number(&jobs[0], "/steadystate/data/iops_mean");
    assert!((600..=1500).contains(&mean), "{mean} is far from the sum of the rates");
    assert_eq!(jobs[1].get("steadystate"), None, "only jobs with a duration have a steady state");
}

#[test]
fn later_jobs_run_when_a_steady_one_has_ended() {
    let report =
        report(&jobs("ss=iops:60%", &["", "stonewall\nss_dur=0\nruntime=0\ntime_based=0\nnumber_ios=1"]));
    assert_eq!(number(&report["jobs"][0], "/steadystate/attained"), 1);
    assert_eq!(
        number(&report["jobs"][1], "/read/total_ios") + number(&report["jobs"][1], "/write/total_ios"),
        1
    );
}

/// The text with each number replaced.
fn form(line: &str) -> String {
    let mut form = String::new();
    for c in line.chars() {
        match c {
            '0'..='9' | '.' | '-' if form.ends_with('#') => {}
            '0'..='9' | '-' => form.push('#'),
            _ => form.push(c),
        }
    }
    form
}

#[test]
fn object_and_line_are_those_of_fio() {
    needs!("fio");
    let job = jobs("", &["ss=iops_slope:60%", "new_group\nss=bw:60%", "new_group\nss=bw:0\nruntime=1500ms"]);
    let facts = |fio: bool| {
        let dir = TestDir::new();
        let (path, output) = (dir.job(&job), dir.beside("report"));
        let output_word = format!("--output={}", output.display());
        let words = ["--output-format=json,normal", &output_word, &path];
        if fio {
            dir.fio(&words).run().succeeded()
        } else {
            dir.ferrio(&words).run().succeeded()
        };
        let both = std::fs::read_to_string(output).unwrap();
        let mut documents =
            serde_json::Deserializer::from_str(&both[both.find('{').unwrap()..]).into_iter::<Value>();
        let report = documents.next().unwrap().unwrap();
        let lines: Vec<String> =
            both.lines().filter(|line| line.starts_with("  steadystate  :")).map(form).collect();
        let objects: Vec<_> = (0..3)
            .map(|at| {
                let steady = &report["jobs"][at]["steadystate"];
                let kind = |key: &str| steady[key].clone();
                // What is not judged is 0.
                let slope = text(steady, "/ss").contains("slope");
                let zero = steady[if slope { "max_deviation" } else { "slope" }].as_f64();
                let keys: Vec<String> =
                    keys(steady).into_iter().chain(keys(&steady["data"])).map(str::to_owned).collect();
                (keys, kind("ss"), kind("duration"), kind("attained"), zero, form(text(steady, "/criterion")))
            })
            .collect();
        let last = keys(&report["jobs"][0]).pop().map(str::to_owned);
        (lines, objects, last)
    };
    let (fio, ferrio) = (facts(true), facts(false));
    same!("fio": fio, "ferrio": ferrio, "steady states of\n{job}");
}

#[test]
fn a_limit_of_latencies_that_are_not_measured_is_refused() {
    let dir = TestDir::new();
    let job = dir.job(&jobs("", &["ss=lat:10%\ngtod_reduce=1"]));
    let run = dir.ferrio(&[&job]).run().ended_with(1);
    assert!(run.stderr.contains("steadystate=lat needs the completion latencies"), "{}", run.stderr);
}
