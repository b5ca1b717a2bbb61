use super::*;
use crate::option_values::IntervalsTo;
use crate::options::Takes;

fn read(words: &[&str]) -> Result<ProgramSettings, SettingsError> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    ProgramSettings::read(&crate::arguments::scan(&words, 1, OPTIONS, Compat::Ferrio).items, Compat::Ferrio)
}

fn refusal(words: &[&str]) -> String {
    read(words).unwrap_err().to_string()
}

#[test]
fn clap_agrees_with_the_table() {
    command().debug_assert();
}

#[test]
fn defaults_are_those_of_fio() {
    let program = read(&[]).unwrap();
    assert_eq!(program.formats, Formats::default());
    assert_eq!(
        (program.eta, program.eta_newline, program.output),
        (Eta::Auto, None, ReportDestination::Stdout)
    );
    assert_eq!(program.eta_interval, Duration::from_secs(1));
}

#[test]
fn the_last_of_repeated_options_counts() {
    let program = read(&["--aux-path=a", "-K", "b", "--eta=never", "--eta=auto"]).unwrap();
    assert_eq!((program.aux_path, program.eta), ("b".into(), Eta::Auto));
}

#[test]
fn several_outputs_are_those_of_as_many_formats() {
    let words = ["--output=a", "-o", "b", "-F", "json,html"];
    let program = read(&words).unwrap();
    let files = [(Format::Json, "a".to_owned()), (Format::Html, "b".to_owned())];
    assert_eq!((program.output, program.formats.are_none()), (ReportDestination::Stdout, true));
    assert_eq!(program.files_of_formats, files);
    assert!(read(&words[..3]).is_err());
}

#[test]
fn formats_replace_each_other_and_terse_lines_are_added() {
    let formats = |words: &[&str]| read(words).unwrap().formats;
    let terse = Formats::only(Format::Terse);
    assert_eq!(formats(&["--output-format=json", "--minimal"]), terse);
    assert_eq!(formats(&["--minimal", "-F", "json"]), Formats::only(Format::Json));
    assert_eq!(formats(&["--append-terse"]), terse.with(Format::Normal));
    assert_eq!(formats(&["-F", "json", "-f"]), terse.with(Format::Json));
    assert_eq!(formats(&["-F", "openmetrics"]), Formats::only(Format::OpenMetrics));
    assert_eq!(formats(&["-F", "openmetrics", "--minimal"]), terse);
    assert_eq!(read(&["--terse-version=4"]).unwrap().terse_version, TerseVersion::V4);
}

#[test]
fn report_options_follow_the_settings() {
    use ferrio_stats::Buckets::{Fio, Hdr};
    let options = |words: &[&str]| read(words).unwrap().report_options();
    let buckets =
        [&[][..], &["--fio-bins"], &["-F", "json"], &["-F", "normal,json+"]].map(|w| options(w).buckets());
    assert_eq!(buckets, [Hdr, Fio, Hdr, Fio]);
    assert!(!options(&["--idle-prof=system"]).per_cpu && options(&["-I", "percpu"]).per_cpu);
}

#[test]
fn no_format_can_be_combined_with_openmetrics() {
    for words in
        [&["-F", "openmetrics,json"][..], &["-F", "normal,openmetrics"], &["-F", "openmetrics", "-f"]]
    {
        let Err(error @ SettingsError::Conflict(OptionConflict { option: ProgramOption::OutputFormat, .. })) =
            read(words)
        else {
            panic!("{words:?} is taken")
        };
        assert!(error.to_string().contains("openmetrics cannot be combined"), "{error}");
    }
    let interim = read(&["-F", "openmetrics", "--status-interval=1"]);
    assert!(
        matches!(
            interim,
            Err(SettingsError::Conflict(OptionConflict { option: ProgramOption::StatusInterval, .. }))
        ),
        "{interim:?}"
    );
}

#[test]
fn times_have_units_and_minimum_values() {
    let program = read(&["--eta-newline=500ms", "--eta-interval=2"]).unwrap();
    assert_eq!(program.eta_newline, Some(Duration::from_millis(500)));
    assert_eq!(program.eta_interval, Duration::from_secs(2));
    let interval = |word: &str| read(&[word]).unwrap().status_interval;
    assert_eq!(interval("--status-interval=5"), Some(Duration::from_secs(5)));
    assert_eq!(interval("--status-interval=1ms"), Some(Duration::from_millis(1)));
    assert!(refusal(&["--eta-interval=100ms"]).contains("too short: the minimum is 250ms"));
    assert!(
        refusal(&["--eta-newline=soon"])
            .contains("a number is expected, optionally with d, h, m, s, ms or us")
    );
}

#[test]
fn the_interval_report_and_the_report_never_share_a_stream() {
    let to = |words: &[&str]| read(words).unwrap().interval_report.unwrap().to;
    assert_eq!(to(&["--interval-report=1s"]), IntervalsTo::StandardError);
    assert_eq!(to(&["--interval-report=1s:-", "--output=f"]), IntervalsTo::StandardOutput);
    assert_eq!(to(&["--interval-report=1s:g", "--output=f"]), IntervalsTo::File("g".to_owned()));
    assert!(refusal(&["--interval-report=1s:-"]).contains("send the report to a file with --output=FILE"));
}

#[test]
fn unsupported_options_are_refused_with_a_reason_and_an_alternative() {
    for entry in OPTIONS {
        let Support::Refused(why) = entry.support else { continue };
        let word = match entry.takes {
            Takes::Nothing => format!("--{}", entry.name),
            _ => format!("--{}=1", entry.name),
        };
        assert_eq!(refusal(&[&word]), format!("option --{} is {why}", entry.name));
        assert!(why.contains("; ") || why.contains(": "), "{why}");
    }
}

#[test]
fn a_wrong_value_is_reported_before_the_option_is_refused() {
    assert!(refusal(&["--terse-version=9"]).contains("possible values: 2, 3, 4, 5"));
    assert!(refusal(&["--status-interval=0"]).contains("too short: the minimum is 1ms"));
    assert!(refusal(&["--idle-prof=foo"]).contains("possible values: system, percpu, calibrate"));
    assert!(refusal(&["--profile=nosuch"]).contains("profile 'nosuch' not found"));
}

#[test]
fn options_without_effect_are_reported_only_when_debugging() {
    assert_eq!(read(&["--max-jobs=4", "--alloc-size=x"]).unwrap().notes, []);
    let notes = read(&["--max-jobs=4", "--alloc-size=1024", "--debug=mem"]).unwrap().notes;
    assert_eq!(notes[1].message, "--alloc-size has no effect: memory is allocated as needed");
    assert_eq!(notes.len(), 2);
}

#[test]
fn a_trigger_needs_a_file_or_a_time() {
    let trigger = |words: &[&str]| read(words).unwrap().trigger;
    let full = trigger(&["--trigger-file=f", "--trigger-timeout=2", "--trigger=echo x"]).unwrap();
    assert_eq!(full.file, Some(PathBuf::from("f")));
    assert_eq!((full.timeout, full.command.as_deref()), (Some(Duration::from_secs(2)), Some("echo x")));
    assert_eq!(trigger(&["--trigger-timeout=0"]), None);
    assert!(refusal(&["--trigger-timeout=500ms"]).contains("too short"));
    let alone = read(&["--trigger=true"]).unwrap();
    assert!(alone.trigger.is_none() && alone.notes[0].message.contains("never runs without --trigger-file"));
}

#[test]
fn debug_lists_add_up_and_silence_the_live_line() {
    let program = read(&["--debug=io", "--debug=file,nosuch"]).unwrap();
    assert_eq!(program.debug.notes().len(), 3);
    assert_eq!(program.eta, Eta::Never);
    assert_eq!(read(&["--debug=io", "--eta=always"]).unwrap().eta, Eta::Always);
    assert_eq!(read(&["--debug=io,help"]).unwrap().action, Action::Answer(Query::DebugClasses));
    assert_eq!(read(&["-d?"]).unwrap().action, Action::Answer(Query::DebugClasses));
}

#[test]
fn queries_are_recognised() {
    let question = |words: &[&str]| match read(words).unwrap().action {
        Action::Answer(query) => Some(query),
        _ => None,
    };
    assert_eq!(question(&["-v"]), Some(Query::Version));
    assert_eq!(question(&["--cmdhelp"]), Some(Query::Options(None)));
    assert_eq!(question(&["--cmdhelp=rw"]), Some(Query::Options(Some("rw".to_owned()))));
    assert_eq!(
        question(&["--enghelp=libaio,nowait"]),
        Some(Query::Engines(Some("libaio,nowait".to_owned())))
    );
    assert_eq!(question(&["--crctest"]), Some(Query::CrcTest(None)));
    assert_eq!(question(&["--memcpytest=memcpy"]), Some(Query::MemcpyTest(Some("memcpy".to_owned()))));
    assert_eq!(question(&["-T"]), Some(Query::CpuClockTest));
    assert_eq!(question(&["--minimal", "--version"]), Some(Query::Version));
    assert_eq!(question(&["--readonly"]), None);
}

#[test]
fn help_wins_over_whatever_follows_it() {
    assert!(matches!(read(&["--help", "--nonsense"]), Err(SettingsError::Help)));
}

#[test]
fn odd_values_are_refused_unless_fios_reading_is_selected() {
    assert_eq!(read(&[]).unwrap().strict, Dialect::Ferrio);
    assert_eq!(read(&["--strict=fio"]).unwrap().strict, Dialect::Fio);
    assert_eq!(read(&["--strict", "fio", "--strict=ferrio"]).unwrap().strict, Dialect::Ferrio);
    assert!(refusal(&["--strict=no"]).contains("choices are ferrio and fio"));
}

#[test]
fn global_is_no_section_to_run() {
    assert_eq!(refusal(&["--section=global"]), "can't use global as only section");
    assert_eq!(read(&["--section=a", "--section=b"]).unwrap().sections, ["a", "b"]);
}

#[test]
fn the_live_view_takes_the_place_of_the_progress_line_and_needs_a_run() {
    let has_view = |words: &[&str]| read(words).unwrap().has(ProgramOption::Tui);
    assert!(has_view(&["--tui", "--output=f"]) && !has_view(&[]));
    for option in ["--eta=always", "--eta=never", "--eta-interval=1s", "--eta-newline=1s"] {
        assert!(refusal(&["--tui", option]).contains("takes the place of the progress line"), "{option}");
    }
    assert!(refusal(&["--tui", "--repeat=2"]).contains("leave out --tui"));
    for option in ["--parse-only", "--showcmd", "--merge-blktrace-only"] {
        assert!(refusal(&[option, "--tui"]).contains("which run nothing"), "{option}");
    }
}

#[test]
fn a_format_that_allows_one_report_leaves_those_in_between_to_other_outputs() {
    let notes = |words: &[&str]| {
        let notes = read(&[words, &["--status-interval=1"]].concat()).unwrap().notes;
        notes.into_iter().map(|note| note.message).collect::<Vec<_>>()
    };
    let of = |words| vec![format!("--status-interval: only the final report is written as {words}")];
    assert_eq!(notes(&["-F", "json,html:a,rows:b"]), of("html, rows"));
    assert_eq!(notes(&["-F", "openmetrics,json:a"]), of("openmetrics"));
    assert!(notes(&["-F", "json,terse:a"]).is_empty());
    assert!(read(&["-F", "json,html:a"]).unwrap().notes.is_empty(), "without --status-interval");
    for words in ["html:a", "openmetrics,html:a"] {
        let refused = read(&["-F", words, "--status-interval=1"]);
        assert!(
            matches!(
                refused,
                Err(SettingsError::Conflict(OptionConflict { option: ProgramOption::StatusInterval, .. }))
            ),
            "{words}: {refused:?}"
        );
    }
}
