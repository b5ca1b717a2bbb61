//! `--set`, `--repeat` and `--sweep`: options for all jobs, series of runs, their directory, table and exit status.

use std::fs;
use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::support::{FERRIO, TestDir, number};

const FILE: &str = "[global]\nioengine=null\nbs=4k\nsize=1m\n[a]\niodepth=2\n[b]\nrw=write\nbs=8k\n";

#[test]
fn set_replaces_an_option_in_all_jobs_or_in_those_of_one_name() {
    let dir = TestDir::new();
    let file = dir.job(FILE);
    let words = [
        &file,
        "--name=c",
        "--bs=1k",
        "--size=1m",
        "--ioengine=null",
        "--set",
        "bs=16k",
        "--set=b:size=64k",
        "--output-format=json",
    ];
    let document = dir.ferrio(&words).run().succeeded().json();
    let jobs = document["jobs"].as_array().unwrap();
    let figures = jobs.iter().map(|job| {
        let ios = ["read", "write"].map(|way| job[way]["total_ios"].as_u64().unwrap());
        (job["jobname"].as_str().unwrap(), ios, job["job options"]["bs"].as_str().unwrap())
    });
    let want = [("a", [64, 0], "16k"), ("b", [0, 4], "16k")];
    assert_eq!(figures.filter(|(name, ..)| *name != "c").collect::<Vec<_>>(), want);
    assert_eq!(document["global options"]["bs"], "4k");
}

#[test]
fn a_mistake_in_set_is_refused_at_its_place() {
    let dir = TestDir::new();
    let file = dir.job(FILE);
    for (text, message, label) in [
        ("bs=3y", "invalid value `3y` for option `bs`", "^"),
        ("iodpeth=3", "unknown option `iodpeth`", "^^^^^^^ did you mean `iodepth`?"),
        ("x:bs=3", "`--set` names the job `x`, which does not exist", "^"),
        ("name=x", "invalid value `name=x` for option `--set`", "the name of a job cannot be set"),
    ] {
        let run = dir.ferrio(&[&file, "--set", text]).run().ended_with(1);
        assert!(run.stderr.contains(message) && run.stderr.contains(label), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("| --set {text}")) && run.stdout.is_empty(), "{}", run.stderr);
    }
    let refused = dir.ferrio(&["--as=fio", &file, "--set", "bs=4k"]).run().ended_with(1);
    assert!(refused.stderr.contains("unrecognized option '--set'"), "{}", refused.stderr);
}

/// A job that takes no time.
const QUICK: [&str; 4] = ["--name=q", "--ioengine=null", "--size=64k", "--bs=4k"];

fn quick(more: &[&str]) -> Vec<String> {
    QUICK.iter().chain(more).map(|&word| word.to_owned()).collect()
}

/// The files below a directory of the work directory.
fn tree(dir: &TestDir, name: &str) -> Vec<String> {
    fn collect(directory: &Path, base: &Path, all: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => collect(&path, base, all),
                false => all.push(path.strip_prefix(base).unwrap().display().to_string()),
            }
        }
    }
    let base = dir.work().join(name);
    let mut all = Vec::new();
    collect(&base, &base, &mut all);
    all.sort();
    all
}

fn document(dir: &TestDir, name: &str) -> Value {
    serde_json::from_str(&dir.read(name)).unwrap()
}

#[test]
fn repetitions_are_kept_and_make_a_side_of_a_comparison() {
    let dir = TestDir::new();
    let run = dir.ferrio(&quick(&["--repeat=3", "--results=r"])).run().succeeded();
    assert_eq!(tree(&dir, "r"), ["1.json", "2.json", "3.json"]);
    assert!(run.stdout.starts_with("q (read)\n  runs"), "{}", run.stdout);
    assert_eq!(run.stdout.lines().count(), 3, "{}", run.stdout);
    assert!(run.stderr.starts_with("ferrio: the reports are in r\n"), "{}", run.stderr);
    let report = document(&dir, "r/2.json");
    assert_eq!(number(&report, "/jobs/0/read/total_ios"), 16);
    assert!(report["jobs"][0]["read"]["clat_ns"]["bins"].is_object());
    let compared = dir.ferrio(&["compare", "--format=json", "r", "r"]).run().succeeded().json();
    assert_eq!(number(&compared, "/sides/0/runs"), 3);
}

#[test]
fn a_sweep_runs_all_combinations_and_its_table_has_their_means() {
    let dir = TestDir::new();
    let words = [
        "--sweep=bs=4k..16k",
        "--sweep",
        "q:iodepth=1,2",
        "--repeat=2",
        "--results=s",
        "--output-format=csv",
    ];
    let run = dir.ferrio(&quick(&words)).run().succeeded();
    let mut want = Vec::new();
    for size in ["16k", "4k", "8k"] {
        want.extend(
            [1, 2].map(|depth| [1, 2].map(|run| format!("bs={size},q:iodepth={depth}/{run}.json"))).concat(),
        );
    }
    assert_eq!(tree(&dir, "s"), want);
    for (size, ios) in [("4k", 16), ("8k", 8), ("16k", 4)] {
        let report = document(&dir, &format!("s/bs={size},q:iodepth=2/1.json"));
        assert_eq!(number(&report, "/jobs/0/read/total_ios"), ios);
        assert_eq!(report["jobs"][0]["job options"]["iodepth"], "2");
    }
    let rows: Vec<Vec<&str>> = run.stdout.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 7, "{}", run.stdout);
    assert_eq!(rows[0][..7], ["job", "number", "direction", "bs", "q:iodepth", "runs", "iops"]);
    assert_eq!(rows[1][..6], ["q", "0", "read", "4k", "1", "2"]);
    let iops =
        |run| document(&dir, &format!("s/bs=4k,q:iodepth=1/{run}.json"))["jobs"][0]["read"]["iops"].as_f64();
    let mean = (iops(1).unwrap() + iops(2).unwrap()) / 2.0;
    assert!((rows[1][6].parse::<f64>().unwrap() - mean).abs() < 0.001, "{}", run.stdout);
}

#[test]
fn the_seed_decides_the_order_and_each_round_has_every_point() {
    let dir = TestDir::new();
    let order = |name: &str, seed: &str| {
        let words = ["--sweep=iodepth=1..8", "--repeat=2", seed, "--results", name];
        let run = dir.ferrio(&quick(&words)).run().succeeded();
        assert!(
            run.stderr.contains("ferrio: the order of the runs is that of --sweep-seed=5\n"),
            "{}",
            run.stderr
        );
        let mut runs: Vec<(u64, String)> = tree(&dir, name)
            .into_iter()
            .map(|file| (number(&document(&dir, &format!("{name}/{file}")), "/ferrio/run/started_ms"), file))
            .collect();
        runs.sort();
        runs
    };
    let runs = order("a", "--sweep-seed=5");
    let rounds: Vec<&str> = runs.iter().map(|(_, file)| file.split('/').nth(1).unwrap()).collect();
    assert_eq!(rounds, [["1.json"; 4], ["2.json"; 4]].concat());
    let again = order("b", "--sweep-seed=5");
    let files = |runs: Vec<(u64, String)>| runs.into_iter().map(|(_, file)| file).collect::<Vec<_>>();
    assert_eq!(files(again), files(runs));
}

#[test]
fn all_points_are_checked_before_the_first_runs() {
    let dir = TestDir::new();
    for (words, message) in [
        (&["--sweep=iodepth=1,2,x"][..], "--sweep iodepth=x"),
        (&["--sweep=name=x,y"], "invalid value `name=x` for option `--sweep`"),
        (&["--sweep=x:bs=1,2"], "`--sweep` names the job `x`, which does not exist"),
        (&["--sweep=iodpeth=1,2"], "unknown option `iodpeth`"),
        (&["--sweep=q:iodepth=1,2", "--sweep=q:iodepth=4"], "the option `q:iodepth` is swept twice"),
        (&["--sweep=bs=1k,2k", "--set=blocksize=4k"], "the option `bs` is both set and swept"),
        (&["--sweep=bs=1..2000:1"], "more than 1000 values"),
        (&["--sweep=bs=1..100:1", "--sweep=size=1m..100m:1m"], "the sweep has more than 1000 points"),
        (&["--sweep=bs=8..100"], "misses its last value: it has 64 and then 128"),
        (&["--repeat=2", "--fail-if=write.iops < 1"], "no job does `write`"),
        (&["--repeat=0"], "a number from 1 to 10000 is expected"),
        (&["--repeat=2", "--output-format=json"], "its formats are table, markdown and csv"),
        (&["--repeat=2", "--minimal"], "its formats are table, markdown and csv"),
        (&["--repeat=2", "--showcmd"], "leave out --parse-only, --showcmd"),
        (&["--repeat=2", "--bandwidth-log"], "leave out --bandwidth-log"),
        (&["--repeat=2", "--interval-report=1s:f"], "use --interval-report=TIME"),
        (&["--repeat=2", "-"], "the job file - is standard input"),
        (&["--repeat=2", "--read_iolog=-"], "read_iolog=- is standard input"),
        (&["--output-format=markdown"], "table and markdown are formats of the table"),
        (&["--results=x"], "add --repeat or --sweep"),
        (&["--sweep-seed=1"], "add --repeat or --sweep"),
        (&["--repeat-pause=1s"], "add --repeat or --sweep"),
    ] {
        let run = dir.ferrio(&quick(words)).run().ended_with(1);
        assert!(run.stderr.contains(message) && run.stdout.is_empty(), "{message}\n{}", run.stderr);
    }
    let checked =
        dir.ferrio(&[&["check".to_owned()][..], &quick(&["--repeat=2"])].concat()).run().ended_with(1);
    assert!(checked.stderr.contains("`ferrio check` checks one run"), "{}", checked.stderr);
    let fio = dir.ferrio(&quick(&["--as=fio", "--sweep=bs=4k,8k"])).run().ended_with(1);
    assert!(fio.stderr.contains("unrecognized option"), "{}", fio.stderr);
    assert_eq!(dir.files(), [], "nothing has run");
    fs::create_dir(dir.work().join("full")).unwrap();
    fs::write(dir.work().join("full/x"), "").unwrap();
    let full = dir.ferrio(&quick(&["--repeat=2", "--results=full"])).run().ended_with(1);
    assert!(full.stderr.contains("the directory for results full is not empty"), "{}", full.stderr);
}

#[test]
fn without_a_name_the_directory_has_that_of_the_moment() {
    let dir = TestDir::new();
    dir.ferrio(&quick(&["--repeat=1"])).run().succeeded();
    let [(name, _)] = &dir.files()[..] else { panic!("{:?}", dir.files()) };
    let pattern = regex::Regex::new("^ferrio-results-[0-9]{8}-[0-9]{6}$").unwrap();
    assert!(pattern.is_match(name), "{name}");
    assert_eq!(tree(&dir, name), ["1.json"]);
}

#[test]
fn thresholds_are_judged_in_every_run_and_all_of_them_run() {
    let dir = TestDir::new();
    let words =
        ["--sweep=bs=4k,64k", "--repeat=2", "--results=r", "--fail-if=read.total_ios > 8", "--output=table"];
    let run = dir.ferrio(&quick(&words)).run().ended_with(3);
    assert_eq!(tree(&dir, "r").len(), 4);
    for line in [
        "ferrio: bs=4k, repetition 1 exceeded a threshold\n",
        "ferrio: bs=4k, repetition 2 exceeded a threshold\n",
        "ferrio: 2 of 4 runs exceeded a threshold\n",
    ] {
        assert!(run.stderr.contains(line), "{}", run.stderr);
    }
    assert!(!run.stderr.contains("bs=64k,"), "{}", run.stderr);
    assert!(run.stdout.is_empty() && dir.read("table").starts_with("q (read)\n"));
    assert_eq!(document(&dir, "r/bs=4k/1.json")["ferrio"]["thresholds"][0]["passed"], false);
}

#[test]
fn a_run_that_fails_ends_the_series_with_its_status() {
    let dir = TestDir::new();
    // The second run finds what the first has left.
    let words = ["--repeat=3", "--results=r", "--exec_prerun=mkdir first"];
    let run = dir.ferrio(&quick(&words)).run().ended_with(1);
    assert_eq!(tree(&dir, "r"), ["1.json", "2.json.failed"]);
    let line = "ferrio: repetition 2 failed with status 1; no further run begins. The reports of 1 run before it are in r\n";
    assert!(run.stderr.contains(line), "{}", run.stderr);
    assert!(
        run.stderr.contains("exec_prerun ended with status 1") && run.stdout.is_empty(),
        "{}",
        run.stderr
    );
}

#[test]
fn three_failed_jobs_are_no_threshold() {
    let dir = TestDir::new();
    let words = ["--numjobs=3", "--exec_prerun=false", "--repeat=2", "--results=r", "--fail-if=error > 0"];
    let run = dir.ferrio(&quick(&words)).run().ended_with(3);
    assert!(run.stderr.contains("repetition 1 failed with status 3"), "{}", run.stderr);
    assert_eq!(tree(&dir, "r"), ["1.json.failed"]);
}

#[test]
fn several_job_files_are_measured_separately() {
    let dir = TestDir::new();
    for (name, size) in [("one.fio", "64k"), ("two.fio", "128k")] {
        fs::write(dir.work().join(name), format!("[j]\nioengine=null\nbs=4k\nsize={size}\n")).unwrap();
    }
    let words = ["one.fio", "two.fio", "--repeat=2", "--results=r"];
    let run = dir.ferrio(&words).run().succeeded();
    assert_eq!(tree(&dir, "r"), ["one/1.json", "one/2.json", "two/1.json", "two/2.json"]);
    assert_eq!(number(&document(&dir, "r/two/1.json"), "/jobs/0/read/total_ios"), 32);
    assert!(run.stdout.contains("\n  one.fio  ") && run.stdout.contains("\n  two.fio  "), "{}", run.stdout);
    let refused =
        dir.ferrio(&[&words[..2], &["--name=q", "--size=4k", "--repeat=2"]].concat()).run().ended_with(1);
    assert!(refused.stderr.contains("jobs of the command line belong to none"), "{}", refused.stderr);
}

#[test]
fn sections_can_be_runs_of_their_own_in_a_shuffled_order() {
    let dir = TestDir::new();
    let sections: String = ["a", "b", "c", "d"].map(|name| format!("[{name}]\nstonewall\n")).concat();
    let text = format!("[global]\nioengine=null\nbs=4k\nsize=64k\n{sections}");
    fs::write(dir.work().join("jobs.fio"), &text).unwrap();
    let words =
        ["jobs.fio", "--shuffle-jobs", "--repeat=2", "--sweep-seed=7", "--sweep=iodepth=1,2", "--results=r"];
    let run = dir.ferrio(&words).run().succeeded();
    let files = tree(&dir, "r");
    assert_eq!(
        (files.len(), &files[..2]),
        (16, &["a,iodepth=1/1.json".to_owned(), "a,iodepth=1/2.json".to_owned()][..])
    );
    let started = |file: &String| number(&document(&dir, &format!("r/{file}")), "/ferrio/run/started_ms");
    let mut order = files.clone();
    order.sort_by_key(started);
    let is_first = |file: &String| file.ends_with("/1.json");
    assert!(
        order[..8].iter().all(is_first)
            && order[..8] != files.iter().filter(|file| is_first(file)).cloned().collect::<Vec<_>>(),
        "{order:?}"
    );
    for file in &files {
        let document = document(&dir, &format!("r/{file}"));
        let jobs = document["jobs"].as_array().unwrap();
        assert_eq!((jobs.len(), text_of(&jobs[0])), (1, &file[..1]));
    }
    assert_eq!(run.stdout.matches("  iodepth  runs").count(), 4, "{}", run.stdout);
    // Only what `--section` names.
    dir.ferrio(&["jobs.fio", "--shuffle-jobs", "--repeat=1", "--section=a", "--section=c", "--results=s"])
        .run()
        .succeeded();
    assert_eq!(tree(&dir, "s"), ["a/1.json", "c/1.json"]);
    let refused = dir.ferrio(&quick(&["--shuffle-jobs", "--repeat=1"])).run().ended_with(1);
    assert!(refused.stderr.contains("there are jobs of the command line"), "{}", refused.stderr);
    let refused = dir.ferrio(&["jobs.fio", "--shuffle-jobs"]).run().ended_with(1);
    assert!(
        refused.stderr.contains("--shuffle-jobs is about the order of several runs"),
        "{}",
        refused.stderr
    );
}

fn text_of(job: &Value) -> &str {
    job["jobname"].as_str().unwrap()
}

#[test]
fn a_signal_ends_the_running_jobs_and_the_table_has_the_runs_before() {
    let dir = TestDir::new();
    // The first run ends at once, the second never does.
    fs::write(dir.work().join("step.sh"), "mkdir first 2>&- || { echo > second; exec sleep 3600; }\n")
        .unwrap();
    let job = dir.job(
        "[w]\nrw=write\nioengine=null\nsize=64k\n[wait]\nstonewall\nioengine=exec\nprogram=sh\narguments=step.sh\n",
    );
    let mut running = dir.ferrio(&[&job, "--repeat=3", "--results=r"]).start();
    running.until("the second run", || dir.is_written("second"));
    running.signal(Signal::SIGINT);
    let run = running.wait().ended_with(128);
    assert_eq!(tree(&dir, "r"), ["1.json", "2.json.interrupted"]);
    assert!(run.stdout.starts_with("w (write)\n  runs"), "{}", run.stdout);
    assert!(run.stdout.contains("\n     1  "), "{}", run.stdout);
}

#[test]
fn warnings_are_shown_once_with_the_number_of_runs() {
    let dir = TestDir::new();
    let words = ["--name=q", "--rw=write", "--filename=f", "--size=64k", "--repeat=3", "--results=r"];
    let run = dir.ferrio(&words).run().succeeded();
    let all: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("warning:")).collect();
    let count = regex::Regex::new("^warning: in [123] of 3 runs: ").unwrap();
    assert!(!all.is_empty() && all.iter().all(|line| count.is_match(line)), "{}", run.stderr);
    let mut codes: Vec<&str> = all.iter().map(|line| line.rsplit(" [").next().unwrap()).collect();
    codes.sort_unstable();
    let count = codes.len();
    codes.dedup();
    assert_eq!(codes.len(), count, "{}", run.stderr);
    let quiet = dir.ferrio(&[&words[..4], &["--size=64k", "--repeat=1", "--results=s", "--quiet"]].concat());
    assert_eq!(quiet.run().succeeded().stderr, "");
}

#[test]
fn the_examples_of_the_page_work() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/sweep.md")).unwrap();
    let commands: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("    ferrio --name")).collect();
    assert_eq!(commands.len(), 2);
    let dir = TestDir::new();
    for command in commands {
        let run = dir.program("sh", &["-c", &format!("exec {FERRIO} --name{command}")]).run().succeeded();
        assert!(run.stdout.starts_with("reads (read)\n"), "{}", run.stdout);
    }
    assert_eq!((tree(&dir, "reads").len(), tree(&dir, "depths").len()), (5, 25));
    let shuffled =
        page.lines().find_map(|line| line.strip_prefix("    ferrio --repeat=5 --shuffle-jobs ")).unwrap();
    fs::write(dir.work().join("old.fio"), "[global]\nioengine=null\nsize=64k\n[one]\n[two]\n").unwrap();
    let words = ["--repeat=5", "--shuffle-jobs"].into_iter().chain(shuffled.split(' '));
    dir.ferrio(&words.collect::<Vec<_>>()).run().succeeded();
    assert_eq!(tree(&dir, "shuffled").len(), 10);
}

#[test]
fn runs_are_repeated_until_the_means_are_known_or_a_limit_is_reached() {
    let dir = TestDir::new();
    // Any two runs agree that well.
    let steady = ["--rate_iops=1k", "--time_based", "--runtime=200ms"];
    let words = [&steady[..], &["--repeat=until:100%", "--sweep=iodepth=1,2", "--results=r"]].concat();
    let run = dir.ferrio(&quick(&words)).run().succeeded();
    let files: Vec<String> = tree(&dir, "r");
    let of_point =
        |depth: u32| files.iter().filter(|file| file.starts_with(&format!("iodepth={depth}/"))).count();
    assert!(of_point(1) == of_point(2) && (3..30).contains(&of_point(1)), "{files:?}");
    let note = format!(
        "ferrio: after {} repetitions, all means of IOPS are known to ±100 % with 95 % confidence: the least precise is that of \
         job q (read), iodepth=",
        of_point(1)
    );
    assert!(run.stderr.contains(&note), "{}", run.stderr);
    assert!(run.stdout.starts_with("q (read)\n"), "{}", run.stdout);

    // No two runs agree that well.
    let fast = ["--time_based", "--runtime=50ms"];
    let words = [&fast[..], &["--repeat=until:0.000001%,max=4", "--results=s"]].concat();
    let run = dir.ferrio(&quick(&words)).run().succeeded();
    assert_eq!(tree(&dir, "s"), ["1.json", "2.json", "3.json", "4.json"]);
    let warning =
        "after 4 repetitions, the most that --repeat allows, the mean IOPS of job q (read) are known to ±";
    assert!(run.stderr.contains(warning) && run.stderr.contains("not to ±0.000001 %"), "{}", run.stderr);
    assert!(run.stderr.contains("--repeat=until:0.000001%,max=COUNT"), "{}", run.stderr);
    let words = [&fast[..], &["--repeat=until:0.000001%,max=3", "--results=t", "--quiet"]].concat();
    assert_eq!(dir.ferrio(&quick(&words)).run().succeeded().stderr, "");
}

#[test]
fn a_goal_of_repetitions_that_makes_no_sense_is_refused() {
    let dir = TestDir::new();
    for (goal, why) in [
        ("until:2", "for example until:2%"),
        ("until:0%", "above 0 and up to 100"),
        ("until:-1%", "above 0 and up to 100"),
        ("until:101%", "above 0 and up to 100"),
        ("until:nan%", "above 0 and up to 100"),
        ("until:", "for example until:2%"),
        ("until:2%,5", "max=COUNT"),
        ("until:2%,max=2", "a count from 3 to 10000"),
        ("until:2%,max=3,4", "a count from 3 to 10000"),
        ("untill:2%", "is expected, or until:PERCENT%[,max=COUNT]"),
        ("0", "a number from 1 to 10000"),
    ] {
        let run = dir.ferrio(&quick(&[&format!("--repeat={goal}")])).run().ended_with(1);
        assert!(run.stderr.contains(why), "{goal}: {}", run.stderr);
        assert_eq!(dir.files(), [], "{goal}");
    }
}
