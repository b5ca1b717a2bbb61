//! What users get to read for their mistakes, one snapshot per kind, through the whole program: place, line, caret, advice; and the
//! kind's name, which `--message-format=json` gives and which does not change.

mod arguments;
mod databases;
mod options;
mod running;
mod structure;
mod values;

use std::fs;

use serde_json::Value;

use crate::support::{Run, TestDir};

/// Files of a test beside the working directory, and the working directory is where programs run.
fn dir_with(files: &[(&str, &[u8])]) -> TestDir {
    let dir = TestDir::new();
    for (name, text) in files {
        let path = dir.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

/// The objects of `--message-format=json`, one per line, and nothing else.
#[track_caller]
fn objects(run: &Run) -> Vec<Value> {
    let object = |line: &str| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
    run.stderr.lines().map(object).collect()
}

/// What is said of these arguments, refused with status 1: the kinds of mistakes, then the text. Both renderers must agree.
#[track_caller]
fn said(files: &[(&str, &[u8])], words: &[&str]) -> String {
    let dir = dir_with(files);
    let human = dir.ferrio(words).run().ended_with(1);
    assert_eq!(human.stdout, "");
    let asked: Vec<&str> = ["--message-format=json"].into_iter().chain(words.iter().copied()).collect();
    let machine = dir.ferrio(&asked).run().ended_with(1);
    assert_eq!(machine.stdout, "");
    let objects = objects(&machine);
    let text = |object: &Value, key: &str| object[key].as_str().unwrap_or("-").to_owned();
    // Numbers of arguments differ, because there was one more: compare what was not on the command line.
    for object in objects.iter().filter(|object| object["argument"].is_null()) {
        assert!(human.stderr.contains(text(object, "rendered").trim_end()), "{object:#}\n{}", human.stderr);
    }
    let kind = |object: &Value| match object["suggestion"].as_str() {
        Some(suggestion) => format!("[{} -> {suggestion}]", text(object, "code")),
        None => format!("[{}]", text(object, "code")),
    };
    let kinds: Vec<String> = objects.iter().map(kind).collect();
    format!("{}\n{}", kinds.join(" "), human.stderr.trim_end())
}

/// What is said of one job file.
#[track_caller]
fn of(text: &str) -> String {
    said(&[("x.fio", text.as_bytes())], &["x.fio"])
}

/// What is said of a job file's bytes.
#[track_caller]
fn of_bytes(text: &[u8]) -> String {
    said(&[("x.fio", text)], &["x.fio"])
}

/// What is said of a command line.
#[track_caller]
fn typed(words: &[&str]) -> String {
    said(&[], words)
}

#[test]
fn everything_wrong_in_two_files_and_the_command_line_is_said_in_one_go() {
    let files: [(&str, &[u8]); 3] = [
        ("one.fio", b"[global]\nbs=4q\n[a]\nfoo_one=1\nfilename=\nrw=raed\n[b\nsize=4k\n"),
        ("two.fio", b"size=4k\n[c]\nioengine=null\nuserspace_reap\ninclude gone\n"),
        ("fine.fio", b"[d]\nioengine=null\nsize=4k\n"),
    ];
    insta::assert_snapshot!(said(&files, &["one.fio", "gone.fio", "two.fio", "fine.fio", "--iodepth=0"]), @"
    [out-of-range] [unknown-suffix] [job-dropped] [unknown-option] [empty-value] [not-a-choice -> read] [job-dropped] [unclosed-section -> [b]] [unreadable-job-file] [outside-section] [unreadable-include] [option-of-other-engine] [job-dropped]
    error: invalid value `0` for option `iodepth`
     --> argument 5: --iodepth=0
      |
    5 | --iodepth=0
      |           ^ the minimum is 1

    error: invalid value `4q` for option `bs`
     --> one.fio:2:5
      |
    2 | bs=4q
      |     ^ unknown suffix
      |
      = help: suffixes are k, m, g, t and p, also as kb, mb ... and kib, mib ...; fio reads this as 4 bytes, and so does --strict=fio

    note: job global dropped

    error: unknown option `foo_one`
     --> one.fio:4:1
      |
    4 | foo_one=1
      | ^^^^^^^ no such option

    error: option `filename` has an empty value
     --> one.fio:5:1
      |
    5 | filename=
      | ^^^^^^^^ a value is expected

    error: invalid value `raed` for option `rw`
     --> one.fio:6:4
      |
    6 | rw=raed
      |    ^^^^ did you mean `read`?
      |
      = help: choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite

    note: job a dropped

    error: section header without `]`
     --> one.fio:7:1
      |
    7 | [b
      | ^^ the closing `]` is missing

    error: unable to open 'gone.fio' job file: No such file or directory

    error: option `size=4k` outside of a [] job section
     --> two.fio:1:1
      |
    1 | size=4k
      | ^^^^ no section has begun yet
      |
      = help: begin a section first: `[global]` for defaults, any other name for a job

    error: cannot read the include file `gone`
     --> two.fio:5:9
      |
    5 | include gone
      |         ^^^^ No such file or directory

    error: option `userspace_reap` belongs to engine libaio; this job uses null
     --> two.fio:4:1
      |
    4 | userspace_reap
      | ^^^^^^^^^^^^^^ not an option of null
      |
      = help: choose the engine with `ioengine=libaio`, or remove the option

    note: job c dropped
    ");
}

#[test]
fn an_object_says_where_what_and_what_instead() {
    let dir = dir_with(&[("x.fio", b"[a]\n rw = raed\n")]);
    let run = dir.ferrio(&["--message-format=json", "x.fio"]).run().ended_with(1);
    let objects = objects(&run);
    let mut object = objects[0].clone();
    let rendered = object.as_object_mut().unwrap().remove("rendered").unwrap();
    assert!(
        rendered
            .as_str()
            .unwrap()
            .starts_with("error: invalid value `raed` for option `rw`\n --> x.fio:2:7\n")
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap(), @r#"
    {
      "severity": "error",
      "code": "not-a-choice",
      "message": "invalid value `raed` for option `rw`",
      "jobs": null,
      "file": "x.fio",
      "argument": null,
      "line": 2,
      "column": 7,
      "length": 4,
      "text": " rw = raed",
      "label": "did you mean `read`?",
      "help": "choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite",
      "suggestion": "read"
    }
    "#);
    assert_eq!((objects.len(), &objects[1]["code"]), (2, &Value::from("job-dropped")));
}

#[test]
fn an_object_of_the_command_line_has_the_number_of_its_argument() {
    let dir = dir_with(&[]);
    let run = dir.ferrio(&["--name=a", "--rw", "raed", "--message-format", "json"]).run().ended_with(1);
    let mut object = objects(&run)[0].clone();
    object.as_object_mut().unwrap().remove("rendered");
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap(), @r#"
    {
      "severity": "error",
      "code": "not-a-choice",
      "message": "invalid value `raed` for option `rw`",
      "jobs": null,
      "file": null,
      "argument": 2,
      "line": null,
      "column": 6,
      "length": 4,
      "text": "--rw raed",
      "label": "did you mean `read`?",
      "help": "choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite",
      "suggestion": "read"
    }
    "#);
}

#[test]
fn notes_and_failures_of_a_run_are_objects_too() {
    let dir = dir_with(&[(
        "x.fio",
        b"[a]\nfilename=f\ndirect=1\nsize=4k\nverifysort=1\nwrite_barrier=4\n[b]\nrw=read\n",
    )]);
    let words = ["--message-format=json", "--output-format=json", "--max-jobs=4", "x.fio"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert_eq!(run.json()["jobs"].as_array().map(Vec::len), Some(2));
    let objects = objects(&run);
    let said: Vec<_> = objects
        .iter()
        .map(|object| ["severity", "code", "message"].map(|key| object[key].as_str().unwrap()).join(" | "))
        .map(|line| line.split("/file:").next().unwrap_or_default().to_owned())
        .map(|line| line.split(" ran for").next().unwrap_or_default().to_owned())
        .collect();
    insta::assert_snapshot!(said.join("\n"), @"
    warning | deprecated-option | option `verifysort` is deprecated and has no effect
    note | option-without-effect | option `write_barrier` has no effect here: no engine acts on the mark
    note | job-not-set-up | you need to specify size=
    error | job-failed | pid=0, err=22
    warning | short-run | a
    warning | few-ios | a: the 99.99th percentile of read latencies is based on 1 sample and needs 10000
    ");
}

#[test]
fn a_note_on_jobs_names_them_and_has_a_place() {
    let text = "[global]\nioengine=null\nsize=4k\nwrite_barrier=4\n[a]\ntime_based\n[b]\nrw=randwrite\nba=8k\nname=c\n";
    let dir = dir_with(&[("x.fio", text.as_bytes())]);
    let words = ["--output-format=json", "x.fio"];
    let line = |run: &Run| run.stderr.lines().take(3).map(str::to_owned).collect::<Vec<_>>();
    let want = [
        "ferrio: time_based requires a runtime/timeout setting",
        "ferrio: Any use of blockalign= turns off randommap",
        "ferrio: option `write_barrier` has no effect here: no engine acts on the mark",
    ];
    assert_eq!(line(&dir.ferrio(&words).run()), want);
    let run = dir.ferrio(&["--message-format=json", words[0], words[1]]).run();
    let said = objects(&run).into_iter().take(3).map(|object| {
        let keys = ["severity", "code", "jobs", "file", "line", "column", "length", "text"];
        keys.map(|key| object[key].to_string()).join(" ")
    });
    insta::assert_snapshot!(said.collect::<Vec<_>>().join("\n"), @r#"
    "note" "time-based-without-runtime" ["a"] "x.fio" 6 1 10 "time_based"
    "note" "random-map-off" ["c"] "x.fio" 9 4 2 "ba=8k"
    "note" "option-without-effect" ["a","c"] "x.fio" 4 1 13 "write_barrier=4"
    "#);
}

#[test]
fn colours_are_for_terminals() {
    let dir = dir_with(&[("x.fio", b"[a]\nrw=raed\n")]);
    let run = dir.ferrio(&["x.fio"]).run().ended_with(1);
    assert!(!run.stderr.contains('\u{1b}'));
    // `script` gives the program a terminal.
    let coloured = |set: &str| {
        let command = format!("{set} {} x.fio", crate::support::FERRIO);
        let run = dir.program("script", &["-qec", &command, "/dev/null"]).run();
        assert!(run.stdout.contains("invalid value"), "{run:?}");
        run.stdout.contains('\u{1b}')
    };
    assert!(coloured("env -u NO_COLOR") && coloured("NO_COLOR="));
    assert!(!coloured("NO_COLOR=1"));
}
