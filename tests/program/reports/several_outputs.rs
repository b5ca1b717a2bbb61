//! Several outputs of one run: `--output-format=FORMAT:FILE`, and one `--output` for each format.

use std::fs;

use crate::support::{TestDir, json_file};

const JOB: [&str; 4] = ["--name=a", "--ioengine=null", "--size=1m", "--rw=randread"];

fn arguments<'a>(more: &[&'a str]) -> Vec<&'a str> {
    JOB.iter().chain(more).copied().collect()
}

#[test]
fn each_format_goes_to_its_file_and_the_others_to_the_report() {
    let dir = TestDir::new();
    let formats = "--output-format=json:a.json,normal,html:a.html,json+:plus.json,terse,openmetrics:a.prom";
    let run = dir.ferrio(&arguments(&[formats])).run().succeeded();
    assert!(run.stdout.contains("a: (groupid=0") && run.stdout.contains("\n3;fio-3.42;a;"), "{}", run.stdout);
    let [plain, plus] = ["a.json", "plus.json"].map(|name| json_file(&dir.work().join(name)));
    let clat = |document: &serde_json::Value| document["jobs"][0]["read"]["clat_ns"].clone();
    assert_eq!(clat(&plain)["percentile"], clat(&plus)["percentile"], "all outputs have the same figures");
    assert!(clat(&plus)["bins"].is_object() && clat(&plain)["bins"].is_null());
    assert!(dir.read("a.html").starts_with("<!doctype html>"));
    assert!(dir.read("a.prom").ends_with("# EOF\n"));
}

#[test]
fn nothing_is_printed_if_all_formats_have_files() {
    let dir = TestDir::new();
    let run = dir.ferrio(&arguments(&["--output-format=json:a,html:b", "--eta=never"])).run().succeeded();
    assert_eq!(run.stdout, "");
    assert_eq!(dir.files().len(), 2);
}

#[test]
fn an_output_for_each_format_in_their_order() {
    for options in [
        &["--output-format=json,html", "--output=a b,c", "--output=h"][..],
        &["--output-format=json", "--output=a b,c", "--output-format=html", "--output=h"],
        &["--output=a b,c", "--output=h", "--output-format=json", "--output-format=html"],
    ] {
        let dir = TestDir::new();
        assert_eq!(dir.ferrio(&arguments(options)).run().succeeded().stdout, "");
        assert_eq!(json_file(&dir.work().join("a b,c"))["jobs"][0]["jobname"], "a");
        assert!(dir.read("h").starts_with("<!doctype html>"));
    }
    let dir = TestDir::new();
    dir.ferrio(&arguments(&["--append-terse", "--output=text", "--output=terse"])).run().succeeded();
    assert!(dir.read("text").contains("groupid=0") && dir.read("terse").starts_with("3;"));
}

#[test]
fn a_later_list_replaces_formats_without_a_file() {
    let dir = TestDir::new();
    let lists = ["--output-format=normal,json:a", "--output-format=terse"];
    let run = dir.ferrio(&arguments(&lists)).run().succeeded();
    assert!(run.stdout.starts_with("3;fio-3.42;a;"), "{}", run.stdout);
    assert!(dir.is_written("a"));
}

#[test]
fn outputs_that_make_no_sense_are_refused_before_the_run() {
    for (options, message) in [
        (
            &["--output=a", "--output=b"][..],
            "--output is given 2 times, for 1 format: give one file for each",
        ),
        (&["--output=a", "--output=a"], "--output is given 2 times, for 1 format"),
        (
            &["--output=a", "--output=b", "--output-format=json,html,terse"],
            "--output is given 2 times, for 3 formats",
        ),
        (&["--output=a", "--output-format=json:b"], "--output=a would have nothing"),
        (
            &["--output-format=json:a,html:./a"],
            "the format json and the format html would both go to ./a; choose a different file for each",
        ),
        (
            &["--output=a", "--output-format=normal,json:../work/a"],
            "the report and the format json would both go",
        ),
        (&["--output=a", "--output=./a", "--output-format=json,html"], "would both go to ./a"),
        (&["--output-format=json:"], "a file name is expected after `json:`"),
        (&["--output-format=jsn:a"], "did you mean `json`?"),
        (&["--output-format=json:a,b"], "a file name here has no comma: see --output"),
        (&["--output-format=json:no/a,html:b"], "output file open error: No such file or directory: no/a"),
        (&["--output-format=normal,json:a", "--interval-report=1s:a"], "would both go to a"),
        (&["--output-format=html,json"], "write it to a file of its own with html:FILE"),
        (&["--output-format=html:a", "--status-interval=1"], "cannot be combined with the format html"),
        (
            &["--output-format=openmetrics,rows:a", "--status-interval=1"],
            "cannot be combined with the format openmetrics",
        ),
        (&["--output-format=csv:a", "--repeat=2"], "the output is a table"),
    ] {
        let dir = TestDir::new();
        let run = dir.ferrio(&arguments(options)).run().ended_with(1);
        assert!(run.stderr.contains(message), "{options:?}: {message:?} is expected in\n{}", run.stderr);
        assert_eq!((run.stdout.as_str(), dir.files()), ("", Vec::new()), "{options:?}");
    }
}

#[test]
fn a_file_of_a_format_does_not_replace_what_the_run_reads() {
    let dir = TestDir::new();
    fs::write(dir.work().join("in.fio"), "[a]\nioengine=null\nsize=4k\n").unwrap();
    let run = dir.ferrio(&["in.fio", "--output-format=normal,json:./in.fio"]).run().ended_with(1);
    assert!(run.stderr.contains("the report would replace ./in.fio, which is a job file"), "{}", run.stderr);
}

#[test]
fn a_file_that_cannot_be_written_costs_only_itself_and_its_report_is_printed() {
    let dir = TestDir::new();
    fs::create_dir(dir.work().join("d")).unwrap();
    let formats = ["--output-format=json:d/a,html:b", "--exec_postrun=mv d e", "--eta=never"];
    let run = dir.ferrio(&arguments(&formats)).run().ended_with(1);
    assert!(run.stderr.contains(
        "cannot write to d/a: No such file or directory; the report is on standard output instead"
    ));
    assert_eq!(run.json()["jobs"][0]["jobname"], "a");
    assert!(dir.read("b").starts_with("<!doctype html>"));
    let formats = ["--output-format=json:/dev/full,terse:/dev/full", "--eta=never"];
    let run = dir.ferrio(&arguments(&formats)).run().ended_with(1);
    let failed = run.stderr.matches("cannot write to /dev/full: No space left on device").count();
    assert_eq!(failed, 2, "{}", run.stderr);
}

#[test]
fn files_keep_what_they_had_until_the_report_is_there() {
    let dir = TestDir::new();
    for name in ["a", "b"] {
        fs::write(dir.work().join(name), "before").unwrap();
    }
    let formats = ["--output-format=json:a,html:b", "--exec_postrun=cat a b >during"];
    dir.ferrio(&arguments(&formats)).run().succeeded();
    assert_eq!(dir.read("during"), "beforebefore");
    assert!(dir.read("a").starts_with('{') && dir.read("b").starts_with("<!doctype"));
}

#[test]
fn check_answers_in_the_outputs_that_it_has() {
    let dir = TestDir::new();
    let words = [&["check"][..], &arguments(&["--output-format=json:a,html:b"])].concat();
    assert_eq!(dir.ferrio(&words).run().succeeded().stdout, "");
    assert_eq!(json_file(&dir.work().join("a"))["status"], "clean");
    assert_eq!(dir.files().len(), 1);
    let words = [&["check"][..], &arguments(&["--output-format=json:a", "--no-such"])].concat();
    dir.ferrio(&words).run().ended_with(1);
    assert_eq!(json_file(&dir.work().join("a"))["status"], "errors");
}

#[test]
fn called_fio_the_last_output_wins_and_formats_have_no_files() {
    needs!("fio");
    let dir = TestDir::new();
    let outputs = arguments(&["--output=a", "--output=b", "--output-format=json", "--output-format=normal"]);
    for run in [dir.ferrio(&[&["--as=fio"][..], &outputs].concat()), dir.fio(&outputs)] {
        run.run().succeeded();
        assert!(dir.read("b").contains("groupid=0"));
        fs::remove_file(dir.work().join("b")).unwrap();
    }
    let file = arguments(&["--output-format=json:a"]);
    for run in [dir.ferrio(&[&["--as=fio"][..], &file].concat()), dir.fio(&file)] {
        let run = run.run().ended_with(1);
        assert!(run.stderr.contains("fio: invalid output format json:a"), "{}", run.stderr);
    }
}

#[test]
fn formats_that_allow_one_report_are_written_at_the_end_and_others_meanwhile() {
    for (formats, interim, page) in [
        (&["--output-format=json:live,html:page"][..], "live", "page"),
        (&["--output-format=html,json:live", "--output=page"], "live", "page"),
        (&["--output-format=json,html:page", "--output=live"], "live", "page"),
    ] {
        let dir = TestDir::new();
        let long = ["--name=a", "--ioengine=null", "--size=1m", "--time_based", "--runtime=100"];
        let words = [&long[..], formats, &["--status-interval=20ms"]].concat();
        let mut running = dir.ferrio(&words).start();
        let there = |name: &str| dir.work().join(name).exists();
        running.until("a report of the run so far", || there(interim));
        assert!(!there(page), "{formats:?}: a page before the end");
        running.signal(nix::sys::signal::Signal::SIGINT);
        let run = running.wait().ended_with(128);
        let note = "--status-interval: only the final report is written as html";
        assert_eq!(run.stderr.matches(note).count(), 1, "{formats:?}: {}", run.stderr);
        assert_eq!(run.stderr.matches("no report of the run so far").count(), 0, "{}", run.stderr);
        assert!(dir.read(page).ends_with("</html>\n"), "{formats:?}");
    }
}
