//! Values of options.

use super::of;

#[test]
fn a_word_that_is_no_choice() {
    insta::assert_snapshot!(of("[a]\nrw=quickly\n"), @r#"
    [not-a-choice] [job-dropped]
    error: invalid value `quickly` for option `rw`
     --> x.fio:2:4
      |
    2 | rw=quickly
      |    ^^^^^^^ not one of the choices
      |
      = help: choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite

    note: job a dropped
    "#);
}

#[test]
fn a_misspelt_choice() {
    insta::assert_snapshot!(of("[a]\nrw=raed\n"), @r#"
    [not-a-choice -> read] [job-dropped]
    error: invalid value `raed` for option `rw`
     --> x.fio:2:4
      |
    2 | rw=raed
      |    ^^^^ did you mean `read`?
      |
      = help: choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite

    note: job a dropped
    "#);
}

#[test]
fn text_where_a_number_belongs() {
    insta::assert_snapshot!(of("[a]\niodepth=many\n"), @r#"
    [not-a-number] [job-dropped]
    error: invalid value `many` for option `iodepth`
     --> x.fio:2:9
      |
    2 | iodepth=many
      |         ^^^^ a number is expected

    note: job a dropped
    "#);
}

#[test]
fn a_number_below_the_minimum() {
    insta::assert_snapshot!(of("[a]\niodepth=0\n"), @r#"
    [out-of-range] [job-dropped]
    error: invalid value `0` for option `iodepth`
     --> x.fio:2:9
      |
    2 | iodepth=0
      |         ^ the minimum is 1

    note: job a dropped
    "#);
}

#[test]
fn a_number_above_the_maximum() {
    insta::assert_snapshot!(of("[a]\nrwmixread=101\n"), @r#"
    [out-of-range] [job-dropped]
    error: invalid value `101` for option `rwmixread`
     --> x.fio:2:11
      |
    2 | rwmixread=101
      |           ^^^ the maximum is 100

    note: job a dropped
    "#);
}

#[test]
fn a_switch_above_one() {
    insta::assert_snapshot!(of("[a]\ndirect=2\n"), @r#"
    [out-of-range] [job-dropped]
    error: invalid value `2` for option `direct`
     --> x.fio:2:8
      |
    2 | direct=2
      |        ^ the maximum is 1
      |
      = help: write 1 for on or 0 for off

    note: job a dropped
    "#);
}

#[test]
fn a_word_for_a_switch() {
    insta::assert_snapshot!(of("[a]\ndirect=yes\n"), @r#"
    [invalid-value] [job-dropped]
    error: invalid value `yes` for option `direct`
     --> x.fio:2:8
      |
    2 | direct=yes
      |        ^^^ words are not accepted here
      |
      = help: write 1 for on or 0 for off

    note: job a dropped
    "#);
}

#[test]
fn an_unknown_size_suffix() {
    insta::assert_snapshot!(of("[a]\nsize=4x\n"), @"
    [unknown-suffix] [job-dropped]
    error: invalid value `4x` for option `size`
     --> x.fio:2:7
      |
    2 | size=4x
      |       ^ unknown suffix
      |
      = help: suffixes are k, m, g, t and p, also as kb, mb ... and kib, mib ...; fio reads this as 4 bytes, and so does --strict=fio

    note: job a dropped
    ");
}

#[test]
fn an_unknown_time_suffix() {
    insta::assert_snapshot!(of("[a]\nruntime=10sec\n"), @"
    [unknown-suffix] [job-dropped]
    error: invalid value `10sec` for option `runtime`
     --> x.fio:2:11
      |
    2 | runtime=10sec
      |           ^^^ unknown time suffix
      |
      = help: fio reads this as 10 us; write `10s`, or use --strict=fio

    note: job a dropped
    ");
}

#[test]
fn a_time_suffix_on_a_count_of_milliseconds() {
    insta::assert_snapshot!(of("[a]\nlog_avg_msec=1s\n"), @"
    [unknown-suffix] [job-dropped]
    error: invalid value `1s` for option `log_avg_msec`
     --> x.fio:2:15
      |
    2 | log_avg_msec=1s
      |               ^ no time suffixes here
      |
      = help: fio reads this as 1; write `1000`, or use --strict=fio

    note: job a dropped
    ");
}

#[test]
fn zones_where_there_are_none() {
    insta::assert_snapshot!(of("[a]\nbs=4z\n"), @r#"
    [unknown-suffix] [job-dropped]
    error: invalid value `4z` for option `bs`
     --> x.fio:2:5
      |
    2 | bs=4z
      |     ^ `z` (zones) is not applicable to this option

    note: job a dropped
    "#);
}

#[test]
fn a_percentage_above_hundred() {
    insta::assert_snapshot!(of("[a]\nsize=101%\n"), @"
    [invalid-value] [job-dropped]
    error: invalid value `101%` for option `size`
     --> x.fio:2:6
      |
    2 | size=101%
      |      ^^^^ a percentage is a whole number from 0 to 100
      |
      = help: fio reads this as 18446744073709551514 bytes; to have that, use --strict=fio

    note: job a dropped
    ");
}

#[test]
fn a_fraction() {
    insta::assert_snapshot!(of("[a]\nsize=1.5g\n"), @"
    [invalid-value] [job-dropped]
    error: invalid value `1.5g` for option `size`
     --> x.fio:2:7
      |
    2 | size=1.5g
      |       ^^^ fractions are not allowed here
      |
      = help: fio reads this as 1 byte; write `(1.5g)`, or use --strict=fio

    note: job a dropped
    ");
}

#[test]
fn the_second_of_several_values() {
    insta::assert_snapshot!(of("[a]\nbs=4k,0,8k\n"), @"
    [out-of-range] [job-dropped]
    error: invalid value `4k,0,8k` for option `bs`
     --> x.fio:2:7
      |
    2 | bs=4k,0,8k
      |       ^ the minimum is 1
      |
      = help: fio reads this as 4096 bytes for reads, nothing for writes, 8192 bytes for trims; to have that, use --strict=fio

    note: job a dropped
    ");
}

#[test]
fn a_range_with_one_end() {
    insta::assert_snapshot!(of("[a]\nbsrange=4k\n"), @r#"
    [invalid-value] [job-dropped]
    error: invalid value `4k` for option `bsrange`
     --> x.fio:2:9
      |
    2 | bsrange=4k
      |         ^^ two bounds are expected
      |
      = help: write `low-high`, for example `4k-64k`

    note: job a dropped
    "#);
}

#[test]
fn a_broken_expression() {
    insta::assert_snapshot!(of("[a]\nbs=(4k+)\n"), @r#"
    [invalid-value] [job-dropped]
    error: invalid value `(4k+)` for option `bs`
     --> x.fio:2:8
      |
    2 | bs=(4k+)
      |        ^ a number is expected here

    note: job a dropped
    "#);
}

#[test]
fn columns_of_wide_characters() {
    insta::assert_snapshot!(of("[ä]\npercentile_list=50:ää:200\n"), @"
    [invalid-value] [job-dropped]
    error: invalid value `50:ää:200` for option `percentile_list`
     --> x.fio:2:20
      |
    2 | percentile_list=50:ää:200
      |                    ^^ a number is expected
      |
      = help: fio reads this as 50; to have that, use --strict=fio

    note: job ä dropped
    ");
}

#[test]
fn an_option_without_its_value() {
    insta::assert_snapshot!(of("[a]\nsize\n"), @r#"
    [missing-value] [job-dropped]
    error: option `size` requires a value
     --> x.fio:2:1
      |
    2 | size
      | ^^^^ a value is expected

    note: job a dropped
    "#);
}

#[test]
fn an_option_with_an_empty_value() {
    insta::assert_snapshot!(of("[a]\nnorandommap=\n"), @r#"
    [empty-value] [job-dropped]
    error: option `norandommap` has an empty value
     --> x.fio:2:1
      |
    2 | norandommap=
      | ^^^^^^^^^^^ a value is expected
      |
      = help: write `norandommap` alone to switch it on, `norandommap=0` to switch it off

    note: job a dropped
    "#);
}

#[test]
fn an_unset_variable() {
    insta::assert_snapshot!(of("[a]\nsize=${FERRIO_TEST_NOT_SET}\n"), @r#"
    [empty-value] [job-dropped]
    error: option `size` has an empty value
     --> x.fio:2:1
      |
    2 | size=${FERRIO_TEST_NOT_SET}
      | ^^^^ a value is expected
      |
      = help: the variable `FERRIO_TEST_NOT_SET` is not set

    note: job a dropped
    "#);
}

#[test]
fn a_variable_without_braces() {
    insta::assert_snapshot!(of("[a]\niodepth=$IODEPTH\n"), @r#"
    [not-a-number] [job-dropped]
    error: invalid value `$IODEPTH` for option `iodepth`
     --> x.fio:2:9
      |
    2 | iodepth=$IODEPTH
      |         ^^^^^^^^ a number is expected
      |
      = help: variables need braces: write `${IODEPTH}`

    note: job a dropped
    "#);
}

#[test]
fn a_directory_with_a_variable_without_braces() {
    insta::assert_snapshot!(of("[a]\nioengine=null\nsize=4k\ndirectory=/tmp/$PATH\nfilename=x.$jobname.$NO_SUCH\n"), @r#"
    [literal-variable] [not-a-directory]
    warning: `$PATH` in option `directory` is taken literally, not replaced by the variable PATH
     --> x.fio:4:11
      |
    4 | directory=/tmp/$PATH
      |           ^^^^^^^^^^
      |
      = help: variables need braces: write `${PATH}`

    error: /tmp/$PATH is not a directory
     --> x.fio:4:11
      |
    4 | directory=/tmp/$PATH
      |           ^^^^^^^^^^
      |
      = help: create it first: only directories inside file names are created
    "#);
}
