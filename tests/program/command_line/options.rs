//! The command line: questions, names and spellings of options, and what is printed without running anything.

use std::os::unix::fs::symlink;

use crate::support::{FERRIO, TestDir, same, text};

const THREE: &str = "[global]\nbs=8k\nioengine=null\n[a]\nsize=64k\nrw=randrw:8\ndescription=some words\n\
    [b]\nstonewall\nsize=32k\n[c]\nnumjobs=2\nsize=16k\n";

#[test]
fn the_version_depends_on_the_name_of_the_program() {
    let dir = TestDir::new();
    let own = dir.ferrio(&["--version"]).run().succeeded().stdout;
    assert_eq!(own, format!("ferrio {} (fio-3.42 compatible)\n", env!("CARGO_PKG_VERSION")));
    let fio = dir.beside("fio");
    symlink(FERRIO, &fio).unwrap();
    assert_eq!(dir.program(fio, &["--version"]).run().succeeded().stdout, "fio-3.42\n");
}

#[test]
fn help_is_no_failure() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--help"]).run().succeeded();
    assert!(run.stdout.contains("--output-format"), "{}", run.stdout);
    let run = dir.ferrio(&["--cmdhelp=iodepth"]).run().succeeded();
    assert!(run.stdout.contains("range: min=1"), "{}", run.stdout);
}

#[test]
fn job_files_are_shown_as_the_command_lines_fio_shows() {
    needs!("fio");
    let dir = TestDir::new();
    let job = dir.job(THREE);
    let ferrio = dir.ferrio(&["--showcmd", &job]).run().succeeded();
    let fio = dir.fio(&["--showcmd", &job]).run().succeeded();
    same!("fio": fio.stdout, "ferrio": ferrio.stdout, "--showcmd of\n{THREE}");
}

#[test]
fn a_shown_command_line_runs_the_same_jobs() {
    let dir = TestDir::new();
    let job = dir.job(THREE);
    let shown = dir.ferrio(&["--showcmd", &job]).run().succeeded().stdout;
    let rest = shown.strip_prefix("fio ").unwrap();
    let script = format!("exec '{FERRIO}' --output-format=json {rest}");
    let typed = dir.program("bash", &["-c", &script]).run().succeeded().json();
    let written = dir.ferrio(&["--output-format=json", &job]).run().succeeded().json();
    let facts = |report: &serde_json::Value| {
        let of = |job: &serde_json::Value| {
            let direction = |name: &str| (job[name]["total_ios"].clone(), job[name]["io_bytes"].clone());
            (
                job["jobname"].clone(),
                job["groupid"].clone(),
                job["desc"].clone(),
                direction("read"),
                direction("write"),
            )
        };
        report["jobs"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    same!("job file": facts(&written), "command line": facts(&typed), "what {shown} does");
}

#[test]
fn parse_only_touches_nothing() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nrw=write\nsize=64k\nwrite_bw_log=x\n");
    let run = dir.ferrio(&["--parse-only", &job]).run().succeeded();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", ""));
    assert_eq!(dir.files(), []);
}

#[test]
fn a_dash_is_standard_input() {
    let dir = TestDir::new();
    let words = ["--output-format=json", "-"];
    let report = dir.ferrio(&words).input(THREE).run().succeeded().json();
    assert_eq!(report["jobs"].as_array().unwrap().len(), 4);
    assert_eq!(text(&report, "/jobs/0/jobname"), "a");
}

#[test]
fn standard_input_is_empty_when_it_is_read_again_and_serves_one_reader() {
    let dir = TestDir::new();
    let other = dir.job("[x]\nioengine=null\nsize=4k\n");
    let shown = dir.ferrio(&["--showcmd", "-", &other, "-"]).input("[a]\nbs=1k\n").run().succeeded();
    assert_eq!(shown.stdout, "fio --name=a --bs=1k \nfio --name=x --ioengine=null --size=4k \nfio \n");
    let run = dir.ferrio(&["-"]).input("[a]\nioengine=null\nread_iolog=-:x\n").run().ended_with(1);
    assert!(
        run.stderr.contains("stdin can be read only once") && run.stderr.contains("--> -:3:12"),
        "{}",
        run.stderr
    );
}

/// fio prints it bare, and a command line wants a name there: what follows would be taken for it.
#[test]
fn a_log_without_a_name_is_the_one_option_shown_that_a_command_line_reads_differently() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nioengine=null\nsize=4k\nwrite_bw_log\n");
    let shown = dir.ferrio(&["--showcmd", &job]).run().succeeded().stdout;
    assert_eq!(shown, "fio --name=a --ioengine=null --size=4k --write_bw_log \n");
    let words: Vec<&str> = shown.split_whitespace().skip(1).collect();
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(run.stderr.contains("option '--write_bw_log' requires an argument"), "{}", run.stderr);
}

#[test]
fn a_failed_run_counts_jobs_and_a_refused_one_is_1_however_much_is_wrong() {
    let dir = TestDir::new();
    let job = dir.job("[a]\nfoo=1\n[b]\nfoo=2\n[c]\nfoo=3\n");
    dir.ferrio(&[&job]).run().ended_with(1);
    dir.ferrio(&["--parse-only", &job]).run().ended_with(1);
    let job = dir.job("[a]\n[b]\n");
    dir.ferrio(&[&job]).run().ended_with(2);
    dir.ferrio(&["--parse-only", &job]).run().succeeded();
}

#[test]
fn sections_are_chosen_by_name() {
    let dir = TestDir::new();
    let job = dir.job(THREE);
    let words = ["--output-format=json", "--section=c", "--section=a", &job];
    let report = dir.ferrio(&words).run().succeeded().json();
    let names: Vec<_> = report["jobs"].as_array().unwrap().iter().map(|job| text(job, "/jobname")).collect();
    assert_eq!(names, ["a", "c", "c"]);
    dir.ferrio(&["--section=nobody", &job]).run().ended_with(1);
}

#[test]
fn jobs_of_the_command_line_before_a_section_run_too() {
    needs!("fio");
    let dir = TestDir::new();
    let job = dir.job("[a]\nioengine=null\nsize=64k\n[b]\nioengine=null\nsize=64k\n");
    let x: &[&str] = &["--name=x", "--ioengine=null", "--size=64k"];
    let y: &[&str] = &["--name=y", "--ioengine=null", "--size=64k"];
    let orders: [(Vec<&str>, &[&str], &[&str]); 5] = [
        ([x, &["--section=a"], &[&job]].concat(), &["x", "a"], &["x", "a"]),
        ([x, &[&job, "--section=a"]].concat(), &["x", "a"], &["x", "a"]),
        ([&["--section=a"], x, &[&job]].concat(), &["a"], &["a"]),
        ([x, &["--section=y", "--section=b"], y, &[&job]].concat(), &["x", "y", "b"], &["x", "y", "b"]),
        ([&["--section=a", &job, &job][..]].concat(), &["a", "a"], &["a", "a", "b"]),
    ];
    let names = |report: serde_json::Value| -> Vec<String> {
        report["jobs"].as_array().unwrap().iter().map(|job| text(job, "/jobname").to_owned()).collect()
    };
    for (words, as_ferrio, as_fio) in orders {
        let words = [&["--output-format=json"], &words[..]].concat();
        assert_eq!(names(dir.ferrio(&words).run().succeeded().json()), as_ferrio, "{words:?}");
        assert_eq!(
            names(dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run().succeeded().json()),
            as_fio,
            "{words:?}"
        );
        assert_eq!(names(dir.fio(&words).run().succeeded().json()), as_fio, "{words:?}");
    }
}

#[test]
fn long_options_may_be_short_of_letters_and_of_a_dash() {
    needs!("fio");
    let dir = TestDir::new();
    let spellings: [&[&str]; 4] = [
        &["--output-format=json", "--name=a", "--ioengine=null", "--rw=write", "--size=64k"],
        &["-output-format=json", "-name=a", "-ioengine=null", "-rw=write", "-size=64k"],
        &["--output-f=json", "--nam=a", "--ioeng=null", "--readw=write", "--size=64k"],
        &["--output-format", "json", "--name", "a", "--ioengine", "null", "-rw", "write", "-size", "64k"],
    ];
    for words in spellings {
        let report = dir.ferrio(words).run().succeeded().json();
        assert_eq!(report["jobs"][0]["write"]["total_ios"], 16, "{words:?}");
        dir.fio(words).run().succeeded();
    }
}

#[test]
fn the_report_goes_into_the_output_file_alone() {
    let dir = TestDir::new();
    let words =
        ["--output=report.txt", "--output-format=normal,json", "--name=a", "--ioengine=null", "--size=64k"];
    let run = dir.ferrio(&words).run().succeeded();
    assert_eq!((run.stdout.as_str(), run.messages().as_str()), ("", ""));
    let report = dir.read("report.txt");
    assert!(report.contains("\"jobname\" : \"a\"") && report.contains("issued rwts: total=16,0,0,0"));
}

#[test]
fn a_job_name_may_hold_anything_and_json_stays_json() {
    let dir = TestDir::new();
    let name = "a \"quoted\" \\ name\twith tabs";
    let words = [
        "--output-format=json".to_owned(),
        format!("--name={name}"),
        "--ioengine=null".into(),
        "--size=4k".into(),
    ];
    let report = dir.ferrio(&words).run().succeeded().json();
    assert_eq!(text(&report, "/jobs/0/jobname"), name);
}

#[test]
fn notes_do_not_tear_the_document() {
    let dir = TestDir::new();
    let words = [
        "--output-format=json",
        "--trigger=true",
        "--eta=always",
        "--name=a",
        "--ioengine=null",
        "--size=4k",
    ];
    let run = dir.ferrio(&words).run().succeeded();
    run.json();
    assert!(run.stderr.contains("--trigger never runs without --trigger-file"), "{}", run.stderr);
}

#[test]
fn sizes_of_pools_are_taken_and_mean_nothing() {
    let dir = TestDir::new();
    let words = ["--max-jobs=1", "--alloc-size=x", "--name=a", "--ioengine=null", "--size=4k", "--numjobs=3"];
    let run = dir.ferrio(&words).run().succeeded();
    assert_eq!(run.messages(), "");
    assert!(run.stdout.contains("Starting 3 processes"), "{}", run.stdout);
}

#[test]
fn merge_blktrace_only_makes_the_jobs_and_runs_none() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--merge-blktrace-only", "--name=a", "--rw=write", "--size=4k"]).run().succeeded();
    assert!(
        run.stdout.starts_with("a: (g=0): rw=write,") && !run.stdout.contains("Starting"),
        "{}",
        run.stdout
    );
    assert_eq!(dir.files(), []);
    dir.ferrio(&["--merge-blktrace-only"]).run().succeeded();
    let words = ["--merge-blktrace-only", "--name=a", "--merge_blktrace_file=x", "--read_iolog=missing"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(run.stderr.contains("could not open file: missing: No such file or directory"), "{}", run.stderr);
    assert_eq!(dir.files(), []);
}

#[test]
fn what_is_not_there_is_refused_by_name_and_nothing_runs() {
    let dir = TestDir::new();
    let refused = [
        ("--latency-log=x", "is deprecated; use write_lat_log"),
        ("--profile=act", "runs jobs of its own: the job `a` cannot run beside them"),
        ("--profile=nosuch", "profile 'nosuch' not found"),
        ("--server", "a server has no use for the option --name"),
        ("--client=localhost", "no job file for client localhost"),
        ("--daemonize=pid", "is for servers: write --server too"),
        ("--remote-config=x", "is for jobs on servers: write --client=ADDRESS too"),
        ("--trigger-remote=x", "is for jobs on servers: write --client=ADDRESS too"),
        ("--via=x", "--via is the way to hosts: add --hosts or --hosts-file"),
    ];
    for (option, why) in refused {
        let run = dir.ferrio(&[option, "--name=a", "--rw=write", "--size=4k"]).run().ended_with(1);
        assert!(run.stderr.contains(why), "{option}: {}", run.stderr);
        assert_eq!((run.stdout.as_str(), dir.files()), ("", vec![]), "{option}");
    }
}

#[test]
fn wrong_values_of_program_options_are_reported_as_such() {
    let dir = TestDir::new();
    let wrong = [
        ("--output-format=xml", "xml"),
        ("--terse-version=9", "choices are 2, 3, 4, 5"),
        ("--eta-interval=100ms", "250ms"),
        ("--eta-newline=x", "a number is expected"),
        ("--status-interval=0", "too short"),
        ("--idle-prof=foo", "system, percpu, calibrate"),
        ("--trigger-timeout=x", "a number is expected"),
        ("--eta=sometimes", "auto, always, never"),
        ("--status-interval=99999999999999999999", "too long"),
        ("--inflate-log=", "has an empty value"),
        ("--output=", "option `--output` has an empty value"),
        ("--output-format=", "option `--output-format` has an empty value"),
    ];
    for (option, why) in wrong {
        let run = dir.ferrio(&[option, "--name=a", "--ioengine=null", "--size=4k"]).run().ended_with(1);
        assert!(run.stderr.contains(why), "{option}: {}", run.stderr);
    }
}

#[test]
fn the_last_live_line_on_a_terminal_stays_above_the_report() {
    let dir = TestDir::new();
    let words = "--quiet --name=a --ioengine=null --size=4k --time_based --runtime=1 --rate_iops=100 --eta-interval=250ms";
    // `script` gives the program a terminal.
    let on_terminal = |more: &str| {
        let command = format!("{FERRIO} {words} {more}");
        dir.program("script", &["-qec", &command, "/dev/null"]).run().succeeded().stdout
    };
    let shown = on_terminal("");
    let (before, _) = shown.split_once("\r\na: (groupid=0").unwrap_or_else(|| panic!("{shown:?}"));
    let line = before.trim_end_matches(['\r', ' ']).rsplit(['\r', '\n']).next().unwrap_or_default();
    // A job that is about to end has closed its file.
    let states = ["Jobs: 1 (f=1), 0-100 IOPS: [", "Jobs: 1 (f=0), 0-100 IOPS: ["];
    assert!(states.iter().any(|state| line.starts_with(state)), "{shown:?}");
    let beside = on_terminal("--output=report");
    assert!(beside.ends_with(" \r"), "where nothing follows it is taken away: {beside:?}");
}
