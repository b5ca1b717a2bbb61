//! ferrio's tests of sysbench beside those of sysbench itself: the same command lines, and what both print.

use regex::Regex;

use crate::support::{Run, TestDir, installed, same};

/// sysbench with these words, and ferrio, each in a directory of its own.
struct Both {
    theirs: TestDir,
    ours: TestDir,
}

impl Both {
    fn new() -> Self {
        Both { theirs: TestDir::new(), ours: TestDir::new() }
    }

    fn run(&self, words: &str) -> (Run, Run) {
        let words: Vec<&str> = words.split_whitespace().collect();
        let theirs = self.theirs.program(installed("sysbench"), &words).run();
        let ours = self.ours.ferrio(&[&["sysbench"], &words[..]].concat()).run();
        (theirs, ours)
    }

    /// Both do the same: status, standard error, standard output but for times and rates, and the files that they leave.
    #[track_caller]
    fn agree(&self, words: &str) {
        let (theirs, ours) = self.run(words);
        same!("sysbench": theirs.status, "ferrio": ours.status, "status of {words}: {}", ours.stdout);
        same!("sysbench": theirs.stderr, "ferrio": ours.stderr, "standard error of {words}");
        let mut printed = without_times(&ours.stdout);
        printed.retain(|line| !line.contains(OWN_WARNING));
        same!("sysbench": without_times(&theirs.stdout), "ferrio": printed, "output of {words}");
        same!("sysbench": self.theirs.files(), "ferrio": self.ours.files(), "files after {words}");
    }
}

/// A warning that sysbench does not have.
const OWN_WARNING: &str = "bytes of --memory-total-size are transferred: each of the";

/// The lines of a text without the version and without figures that depend on time: those with decimals. What the generator of events says
/// of itself comes last: it is a thread of its own, which says it before, between or after the lines of others.
pub fn without_times(text: &str) -> Vec<String> {
    let decimals = Regex::new(r" *\d+\.\d+").unwrap();
    let lines = text.lines().map(|line| match line.strip_prefix("sysbench 1.0.20 (using ") {
        Some(_) => "sysbench 1.0.20".to_owned(),
        None => decimals.replace_all(line, " #").into_owned(),
    });
    let (of_generator, mut others): (Vec<String>, Vec<String>) =
        lines.partition(|line| line.contains("Event generating thread"));
    others.extend(of_generator);
    others
}

#[test]
fn mistakes_are_answered_as_by_sysbench() {
    needs!("sysbench");
    let both = Both::new();
    for words in [
        "fileio --threads=0 run",
        "fileio --foo run",
        "fileio --file-num=abc run",
        "fileio --file-fsync-all=maybe run",
        "fileio run x",
        "fileio",
        "cpu prepare",
        "cpu bogus",
        "--verbosity=6 cpu run",
        "--percentile=101 cpu run",
        "--histogram --percentile=0 cpu run",
        "--forced-shutdown=1x cpu run",
        "--report-checkpoints=a cpu run",
        "--rand-type=foo cpu run",
        "--validate=maybe cpu run",
        "--threads=abc cpu run",
        "--threads cpu run",
        "--test=cpu cpu run",
        "-- cpu run",
        "cpu help --foo",
        "--threads=0 cpu help",
        "fileio --file-num=0 prepare",
        "fileio --file-num=0 cleanup",
        "fileio --file-io-mode=foo prepare",
        "fileio --file-fsync-mode=foo cleanup",
        "fileio --file-test-mode=foo --file-io-mode=foo run",
        "fileio --file-num=0 run",
        "cpu --cpu-max-prime=0 run",
        "fileio --file-test-mode=foo run",
        "fileio --file-test-mode=rndrd --file-io-mode=foo run",
        "fileio --file-test-mode=rndrd --file-extra-flags=foo run",
        "fileio --file-test-mode=rndrw --file-rw-ratio=-1 run",
        "fileio --file-test-mode=rndrw --file-num=2 --file-total-size=1M run",
        "fileio --file-test-mode=rndrw --file-fsync-mode=foo run",
        "memory --memory-block-size=3K run",
        "memory --memory-oper=foo run",
    ] {
        both.agree(words);
    }
}

#[test]
fn help_has_the_options_and_defaults_of_sysbench() {
    needs!("sysbench");
    let both = Both::new();
    let option = Regex::new(r"(?m)^  (--\S+) .*?( \[[^\]]*\])?$").unwrap();
    let options = |text: &str| -> Vec<(String, String)> {
        let found = option.captures_iter(text);
        found
            .map(|one| (one[1].to_owned(), one.get(2).map_or("", |default| default.as_str()).to_owned()))
            .collect()
    };
    for test in ["fileio", "cpu", "threads", "mutex", "memory"] {
        let (theirs, ours) = both.run(&format!("{test} help"));
        same!("sysbench": options(&theirs.stdout), "ferrio": options(&ours.stdout), "help of {test}");
    }
    let (theirs, ours) = both.run("--help");
    let (theirs, ours) = (options(&theirs.stdout), options(&ours.stdout));
    let of_databases = ["--db-", "--mysql-", "--pgsql-"];
    for option in theirs {
        let is_ours = ours.contains(&option);
        assert!(is_ours || of_databases.iter().any(|prefix| option.0.starts_with(prefix)), "{option:?}");
    }
}

#[test]
fn files_are_prepared_and_removed_as_by_sysbench() {
    needs!("sysbench");
    let both = Both::new();
    for words in [
        "fileio --file-num=4 --file-total-size=1M prepare",
        "fileio --file-num=4 --file-total-size=1M prepare",
        "fileio --file-num=3 --file-total-size=1500K prepare",
        "fileio --file-num=5 --file-total-size=1000K --file-block-size=3000 --file-extra-flags=sync prepare",
        "fileio --file-num=2 --verbosity=2 cleanup",
        "fileio --file-num=9 cleanup",
    ] {
        both.agree(words);
    }
    assert_eq!(both.ours.files(), []);
}

/// Each request is a line, and a seed gives the same ones.
#[test]
fn a_seed_gives_the_requests_of_sysbench() {
    needs!("sysbench");
    let both = Both::new();
    let files = "fileio --file-num=3 --file-total-size=100K --file-block-size=5000";
    both.agree(&format!("{files} prepare"));
    for more in [
        "--file-test-mode=rndrd",
        "--file-test-mode=rndwr --file-fsync-freq=7",
        "--file-test-mode=rndrw --file-rw-ratio=3 --percentile=0",
        "--file-test-mode=rndrw --file-io-mode=mmap --file-fsync-freq=4",
        "--file-test-mode=seqrd --file-merged-requests=2",
        "--file-test-mode=seqrewr --file-fsync-all",
        "--file-test-mode=seqwr --file-fsync-freq=10",
    ] {
        both.agree(&format!("{files} {more} --rand-seed=11 --events=60 --debug run"));
    }
}

#[test]
fn reports_have_the_lines_of_sysbench() {
    needs!("sysbench");
    let both = Both::new();
    both.agree("fileio --file-num=4 --file-total-size=1M prepare");
    for more in [
        "--events=40",
        "--events=40 --file-extra-flags=dsync --percentile=0",
        "--events=250 --verbosity=4 --file-fsync-mode=fdatasync",
        "--events=250 --file-io-mode=async --file-async-backlog=4 --file-fsync-end=off",
        "--events=5 --report-checkpoints=50,20 --forced-shutdown=3",
    ] {
        both.agree(&format!("fileio --file-num=4 --file-total-size=1M --file-test-mode=rndrw {more} run"));
    }
}

#[test]
fn the_test_of_processors_has_the_lines_of_sysbench() {
    needs!("sysbench");
    let both = Both::new();
    for more in [
        "--cpu-max-prime=1000 --events=30",
        "--cpu-max-prime=100 --events=7 --verbosity=4",
        "--cpu-max-prime=100 --events=3 --debug --validate --rand-seed=3",
        "--cpu-max-prime=100 --events=3 --rate=1000 --time=0 --debug",
        "--cpu-max-prime=100 --events=4 --time=100 --forced-shutdown=20% --report-interval=50",
    ] {
        both.agree(&format!("cpu {more} run"));
    }
    both.agree("--test= cpu --cpu-max-prime=100 --events=2 run");
}

#[test]
fn the_tests_of_locks_and_memory_have_the_lines_of_sysbench() {
    needs!("sysbench");
    let both = Both::new();
    for line in [
        "threads --thread-yields=10 --thread-locks=2 --events=30 --verbosity=4",
        "mutex --mutex-num=4 --mutex-locks=100 --mutex-loops=10 --verbosity=2",
        "mutex --mutex-locks=100 --mutex-loops=10 --events=100 --threads=3 --verbosity=4",
        "mutex --mutex-locks=100 --mutex-loops=10 --events=1",
        "memory --memory-total-size=100K --verbosity=5",
        "memory --memory-total-size=100",
        "memory --memory-total-size=10K --threads=3",
        "memory --memory-total-size=64K --memory-block-size=8K --memory-oper=read --memory-scope=local",
        "memory --memory-total-size=64K --memory-access-mode=rnd --memory-oper=read",
        "memory --memory-total-size=64K --memory-access-mode=rnd",
        "memory --memory-total-size=64K --memory-oper=none",
    ] {
        both.agree(&format!("{line} run"));
    }
}

#[test]
fn each_reads_the_checksums_of_the_other() {
    needs!("sysbench");
    let both = Both::new();
    let files = "--file-num=2 --file-total-size=512K --validate";
    let words =
        |command: &str| format!("fileio {files} --file-test-mode=seqrd --events=32 --time=0 {command}");
    for (writer, reader) in [(true, false), (false, true)] {
        // In one directory, by both.
        let run = |is_theirs: bool, text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            let run = match is_theirs {
                true => both.ours.program(installed("sysbench"), &words).run(),
                false => both.ours.ferrio(&[&["sysbench"], &words[..]].concat()).run(),
            };
            run.succeeded()
        };
        run(writer, &words("prepare"));
        let read = run(reader, &words("run"));
        assert!(read.stdout.contains("total number of events:              32\n"), "{}", read.stdout);
        run(writer, &words("cleanup"));
    }
}
