//! Lines, sections, files and what they include.

use super::{of, of_bytes, said, typed};

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
    insta::assert_snapshot!(of("include i\n[a]\n"), @"
    [outside-section]
    error: option `include i` outside of a [] job section
     --> x.fio:1:1
      |
    1 | include i
      | ^^^^^^^^^ no section has begun yet
      |
      = help: begin a section first: `[global]` for defaults, any other name for a job
    ");
}

#[test]
fn a_section_without_its_bracket() {
    insta::assert_snapshot!(of("[a\nsize=4k\n"), @r#"
    [unclosed-section -> [a]]
    error: section header without `]`
     --> x.fio:1:1
      |
    1 | [a
      | ^^ the closing `]` is missing
    "#);
}

#[test]
fn text_after_a_section() {
    insta::assert_snapshot!(of("[a] trailing\nsize=4k\n"), @r#"
    [text-after-section -> [a]]
    error: text after the `]` of a section header
     --> x.fio:1:1
      |
    1 | [a] trailing
      | ^^^^^^^^^^^^ nothing may follow the `]`
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
      | ^ an invisible U+FEFF precedes this line
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
      = help: save the file as UTF-8; other bytes are allowed in comments only
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
      = help: job files are plain text; convert UTF-16 to UTF-8
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
    insta::assert_snapshot!(of("[global]\nbs=4k\n").split("Measures").next().unwrap_or_default().trim_end(), @"
    [no-jobs]
    error: No job(s) defined
     |
     = help: a job is a section with a name other than global: there is none in `x.fio`
    ");
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
    error: the include file `i` includes itself
     --> k:1:11
      |
    1 | include = i ; again
      |           ^ not read
      |
      = help: `x.fio` includes `i` includes `k` includes `i`
    "#);
}

#[test]
fn an_include_of_the_job_file_itself() {
    insta::assert_snapshot!(of("[a]\ninclude x.fio\n"), @r#"
    [circular-include]
    error: the include file `x.fio` includes itself
     --> x.fio:2:9
      |
    2 | include x.fio
      |         ^^^^^ not read
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
fn includes_nested_too_deeply_show_the_chain() {
    let files: Vec<(String, Vec<u8>)> = (0..30)
        .map(|depth| (format!("i{depth}"), format!("include i{}\n", depth + 1).into_bytes()))
        .collect();
    let mut files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    files.push(("x.fio", b"[a]\ninclude i0\n"));
    insta::assert_snapshot!(said(&files, &["x.fio"]), @r#"
    [deep-include]
    error: the include file `i16` is nested too deeply: the limit is 16 levels
     --> i15:1:9
      |
    1 | include i16
      |         ^^^ not read
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
    error: the include file `i11` exceeds the limit of 1048576 lines from included files
     --> i10:1:9
      |
    1 | include i11
      |         ^^^ not read
      |
      = help: `x.fio` includes `i0` includes `i1` includes `i2` includes `i3` includes `i4` includes `i5` includes `i6` includes `i7` includes `i8` includes `i9` includes `i10` includes `i11`
    "#);
}

#[test]
fn a_line_that_is_too_long_is_refused() {
    let text = format!("[a]\ndescription={}\n", "x".repeat(8180));
    let said = of(&text);
    assert!(said.starts_with("[long-line]\nerror: the line has 8192 bytes\n --> x.fio:2:1\n"), "{said}");
}

#[test]
fn a_listing_with_line_numbers() {
    insta::assert_snapshot!(of(" 1  [global]\n 2  rw=read\n 3\n 4  [a]\n 5  size=4k\n"), @r#"
    [numbered-lines]
    error: the lines begin with line numbers
     --> x.fio:1:2
      |
    1 |  1  [global]
      |  ^^^ not part of the job file
      |
      = help: remove the number at the start of each line
    "#);
}
