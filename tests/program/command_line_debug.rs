//! `--debug`: classes, the form of lines, and that it touches neither the report nor a run without it.

use crate::support::{Place, same};

/// Text of the lines of a class; each must be the class in 8 columns, a thread in 5, the text.
fn lines_of<'a>(stderr: &'a str, class: &str) -> Vec<&'a str> {
    let prefix = format!("{class:<8} ");
    let of_class = stderr.lines().filter_map(|line| line.strip_prefix(&prefix));
    of_class
        .map(|rest| {
            let (thread, text) = rest.split_once(' ').unwrap();
            assert!(thread.parse::<u32>().is_ok(), "{rest:?}");
            text.trim_start()
        })
        .collect()
}

const JOB: [&str; 7] = [
    "--name=a",
    "--rw=randwrite",
    "--size=16k",
    "--bs=4k",
    "--ioengine=psync",
    "--randrepeat=1",
    "--randseed=7",
];

fn words<'a>(first: &[&'a str]) -> Vec<&'a str> {
    [first, &JOB].concat()
}

#[test]
fn every_io_of_a_job_is_printed_with_the_facts_that_fio_prints() {
    let place = Place::new();
    let run = place.ferrio(&words(&["--debug=io,file,process,parse,random"])).run().succeeded();
    for class in ["io", "file", "process", "parse", "random"] {
        assert!(
            run.stderr.contains(&format!("ferrio: set debug option {class}\n")),
            "{class}: {}",
            run.stderr
        );
        assert!(!lines_of(&run.stderr, class).is_empty(), "{class}: {}", run.stderr);
    }
    let io = lines_of(&run.stderr, "io");
    let places = |step: &str| -> Vec<String> {
        let of_step = io.iter().filter(|line| line.starts_with(step));
        of_step.map(|line| line.split_once("off=").unwrap().1.to_owned()).collect()
    };
    let queued = places("queue: ");
    assert_eq!(queued.len(), 4);
    assert_eq!(queued, places("complete: "), "each ends before the next begins");
    let mut sorted = queued.clone();
    sorted.sort();
    let all: Vec<String> =
        (0..4).map(|n| format!("{:#x}, len=0x1000, ddir=write, file=a.0.0", n * 4096)).collect();
    assert_eq!(sorted, all);
    assert_eq!(lines_of(&run.stderr, "random").len(), 4);
    assert!(lines_of(&run.stderr, "parse").iter().any(|line| line.starts_with("bs=4k: ")), "{}", run.stderr);
    assert!(
        lines_of(&run.stderr, "file").iter().any(|line| line.starts_with("open a.0.0")),
        "{}",
        run.stderr
    );
    let fio = place.fio(&words(&["--debug=io", "--filename=b"])).run().succeeded().stdout;
    let queued_by_fio = lines_of(&fio, "io").iter().filter(|line| line.starts_with("queue: ")).count();
    same!("fio": queued_by_fio, "ferrio": queued.len(), "queued I/Os");
}

#[test]
fn an_asynchronous_engine_tells_what_it_hands_over_and_gets_back() {
    let place = Place::new();
    let words = [
        "--debug=io",
        "--name=a",
        "--rw=write",
        "--size=64k",
        "--bs=4k",
        "--ioengine=io_uring",
        "--iodepth=4",
    ];
    let run = place.ferrio(&words).run().succeeded();
    let io = lines_of(&run.stderr, "io");
    let count = |step: &str| io.iter().filter(|line| line.starts_with(step)).count();
    assert_eq!((count("queue: "), count("complete: ")), (16, 16), "{}", run.stderr);
    assert!(count("flush: ") > 0 && count("reap: ") > 0, "{}", run.stderr);
}

#[test]
fn a_report_is_the_same_with_debugging_and_stays_alone_on_standard_output() {
    let place = Place::new();
    let with = place.ferrio(&words(&["--output-format=json", "--debug=all"])).run().succeeded();
    let without = place.ferrio(&words(&["--output-format=json"])).run().succeeded();
    let written = |report: serde_json::Value| report["jobs"][0]["write"]["io_bytes"].clone();
    same!("with": written(with.json()), "without": written(without.json()), "--debug=all");
    assert_eq!(without.messages(), "");
    assert!(with.stderr.starts_with("ferrio: set all debug options\n"), "{}", with.stderr);
}

#[test]
fn a_job_number_leaves_other_jobs_out() {
    let place = Place::new();
    let words = [
        "--debug=io,job:2",
        "--name=one",
        "--ioengine=null",
        "--size=4k",
        "--name=two",
        "--size=8k",
        "--ioengine=null",
    ];
    let run = place.ferrio(&words).run().succeeded();
    assert!(run.stderr.contains("ferrio: set debug jobno 2\n"), "{}", run.stderr);
    let io = lines_of(&run.stderr, "io");
    assert_eq!(io.iter().filter(|line| line.starts_with("queue: ")).count(), 2, "{}", run.stderr);
}

#[test]
fn words_are_listed_and_wrong_ones_are_not_fatal() {
    let place = Place::new();
    for word in ["--debug=help", "--debug=?"] {
        let run = place.ferrio(&[word]).run().succeeded();
        assert!(run.stdout.starts_with("ferrio: dumping debug options:process,file,io,"), "{}", run.stdout);
        assert!(run.stdout.ends_with(",all\n"), "{}", run.stdout);
    }
    let run = place
        .ferrio(&["--debug=nosuch,job,net", "--name=a", "--ioengine=null", "--size=4k"])
        .run()
        .succeeded();
    assert_eq!(
        run.messages(),
        "ferrio: debug mask nosuch not found\nferrio: missing job number\nferrio: set debug option net\n\
         ferrio: no messages in debug class net\n"
    );
    place.ferrio(&["--debug"]).run().ended_with(1);
}

#[test]
fn options_without_effect_are_reported_when_debugging() {
    let place = Place::new();
    let words = ["--debug=mem", "--alloc-size=1024", "--name=a", "--ioengine=null", "--size=4k"];
    let run = place.ferrio(&words).run().succeeded();
    assert_eq!(run.stderr.matches("--alloc-size has no effect").count(), 1, "{}", run.stderr);
}

#[test]
fn messages_for_programs_are_json_with_debugging_too() {
    let place = Place::new();
    let run = place.ferrio(&words(&["--debug=all", "--message-format=json"])).run().succeeded();
    let keys = |line: &str| -> Vec<String> {
        let object: serde_json::Value = serde_json::from_str(line).expect(line);
        object.as_object().unwrap().keys().cloned().collect()
    };
    let first = keys(run.stderr.lines().next().unwrap());
    assert!(run.stderr.lines().count() > 20 && run.stderr.lines().all(|line| keys(line) == first));
    let asked = ["--message-format=json", "--enghelp=nosuch"];
    let run = place.ferrio(&asked).run().ended_with(1);
    assert!(run.stderr.lines().all(|line| keys(line) == first), "{}", run.stderr);
}

#[test]
fn debug_lines_are_words_for_people() {
    let place = Place::new();
    let run = place.ferrio(&words(&["--debug=all"])).run().succeeded();
    assert!(lines_of(&run.stderr, "parse").contains(&"size=16k: size is 16384 bytes"), "{}", run.stderr);
    assert!(lines_of(&run.stderr, "process").contains(&"job 1: ready -> running"), "{}", run.stderr);
    for word in ["Some(", "Word(", "NotCreated", "Regular"] {
        assert!(!run.stderr.contains(word), "{}", run.stderr);
    }
}
