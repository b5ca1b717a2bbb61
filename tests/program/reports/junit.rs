//! `--junit`: jobs, thresholds and compared figures as test cases.

use std::fs;

use serde_json::json;

use crate::support::TestDir;

const JOB: [&str; 4] = ["--name=a", "--ioengine=null", "--size=1m", "--bs=4k"];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    JOB.iter().chain(more).copied().collect()
}

#[test]
fn each_job_and_each_threshold_is_a_case_with_its_figure() {
    let dir = TestDir::new();
    let limits = ["--fail-if=read.total_ios >= 256", "--fail-if=a: read.total_ios > 256", "--junit=j.xml"];
    dir.ferrio(&arguments(&[&limits[..], &["--numjobs=2"]].concat())).run().ended_with(3);
    let text = dir.read("j.xml");
    assert!(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>"), "{text}");
    assert!(
        text.contains("<testsuites name=\"ferrio\" tests=\"4\" skipped=\"0\" failures=\"1\" errors=\"0\""),
        "{text}"
    );
    assert!(text.contains("<testcase name=\"a\" classname=\"jobs\""), "{text}");
    assert!(text.contains("<testcase name=\"a #2\" classname=\"jobs\""), "{text}");
    let exceeded =
        "the threshold `read.total_ios &gt;= 256` is exceeded: job a has 256; all 2 jobs exceed it";
    assert!(
        text.contains(&format!("<failure message=\"{exceeded}\" type=\"threshold-exceeded\">")),
        "{text}"
    );
    assert!(
        text.contains("<testcase name=\"a: read.total_ios &gt; 256\" classname=\"thresholds\""),
        "{text}"
    );
    assert!(text.contains("<system-out>job a has 256, the limit is 256</system-out>"), "{text}");
}

#[test]
fn what_fails_or_cannot_be_judged_is_an_error() {
    let dir = TestDir::new();
    let more = ["--disable_clat=1", "--fail-if=read.clat.mean > 1d", "--junit=j.xml"];
    dir.ferrio(&arguments(&more)).run().ended_with(1);
    let text = dir.read("j.xml");
    assert!(text.contains("errors=\"1\"") && text.contains("<error message=\"the threshold"), "{text}");
    assert!(text.contains("is not measured"), "{text}");
    let job = [
        "--name=r&<",
        "--rw=read",
        "--filename=missing",
        "--size=1m",
        "--allow_file_create=0",
        "--junit=k.xml",
    ];
    let run = dir.ferrio(&job).run();
    assert!(run.status.is_some_and(|status| status > 0), "{}", run.stderr);
    let text = dir.read("k.xml");
    assert!(text.contains("<testcase name=\"r&amp;&lt;\" classname=\"jobs\""), "{text}");
    assert!(text.contains("type=\"job-failed\""), "{text}");
}

#[test]
fn what_fails_the_whole_run_is_a_case() {
    let dir = TestDir::new();
    fs::write(
        dir.work().join("log"),
        "fio version 2 iolog\nf add\nf open\nf read 0 4096\nf nonsense 0 4096\nf close\n",
    )
    .unwrap();
    let job = ["--name=a", "--ioengine=null", "--read_iolog=log", "--junit=j.xml"];
    dir.ferrio(&job).run().ended_with(1);
    let text = dir.read("j.xml");
    assert!(text.contains("<testcase name=\"whole run\" classname=\"run\""), "{text}");
    assert!(text.contains("type=\"bad-iolog-line\"") && text.contains("errors=\"1\""), "{text}");
}

#[test]
fn the_file_collides_with_no_other_and_appears_at_the_end() {
    let dir = TestDir::new();
    let job_file = dir.job("[a]\nioengine=null\nsize=1m\n");
    for (more, message) in [
        (&["--output=x", "--junit=x"][..], "the report and the JUnit file would both go to x"),
        (
            &["--output-format=json:x", "--junit=./x"],
            "the format json and the JUnit file would both go to ./x",
        ),
        (
            &["--interval-report=1s:x", "--junit=x"],
            "the interval report and the JUnit file would both go to x",
        ),
        (&["--junit=/dev/stdout"], "the report and the JUnit file would both go to /dev/stdout"),
        (&["--junit=none/x"], "No such file or directory"),
        (&["--junit="], "a value is expected"),
        (&["--repeat=2", "--junit=x"], "leave out --junit"),
    ] {
        let run = dir.ferrio(&arguments(more)).run().ended_with(1);
        assert!(run.stderr.contains(message), "{more:?}\n{}", run.stderr);
        assert!(!dir.is_written("x"), "{more:?}");
    }
    let own = format!("--junit={job_file}");
    let run = dir.ferrio(&[&job_file, &own]).run().ended_with(1);
    assert!(run.stderr.contains("the JUnit file would replace"), "{}", run.stderr);
}

#[test]
fn compared_figures_are_cases_of_their_side() {
    let dir = TestDir::new();
    let document = dir.ferrio(&arguments(&["--output-format=json"])).run().succeeded().json();
    for (side, factor) in [("base", 1.0), ("slow", 0.5)] {
        fs::create_dir(dir.work().join(side)).unwrap();
        for run in 0..6 {
            let mut document = document.clone();
            document["jobs"][0]["read"]["iops"] = json!(1000.0 * factor * (1.0 + f64::from(run % 3) / 100.0));
            fs::write(dir.work().join(side).join(format!("{run}.json")), document.to_string()).unwrap();
        }
    }
    let compare = |more: &[&str]| dir.ferrio(&[&["compare", "base", "slow"], more].concat()).run();
    compare(&["--fail-on-regression=5%", "--junit=c.xml"]).ended_with(3);
    let text = dir.read("c.xml");
    assert!(text.contains("<testsuite name=\"slow against base\""), "{text}");
    assert!(text.contains("<testcase name=\"iops\" classname=\"a (read)\""), "{text}");
    assert!(text.contains("failures=\"1\""), "{text}");
    assert!(
        text.contains(
            "iops of job a (read) is worse than --fail-on-regression=5% allows: 1.010k -&gt; 505 (-50.0 %"
        ),
        "{text}"
    );
    compare(&["--fail-on-regression=60", "--junit=c.xml"]).succeeded();
    assert!(dir.read("c.xml").contains("failures=\"0\""));
    let run = compare(&["--junit=c.xml"]).ended_with(1);
    assert!(run.stderr.contains("--fail-on-regression"), "{}", run.stderr);
    let before = dir.read("slow/3.json");
    let run = compare(&["--fail-on-regression=60", "--junit=slow/3.json"]).ended_with(1);
    assert!(run.stderr.contains("would replace slow/3.json"), "{}", run.stderr);
    assert_eq!(dir.read("slow/3.json"), before);
}
