//! The two characters of the program: as `fio` it prints and reads what fio does, as `ferrio` it is strict and speaks up.

use std::os::unix::fs::symlink;

use nix::sys::signal::Signal;

use crate::support::{FERRIO, Run, TestDir};

/// A job too short for its figures, with an option that has no effect and one that fio reads in its own way.
const JOB: [&str; 6] =
    ["--name=a", "--filename=f", "--size=64k", "--rwmixread=30", "--thinktime_blocks=9", "--iodepth=1,2"];

/// Runs the program by this name.
fn called(name: &str, variable: Option<&str>, words: &[&str]) -> Run {
    let dir = TestDir::new();
    let link = dir.beside(name);
    symlink(FERRIO, &link).unwrap();
    let invocation = dir.program(link, words);
    match variable {
        Some(word) => invocation.env("FERRIO_AS", word),
        None => invocation,
    }
    .run()
}

#[test]
fn the_option_comes_before_the_variable_and_the_variable_before_the_name() {
    let version = |name, variable, words: &[&str]| {
        called(name, variable, &[words, &["--version"]].concat()).succeeded().stdout
    };
    for (name, variable, words, is_fio) in [
        ("fio", None, &[][..], true),
        ("ferrio", None, &[], false),
        ("ferrio", Some("fio"), &[], true),
        ("fio", Some("ferrio"), &[], false),
        ("fio", Some("fio"), &["--as=ferrio"], false),
        ("ferrio", None, &["--as=fio"], true),
    ] {
        let line = version(name, variable, words);
        assert_eq!(line == "fio-3.42\n", is_fio, "{name} {variable:?} {words:?}: {line}");
    }
}

#[test]
fn as_fio_odd_values_are_read_and_standard_error_is_empty() {
    let run = called("fio", None, &[&JOB[..], &["--output-format=json"]].concat()).succeeded();
    assert_eq!(run.stderr, "");
    let report = run.json();
    assert_eq!(report["jobs"][0]["job options"]["iodepth"], "1,2");
    let codes: Vec<&str> =
        report["ferrio"]["warnings"].as_array().unwrap().iter().filter_map(|w| w["code"].as_str()).collect();
    assert!(codes.contains(&"short-run"), "the document has them as ever: {codes:?}");
    assert_eq!(called("fio", None, &[&JOB[..], &["--strict=ferrio"]].concat()).status, Some(1));
}

#[test]
fn as_ferrio_odd_values_are_refused_and_figures_and_options_have_warnings() {
    let run = called("ferrio", None, &JOB).ended_with(1);
    assert!(run.stderr.contains("for option `iodepth`"), "{}", run.stderr);
    let run = called("ferrio", None, &JOB[..5]).succeeded();
    assert!(run.stderr.contains("[short-run]") && run.stderr.contains("has no effect"), "{}", run.stderr);
}

#[test]
fn to_fio_the_names_of_sub_commands_are_job_files() {
    let run = called("fio", None, &["man"]).ended_with(1);
    assert!(run.stderr.contains("unable to open 'man' job file"), "{}", run.stderr);
    assert!(called("ferrio", None, &["man"]).succeeded().stdout.contains("ferrio"));
}

#[test]
fn a_character_that_does_not_exist_is_refused() {
    let run = called("ferrio", Some("sysbench"), &JOB[..3]).ended_with(1);
    let message = "invalid value `sysbench` of the variable FERRIO_AS: choices are ferrio and fio";
    assert!(run.stderr.contains(message), "{}", run.stderr);
    let run = called("ferrio", Some("sysbench"), &["--message-format=json", "--name=a"]).ended_with(1);
    let object: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((&object["code"], &object["message"]), (&"invalid-program-option".into(), &message.into()));
    let run = called("ferrio", None, &["--as=sysbench", "--name=a"]).ended_with(1);
    assert!(run.stderr.contains("invalid value `sysbench` for option `--as`"), "{}", run.stderr);
}

#[test]
fn as_fio_a_document_without_warnings_has_the_keys_of_fio_alone() {
    let last_key = |name, format| {
        let words = ["--name=a", "--ioengine=null", "--size=64k", format];
        let report = called(name, None, &words).succeeded().json();
        report.as_object().unwrap().keys().next_back().unwrap().clone()
    };
    assert_eq!(last_key("fio", "--output-format=json"), "jobs");
    assert_eq!(last_key("fio", "--output-format=json+"), "ferrio");
    assert_eq!(last_key("ferrio", "--output-format=json"), "ferrio");
}

#[test]
fn notes_that_fio_does_not_have_are_in_the_document() {
    // fio has nothing to say about gtod_cpu.
    let words = ["--name=a", "--ioengine=null", "--size=64k", "--gtod_cpu=0", "--output-format=json"];
    let run = called("fio", None, &words).succeeded();
    let report = run.json();
    let note = &report["ferrio"]["notes"][0];
    assert_eq!((run.stderr.as_str(), &note["code"]), ("", &"clock-needs-no-cpu".into()));
    assert!(note["message"].as_str().unwrap().starts_with("gtod_cpu=0 has no effect"), "{note}");
    assert_eq!(note["jobs"], serde_json::json!(["a"]));
    assert_eq!(report["ferrio"]["warnings"], serde_json::json!([]));
    // The run notes what the plan cannot know.
    let words = ["--name=a", "--filename=f", "--size=64k", "--readonly", "--output-format=json"];
    let run = called("fio", None, &words);
    let notes = run.json()["ferrio"]["notes"].clone();
    assert!(notes.as_array().unwrap().iter().any(|note| note["code"] == "file-not-extended"), "{notes}");
}

#[test]
fn as_ferrio_warnings_are_printed_even_if_there_is_no_report() {
    let run = called("ferrio", None, &[&NOTED[..], &["--merge-blktrace-only"]].concat()).succeeded();
    for warning in ["blockalign= turns off", "`verifysort` is deprecated"] {
        assert_eq!(run.stderr.matches(warning).count(), 1, "{warning}: {}", run.stderr);
    }
}

/// A job that fails with its first write.
const FULL: [&str; 4] = ["--name=a", "--filename=/dev/full", "--size=64k", "--rw=write"];

#[test]
fn as_fio_a_failed_worker_is_a_line_of_the_text_report() {
    let run = called("fio", None, &FULL).ended_with(1);
    assert_eq!(
        run.stderr,
        "fio: io_u error on file /dev/full: No space left on device: write offset=0, buflen=4096\n"
    );
    let failed = run.stdout.lines().filter(|line| line.starts_with("fio: pid=") && line.contains("err=28/"));
    assert_eq!(failed.count(), 1, "{}", run.stdout);
    let run = called("ferrio", None, &FULL).ended_with(1);
    assert!(run.stderr.contains("err=28/") && !run.stdout.contains("fio: pid="), "{}", run.stderr);
}

#[test]
fn programs_that_read_messages_find_all_of_them_on_standard_error() {
    let run = called("fio", None, &[&FULL[..], &["--message-format=json"]].concat()).ended_with(1);
    assert!(!run.stdout.contains("fio: pid="), "{}", run.stdout);
    let codes: Vec<String> = run
        .stderr
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["code"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(codes.iter().any(|code| code == "job-failed"), "{codes:?}");
}

#[test]
fn a_check_reads_values_as_the_run_would() {
    let odd = ["--name=a", "--ioengine=null", "--size=64k", "--iodepth=1,2"];
    assert_eq!(called("ferrio", None, &[&["check"], &odd[..]].concat()).status, Some(1));
    called("ferrio", None, &[&["check", "--as=fio"], &odd[..]].concat()).succeeded();
}

#[test]
fn as_fio_a_json_document_on_standard_output_is_alone_there() {
    let run = called("fio", None, &[&FULL[..], &["--output-format=json"]].concat()).ended_with(1);
    assert_eq!(run.json()["jobs"][0]["error"], 28);
    assert!(run.stderr.contains("err=28/"), "{}", run.stderr);
}

#[test]
fn as_fio_messages_are_in_the_file_of_the_text_report_too() {
    let dir = TestDir::new();
    let link = dir.beside("fio");
    symlink(FERRIO, &link).unwrap();
    let run = dir.program(link, &[&FULL[..], &["--output=report"]].concat()).run().ended_with(1);
    let report = dir.read("report");
    assert_eq!(run.stdout, "");
    for text in [&run.stderr, &report] {
        assert_eq!(text.matches("io_u error on file /dev/full").count(), 1, "{text}");
    }
    assert!(report.contains("\nStarting 1 process\n") && report.contains("fio: pid="), "{report}");
}

/// What a terminal would show of a run, in order.
fn both_streams(name: &str, words: &[&str]) -> String {
    let dir = TestDir::new();
    symlink(FERRIO, dir.beside(name)).unwrap();
    let command = format!("exec ../{name} \"$@\" 2>&1");
    let words = [&["-c", &command, name], words].concat();
    dir.program("/bin/sh", &words).run().succeeded().stdout
}

/// Two notes that fio prints on standard output, and one that it prints on standard error.
const NOTED: [&str; 7] =
    ["--name=a", "--filename=f", "--size=64k", "--iodepth=4", "--verifysort=1", "--rw=randread", "--ba=8k"];

#[test]
fn as_fio_notes_are_where_fio_has_them_and_never_beside_a_document() {
    let text = called("fio", None, &NOTED).succeeded();
    assert_eq!(text.stderr, "fio: Any use of blockalign= turns off randommap\n");
    let reported =
        |run: &Run| run.stdout.contains("verifysort") && run.stdout.contains("\nnote: both iodepth >= 1");
    assert!(reported(&text), "{}", text.stdout);
    for format in ["json", "terse", "terse,json"] {
        let run = called("fio", None, &[&NOTED[..], &["--output-format", format]].concat()).succeeded();
        assert_eq!(run.stderr, text.stderr, "{format}");
        let is_line = format == "terse";
        assert_eq!(run.stdout.contains("note: both iodepth >= 1"), is_line, "{}", run.stdout);
        let noted = run.stdout.contains("\"message\" : \"both iodepth >= 1") || is_line;
        assert!(noted && run.stdout.contains("verifysort"), "{}", run.stdout);
    }
}

#[test]
fn as_fio_both_streams_of_a_dubious_job_are_one_document() {
    // A buffered file, few I/Os, a short run, options without effect.
    let words = [&JOB[..], &["--output-format=json"]].concat();
    let document: serde_json::Value = serde_json::from_str(&both_streams("fio", &words)).unwrap();
    assert_eq!(document["jobs"][0]["read"]["total_ios"], 16);
    let lines = both_streams("fio", &[&JOB[..], &["--minimal"]].concat());
    assert!(lines.starts_with("3;fio-") && lines.lines().count() == 1, "{lines}");
    let both = both_streams("fio", &[&JOB[..], &["--output-format=terse,json"]].concat());
    let (line, document) = both.split_once('\n').unwrap();
    assert!(
        line.starts_with("3;fio-") && serde_json::from_str::<serde_json::Value>(document).is_ok(),
        "{both}"
    );
}

#[test]
fn as_ferrio_warnings_follow_the_report_once_unless_someone_watches() {
    let shown = both_streams("ferrio", &NOTED);
    let report_ends = shown.find("Run status group 0").unwrap();
    for warning in ["blockalign= turns off", "`verifysort` is deprecated", "both iodepth >= 1", "[short-run]"]
    {
        assert_eq!(shown.matches(warning).count(), 1, "{warning}: {shown}");
        assert!(shown.find(warning).unwrap() > report_ends, "{warning}: {shown}");
    }
    // Programs read messages as they come.
    let programs = both_streams("ferrio", &[&NOTED[..], &["--message-format=json"]].concat());
    assert!(programs.starts_with("{\"severity\""), "{programs}");
}

#[test]
fn colours_are_for_terminals_unless_they_are_asked_for() {
    let coloured = |words: &[&str], variable: Option<(&str, &str)>| {
        let dir = TestDir::new();
        let invocation = dir.ferrio(&[&NOTED[..], words].concat());
        let run = match variable {
            Some((name, value)) => invocation.env(name, value).run(),
            None => invocation.run(),
        };
        let run = run.succeeded();
        assert!(!run.stdout.contains('\u{1b}'), "the report is never coloured: {}", run.stdout);
        run.stderr.contains("\u{1b}[")
    };
    assert!(!coloured(&[], None) && coloured(&["--color=always"], None));
    assert!(coloured(&[], Some(("CLICOLOR_FORCE", "1"))));
    assert!(!coloured(&["--color=never"], Some(("CLICOLOR_FORCE", "1"))));
    assert!(coloured(&["--color=always"], Some(("NO_COLOR", "1"))), "the option comes before the variable");
    let wrong = TestDir::new().ferrio(&["--color=sometimes", "--name=a"]).run().ended_with(1);
    assert!(wrong.stderr.contains("for option `--color`"), "{}", wrong.stderr);
}

#[test]
fn sub_commands_colour_what_they_say_as_they_are_told() {
    let of = |words: &[&str]| TestDir::new().ferrio(words).run();
    let errors = [&["man", "words"][..], &["help", "no-such-topic"], &["completions", "csh"]];
    for words in errors {
        for (color, coloured) in [("--color=always", true), ("--color=never", false)] {
            for words in [[&[words[0], color], &words[1..]].concat(), [words, &[color]].concat()] {
                let run = of(&words).ended_with(1);
                assert_eq!(run.stderr.contains('\u{1b}'), coloured, "{words:?}: {}", run.stderr);
                assert!(!run.stderr.contains("--color"), "{words:?}: {}", run.stderr);
            }
        }
    }
    assert!(of(&["help", "--color=always"]).succeeded().stdout.contains('\u{1b}'));
    assert!(!of(&["help", "--color=never"]).succeeded().stdout.contains('\u{1b}'));
    let about = of(&["help", "--color"]).succeeded().stdout;
    assert!(about.starts_with("--color=WHEN: an option of the command line"), "{about}");
    assert!(of(&["man", "--color=never"]).succeeded().stdout.contains(".TH"));
}

#[test]
fn as_fio_deprecations_are_where_its_report_goes() {
    needs!("fio");
    let dir = TestDir::new();
    for (option, status) in [("--verifysort=1", 0), ("--rwmixcycle=1", 1)] {
        for action in ["--parse-only", "--showcmd", "--size=4k"] {
            for output in [&[][..], &["--output=out"]] {
                let words = [output, &[action, "--name=x", "--ioengine=null", "--size=4k", option]].concat();
                let deprecated = |run: Run| {
                    let run = run.ended_with(status);
                    let file = std::fs::read_to_string(dir.work().join("out")).unwrap_or_default();
                    let _ = std::fs::remove_file(dir.work().join("out"));
                    [run.stdout, run.stderr, file]
                        .map(|text| text.lines().find(|line| line.contains("deprecated")).map(str::to_owned))
                };
                let theirs = deprecated(dir.fio(&words).run());
                let ours = deprecated(dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run());
                assert_eq!(ours, theirs, "{words:?}");
                assert!(ours[1].is_none() && ours.iter().flatten().count() == 1, "{words:?}: {ours:?}");
            }
        }
    }
}

#[test]
fn as_fio_a_failing_prerun_ends_its_job_quietly() {
    let words =
        ["--name=a", "--ioengine=null", "--size=64k", "--exec_prerun=exit 3", "--exec_postrun=touch post"];
    let run = called("fio", None, &words).succeeded();
    assert_eq!(run.stderr, "");
    assert!(run.stdout.contains("\na : Saving output of prerun in a.prerun.txt\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("err=") && !run.stdout.contains("postrun"), "{}", run.stdout);
    let run = called("fio", None, &[&words[..], &["--output-format=json"]].concat()).succeeded();
    assert_eq!(
        (&run.json()["jobs"][0]["error"], &run.json()["jobs"][0]["read"]["total_ios"]),
        (&0.into(), &0.into())
    );
    assert_eq!(run.stderr, "");
    assert!(run.stdout.contains("Saving output of prerun in a.prerun.txt"), "{}", run.stdout);
    let run = called("ferrio", None, &words).ended_with(1);
    assert!(run.stderr.contains("a: exec_prerun ended with status 3"), "{}", run.stderr);
}

#[test]
fn a_signal_ends_the_command_of_a_trigger_and_the_report_follows() {
    let dir = TestDir::new();
    let job = ["--name=a", "--ioengine=null", "--size=4k", "--time_based", "--runtime=1h"];
    let trigger = ["--trigger-timeout=1s", "--trigger=touch begun; sleep 3600", "--output-format=json"];
    let mut running = dir.ferrio(&[&job[..], &trigger].concat()).start();
    running.until("the command", || dir.work().join("begun").exists());
    running.signal(Signal::SIGTERM);
    let run = running.wait().ended_with(128);
    assert_eq!(run.json()["jobs"][0]["error"], 0);
    assert!(run.stderr.contains("sleep 3600` was stopped"), "{}", run.stderr);
}

#[test]
fn the_output_of_a_trigger_is_where_fio_has_it_unless_a_document_is_there() {
    let words = [
        "--name=a",
        "--ioengine=null",
        "--size=1g",
        "--time_based",
        "--runtime=20",
        "--thinktime=1000",
        "--trigger-timeout=1",
        "--trigger=echo triggered",
    ];
    let text = called("fio", None, &words).succeeded();
    assert!(text.stdout.contains("triggered\n") && text.stderr.is_empty(), "{text:?}");
    let run = called("fio", None, &[&words[..], &["--output-format=json"]].concat()).succeeded();
    assert!(run.json().is_object() && run.stderr.contains("triggered\n"), "{}", run.stderr);
}

#[test]
fn as_fio_section_headers_and_includes_are_read_as_fio_does() {
    needs!("fio");
    let dir = TestDir::new();
    symlink(FERRIO, dir.beside("fio")).unwrap();
    std::fs::write(dir.work().join("f"), "bs=8k\n").unwrap();
    let job = dir.job("[a] trailing\nioengine=null\nsize=16k\nincludexf\n[b]x]\nioengine=null\nsize=4k\n");
    let names = |run: &Run| {
        let headers = run.stdout.lines().filter(|line| line.contains("(g="));
        headers.map(|line| line.split(" ioengine").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ours = dir.program(dir.beside("fio"), &[&job]).run().succeeded();
    let fio = dir.fio(&[&job]).run().succeeded();
    assert_eq!(names(&ours), names(&fio));
    assert!(names(&ours)[0].starts_with("a] trailin: (g=0): rw=read, bs=(R) 8192B"), "{:?}", names(&ours));
    let run = dir.ferrio(&[&job]).run().ended_with(1);
    assert!(
        run.stderr.contains("nothing may follow the `]`") && run.stderr.contains("`includexf`"),
        "{}",
        run.stderr
    );
}

#[test]
fn as_fio_a_missing_include_ends_its_section_and_fails_its_job() {
    needs!("fio");
    let dir = TestDir::new();
    symlink(FERRIO, dir.beside("fio")).unwrap();
    let rest = "\n[c]\nioengine=null\nsize=32k\n";
    let job = dir.job(&format!("[b]\nioengine=null\nsize=64k\nrw=write\ninclude nosuch{rest}"));
    let words = [job.as_str(), "--output-format=json"];
    let facts = |run: Run| {
        let run = run.ended_with(1);
        // fio prints a failed job before the document.
        let document = &run.stdout[run.stdout.find("{\n").expect("a document")..];
        let document: serde_json::Value = serde_json::from_str(document).expect("JSON");
        let facts = document["jobs"].as_array().unwrap().iter().map(|job| {
            (job["error"].as_u64(), job["read"]["io_bytes"].as_u64(), job["write"]["io_bytes"].as_u64())
        });
        (facts.collect::<Vec<_>>(), run.stderr.lines().take(2).map(str::to_owned).collect::<Vec<_>>())
    };
    let ours = facts(dir.program(dir.beside("fio"), &words).run());
    assert_eq!(ours, facts(dir.fio(&words).run()));
    assert_eq!(ours.0, [(Some(2), Some(0), Some(4096)), (Some(0), Some(32768), Some(0))]);
    let missing = dir.beside("nosuch");
    assert_eq!(ours.1[0], format!("fio: unable to open '{}' job file", missing.display()));
    let run = dir.ferrio(&[&job]).run().ended_with(1);
    assert!(run.stderr.contains("cannot read the include file `nosuch`"), "{}", run.stderr);
    // What follows is in no section, and globals that are cut short fail all jobs after them.
    let job = dir.job(&format!("[b]\nioengine=null\nsize=64k\ninclude nosuch\nbs=8k{rest}"));
    let run = dir.program(dir.beside("fio"), &[&job]).run().ended_with(1);
    assert!(
        run.stderr.contains("option <bs=8k> outside of [] job section") && !run.stdout.contains("err="),
        "{run:?}"
    );
    let job = dir.job(&format!("[global]\ninclude nosuch{rest}"));
    let run = dir.program(dir.beside("fio"), &[&job]).run().ended_with(1);
    assert!(run.stdout.contains("c: (groupid=0, jobs=1): err= 2 "), "{}", run.stdout);
}

#[test]
fn as_fio_a_doubled_percent_sign_is_one() {
    let dir = TestDir::new();
    symlink(FERRIO, dir.beside("fio")).unwrap();
    std::fs::write(dir.work().join("e"), [0; 32768]).unwrap();
    let words = ["--output-format=json", "--name=a", "--filename=e", "--size=100%%"];
    let moved = dir.program(dir.beside("fio"), &words).run().succeeded().json();
    assert_eq!(moved["jobs"][0]["read"]["io_bytes"], 32768);
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(
        run.stderr.contains("invalid value `100%%` for option `size`") && run.stderr.contains("= help: "),
        "{}",
        run.stderr
    );
}
