//! `--output-format=openmetrics`: the output is the metrics and nothing else, however the run ends. `tests/clients` parses them.

use nix::errno::Errno;
use nix::sys::signal::Signal;

use crate::support::{Run, TestDir};

const FORMAT: &str = "--output-format=openmetrics";
const NULL: [&str; 4] = ["--name=a", "--ioengine=null", "--size=64k", "--rw=randread"];

/// The one sample whose name and labels begin like this.
#[track_caller]
fn sample<'a>(text: &'a str, begin: &str) -> &'a str {
    let found: Vec<&str> = text.lines().filter(|line| line.starts_with(begin)).collect();
    assert_eq!(found.len(), 1, "{begin} in {text}");
    found[0].rsplit_once(' ').unwrap().1
}

#[track_caller]
fn whole(text: &str) {
    assert!(text.starts_with("# TYPE ferrio_run_info gauge\n"), "{text}");
    assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
}

#[test]
fn the_exposition_is_all_that_is_printed() {
    let dir = TestDir::new();
    let run = dir.ferrio(&[&[FORMAT][..], &NULL].concat()).run().succeeded();
    whole(&run.stdout);
    assert_eq!(sample(&run.stdout, "ferrio_group_io_bytes_total{group=\"0\",direction=\"read\"}"), "65536");
    let to_file = [&[FORMAT, "--output=m.prom"][..], &NULL].concat();
    let run = dir.ferrio(&to_file).run().succeeded();
    assert_eq!(run.stdout, "");
    whole(&dir.read("m.prom"));
}

#[test]
fn other_formats_beside_it_are_refused() {
    let dir = TestDir::new();
    for words in [
        &["--output-format=openmetrics,json"][..],
        &["--output-format=terse,openmetrics"],
        &[FORMAT, "--append-terse"],
    ] {
        let run = dir.ferrio(&[words, &NULL].concat()).run().ended_with(1);
        assert!(run.stderr.contains("openmetrics cannot be combined"), "{words:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{words:?}");
    }
    // A later choice replaces an earlier one.
    dir.ferrio(&[&[FORMAT, "--minimal"][..], &NULL].concat()).run().succeeded();
}

#[test]
fn reports_of_a_run_that_goes_on_are_refused() {
    let dir = TestDir::new();
    let run = dir.ferrio(&[&[FORMAT, "--status-interval=1s"][..], &NULL].concat()).run().ended_with(1);
    assert!(run.stderr.contains("--status-interval"), "{}", run.stderr);
    assert_eq!(run.stdout, "");
}

#[test]
fn a_check_has_no_figures_for_it() {
    let dir = TestDir::new();
    for format in [FORMAT, "--minimal"] {
        let run = dir.ferrio(&[&["check", format][..], &NULL].concat()).run().ended_with(1);
        assert!(run.stderr.contains("`ferrio check` prints text or JSON"), "{}", run.stderr);
    }
}

#[test]
fn a_run_that_is_interrupted_says_so() {
    let dir = TestDir::new();
    let endless = ["--name=a", "--filename=f", "--rw=write", "--size=1m", "--fallocate=none", "--runtime=1h"];
    let mut running = dir.ferrio(&[&[FORMAT, "--time_based"][..], &endless].concat()).start();
    running.until("its first write", || dir.is_written("f"));
    running.signal(Signal::SIGINT);
    let run: Run = running.wait().ended_with(128);
    whole(&run.stdout);
    assert_eq!(sample(&run.stdout, "ferrio_run_signal"), (Signal::SIGINT as i32).to_string());
    assert_ne!(
        sample(&run.stdout, "ferrio_ios_total{entry=\"0\",jobname=\"a\",group=\"0\",direction=\"write\"}"),
        "0"
    );
}

#[test]
fn a_job_that_fails_shows_its_error() {
    let dir = TestDir::new();
    let words = [FORMAT, "--name=a", "--filename=.", "--rw=read", "--size=4k", "--name=b", "--ioengine=null"];
    let run = dir.ferrio(&[&words[..], &["--size=64k"]].concat()).run().ended_with(1);
    whole(&run.stdout);
    let error = sample(&run.stdout, "ferrio_job_error_code{entry=\"0\"");
    assert_eq!(error, (Errno::EISDIR as i32).to_string());
    assert_eq!(sample(&run.stdout, "ferrio_job_error_code{entry=\"1\""), "0");
    assert_eq!(sample(&run.stdout, "ferrio_run_jobs{end=\"failed\"}"), "1");
}
