//! The command line.

use super::typed;

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
      = help: write it after --ioengine=libaio
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
      | ^^^^ a value must follow
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
      | ^^^^ a value must follow the `=`
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
    insta::assert_snapshot!(typed(&["--name=a", "--bs", "4k,x"]), @"
    [not-a-number]
    error: invalid value `4k,x` for option `bs`
     --> argument 2: --bs 4k,x
      |
    2 | --bs 4k,x
      |         ^ a number is expected
      |
      = help: fio reads this as 4096 bytes for reads, nothing for writes, nothing for trims; to have that, use --strict=fio
    ");
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
      |                ^^^^ too short: the minimum is 250ms
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
      = help: engines are cpuio, dev-dax, dircreate, dirdelete, dirstat, e4defrag, exec, external, falloc, filecreate, filedelete, filestat, ftruncate, http, io_uring, io_uring_cmd, libaio, libpmem, mmap, mtd, nbd, net, netsplice, null, page_fault, posixaio, psync, pvsync, pvsync2, sg, splice, sync, tokio_uring, vsync
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
      | ^^^^^^ a value must follow the `=`

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
      | ^^^^ a value must follow
    "#);
}
