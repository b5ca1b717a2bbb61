//! The commands of `docs/guide/` do what the text says. Job files and commands are taken from it; run times and sizes are cut short.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::support::{FERRIO, TestDir};

fn text(page: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide").join(page);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of indented blocks.
fn code(page: &str) -> Vec<String> {
    text(page).lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned).collect()
}

/// The commands of a page, with those of several lines in one.
fn commands(page: &str) -> String {
    let lines = code(page);
    let commands =
        lines.iter().filter_map(|line| line.strip_prefix("$ ").or_else(|| line.strip_prefix("> ")));
    let short = |line: &str| {
        line.replace(" --runtime=30s --size=4g", "")
            .replace("ferrio quick .", "ferrio quick . --runtime=100ms --size=2m")
            .replace("--sweep iodepth=1..64 --repeat=3", "--sweep iodepth=1..16 --repeat=2")
            .replace("--repeat=8", "--repeat=2")
            // A free port, and a run that nobody watches.
            .replace("--metrics=9100", "--metrics=0")
    };
    commands.map(short).collect::<Vec<_>>().join("\n")
}

/// The lines of a page from `first` to `last`: a job file, with less to do.
fn job_file(page: &str, first: &str, last: &str) -> String {
    let lines = code(page);
    let begin = lines.iter().position(|line| line == first).unwrap();
    let end = begin + lines[begin..].iter().position(|line| line == last).unwrap();
    let text = lines[begin..=end].join("\n");
    text.replace("runtime=2s", "runtime=100ms").replace("runtime=5s", "runtime=100ms").replace("=256m", "=2m")
}

/// Runs the commands of a page one after the other, up to the first that fails. The output of all.
fn run(dir: &TestDir, page: &str) -> String {
    let programs = dir.beside("bin");
    fs::create_dir_all(&programs).unwrap();
    symlink(FERRIO, programs.join("ferrio")).unwrap();
    let (first, knee) = ("first-job-file.md", "find-the-knee.md");
    fs::write(dir.work().join("reads.fio"), job_file(knee, "[reads]", "runtime=2s")).unwrap();
    fs::write(dir.work().join("first.fio"), job_file(first, "[reads]", "runtime=5s")).unwrap();
    let three = job_file(first, "[global]", "rwmixread=70") + "\niodepth=8\n";
    fs::write(dir.work().join("three.fio"), three).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let commands = commands(page);
    assert!(!commands.is_empty(), "{page} has no commands");
    let script = format!("set -eu\n{commands}\n");
    dir.program("bash", &["-c", &script]).env("PATH", &path).run().succeeded().stdout
}

#[test]
fn the_first_job_files_are_checked_run_and_shown() {
    let dir = TestDir::new();
    let shown = run(&dir, "first-job-file.md");
    assert!(shown.contains("creates  2MiB of files before the jobs start"), "{shown}");
    assert_eq!(shown.matches("\nreads: (groupid=0, jobs=1): err= 0").count(), 2, "{shown}");
    assert!(shown.contains("iodepth=32") && shown.contains("runs   3 jobs, 3 phases in sequence"), "{shown}");
    assert!(shown.contains("\nmixed: (groupid=2, jobs=1): err= 0"), "{shown}");
    assert!(dir.read("three.html").contains("one-at-a-time"));
    assert!(!dir.is_written("first.tmp"));
}

#[test]
fn a_disk_is_measured_and_has_its_page() {
    let dir = TestDir::new();
    let shown = run(&dir, "measure-a-disk.md");
    assert!(shown.contains("randread-4k-qd32") && shown.contains("the sync alone"), "{shown}");
    assert!(dir.read("mine.fio").contains("runtime=100ms"), "{}", dir.read("mine.fio"));
    assert!(dir.read("disk.html").contains("randread-4k-qd1"));
}

#[test]
fn the_knee_is_looked_for_and_two_depths_are_compared() {
    let dir = TestDir::new();
    let shown = run(&dir, "find-the-knee.md");
    // Or none, on a disk that gains from every depth.
    let has_knee = shown.contains("  knee: ") || shown.contains("  no knee up to iodepth=16: ");
    assert!(has_knee && shown.contains("\nA: depths/iodepth=8 (2 runs)"), "{shown}");
}

#[test]
fn runs_before_and_after_a_change_are_compared_and_shown() {
    let dir = TestDir::new();
    let shown = run(&dir, "compare-two-kernels.md");
    assert!(shown.contains("\nA: before (2 runs)") && shown.contains("\nA: one (6 runs)"), "{shown}");
    assert!(shown.contains("job reads: iodepth: 1 -> 2"), "{shown}");
    assert!(dir.is_written("both.html"));
}

#[test]
fn a_watched_run_says_where_its_metrics_are() {
    let dir = TestDir::new();
    assert!(run(&dir, "watch-in-grafana.md").contains("reads: (groupid=0, jobs=1): err= 0"));
}

/// Whether limits and comparisons fail is tested elsewhere; those of the page have room for a slow disk.
#[test]
fn limits_and_comparisons_are_those_of_a_pipeline() {
    let dir = TestDir::new();
    let page = "gate-a-pull-request.md";
    let lines: Vec<String> = commands(page).lines().map(str::to_owned).collect();
    assert!(lines[0].contains("--fail-if 'read.clat.p99 > 50ms' --fail-if 'read.iops < 100'"), "{lines:?}");
    let words = [
        "--name=reads",
        "--ioengine=null",
        "--size=1m",
        "--fail-if=read.clat.p99 > 50ms",
        "--fail-if=read.iops < 100",
    ];
    dir.ferrio(&words).run().succeeded();
    let words = ["--name=reads", "--ioengine=null", "--size=1m", "--fail-if=read.clat.p99 > 0ns"];
    let failed = dir.ferrio(&words).run().ended_with(3);
    assert!(
        failed.stderr.contains("the threshold `read.clat.p99 > 0ns` is exceeded: job reads has "),
        "{}",
        failed.stderr
    );
}
