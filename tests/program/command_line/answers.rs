//! Questions answered without running a job: help on options and engines beside fio's, tests of the machine.

use std::collections::BTreeMap;

use ferrio_job::EngineKind;
use ferrio_jobfile::Opt;

use crate::support::{TestDir, same};

#[test]
fn help_lists_every_option_of_fio() {
    needs!("fio");
    let dir = TestDir::new();
    let help = dir.ferrio(&["--help"]).run().succeeded().stdout;
    let fio = dir.fio(&["--help"]).run().succeeded().stdout;
    let options = fio.lines().filter_map(|line| line.trim_start().strip_prefix("--"));
    let names: Vec<&str> =
        options.map(|text| text.split(['=', '\t', ' ', '[']).next().unwrap_or_default()).collect();
    assert!(names.len() > 30, "{names:?}");
    for name in names.into_iter().chain(["latency-log", "append-terse", "memcpytest", "eta-interval"]) {
        assert!(help.contains(&format!("--{name}")), "{name}");
    }
    assert!(help.contains("completions SHELL") && help.contains("./man"), "{help}");
}

/// Label and value of each line of an option's help; the words under `valid values` are collected.
fn facts(help: &str) -> BTreeMap<String, Vec<String>> {
    let mut facts = BTreeMap::<String, Vec<String>>::new();
    for line in help.lines().skip(1).filter(|line| !line.is_empty()) {
        let (label, value) = line.split_once(": ").unwrap_or_else(|| panic!("{line:?}"));
        match label.trim() {
            "" | "valid values" => {
                let word = value.split_whitespace().next().unwrap_or_default().to_owned();
                facts.entry("words".into()).or_default().push(word);
            }
            // Ferrio prints these in addition.
            "unit" | "directions" | "note" => {}
            // fio's example of a text is `bla`, and its limit of unlimited numbers -1.
            "type" => {
                let kind = value.split(" (opt=").next().unwrap_or_default();
                facts.entry("type".into()).or_default().push(kind.to_owned());
            }
            "range" => {
                facts.entry("range".into()).or_default().push(value.replace(", max=-1", ""));
            }
            label => facts.entry(label.to_owned()).or_default().push(value.to_owned()),
        }
    }
    facts
}

#[test]
fn an_option_is_described_with_the_facts_and_in_the_form_of_fio() {
    needs!("fio");
    let dir = TestDir::new();
    let options = [
        "rw",
        "bs",
        "bssplit",
        "direct",
        "norandommap",
        "runtime",
        "percentile_list",
        "iodepth",
        "iodepth_batch",
        "description",
        "fallocate",
        "sync_file_range",
        "rwmixread",
        "filesize",
        "startdelay",
        "kb_base",
        "write_bw_log",
        "nrfiles",
        "nice",
        "loops",
        "thinktime_blocks_type",
        "blocksize",
        "group_reporting",
        "continue_on_error",
        "filename",
        "buffer_pattern",
    ];
    for option in options {
        let question = format!("--cmdhelp={option}");
        let fio = dir.fio(&[&question]).run().succeeded().stdout;
        let ferrio = dir.ferrio(&[&question]).run().succeeded().stdout;
        same!("fio": facts(&fio), "ferrio": facts(&ferrio), "{question}");
        for line in ferrio.lines().skip(1).filter(|line| !line.is_empty()) {
            assert_eq!(line.find(": "), Some(20), "labels end in column 20: {line:?}");
        }
        assert!(ferrio.ends_with("\n\n"), "an empty line ends it: {ferrio:?}");
    }
}

#[test]
fn help_on_an_option_shows_values_that_a_job_can_have() {
    let dir = TestDir::new();
    let words = |option: &str| {
        let help = dir.ferrio(&[&format!("--cmdhelp={option}")]).run().succeeded().stdout;
        (facts(&help).remove("words").unwrap_or_default(), help)
    };
    assert_eq!(words("zonemode").0, ["none", "strided", "zbd"]);
    let (engines, help) = words("ioengine");
    let mut present: Vec<_> = EngineKind::ALL.iter().map(|engine| engine.word()).collect();
    // The engines of others are behind fio's own, as in fio's list.
    present.sort_by_key(|&engine| engine == "external");
    assert_eq!(engines, present);
    assert!(help.contains("`ferrio help engines`"), "{help}");
    let (mem, help) = words("mem");
    assert_eq!(mem.last().map(String::as_str), Some("mmaphuge"));
    assert!(help.contains("note: cudamalloc is refused: buffers in GPU memory need CUDA"), "{help}");
    assert_eq!(words("rw").1.lines().nth(2), Some("                type: string (opt=write)"));
}

#[test]
fn the_list_of_options_has_a_line_for_each_with_children_indented() {
    needs!("fio");
    let dir = TestDir::new();
    let list = dir.ferrio(&["--cmdhelp"]).run().succeeded().stdout;
    assert_eq!(list, dir.ferrio(&["--cmdhelp=all"]).run().succeeded().stdout);
    let names = |list: &str| -> Vec<String> {
        list.lines().map(|line| line.split(':').next().unwrap_or_default().trim_end().to_owned()).collect()
    };
    let own = names(&list);
    let fio = names(&dir.fio(&["--cmdhelp"]).run().succeeded().stdout);
    // Some options of fio 3.33 have become other names of options since.
    let known =
        |name: &str| own.iter().any(|own| own.trim_start() == name) || Opt::named(name).next().is_some();
    let missing: Vec<_> = fio.iter().map(|name| name.trim_start()).filter(|name| !known(name)).collect();
    assert_eq!(missing, [""; 0], "fio lists these too");
    assert!(own.contains(&"  iodepth_batch".to_owned()) && own.contains(&"iodepth".to_owned()));
}

#[test]
fn an_unknown_option_is_no_failure_and_the_nearest_is_shown() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--cmdhelp=rww"]).run().succeeded();
    assert_eq!(run.stderr, "No such command: rww - showing closest match\n");
    assert!(run.stdout.starts_with("                  rw: "), "{}", run.stdout);
    let run = dir.ferrio(&["--cmdhelp=zzzzzzzzzzz"]).run().succeeded();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("", "No such command: zzzzzzzzzzz\n"));
}

#[test]
fn engines_and_their_options_are_described() {
    let dir = TestDir::new();
    let engines = dir.ferrio(&["--enghelp"]).run().succeeded().stdout;
    assert!(
        engines.starts_with("Available IO engines:\n\t") && engines.contains("\tio_uring\n"),
        "{engines}"
    );
    // It needs a path; its options are described all the same.
    assert!(!engines.contains("external"), "{engines}");
    let options = dir.ferrio(&["--enghelp=external"]).run().succeeded().stdout;
    assert!(options.contains("external_options        : "), "{options}");
    let options = dir.ferrio(&["--enghelp=libaio"]).run().succeeded().stdout;
    assert!(options.contains("userspace_reap          : "), "{options}");
    let option = dir.ferrio(&["--enghelp=libaio,userspace_reap"]).run().succeeded().stdout;
    assert!(option.contains("type: empty or boolean value ([0|1])"), "{option}");
    let reasons = [
        ("null", "IO engine null has no options"),
        ("nosuch", "ferrio: engine nosuch not loadable\nIO engine nosuch not found"),
        ("libaio,nosuch", "IO engine libaio has no option nosuch"),
    ];
    for (engine, why) in reasons {
        let run = dir.ferrio(&[format!("--enghelp={engine}")]).run().ended_with(1);
        assert_eq!((run.stdout.as_str(), run.stderr), ("", format!("{why}\n")), "{engine}");
    }
}

#[test]
fn checksums_are_measured_in_lines_of_fios_form() {
    needs!("fio");
    let dir = TestDir::new();
    let line = dir.ferrio(&["--crctest=crc7"]).run().succeeded().stdout;
    let number = line.strip_prefix("crc7:\t\t").and_then(|rest| rest.strip_suffix(" MiB/sec\n"));
    let number = number.unwrap_or_else(|| panic!("{line:?}"));
    assert!(number.len() >= 8 && number.trim().parse::<f64>().unwrap() > 0.0, "{line:?}");
    let fio = dir.fio(&["--crctest=crc7"]).run().succeeded().stdout;
    let shape = |line: &str| line.chars().filter(|c| !c.is_ascii_digit() && *c != ' ').collect::<String>();
    same!("fio": shape(&fio), "ferrio": shape(&line), "digits aside");
}

#[test]
fn names_of_tests_are_listed_with_status_1() {
    let dir = TestDir::new();
    for (option, name) in
        [("--crctest=help", "sha3-512"), ("--crctest=list", "md5"), ("--memcpytest=help", "hybrid")]
    {
        let run = dir.ferrio(&[option]).run().ended_with(1);
        assert!(run.stdout.lines().any(|line| line == name), "{option}: {}", run.stdout);
    }
    let run = dir.ferrio(&["--crctest=nosuch"]).run().ended_with(1);
    assert!(run.stderr.contains("ferrio: unknown hash `nosuch`. Available:"), "{}", run.stderr);
    let run = dir.ferrio(&["--crctest=jhash"]).run().ended_with(1);
    assert!(run.stderr.contains("no verify method uses it"), "{}", run.stderr);
    let run = dir.ferrio(&["--crctest=nosuch,crc7"]).run().succeeded();
    assert!(run.stdout.starts_with("crc7:") && run.stderr.contains("nosuch"), "{}", run.stderr);
}

#[test]
fn memory_is_copied_in_the_ways_and_lengths_named() {
    let dir = TestDir::new();
    let text = dir.ferrio(&["--memcpytest=memmove,512"]).run().succeeded().stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[0], "memmove");
    assert!(lines[1].starts_with("\t512 bytes:\t") && lines[1].ends_with(" MiB/sec"), "{text}");
}

#[test]
fn the_clock_test_speaks_for_every_cpu() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--cpuclock-test"]).run();
    assert!(run.stdout.contains("cs: reliable_tsc: ") && run.stdout.contains("cs: cpu"), "{}", run.stdout);
    let passed = run.stdout.ends_with("cs: Pass!\n");
    run.ended_with(i32::from(!passed));
}

#[test]
fn help_fits_a_screen_of_80_columns() {
    let dir = TestDir::new();
    let run = dir.ferrio(&["--help"]).run().succeeded();
    let wide: Vec<_> = run.stdout.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(wide, [""; 0]);
}

#[test]
fn help_explains_whatever_has_a_name() {
    let dir = TestDir::new();
    let help = |words: &[&str]| dir.ferrio(words).run().succeeded().stdout;
    let all = help(&["help"]);
    for part in ["Usage: ferrio", "ferrio help TOPIC", "engines ", "sysbench "] {
        assert!(all.contains(part), "{part}: {all}");
    }
    for (topic, part) in [
        ("rw", "valid values: read "),
        ("--iodepth=32", "I/O units kept in flight"),
        ("libaio", "userspace_reap"),
        ("nfs", "mount the export and use `io_uring`"),
        ("check", "Usage: ferrio check"),
        ("output-format", "--output-format=FORMATS"),
        ("few-ios", "the code of a message"),
        ("missing", "libiscsi, libzbc"),
        ("examples", "--rw=randread"),
    ] {
        assert!(help(&["help", topic]).contains(part), "{topic}");
    }
    assert!(help(&["help", "sysbench"]).contains("ferrio sysbench fileio"));
    for command in ["help", "man", "completions", "check"] {
        assert!(help(&[command, "--help"]).contains(&format!("Usage: ferrio {command}")), "{command}");
    }
    assert_eq!(help(&["--help=rw"]), help(&["help", "rw"]));
    let run = dir.ferrio(&["help", "iodpeth"]).run().ended_with(1);
    assert!(run.stderr.contains("there is no help on `iodpeth`"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean `ferrio help iodepth`?"), "{}", run.stderr);
    // fio takes the word for a job file.
    assert!(dir.ferrio(&["--as=fio", "help"]).run().ended_with(1).stderr.contains("unable to open 'help'"));
}
