//! `--set`: options for all jobs, whatever job files and command line say.

use crate::support::Place;

const FILE: &str = "[global]\nioengine=null\nbs=4k\nsize=1m\n[a]\niodepth=2\n[b]\nrw=write\nbs=8k\n";

#[test]
fn set_replaces_an_option_in_all_jobs_or_in_those_of_one_name() {
    let place = Place::new();
    let file = place.job(FILE);
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
    let document = place.ferrio(&words).run().succeeded().json();
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
    let place = Place::new();
    let file = place.job(FILE);
    for (text, message, label) in [
        ("bs=3y", "invalid value `3y` for option `bs`", "^"),
        ("iodpeth=3", "unknown option `iodpeth`", "^^^^^^^ did you mean `iodepth`?"),
        ("x:bs=3", "`--set` names the job `x`, which does not exist", "^"),
        ("name=x", "invalid value `name=x` for option `--set`", "the name of a job cannot be set"),
    ] {
        let run = place.ferrio(&[&file, "--set", text]).run().ended_with(1);
        assert!(run.stderr.contains(message) && run.stderr.contains(label), "{}", run.stderr);
        assert!(run.stderr.contains(&format!("| --set {text}")) && run.stdout.is_empty(), "{}", run.stderr);
    }
    let refused = place.ferrio(&["--as=fio", &file, "--set", "bs=4k"]).run().ended_with(1);
    assert!(refused.stderr.contains("unrecognized option '--set'"), "{}", refused.stderr);
}
