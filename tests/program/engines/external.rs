//! `ioengine=external`: the example engine of the documentation, and engines that break the rules of the interface.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::{Run, TestDir, number};

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");

/// Compiles C to `engine.so` in the work directory, with these definitions.
fn build(dir: &TestDir, source: &Path, definitions: &[&str]) {
    let mut cc = Command::new("cc");
    cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", DOCS, "-o"]);
    cc.arg(dir.work().join("engine.so")).args(definitions).arg(source);
    let output = cc.output().expect("these tests need a C compiler: install gcc (apt-get install gcc)");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

pub fn with_example() -> TestDir {
    let dir = TestDir::new();
    build(&dir, &Path::new(DOCS).join("example_engine.c"), &[]);
    dir
}

const EXAMPLE: [&str; 3] = ["--output-format=json", "--name=a", "--ioengine=external:./engine.so"];

#[test]
fn the_example_writes_and_verifies_at_any_depth() {
    let dir = with_example();
    for (more, deepest) in
        [(&["--iodepth=1"][..], "1"), (&["--iodepth=8"], "8"), (&["--iodepth=8", "--iodepth_batch=4"], "8")]
    {
        let words =
            ["--rw=randwrite", "--size=256k", "--bs=4k", "--verify=crc32c", "--fsync=16", "--loops=2"];
        let report = dir.ferrio(&[&EXAMPLE[..], &words, more].concat()).run().succeeded().json();
        let job = &report["jobs"][0];
        assert_eq!((number(job, "/write/total_ios"), number(job, "/read/total_ios")), (128, 128), "{more:?}");
        assert!(job["iodepth_level"][deepest].as_f64().unwrap() > 50.0, "{more:?}: {}", job["iodepth_level"]);
        let syncs = number(job, "/sync/total_ios");
        fs::remove_file(dir.work().join("a.0.0")).unwrap();
        let libaio = ["--output-format=json", "--name=a", "--ioengine=libaio"];
        let report = dir.ferrio(&[&libaio[..], &words, more].concat()).run().succeeded().json();
        assert_eq!(syncs, number(&report, "/jobs/0/sync/total_ios"), "{more:?}");
        fs::remove_file(dir.work().join("a.0.0")).unwrap();
    }
}

#[test]
fn the_same_bytes_are_written_as_by_psync() {
    let dir = with_example();
    let written = |engine: &str, file: &str| {
        let (engine, file) = (format!("--ioengine={engine}"), format!("--filename={file}"));
        let words =
            ["--name=a", "--rw=randwrite", "--size=256k", "--bsrange=512-16k", "--buffer_pattern=0x1234"];
        dir.ferrio(&[&words[..], &[&engine, &file]].concat()).run().succeeded();
        fs::read(dir.work().join(&file["--filename=".len()..])).unwrap()
    };
    assert!(written("external:./engine.so", "e") == written("psync", "p"));
}

#[test]
fn errors_of_ios_name_file_offset_and_length() {
    let dir = with_example();
    let words =
        ["--name=a", "--ioengine=external:./engine.so", "--filename=/dev/full", "--rw=write", "--size=4k"];
    let failed = dir.ferrio(&words).run().ended_with(1);
    assert!(failed.stderr.contains("/dev/full") && failed.stderr.contains("offset=0"), "{}", failed.stderr);
    assert!(failed.stderr.contains("No space left on device"), "{}", failed.stderr);
}

#[test]
fn the_engine_reads_its_own_options_and_refuses_what_it_does_not_know() {
    let dir = with_example();
    let run = |options: &str| {
        let options = format!("--external_options={options}");
        dir.ferrio(&[&EXAMPLE[..], &["--size=64k", &options]].concat()).run()
    };
    let said = run("say=hello, world").succeeded();
    assert!(said.stderr.contains("a: hello, world\n"), "{}", said.stderr);
    let refused = run("sya=hello").ended_with(1);
    assert!(refused.stderr.contains("err=22") && refused.stderr.contains("func=open of engine example"));
    // Other engines have no such option.
    let words = ["--name=a", "--ioengine=psync", "--size=4k", "--external_options=x"];
    assert!(dir.ferrio(&words).run().ended_with(1).stderr.contains("external_options"));
}

/// An engine whose parts are chosen by definitions.
const BROKEN: &str = r#"
#include "ferrio_engine.h"
#include <stddef.h>
static int open_it(const struct ferrio_job *job, void **state) { (void)job; *state = NULL; return 0; }
static int attach(void *s, const struct ferrio_file *f, uint32_t n) { (void)s; (void)f; (void)n; return 0; }
static int submit(void *s, const struct ferrio_request *r, int64_t *result)
{ (void)s; *result = r->len; return ANSWER; }
static int reap(void *s, uint32_t min, uint32_t max, struct ferrio_completion *done)
{ (void)s; (void)min; (void)max; done[0].unit = UNIT; done[0].result = 4096; return COUNT; }
static void close_it(void *s) { (void)s; }
static const struct ferrio_engine engine = {
    VERSION, SIZE, "broken", open_it, attach, SUBMIT, NULL, REAP, close_it,
};
const struct ferrio_engine *NAME(void) { (void)submit; (void)reap; return &engine; }
"#;

/// Runs a job with the engine above.
fn broken(changes: &[(&str, &str)]) -> Run {
    let dir = TestDir::new();
    let source = dir.beside("broken.c");
    fs::write(&source, BROKEN).unwrap();
    let mut parts = [
        ("ANSWER", "FERRIO_QUEUED"),
        ("UNIT", "0"),
        ("COUNT", "1"),
        ("VERSION", "FERRIO_ENGINE_VERSION"),
        ("SIZE", "sizeof(engine)"),
        ("SUBMIT", "submit"),
        ("REAP", "reap"),
        ("NAME", "ferrio_engine"),
    ];
    for &(part, value) in changes {
        parts.iter_mut().find(|(name, _)| *name == part).unwrap().1 = value;
    }
    let definitions: Vec<String> = parts.iter().map(|(name, value)| format!("-D{name}={value}")).collect();
    build(&dir, &source, &definitions.iter().map(String::as_str).collect::<Vec<_>>());
    let words = ["--name=a", "--ioengine=external:./engine.so", "--filename=f", "--size=16k", "--iodepth=1"];
    dir.ferrio(&words).run()
}

#[test]
fn an_object_that_is_no_engine_is_refused_with_the_reason() {
    broken(&[]).succeeded();
    for (changes, reason) in [
        (&[("NAME", "other_engine")], "ferrio_engine: an engine for ferrio exports ferrio_engine()"),
        (&[("VERSION", "7")], "made for version 7 of the interface, not 1"),
        (&[("SIZE", "8")], "the field `size` is not sizeof(struct ferrio_engine)"),
        (&[("SUBMIT", "NULL")], "the engine has no function `submit`"),
    ] {
        let run = broken(changes).ended_with(1);
        assert!(run.stderr.contains(reason), "{reason}: {}", run.stderr);
        assert!(run.stderr.contains("func=dlopen"), "{}", run.stderr);
    }
    let dir = TestDir::new();
    fs::write(dir.work().join("engine.so"), "no object").unwrap();
    let run = dir.ferrio(&[&EXAMPLE[..], &["--size=4k"]].concat()).run().ended_with(1);
    assert!(run.stderr.contains("build it for this machine"), "{}", run.stderr);
}

#[test]
fn an_engine_that_breaks_the_rules_fails_its_job() {
    for (changes, reason) in [
        (&[("UNIT", "5")], "engine broken returned unit 5, which it did not have"),
        (&[("COUNT", "0")], "engine broken returned 0 requests where 1 were wanted"),
        (&[("COUNT", "99")], "engine broken counts 99 requests"),
        (&[("COUNT", "-5")], "Input/output error"),
        (&[("REAP", "NULL")], "engine broken queues requests and has no function `reap`"),
        (&[("ANSWER", "9")], "Protocol error"),
        (&[("ANSWER", "FERRIO_FULL")], "Protocol error"),
    ] {
        let run = broken(changes).ended_with(1);
        assert!(run.stderr.contains(reason), "{reason}: {}", run.stderr);
    }
}

#[test]
fn a_path_without_a_file_is_refused_as_fio_refuses_it() {
    needs!("fio");
    let words = ["--name=a", "--ioengine=external:./none.so", "--size=4k"];
    let dir = TestDir::new();
    let refused = dir.ferrio(&words).run().ended_with(1);
    assert!(refused.stderr.contains("invalid external ioengine path \"./none.so\""), "{}", refused.stderr);
    let (fio, as_fio) = (dir.fio(&words).run(), dir.ferrio(&[&["--as=fio"], &words[..]].concat()).run());
    for line in fio.stderr.lines() {
        assert!(as_fio.stderr.contains(line), "{line}: {}", as_fio.stderr);
    }
    assert!(fio.stderr.contains("invalid external ioengine path"), "{}", fio.stderr);
}
