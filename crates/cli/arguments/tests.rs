//! Tests of the scanner.

use ferrio_job::Origin;
use proptest::prelude::*;

use super::*;
use crate::options;

fn try_scan(words: &[&str]) -> Result<Vec<Item>, Vec<Diagnostic>> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    let CommandLine { items, mistakes, .. } = scan(&words, 1, options::OPTIONS, Compat::Ferrio);
    if mistakes.is_empty() { Ok(items) } else { Err(mistakes) }
}

/// Items in a short form: `name=value` of jobs, `--name=value` of the program, `<file>`.
fn items(words: &[&str]) -> Vec<String> {
    let valued = |value: &Option<String>| value.as_ref().map(|value| format!("={value}")).unwrap_or_default();
    let short = |item: Item| match item {
        Item::Program { option, value, .. } => format!("--{option}{}", valued(&value)),
        Item::Job { name, value, .. } => format!("{name}{}", valued(&value)),
        Item::File(name) => format!("<{name}>"),
    };
    try_scan(words).unwrap().into_iter().map(short).collect()
}

fn refusal(words: &[&str]) -> String {
    let mistakes = try_scan(words).unwrap_err();
    let reported = mistakes.iter().map(|mistake| match &mistake.origin {
        Origin::Argument { index, .. } => format!("{index}: {}", mistake.message),
        other => panic!("{other:?}"),
    });
    reported.collect::<Vec<_>>().join("\n")
}

#[test]
fn nothing_after_a_query_counts() {
    for question in ["--help", "--version", "--cmdhelp=rw", "-crw", "--enghelp=libaio", "--enghelp"] {
        assert_eq!(items(&["--bs=1k", question, "--foo", "a.fio"]).len(), 2, "{question}");
    }
    assert!(try_scan(&["--foo", "--cmdhelp=rw"]).is_err());
}

#[test]
fn one_dash_or_two_and_a_value_after_an_equals_sign_or_a_space_mean_the_same() {
    for words in [&["--rw=read"][..], &["--rw", "read"], &["-rw=read"], &["-rw", "read"]] {
        assert_eq!(items(words), ["rw=read"], "{words:?}");
    }
}

#[test]
fn job_files_may_be_anywhere_and_dashes_end_options() {
    assert_eq!(items(&["a.fio", "--bs=1k", "-", "b.fio"]), ["<a.fio>", "bs=1k", "<->", "<b.fio>"]);
    assert_eq!(items(&["--", "--bs=1k", "-x"]), ["<--bs=1k>", "<-x>"]);
}

#[test]
fn an_unambiguous_prefix_is_enough() {
    assert_eq!(items(&["--numj=4", "--showc"]), ["numjobs=4", "--showcmd"]);
    assert_eq!(items(&["--blocksize_un=1"]), ["blocksize_unaligned=1"]);
    assert_eq!(items(&["--output=x", "--size=4k"]), ["--output=x", "size=4k"]);
}

#[test]
fn a_flag_takes_its_value_only_after_an_equals_sign() {
    assert_eq!(items(&["--norandommap", "0"]), ["norandommap", "<0>"]);
    assert_eq!(items(&["--thread=0"]), ["thread=0"]);
    assert_eq!(items(&["--direct", "1"]), ["direct=1"]);
    assert_eq!(items(&["--write_bw_log", "--x"]), ["write_bw_log=--x"]);
}

#[test]
fn letters_may_be_joined_and_their_value_attached() {
    assert_eq!(items(&["-Ps"]), ["--parse-only", "--showcmd"]);
    assert_eq!(items(&["-oX", "-o", "Y"]), ["--output=X", "--output=Y"]);
    assert_eq!(items(&["-cbs"]), ["--cmdhelp=bs"]);
    assert_eq!(items(&["-b", "agg", "-bagg"]), ["--bandwidth-log", "<agg>", "--bandwidth-log=agg"]);
    assert_eq!(items(&["-Pxone"]), ["--parse-only", "--section=one"]);
}

#[test]
fn private_options_follow_their_engine_in_the_same_job_or_the_globals() {
    assert_eq!(
        items(&["--ioengine=io_uring", "--name=a", "--hipri"]),
        ["ioengine=io_uring", "name=a", "hipri"]
    );
    assert_eq!(items(&["--name=a", "--ioengine=aio", "--userspace_r"]).last().unwrap(), "userspace_reap");
    assert!(try_scan(&["--name=a", "--ioengine=libaio", "--name=b", "--userspace_reap"]).is_err());
    assert!(try_scan(&["--ioengine=libaio", "--ioengine=psync", "--userspace_reap"]).is_err());
    let reopened =
        ["--name=a", "--ioengine=libaio", "--name=global", "--ioengine=io_uring", "--name=b", "--hipri"];
    assert!(try_scan(&reopened).is_ok());
}

#[test]
fn nothing_after_help_counts() {
    assert_eq!(items(&["--help", "--nonsense"]), ["--help"]);
    assert_eq!(items(&["-v", "--nonsense"]), ["--version"]);
}

#[test]
fn a_place_is_the_argument_with_its_value() {
    let items = try_scan(&["--name=a", "--bs", "4k"]).unwrap();
    let Item::Job { origin, .. } = &items[1] else { panic!("a job option is expected") };
    assert_eq!((origin.index, origin.text.as_str()), (2, "--bs 4k"));
}

#[test]
fn a_program_option_has_a_place_too() {
    let text = |words: &[&str]| match &try_scan(words).unwrap()[..] {
        [.., Item::Program { origin, .. }] => (origin.index, origin.text.clone()),
        other => panic!("{other:?}"),
    };
    assert_eq!(text(&["--name=a", "--eta", "never"]), (2, "--eta never".to_owned()));
    assert_eq!(text(&["x", "-o", "y"]), (2, "-o y".to_owned()));
    assert_eq!(text(&["-Poy"]), (1, "-Poy".to_owned()));
}

#[test]
fn mistakes_are_reported_in_one_go() {
    let reported = [
        refusal(&["--outpt=x", "--out=o2", "--rw=", "--name=", "--readonly=1", "--=x", "-Pq", "--rw"]),
        refusal(&["--name=a", "--userspace_reap", "--ioengine=libaio"]),
        refusal(&["--quantum_flux=3", "-o"]),
    ];
    insta::assert_snapshot!(reported.join("\n"), @r#"
    1: unrecognized option '--outpt=x'
    2: option '--out=o2' is ambiguous
    3: option rw requires an argument
    4: option name requires an argument
    5: option '--readonly' doesn't allow an argument
    6: unrecognized option '--=x'
    7: unrecognized option '-Pq'
    8: option '--rw' requires an argument
    2: unrecognized option '--userspace_reap'
    1: unrecognized option '--quantum_flux=3'
    2: option '-o' requires an argument
    "#);
}

#[test]
fn a_misspelt_engine_option_does_not_make_the_next_ones_wrong() {
    assert_eq!(
        refusal(&["--name=a", "--ioengin=libaio", "--ioegine=libaio", "--userspace_reap"]),
        "3: unrecognized option '--ioegine=libaio'"
    );
}

#[test]
fn arguments_that_are_not_utf_8_are_reported_by_number() {
    use std::os::unix::ffi::OsStringExt;
    let words = [b"--name=a".to_vec(), b"--filename=\xff".to_vec(), b"\xfe.fio".to_vec()];
    let words: Vec<OsString> = words.into_iter().map(OsString::from_vec).collect();
    let invalid = read(&words, 1, options::OPTIONS, Compat::Ferrio);
    let reported: Vec<_> = invalid.mistakes.iter().map(|mistake| mistake.message.as_str()).collect();
    let want =
        ["argument 2 is not valid UTF-8: --filename=\u{fffd}", "argument 3 is not valid UTF-8: \u{fffd}.fio"];
    assert_eq!(reported, want);
}

proptest! {
    #[test]
    fn no_command_line_makes_the_scanner_panic(words in prop::collection::vec(word(), 0..6)) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let _ = try_scan(&words);
    }

    #[test]
    fn every_argument_ends_up_in_one_item_or_in_an_error(names in prop::collection::vec("[a-z./]{1,8}", 0..6)) {
        let words: Vec<&str> = names.iter().map(String::as_str).collect();
        let files: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
        prop_assert_eq!(items(&words), files);
    }
}

/// Words that often look like options.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "-{0,3}[a-zA-Z_+-]{0,12}(=.{0,6})?",
        prop::sample::select(option_names("io_uring", Compat::Ferrio).collect::<Vec<_>>())
            .prop_map(|name| format!("--{name}")),
        "-[oFxPsrwhvcié=]{1,5}",
    ]
}
