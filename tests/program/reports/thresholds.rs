//! `--fail-if`: thresholds for the figures of a run, their place in messages and documents, and the exit status.

use crate::support::{FERRIO, Run, TestDir, json_file, number};

const JOB: [&str; 4] = ["--name=a", "--ioengine=null", "--size=1m", "--bs=4k"];

fn run(more: &[&str]) -> Run {
    TestDir::new().ferrio(&[&JOB, more].concat()).run()
}

#[test]
fn an_exceeded_threshold_ends_with_status_3_after_the_report() {
    let failed = run(&["--fail-if=read.total_ios >= 256", "--fail-if", "read.iops > 1t"]).ended_with(3);
    assert!(failed.stdout.contains("READ: bw="), "{}", failed.stdout);
    let line = "ferrio: the threshold `read.total_ios >= 256` is exceeded: job a has 256\n";
    assert!(failed.stderr.contains(line), "{}", failed.stderr);
    assert!(!failed.stderr.contains("1t"), "{}", failed.stderr);
    run(&["--fail-if=read.total_ios > 256", "--fail-if=error > 0", "--fail-if=a:read.io_bytes<1m"])
        .succeeded();
}

#[test]
fn any_percentile_can_be_limited_and_the_document_has_the_results() {
    let more = [
        "--output-format=json",
        "--clat_percentiles=0",
        "--fail-if=read.clat.p97.3 < 1d",
        "--fail-if=read.clat.N < 1",
    ];
    let document = run(&more).ended_with(3).json();
    let thresholds = &document["ferrio"]["thresholds"];
    assert_eq!(thresholds[0]["expression"], "read.clat.p97.3 < 1d");
    assert_eq!((&thresholds[0]["passed"], &thresholds[0]["jobname"]), (&false.into(), &"a".into()));
    let max = number(&document, "/jobs/0/read/clat_ns/max") as f64;
    assert!(thresholds[0]["value"].as_f64().unwrap() <= max, "{thresholds:#}");
    assert_eq!(thresholds[0]["limit"].as_f64(), Some(86_400e9));
    assert_eq!((&thresholds[1]["passed"], thresholds[1]["value"].as_f64()), (&true.into(), Some(256.0)));
}

#[test]
fn jobs_of_one_report_entry_are_judged_together_and_all_directions_as_one() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=null\nsize=1m\nbs=4k\nrw=rw\nunified_rw_reporting=mixed\ngroup_reporting\n[a]\nnumjobs=3\n[b]\nnew_group\n",
    );
    let run = |expression: &str| dir.ferrio(&[&job, "--fail-if", expression]).run();
    run("a: mixed.total_ios > 768").succeeded();
    let failed = run("mixed.total_ios < 768").ended_with(3);
    assert!(failed.stderr.contains("job b has 256\n"), "{}", failed.stderr);
    let refused = run("read.iops < 1").ended_with(1);
    assert!(refused.stderr.contains("no job reports `read`") && refused.stderr.contains("write mixed"));
}

#[test]
fn a_threshold_that_applies_to_nothing_never_passes() {
    for (expression, message, help) in [
        ("b: read.iops < 1", "the report has no job `b`", "jobs of the report are a"),
        ("write.iops < 1", "no job does `write`", "limit a direction"),
        ("mixed.iops < 1", "no job reports `mixed`", "write read, write or trim"),
        ("total_err > 0", "no job has `total_err`", "use `error > 0`"),
    ] {
        for words in [&[][..], &["check"]] {
            let all = [words, &JOB, &["--fail-if", expression]].concat();
            let run = TestDir::new().ferrio(&all).run().ended_with(1);
            assert!(
                run.stderr.contains(message) && run.stderr.contains(help),
                "{expression}\n{}",
                run.stderr
            );
            assert!(run.stdout.is_empty(), "{expression}\n{}", run.stdout);
        }
    }
    let unmeasured = run(&["--disable_clat=1", "--fail-if=read.clat.mean > 1d"]).ended_with(1);
    let line = "cannot be judged: job a: `read.clat.mean` is not measured";
    assert!(
        unmeasured.stderr.contains(line) && unmeasured.stdout.contains("READ: bw="),
        "{}",
        unmeasured.stderr
    );
}

#[test]
fn a_failed_job_wins_over_thresholds() {
    let job = ["--name=bad", "--ioengine=null", "--exec_prerun=false", "--size=4k", "--fail-if=error > 0"];
    let failed = TestDir::new().ferrio(&job).run().ended_with(1);
    assert!(
        failed.stderr.contains("the threshold `error > 0` is exceeded: job bad has"),
        "{}",
        failed.stderr
    );
}

#[test]
fn mistakes_are_refused_at_their_place() {
    for (expression, text, label) in [
        ("reed.iops > 1", "^^^^", "did you mean `read`?"),
        ("read.clat.p99 > 5", "^", "give a unit"),
        ("read.clat.p0 > 5ms", "^^", "a percentile is above 0 and at most 100"),
        ("read.iops", "^^^^^^^^^", "no comparison"),
    ] {
        let refused = run(&["--fail-if", expression]).ended_with(1);
        assert!(refused.stderr.contains(&format!("{text} {label}")), "{}", refused.stderr);
        assert!(refused.stdout.is_empty());
    }
}

#[test]
fn called_fio_there_are_no_thresholds() {
    let refused = run(&["--as=fio", "--fail-if=error > 0"]).ended_with(1);
    assert!(refused.stderr.contains("unrecognized option '--fail-if"), "{}", refused.stderr);
    let help = TestDir::new().ferrio(&["--as=fio", "--help"]).run().succeeded();
    assert!(!help.stdout.contains("fail-if"), "{}", help.stdout);
}

#[test]
fn the_example_of_the_page_works() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/thresholds.md")).unwrap();
    let line = page.lines().find_map(|line| line.strip_prefix("    ferrio --name=mail ")).unwrap();
    let command = format!("exec {FERRIO} --name=mail {line}");
    TestDir::new().program("sh", &["-c", &command]).run().succeeded();
}

/// Without the threshold, the run would take an hour.
#[test]
fn a_threshold_ends_the_run_early_with_a_report_of_what_was_measured() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=null\nsize=1m\nrate_iops=100\n[a]\ntime_based\nruntime=1h\n[b]\nstonewall\n",
    );
    let words = ["--output=report", "--output-format=json", "--junit=cases", &job];
    let aborting =
        ["--fail-if=b:read.clat.p50 > 1h", "--abort-if=read.iops > 1k", "--abort-if=read.iops > 1"];
    let run = dir.ferrio(&[&words[..], &aborting].concat()).run().ended_with(3);
    let why = "--abort-if='read.iops > 1' ends all jobs ";
    assert!(run.stderr.contains(why), "{}", run.stderr);
    assert!(run.stderr.contains("the threshold `read.iops > 1` is exceeded: job a has "), "{}", run.stderr);
    let document: serde_json::Value = serde_json::from_str(&dir.read("report")).unwrap();
    assert!(number(&document, "/jobs/0/read/total_ios") > 100);
    assert_eq!((number(&document, "/jobs/0/error"), number(&document, "/jobs/1/read/total_ios")), (0, 0));
    let notes = document["ferrio"]["notes"].to_string();
    assert!(notes.contains("run-aborted") && notes.contains(why), "{notes}");
    let passed: Vec<_> = document["ferrio"]["thresholds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|threshold| threshold["passed"].as_bool().unwrap())
        .collect();
    assert_eq!(passed, [false, true, false], "job b has no figures");
    assert!(dir.read("cases").contains("read.iops &gt; 1"));
}

#[test]
fn a_threshold_that_is_kept_ends_nothing_and_is_judged_at_the_end_as_well() {
    run(&["--abort-if=read.iops < 1"]).succeeded();
    let failed = run(&["--abort-if=read.total_ios >= 256"]).ended_with(3);
    assert!(!failed.stderr.contains("ends all jobs"), "{}", failed.stderr);
    let refused = run(&["--abort-if=write.iops < 1"]).ended_with(1);
    assert!(refused.stderr.contains("can never be exceeded: no job does `write`"), "{}", refused.stderr);
    let refused = run(&["--abort-if=read.iops <"]).ended_with(1);
    assert!(refused.stderr.contains("--abort-if"), "{}", refused.stderr);
    assert!(run(&["--as=fio", "--abort-if=read.iops < 1"]).status == Some(1));
}

#[test]
fn figures_of_all_hosts_together_end_the_run_on_all_of_them() {
    let dir = TestDir::new();
    let job = dir.job(
        "[global]\nioengine=null\n[a]\nrw=read\nsize=1g\ntime_based\nruntime=3600\nrate_iops=100\n[later]\nstonewall\nrw=write\nsize=4k\n",
    );
    let path = format!("--ferrio-path={FERRIO}");
    let run = |limit: &str| {
        let limit = format!("--abort-if=a: read.iops {limit}");
        let words = [
            "--hosts=one,two",
            "--via=exec env H={host}",
            &path,
            "--output-format=json",
            "--output=j",
            &limit,
            &job,
        ];
        dir.ferrio(&words).run()
    };
    // Each host does 100 reads a second.
    let aborted = run("> 150").ended_with(3);
    assert!(aborted.stderr.contains("--abort-if='a: read.iops > 150' ends all jobs "), "{}", aborted.stderr);
    assert!(!aborted.stderr.contains("terminating on signal"), "{}", aborted.stderr);
    let report = json_file(&dir.work().join("j"));
    let (threshold, reads) = (&report["ferrio"]["thresholds"][0], &report["jobs"][0]["read"]);
    let value = threshold["value"].as_f64().unwrap();
    assert!(threshold["passed"] == false && (150.0..=210.0).contains(&value), "{threshold}");
    // Both hosts have ended their jobs with their figures, and the others never began.
    let hosts = report["ferrio"]["hosts"].as_array().unwrap();
    assert!(hosts.len() == 2 && hosts.iter().all(|host| host["lost"].is_null()), "{report}");
    assert!((3000..60_000).contains(&reads["runtime"].as_u64().unwrap()), "{reads}");
    assert_eq!(report["jobs"][1]["write"]["total_ios"], 0);
    let notes = report["ferrio"]["notes"].to_string();
    assert!(notes.contains("run-aborted"), "{notes}");
}
