//! `ferrio check` of jobs that are far too large to run: whatever is asked, it counts instead of listing, and what it refuses is in its
//! document.

use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::support::{FERRIO, TestDir, number, text};

/// Checks with at most 400 MB of address space.
fn check_in_little_memory(dir: &TestDir, words: &str) -> Value {
    let command = format!("ulimit -v 400000; exec {FERRIO} check --output-format=json {words}");
    dir.program("/bin/sh", &["-c", &command]).run().succeeded().json()
}

/// Options that a command line repeats are read once each, and jobs share what they have in common.
#[test]
fn a_command_line_of_sixty_thousand_names_or_ten_thousand_jobs_takes_little_memory() {
    let dir = TestDir::new();
    let limited = |words: &[String]| {
        let command = format!("ulimit -v 200000; exec {FERRIO} check --output-format=json \"$@\"");
        let shell = ["-c", &command, "sh", "--ioengine=null", "--size=1g"];
        let words: Vec<&str> = shell.into_iter().chain(words.iter().map(String::as_str)).collect();
        dir.program("/bin/sh", &words).run().succeeded().json()
    };
    let names: Vec<String> = (0..60_000).map(|at| format!("--filename=f{at}")).collect();
    let report = limited(&[vec!["--name=x".to_owned()], names].concat());
    assert_eq!(number(&report, "/totals/jobs"), 1);
    let jobs: Vec<String> = (0..10_000).map(|at| format!("--name=j{at}")).collect();
    assert_eq!(number(&limited(&jobs), "/totals/jobs"), 10_000);
}

#[test]
fn sixty_five_million_files_are_counted() {
    let dir = TestDir::new();
    fs::write(dir.work().join("a.7.65534"), [1; 8192]).unwrap();
    let words = "--name=a --ioengine=psync --rw=write --nrfiles=65535 --numjobs=1000 --size=1p";
    let report = check_in_little_memory(&dir, words);
    let files = report["jobs"][0]["files"].as_array().unwrap();
    assert!(files.len() < 10, "{} entries", files.len());
    let count = |action: &str| {
        let those = files.iter().filter(|file| file["action"] == action);
        those.map(|file| number(file, "/files")).sum::<u64>()
    };
    assert_eq!((count("create-empty"), count("replace-empty")), (65_534_999, 1));
    assert_eq!((text(&files[0], "/path"), text(&files[0], "/last_path")), ("a.0.0", "a.7.65533"));
    // A rest of less than one block is left out.
    let each = (1_u64 << 50) - (1 << 50) % 65535;
    assert_eq!(number(&report, "/totals/create_bytes"), 1000 * each);
    assert_eq!(number(&report, "/places/0/needed_files"), 65_534_999);
    assert_eq!(number(&report, "/places/0/needed_bytes"), 1000 * each - 8192);
}

#[test]
fn files_of_drawn_sizes_and_of_one_name_are_counted() {
    let dir = TestDir::new();
    let words = "--name=a --ioengine=psync --rw=write --nrfiles=65535 --numjobs=100";
    let drawn = check_in_little_memory(&dir, &format!("{words} --filesize=4k-1m"));
    assert_eq!(drawn["jobs"][0]["volume"]["certainty"], "about");
    assert_eq!(drawn["jobs"][0]["files"][0]["size_is_mean"], true);
    let mean = number(&drawn, "/jobs/0/files/0/size");
    assert!((500_000..=550_000).contains(&mean), "{mean}");
    let one = check_in_little_memory(&dir, &format!("{words} --size=1g --filename_format=same"));
    assert_eq!((number(&one, "/jobs/0/files/0/files"), number(&one, "/places/0/needed_files")), (1, 1));
}

#[test]
fn jobs_without_number_on_one_file_are_checked() {
    let dir = TestDir::new();
    let words =
        "--name=a --ioengine=psync --filename=f --rw=randwrite --verify=crc32c --size=1m --numjobs=5000";
    let risks = |words: &str| {
        let report = check_in_little_memory(&dir, words);
        let risks = report["risks"].as_array().unwrap().iter();
        risks.map(|risk| risk["code"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let apart = risks(&format!("{words} --offset_increment=1m"));
    assert!(!apart.iter().any(|code| code == "verify-shared-file" || code == "shared-writers"), "{apart:?}");
    let overlapping = risks(&format!("{words} --offset_increment=1020k"));
    assert!(overlapping.iter().any(|code| code == "verify-shared-file"), "{overlapping:?}");
    assert!(overlapping.iter().any(|code| code == "shared-writers"), "{overlapping:?}");
}

#[test]
fn only_the_beginning_of_a_long_log_is_read() {
    const STEPS: u64 = 310_000;
    let dir = TestDir::new();
    let mut log = "fio version 2 iolog\nf add\nf open\n".to_owned();
    (0..STEPS).for_each(|number| writeln!(log, "f write {} 512", number * 512).unwrap());
    fs::write(dir.work().join("log"), log).unwrap();
    let check = |format| {
        dir.ferrio(&["check", format, "--name=a", "--ioengine=null", "--read_iolog=log"]).run().succeeded()
    };
    let report = check("--output-format=json").json();
    let replay = &report["jobs"][0]["replays"][0];
    assert_eq!((replay["has_more"].as_bool(), number(replay, "/reads")), (Some(true), 0));
    let writes = number(replay, "/writes");
    assert!((290_000..STEPS).contains(&writes), "{writes}");
    assert_eq!(report["jobs"][0]["volume"]["certainty"], "at-least");
    let text = check("--output-format=normal").stdout;
    assert!(text.contains(&format!("log: at least {writes} writes")), "{text}");
    assert!(text.contains("writes at least "), "{text}");
}

/// Arguments that are refused, and a part of the message that says why.
const REFUSED: &[(&[&str], &str)] = &[
    (&[], "No job(s) defined"),
    (&["--section=b", "job.fio"], "No job(s) defined"),
    (&["missing.fio"], "unable to open 'missing.fio' job file: No such file or directory"),
    (&["."], "unable to open '.' job file: Is a directory"),
    (&["--name=a", "--bogus"], "unrecognized option '--bogus'"),
    (&["--name=a", "--iodepth=0"], "invalid value `0` for option `iodepth`"),
    (&["--eta=,,", "--name=a"], "invalid value `,,` for option `--eta`"),
    (&["--status-interval=0-0", "--name=a"], "invalid value `0-0` for option `--status-interval`"),
    (&["--fail-if=,,", "--name=a"], "invalid value `,,` for option `--fail-if`"),
    (&["--set=,,", "--name=a"], "--set"),
    (&["--output-format=json,,", "--name=a"], "invalid value `json,,` for option `--output-format`"),
    (&["--output"], "'--output' requires an argument"),
    (&["--readonly", "--name=a", "--ioengine=null", "--size=1m", "--rw=write"], "readonly"),
    (&["--name=a", "--ioengine=warp"], "engine warp"),
    (&["--showcmd", "--name=a"], "`ferrio check` cannot be combined with --parse-only, --showcmd"),
    (&["--profile=nothing"], "nothing"),
];

#[test]
fn whatever_is_refused_is_in_the_document() {
    for &(words, message) in REFUSED {
        let dir = TestDir::new();
        fs::write(dir.work().join("job.fio"), "[a]\nioengine=null\nsize=1m\n").unwrap();
        let all: Vec<&str> = ["check", "--output-format=json"].iter().chain(words).copied().collect();
        let run = dir.ferrio(&all).run().ended_with(1);
        assert!(run.stderr.contains(message), "{words:?}: {message:?} is expected in\n{}", run.stderr);
        let report = run.json();
        assert_eq!(text(&report, "/status"), "errors", "{words:?}");
        let errors = report["errors"].as_array().unwrap();
        assert!(!errors.is_empty(), "{words:?}");
        let first = text(&report, "/errors/0/message");
        assert!(run.stderr.contains(first), "{words:?}: {first:?} is not on standard error:\n{}", run.stderr);
        let as_text: Vec<&str> = ["check"].iter().chain(words).copied().collect();
        let run = dir.ferrio(&as_text).run().ended_with(1);
        let wants_json = words.iter().any(|word| word.contains("json"));
        assert!(run.stdout.is_empty() != wants_json, "{words:?}: {}", run.stdout);
        assert!(run.stderr.contains(message), "{words:?}: {}", run.stderr);
    }
}

#[test]
fn a_pipe_that_nobody_writes_into_is_not_waited_for() {
    let dir = TestDir::new();
    nix::unistd::mkfifo(&dir.work().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::write(dir.work().join("includes.fio"), "[a]\ninclude pipe\n").unwrap();
    let silent = "it is a pipe, and no data came within half a second";
    for (words, message) in [
        (&["pipe"][..], silent),
        (&["includes.fio"], silent),
        (&["--name=a", "--size=4k", "--buffer_pattern='pipe'"], silent),
        (&["--name=a", "--read_iolog=pipe"], "pipe: a pipe can be read only once"),
    ] {
        let run = dir.ferrio(&[&["check"], words].concat()).run().ended_with(1);
        let told = format!("{}{}", run.stdout, run.stderr);
        assert!(told.contains(message), "{words:?}: {told}");
    }
}

#[test]
fn a_pipe_of_the_shell_is_waited_for() {
    let command = format!(
        "{FERRIO} check <(sleep 1; printf '[a]\\nioengine=null\\nsize=4k\\n'); status=$?; wait; exit $status"
    );
    TestDir::new().program("bash", &["-c", &command]).run().succeeded();
}

#[test]
fn a_check_refuses_as_many_threads_as_there_are_numbers() {
    let words = ["check", "--name=a", "--size=1m", "--verify=crc32c", "--verify_async=4294967295"];
    let run = TestDir::new().ferrio(&words).run().ended_with(1);
    assert!(!run.stderr.contains("panicked"), "{}", run.stderr);
}

#[test]
fn a_refusal_goes_where_the_answer_would_go() {
    for name in [",,", "0-0", "answer"] {
        let dir = TestDir::new();
        let words = ["check", "-o", name, "--output-format=json", "--name=a", "--size=zero"];
        let run = dir.ferrio(&words).run().ended_with(1);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains("invalid value `zero` for option `size`"), "{}", run.stderr);
        let report = crate::support::json_file(&dir.work().join(name));
        assert_eq!(text(&report, "/errors/0/message"), "invalid value `zero` for option `size`");
    }
    let dir = TestDir::new();
    let words =
        ["check", "-o", "no/where", "--output-format=json", "--name=a", "--ioengine=null", "--size=4k"];
    let run = dir.ferrio(&words).run().ended_with(1);
    assert!(
        run.stderr.contains("output file open error: No such file or directory: no/where"),
        "{}",
        run.stderr
    );
}
