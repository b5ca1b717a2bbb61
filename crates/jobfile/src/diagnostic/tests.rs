//! How diagnostics look. The tests of the whole program show each kind of mistake.

use super::*;
use crate::catalogue::option_names;
use crate::{Builder, Environment};
use ferrio_job::{ArgOrigin, Compat};

fn shown(file: &str) -> String {
    let mut builder = Builder::new(Environment::default());
    builder.file("x.fio", file.as_bytes());
    builder.finish().expect_err(file).render(false)
}

fn warned(file: &str) -> String {
    let mut builder = Builder::new(Environment::default());
    builder.file("x.fio", file.as_bytes());
    let jobs = builder.finish().expect("only a warning");
    diagnostics_render(&jobs.warnings, &jobs.sources, false)
}

fn typed(options: &[(&str, &str, &str)]) -> String {
    let mut builder = Builder::new(Environment::default());
    for (index, (name, value, text)) in (1..).zip(options) {
        builder.command_option(name, Some(value), ArgOrigin { index, text: (*text).to_owned() });
    }
    builder.finish().expect_err("every option is wrong").render(false)
}

#[test]
fn a_bad_suffix_is_pointed_at() {
    insta::assert_snapshot!(shown("[a]\n\truntime = 10sec ; ten\n"), @r#"
    error: invalid value `10sec` for option `runtime`
     --> x.fio:2:14
      |
    2 |     runtime = 10sec ; ten
      |                 ^^^ unknown time suffix
      |
      = help: fio reads this as 10 us; write `10s`, or use --strict=fio

    note: job a dropped
    "#);
}

#[test]
fn an_ignored_option_is_a_warning_and_no_error() {
    insta::assert_snapshot!(warned("[a]\nverifysort=1\n"), @r#"
    warning: option `verifysort` is deprecated and has no effect
     --> x.fio:2:1
      |
    2 | verifysort=1
      | ^^^^^^^^^^
    "#);
}

#[test]
fn arguments_of_the_command_line_are_shown_as_typed() {
    insta::assert_snapshot!(typed(&[("iodepth", "0", "--iodepth=0"), ("rw", "reads", "--rw reads")]), @r#"
    error: invalid value `0` for option `iodepth`
     --> argument 1: --iodepth=0
      |
    1 | --iodepth=0
      |           ^ the minimum is 1

    error: invalid value `reads` for option `rw`
     --> argument 2: --rw reads
      |
    2 | --rw reads
      |      ^^^^^ did you mean `read`?
      |
      = help: choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite
    "#);
}

#[test]
fn very_many_errors_are_cut_short() {
    let text = shown(&format!("[a]\n{}", "nonsense=1\n".repeat(1000)));
    assert!(text.contains("unknown option `nonsense`") && text.ends_with("... and 801 more\n\n"), "{text}");
}

#[test]
fn colours_are_only_used_when_asked_for() {
    let mut builder = Builder::new(Environment::default());
    builder.file("x.fio", b"[a]\nsize\n");
    let problems = builder.finish().expect_err("size needs a value");
    assert!(problems.render(true).contains("\u{1b}[") && !problems.render(false).contains('\u{1b}'));
}

#[test]
fn typing_errors_are_recognised_and_other_words_are_not() {
    for (typed, want) in [
        ("iodpeth", Some("iodepth")),
        ("siz", Some("size")),
        ("block_size", Some("blocksize")),
        ("runtimes", Some("runtime")),
        ("rwmixraed", Some("rwmixread")),
        ("BS", Some("bs")),
        ("quantum_flux", None),
        ("7", None),
        ("", None),
    ] {
        assert_eq!(nearest(typed, option_names("psync", Compat::Fio)), want, "{typed}");
    }
}
