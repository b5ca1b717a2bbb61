//! What users get to read for their mistakes, one snapshot per kind, through the whole program: place, line, caret, advice; and the
//! kind's name, which `--message-format=json` gives and which does not change.

use std::fs;

use serde_json::Value;

use crate::support::{Place, Run};

/// Files of a test beside the working directory, and the working directory is where programs run.
fn place(files: &[(&str, &[u8])]) -> Place {
    let place = Place::new();
    for (name, text) in files {
        let path = place.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place
}

/// The objects of `--message-format=json`, one per line, and nothing else.
#[track_caller]
fn objects(run: &Run) -> Vec<Value> {
    let object = |line: &str| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"));
    run.stderr.lines().map(object).collect()
}

/// What is said of these arguments, refused with status 1: the kinds of mistakes, then the text. Both renderers must agree.
#[track_caller]
fn said(files: &[(&str, &[u8])], words: &[&str]) -> String {
    let place = place(files);
    let human = place.ferrio(words).run().ended_with(1);
    assert_eq!(human.stdout, "");
    let asked: Vec<&str> = ["--message-format=json"].into_iter().chain(words.iter().copied()).collect();
    let machine = place.ferrio(&asked).run().ended_with(1);
    assert_eq!(machine.stdout, "");
    let objects = objects(&machine);
    let text = |object: &Value, key: &str| object[key].as_str().unwrap_or("-").to_owned();
    // Numbers of arguments differ, because there was one more: compare what was not on the command line.
    for object in objects.iter().filter(|object| object["argument"].is_null()) {
        assert!(human.stderr.contains(text(object, "rendered").trim_end()), "{object:#}\n{}", human.stderr);
    }
    let kind = |object: &Value| match object["suggestion"].as_str() {
        Some(suggestion) => format!("[{} -> {suggestion}]", text(object, "code")),
        None => format!("[{}]", text(object, "code")),
    };
    let kinds: Vec<String> = objects.iter().map(kind).collect();
    format!("{}\n{}", kinds.join(" "), human.stderr.trim_end())
}

/// What is said of one job file.
#[track_caller]
fn of(text: &str) -> String {
    said(&[("x.fio", text.as_bytes())], &["x.fio"])
}

/// What is said of a job file's bytes.
#[track_caller]
fn of_bytes(text: &[u8]) -> String {
    said(&[("x.fio", text)], &["x.fio"])
}

/// What is said of a command line.
#[track_caller]
fn typed(words: &[&str]) -> String {
    said(&[], words)
}

#[test]
fn an_unknown_option() {
    insta::assert_snapshot!(of("[a]\nquantum_flux=1\n"), @r#"
    [unknown-option] [job-dropped]
    error: unknown option `quantum_flux`
     --> x.fio:2:1
      |
    2 | quantum_flux=1
      | ^^^^^^^^^^^^

    note: job a dropped
    "#);
}

#[test]
fn a_misspelt_option() {
    insta::assert_snapshot!(of("[a]\nsize=4k\n  iodpeth = 32 ; deep\n"), @r#"
    [unknown-option -> iodepth] [job-dropped]
    error: unknown option `iodpeth`
     --> x.fio:3:3
      |
    3 |   iodpeth = 32 ; deep
      |   ^^^^^^^ did you mean `iodepth`?

    note: job a dropped
    "#);
}

#[test]
fn a_misspelt_option_of_another_engine() {
    insta::assert_snapshot!(of("[a]\nuserspace_raep\n"), @r#"
    [unknown-option -> userspace_reap] [job-dropped]
    error: unknown option `userspace_raep`
     --> x.fio:2:1
      |
    2 | userspace_raep
      | ^^^^^^^^^^^^^^ did you mean `userspace_reap`, an option of engine libaio?

    note: job a dropped
    "#);
}

#[test]
fn an_option_of_another_engine() {
    insta::assert_snapshot!(of("[a]\nioengine=null\nhipri\n"), @r#"
    [option-of-other-engine] [job-dropped]
    error: option `hipri` belongs to engines io_uring, io_uring_cmd, libblkio, sg, pvsync2, xnvme; this job uses null
     --> x.fio:3:1
      |
    3 | hipri
      | ^^^^^ not an option of null
      |
      = help: choose the engine with `ioengine=io_uring`, or remove the option

    note: job a dropped
    "#);
}

#[test]
fn an_option_of_an_engine_nobody_knows() {
    insta::assert_snapshot!(of("[a]\nioengine=spdk\nspdk_mem=2\n"), @r#"
    [unknown-option] [job-dropped]
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
fn an_option_name_in_capitals() {
    insta::assert_snapshot!(of("[a]\nBS=4k\n"), @r#"
    [unknown-option -> bs] [job-dropped]
    error: unknown option `BS`
     --> x.fio:2:1
      |
    2 | BS=4k
      | ^^ did you mean `bs`?

    note: job a dropped
    "#);
}

#[test]
fn a_removed_option() {
    insta::assert_snapshot!(of("[a]\npercentage_sequential=50\n"), @r#"
    [removed-option] [job-dropped]
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
fn an_option_without_implementation() {
    insta::assert_snapshot!(of("[a]\nioengine=null\nsize=4k\nexperimental_verify=1\n"), @r#"
    [unimplemented-value]
    error: option `experimental_verify` is not implemented yet
     --> x.fio:4:21
      |
    4 | experimental_verify=1
      |                     ^ does more than nothing
      |
      = help: only `0` is accepted; take the option out to run the job without it
    "#);
}

#[test]
fn an_option_that_cannot_work_here() {
    insta::assert_snapshot!(of("[a]\nioengine=null\nsize=4k\ngpu_dev_id=1\n"), @r#"
    [unavailable-option]
    error: option `gpu_dev_id` is not available: needs CUDA
     --> x.fio:4:1
      |
    4 | gpu_dev_id=1
      | ^^^^^^^^^^
    "#);
}

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
    insta::assert_snapshot!(of("[a]\nsize=4x\n"), @r#"
    [unknown-suffix] [job-dropped]
    error: invalid value `4x` for option `size`
     --> x.fio:2:7
      |
    2 | size=4x
      |       ^ unknown suffix
      |
      = help: known are k, m, g, t and p, also as kb, mb ... and kib, mib ...

    note: job a dropped
    "#);
}

#[test]
fn an_unknown_time_suffix() {
    insta::assert_snapshot!(of("[a]\nruntime=10sec\n"), @r#"
    [unknown-suffix] [job-dropped]
    error: invalid value `10sec` for option `runtime`
     --> x.fio:2:11
      |
    2 | runtime=10sec
      |           ^^^ unknown time suffix
      |
      = help: known are d, h, m, s, ms, us, msec and usec, one per value

    note: job a dropped
    "#);
}

#[test]
fn a_time_suffix_on_a_count_of_milliseconds() {
    insta::assert_snapshot!(of("[a]\nlog_avg_msec=1s\n"), @r#"
    [unknown-suffix] [job-dropped]
    error: invalid value `1s` for option `log_avg_msec`
     --> x.fio:2:15
      |
    2 | log_avg_msec=1s
      |               ^ no time suffixes here
      |
      = help: this option counts milliseconds; write the number only

    note: job a dropped
    "#);
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
    insta::assert_snapshot!(of("[a]\nsize=101%\n"), @r#"
    [invalid-value] [job-dropped]
    error: invalid value `101%` for option `size`
     --> x.fio:2:6
      |
    2 | size=101%
      |      ^^^^ a percentage is a whole number from 0 to 100

    note: job a dropped
    "#);
}

#[test]
fn a_fraction() {
    insta::assert_snapshot!(of("[a]\nsize=1.5g\n"), @r#"
    [invalid-value] [job-dropped]
    error: invalid value `1.5g` for option `size`
     --> x.fio:2:7
      |
    2 | size=1.5g
      |       ^^^ a fraction is not possible here
      |
      = help: whole numbers only; an expression may have fractions: `(1.5g)`

    note: job a dropped
    "#);
}

#[test]
fn the_second_of_several_values() {
    insta::assert_snapshot!(of("[a]\nbs=4k,0,8k\n"), @r#"
    [out-of-range] [job-dropped]
    error: invalid value `4k,0,8k` for option `bs`
     --> x.fio:2:7
      |
    2 | bs=4k,0,8k
      |       ^ the minimum is 1

    note: job a dropped
    "#);
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
    insta::assert_snapshot!(of("[ä]\npercentile_list=50:ää:200\n"), @r#"
    [invalid-value] [job-dropped]
    error: invalid value `50:ää:200` for option `percentile_list`
     --> x.fio:2:20
      |
    2 | percentile_list=50:ää:200
      |                    ^^ a number is expected

    note: job ä dropped
    "#);
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
fn an_option_before_any_section() {
    insta::assert_snapshot!(of("\n  size=4k\n[a]\n"), @r#"
    [outside-section]
    error: option `size=4k` outside of a [] job section
     --> x.fio:2:3
      |
    2 |   size=4k
      |   ^^^^ no section has begun yet
      |
      = help: begin a section first: `[global]` for defaults, any other name for a job
    "#);
}

#[test]
fn an_include_before_any_section() {
    insta::assert_snapshot!(of("include i\n[a]\n"), @r#"
    [outside-section]
    error: option `include i` outside of a [] job section
     --> x.fio:1:9
      |
    1 | include i
      |         ^ no section has begun yet
      |
      = help: begin a section first: `[global]` for defaults, any other name for a job
    "#);
}

#[test]
fn a_section_without_its_bracket() {
    insta::assert_snapshot!(of("[a\nsize=4k\n"), @r#"
    [unclosed-section -> [a]]
    error: section without `]`
     --> x.fio:1:1
      |
    1 | [a
      | ^^ the closing `]` is missing
    "#);
}

#[test]
fn text_behind_a_section() {
    insta::assert_snapshot!(of("[a] trailing\nsize=4k\n"), @r#"
    [text-after-section -> [a]]
    error: text after the `]` of a section
     --> x.fio:1:1
      |
    1 | [a] trailing
      | ^^^^^^^^^^^^ the section's name ends before this line does
    "#);
}

#[test]
fn a_bracket_in_a_section_name() {
    insta::assert_snapshot!(of("[a]b]\nsize=4k\n"), @r#"
    [bracket-in-section -> [a]]
    error: section name with a `]` in it
     --> x.fio:1:1
      |
    1 | [a]b]
      | ^^^^^ a name ends at the first `]`
    "#);
}

#[test]
fn a_byte_order_mark() {
    insta::assert_snapshot!(of("\u{feff}[a]\nsize=4k\n"), @r#"
    [byte-order-mark]
    error: the file begins with a byte order mark
     --> x.fio:1:1
      |
    1 | ﻿[a]
      | ^ an invisible U+FEFF stands before this line
      |
      = help: save the file as UTF-8 without a byte order mark
    "#);
}

#[test]
fn bytes_that_are_no_text() {
    insta::assert_snapshot!(of_bytes(b"[a]\n\n  description=gr\xfc\xdfe\n"), @r#"
    [not-utf-8]
    error: text that is not UTF-8
     --> x.fio:3:17
      |
    3 |   description=gr��e
      |                 ^ unreadable from here
      |
      = help: save the file as UTF-8; other bytes may only stand in comments
    "#);
}

#[test]
fn a_nul_byte() {
    insta::assert_snapshot!(of("[a]\nsize=4\0k\n"), @r#"
    [nul-byte]
    error: a NUL byte in the text
     --> x.fio:2:7
      |
    2 | size=4␀k
      |       ^ unreadable from here
      |
      = help: a job file is plain text; UTF-16 has to be saved as UTF-8
    "#);
}

#[test]
fn a_job_file_that_is_not_there() {
    insta::assert_snapshot!(typed(&["gone.fio"]), @r#"
    [unreadable-job-file]
    error: unable to open 'gone.fio' job file: No such file or directory
    "#);
}

#[test]
fn a_directory_as_job_file() {
    insta::assert_snapshot!(typed(&["."]), @r#"
    [unreadable-job-file]
    error: unable to open '.' job file: Is a directory
    "#);
}

#[test]
fn a_file_without_jobs() {
    insta::assert_snapshot!(of("[global]\nbs=4k\n").split("Measures").next().unwrap_or_default().trim_end(), @r#"
    [no-jobs]
    error: No job(s) defined
     |
     = help: name a job file, or begin a job with --name=
    "#);
}

#[test]
fn an_include_that_is_not_there() {
    insta::assert_snapshot!(said(&[("d/x.fio", b"[a]\ninclude gone.inc\n")], &["d/x.fio"]), @r#"
    [unreadable-include]
    error: cannot read the include file `gone.inc`
     --> d/x.fio:2:9
      |
    2 | include gone.inc
      |         ^^^^^^^^ No such file or directory
      |
      = help: `d/gone.inc` was tried as well
    "#);
}

#[test]
fn an_include_without_a_name() {
    insta::assert_snapshot!(of("[a]\ninclude\n"), @r#"
    [missing-value]
    error: `include` without a file name
     --> x.fio:2:8
      |
    2 | include
      |        ^ write `include file`
    "#);
}

#[test]
fn an_include_that_leads_back() {
    insta::assert_snapshot!(said(&[("x.fio", b"[a]\ninclude i\n"), ("i", b"bs=4k\ninclude k\n"), ("k", b"include = i ; again\n")], &["x.fio"]), @r#"
    [circular-include]
    error: the include file `i` leads back to itself
     --> k:1:11
      |
    1 | include = i ; again
      |           ^ goes no further
      |
      = help: `x.fio` includes `i` includes `k` includes `i`
    "#);
}

#[test]
fn an_include_of_the_job_file_itself() {
    insta::assert_snapshot!(of("[a]\ninclude x.fio\n"), @r#"
    [circular-include]
    error: the include file `x.fio` leads back to itself
     --> x.fio:2:9
      |
    2 | include x.fio
      |         ^^^^^ goes no further
      |
      = help: `x.fio` includes `x.fio`
    "#);
}

#[test]
fn a_section_in_an_include() {
    insta::assert_snapshot!(said(&[("x.fio", b"[a]\ninclude i\n"), ("i", b"bs=4k\n[b]\n")], &["x.fio"]), @r#"
    [section-in-include]
    error: no new sections in included files, found `[b]`
     --> i:2:1
      |
    2 | [b]
      | ^^^ an included file holds options only
    "#);
}

#[test]
fn a_mistake_in_an_include() {
    insta::assert_snapshot!(said(&[("x.fio", b"[a]\ninclude i\n[b]\ninclude i\n"), ("i", b"bs=4k\nrw=raed\n")], &["x.fio"]), @r#"
    [not-a-choice -> read] [job-dropped] [job-dropped]
    error: invalid value `raed` for option `rw`
     --> i:2:4
      |
    2 | rw=raed
      |    ^^^^ did you mean `read`?
      |
      = help: choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite

    note: job a dropped

    note: job b dropped
    "#);
}

#[test]
fn an_engine_that_is_misspelt() {
    insta::assert_snapshot!(of("[a]\nioengine=libiao\nsize=4k\n"), @r#"
    [unknown-engine -> libaio]
    error: engine libiao not loadable
     --> x.fio:2:10
      |
    2 | ioengine=libiao
      |          ^^^^^^ no such engine; did you mean `libaio`?
      |
      = help: engines are io_uring, libaio, mmap, null, psync, pvsync, pvsync2, sync, tokio_uring, vsync
    "#);
}

#[test]
fn an_engine_that_is_not_there() {
    insta::assert_snapshot!(of("[a]\nioengine=rbd\nrbdname=x\nsize=4k\n"), @r#"
    [unavailable-engine]
    error: engine rbd not loadable
     --> x.fio:2:10
      |
    2 | ioengine=rbd
      |          ^^^ not available: needs librbd
      |
      = help: engines are io_uring, libaio, mmap, null, psync, pvsync, pvsync2, sync, tokio_uring, vsync
    "#);
}

#[test]
fn a_directory_that_is_not_there() {
    insta::assert_snapshot!(of("[a]\ndirectory=nowhere\nsize=4k\n"), @r#"
    [not-a-directory]
    error: nowhere is not a directory
     --> x.fio:2:11
      |
    2 | directory=nowhere
      |           ^^^^^^^
      |
      = help: create it first: only directories inside file names are created
    "#);
}

#[test]
fn a_warning_that_is_fatal() {
    insta::assert_snapshot!(said(&[("x.fio", b"[a]\nioengine=null\nsize=4k\ntime_based\n")], &["--warnings-fatal", "x.fio"]), @r#"
    [fatal-warning]
    error: time_based requires a runtime/timeout setting
     --> x.fio:4:1
      |
    4 | time_based
      | ^^^^^^^^^^
      |
      = help: warnings are fatal (--warnings-fatal)
    "#);
}

#[test]
fn an_unknown_argument() {
    insta::assert_snapshot!(typed(&["--name=a", "--quantum_flux=1"]), @r#"
    [unknown-option]
    error: unrecognized option '--quantum_flux=1'
     --> argument 2: --quantum_flux=1
      |
    2 | --quantum_flux=1
      | ^^^^^^^^^^^^^^ no such option
    "#);
}

#[test]
fn a_misspelt_argument() {
    insta::assert_snapshot!(typed(&["--name=a", "--iodpeth=4"]), @r#"
    [unknown-option -> --iodepth]
    error: unrecognized option '--iodpeth=4'
     --> argument 2: --iodpeth=4
      |
    2 | --iodpeth=4
      | ^^^^^^^^^ did you mean `--iodepth`?
    "#);
}

#[test]
fn an_argument_of_another_engine() {
    insta::assert_snapshot!(typed(&["--name=a", "--userspace_reap", "--ioengine=libaio"]), @r#"
    [option-of-other-engine]
    error: unrecognized option '--userspace_reap'
     --> argument 2: --userspace_reap
      |
    2 | --userspace_reap
      | ^^^^^^^^^^^^^^^^ an option of libaio; the engine here is psync
      |
      = help: write it behind --ioengine=libaio
    "#);
}

#[test]
fn an_ambiguous_argument() {
    insta::assert_snapshot!(typed(&["--out=x"]), @r#"
    [ambiguous-option]
    error: option '--out=x' is ambiguous
     --> argument 1: --out=x
      |
    1 | --out=x
      | ^^^^^ begins several options
      |
      = help: possibilities are `--output`, `--output-format`
    "#);
}

#[test]
fn an_argument_without_its_value() {
    insta::assert_snapshot!(typed(&["--name=a", "--rw"]), @r#"
    [missing-value]
    error: option '--rw' requires an argument
     --> argument 2: --rw
      |
    2 | --rw
      | ^^^^ a value is expected behind it
    "#);
}

#[test]
fn an_argument_with_an_empty_value() {
    insta::assert_snapshot!(typed(&["--name=a", "--rw="]), @r#"
    [empty-value]
    error: option rw requires an argument
     --> argument 2: --rw=
      |
    2 | --rw=
      | ^^^^ a value is expected behind the `=`
    "#);
}

#[test]
fn an_argument_that_takes_no_value() {
    insta::assert_snapshot!(typed(&["--readonly=1"]), @r#"
    [unwanted-value -> --readonly]
    error: option '--readonly' doesn't allow an argument
     --> argument 1: --readonly=1
      |
    1 | --readonly=1
      |            ^ takes no value
    "#);
}

#[test]
fn a_wrong_value_of_an_argument() {
    insta::assert_snapshot!(typed(&["--name=a", "--bs", "4k,x"]), @r#"
    [not-a-number]
    error: invalid value `4k,x` for option `bs`
     --> argument 2: --bs 4k,x
      |
    2 | --bs 4k,x
      |         ^ a number is expected
    "#);
}

#[test]
fn a_wrong_value_of_a_program_option() {
    insta::assert_snapshot!(typed(&["--eta=alway", "--name=a"]), @r#"
    [not-a-choice -> always]
    error: invalid value `alway` for option `--eta`
     --> argument 1: --eta=alway
      |
    1 | --eta=alway
      |       ^^^^^ did you mean `always`?
      |
      = help: choices are auto, always, never
    "#);
}

#[test]
fn a_program_option_that_is_too_small() {
    insta::assert_snapshot!(typed(&["--eta-interval=10ms", "--name=a"]), @r#"
    [invalid-value]
    error: invalid value `10ms` for option `--eta-interval`
     --> argument 1: --eta-interval=10ms
      |
    1 | --eta-interval=10ms
      |                ^^^^ too short, the least is 250ms
    "#);
}

#[test]
fn an_engine_of_the_command_line() {
    insta::assert_snapshot!(typed(&["--parse-only", "--name=a", "--ioengine=psynk"]), @r#"
    [unknown-engine -> psync]
    error: engine psynk not loadable
     --> argument 3: --ioengine=psynk
      |
    3 | --ioengine=psynk
      |            ^^^^^ no such engine; did you mean `psync`?
      |
      = help: engines are io_uring, libaio, mmap, null, psync, pvsync, pvsync2, sync, tokio_uring, vsync
    "#);
}

#[test]
fn a_report_that_cannot_be_written() {
    insta::assert_snapshot!(typed(&["--output=nowhere/x", "--name=a", "--ioengine=null", "--size=4k"]), @r#"
    [output-error]
    error: output file open error: No such file or directory: nowhere/x
    "#);
}

#[test]
fn the_globals_as_only_section() {
    insta::assert_snapshot!(typed(&["--section=global", "--name=a"]), @r#"
    [invalid-program-option]
    error: can't use global as only section
     --> argument 1: --section=global
      |
    1 | --section=global
      |           ^^^^^^
    "#);
}

#[test]
fn no_jobs_at_all() {
    insta::assert_snapshot!(typed(&["--readonly"]).split("Measures").next().unwrap_or_default().trim_end(), @r#"
    [no-jobs]
    error: No job(s) defined
     |
     = help: name a job file, or begin a job with --name=
    "#);
}

#[test]
fn everything_wrong_in_two_files_and_the_command_line_is_said_in_one_go() {
    let files: [(&str, &[u8]); 3] = [
        ("one.fio", b"[global]\nbs=4q\n[a]\nfoo_one=1\nfilename=\nrw=raed\n[b\nsize=4k\n"),
        ("two.fio", b"size=4k\n[c]\nioengine=null\nuserspace_reap\ninclude gone\n"),
        ("fine.fio", b"[d]\nioengine=null\nsize=4k\n"),
    ];
    insta::assert_snapshot!(said(&files, &["one.fio", "gone.fio", "two.fio", "fine.fio", "--iodepth=0"]), @r#"
    [out-of-range] [unknown-suffix] [job-dropped] [unknown-option] [empty-value] [not-a-choice -> read] [job-dropped] [unclosed-section -> [b]] [unreadable-job-file] [outside-section] [unreadable-include] [option-of-other-engine] [job-dropped]
    error: invalid value `0` for option `iodepth`
     --> argument 5: --iodepth=0
      |
    5 | --iodepth=0
      |           ^ the minimum is 1

    error: invalid value `4q` for option `bs`
     --> one.fio:2:5
      |
    2 | bs=4q
      |     ^ unknown suffix
      |
      = help: known are k, m, g, t and p, also as kb, mb ... and kib, mib ...

    note: job global dropped

    error: unknown option `foo_one`
     --> one.fio:4:1
      |
    4 | foo_one=1
      | ^^^^^^^

    error: option `filename` has an empty value
     --> one.fio:5:1
      |
    5 | filename=
      | ^^^^^^^^ a value is expected

    error: invalid value `raed` for option `rw`
     --> one.fio:6:4
      |
    6 | rw=raed
      |    ^^^^ did you mean `read`?
      |
      = help: choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite

    note: job a dropped

    error: section without `]`
     --> one.fio:7:1
      |
    7 | [b
      | ^^ the closing `]` is missing

    error: unable to open 'gone.fio' job file: No such file or directory

    error: option `size=4k` outside of a [] job section
     --> two.fio:1:1
      |
    1 | size=4k
      | ^^^^ no section has begun yet
      |
      = help: begin a section first: `[global]` for defaults, any other name for a job

    error: cannot read the include file `gone`
     --> two.fio:5:9
      |
    5 | include gone
      |         ^^^^ No such file or directory

    error: option `userspace_reap` belongs to engine libaio; this job uses null
     --> two.fio:4:1
      |
    4 | userspace_reap
      | ^^^^^^^^^^^^^^ not an option of null
      |
      = help: choose the engine with `ioengine=libaio`, or remove the option

    note: job c dropped
    "#);
}

#[test]
fn everything_wrong_in_a_command_line_is_said_in_one_go() {
    insta::assert_snapshot!(typed(&["--iodpeth=4", "--readonly=1", "--name=", "--out=x", "--rw"]), @r#"
    [unknown-option -> --iodepth] [unwanted-value -> --readonly] [empty-value] [ambiguous-option] [missing-value]
    error: unrecognized option '--iodpeth=4'
     --> argument 1: --iodpeth=4
      |
    1 | --iodpeth=4
      | ^^^^^^^^^ did you mean `--iodepth`?

    error: option '--readonly' doesn't allow an argument
     --> argument 2: --readonly=1
      |
    2 | --readonly=1
      |            ^ takes no value

    error: option name requires an argument
     --> argument 3: --name=
      |
    3 | --name=
      | ^^^^^^ a value is expected behind the `=`

    error: option '--out=x' is ambiguous
     --> argument 4: --out=x
      |
    4 | --out=x
      | ^^^^^ begins several options
      |
      = help: possibilities are `--output`, `--output-format`

    error: option '--rw' requires an argument
     --> argument 5: --rw
      |
    5 | --rw
      | ^^^^ a value is expected behind it
    "#);
}

#[test]
fn includes_nested_too_deeply_show_the_chain() {
    let files: Vec<(String, Vec<u8>)> = (0..30)
        .map(|depth| (format!("i{depth}"), format!("include i{}\n", depth + 1).into_bytes()))
        .collect();
    let mut files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    files.push(("x.fio", b"[a]\ninclude i0\n"));
    insta::assert_snapshot!(said(&files, &["x.fio"]), @r#"
    [deep-include]
    error: the include file `i16` is nested too deeply: the most is 16 levels
     --> i15:1:9
      |
    1 | include i16
      |         ^^^ goes no further
      |
      = help: `x.fio` includes `i0` includes `i1` includes `i2` includes `i3` includes `i4` includes `i5` includes `i6` includes `i7` includes `i8` includes `i9` includes `i10` includes `i11` includes `i12` includes `i13` includes `i14` includes `i15` includes `i16`
    "#);
}

#[test]
fn files_that_include_each_other_many_times_are_refused_at_once() {
    let texts: Vec<(String, Vec<u8>)> = (0..12)
        .map(|depth| (format!("i{depth}"), format!("include i{}\n", depth + 1).repeat(20).into_bytes()))
        .collect();
    let mut files: Vec<(&str, &[u8])> =
        texts.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    files.extend([("i12", b"bs=4k\n".as_slice()), ("x.fio", b"[a]\ninclude i0\n")]);
    insta::assert_snapshot!(said(&files, &["x.fio"]), @r#"
    [endless-include]
    error: the include file `i11` is one too many: 1048576 lines from included files are the most
     --> i10:1:9
      |
    1 | include i11
      |         ^^^ goes no further
      |
      = help: `x.fio` includes `i0` includes `i1` includes `i2` includes `i3` includes `i4` includes `i5` includes `i6` includes `i7` includes `i8` includes `i9` includes `i10` includes `i11`
    "#);
}

#[test]
fn a_line_that_is_too_long_is_refused() {
    let text = format!("[a]\ndescription={}\n", "x".repeat(8180));
    let said = of(&text);
    assert!(said.starts_with("[long-line]\nerror: a line of 8192 bytes\n --> x.fio:2:1\n"), "{said}");
}

#[test]
fn an_object_says_where_what_and_what_instead() {
    let place = place(&[("x.fio", b"[a]\n rw = raed\n")]);
    let run = place.ferrio(&["--message-format=json", "x.fio"]).run().ended_with(1);
    let objects = objects(&run);
    let mut object = objects[0].clone();
    let rendered = object.as_object_mut().unwrap().remove("rendered").unwrap();
    assert!(
        rendered
            .as_str()
            .unwrap()
            .starts_with("error: invalid value `raed` for option `rw`\n --> x.fio:2:7\n")
    );
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap(), @r#"
    {
      "severity": "error",
      "code": "not-a-choice",
      "message": "invalid value `raed` for option `rw`",
      "file": "x.fio",
      "argument": null,
      "line": 2,
      "column": 7,
      "length": 4,
      "text": " rw = raed",
      "label": "did you mean `read`?",
      "help": "choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite",
      "suggestion": "read"
    }
    "#);
    assert_eq!((objects.len(), &objects[1]["code"]), (2, &Value::from("job-dropped")));
}

#[test]
fn an_object_of_the_command_line_has_the_number_of_its_argument() {
    let place = place(&[]);
    let run = place.ferrio(&["--name=a", "--rw", "raed", "--message-format", "json"]).run().ended_with(1);
    let mut object = objects(&run)[0].clone();
    object.as_object_mut().unwrap().remove("rendered");
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).unwrap(), @r#"
    {
      "severity": "error",
      "code": "not-a-choice",
      "message": "invalid value `raed` for option `rw`",
      "file": null,
      "argument": 2,
      "line": null,
      "column": 6,
      "length": 4,
      "text": "--rw raed",
      "label": "did you mean `read`?",
      "help": "choices are read, write, trim, randread, randwrite, randtrim, rw, readwrite, randrw, trimwrite, randtrimwrite",
      "suggestion": "read"
    }
    "#);
}

#[test]
fn notes_and_failures_of_a_run_are_objects_too() {
    let place =
        place(&[("x.fio", b"[a]\nioengine=null\nsize=4k\nverifysort=1\nwrite_barrier=4\n[b]\nrw=read\n")]);
    let words = ["--message-format=json", "--output-format=json", "--max-jobs=4", "x.fio"];
    let run = place.ferrio(&words).run().ended_with(1);
    assert_eq!(run.json()["jobs"].as_array().map(Vec::len), Some(2));
    let objects = objects(&run);
    let said: Vec<_> = objects
        .iter()
        .map(|object| ["severity", "code", "message"].map(|key| object[key].as_str().unwrap()).join(" | "))
        .map(|line| line.split("/file:").next().unwrap_or_default().to_owned())
        .collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    warning | deprecated-option | option `verifysort` is deprecated and has no effect
    note | no-effect | --max-jobs has no effect: memory is taken as it is needed
    note | note | option `write_barrier` has no effect: no engine acts on the mark
    note | note | b: you need to specify size=
    error | job-failed | pid=0, err=22
    "#);
}

#[test]
fn colours_are_for_terminals() {
    let place = place(&[("x.fio", b"[a]\nrw=raed\n")]);
    let run = place.ferrio(&["x.fio"]).run().ended_with(1);
    assert!(!run.stderr.contains('\u{1b}'));
    // `script` gives the program a terminal.
    let coloured = |set: &str| {
        let command = format!("{set} {} x.fio", crate::support::FERRIO);
        let run = place.program("script", &["-qec", &command, "/dev/null"]).run();
        assert!(run.stdout.contains("invalid value"), "{run:?}");
        run.stdout.contains('\u{1b}')
    };
    assert!(coloured("env -u NO_COLOR") && coloured("NO_COLOR="));
    assert!(!coloured("NO_COLOR=1"));
}
