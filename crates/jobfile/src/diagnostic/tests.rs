//! Snapshots of what users get to read.

use super::*;
use crate::origin::ArgOrigin;
use crate::{Builder, Environment};

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
fn an_unknown_option_gets_a_suggestion() {
    insta::assert_snapshot!(shown("[a]\niodpeth=32\n"), @r#"
    error: unknown option `iodpeth`
     --> x.fio:2:1
      |
    2 | iodpeth=32
      | ^^^^^^^ did you mean `iodepth`?

    note: job a dropped
    "#);
}

#[test]
fn an_unknown_option_like_no_other_gets_none() {
    insta::assert_snapshot!(shown("[a]\nquantum_flux=1\n"), @r#"
    error: unknown option `quantum_flux`
     --> x.fio:2:1
      |
    2 | quantum_flux=1
      | ^^^^^^^^^^^^ no such option

    note: job a dropped
    "#);
}

#[test]
fn an_option_of_other_engines_names_them() {
    insta::assert_snapshot!(shown("[a]\nhipri\n"), @r#"
    error: option `hipri` belongs to engines io_uring, io_uring_cmd, libblkio, sg, pvsync2, xnvme; this job uses psync
     --> x.fio:2:1
      |
    2 | hipri
      | ^^^^^ not an option of psync
      |
      = help: choose the engine with `ioengine=io_uring`, or remove the option

    note: job a dropped
    "#);
}

#[test]
fn an_option_of_an_engine_nobody_knows_is_not_blamed_on_the_user() {
    insta::assert_snapshot!(shown("[a]\nioengine=spdk\nspdk_mem=2\n"), @r#"
    error: unknown option `spdk_mem`
     --> x.fio:3:1
      |
    3 | spdk_mem=2
      | ^^^^^^^^
      |
      = help: private options of engine spdk are not known here

    note: job a dropped
    "#);
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
fn a_limit_is_told() {
    insta::assert_snapshot!(shown("[a]\nbs=4k,0\n"), @r#"
    error: invalid value `4k,0` for option `bs`
     --> x.fio:2:7
      |
    2 | bs=4k,0
      |       ^ the minimum is 1
      |
      = help: fio reads this as 4096 bytes for reads, nothing for writes, nothing for trims; to have that, use --strict=fio

    note: job a dropped
    "#);
}

#[test]
fn a_wrong_word_lists_the_choices() {
    insta::assert_snapshot!(shown("[a]\nrw=reads\n"), @r#"
    error: invalid value `reads` for option `rw`
     --> x.fio:2:4
      |
    2 | rw=reads
      |    ^^^^^ did you mean `read`?
      |
      = help: choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite

    note: job a dropped
    "#);
}

#[test]
fn a_missing_value_names_the_option() {
    insta::assert_snapshot!(shown("[a]\nsize\n"), @r#"
    error: option `size` requires a value
     --> x.fio:2:1
      |
    2 | size
      | ^^^^ a value is expected

    note: job a dropped
    "#);
}

#[test]
fn an_empty_value_is_blamed_on_the_variable() {
    insta::assert_snapshot!(shown("[a]\nsize=${NOPE}\n"), @r#"
    error: option `size` has an empty value
     --> x.fio:2:1
      |
    2 | size=${NOPE}
      | ^^^^ a value is expected
      |
      = help: the variable `NOPE` is not set

    note: job a dropped
    "#);
}

#[test]
fn an_option_before_any_section_is_outside() {
    insta::assert_snapshot!(shown("size=4k\n[a]\n"), @r#"
    error: option `size=4k` outside of a [] job section
     --> x.fio:1:1
      |
    1 | size=4k
      | ^^^^ no section has begun yet
      |
      = help: begin a section first: `[global]` for defaults, any other name for a job
    "#);
}

#[test]
fn an_open_bracket_is_pointed_at() {
    insta::assert_snapshot!(shown("[a\nsize=4k\n"), @r#"
    error: section without `]`
     --> x.fio:1:1
      |
    1 | [a
      | ^^ the closing `]` is missing
    "#);
}

#[test]
fn text_behind_a_section_is_not_part_of_its_name() {
    insta::assert_snapshot!(shown("[a] trailing\n"), @r#"
    error: text after the `]` of a section
     --> x.fio:1:1
      |
    1 | [a] trailing
      | ^^^^^^^^^^^^ the section's name ends before this line does
    "#);
}

#[test]
fn a_missing_include_is_an_error() {
    insta::assert_snapshot!(shown("[a]\ninclude gone.inc\nsize=4k\n"), @r#"
    error: cannot read the include file `gone.inc`
     --> x.fio:2:9
      |
    2 | include gone.inc
      |         ^^^^^^^^ entity not found
    "#);
}

#[test]
fn a_withdrawn_option_says_so() {
    insta::assert_snapshot!(shown("[a]\npercentage_sequential=50\n"), @r#"
    error: option `percentage_sequential` is deprecated and was removed
     --> x.fio:2:1
      |
    2 | percentage_sequential=50
      | ^^^^^^^^^^^^^^^^^^^^^ no longer supported
      |
      = help: use `percentage_random`

    note: job a dropped
    "#);
}

#[test]
fn columns_count_characters() {
    insta::assert_snapshot!(shown("[a]\npercentile_list=50:ää:200\n"), @r#"
    error: invalid value `50:ää:200` for option `percentile_list`
     --> x.fio:2:20
      |
    2 | percentile_list=50:ää:200
      |                    ^^ a number is expected
      |
      = help: fio reads this as 50; to have that, use --strict=fio

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
